"""Names of one person that are written in several ways: told by every command, merged where that is safe."""

import pandas as pd
import pytest

import coterie
from coterie.checks import close_to, plain, readings, without_remark
from coterie.log.names import as_known, cleaned, remarked, spellings

PAIRS = ["sample", "coalition", "agent", "partner", "utility"]
RATED = ("Ada", "Cy", "Dov", "Eli")


def ratings(usual="Björn Åkesson", other="Bjorn Akesson", rounds=8):
    """Return ratings of one team, in which the first of four calls somebody otherwise, who is only rated so."""
    rows = []
    for t in range(rounds):
        people = [*RATED, usual]
        rows += [(str(t), "x", one, two, 0.5) for one in people for two in people if one != two]
    return pd.DataFrame(
        [(*row[:3], other if (row[2], row[3]) == ("Ada", usual) else row[3], row[4]) for row in rows], columns=PAIRS
    )


def of_pairs(frame, **said):
    return coterie.Log.from_frames(pairs=frame, symmetric=False, **said)


def noted(log, *words):
    return [note for note in log.notes if all(word in note for word in words)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Björn Åkesson", "Bjorn Akesson"),
        ("Björn Åkesson", "Bjoern Aakesson"),
        ("Björn Åkesson", "bjoern  akesson"),
        ("Søren Kjær", "Soren Kjaer"),
        ("Łukasz Żak", "Lukasz Zak"),
        ("Zoë Nuñez", "Zoe Nunez"),
        ("José", "Jose"),
        ("Алёна", "Алена"),
        ("Jose\u0301", "José"),
    ],
)
def test_names_without_their_accents_are_spellings(one, other):
    assert readings(one) & readings(other)
    assert spellings([one, other, "Ada"]) == [tuple(sorted((one, other)))]


@pytest.mark.parametrize(
    ("one", "other"),
    [("Michael", "Michal"), ("Joel", "Jol"), ("Brandt", "Brant"), ("ガ", "カ"), ("Muller", "Mueller"), ("é", "a")],
)
def test_other_names_are_none(one, other):
    assert not readings(one) & readings(other)
    assert not spellings([one, other])


@pytest.mark.parametrize(
    "other",
    [
        "Maeve O\u2019Connor-Li",
        "Maeve O\u02bcConnor\u2011Li",
        "Maeve\u00a0O`Connor\u2013Li",
        "Maeve\u200b O\u00b4Connor\u2010Li",
    ],
)
def test_like_signs_are_one(other):
    assert plain(other) == plain("Maeve O'Connor-Li")
    assert cleaned({"Maeve O'Connor-Li": 2, other: 1}) == {other: "Maeve O'Connor-Li"}


def test_of_spellings_that_are_as_frequent_the_one_with_accents_is_taken():
    assert cleaned({"Jose": 2, "José": 2}) == {"Jose": "José"}
    assert cleaned({"Jose": 3, "José": 2}) == {"José": "Jose"}
    assert cleaned({"O'Neill": 2, "O\u2019Neill": 2}) == {"O\u2019Neill": "O'Neill"}


def test_many_letters_that_may_be_two_are_read_in_two_ways():
    assert readings("ö" * 9) == {"o" * 9, "oe" * 9}
    assert len(readings("ö" * 6)) == 64


def test_several_spellings_are_tied_by_one_and_kept_apart_together():
    names = ["Bjoern", "Bjorn", "Björn", "bjorn"]
    assert spellings(names) == [tuple(names)]
    assert spellings(names, [frozenset(["Bjorn", "Björn"])]) == [("Bjoern", "Björn"), ("Bjorn", "bjorn")]
    assert cleaned(dict.fromkeys(names, 1), [frozenset(["Bjorn", "Björn"])]) == {"Bjoern": "Björn", "bjorn": "Bjorn"}


def test_accents_are_told_though_both_are_there_in_one_round():
    """Who was there is inferred from ratings, and everybody whom somebody rates is there under that name."""
    (note,) = noted(of_pairs(ratings()), "several spellings")
    assert note.startswith("1 agent has several spellings that differ in")
    assert "'Bjorn Akesson' and 'Björn Åkesson'; " in note
    assert "clean_names=True merges them" in note


def test_accents_are_merged_and_that_is_told():
    log = of_pairs(ratings(), clean_names=True)
    assert log.agents == ("Ada", "Björn Åkesson", "Cy", "Dov", "Eli")
    assert noted(log, "merged", "'Bjorn Akesson' is 'Björn Åkesson'")
    assert not noted(log, "several spellings")
    assert not noted(of_pairs(ratings("Bo", "bo "), clean_names=True), "merged")


def test_teams_that_are_merged_are_told():
    frame = ratings("Bo", "Bo")
    frame["coalition"] = ["Côte", "Cote"] * (len(frame) // 2)
    log = of_pairs(frame, clean_names=True)
    assert log.coalitions == ("Côte",)
    assert noted(log, "were merged", "'Cote' is 'Côte'")


def test_two_who_rated_each_other_are_two():
    frame = ratings("José", "Jose")
    frame = pd.concat([frame, pd.DataFrame([("0", "x", "José", "Jose", 0.5)], columns=PAIRS)])
    assert not noted(of_pairs(frame), "spellings")
    log = of_pairs(frame, clean_names=True)
    assert {"Jose", "José"} < set(log.agents)
    assert not noted(log, "merged")


def test_two_whom_somebody_rates_in_one_round_are_two():
    frame = ratings("José", "Jose")
    frame = pd.concat([frame, pd.DataFrame([("0", "x", "Cy", "Jose", 1.0)], columns=PAIRS)])
    assert not noted(of_pairs(frame), "spellings")
    assert {"Jose", "José"} < set(of_pairs(frame, clean_names=True).agents)


@pytest.mark.parametrize(("both", "people"), [(False, 3), (True, 4)])
def test_memberships_that_are_given_tell_who_is_two(both, people):
    rows = [(str(t), who, "x", 1.0) for t in range(9) for who in ("Ada", "Bo", "José" if t % 3 else "Jose")]
    rows += [("1", "Jose", "x", 1.0)] if both else []
    frame = pd.DataFrame(rows, columns=["sample", "agent", "coalition", "utility"])
    assert bool(noted(coterie.Log.from_frames(totals=frame), "several spellings")) is not both
    assert len(coterie.Log.from_frames(totals=frame, clean_names=True).agents) == people


def test_start_merges_names_without_accents(tmp_path):
    ratings().to_csv(tmp_path / "t.csv", index=False)
    guess = coterie.start(tmp_path / "t.csv")
    clean = next(one for one in guess.answers if one.name == "clean_names")
    assert (clean.value, clean.why) == (True, "1 name has several spellings: 'Bjorn Akesson' and 'Björn Åkesson'")
    log = guess.write(tmp_path / "log")
    assert len(log.agents) == 5
    assert noted(log, "merged", "'Bjorn Akesson' is 'Björn Åkesson'")


@pytest.mark.parametrize(
    "name", ["Kwame (remote)", "Kwame [ext.]", "Kwame - remote", "Kwame \u2013 part time", "Kwame*"]
)
def test_remarks_behind_a_name_are_told_and_never_merged(name, tmp_path):
    assert without_remark(name) == "Kwame"
    assert remarked(["Kwame", name, "Ada"]) == [(name, "Kwame")]
    for said in ({}, {"clean_names": True}):
        log = of_pairs(ratings("Kwame", name), **said)
        (note,) = noted(log, "may be one person")
        assert note.startswith(f"{name!r} (in 8 rounds) and 'Kwame' (in 8) may be one person, with a remark behind")
        assert len(log.agents) == 6
    ratings("Kwame", name).to_csv(tmp_path / "t.csv", index=False, encoding="utf-8")
    assert noted(coterie.start(tmp_path / "t.csv").write(tmp_path / "log"), "may be one person")


@pytest.mark.parametrize("name", ["Kwame (2)", "Kwame (new)", "Kwame-Lee", "(remote)", "Lee, Kwame"])
def test_what_is_no_remark(name):
    assert without_remark(name) is None


def test_a_remark_on_somebody_else():
    frame = ratings("Kwame", "Kwame (remote)")
    frame = pd.concat([frame, pd.DataFrame([("0", "x", "Kwame", "Kwame (remote)", 0.5)], columns=PAIRS)])
    assert not noted(of_pairs(frame), "may be one person")


def test_who_is_known_under_the_very_name_is_nobody_else():
    assert as_known(["Bjorn Akesson"], ["Björn Åkesson"]) == {"Bjorn Akesson": "Björn Åkesson"}
    assert as_known(["Jose", "José"], ["José"]) == {}
    assert as_known(["jose"], ["Jose", "José"]) == {"jose": "Jose"}
    assert as_known(["Bjorn"], ["Björn", "Bjørn"]) == {}


def test_names_that_are_close():
    people = ["Björn Åkesson", "Bo Lee", "Carmen Díaz"]
    assert close_to("Bjorn", people) == ["Björn Åkesson"]
    assert close_to("Bjron", people) == ["Björn Åkesson"]
    assert close_to("Diaz, Carmen", people) == ["Carmen Díaz"]
    assert close_to("Zoe", people) == []


@pytest.mark.slow
def test_spark_tells_and_merges_the_same(csv_log, spark):
    folder = csv_log(pairs=ratings().to_csv(index=False))
    for said in ({}, {"clean_names": True}):
        there = coterie.read_log(folder, symmetric=False, spark=spark, **said)
        here = coterie.read_log(folder, symmetric=False, **said)
        assert there.agents == here.agents
        assert set(here.notes) <= set(there.notes)
