"""The report in a browser: quiet, deaf to hostile names, and with the numbers of Python."""

import re
from dataclasses import replace

import numpy as np
import pytest

import coterie
from browser import PROGRAM, Browser
from coterie.game.edits import changed
from coterie.learn.beliefs import Beliefs
from coterie.learn.wishes import wishes_about
from coterie.report import announcement_html, report_html
from coterie.report.knowledge import Knowledge, box_changes
from report_logs import LEAVER, RATERS, TEAMS, few_ratings, made

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PROGRAM is None, reason="there is no Chromium (apt-get install chromium)"),
]


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    found = Browser(tmp_path_factory.mktemp("profile"))
    yield found
    found.close()


def opened(browser, result, statistics, path):
    path.write_text(report_html(result, statistics), encoding="utf-8")
    browser.open(path)


def ask_for(browser, person, does, to):
    """Fill in the form as a reader does, and add the change."""
    browser.ask(f"""(() => {{
        const set = (id, value) => {{
            const field = document.getElementById(id);
            field.value = value;
            field.dispatchEvent(new Event("change"));
        }};
        set("who", "{person}"); set("what", "{does}"); set("where", "{to}");
        document.querySelector("#ask button.main").click();
    }})()""")


def answered(browser):
    return browser.ask("""(() => {
        const answer = document.getElementById("answer");
        const rows = [...answer.querySelectorAll("tr[data-person]")].map((row) => ({...row.dataset}));
        return {...answer.dataset, rows, broken: answer.querySelectorAll("[data-broken]").length};
    })()""")


def check(browser, known, before, after):
    """What the page says is what Python says."""
    found, expected = answered(browser), box_changes(known, before, after)
    rows = {int(row["person"]): row for row in found["rows"]}
    moved = np.flatnonzero((expected.low != 0) | (expected.high != 0))
    assert set(rows) == set(moved.tolist())
    for i, row in rows.items():
        wanted = (expected.expected[i], expected.low[i], expected.high[i])
        assert [float(row[name]) for name in ("expected", "low", "high")] == pytest.approx(wanted, abs=2e-5)
        verdict = "gains" if expected.low[i] > 0 else "loses" if expected.high[i] < 0 else "open"
        assert row["verdict"] == verdict
    assert [float(found[name]) for name in ("expected", "low", "high")] == pytest.approx(expected.together, abs=1e-4)
    _, wishes = wishes_about(known_statistics(known), rules=known.result.rules)
    assert bool(found["broken"]) == bool(wishes.admissible.violations(after.sets))


def known_statistics(known):
    return STATISTICS[id(known)]


STATISTICS = {}


def knowledge(result, statistics):
    found = Knowledge.of(result, statistics)
    STATISTICS[id(found)] = statistics
    return found


def test_hostile_names_do_nothing(browser, hostile, tmp_path):
    opened(browser, hostile.result, hostile.statistics, tmp_path / "report.html")
    assert browser.complaints == []
    assert len(browser.requests) == 1
    assert browser.ask("document.querySelectorAll('img, script').length") == 2
    for person in range(len(hostile.result.strategy.agents)):
        ask_for(browser, person, "move", person % 3)
    browser.ask("document.querySelectorAll('details').forEach((one) => { one.open = true; }); 1")
    browser.ask("document.querySelectorAll('[data-map]').forEach((map) => map.dispatchEvent("
                "new KeyboardEvent('keydown', {key: 'ArrowRight'}))); 1")  # fmt: skip
    assert "seen" in browser.ask("document.querySelector('[data-for=count]').textContent")
    assert browser.ask("document.querySelectorAll('img, script').length") == 2
    assert browser.complaints == []


def test_names_of_teams_are_not_cut_into_letters(browser, tmp_path):
    """What is expected of a team stands below its name where it does not fit beside it."""
    learner = coterie.StableLearner(rules=coterie.Rules(team_size="4:5"), time_limit=2).fit(
        few_ratings(tmp_path / "log")
    )
    result = replace(learner.result_, unit="stars")
    assert result.options[0].team_ranges
    opened(browser, result, learner.statistics_, tmp_path / "report.html")
    lines = browser.ask("""[...document.querySelectorAll(".teams h3 bdi")].map(
        (name) => name.getBoundingClientRect().height / parseFloat(getComputedStyle(name).lineHeight))""")
    assert len(lines) == sum(bool(inside) for inside in result.strategy.members().values())
    assert max(lines) < 1.5


SMUGGLED = """<p id="smuggled" style="color: red" onclick="window.stolen = 1">
<script>window.stolen = 1</script><img src="https://example.org/x.png" onerror="window.stolen = 1">
<script src="https://example.org/x.js"></script><base href="https://example.org/"><style>p {color: red}</style>
<iframe src="https://example.org/"></iframe><form id="form" action="https://example.org/"></form>"""


@pytest.mark.parametrize("kind", ["report", "announcement"])
def test_the_policy_holds_where_escaping_would_have_failed(browser, hostile, tmp_path, kind):
    """Markup in the middle of a page neither runs nor fetches; each piece of it is refused by the browser."""
    page = report_html(hostile.result, hostile.statistics) if kind == "report" else announcement_html(hostile.result)
    path = tmp_path / "page.html"
    path.write_text(page.replace("</main>", f"{SMUGGLED}</main>"), encoding="utf-8")
    browser.open(path)
    assert browser.ask("document.getElementById('smuggled') !== null")
    browser.ask("document.getElementById('smuggled').click(); document.getElementById('form').submit()")
    assert browser.ask("window.stolen === undefined")
    assert browser.ask("getComputedStyle(document.getElementById('smuggled')).color") != "rgb(255, 0, 0)"
    assert browser.ask("document.baseURI").startswith("file:")
    refused = " ".join(str(one.get("text", "")) for one in browser.complaints if isinstance(one, dict))
    for directive in ("script-src", "style-src", "img-src", "base-uri", "form-action", "frame-src"):
        assert directive in refused, (directive, refused)
    assert not [url for _, url in browser.requests if url.startswith("https:")]


def test_what_if_gives_the_numbers_of_python(browser, hostile, tmp_path):
    opened(browser, hostile.result, hostile.statistics, tmp_path / "report.html")
    known, before = knowledge(hostile.result, hostile.statistics), hostile.result.strategy
    people, teams = before.agents, before.coalitions
    after, _ = changed(before, [{people[0]: [teams[1]]}])
    ask_for(browser, 0, "move", 1)
    check(browser, known, before, after)
    after, _ = changed(after, [{people[3]: after.actions[people[5]], people[5]: after.actions[people[3]]}])
    ask_for(browser, 3, "swap", 5)
    check(browser, known, before, after)
    own = after.actions[people[7]]
    after, _ = changed(after, [{people[7]: [name for name in teams if name in own or name == teams[2]]}])
    ask_for(browser, 7, "join", 2)
    check(browser, known, before, after)
    browser.ask("document.getElementById('undo').click()")
    assert answered(browser)["ready"] == "2"
    browser.ask("document.getElementById('reset').click()")
    assert answered(browser)["rows"] == []


@pytest.mark.parametrize(
    "options", [{"value": "average"}, {"sizes": "aware"}, {"symmetric": False}, {"pool_coalitions": True}], ids=str
)
def test_what_if_for_other_logs(browser, tmp_path, options):
    people = [f"p{i}" for i in range(6)]
    made(tmp_path / "log", people, TEAMS, samples=30, symmetric=options.get("symmetric", True))
    reading = {name: options[name] for name in ("symmetric", "pool_coalitions") if name in options}
    asked = {name: options[name] for name in ("value", "sizes") if name in options}
    log = coterie.read_log(tmp_path / "log", actions="any", **reading)
    statistics = coterie.Statistics.for_learning(log, noise="pairs", sizes=options.get("sizes", "ignore"), parts=(1.0,))
    start = {name: [statistics.coalitions[i % 2]] for i, name in enumerate(statistics.agents)}
    result = coterie.certify(statistics, start, noise="pairs", **asked)
    opened(browser, result, statistics, tmp_path / "report.html")
    assert browser.complaints == []
    known, before = knowledge(result, statistics), result.strategy
    after, _ = changed(before, [{"p1": [statistics.coalitions[0]]}, "swap p0, p3"])
    ask_for(browser, 1, "move", 0)
    ask_for(browser, 0, "swap", 3)
    check(browser, known, before, after)


def test_what_if_counts_moves(browser, hostile, tmp_path):
    """A limit on moves is one of the rules that the page checks, against today and with the words of Python."""
    result, statistics = hostile.result, hostile.statistics
    today, most = result.today.strategy, result.today.moves
    limited = replace(result, rules=replace(result.rules, max_moves=most))
    opened(browser, limited, statistics, tmp_path / "report.html")
    assert answered(browser)["broken"] == 0
    _, wishes = wishes_about(statistics, rules=limited.rules, today=today)
    stays = int(np.flatnonzero((result.strategy.sets == today.sets).all(axis=1))[0])
    other = int(np.flatnonzero(~result.strategy.sets[stays])[0])
    agent = result.strategy.agents[stays]
    after, _ = changed(result.strategy, [{agent: [result.strategy.coalitions[other]]}])
    ask_for(browser, stays, "move", other)
    said = browser.ask("document.querySelector('[data-broken]').textContent")
    (told,) = [text for text in wishes.admissible.violations(after.sets) if "move" in text]
    assert told in said
    assert browser.complaints == []


def test_a_page_of_too_few_data(browser, few, tmp_path):
    """No column of what is sure; who left cannot be moved; names beside maps leave squares where they are."""
    opened(browser, few.result, few.statistics, tmp_path / "report.html")
    ask_for(browser, 0, "swap", 1)
    assert browser.complaints == []
    before = few.result.strategy.sets.astype(int)
    after = before.copy()
    after[[0, 1]] = before[[1, 0]]
    count = Knowledge.of(few.result, few.statistics).pairs.estimate.moments.count
    new = (after.T[:, :, None] * after.T[:, None] > before.T[:, :, None] * before.T[:, None]) & (count + count.mT == 0)
    guesses = int(np.triu(new, 1).sum())
    assert guesses > 0
    assert browser.ask("document.querySelector('[data-guesses]').dataset.guesses") == str(guesses)
    assert "surely" not in browser.ask("document.getElementById('what-if').textContent")
    names = browser.ask("[...document.getElementById('who').options].map((one) => one.textContent)")
    assert names == [name for name in RATERS if name != LEAVER]
    order = browser.ask("JSON.parse(document.getElementById('data').textContent).order")
    for row, column in ((0, 1), (3, 7)):
        browser.ask(f"""(() => {{
            const map = document.querySelector('[data-map=worth]');
            const box = map.querySelector('.ground').getBoundingClientRect();
            const [x, y] = [box.width * {column + 0.5} / 9, box.height * {row + 0.5} / 9];
            const at = {{ clientX: box.left + x, clientY: box.top + y }};
            map.dispatchEvent(new PointerEvent('pointermove', at));
        }})()""")
        said = browser.ask("document.querySelector('[data-for=worth]').textContent")
        one, two = (few.result.strategy.agents[order[place]] for place in (row, column))
        assert said.startswith(f"{one} and {two}: ")
        expected = re.search(r"expected (\d\.\d\d)$", said)
        assert expected is None or 1 <= float(expected[1]) <= 5


def test_three_hundred_people(browser, tmp_path, monkeypatch):
    """A page of many people opens, and answers at once."""

    def estimates(evidence, **_):
        return Beliefs(evidence, evidence.values, None)

    monkeypatch.setattr("coterie.report.knowledge.beliefs_from", estimates)  # what is expected takes its time
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    people, one, two = np.array([f"Person {i}" for i in range(300)]), *np.triu_indices(50, 1)
    frames = []
    for sample in range(4):
        for t, members in enumerate(rng.permutation(300).reshape(6, 50)):
            names = {"agent": people[members[one]], "partner": people[members[two]]}
            utility = rng.uniform(-1, 1, len(one))
            frames.append(pd.DataFrame({"sample": str(sample), "coalition": f"team {t}", **names, "utility": utility}))
    log = coterie.Log.from_frames(pairs=pd.concat(frames), actions="one", pool_coalitions=True, coalitions=6)
    statistics = coterie.Statistics.for_learning(log, noise="pairs", parts=(1.0,))
    start = {name: [statistics.coalitions[i % 6]] for i, name in enumerate(statistics.agents)}
    result = coterie.certify(statistics, start, noise="pairs")
    opened(browser, result, statistics, tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size < 8_000_000
    assert browser.complaints == []
    before = browser.ask("performance.now()")
    ask_for(browser, 7, "move", 0)
    took = browser.ask("performance.now()") - before
    after = result.strategy.replace(statistics.agents[7], [statistics.coalitions[0]])
    check(browser, knowledge(result, statistics), result.strategy, after)
    assert took < 5000, took


def test_words_of_options_are_not_cut(browser, hostile, tmp_path):
    opened(browser, hostile.result, hostile.statistics, tmp_path / "report.html")
    for width in (1100, 700, 390):
        browser.look(tmp_path / "page.png", width=width)
        lines = browser.ask("document.querySelector('#options tr.chosen bdi').getClientRects().length")
        assert lines == 1, width


def test_ideas_say_what_an_exchange_is_to_the_other(browser, tmp_path):
    """Best alternatives are such that both gain; ideas are not, and say so."""
    learner = coterie.StableLearner(rules=coterie.Rules(team_size="4:5"), time_limit=2).fit(
        few_ratings(tmp_path / "log")
    )
    result = learner.result_
    opened(browser, result, learner.statistics_, tmp_path / "report.html")
    assert "A swap takes two" in browser.ask("document.querySelector('#people .hint').textContent")
    known, before = knowledge(result, learner.statistics_), result.strategy
    checked = 0
    for person in np.flatnonzero(before.sets.any(axis=1)).tolist():
        ideas = browser.ask(f"""(() => {{
            const who = document.getElementById("who");
            who.value = "{person}";
            who.dispatchEvent(new Event("change"));
            const box = document.getElementById("ideas");
            const rows = [...box.querySelectorAll("tr[data-does]")].map((row) => ({{...row.dataset}}));
            return {{rows, text: box.textContent}};
        }})()""")
        swaps = [row for row in ideas["rows"] if row["does"] == "swap"]
        assert ("for the other" in ideas["text"]) == bool(swaps)
        for row in swaps:
            sets = before.sets.copy()
            sets[[person, int(row["to"])]] = sets[[int(row["to"]), person]]
            after = coterie.Strategy.pure(sets, before.agents, before.coalitions)
            expected = box_changes(known, before, after).expected
            assert float(row["own"]) == pytest.approx(expected[person], abs=2e-5)
            assert float(row["other"]) == pytest.approx(expected[int(row["to"])], abs=2e-5)
            checked += 1
        unwanted = any(float(row["own"]) > 0 > float(row["other"]) for row in swaps)
        assert ("they would hardly agree" in ideas["text"]) == unwanted
    assert checked
