"""Spark as the engine of a log: for logs that outgrow one machine, in any place that Spark can read.

Install `coterie[spark]`. Give your own session, or let one be started on this machine.
"""

import logging
import os
import re
import sys
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa

from coterie import checks
from coterie.errors import CoterieError, InputError
from coterie.files import WINDOWS, naming, parse_json
from coterie.log import schema, tables
from coterie.log.engine import AS_WINDOWS, BATCH_ROWS, Engine, text_expression, utility_expression
from coterie.log.options import Options, file_options
from coterie.log.tables import Dialect, Source

HAS_ENDED = (
    "Spark's Java process has ended, as it does where its memory runs out; run it again, with more memory, or let "
    "DuckDB read the log"
)


def local_session(threads: int | None = None) -> Any:
    """Return a quiet Spark session on this machine, the running one if there is one."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise CoterieError("Spark is not installed; install coterie[spark], and Java 17") from None
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    logging.getLogger().addFilter(_is_not_of_the_gateway)
    builder = SparkSession.builder.master(f"local[{threads or '*'}]").appName("coterie")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": str(4 * (threads or os.cpu_count() or 1)),
        "spark.log.level": "ERROR",
        "spark.driver.memory": "4g",
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    try:
        session = builder.getOrCreate()
    except Exception as problem:  # noqa: BLE001  (Py4J, Spark and Java each have their own)
        reason = str(problem).splitlines()[0]
        raise CoterieError(f"Spark does not start ({reason}); it needs Java 17, found through JAVA_HOME") from None
    _say_the_end_once(session)
    return session


def _say_the_end_once(session: Any) -> None:
    """Leave out the traceback of PySpark's server of accumulators, to which Java's end is the end of a file."""
    server = session.sparkContext._accumulatorServer  # noqa: SLF001  (nothing else leads to it)
    if "handle_error" in vars(server):
        return  # a session that was running already
    say = server.handle_error

    def say_others(request: Any, address: Any) -> None:
        if not isinstance(sys.exception(), EOFError | ConnectionError):
            say(request, address)

    server.handle_error = say_others


def _is_not_of_the_gateway(record: logging.LogRecord) -> bool:
    """Leave out what Py4J logs with a traceback when Java has ended: it raises that too, and it is said once."""
    return record.module not in {"clientserver", "java_gateway"}


class SparkEngine(Engine):
    """Spark, with the user's session or one on this machine."""

    keeps_order = False

    def __init__(self, session: Any = None, *, threads: int | None = None) -> None:
        super().__init__()
        self._session = local_session(threads) if session is None else session
        self._views: set[str] = set()
        self._csv_sources: list[Source] = []
        self._kept: list[Any] = []
        weakref.finalize(self, _release, self._session, self._views, self._kept).atexit = False

    def find_log(
        self, path: str, sheet: str | None = None, skip_rows: int | None = None
    ) -> tuple[list[Source], Options]:
        if Path(path).exists():
            return super().find_log(path, sheet, skip_rows)
        listed = self._listing(path)
        if listed is None:
            return [replace(self._source("pairs", path), is_alone=True)], {}
        sources = []
        for table in schema.FILES:
            names = [name for name in listed if _is_table(name, table)]
            if len(names) > 1:
                raise InputError(f"{path}: found {' and '.join(names)}, expected one table called {table}")
            sources += [self._source(table, f"{path.rstrip('/')}/{name}") for name in names]
        parts = tuple(f"{path.rstrip('/')}/{name}" for name in listed if tables.is_part(name))
        if not sources and parts:
            sources = [Source("pairs", path, parts)]  # a folder of parts, given by itself
        if "log.json" not in listed:
            return sources, {}
        described = f"{path.rstrip('/')}/log.json"
        with naming(described):
            content = parse_json(self._text(described))
        return sources, file_options(content, described)

    def _listing(self, path: str) -> list[str] | None:
        """Return the names in a folder, None for a file, through Hadoop's file systems."""
        with self._explained(f"{path}: Spark cannot read there"):
            jvm = self._session._jvm  # noqa: SLF001  (the only way to the file systems that Spark knows)
            place = jvm.org.apache.hadoop.fs.Path(path)
            system = place.getFileSystem(self._session._jsc.hadoopConfiguration())  # noqa: SLF001
            if not system.exists(place):
                raise InputError(f"{path}: no such file or folder")
            if system.getFileStatus(place).isFile():
                return None
            return sorted(str(status.getPath().getName()) for status in system.listStatus(place))

    def _text(self, path: str) -> str:
        return self._first(path, wholetext=True)

    def _first(self, path: str, **options: Any) -> str:
        """Return the first line of a text, or all of it; empty where there is none."""
        with self._explained():
            row = self._session.read.text(path, **options).first()
        return "" if row is None else str(row[0])

    def _source(self, table: str, path: str) -> Source:
        kind = tables.SUFFIXES.get(PurePosixPath(path).suffix.lower(), "parquet")
        if kind == "sheet":
            raise InputError(f"{path}: spreadsheets are read from this machine; copy it here")
        if kind == "parquet":
            return Source(table, path, (path,))
        return Source(table, path, (path,), tables.csv_dialect(self._first(path), path))

    def types(self, source: Source) -> dict[str, str]:
        if source.dialect is not None:
            return dict.fromkeys(source.dialect.header, "string")
        # Spark's plain timestamp is an instant, shown in the session's time zone.
        zoned = {"timestamp": "timestamp with time zone", "timestamp_ltz": "timestamp with time zone"}
        with self._explained():
            described = self._raw(source).dtypes
        tables.refuse_twins([name for name, _ in described], source.shown)
        kinds = {name: str(kind).lower() for name, kind in described}
        return {name: zoned.get(kind, kind) for name, kind in kinds.items()}

    def _raw(self, source: Source) -> Any:
        if source.frame is None:
            with self._explained(f"{source.shown}: cannot be read as Parquet"):
                return self._session.read.option("mergeSchema", "true").parquet(*map(_address, source.files))
        if type(source.frame).__module__.startswith("pyspark."):
            return source.frame
        with self._explained():
            return self._session.createDataFrame(source.frame)

    def load(self, source: Source, columns: Mapping[str, schema.Named]) -> None:
        kinds = self.types(source)
        if source.dialect is None:
            frame = self._raw(source)
            cells = {
                name: f"`{name.replace('`', '``')}`" for named in columns.values() for name in schema.names_of(named)
            }
        else:
            if source.dialect.skip:
                raise InputError(f"{source.shown}: Spark reads no CSV with lines before its header; remove them")
            if source.dialect.encoding == WINDOWS:
                self.notes.append(AS_WINDOWS.format(file=source.shown))
            self._csv_sources.append(source)
            frame = self._csv(_address(source.files[0]), source.dialect)
            cells = {theirs: f"c{index}" for index, theirs in enumerate(source.dialect.header)}
        chosen = [
            f"{text_expression([cells[name] for name in schema.names_of(theirs)])} AS {ours}"
            for ours, theirs in columns.items()
            if ours != "utility"
        ]
        if "utility" in columns:
            (name,) = schema.names_of(columns["utility"])
            cell = cells[name]
            value = utility_expression(cell, kinds[name], decimal_comma=source.has_decimal_comma)
            chosen += [f"{value} AS utility", f"CAST({cell} AS STRING) AS written"]
        # Only Parquet knows its rows by number; otherwise Spark numbers them as it reads.
        is_parquet = source.dialect is None and source.frame is None
        chosen += ["_metadata.row_index AS row_index", "_metadata.file_name AS file_name"] if is_parquet else [
            "monotonically_increasing_id() AS row_index", "'' AS file_name"
        ]  # fmt: skip
        with self._explained():
            self._name(source.table, frame.selectExpr(*chosen))

    def _csv(self, path: str, dialect: Dialect) -> Any:
        # One partition (multiLine) keeps rows in order; a row of another length fails, as with DuckDB.
        header = ", ".join(f"c{index} STRING" for index in range(len(dialect.header)))
        options = {
            "header": True, "sep": dialect.separator, "quote": '"', "escape": '"', "multiLine": True,
            "mode": "FAILFAST", "enforceSchema": True, "nullValue": "", "encoding": dialect.encoding,
        }  # fmt: skip
        with self._explained():
            return self._session.read.schema(header).options(**options).csv(path)

    def view(self, view: str, query: str, *, stored: bool = False) -> None:
        with self._explained():
            frame = self._session.sql(query)
            if stored:
                self._kept.append(frame.persist())
            self._name(view, frame)

    def lookup(self, view: str, table: pa.Table) -> None:
        with self._explained():
            self._name(view, self._session.createDataFrame(table))

    def _name(self, view: str, frame: Any) -> None:
        frame.createOrReplaceTempView(self.name(view))
        self._views.add(self.name(view))

    def table(self, query: str) -> pa.Table:
        with self._explained():
            return self._session.sql(query).toArrow()

    def stream(self, query: str) -> Iterator[pa.RecordBatch]:
        # Each batch travels as one value, so that the driver holds one partition at a time.
        with self._explained():
            packed = self._session.sql(query).mapInArrow(_packed(BATCH_ROWS), "batch BINARY")
            rows = packed.toLocalIterator()
        while True:
            with self._explained():
                row = next(rows, None)
            if row is None:
                return
            with pa.ipc.open_stream(bytes(row.batch)) as reader:
                yield from reader

    @contextmanager
    def _explained(self, refusal: str = "") -> Iterator[None]:
        """Turn failures of Spark into ours; what is given says that a file is to blame, unless Java has ended."""
        try:
            yield
        except CoterieError:
            raise
        except Exception as problem:  # noqa: BLE001  (Py4J, Spark and Java each have their own)
            if "MALFORMED" in str(problem):
                raise InputError(self._ragged()) from None
            if _has_ended(self._session):
                raise CoterieError(HAS_ENDED) from None
            if refusal:
                raise InputError(f"{refusal} ({_reason(problem)})") from None
            raise CoterieError(f"Spark failed ({_reason(problem)})") from None

    def _ragged(self) -> str:
        """Word a row with more or fewer cells than the header, which Spark does not say the place of."""
        for source in self._csv_sources:
            if source.dialect is not None and (found := tables.first_ragged(source.files[0], source.dialect)):
                return f"{source.shown}: {found}"
        shown = " or ".join(source.shown for source in self._csv_sources)
        return f"{shown}: a row has more or fewer cells than the header"

    def fingerprint(self, columns: Sequence[str]) -> str:
        return f"xxhash64({', '.join(columns)})"

    def listed(self, column: str, pattern: str) -> str:
        return f"explode(split({column}, '{pattern}'))"


def _address(path: str) -> str:
    """Return where Spark finds a file; one on this machine is said to be there, whatever Spark's default."""
    if not Path(path).exists():
        return path
    checks.writable(path, "the name ")
    escaped = re.sub(r"([\[\]{}*?\\])", r"\\\1", str(Path(path).resolve()))  # a name, not a pattern
    return f"file://{escaped}"


def _release(session: Any, views: set[str], kept: list[Any]) -> None:
    """Drop what a log has left in a session that goes on without it."""
    with suppress(Exception):  # the session may have been stopped
        for view in views:
            session.catalog.dropTempView(view)
        for frame in kept:
            frame.unpersist()


def _is_table(name: str, table: str) -> bool:
    path = PurePosixPath(name)
    return name.lower() == table or (path.stem.lower() == table and path.suffix.lower() in tables.SUFFIXES)


def _has_ended(session: Any) -> bool:
    """Return whether the Java process of a session on this machine is gone."""
    context = getattr(session, "_sc", None)  # a session of Spark Connect has none
    process = getattr(getattr(context, "_gateway", None), "proc", None)
    return process is not None and process.poll() is not None


def _reason(problem: Exception) -> str:
    """Return the line that tells why: of causes within causes the innermost, of a worker's traceback the last."""
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    if not lines:
        return type(problem).__name__
    causes = [at for at, line in enumerate(lines) if line.startswith(("Caused by: ", ": "))]
    if not causes:
        return lines[0]
    own = lines[causes[-1] :]
    stack = next((at for at, line in enumerate(own) if line.startswith("at ")), len(own))
    return own[:stack][-1].removeprefix("Caused by: ").removeprefix(": ")


def _packed(rows: int) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return what turns batches into rows that hold a serialised batch each, on Spark's workers.

    A function within a function travels to them as it is, so that they need pyarrow and nothing of ours.
    """

    def packed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for start in range(0, batch.num_rows, rows):
                sink = pa.BufferOutputStream()
                with pa.ipc.new_stream(sink, batch.schema) as writer:
                    writer.write_batch(batch.slice(start, rows))
                yield pa.record_batch({"batch": pa.array([sink.getvalue().to_pybytes()], pa.binary())})

    return packed
