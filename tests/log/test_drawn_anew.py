"""Names of teams that are drawn anew each time, told from areas: by who was where, and what was got there."""

import json

import numpy as np
import pytest

import coterie
from coterie.learn.headline import NO_RANGE, expected_worth
from coterie.learn.promises import NOTHING_KNOWN, what_is_sure
from coterie.log.drawn_anew import MAY_MEAN_NOTHING, Differing, about_names, drawn_anew
from coterie.log.inspection import inspect_log

PLACES = ("Window", "Door", "Board", "Corner", "Shelf", "Wall")
PEOPLE = [f"P{i:02d}" for i in range(24)]
HEADERS = {
    "totals": "Week,Name,Place,Points",
    "scores": "Week,Members,Place,Points",
    "pairs": "Week,Rater,Rated,Place,Points",
}
COLUMNS = {
    "totals": {"agent": "Name"},
    "scores": {"members": "Members"},
    "pairs": {"agent": "Rater", "partner": "Rated"},
}


def table(path, kind="totals", *, weeks=24, places=6, seed=0, person=0.0, pair=0.0, sticky=False):
    """Write what people got, four at each of some places drawn anew; `person` and `pair` matter differently at each."""
    rng = np.random.default_rng(seed)
    n = 4 * places
    worth = rng.normal(12, 1.6, n)[:, None] + rng.normal(0, 1, n) + rng.normal(0, 1.3, (n, n))
    there = worth + rng.normal(0, person, (places, n, 1)) + rng.normal(0, pair, (places, n, n))
    rows, usual = [HEADERS[kind]], rng.permutation(n)
    for week in range(weeks):
        order = usual if sticky else rng.permutation(n)
        for l, place in enumerate(PLACES[:places]):
            team = order[4 * l : 4 * l + 4].tolist()
            got = {(i, j): there[l, i, j] + rng.normal(0, 2) for i in team for j in team if i != j}
            if kind == "pairs":
                rows += [f"{week},{PEOPLE[i]},{PEOPLE[j]},{place},{value:.2f}" for (i, j), value in got.items()]
            elif kind == "scores":
                rows.append(f"{week},{'; '.join(PEOPLE[i] for i in team)},{place},{np.mean(list(got.values())):.2f}")
            else:
                own = {i: np.mean([value for (one, _), value in got.items() if one == i]) for i in team}
                rows += [f"{week},{PEOPLE[i]},{place},{value:.2f}" for i, value in own.items()]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def log_of(path, kind, **said):
    columns = {"sample": "Week", "coalition": "Place", "utility": "Points", **COLUMNS[kind]}
    averages = {"totals": "team-averages", "scores": "team-score-averages"}
    said |= {"totals": averages[kind]} if kind in averages else {}
    said |= {"symmetric": False} if kind != "scores" else {}
    return coterie.read_log(path, columns=columns, utility_range=(-20, 40), neutral=12, **said)


def pooled(guess):
    return next(one for one in guess.answers if one.name == "pool_coalitions")


@pytest.mark.parametrize("kind", HEADERS)
@pytest.mark.parametrize(
    ("about", "expected"),
    [
        ({}, "clearly"),
        ({"weeks": 12}, "perhaps"),
        ({"weeks": 6}, "no"),
        ({"person": 1.6}, "no"),
        ({"sticky": True}, "no"),
    ],
)
def test_names_are_drawn_anew(tmp_path, kind, about, expected):
    path = table(tmp_path / "table.csv", kind, **about)
    assert drawn_anew(log_of(path, kind)) == expected
    found = pooled(coterie.start(path))
    assert found.value is (expected == "clearly")
    assert ("people change between them each time" in found.why) is (expected != "no")
    assert ("as if drawn anew; if they stay the same, pool_coalitions=False says so" in found.why) is found.value


def test_totals_of_large_teams_are_not_looked_at_pair_by_pair(tmp_path, monkeypatch):
    path = table(tmp_path / "table.csv")
    monkeypatch.setattr("coterie.log.drawn_anew.MOST_MET", 24 * 24 * 3)
    assert drawn_anew(log_of(path, "totals")) == "clearly"
    monkeypatch.setattr("coterie.log.drawn_anew.MOST_MET", 24 * 24 * 3 - 1)
    assert drawn_anew(log_of(path, "totals")) == "perhaps"
    path = table(tmp_path / "pairs.csv", "pairs")
    assert drawn_anew(log_of(path, "pairs")) == "clearly"


@pytest.mark.parametrize("kind", ["totals", "pairs"])
def test_places_that_matter_to_pairs_are_found_where_they_can_be_learnt(tmp_path, kind):
    assert drawn_anew(log_of(table(tmp_path / "table.csv", kind, weeks=120, pair=1.3), kind)) == "no"


def groups(path, header="Groupe", labels=("G1", "G2", "g3 ", "G4", "G5", "G6"), once=("g1",), people=PEOPLE):
    """Write what people got in groups drawn anew; in a round each, some labels and people are spelled otherwise."""
    rng = np.random.default_rng(3)
    rows = [f"Week,{header},Name,Points"]
    for week in range(6):
        order = rng.permutation(24).tolist()
        for place, who in enumerate(order):
            label = labels[place // 4]
            label = next((one for one in once if week == 2 and one == label.casefold()), label)
            name = people[who].lower() if week == 3 and who == 7 else people[who]
            rows.append(f"{week},{label},{name},{rng.normal(12, 2):.1f}")
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("header", "labels", "is_numbered"),
    [
        ("Groupe", ("G1", "G2", "g3 ", "G4", "G5", "G6"), True),
        ("Gruppe", ("Gr. 1", "Gr. 2", "gr 3", "Gr4", "Gr. 5", "Gr. 6"), True),
        ("Team", ("T10", "T11", "T12", "T13", "T14", "T15"), True),
        ("Équipe", ("É1", "E2", "É3", "É4", "É5", "É6"), True),
        ("Room", ("R101", "R102", "R103", "R201", "R202", "R203"), False),
        ("Group", ("B1", "B2", "B3", "B4", "B5", "B6"), False),
        ("Area", ("Q1", "Q2", "Q3", "Q4", "Q5", "Q6"), False),
        ("Place", ("T1", "T2", "T3", "T4", "T5", "T6"), False),
        ("Group", ("G1", "G2", "G3", "G4", "G5", "Law"), False),
    ],
)
def test_letters_and_a_number_are_numbered_labels(tmp_path, header, labels, is_numbered):
    found = pooled(coterie.start(groups(tmp_path / "table.csv", header, labels), columns={"coalition": header}))
    assert found.value is is_numbered
    assert found.why.startswith("labels are numbers or letters, such as") is is_numbered


def test_labels_and_people_are_counted_after_spellings_are_merged(tmp_path):
    path = groups(tmp_path / "table.csv", "Area", ("Hall", "Sea", "Law", "Art", "Sky", "Moor"), ("hall", "sea"))
    guess = coterie.start(path)
    assert pooled(guess).why.startswith("labels have names and come back, such as 'Art'")
    log = guess.write(tmp_path / "log")
    numbered = coterie.start(groups(tmp_path / "numbered.csv"))
    (how_many,) = [one for one in numbered.answers if one.name == "coalitions"]
    assert (how_many.value, len(log.agents)) == (6, 24)
    apart = pooled(coterie.start(path, clean_names=False))
    assert apart.why == "6 of 8 labels come back, such as 'Art'"


@pytest.mark.parametrize("is_seen", [False, True])
def test_start_and_inspect_and_learn_say_the_same_of_names(tmp_path, monkeypatch, is_seen):
    """Also where only the log as it is read shows it, and not what `start` looks at."""
    path = table(tmp_path / "table.csv", weeks=12)
    if not is_seen:
        monkeypatch.setattr("coterie.log.start.names_drawn_anew", lambda *_: "no")
    log = coterie.start(path).write(tmp_path / "log")
    assert any(note.startswith(MAY_MEAN_NOTHING) for note in log.notes) is not is_seen
    assert "pool_coalitions" not in json.loads((tmp_path / "log" / "log.json").read_text(encoding="utf-8"))
    for said in ({}, {"pool_coalitions": False}):
        read = coterie.read_log(tmp_path / "log", **said)
        told = [finding.what for finding in inspect_log(read).findings]
        assert any(one.startswith(MAY_MEAN_NOTHING) for one in told) is (not said)
        assert (len(list(about_names(read))) > 0) is (not said)


def test_analysis_of_variance(tmp_path):
    """Against the textbook, cell by cell."""
    rng = np.random.default_rng(4)
    cells = {(i, l): rng.normal(i, 1, rng.integers(2, 5)) for i in range(5) for l in "xyz"}
    log = tmp_path / "log.csv"
    rows = [f"{n},{l},p{i},q,{value}" for (i, l), values in cells.items() for n, value in enumerate(values.tolist())]
    log.write_text("sample,coalition,agent,partner,utility\n" + "\n".join(rows) + "\n")
    read = coterie.read_log(log, symmetric=False, utility_range=(-20, 20))
    found = Differing.of(read.engine, read.engine.name("ratings"))
    own = {i: np.concatenate([values for (one, _), values in cells.items() if one == i]) for i in range(5)}
    within = sum(((values - values.mean()) ** 2).sum() for values in cells.values())
    between = sum(len(values) * (values.mean() - own[i].mean()) ** 2 for (i, _), values in cells.items())
    assert (found.rows, found.cells, found.every) == (sum(map(len, cells.values())), 15, 5)
    assert (found.within, found.between) == (pytest.approx(within), pytest.approx(between))
    degrees = 10, found.rows - 15
    assert found.spread == pytest.approx(np.sqrt(2 / degrees[0] + 2 / degrees[1]))
    ratio = (between / degrees[0]) / (within / degrees[1])
    assert found.is_chance((ratio - 1) / found.spread + 1e-9)
    assert not found.is_chance((ratio - 1) / found.spread - 1e-9)


# --- What learn tells -------------------------------------------------------------------------------------------


def warnings_of(log):
    rules = coterie.Rules(team_size="4")
    return coterie.StableLearner(rules=rules, value="average", time_limit=2.0, random_state=0).fit(log).result_.warnings


def test_learn_warns_first_until_somebody_says_which(tmp_path):
    path = table(tmp_path / "table.csv", weeks=12, places=3)
    guess = coterie.start(path)
    assert pooled(guess).value is False
    log = guess.write(tmp_path / "log")
    assert "pool_coalitions" not in json.loads((tmp_path / "log" / "log.json").read_text())
    first = next(one for one in warnings_of(log) if "too few data" not in one)
    assert first.startswith(f"{MAY_MEAN_NOTHING}: people change between them each time")
    assert "pool_coalitions=True learns about pairs whatever the team is called" in first
    assert not any(
        MAY_MEAN_NOTHING in one for one in warnings_of(coterie.read_log(tmp_path / "log", pool_coalitions=False))
    )
    said = coterie.start(path, pool_coalitions=False).write(tmp_path / "said")
    assert "pool_coalitions" in json.loads((tmp_path / "said" / "log.json").read_text())
    assert not any(MAY_MEAN_NOTHING in one for one in warnings_of(said))


def test_where_no_range_is_known_none_is_referred_to(tmp_path, monkeypatch):
    log = log_of(table(tmp_path / "table.csv", weeks=8, places=3, sticky=True), "totals")
    learner = coterie.StableLearner(rules=coterie.Rules(team_size="4"), value="average", time_limit=2.0, random_state=0)
    with_ranges = learner.fit(log).result_
    assert with_ranges.options[0].expected_range is not None
    assert NO_RANGE not in expected_worth(with_ranges)
    assert "the ranges above" in what_is_sure(with_ranges)
    monkeypatch.setattr("coterie.learn.beliefs.QUICK", 50)
    without = learner.fit(log).result_
    assert without.options[0].expected_range is None
    assert NO_RANGE in expected_worth(without)
    assert what_is_sure(without) == NOTHING_KNOWN
