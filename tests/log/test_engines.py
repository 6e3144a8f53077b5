"""The same statistics, bit for bit, from every engine, thread count and way to split a log."""

import json
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import coterie
from coterie.errors import CoterieError, InputError
from coterie.log.engine import DuckDBEngine, make_engine
from coterie.statistics.statistics import Statistics

PAIRS = [
    {},
    {"noise": "samples"},
    {"sizes": "aware", "seed": 3},
    {"sizes": "aware", "noise": "samples", "parts": (0.25, 0.75)},
]
TOTALS = [{"unweighted": True}, {"noise": "samples"}, {"sizes": "aware"}]


def write_parquet(tables, folder, *names, parts=3):
    """Write a log as folders of Parquet parts."""
    for name, columns in tables.frames(*names).items():
        (folder / name).mkdir(parents=True)
        table = pa.table(columns)
        step = -(-table.num_rows // parts)
        for part in range(parts):
            pq.write_table(table.slice(part * step, step), folder / name / f"part-{part}.parquet")
    return folder


def digest(log, **options):
    """The hash of all that estimates are made from; clues, which take most of the queries, have tests of their own."""
    return Statistics.of(log, clues=False, **options).sha256


def merged(logs, **options):
    first, *rest = (Statistics.of(log, **options) for log in logs)
    for statistics in rest:
        first = first + statistics
    return first


@pytest.mark.slow
@pytest.mark.parametrize("pooled", [False, True])
def test_duckdb_threads_and_merging(tables, tmp_path, pooled):
    log_tables = tables(20, samples=200)
    options = {"pool_coalitions": pooled}
    folder = write_parquet(log_tables, tmp_path / "log")
    one, two = (coterie.read_log(folder, threads=threads, **options) for threads in (1, 2))
    from_csv = coterie.read_log(log_tables.write(tmp_path / "csv", separator=";"), **options)
    halves = [log_tables.only(log_tables.samples[start::2]) for start in (0, 1)]
    pieces = [coterie.Log.from_frames(**half.frames(), **options) for half in halves]
    for wanted in PAIRS:
        expected = digest(one, **wanted)
        assert digest(two, **wanted) == expected
        assert digest(from_csv, **wanted) == expected
        reduced = [Statistics.of(piece, clues=False, **wanted) for piece in pieces]
        assert (reduced[0] + reduced[1]).sha256 == (reduced[1] + reduced[0]).sha256 == expected


@pytest.mark.parametrize("pooled", [False, True])
def test_spark_semi_bandit(tables, tmp_path, spark, pooled, monkeypatch):
    log_tables = tables(21, samples=120)
    folder = write_parquet(log_tables, tmp_path / "log")
    duckdb = coterie.read_log(folder, pool_coalitions=pooled)
    cluster = coterie.read_log(folder, engine="spark", spark=spark, pool_coalitions=pooled)
    assert (cluster.agents, cluster.coalitions, cluster.rows) == (duckdb.agents, duckdb.coalitions, duckdb.rows)
    for wanted in PAIRS[:1] + PAIRS[-1:]:
        assert digest(cluster, **wanted) == digest(duckdb, **wanted)
    at_once = digest(duckdb, noise="samples")
    monkeypatch.setattr("coterie.statistics.reduce.SORTED", duckdb.rows // 3)
    assert digest(cluster, noise="samples") == digest(duckdb, noise="samples") == at_once
    if pooled:  # elsewhere clues are those of coalitions that are told apart
        assert Statistics.of(cluster).clues.excess.samples == Statistics.of(duckdb).clues.excess.samples


def test_spark_bandit(tables, tmp_path, compiling):
    log_tables = tables(22, n=4)
    folder = log_tables.write(tmp_path / "log", "memberships", "totals")
    duckdb = coterie.read_log(folder)
    cluster = coterie.read_log(folder, spark=compiling)
    for wanted in TOTALS:
        assert digest(cluster, **wanted) == digest(duckdb, **wanted)


def test_bandit_merging(tables):
    log_tables = tables(23, n=4, samples=60)
    whole = coterie.Log.from_frames(**log_tables.frames("memberships", "totals"))
    thirds = [log_tables.only(log_tables.samples[start::3]) for start in range(3)]
    pieces = [coterie.Log.from_frames(**third.frames("memberships", "totals")) for third in thirds]
    for wanted in TOTALS:
        assert merged(pieces, **wanted).sha256 == Statistics.of(whole, **wanted).sha256


def test_real_roll_calls(unvotes, compiling, tmp_path):
    folder = write_parquet(unvotes, tmp_path / "log")
    logs = [
        coterie.read_log(folder, threads=1),
        coterie.read_log(folder, threads=2),
        coterie.read_log(folder, spark=compiling),
    ]
    halves = [unvotes.only(set(unvotes.samples[start::2])) for start in (0, 1)]
    pieces = [coterie.Log.from_frames(**half.frames()) for half in halves]
    for wanted in ({}, {"sizes": "aware", "seed": 1}):
        hashes = {digest(log, **wanted) for log in logs} | {merged(pieces, **wanted).sha256}
        assert len(hashes) == 1
    whole = Statistics.of(logs[0]).whole
    assert logs[0].n_samples == len(unvotes.samples) > 3000
    us, israel, cuba = (logs[0].agents.index(state) for state in ("US", "IL", "CU"))
    conflict = logs[0].coalitions.index("me")
    assert whole.means[conflict, us, israel] > 0.5 > -0.5 > whole.means[conflict, us, cuba]


def test_spark_reads_addresses(tables, tmp_path, spark):
    log_tables = tables(24)
    folder = write_parquet(log_tables, tmp_path / "log")
    (folder / "log.json").write_text('{"utility_range": [-2, 2]}', encoding="utf-8")
    at_address = coterie.read_log(folder.as_uri(), engine="spark", spark=spark)
    assert at_address.utility_range == (-2, 2)
    assert digest(at_address) == digest(coterie.read_log(folder))
    single = coterie.read_log((folder / "pairs").as_uri(), spark=spark)
    assert single.rows == at_address.rows
    with pytest.raises(InputError, match="no such file"):
        coterie.read_log((tmp_path / "nothing").as_uri(), spark=spark)
    with pytest.raises(InputError, match='say engine="spark"'):
        coterie.read_log(folder.as_uri())


def test_spark_refuses_alike(csv_log, spark):
    folder = csv_log(
        memberships="sample,agent,coalition\n1,a,x\n1,b,x\n1,c,y\n2,a,x\n2,a,x\n",
        pairs="\ufeffsample,coalition,agent,partner,utility\r\n1,x,a,b,7\r\n1,x,a,b,0.5\r\n1,x,a,c,nan\r\n1,y,c,c,0\r\n",
    )
    messages = []
    for options in ({}, {"spark": spark}):
        with pytest.raises(InputError) as refusal:
            coterie.read_log(folder, **options)
        messages.append(str(refusal.value))
    assert messages[0] == messages[1]
    assert messages[0].count("\n") == 5  # what c says of themselves is left out


def test_spark_csv_dialects(csv_log, spark):
    text = '\ufeffsample;coalition;agent;partner;utility\r\n"1;1";x;"a ""b""";"c\nd";0,5\r\n2;x;01;1;-1\r\n'
    folder = csv_log(pairs=text)
    duckdb, cluster = coterie.read_log(folder), coterie.read_log(folder, spark=spark)
    assert cluster.agents == duckdb.agents == ("01", "1", 'a "b"', "c\nd")
    assert digest(cluster) == digest(duckdb)
    ragged = csv_log(pairs="sample,coalition,agent,partner,utility\n1,x,a,b,0,5\n")
    with pytest.raises(InputError, match="cells"):
        coterie.read_log(ragged, spark=spark)


def test_spark_from_the_command_line(tables, tmp_path, spark, monkeypatch, capsys):
    from coterie.cli import main

    folder = write_parquet(tables(27), tmp_path / "log")
    shown = []
    for engine in ("duckdb", "spark"):
        monkeypatch.setattr(sys, "argv", ["coterie", "inspect", str(folder), "--engine", engine, "--json"])
        with pytest.raises(SystemExit) as ended:
            main()
        assert not ended.value.code
        shown.append(json.loads(capsys.readouterr().out))
    means = [content["utilities"].pop("mean") for content in shown]
    assert shown[0] == shown[1]
    assert means[0] == pytest.approx(means[1])


def test_spark_frames(tables, spark):
    log_tables = tables(25)
    frames = log_tables.frames()
    theirs = {name: spark.createDataFrame(pa.table(columns)) for name, columns in frames.items()}
    assert (
        digest(coterie.Log.from_frames(**theirs, spark=spark))
        == digest(coterie.Log.from_frames(**frames, spark=spark))
        == digest(coterie.Log.from_frames(**frames))
    )
    with pytest.raises(InputError, match='memberships: frames of Spark are read by Spark; say engine="spark"'):
        coterie.Log.from_frames(**theirs)


def test_engine_names(monkeypatch):
    with pytest.raises(InputError, match="2GB or 500MB"):
        make_engine({"memory_limit": "a lot"})
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(CoterieError, match=r"install coterie\[spark\]"):
        make_engine({"engine": "spark"})


def test_a_small_memory_limit_is_enough(tables):
    log_tables = tables(26, samples=500)
    limited = coterie.Log.from_frames(**log_tables.frames(), memory_limit="200MB", threads=1)
    assert Statistics.of(limited).sha256 == Statistics.of(coterie.Log.from_frames(**log_tables.frames())).sha256


def test_import_stays_light():
    names = ("duckdb", "numba", "pyspark", "pandas", "polars", "scipy", "matplotlib")
    code = f"import sys, coterie; print([name for name in {names} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_totals_of_two_alone_are_compared_on_every_engine(spark):
    members = {"sample": ["1", "1", "2", "2", "2"], "agent": [*"ab", *"abc"], "coalition": ["x"] * 5}
    totals = {"sample": ["2", "2", "1", "1"], "agent": [*"abab"], "utility": [0.5, 0.25, 0.5, 0.5]}
    for session in (None, spark):
        log = coterie.Log.from_frames(memberships=members, totals=totals, spark=session)
        assert log.checked.agreed == 1
        with pytest.raises(
            InputError, match=r"'a' and 'b' met nobody but each other in sample '1', yet .* 0.5 and -0.5"
        ):
            different = {**totals, "utility": [0.5, 0.25, 0.5, -0.5]}
            coterie.Log.from_frames(memberships=members, totals=different, spark=session)


def test_a_signal_between_a_query_and_waiting_for_it_stops_the_query(monkeypatch):
    engine = DuckDBEngine()
    beside, submit = engine._beside, engine._beside.submit

    def interrupted(work):
        monkeypatch.setattr(beside, "submit", submit)
        submit(work)
        raise KeyboardInterrupt

    monkeypatch.setattr(beside, "submit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        engine.table("SELECT sum(range) AS s FROM range(1000000000000)")
    assert submit(int).result(timeout=5) == 0
