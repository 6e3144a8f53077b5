"""The report without a browser: what it says, and that nothing breaks out of its text."""

import base64
import hashlib
import json
import re
from dataclasses import replace

import numpy as np
import pytest

import coterie
from coterie.learn.promises import NOTHING_SURE
from coterie.learn.summary import guesses, so_far
from coterie.learn.warnings import TOO_FEW
from coterie.log.inspection import inspect_log
from coterie.report import report_html
from coterie.report.drawing import Scale, shaded
from coterie.report.knowledge import Knowledge, box_changes
from coterie.report.page import label
from coterie.words import signed
from report_logs import LEAVER, RATERS, Elements, made


@pytest.fixture(scope="module")
def page(hostile):
    return Elements(report_html(hostile.result, hostile.statistics))


def test_nothing_is_asked_of_the_network(page):
    for tag, attributes in page.tags:
        assert tag not in {"img", "link", "iframe", "object", "embed", "base"}
        assert "src" not in attributes
        assert attributes.get("href", "#").startswith("#")
        assert "style" not in attributes
        assert not [name for name in attributes if name.startswith("on")]


def test_the_policy_knows_the_page_by_its_hashes(page):
    policy = next(a["content"] for tag, a in page.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for kind, content in ((("style", None), "style-src"), (("script", None), "script-src")):
        digest = base64.b64encode(hashlib.sha256(page.content[kind].encode()).digest()).decode()
        assert f"{content} 'sha256-{digest}'" in policy


def test_hostile_names_stay_text(page, hostile):
    assert [tag for tag, _ in page.tags].count("script") == 2
    shown = "".join(page.text)
    for name in hostile.result.strategy.agents:
        assert label(name) in shown
    assert "\u202e" not in shown
    data = json.loads(page.content["script", "application/json"])
    assert data["agents"] == [label(name) for name in hostile.result.strategy.agents]
    raw = page.content["script", "application/json"]
    assert not set("<>&") & set(raw)


def test_the_first_screen_has_what_matters(page, hostile):
    shown = re.sub(r"\s+", " ", "".join(page.text))
    assert hostile.result.sentence().split(";")[0] in shown
    assert "expected per person over all teammates against today" in shown
    changes = shown[shown.index("What changes against today, and why") :]
    assert hostile.result.today.changes
    for one in hostile.result.today.changes:
        places = "".join(", ".join(map(label, where)) or "nothing" for where in (one.before, one.after))
        assert f"{label(one.agent)}{places}{signed(one.expected)}" in changes
    assert shown.index("Recommended teams") < shown.index("against today") < shown.rindex("Fine print")
    for text in hostile.result.certificate.assumes:
        assert (text in shown) == (not text.startswith("stability is"))  # which is said in words
    assert "people look for a gain by moving or by a swap" in shown


def told(result, statistics=None):
    return re.sub(r"\s+", " ", "".join(Elements(report_html(result, statistics)).text))


def test_too_few_data_are_said_once_with_what_would_help(hostile):
    few = replace(hostile.result, warnings=(TOO_FEW,), more_samples=1234.0)
    shown = told(few)
    assert NOTHING_SURE in shown
    assert f"It would take up to about 1,200 more rounds like the {few.data.samples} so far" in shown
    assert shown.count("too few data to prove") == 1
    assert TOO_FEW not in shown


def test_what_says_nothing_is_not_shown(few, hostile):
    first = few.result.options[0]
    result = replace(
        few.result, options=(first, replace(first, label="surest", expected_least=first.expected_least + 1))
    )
    shown = told(result, few.statistics)
    assert NOTHING_SURE in shown
    for text in ("surely between", "surely at most", "surely by", "surest", "the promise"):
        assert text not in shown
        assert text in told(replace(result, warnings=()), few.statistics)
    assert "surely between" in told(hostile.result, hostile.statistics)
    data = json.loads(Elements(report_html(few.result, few.statistics)).content["script", "application/json"])
    assert data["limits"] is False


def test_the_first_screen_says_what_is_guessed_and_what_it_is_better_than(few):
    first = told(few.result, few.statistics).split("Select a name")[0]
    assert "expected per person over all teammates against teams of the same sizes drawn by lot" in first
    older = replace(few.result, by_lot=None)  # or with what was so far
    first = told(older, few.statistics).split("Select a name")[0]
    assert so_far(older) in first
    assert f"; so far {few.result.data.average:.2f} on average" in first
    assert guesses(few.result) in first
    assert few.result.together.unseen > 1


def test_who_left_is_nowhere_on_the_page(few):
    shown = told(few.result, few.statistics).rpartition("Fine print")[0]
    assert LEAVER not in shown
    data = json.loads(Elements(report_html(few.result, few.statistics)).content["script", "application/json"])
    gone = few.result.strategy.agents.index(LEAVER)
    assert gone not in data["assigned"] + data["order"]
    assert sorted(data["order"]) == data["assigned"]


def test_fine_print_is_on_the_scale_of_the_log(few):
    shown = told(few.result, few.statistics)
    assert "what a pair gets lies between 1 and 5" in shown
    assert "from 2026-01-05 to 2026-01-19" in shown
    assert "(3 is as good as being alone)" in shown
    legends = re.findall(r'<ul class="legend">.*?</ul>', report_html(few.result, few.statistics))
    legend = [float(end) for end in re.findall(r"\b\d\.\d\d\b", legends[-1])]
    assert legend
    assert all(1 <= end <= 5 for end in legend)


def test_maps_of_few_people_have_names_beside_them(few, monkeypatch):
    def beside():
        page = report_html(few.result, few.statistics)
        return re.findall(r"<text [^>]*>([^<]*)</text>", page)

    assert sorted(beside()) == sorted([name for name in RATERS if name != LEAVER] * 4)  # two maps, two sides
    monkeypatch.setattr("coterie.report.page.ON_MAPS", 3)
    assert "Cl…" in beside()
    monkeypatch.setattr("coterie.report.page.NAMED_ON_MAPS", 8)
    assert beside() == []


def test_without_the_log_it_says_how_to_get_the_rest(hostile):
    shown = "".join(Elements(report_html(hostile.result)).text)
    assert "coterie report result.json --log LOG --out report.html" in shown
    assert "How often people were seen together" not in shown


def test_the_first_number_has_its_range_beside_it(few):
    low, high = few.result.options[0].expected_range
    assert low < high
    shown = "".join(Elements(report_html(replace(few.result, by_lot=None), few.statistics)).text)
    (figure,) = re.findall(r"expected per teammate \(with 80 % probability ([0-9.]+) to ([0-9.]+)", shown)
    assert float(figure[0]) < float(figure[1])


def test_pairs_are_counted_once_and_it_is_said_among_whom(tmp_path):
    """Where both have their say, a pair is still one, as `inspect` counts it."""
    folder = made(tmp_path / "log", people=tuple("abcdef"), samples=3, symmetric=False)
    log = coterie.read_log(folder, symmetric=False)
    learner = coterie.StableLearner(noise="pairs").fit(log)
    shown = "".join(Elements(report_html(learner.result_, learner.statistics_)).text)
    met = inspect_log(log).pairs_met
    count = "All 15 pairs" if met == 15 else f"{met} of 15 pairs"
    assert f"{count} of the 6 people in these teams were seen together" in shown


def test_a_given_assignment_and_totals_and_mixtures_have_pages(hostile, tmp_path):
    from coterie.simulate import Simulation

    certified = coterie.certify(hostile.statistics, hostile.result.strategy, noise="pairs")
    assert "How stable these teams are" in report_html(certified, hostile.statistics)
    Simulation.draw(4, 2, np.random.default_rng(1), actions_per_agent=3).write_log(
        tmp_path / "totals", 60, feedback="bandit"
    )
    learner = coterie.StableLearner(time_limit=0.2).fit(tmp_path / "totals")
    shown = report_html(learner.result_, learner.statistics_)
    assert "totals of people" in shown
    assert "as far as totals tell" in shown
    # Given, since a search for one that a time limit ends may have come to a pure one.
    shares = coterie.Strategy.uniform(
        hostile.statistics.setting.actions, hostile.result.strategy.agents, hostile.result.strategy.coalitions
    )
    mixed = coterie.certify(hostile.statistics, shares, noise="pairs")
    assert not mixed.strategy.is_pure
    assert "chances to be in each" in report_html(mixed, hostile.statistics)


def test_the_invalidating_warning_comes_before_any_percentage(hostile):
    from coterie.assumptions.check import Check

    broken = replace(hostile.result, checks=(Check("drift", "broken", "means change"),))
    shown = "".join(Elements(report_html(broken)).text)
    assert "Careful" in shown
    assert shown.index("Careful") < shown.index("%")


def test_box_changes_hold_and_are_those_of_slow_sums(hostile):
    """One unknown after the other, as in the definition."""
    known = Knowledge.of(hostile.result, hostile.statistics)
    strategy = hostile.result.strategy
    other = strategy.replace(strategy.agents[0], [strategy.coalitions[2]])
    found = box_changes(known, strategy, other)
    lower, upper = known.pairs.interval_arrays(hostile.result.certificate.delta)
    seen = known.pairs.estimate.moments.count > 0
    lower, upper = np.where(seen, lower, -1.0), np.where(seen, upper, 1.0)
    for i in range(strategy.n_agents):
        weights = {}
        for sets, sign in ((other.sets, 1), (strategy.sets, -1)):
            for l in np.flatnonzero(sets[i]):
                for j in np.flatnonzero(sets[:, l]):
                    if j != i:
                        weights[l, j] = weights.get((l, j), 0) + sign
        most = sum(w * (upper if w > 0 else lower)[l, i, j] for (l, j), w in weights.items())
        least = sum(w * (lower if w > 0 else upper)[l, i, j] for (l, j), w in weights.items())
        assert found.high[i] == pytest.approx(most, abs=1e-5)
        assert found.low[i] == pytest.approx(least, abs=1e-5)
        assert found.low[i] <= found.expected[i] <= found.high[i]


def test_shades_and_scales():
    values = np.array([[np.nan, 2.0, -1.0], [2.0, np.nan, 0.0], [-1.0, 0.0, np.nan]])
    shades = {one.name: one for one in shaded(values, signed=True)}
    assert set(shades) == {"p5", "n3"}
    assert shades["p5"].path == "M1 0h1v1h-1zM0 1h1v1h-1z"
    assert (shades["n3"].low, shades["n3"].high) == pytest.approx((-1.2, -0.8))
    bar = Scale([-1.0], [3.0]).bar(-1.0, 1.0, 3.0)
    assert (bar.start, bar.width, bar.point, bar.zero) == (0.0, 100.0, 50.0, 25.0)
