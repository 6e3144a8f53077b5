"""Numbers of which less is better: the same as if somebody had turned the table round, and told in its own numbers."""

import json

import numpy as np
import pyarrow as pa
import pytest

import coterie
from coterie.errors import InputError
from coterie.learn.amounts import likely_worth, shown_worth, team_levels
from coterie.learn.headline import against_today, expected_worth
from coterie.log.direction import direction_told, may_mean_less, says_less_is_better
from coterie.log.inspection import inspect_log
from coterie.report.page import report_html
from coterie.report.tables import option_rows, write_teams_xlsx
from coterie.spreadsheets import Workbook
from coterie.statistics.statistics import Statistics

LOW, HIGH = 1.0, 6.0
PEOPLE = [f"p{i}" for i in range(8)]
TODAY = {one: [str(1 + i // 4)] for i, one in enumerate(PEOPLE)}


def rounds(samples=30, seed=0):
    """Yield who is in which team of which round, and what each pair of a team got."""
    rng = np.random.default_rng(seed)
    means = np.round(rng.normal(3.2, 0.9, (8, 8)), 1)
    means = (means + means.T) / 2
    for sample in range(samples):
        order = rng.permutation(8)
        for team, members in enumerate((order[:4], order[4:])):
            inside = sorted(members.tolist())
            pairs = [(i, j) for i in inside for j in inside if i < j]
            got = {(i, j): float(np.clip(round(means[i, j] + rng.normal(0, 0.7)), LOW, HIGH)) for i, j in pairs}
            yield sample, team, inside, got


def table(columns, rows):
    return pa.table(dict(zip(columns, map(list, zip(*rows, strict=True)), strict=True)))


def log_of(kind, *, by_hand):
    """Return a log of grades; with `by_hand` of what they are from the other end of the scale."""

    def turned(value, terms=1):
        return terms * (LOW + HIGH) - value if by_hand else value

    said = {"utility_range": (LOW, HIGH), "neutral": turned(3.0), "pool_coalitions": True, "coalitions": 2}
    said |= {} if by_hand else {"lower_is_better": True}
    places = [(f"w{s}", PEOPLE[i], f"t{t}") for s, t, members, _ in rounds() for i in members]
    memberships = table(("sample", "agent", "coalition"), places)
    if kind == "pairs":
        rows = [
            (f"w{s}", f"t{t}", PEOPLE[i], PEOPLE[j], turned(u))
            for s, t, _, got in rounds()
            for (i, j), u in got.items()
        ]
        columns = ("sample", "coalition", "agent", "partner", "utility")
        return coterie.Log.from_frames(memberships=memberships, pairs=table(columns, rows), **said)
    if "team-score" in kind:
        terms = 6 if kind == "team-scores" else 1
        scores = [(f"w{s}", f"t{t}", turned(sum(got.values()) * terms / 6, terms)) for s, t, _, got in rounds()]
        totals = table(("sample", "coalition", "utility"), scores)
    else:
        terms = 3 if kind == "sum" else 1
        rows = [
            (f"w{s}", PEOPLE[i], turned(sum(u for pair, u in got.items() if i in pair) * terms / 3, terms))
            for s, _, members, got in rounds()
            for i in members
        ]
        totals = table(("sample", "agent", "utility"), rows)
    return coterie.Log.from_frames(memberships=memberships, totals=totals, totals_are=kind, **said)


KINDS = ["pairs", "sum", "team-averages", "average", "team-scores", "team-score-averages"]


def learnt(log):
    return (
        coterie.StableLearner(rules=coterie.Rules(team_size="4"), today=TODAY, value="average", random_state=0)
        .fit(log)
        .result_
    )


@pytest.fixture(scope="module", params=KINDS)
def both(request):
    """A log of numbers of which less is better, and the same turned round by hand, with what is learnt of them."""
    logs = [log_of(request.param, by_hand=by_hand) for by_hand in (False, True)]
    return request.param, logs, [learnt(log) for log in logs]


def test_all_is_as_if_the_table_had_been_turned_round(both):
    _, _, (less, more) = both
    assert less.strategy.actions == more.strategy.actions
    assert less.certificate.gap == pytest.approx(more.certificate.gap, rel=1e-6)
    for agent, value in more.estimate.utility.items():
        assert less.estimate.utility[agent] == pytest.approx(value, abs=1e-5)
    assert less.today.expected_improvement == pytest.approx(more.today.expected_improvement, abs=1e-5)
    assert less.options[0].expected_value == pytest.approx(more.options[0].expected_value, abs=1e-5)


def test_levels_are_those_of_the_table(both):
    """A level from one end of the scale and from the other add up to both ends, and ranges begin with the smaller."""
    kind, _, (less, more) = both
    ends = (6 if kind == "team-scores" else 1) * (LOW + HIGH)
    for name, told in team_levels(less).items():
        mine, other = (
            [float(one) for one in text.replace(",", "").replace("likely", "").replace("to", "").split()]
            for text in (told, team_levels(more)[name])
        )
        assert mine[1] <= mine[0] <= mine[2]
        assert mine[0] + other[0] == pytest.approx(ends, abs=0.11 * (6 if kind == "team-scores" else 1))
    for agent in PEOPLE:
        own, turned = (float(shown_worth(one, one.estimate.utility[agent])) for one in (less, more))
        assert own + turned == pytest.approx(LOW + HIGH, abs=0.11)
        words = likely_worth(less, agent).split()
        assert float(words[-3]) < float(words[-1])
    assert "3 is as good as being alone, less is better" in expected_worth(less)
    per = {"team-score-averages": "team", "team-averages": "person", "average": "person"}.get(kind, "teammate")
    assert f" better per {per} expected" in against_today(less)
    assert "+" not in against_today(less)


def test_what_a_file_says_is_what_the_table_says(both, tmp_path):
    _, logs, (less, _) = both
    data = json.loads(json.dumps(less.to_json()))["data"]
    assert (data["utility_range"], data["neutral"], data["lower_is_better"]) == ([LOW, HIGH], 3.0, True)
    assert LOW <= data["average"] <= HIGH
    less.save(tmp_path / "result.json")
    assert coterie.Result.load(tmp_path / "result.json").data == less.data
    assert any("between 1 and 6" in text for text in less.certificate.assumes)
    seen = inspect_log(logs[0])
    assert seen.to_json()["lower_is_better"] is True
    assert seen.mean > 0


def test_pages_and_workbooks_speak_the_same_numbers(both, tmp_path):
    kind, _, (less, _) = both
    write_teams_xlsx(less, tmp_path / "teams.xlsx")
    people = Workbook.open(tmp_path / "teams.xlsx").read("People").table()
    assert all(LOW <= float(one) <= HIGH for one in people["value"].to_pylist())
    assert "better by" in people.column_names
    expected = [float(row[1]) for row in option_rows(less)[1:]]
    assert all(LOW <= one <= HIGH for one in expected)
    assert expected[0] == min(expected)
    page = report_html(less)
    assert "less is better" in page
    assert kind == "pairs" or "surely between -" not in page


def test_two_assignments_are_compared_in_the_same_numbers(both):
    _, logs, (less, _) = both
    found, turned = (coterie.compare(log, TODAY, less.strategy, value="average") for log in logs)
    assert found.change.expected == pytest.approx(turned.change.expected, abs=1e-4)
    n = len(PEOPLE)
    for mine, other in ((found.one, turned.one), (found.two, turned.two)):
        both_ends = float(found.shown(mine.value.expected / n)) + float(turned.shown(other.value.expected / n))
        assert both_ends == pytest.approx(LOW + HIGH, abs=0.11)
        low, high = map(float, found.ends(mine.value / n))
        assert low <= high
    assert found.changed_by(0.5, 2) == "0.50 better"
    assert found.to_json()["lower_is_better"] is True
    assert "+" not in found.sentence()


def test_parts_of_a_log_are_turned_round_once():
    log = log_of("pairs", by_hand=False)
    again = log[:15] + log[15:]
    assert again.lower_is_better
    assert learnt(again).estimate.utility == learnt(log).estimate.utility


def test_numbers_outside_of_the_scale_are_refused_as_they_are_written():
    pairs = pa.table({"sample": ["1"], "coalition": ["a"], "agent": ["x"], "partner": ["y"], "utility": [7.0]})
    with pytest.raises(InputError, match=r"utility 7 .*\[1, 6\]|utility 7"):
        coterie.Log.from_frames(pairs=pairs, utility_range=(1, 6), neutral=3, lower_is_better=True)


def test_choices_have_nothing_to_turn_round():
    choices = pa.table({"sample": ["1", "1"], "coalition": ["a", "a"], "agent": ["x", "y"], "choice": ["u", "u"]})
    with pytest.raises(InputError, match="lower_is_better=True is about numbers"):
        coterie.Log.from_frames(choices=choices, lower_is_better=True)


def test_logs_of_both_directions_are_not_added():
    one, two = (log_of("pairs", by_hand=by_hand) for by_hand in (False, True))
    with pytest.raises(InputError, match=r"neutral|lower_is_better"):
        _ = one[:10] + two[10:20]


@pytest.mark.parametrize(
    ("header", "less"),
    [
        ("Went well (1 = good, 0 = bad)", False),
        ("Went well (0 = poor, 1 = good)", False),
        ("Fit (1 = good, 2 = very good, 3 = excellent)", False),
        ("Rank (1 = worst, 10 = best)", False),
        ("Rank (higher is better)", False),
        ("Grade (6 = best)", False),
        ("Note (1 ist sehr gut)", True),
        ("Noten (1 = sehr gut, 2 = gut)", True),
        ("Satisfaction (1 = very good, 5 = very bad)", True),
        ("Score (1: top, 4: flop)", True),
        ("Score (10 = worst)", True),
    ],
)
def test_what_a_header_says_of_its_ends_counts_before_its_words(header, less):
    assert says_less_is_better(header) == less
    assert may_mean_less(header, (1, 6)) == less


def test_statistics_that_do_not_go_together_are_refused_in_the_numbers_of_their_tables():
    places = table(("sample", "coalition", "agent", "partner", "utility"), [("1", "t", "a", "b", 2.0)])
    one, other, turned = (
        Statistics.of(coterie.Log.from_frames(pairs=places, utility_range=(1, high), neutral=2, lower_is_better=lower))
        for high, lower in ((5, True), (6, True), (5, False))
    )
    with pytest.raises(InputError, match=r"utility_range is \(1.0, 5.0\) here and \(1.0, 6.0\) there"):
        one + other
    with pytest.raises(InputError, match="lower_is_better is True here and False there"):
        one + turned


@pytest.mark.parametrize(
    ("title", "less"),
    [
        ("Survey (1 = best; 6 = worst)", True),
        ("Survey (1 = worst; 6 = best)", None),
        ("Class 1: good and bad days", None),
    ],
)
def test_what_is_above_the_header_says_which_end_is_best(tmp_path, title, less):
    path = tmp_path / "table.csv"
    rows = [(s, "t1", *pair, 1 + s % 6) for s in range(12) for pair in (("Ann", "Bob"), ("Ann", "Cy"), ("Bob", "Cy"))]
    lines = [f"{title},,,,", "Day,Team,A,B,Value", *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines), encoding="utf-8")
    assert coterie.start(path).options.get("lower_is_better") == less


@pytest.mark.parametrize(
    ("title", "less"),
    [
        ("1 = excellent, any time again ... 5 = poor", True),
        ("1 = poor ... 5 = excellent", False),
        ("1 = not good, 5 = good", False),
        ("1 = not bad, 5 = bad", True),
        ("1 = sehr gut, 6 = ungenügend", True),
        ("1 = très mauvais, 5 = très bon", False),
        ("1 = mejor, 5 = peor", True),
        ("Lower is better", True),
        ("Weniger ist besser", True),
        ("1 = nobody, 5 = everybody", None),
        ("Lower is not better", None),
        ("5 = bonus points", None),
    ],
)
def test_what_is_above_the_header_decides(tmp_path, title, less):
    rows = [f"{week},Hall,{a},{b},{1 + (week + len(a + b)) % 5}" for week in range(9) for a, b in ("xy", "yz", "xz")]
    (tmp_path / "grades.csv").write_text(
        "\n".join([f'"{title}",,,,', "", "Week,Team,From,To,Grade", *rows]), encoding="utf-8"
    )
    guess = coterie.start(tmp_path / "grades.csv")
    (found,) = [one for one in guess.answers if one.name == "lower_is_better"]
    assert found.value is bool(less)
    assert (found.why == "so says what is above the header") is (less is not None)
    log = guess.write(tmp_path / "log")
    assert log.lower_is_better is bool(less)
    assert any("more is taken to be better, but less may be" in note for note in log.notes) is (less is None)


def test_what_the_header_says_wins_over_a_title():
    assert direction_told("Errors", ["1 = poor, 5 = excellent"]) == (True, "the name of the column, 'Errors'")
    assert direction_told("Score (5 = best)", ["1 = excellent, 5 = poor"])[0] is False
    assert direction_told("Score", []) is None


def test_titles_that_number_something_are_no_scale():
    assert direction_told("Score", ["Week 1: top 10", "Room 2: bad acoustics"]) is None
    assert direction_told("Grade", ["Group 1: best of the year", "Group 2: worst attendance"]) is None
    assert direction_told("Grade", ["Spring 2024: 1: best, 5: worst"])[0] is True
    assert direction_told("Grade", ["1: worst", "5: best"])[0] is False


@pytest.mark.parametrize(
    "header", ["Bugs fixed", "Ranking score", "Conflict resolution", "Error-free", "Fehler gefunden"]
)
def test_words_that_turn_it_round_again_leave_it_open(header):
    assert direction_told(header, []) is None
    assert may_mean_less(header, None)


@pytest.mark.parametrize(
    ("header", "scale", "less"),
    [
        ("Note", (1, 6), True),
        ("Note", (1, 5), True),
        ("Note", None, True),
        ("Noten", (0.7, 5), True),
        ("Note", (0, 20), False),
        ("Note", (1, 20), False),
        ("Note", (1, 10), False),
        ("Note", (0, 6), False),
        ("Note /20", None, False),
        ("Note sur 20", (4, 20), False),
        ("Note (1-6)", None, True),
        ("Note /5", None, True),
        ("Schulnote", (1, 10), True),
        ("Note (1 = sehr gut)", (0, 20), True),
        ("Note (20 = best)", (1, 6), False),
    ],
)
def test_a_note_is_a_german_mark_on_a_short_scale_only(header, scale, less):
    assert may_mean_less(header, scale) == less


@pytest.mark.parametrize("header", ["Note", "Note /20", "Note sur 20"])
def test_french_marks_leave_no_doubt(tmp_path, header):
    path = tmp_path / "notes.csv"
    rows = [f"{s},Hall,{a},{b},{4 + 3 * s % 17}" for s in range(17) for a, b in ("xy", "yz", "xz")]
    path.write_text("\n".join([f"Semaine,Equipe,De,A,{header}", *rows]), encoding="utf-8")
    columns = {"sample": "Semaine", "coalition": "Equipe", "agent": "De", "partner": "A", "utility": header}
    guess = coterie.start(path, columns=columns)
    assert not [one for one in guess.answers if one.name == "lower_is_better"]
    assert not [note for note in guess.write(tmp_path / "log").notes if "less may be" in note]
