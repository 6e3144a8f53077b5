"""Tables that are damaged, hostile or merely odd: a right answer or a refusal that says what is wrong."""

import subprocess
import sys
import time

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xlsxwriter

import coterie
from coterie import InputError
from coterie.log.options import call_options, file_options
from coterie.log.tables import LONGEST_HEADER

ROWS = {
    "sample": ["1", "2", "3"],
    "coalition": ["x", "x", "y"],
    "agent": ["a", "a", "b"],
    "partner": ["b", "c", "c"],
    "utility": [0.5, -0.5, 1.0],
}
HEADER = "sample,coalition,agent,partner,utility\n"


def read_parquet(folder, columns, names=None):
    table = pa.table(list(columns.values()), names=names or list(columns))
    pq.write_table(table, folder / "pairs.parquet")
    return coterie.read_log(folder)


TWINS = {**ROWS, "Utility": [0.1, 0.1, 0.1]}


def test_columns_that_differ_in_case_only_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"pairs.parquet: 'utility' and 'Utility' differ in case only; rename one"):
        read_parquet(tmp_path, TWINS)
    with pytest.raises(InputError, match="pairs: 'utility' and 'Utility' differ in case only; rename one"):
        coterie.Log.from_frames(pairs=TWINS)


def test_columns_of_sheets_that_differ_in_case_only_are_refused_where_they_matter(tmp_path):
    header = [*ROWS, "Note", "note"]
    for name, more in (("utility", 0), ("Utility", 1)):
        with xlsxwriter.Workbook(tmp_path / "pairs.xlsx") as book:
            sheet = book.add_worksheet()
            sheet.write_row(0, 0, [*header, *[name] * more])
            for number, row in enumerate(zip(*ROWS.values(), strict=True)):
                sheet.write_row(number + 1, 0, [*row, "x", "y", *[0.1] * more])
        if not more:
            assert coterie.read_log(tmp_path).rows == 3
    with pytest.raises(InputError, match="the columns 'utility' and 'Utility' could both be 'utility'"):
        coterie.read_log(tmp_path)


@pytest.mark.parametrize("written", ["1e400", "1e308"])
def test_a_guess_about_numbers_beyond_all_scales_ends_in_a_refusal(tmp_path, written):
    rows = "".join(f"{sample},{'xy'[sample % 2]},a,b,{written}\n" for sample in range(40))
    (tmp_path / "table.csv").write_text(HEADER + rows)
    with pytest.raises(InputError) as problem:
        coterie.start(tmp_path / "table.csv").write(tmp_path / "made")
    assert "neutral=inf" not in str(problem.value)
    with pytest.raises(InputError) as problem:
        coterie.read_log(tmp_path / "table.csv")
    assert "neutral=inf" not in str(problem.value)


def test_columns_that_differ_in_case_only_are_refused_by_spark(tmp_path, spark):
    pq.write_table(pa.table(TWINS), tmp_path / "pairs.parquet")
    with pytest.raises(InputError, match=r"pairs.parquet: .*(differ in case only|utility)"):
        coterie.read_log(tmp_path, spark=spark)
    with pytest.raises(InputError, match="differ in case only"):
        coterie.Log.from_frames(pairs=TWINS, spark=spark)
    with pytest.raises(InputError, match="differ in case only"):
        coterie.Log.from_frames(pairs=spark.createDataFrame(pa.table(TWINS)), spark=spark)


@pytest.mark.parametrize("name", ["coterie_row_index", "Coterie_File_Name", "file_row_number"])
def test_names_that_are_used_inside_are_refused(tmp_path, name):
    columns = {**ROWS, name: [1, 2, 3]}
    with pytest.raises(InputError, match=f"pairs.parquet: has a column '{name}'"):
        read_parquet(tmp_path, columns)
    with pytest.raises(InputError, match=f"pairs: has a column '{name}'"):
        coterie.Log.from_frames(pairs=columns)


def test_lists_are_no_names(tmp_path):
    lists = {**ROWS, "agent": [["a"], ["a", "c"], ["b"]]}
    with pytest.raises(InputError, match=r"the column 'agent' has type varchar\[\], expected names"):
        read_parquet(tmp_path, lists)
    with pytest.raises(InputError, match="expected names"):
        coterie.Log.from_frames(pairs=lists)


def test_a_stray_quote_in_a_header_is_found_soon(tmp_path):
    rows = "1,x,a,b,0.5\n" * 400_000
    (tmp_path / "pairs.csv").write_text('sample,"coalition,agent,partner,utility\n' + rows)
    begun = time.process_time()
    with pytest.raises(InputError, match=r"pairs.csv: the header does not end within 65,536 characters") as problem:
        coterie.read_log(tmp_path)
    assert time.process_time() - begun < 2
    assert len(str(problem.value)) < 300
    (tmp_path / "pairs.csv").write_text("sample" + "x" * LONGEST_HEADER)
    with pytest.raises(InputError, match="does not end within"):
        coterie.read_log(tmp_path)


def test_a_cell_may_be_long(tmp_path):
    long = "b" * 200_000
    (tmp_path / "pairs.csv").write_text(f"{HEADER}1,x,a,{long},0.5\n")
    assert long in coterie.read_log(tmp_path).agents


def test_no_message_is_longer_than_a_screen(tmp_path):
    (tmp_path / "pairs.csv").write_text(",".join(f"column{t}" for t in range(5000)) + "\n")
    with pytest.raises(InputError, match="no column 'sample'") as problem:
        coterie.read_log(tmp_path)
    assert len(str(problem.value)) <= 2000


@pytest.mark.parametrize("written", ["1e400", "-1e999"])
def test_a_number_beyond_all_numbers_is_not_called_empty(tmp_path, written):
    (tmp_path / "pairs.csv").write_text(f"{HEADER}1,x,a,b,{written}\n")
    with pytest.raises(InputError, match=f"row 2: utility is '{written}', expected a finite number"):
        coterie.read_log(tmp_path)


def test_a_folder_may_be_called_like_home(tmp_path, monkeypatch):
    home = tmp_path / "home"
    for place, agent in ((home, "wrong"), (tmp_path / "~", "right")):
        place.mkdir()
        (place / "pairs.csv").write_text(f"{HEADER}1,x,a,{agent},0.5\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(tmp_path)
    assert coterie.read_log("~").agents == ("a", "right")
    (home / "pairs.parquet").write_bytes(b"")
    (tmp_path / "~" / "pairs.csv").unlink()
    pq.write_table(pa.table(ROWS), tmp_path / "~" / "pairs.parquet")
    assert coterie.read_log("~").agents == ("a", "b", "c")


@pytest.mark.parametrize("name", ["a[1]*?", "it's", "läufer"])
def test_folders_of_any_name_are_read(tmp_path, name):
    folder = tmp_path / name
    folder.mkdir()
    pq.write_table(pa.table(ROWS), folder / "pairs.parquet")
    assert coterie.read_log(folder).agents == ("a", "b", "c")
    (folder / "pairs.parquet").unlink()
    (folder / "pairs.csv").write_text(f"{HEADER}1,x,a,b,0.5\n")
    assert coterie.read_log(folder).agents == ("a", "b")


def test_commas_in_tables_with_semicolons_are_decimal(tmp_path):
    text = HEADER.replace(",", ";") + "1;x;a;b;1,234\n2;x;a;b;0,5\n"
    (tmp_path / "pairs.csv").write_text(text)
    with pytest.raises(InputError, match=r"utility 1.234 is outside"):
        coterie.read_log(tmp_path)
    (tmp_path / "pairs.csv").write_text(text.replace("1,234", "1.234,5"))
    with pytest.raises(InputError, match=r"utility is '1.234,5', expected a finite number"):
        coterie.read_log(tmp_path)


def test_extra_cells_are_refused_with_their_line(tmp_path):
    (tmp_path / "pairs.csv").write_text(f"{HEADER}1,x,a,b,0.5\n2,x,a,b,0.5,\n")
    assert coterie.read_log(tmp_path).rows == 2  # an empty one at the end says nothing
    (tmp_path / "pairs.csv").write_text(f"{HEADER}1,x,a,b,0.5\n2,x,a,b,0.5,1\n")
    with pytest.raises(InputError, match=r"pairs.csv: row 3 has 6 cells, expected 5 as in the header"):
        coterie.read_log(tmp_path)


def test_lines_of_spreadsheets_that_name_the_separator_are_passed_over(tmp_path):
    (tmp_path / "pairs.csv").write_text(f"sep=,\n{HEADER}1,x,a,b,0.5\n")
    assert coterie.read_log(tmp_path).agents == ("a", "b")


def test_ragged_rows_on_spark_are_named(tmp_path, spark):
    (tmp_path / "pairs.csv").write_text(f'{HEADER}1,x,a,b,0.5\n2,x,a,"b\nc",0.5\n2,x,a,b\n')
    with pytest.raises(InputError, match=r"pairs.csv: row 4 has 4 cells, expected 5 as in the header"):
        coterie.read_log(tmp_path, spark=spark)


def damaged(path):
    """Overwrite the pages of a Parquet file, and leave its schema."""
    content = bytearray(path.read_bytes())
    for place in range(4, len(content) // 3):
        content[place] ^= 0x5A
    path.write_bytes(content)


@pytest.mark.parametrize("codec", ["snappy", "zstd", "none"])
def test_damaged_pages_are_refused_by_name(tmp_path, codec):
    for part in ("1", "2"):
        columns = {name: values * 500 for name, values in ROWS.items()}
        columns["sample"] = [f"{part}-{t}" for t in range(1500)]
        (tmp_path / "pairs").mkdir(exist_ok=True)
        pq.write_table(pa.table(columns), tmp_path / "pairs" / f"{part}.parquet", compression=codec)
    damaged(tmp_path / "pairs" / "2.parquet")
    with pytest.raises(InputError, match=r"2.parquet: cannot be read as Parquet, it is damaged"):
        coterie.read_log(tmp_path)


INTERRUPTED = """
import os, signal, threading
from coterie.log.engine import DuckDBEngine
engine = DuckDBEngine()
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    engine.table("SELECT sum(range) AS s FROM range(1000000000000)")
except KeyboardInterrupt:
    print("interrupted")
"""


def test_an_interrupt_stops_a_query():
    """In a process of its own: others, Spark among them, have handlers of signals too."""
    ended = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=120, check=True)
    assert ended.stdout == "interrupted\n"


def test_duckdb_reads_what_was_asked_for_and_nothing_else(tmp_path):
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "pairs.csv").write_text(f"{HEADER}1,x,a,b,0.5\n")
    (tmp_path / "other.csv").write_text("secret\n1\n")
    log = coterie.read_log(tmp_path / "log")  # kept, or its connection would be closed
    connection = log.engine._connection
    for statement in (
        f"SELECT * FROM read_csv('{tmp_path}/other.csv')",
        f"COPY (SELECT 1) TO '{tmp_path}/made.csv'",
        "INSTALL httpfs",
        "SET enable_external_access = true",
        "SET autoinstall_known_extensions = true",
        "SELECT * FROM secret_table",
    ):
        secret_table = pa.table({"secret": [1]})  # noqa: F841
        with pytest.raises(duckdb.Error):
            connection.execute(statement)
    assert connection.execute("SELECT 1").fetchone() == (1,)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["log", "other.csv"]


def test_too_little_memory_is_a_message(tmp_path, tables):
    tables(samples=2000).write(tmp_path)
    with pytest.raises(coterie.CoterieError, match="needs more memory"):
        coterie.read_log(tmp_path, memory_limit="1MB").engine.table("SELECT list(range) AS l FROM range(3000000)")


def test_a_full_temporary_folder_is_said_to_be(tmp_path):
    resource = pytest.importorskip("resource")
    (tmp_path / "pairs.csv").write_text(HEADER + "".join(f"{n},x,a{n % 7},b{n % 5},0.{n}\n" for n in range(5000)))
    code = (
        "import resource, coterie\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "coterie.read_log('pairs.csv')"
    )
    assert resource
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "CoterieError: temporary files in " in done.stderr


def test_what_a_file_may_ask_for_has_limits():
    with pytest.raises(InputError, match="coalitions: expected at most 100,000"):
        file_options({"coalitions": 10**9, "pool_coalitions": True}, "log.json")
    with pytest.raises(InputError, match="expected at most 100,000"):
        call_options({"coalitions": 10**400})
