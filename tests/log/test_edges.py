"""Unusual files, names and scales: each works as one would hope, or is refused in one clear line."""

import datetime as dt
import gc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import coterie
from coterie.errors import CoterieError, InputError
from coterie.log.engine import make_engine
from coterie.statistics.statistics import Statistics
from coterie.words import in_order

PAIRS = "sample,coalition,agent,partner,utility\n"
ROW = {"sample": ["1"], "coalition": ["x"], "agent": ["a"], "partner": ["b"], "utility": [0.5]}


def test_names_of_folders_are_no_columns(tmp_path):
    folder = tmp_path / "agent=zz"
    folder.mkdir()
    pq.write_table(pa.table(ROW), folder / "part-0.parquet")
    assert coterie.read_log(folder).agents == ("a", "b")


@pytest.mark.parametrize("center", [0.0, 3.0])
def test_variances_on_a_wide_grid(center):
    values = center + np.random.default_rng(0).normal(size=4000)
    rows = {"sample": np.arange(4000), "coalition": ["x"] * 4000, "agent": ["a"] * 4000, "partner": ["b"] * 4000}
    log = coterie.Log.from_frames(pairs={**rows, "utility": values}, sigma=1.0)
    whole = Statistics.of(log).whole
    assert whole.variance == pytest.approx(values.var(ddof=1), rel=1e-7)
    assert whole.squares * 2.0**30 == pytest.approx(((values / 2048 + 0.5) ** 2).sum() * 2.0**60, rel=1e-7)


def test_equal_utilities_have_no_variance():
    rows = {"sample": np.arange(999), "coalition": ["x"] * 999, "agent": ["a"] * 999, "partner": ["b"] * 999}
    log = coterie.Log.from_frames(pairs={**rows, "utility": [0.123456789] * 999})
    assert Statistics.of(log).whole.variance.tolist() == [0.0]


@pytest.mark.slow
def test_squares_of_totals_on_a_wide_grid():
    values = 0.001 * np.random.default_rng(0).normal(size=500)
    members = {"sample": np.repeat(np.arange(500), 2), "agent": ["a", "b"] * 500, "coalition": ["x"] * 1000}
    totals = {"sample": np.arange(500), "agent": ["a"] * 500, "utility": values}
    log = coterie.Log.from_frames(memberships=members, totals=totals, sigma=1.0)
    for noise in ("pairs", "samples"):
        found = Statistics.of(log, unweighted=True, noise=noise).whole
        for weighting in (None, "none"):
            assert found.squares(0, weighting) == pytest.approx((values**2).sum(), rel=1e-3)


def test_times_with_a_zone_are_no_names(tmp_path):
    moment = dt.datetime(2024, 1, 1, 12, tzinfo=dt.UTC)
    pq.write_table(pa.table({**ROW, "sample": [moment]}), tmp_path / "pairs.parquet")
    with pytest.raises(InputError, match="with time zone, expected a column without time zone"):
        coterie.read_log(tmp_path)
    pq.write_table(pa.table({**ROW, "sample": [moment.replace(tzinfo=None)]}), tmp_path / "pairs.parquet")
    assert coterie.read_log(tmp_path).rows == 1


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ("utility=Scroe", "utility is said to be 'Scroe', but .* has only: sample, coalition, agent, partner, utility"),
        ("utility=utility,utility=agent", "'utility' is given twice"),
        ({"Utility": "utility", "utility": "agent"}, "'utility' is given twice"),
        ("agent=Agent,partner=agent", "agent and partner are both said to be"),
    ],
)
def test_columns_that_cannot_be_meant(csv_log, columns, expected):
    with pytest.raises(InputError, match=expected):
        coterie.read_log(csv_log(pairs=PAIRS + "1,x,a,b,0\n"), columns=columns)


def test_a_folder_of_parts_with_a_description(tmp_path):
    pq.write_table(pa.table(ROW), tmp_path / "part-0.PARQUET")
    pq.write_table(pa.table({**ROW, "sample": ["2"]}), tmp_path / "part-1.pq")
    (tmp_path / "_part-2.parquet").write_bytes(b"")
    (tmp_path / ".part-1.parquet").write_bytes(b"")
    (tmp_path / "log.json").write_text('{"utility_range": [-2, 2]}', encoding="utf-8")
    log = coterie.read_log(tmp_path)
    assert (log.utility_range, log.rows) == ((-2, 2), 2)


def test_folders_with_the_suffix_of_files(tmp_path):
    members = {"sample": ["1", "1"], "agent": ["a", "b"], "coalition": ["x", "x"]}
    for table, rows in (("pairs", ROW), ("memberships", members)):
        (tmp_path / f"{table}.parquet").mkdir()
        pq.write_table(pa.table(rows), tmp_path / f"{table}.parquet" / "part-0.parquet")
    assert coterie.read_log(tmp_path).tables == ("memberships", "pairs")


@pytest.mark.parametrize(
    "options", [{"utility_range": (-1e308, 1e308)}, {"sigma": 1e306}, {"utility_range": (0, 5e-324)}]
)
def test_scales_beyond_doubles(csv_log, options):
    with pytest.raises(InputError, match="use another unit"):
        coterie.read_log(csv_log(pairs=PAIRS + "1,x,a,b,0\n"), **options)


def test_very_long_numbers_are_sorted():
    longest = "1" + "0" * 5000
    assert in_order([longest, "a10", "2", "10", "a9", "010"]) == ("2", "010", "10", longest, "a9", "a10")


def test_an_empty_file_is_no_statistics(tmp_path):
    (tmp_path / "s.npz").write_bytes(b"")
    with pytest.raises(InputError, match="is not a file of statistics"):
        coterie.Statistics.load(tmp_path / "s.npz")


@pytest.mark.parametrize("parts", [(float("nan"), 1), ("a", 1), (), 3])
def test_parts_that_are_no_shares(csv_log, parts):
    log = coterie.read_log(csv_log(pairs=PAIRS + "1,x,a,b,0\n"))
    with pytest.raises(InputError, match="expected positive shares that sum to 1"):
        Statistics.of(log, parts=parts)


def test_frames_with_a_column_twice():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([["1", "x", "a", "b", 0.5, 0.5]], columns=[*ROW, "utility"])
    with pytest.raises(InputError, match="pairs: "):
        coterie.Log.from_frames(pairs=frame)
    table = pa.table([[value] for value in ["1", "x", "a", "b", 0.5, 0.5]], names=[*ROW, "utility"])
    with pytest.raises(InputError, match="the column 'utility' occurs twice"):
        coterie.Log.from_frames(pairs=table)


def test_numbers_of_numpy(csv_log):
    folder = csv_log(pairs=PAIRS + "1,x,a,b,0\n")
    log = coterie.read_log(folder, utility_range=np.array([-2, 2]), neutral=np.float32(0), sigma=np.int64(1))
    assert (log.utility_range, log.neutral, log.sigma) == ((-2, 2), 0, 1)


def test_utilities_at_the_ends_carry_rounding(csv_log):
    folder = csv_log(pairs=PAIRS + "1,x,a,b,1.0000000001\n2,x,a,b,-1.0000000001\n")
    whole = Statistics.of(coterie.read_log(folder)).whole
    assert whole.total.tolist() == [2**30]
    with pytest.raises(InputError, match="outside"):
        coterie.read_log(csv_log(pairs=PAIRS + "1,x,a,b,1.0001\n"))


def test_names_that_are_flags_are_refused(csv_log):
    with pytest.raises(InputError, match="expected a list of names"):
        coterie.read_log(csv_log(pairs=PAIRS + "1,x,a,b,0\n", json='{"agents": [true]}'))


def test_declared_names_stay_first(csv_log):
    described = '{"agents": ["z", "b"], "coalitions": ["y", "x"]}'
    rows = ["1,x,a,b,0\n", "2,w,b,c,0\n", "3,x,z,aa,0\n"]
    whole = Statistics.of(coterie.read_log(csv_log(pairs=PAIRS + "".join(rows), json=described)))
    first, *others = (Statistics.of(coterie.read_log(csv_log(pairs=PAIRS + row, json=described))) for row in rows)
    assert whole.setting.agents == ("z", "b", "a", "aa", "c")
    assert (first + others[0] + others[1]).sha256 == (others[1] + (others[0] + first)).sha256 == whole.sha256


def test_totals_with_empty_memberships(csv_log):
    folder = csv_log(memberships="sample,agent,coalition\n", totals="sample,agent,utility\n1,a,0\n")
    with pytest.raises(InputError, match=r"memberships\.csv: has no rows; totals say nothing without memberships"):
        coterie.read_log(folder)


def test_failures_of_the_engine_are_no_bad_input(csv_log, tmp_path):
    rows = "".join(f"{sample},x,agent {sample},b,0.{sample}\n" for sample in range(100_000))
    folder = csv_log(pairs=PAIRS + rows)
    with pytest.raises(CoterieError, match="raise memory_limit") as failure:
        coterie.read_log(folder, memory_limit="2MB", threads=1)
    assert not isinstance(failure.value, InputError)
    for limit in ("-1", "0GB", ""):
        with pytest.raises(InputError, match="memory_limit: expected something like"):
            coterie.read_log(folder, memory_limit=limit)
    engine = make_engine({"threads": 1})
    with pytest.raises(CoterieError, match="DuckDB failed"):
        engine.table("SELECT nothing FROM nowhere")
    with pytest.raises(CoterieError, match="DuckDB failed"):
        engine.view("v", "SELECT CAST('x' AS INTEGER) AS number", stored=True)


def test_extra_columns_of_any_name(tmp_path):
    extra = {name: ["?"] for name in ("file_name", "filename", "row_index", "written")}
    pq.write_table(pa.table({**ROW, **extra}), tmp_path / "pairs.parquet")
    assert coterie.read_log(tmp_path).rows == 1
    assert coterie.Log.from_frames(pairs=pa.table({**ROW, **extra})).rows == 1
    pq.write_table(pa.table({**ROW, "file_row_number": [1]}), tmp_path / "pairs.parquet")
    with pytest.raises(InputError, match="has a column 'file_row_number'"):
        coterie.read_log(tmp_path)


def test_words_of_a_bad_line_are_not_ours(csv_log):
    with pytest.raises(InputError, match="row 2 has 4 cells, expected 5"):
        coterie.read_log(csv_log(pairs=PAIRS + "1,unicode utf-8,quote,state machine\n"))


@pytest.mark.parametrize("start", ["\n\n", "sep=;\n", "\ufeffsep=;\r\n", "  \r\n"])
def test_lines_before_the_header(csv_log, start):
    end = "\r\n" if "\r" in start else "\n"
    text = start + end.join([PAIRS.strip().replace(",", ";"), "1;x;a;b;0,5", "2;x;a;c;0,25", ""])
    log = coterie.read_log(csv_log(pairs=text))
    assert (log.rows, log.agents) == (2, ("a", "b", "c"))


@pytest.mark.parametrize("start", ["", "sep=;\r\n", "\ufeff", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16"])
def test_lines_within_the_header_that_end_otherwise(tmp_path, start, encoding):
    """Spreadsheets write them so, and DuckDB found no row below."""
    if start == "\ufeff" and encoding != "utf-8":
        return
    path, columns = tmp_path / "pairs.csv", {"sample": "Week\n(Mon)", "utility": "Score\n\n(0-1)"}
    header = '"Week\n(Mon)";coalition;agent;partner;"Score\n\n(0-1)"\r\n'
    rows = '1;"x\ny";Jürgen;b;0,5\r\n2;x;Jürgen;"c\n";0,25\r\n'
    path.write_bytes((start + header + rows).encode(encoding))
    log = coterie.read_log(path, columns=columns)
    assert (log.rows, log.coalitions) == (2, ("x", "x\ny"))
    assert "Jürgen" in log.agents
    path.write_bytes((start + header + rows + "3;x;;b;1\r\n").encode(encoding))
    with pytest.raises(InputError, match=f"row {4 + (start == chr(13) + chr(10))}: agent is empty"):
        coterie.read_log(path, columns=columns)


def test_a_single_value_suggests_a_range(csv_log):
    with pytest.raises(InputError, match=r"every value is 7: .* utility_range=\(1, 7\), neutral=4"):
        coterie.read_log(csv_log(pairs=PAIRS + "1,x,a,b,7\n"))


def test_problems_do_not_hide_each_other(csv_log):
    members = "sample,agent,coalition\n1,a,x\n1,b,x\n"
    with pytest.raises(InputError) as refusal:
        coterie.read_log(csv_log(memberships=members, pairs=PAIRS + "1,x,,b,0\n1,x,a,c,0\n"))
    assert "agent is empty" in str(refusal.value)
    assert "'c' is not a member" in str(refusal.value)
    with pytest.raises(InputError) as refusal:
        coterie.read_log(csv_log(pairs=PAIRS + "1,x,a,b,0\n1,x,a,b,0\n1,x,b,a,1\n"))
    assert "is listed more than once" in str(refusal.value)
    assert "in one order and 1 in the other" in str(refusal.value)


def test_all_missing_columns_in_one_line(csv_log):
    with pytest.raises(InputError, match="no column 'coalition' or 'utility'; the table pairs needs") as refusal:
        coterie.read_log(csv_log(pairs="sample,agent,partner\n1,a,b\n"))
    assert "\n" not in str(refusal.value)


def test_sums_without_weights_that_do_not_fit(tables, monkeypatch):
    log = coterie.Log.from_frames(**tables(3).frames("memberships", "totals"))
    Statistics.of(log, unweighted=True)
    monkeypatch.setattr("coterie.statistics.reduce.MOST_ROWS", 4 * log.n_samples)
    monkeypatch.setattr("coterie.statistics.reduce._refuse_too_long", lambda _task: None)
    Statistics.of(log)
    with pytest.raises(InputError, match="sums without weights"):
        Statistics.of(log, unweighted=True)


def test_labels_that_mean_nothing_are_not_fetched(tables, monkeypatch):
    log = coterie.Log.from_frames(**tables(4).frames(), pool_coalitions=True)
    fetched = []
    plain = type(log.engine).table
    monkeypatch.setattr(
        type(log.engine), "table", lambda self, query: fetched.append(plain(self, query)) or fetched[-1]
    )
    Statistics.of(log)
    assert all("coalition" not in table.column_names for table in fetched)


def test_spark_edges(tmp_path, compiling):
    folder = tmp_path / "log [1] {a}*"
    folder.mkdir()
    text = PAIRS + "1,x,a,b, 0.5\t\n2,x,a,b, 1e-1 \n"
    (folder / "pairs.csv").write_text(text, encoding="utf-8")
    from_csv = coterie.read_log(folder, spark=compiling)
    hashes = {Statistics.of(log, clues=False).sha256 for log in (from_csv, coterie.read_log(folder))}
    assert len(hashes) == 1
    (folder / "pairs.csv").unlink()
    pq.write_table(pa.table(ROW), folder / "part-0.parquet")
    (folder / "log.json").write_text('{"utility_range": [-2, 2]}', encoding="utf-8")
    assert coterie.read_log(folder, spark=compiling).utility_range == (-2, 2)
    plain = tmp_path / "agent=zz"
    plain.mkdir()
    pq.write_table(pa.table(ROW), plain / "part-0.parquet")
    (plain / "log.json").write_text('{"utility_range": [-2, 2]}', encoding="utf-8")
    at_address = coterie.read_log(f"file://{plain}", spark=compiling)
    assert (at_address.utility_range, at_address.agents) == ((-2, 2), ("a", "b"))
    (tmp_path / "empty.csv").write_bytes(b"")
    with pytest.raises(InputError, match="is empty, expected a header"):
        coterie.read_log((tmp_path / "empty.csv").as_uri(), spark=compiling)
    with pytest.raises(CoterieError, match="Spark failed"):
        list(at_address.engine.stream("SELECT nothing FROM nowhere"))
    with pytest.raises(CoterieError, match="Spark failed"):
        at_address.engine.view("v", "SELECT nothing FROM nowhere")
    moment = pa.table({**ROW, "sample": [dt.datetime(2024, 1, 1, tzinfo=dt.UTC)]})
    pq.write_table(moment, plain / "part-0.parquet")
    with pytest.raises(InputError, match="with time zone"):
        coterie.read_log(plain, spark=compiling)
    prefix = at_address.engine.name("")
    assert any(table.name.startswith(prefix) for table in compiling.catalog.listTables())
    del at_address, from_csv
    gc.collect()
    assert not any(table.name.startswith(prefix) for table in compiling.catalog.listTables())
