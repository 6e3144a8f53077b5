"""Several rows about the same, such as forms that were sent twice: refused, or one of them taken, as is said."""

import pandas as pd
import pytest

import coterie
from coterie.errors import InputError
from coterie.log.engine import DuckDBEngine
from coterie.statistics.statistics import Statistics

PAIRS = "sample,coalition,agent,partner,utility\n"
TWICE = PAIRS + "1,x,a,b,0.5\n1,x,a,c,1\n1,x,a,b,0.5\n1,x,b,a,0\n1,x,a,c,0\n2,x,a,c,1\n1,x,a,c,-0.25\n"


def utilities(log):
    """Return what each pair got in the first round."""
    rows = log.engine.rows(f"SELECT * FROM {log.engine.name('ratings')} WHERE sample = '1'")
    return {row["agent"] + row["partner"]: row["utility"] for row in rows}


def noted(log):
    return [note for note in log.notes if "about and count" in note]


@pytest.mark.parametrize(
    ("which", "expected"),
    [
        ("first", {"ab": 0.5, "ac": 1.0, "ba": 0.0}),
        ("last", {"ab": 0.5, "ac": -0.25, "ba": 0.0}),
        ("mean", {"ab": 0.5, "ac": 0.25, "ba": 0.0}),
    ],
)
def test_one_of_several_rows_is_taken(csv_log, which, expected):
    log = coterie.read_log(csv_log(pairs=TWICE), symmetric=False, duplicates=which)
    assert utilities(log) == expected
    assert log.rows == 4
    (note,) = noted(log)
    assert note.endswith(
        f"pairs.csv repeat what others are about and count once: the {which} is taken where they differ (1 case)"
    )
    assert Statistics.of(log).whole.count.sum() == 4


@pytest.mark.parametrize("values", [("9", "1"), ("1", "9"), ("-3", "9")])
def test_a_mean_hides_no_number_outside_of_the_scale(csv_log, values):
    rows = "".join(f"1,x,a,b,{value}\n" for value in values)
    folder = csv_log(pairs=f"{PAIRS}{rows}1,x,a,c,2\n")
    with pytest.raises(InputError, match=r"utility (9|-3) "):
        coterie.read_log(folder, utility_range=(1, 5), neutral=3, duplicates="mean")
    path = folder / "averages.csv"
    path.write_text("sample,coalition,agent,utility\n" + "1,x,a,9\n1,x,a,1\n1,x,b,2\n", encoding="utf-8")
    with pytest.raises(InputError, match="9"):
        coterie.read_log(path, utility_range=(1, 5), neutral=3, totals="team-averages", duplicates="mean")
    log = coterie.read_log(folder, utility_range=(1, 5), neutral=3, sigma=1.0, duplicates="mean")
    assert utilities(log)["ab"] == sum(map(float, values)) / 2


def test_copies_and_logs_without_doubles(csv_log):
    log = coterie.read_log(csv_log(pairs=PAIRS + "1,x,a,b,0.1\n" * 3), duplicates="mean")
    assert utilities(log) == {"ab": 0.1}
    (note,) = noted(log)
    assert note.startswith("2 rows of ")
    assert note.endswith("pairs.csv repeat what others are about and count once: they say the same")
    assert not noted(coterie.read_log(csv_log(pairs=PAIRS + "1,x,a,b,0.1\n"), duplicates="mean"))


def test_log_json_may_say_so(csv_log):
    folder = csv_log(pairs=TWICE, json='{"duplicates": "last", "symmetric": false}')
    assert utilities(coterie.read_log(folder))["ac"] == -0.25
    with pytest.raises(
        InputError, match=r"duplicates: expected \"refuse\", \"first\", \"last\" or \"mean\", got 'both'"
    ):
        coterie.read_log(folder, duplicates="both")


def test_a_form_without_a_number_gives_way(csv_log):
    text = PAIRS + "1,x,a,b,\n1,x,a,b,0.5\n1,x,a,c,1\n1,x,a,c,n/a\n"
    for which in ("first", "last", "mean"):
        assert utilities(coterie.read_log(csv_log(pairs=text), duplicates=which)) == {"ab": 0.5, "ac": 1.0}


def test_what_is_no_number_is_refused_all_the_same(csv_log):
    with pytest.raises(InputError, match="row 3: utility is 'high'"):
        coterie.read_log(csv_log(pairs=PAIRS + "1,x,a,b,0\n1,x,a,b,high\n"), duplicates="first")


@pytest.mark.parametrize(("which", "total"), [("first", 1.0), ("last", 0.5), ("mean", 0.75)])
def test_what_people_got_in_teams(tmp_path, which, total):
    rows = [
        ("1", "a", "x", 1.0),
        ("1", "b", "x", 0.25),
        ("1", "a", "x", 0.5),
        ("2", "a", "x", 0.0),
        ("2", "b", "x", 0.0),
    ]
    frame = pd.DataFrame(rows, columns=["sample", "agent", "coalition", "utility"])
    log = coterie.Log.from_frames(totals=frame, symmetric=False, duplicates=which)
    found = log.engine.rows(f"SELECT * FROM {log.engine.name('totals')} WHERE sample = '1' AND agent = 'a'")
    assert [row["utility"] for row in found] == [total]
    frame.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(InputError, match="rows 2 and 4: sample '1', agent 'a'"):
        coterie.read_log(tmp_path / "t.csv", symmetric=False)


def test_memberships_that_are_there_twice(csv_log):
    members = "sample,agent,coalition\n1,a,x\n1,b,x\n1,a,x\n"
    folder = csv_log(memberships=members, pairs=PAIRS + "1,x,a,b,0.5\n")
    with pytest.raises(InputError, match=r"memberships[.]csv, rows 2 and 4: "):
        coterie.read_log(folder)
    (note,) = noted(coterie.read_log(folder, duplicates="first"))
    assert note.startswith("1 row of ")
    assert note.endswith("memberships.csv repeats what another is about and counts once: they say the same")


def test_choices_have_no_mean(tmp_path):
    text = "sample,coalition,agent,choice\n1,x,a,red\n1,x,b,red\n1,x,a,blue\n"
    (tmp_path / "choices.csv").write_text(text, "utf-8")
    with pytest.raises(InputError, match='choices have no mean; say duplicates="last"'):
        coterie.read_log(tmp_path, utility_range=(0, 1), neutral=0, duplicates="mean")
    for which, worth in (("first", 1.0), ("last", 0.0)):
        log = coterie.read_log(tmp_path, utility_range=(0, 1), neutral=0, duplicates=which)
        assert utilities(log) == {"ab": worth}


def test_without_an_order_of_rows_there_is_the_mean(csv_log, monkeypatch):
    monkeypatch.setattr(DuckDBEngine, "keeps_order", False)  # as Spark
    for which in ("first", "last"):
        with pytest.raises(InputError, match='Spark keeps no order of rows; say duplicates="mean"'):
            coterie.read_log(csv_log(pairs=TWICE), symmetric=False, duplicates=which)
    assert utilities(coterie.read_log(csv_log(pairs=TWICE), symmetric=False, duplicates="mean"))["ac"] == 0.25


def test_teams_of_one_name_are_no_doubles(tmp_path):
    (tmp_path / "t.csv").write_text("sample,team,members,score\n1,x,a;b,1\n1,x,c;d,0\n", "utf-8")
    with pytest.raises(InputError, match=r"t[.]csv lists teams, of which two may have one name"):
        coterie.read_log(tmp_path / "t.csv", duplicates="mean")


def started(tmp_path, further):
    rows = [f"{m},x,{i},{j},{(m + len(i)) % 5 + 1}" for m in range(10) for i, j in (("Ann", "Bo"), ("Bo", "Cy"))]
    (tmp_path / "t.csv").write_text("\n".join(["Month,Team,From,About,Stars", *rows, *further]), encoding="utf-8")
    guess = coterie.start(tmp_path / "t.csv")
    return guess, {one.name: (one.value, one.why) for one in guess.answers}.get("duplicates")


def test_start_asks_where_there_are_doubles(tmp_path):
    assert started(tmp_path, [])[1] is None
    guess, found = started(tmp_path, ["4,x,Ann,Bo,2"])
    assert found == ("mean", "1 row repeats what another is about; they differ in 1 case")
    assert noted(guess.write(tmp_path / "log"))
    assert started(tmp_path, ["4,x,Ann,Bo,3"])[1] == ("first", "1 row repeats what another is about; they say the same")
    guess, found = started(tmp_path, [f"{m},x,Ann,Bo,2" for m in range(6)])
    assert found == (
        "refuse",
        "6 rows repeat what others are about: is there a column that says more about when or where?",
    )
    with pytest.raises(InputError, match="rows 2 and 22: "):
        guess.write(tmp_path / "other")


@pytest.mark.slow
def test_spark_takes_the_mean(csv_log, spark):
    folder = csv_log(pairs=TWICE)
    log = coterie.read_log(folder, symmetric=False, duplicates="mean", spark=spark)
    assert utilities(log) == {"ab": 0.5, "ac": 0.25, "ba": 0.0}
    with pytest.raises(InputError, match="Spark keeps no order of rows"):
        coterie.read_log(folder, symmetric=False, duplicates="last", spark=spark)
    with pytest.raises(InputError, match="is listed more than once"):
        coterie.read_log(folder, symmetric=False, spark=spark)
