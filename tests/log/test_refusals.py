"""Bad input gets one clear message: the file, the row, what was expected, and what would help."""

import re

import pytest

import coterie
from coterie.errors import InputError

PAIRS = "sample,coalition,agent,partner,utility\n"
MEMBERS = "sample,agent,coalition\n"
TOTALS = "sample,agent,utility\n"
FIVE = MEMBERS + "1,a,x\n1,b,x\n1,c,x\n2,a,x\n2,b,x\n"


def refusal(folder, **options):
    with pytest.raises(InputError) as caught:
        coterie.read_log(folder, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (
            {"pairs": "sample,coalition,agent,partner\n1,x,a,b\n"},
            r"pairs.csv: no column 'utility'.*columns=\{\"utility\": \"NAME\"\} says",
        ),
        ({"pairs": PAIRS}, r"pairs.csv: has no rows; an empty log says nothing"),
        ({"pairs": ""}, r"pairs.csv: is empty, expected a header and rows"),
        (
            {"pairs": PAIRS + "1,x,a,b,0\n1,x,a,a,0\n", "json": '{"blanks": "refuse"}'},
            r"pairs.csv, row 3: agent 'a' is paired with themselves",
        ),
        ({"pairs": PAIRS + "1,x,a,b,0\n,x,a,b,0\n"}, r"row 3: sample is empty, expected a name"),
        ({"pairs": PAIRS + "1,x,a,b,0\n1,,a,b,0\n"}, r"row 3: coalition is empty"),
        ({"pairs": PAIRS + '1,x,"",b,0\n'}, r"row 2: agent is empty"),
        ({"pairs": PAIRS + "1,x,a,,0\n"}, r"row 2: partner is empty"),
        (
            {"pairs": PAIRS + "1,x,a,b,\n", "json": '{"blanks": "refuse"}'},
            r"row 2: utility is empty, expected a finite number",
        ),
        ({"pairs": PAIRS + "1,x,a,b,high\n"}, r"utility is 'high', expected a finite number"),
        (
            {"pairs": PAIRS + "1,x,a,b,inf\n2,x,a,b,-Infinity\n"},
            r"utility is 'inf', expected a finite number.* \(also row ",
        ),
        ({"pairs": PAIRS + "1,x,a,b,nan\n"}, r"utility is 'nan', expected a finite number"),
        ({"pairs": PAIRS + "1,x,a,b,1e999\n"}, r"expected a finite number"),
        (
            {"pairs": PAIRS + "1,x,a,b,1\n2,x,a,b,5\n3,x,a,b,4\n"},
            r"row 3: utility 5 is outside .*\[-1, 1\].*utility_range=\(1, 5\), neutral=3 \(also row 4\)",
        ),
        (
            {"pairs": PAIRS + "1,x,a,b,1\n1,x,a,b,1\n"},
            r"rows 2 and 3: .* is listed more than once, expected one row per",
        ),
        (
            {"pairs": PAIRS + "1,x,a,b,1\n2,x,a,b,0\n1,x,b,a,0.5\n"},
            r"row 4: .*has utility 1 in one order and 0.5 in the other, .*say symmetric=False .* or symmetrize=True",
        ),
        (
            {"pairs": PAIRS + "1,x,a,b,1\n2,x,a,c,0\n", "memberships": FIVE},
            r"pairs.csv, row 3: 'c' is not a member of coalition 'x' in sample '2'",
        ),
        (
            {"pairs": PAIRS + "1,y,a,b,1\n", "memberships": FIVE},
            r"row 2: 'a' is not a member of coalition 'y' in sample '1'",
        ),
        (
            {"pairs": PAIRS + "1,x,a,b,1\n", "memberships": FIVE + "1,b,x\n"},
            r"memberships.csv, rows 3 and 7: .* expected one row per agent, coalition and sample",
        ),
        (
            {"pairs": PAIRS + "1,x,a,b,1\n", "memberships": FIVE + "1,,x\n"},
            r"memberships.csv, row 7: agent is empty",
        ),
        ({"totals": TOTALS + "1,a,0\n"}, r"totals say nothing without a table memberships"),
        (
            {"totals": TOTALS + "1,a,0\n1,a,0\n", "memberships": FIVE},
            r"totals.csv, rows 2 and 3: .* expected one row per agent and sample",
        ),
        (
            {"totals": TOTALS + "1,a,2\n2,a,2\n", "memberships": FIVE},
            r"totals.csv, row 3: the total 2 of 1 pair is outside \[-1, 1\]; the range is per pair",
        ),
        (
            {"totals": TOTALS + "3,a,0.5\n", "memberships": FIVE},
            r"the total is 0.5, expected 0 for an agent who shared no",
        ),
        (
            {"totals": TOTALS + "2,a,0.5\n1,a,0.5\n2,b,0.25\n1,b,0.1\n", "memberships": FIVE},
            r"totals.csv, row 4: 'a' and 'b' met nobody but each other in sample '2', yet .* 0.5 and 0.25",
        ),
        ({"totals": TOTALS + "1,a,x\n", "memberships": FIVE}, r"totals.csv, row 2: utility is 'x'"),
        ({"memberships": FIVE}, r"found .*memberships.csv, expected a table pairs or totals"),
        ({"pairs": PAIRS + "1,x,a,b\n"}, r"pairs.csv: row 2 has 4 cells, expected 5"),
        ({"pairs": PAIRS + "1,x,a,b,0,5\n"}, r"pairs.csv: row 2 has 6 cells, expected 5"),
        ({"pairs": (PAIRS + "1,x,a,\x81,0\n").encode("latin-1")}, r"pairs.csv: is not text in UTF-8, UTF-16 or Win"),
        (
            {"pairs": "Sample,SAMPLE,coalition,agent,partner,utility\n1,1,x,a,b,0\n"},
            r"could both be 'sample'; rename one",
        ),
        (
            {"pairs": "sample,sample,coalition,agent,partner,utility\n1,1,x,a,b,0\n"},
            r"could both be 'sample'; rename one",
        ),
        ({"pairs": PAIRS + "1,x,a,b,0\n", "json": "{"}, r"log.json: is not JSON"),
        ({"pairs": PAIRS + "1,x,a,b,0\n", "json": "[]"}, r"log.json: expected an object"),
        (
            {"pairs": PAIRS + "1,x,a,b,0\n", "json": '{"format": "x/2"}'},
            r"\"format\" is 'x/2', expected \"coterie.log/1\"",
        ),
        (
            {"pairs": PAIRS + "1,x,a,b,0\n", "json": '{"agent": ["a"]}'},
            r"log.json: unknown key \"agent\"; known are: .*agents",
        ),
        (
            {"pairs": PAIRS + "1,x,a,b,0\n", "json": '{"symmetric": "yes"}'},
            r"log.json: symmetric: expected true or false, got 'yes'",
        ),
        (
            {"pairs": PAIRS + "1,x,a,b,0\n", "json": '{"agents": "a"}'},
            r"log.json: agents: expected a list of names, got 'a'",
        ),
        ({"pairs": PAIRS + "1,x,a,b,0\n", "json": '{"agents": ["a", "a"]}'}, r"the name 'a' occurs twice"),
        (
            {"pairs": PAIRS + "1,x,a,b,0\n", "json": '{"utility_range": [1, 0]}'},
            r"log.json: utility_range: expected low < high",
        ),
        ({"pairs": PAIRS + "1,x,a,b,0\n", "json": '{"utility_range": 1}'}, r"expected two numbers \[low, high\]"),
        ({"pairs": PAIRS + "1,x,a,b,0\n", "json": '{"sigma": 0}'}, r"sigma: expected a positive number"),
        ({"pairs": PAIRS + "1,x,a,b,0\n", "json": '{"neutral": "x"}'}, r"neutral: expected a finite number"),
        ({"pairs": PAIRS + "1,x,a,b,0\n", "json": '{"feedback": "full"}'}, r"expected \"semi-bandit\" or \"bandit\""),
        (
            {"pairs": PAIRS + "1,x,a,b,0\n", "json": '{"feedback": "bandit"}'},
            r"expected a table totals for feedback bandit",
        ),
        (
            {"pairs": PAIRS + "1,x,a,b,0\n", "json": '{"actions": [["z"]]}'},
            r"unknown coalition in actions 'z'; known are: x",
        ),
        ({"pairs": PAIRS + "1,x,a,b,0\n", "json": '{"actions": []}'}, r"the action space is empty"),
        ({"pairs": PAIRS + "1,x,a,b,0\n", "json": '{"actions": {"a": [["x"]]}}'}, r"no action space for agent 'b'"),
        ({"pairs": PAIRS + "1,x,a,b,0\n", "json": '{"actions": {"z": [["x"]]}}'}, r"unknown agent in actions 'z'"),
        ({"pairs": PAIRS + "1,x,a,b,0\n", "json": '{"actions": ["x"]}'}, r"expected \"observed\".*got \['x'\]"),
        ({"pairs": PAIRS + "1,x,a,b,0\n", "json": '{"actions": "some"}'}, r"'some' is not one of"),
    ],
)
def test_refusals(csv_log, texts, expected):
    message = refusal(csv_log(**texts))
    assert re.search(expected, message), message


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            {"utility_range": (1, 5)},
            r"the neutral point 0 is outside the utility range \[1, 5\].*say utility_range=\(1, 5\), neutral=3",
        ),
        ({"coalitions": 3}, r"add pool_coalitions=True"),
        ({"symmetric": False, "symmetrize": True}, r"give one of them"),
        ({"columns": {"person": "Name"}}, r"'person' is not a column of a log"),
        ({"columns": "sample"}, r"expected ours=theirs pairs"),
        ({"columns": 3}, r"columns: expected an object"),
        ({"pool_coalitions": True, "actions": [["x"]]}, r"old coalition names mean nothing"),
        ({"pool_coalitions": True, "actions": {"a": [["x"]], "b": [["x"]]}}, r"old coalition names mean nothing"),
        ({"engine": "sqlite"}, r'expected "duckdb" or "spark"'),
        ({"sigma": 0.001, "utility_range": (-0.1, 0.1)}, r"further than a sigma of 0.001 explains"),
    ],
)
def test_refused_options(csv_log, options, expected):
    message = refusal(csv_log(pairs=PAIRS + "1,x,a,b,0.9\n"), **options)
    assert re.search(expected, message), message


def test_pooled_observed_own_is_refused(csv_log):
    log = coterie.read_log(csv_log(pairs=PAIRS + "1,x,a,b,0\n"), pool_coalitions=True, actions="observed-own")
    with pytest.raises(InputError, match="drop pool_coalitions=True"):
        _ = log.actions


def test_unseen_agent_has_an_empty_space_of_her_own(csv_log):
    folder = csv_log(pairs=PAIRS + "1,x,a,b,0\n", json='{"agents": ["a", "b", "z"]}')
    log = coterie.read_log(folder, actions="observed-own")
    with pytest.raises(InputError, match=r"'z' was never seen .* empty action space"):
        _ = log.actions
    assert coterie.read_log(folder, actions="observed-own", may_stay_out=True).actions.spaces[2].size == 1


def test_all_problems_are_reported_together(csv_log):
    folder = csv_log(
        memberships=MEMBERS + "1,a,x\n1,b,x\n1,b,x\n,c,x\n",
        pairs=PAIRS + "1,x,a,b,9\n1,x,a,c,0\n1,x,,b,0\n1,x,b,b,nan\n1,x,a,b,9\n",
    )
    message = refusal(folder)
    lines = message.splitlines()
    assert lines[0] == "the log has 6 problems:"  # what b says of themselves is left out
    assert len(lines) == 7
    assert sum("memberships.csv" in line for line in lines) == 2


def test_at_most_ten_problems_are_listed():
    from coterie.log.refusals import Refusal, refuse

    with pytest.raises(InputError) as caught:
        refuse(Refusal("f", str(index)) for index in range(14))
    assert str(caught.value).splitlines()[0] == "the log has 14 problems:"
    assert str(caught.value).splitlines()[-1] == "- and 4 more problems"
    assert len(str(caught.value).splitlines()) == 12


def test_no_such_place(tmp_path):
    assert "no such file or folder" in refusal(tmp_path / "nothing")
    assert "expected a table pairs or totals" in refusal(tmp_path)
    (tmp_path / "pairs.doc").write_bytes(b"x")
    assert "expected a .csv, .xlsx or .parquet file" in refusal(tmp_path / "pairs.doc")


def test_two_tables_of_one_name(csv_log):
    folder = csv_log(pairs=PAIRS + "1,x,a,b,0\n")
    (folder / "Pairs.tsv").write_text("x", encoding="utf-8")
    assert "expected one table called pairs" in refusal(folder)


def test_damaged_parquet(tmp_path):
    (tmp_path / "pairs.parquet").write_bytes(b"PAR1 this is not a table PAR1")
    assert "pairs.parquet: cannot be read as Parquet" in refusal(tmp_path)


def test_types_that_hold_no_names(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    good = {"sample": [1], "coalition": ["x"], "agent": [1], "partner": [2], "utility": [0.5]}
    for column, values, expected in [
        ("agent", [1.5], "has type double, expected names: text or whole numbers"),
        ("utility", [True], "has type boolean, expected numbers"),
        ("sample", [[1]], "expected names"),
    ]:
        pq.write_table(pa.table({**good, column: values}), tmp_path / "pairs.parquet")
        assert expected in refusal(tmp_path)


def test_rows_of_parquet_parts_are_named(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    (tmp_path / "pairs").mkdir()
    for part, utilities in enumerate([[0.0, 0.5], [1.0, 3.0]]):
        samples = [f"{part}-{row}" for row in range(2)]
        table = {"sample": samples, "coalition": ["x"] * 2, "agent": ["a"] * 2, "partner": ["b"] * 2}
        pq.write_table(pa.table({**table, "utility": utilities}), tmp_path / "pairs" / f"p{part}.parquet")
    message = refusal(tmp_path)
    assert "pairs, part p1.parquet, row 2: utility 3 is outside" in message
    one_missing = pa.table({"sample": ["s"], "coalition": ["x"], "agent": ["a"], "partner": ["b"]})
    pq.write_table(one_missing, tmp_path / "pairs" / "p2.parquet")
    (tmp_path / "log.json").write_text('{"blanks": "refuse"}', encoding="utf-8")
    assert "part p2.parquet, row 1: utility is empty" in refusal(tmp_path)


@pytest.mark.parametrize(
    ("members", "totals", "lone"),
    [
        ("1,a,x\n1,b,x\n1,c,x\n", "1,a,0.5\n1,b,0.2\n1,c,-0.1\n", 0),  # three numbers make any three totals
        ("1,a,x\n1,b,x\n1,b,y\n1,c,y\n", "1,a,0.5\n1,b,0.2\n1,c,-0.3\n", 0),  # b met c as well
        ("1,a,x\n1,b,x\n1,a,y\n1,b,y\n1,c,z\n", "1,a,0.30000000000000004\n1,b,0.3\n1,c,0\n", 1),  # rounding
        ("1,a,x\n1,b,x\n2,a,x\n2,b,x\n", "1,a,0.5\n2,b,0.25\n", 0),  # not all rows are there
        ("1,a,x\n1,b,x\n1,c,z\n2,c,x\n2,b,x\n", "1,a,0.5\n1,b,0.5\n2,b,0\n2,c,0\n", 2),
    ],
    ids=["three", "chain", "rounding", "missing", "equal"],
)
def test_totals_that_symmetry_allows(csv_log, members, totals, lone):
    log = coterie.read_log(csv_log(memberships=MEMBERS + members, totals=TOTALS + totals))
    assert log.checked.agreed == lone


def test_two_who_met_nobody_else_may_differ_in_an_asymmetric_log(csv_log):
    folder = csv_log(memberships=MEMBERS + "1,a,x\n1,b,x\n1,a,y\n1,b,y\n", totals=TOTALS + "1,a,2\n1,b,-2\n")
    assert "totals are 2 and -2" in refusal(folder)
    assert not coterie.read_log(folder, symmetric=False).symmetric


TWICE = PAIRS + "1,x,a,b,0.5\n1,x,a,c,1\n1,x,a,b,0.5\n1,x,b,a,0\n1,x,a,c,0\n2,x,a,c,1\n1,x,a,c,-0.25\n"


def test_rows_about_the_same_are_named_together(csv_log):
    told = refusal(csv_log(pairs=TWICE), symmetric=False)
    assert "pairs.csv, rows 2 and 4: sample '1', coalition 'x', agent 'a', partner 'b' is listed more than once" in told
    assert 'the same goes for rows 3, 6 and 8; if forms were sent twice, duplicates="last" takes the last' in told


def test_many_rows_about_the_same_are_counted(csv_log):
    rows = "".join(f"{t},x,a,b,0.5\n" * 2 for t in range(15))
    told = refusal(csv_log(pairs=PAIRS + rows))
    assert "pairs.csv, rows 2 and 3: " in told
    assert "rows 4 and 5; rows 6 and 7;" in told
    assert "rows 20 and 21; 5 more rows;" in told


def grades(tmp_path, *cells, column="Note /20"):
    """Return what is said of a table of grades with some cells that are no numbers."""
    rows = [f"{week},x,{name},{week + len(name)}" for week in range(1, 9) for name in ("Al", "Bea", "Cleo")]
    rows += ["9,x,Al,5", *(f"9,x,p{place},{cell}" for place, cell in enumerate(cells))]
    path = tmp_path / "grades.csv"
    path.write_text("\n".join([f"Week,Team,Name,{column}", *rows, ""]), encoding="utf-8")
    columns = {"sample": "Week", "coalition": "Team", "agent": "Name", "utility": column}
    with pytest.raises(InputError) as refused:
        coterie.read_log(path, columns=columns, utility_range=(0, 20), neutral=10)
    return str(refused.value)


def test_cells_with_a_number_are_told_which_and_not_to_be_left_empty(tmp_path):
    told = grades(tmp_path, "14/20")
    assert "'Note /20' is '14/20', expected a finite number; write 14 for 14/20 (the header says /20 already)" in told
    assert "leave the cell empty" not in told
    assert "write 2.5 for 2-3" in grades(tmp_path, "2-3")
    assert "(the header" not in grades(tmp_path, "14/20", column="Note")
    told = grades(tmp_path, "abs", "2-3", "14/20")
    assert "write 14 for 14/20 and 2.5 for 2-3 (the header says /20 already); where there is none, leave" in told
    assert 'blank_words="abs"' in told


def test_many_different_texts_are_counted_where_only_some_are_listed(tmp_path):
    words = [f"word {sign}" for sign in "abcdefghijklm"]
    told = grades(tmp_path, *words)
    assert "'word j' (1 time) and 3 more; where there is none" in told
    assert "more;" not in grades(tmp_path, *words[:10])


@pytest.mark.parametrize("word", ["DNF", "did not finish", "Disqualified"])
def test_what_may_be_a_bad_result_is_no_missing_one(tmp_path, word):
    told = grades(tmp_path, word)
    assert f"if {word!r} stands for a bad result, write a number for it: without the worst" in told
    assert "too rosy" not in grades(tmp_path, "moved")
