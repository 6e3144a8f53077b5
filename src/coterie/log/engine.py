"""Where the queries on a log run: a small protocol, and DuckDB, the engine that is built in.

An engine turns each table into a view with the columns of `schema.TABLES` and three more:
`file_name`, `row_index` (from 0, within the file) and, where there is a utility, `written`, its
text. Names are strings there and utilities are doubles, null where the text is no number. The
queries themselves are the same for every engine.
"""

import itertools
import os
import re
import shutil
import threading
import uuid
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np
import pyarrow as pa

from coterie import checks
from coterie.errors import CoterieError, InputError
from coterie.files import WINDOWS, temporary_folder
from coterie.log import queries
from coterie.log.distinct import Hashes, distinct
from coterie.log.options import Options
from coterie.log.schema import Named, names_of
from coterie.log.tables import Dialect, Source, find_log, first_ragged, refuse_twins, too_many_cells
from coterie.words import said

T = TypeVar("T")

NUMBER = "^[ \t]*[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?[ \t]*$"
"""What counts as a number in text, for engines that would otherwise accept different spellings."""

BATCH_ROWS = 1 << 17

MANY_HASHES, MOST_HASHES = 1 << 20, 1 << 26
"""From so many hashes on they are counted here, where few are left to DuckDB; about so many at a time."""

HASHED_ROWS = 1 << 20

NOT_UTF_8 = "is not text in UTF-8"
READ_AS = "was read as Windows-1252"
"""What tells the remark about letters from others: it matters least."""
AS_WINDOWS = f"{{file}}: is not text in UTF-8 and {READ_AS}, as Excel saves it; check letters with accents"


class Engine(ABC):
    """Runs queries; every log has its own views, named by `name`."""

    def __init__(self) -> None:
        self._prefix = f"coterie_{uuid.uuid4().hex[:12]}_"
        self.notes: list[str] = []
        """What a reader of results should know about how tables were read."""

    def name(self, view: str) -> str:
        """Return what a view of this log is called in queries."""
        return self._prefix + view

    def find_log(
        self, path: str, sheet: str | None = None, skip_rows: int | None = None
    ) -> tuple[list[Source], Options]:
        """Return the tables in a place that the engine can read, and what its `log.json` declares."""
        if "://" in path:
            raise InputError(f"{path}: addresses are read by Spark; say {said(engine='spark')}")
        return find_log(Path(path), sheet, skip_rows)

    @abstractmethod
    def types(self, source: Source) -> dict[str, str]:
        """Return the columns of a table as they are written, with their types in lower case."""

    @abstractmethod
    def load(self, source: Source, columns: Mapping[str, Named]) -> None:
        """Make the view of a table; `columns` says what each of its columns is called in the source.

        Several columns become one, with line ends between their cells.
        """

    @abstractmethod
    def view(self, view: str, query: str, *, stored: bool = False) -> None:
        """Name a query; `stored` keeps its result on disk, for what is read several times."""

    keeps_order: ClassVar[bool] = True
    """Whether rows of a table have an order, whatever it is read from."""

    @abstractmethod
    def lookup(self, view: str, table: pa.Table) -> None:
        """Name a small table of ours, to join with."""

    @abstractmethod
    def table(self, query: str) -> pa.Table:
        """Return the whole result of a query, which the caller knows to be small."""

    def rows(self, query: str) -> list[dict[str, Any]]:
        """Return the few rows of a result by column; sums of whole numbers may be any kind of number."""
        found: list[dict[str, Any]] = self.table(query).to_pylist()
        return found

    @abstractmethod
    def stream(self, query: str) -> Iterator[pa.RecordBatch]:
        """Yield the result of a query in order, a batch at a time."""

    @abstractmethod
    def fingerprint(self, columns: Sequence[str]) -> str:
        """Return an expression for a 64-bit hash of some columns: equal rows have equal hashes."""

    def distinct(self, hashed: Mapping[str, Sequence[str]], most: int) -> list[int]:  # noqa: ARG002  (others use it)
        """Return how many different hashes the first view has, the first two, and so on, of the kinds asked of each.

        Where they are more than `most`, any number above that stands for theirs.
        """
        counts = []
        for several in range(1, len(hashed) + 1):
            first = dict(itertools.islice(hashed.items(), several))
            counts.append(int(self.rows(queries.distinct(first))[0]["hashes"]))
        return counts

    @abstractmethod
    def listed(self, column: str, pattern: str) -> str:
        """Return an expression with a row for each name that a cell lists; `pattern` is what stands between them."""

    def wide_sum(self, term: str, bits: int) -> tuple[str, str]:
        """Return expressions for two parts of a sum beyond 64 bits: it is the first times 2^bits, plus the second.

        Engines may choose different parts of the same sum.
        """
        return f"CAST(sum(({term}) >> {bits}) AS BIGINT)", f"CAST(sum(({term}) & {(1 << bits) - 1}) AS BIGINT)"


def utility_expression(column: str, kind: str, *, decimal_comma: bool) -> str:
    """Return SQL for a double, null where the value is no number."""
    if not is_text(kind):
        return f"CAST({column} AS DOUBLE)"
    text = f"replace({column}, ',', '.')" if decimal_comma else column
    return f"CASE WHEN regexp_like({text}, '{NUMBER}') THEN TRY_CAST(trim({text}) AS DOUBLE) END"


def text_expression(cells: Sequence[str]) -> str:
    """Return SQL for a column as text, or for several in one, with line ends between them."""
    texts = [f"CAST({cell} AS STRING)" for cell in cells]
    return texts[0] if len(texts) == 1 else f"concat_ws(chr(10), {', '.join(texts)})"


def is_text(kind: str) -> bool:
    """Return whether an engine's type is some kind of string."""
    return kind.startswith(("varchar", "string", "char", "enum", "dictionary", "utf8")) and not kind.endswith("]")


def file_pattern(path: str) -> str:
    """Return a SQL literal for one file, whose name may hold what would otherwise be wildcards, or a home folder."""
    return quoted(re.sub(r"([\[*?])", r"[\1]", str(Path(path).absolute())))


def quoted(text: str) -> str:
    """Return a SQL string literal (DuckDB's way); queries are in UTF-8, and so are the names of files in them."""
    checks.writable(text, "the name ")
    return "'" + text.replace("'", "''") + "'"


def identifier(text: str) -> str:
    """Return a quoted SQL identifier (DuckDB's way)."""
    return '"' + text.replace('"', '""') + '"'


def default_memory(threads: int) -> str:
    """Return how much memory DuckDB may use unless told: it does not grow with the log."""
    return f"{2048 + 128 * threads}MB"


class DuckDBEngine(Engine):
    """DuckDB inside this process; it streams, uses all cores, and spills to disk.

    CSV tables and stored views are written once to temporary Parquet files, so that each further
    query reads only the columns it needs. The files vanish with the engine.
    """

    def __init__(self, memory_limit: str | None = None, threads: int | None = None) -> None:
        super().__init__()
        import duckdb  # here, to keep `import coterie` light

        self._duckdb = duckdb
        left = ExitStack()
        self._folder = left.enter_context(temporary_folder())
        try:
            self._connection = left.enter_context(duckdb.connect(":memory:"))
        except duckdb.OutOfMemoryException as problem:
            left.close()
            raise CoterieError(f"not enough memory: DuckDB cannot begin ({_first_line(problem)})") from None
        self._beside = ThreadPoolExecutor(1)
        left.callback(self._beside.shutdown, wait=False)
        weakref.finalize(self, left.close)
        self._run(f"SET temp_directory = {quoted(str(self._folder / 'spill'))}")
        with suppress(duckdb.InvalidInputException):  # in a notebook without ipywidgets, which has no bars
            self._run("SET enable_progress_bar = false")
        for setting in _CLOSED:
            self._run(f"SET {setting} = false")
        self._run("CREATE MACRO regexp_like(text, pattern) AS regexp_matches(text, pattern)")
        threads = threads or os.cpu_count() or 1
        self._run(f"SET threads = {int(threads)}")
        try:
            if memory_limit is not None and not re.match(r"\s*[0-9.]*[1-9]", memory_limit):
                raise duckdb.Error  # DuckDB takes -1 for no limit at all
            self._run(f"SET memory_limit = {quoted(memory_limit or default_memory(threads))}")
        except duckdb.Error:
            raise InputError(
                f"{said('memory_limit')}: expected something like 2GB or 500MB, got {memory_limit!r}"
            ) from None
        self._parquet: list[Source] = []
        self._is_sealed = False

    def find_log(
        self, path: str, sheet: str | None = None, skip_rows: int | None = None
    ) -> tuple[list[Source], Options]:
        sources, options = super().find_log(path, sheet, skip_rows)
        self._seal([file for source in sources for file in source.files])
        return sources, options

    def _seal(self, files: Sequence[str]) -> None:
        """Let queries read these files and what we write ourselves, and nothing else; nothing can undo that."""
        if self._is_sealed:
            return
        self._is_sealed = True
        # As names and as patterns, see `file_pattern`: DuckDB asks for both.
        allowed = sorted(
            {quoted(str(Path(file).absolute())) for file in files} | {file_pattern(file) for file in files}
        )
        self._run(f"SET allowed_paths = [{', '.join(allowed)}]")
        self._run(f"SET allowed_directories = [{quoted(f'{self._folder}/')}]")
        self._run("SET enable_external_access = false")
        self._run("SET lock_configuration = true")

    def types(self, source: Source) -> dict[str, str]:
        if source.dialect is not None:
            return dict.fromkeys(source.dialect.header, "varchar")
        self._refuse_columns(source)
        try:
            query = f"DESCRIBE SELECT * FROM {self._raw(source)}"
            described = self._stoppable(lambda: self._connection.sql(query).to_arrow_table())
        except self._duckdb.OutOfMemoryException as problem:
            raise self._failure(problem) from None
        except self._duckdb.Error as problem:
            if isinstance(problem, self._duckdb.IOException) and not all(map(_can_be_read, source.files)):
                raise self._failure(problem) from None
            raise InputError(f"{source.shown}: cannot be read as Parquet ({_first_line(problem)})") from None
        names, kinds = described["column_name"].to_pylist(), described["column_type"].to_pylist()
        return {name: str(kind).lower() for name, kind in zip(names, kinds, strict=True) if name not in {_ROW, _FILE}}

    def _refuse_columns(self, source: Source) -> None:
        """Refuse columns that DuckDB would confuse with each other, or with those that are added to them."""
        from pyarrow import parquet

        for file in source.files:
            try:
                names = parquet.read_schema(file).names
            except UnicodeDecodeError:
                raise InputError(f"{file}: the names of columns are damaged: they are not text in UTF-8") from None
            except (pa.ArrowException, OSError):
                continue  # DuckDB says what is wrong with it
            refuse_twins(names, source.shown)
            _refuse_ours(names, source.shown)
        if isinstance(source.frame, pa.Table):
            _refuse_ours(source.frame.column_names, source.shown)

    def load(self, source: Source, columns: Mapping[str, Named]) -> None:
        if source.frame is not None:
            self._seal(())
        if source.dialect is not None:
            self._load_csv(source, source.dialect, columns)
            return
        self._parquet += [source] if source.frame is None else []
        kinds = self.types(source)
        chosen = [
            f"{text_expression([identifier(name) for name in names_of(theirs)])} AS {ours}"
            for ours, theirs in columns.items()
            if ours != "utility"
        ]
        if "utility" in columns:
            (name,) = names_of(columns["utility"])
            theirs = identifier(name)
            value = utility_expression(theirs, kinds[name], decimal_comma=source.has_decimal_comma)
            chosen += [f"{value} AS utility", f"CAST({theirs} AS VARCHAR) AS written"]
        chosen += [f"{_ROW} AS row_index", f"{_FILE if source.frame is None else quoted('')} AS file_name"]
        self.view(source.table, f"SELECT {', '.join(chosen)} FROM {self._raw(source)}")

    def _raw(self, source: Source) -> str:
        """Return the source as something to select from, with the number of each row and its file."""
        if source.frame is None:
            files = ", ".join(file_pattern(file) for file in source.files)
            read = (
                f"read_parquet([{files}], union_by_name = true, hive_partitioning = false, "
                f"file_row_number = true, filename = '{_FILE}')"
            )
            return f"(SELECT * RENAME (file_row_number AS {_ROW}) FROM {read})"
        if not isinstance(source.frame, pa.Table):
            raise InputError(f"{source.shown}: frames of Spark are read by Spark; say {said(engine='spark')}")
        name = self.name(f"frame_{source.table}")
        rows = pa.array(np.arange(source.frame.num_rows, dtype=np.int64))
        self._connection.register(name, source.frame.append_column(_ROW, rows))
        return name

    def _load_csv(self, source: Source, dialect: Dialect, columns: Mapping[str, Named]) -> None:
        is_plain = dialect.encoding == "utf-8" and not dialect.odd_lines
        file = source.files[0] if is_plain else self._transcoded(source, dialect)
        # Cells are named by position: headers may repeat, differ in case, or be empty.
        cells = {theirs: f"c{index}" for index, theirs in enumerate(dialect.header)}
        named = ", ".join(f"'c{index}': 'VARCHAR'" for index in range(len(dialect.header)))
        read = (
            f"read_csv({file_pattern(file)}, columns = {{{named}}}, delim = {quoted(dialect.separator)}, "
            f"header = true, skip = {dialect.skip}, quote = '\"', escape = '\"', auto_detect = false, nullstr = '', "
            "strict_mode = true, null_padding = false)"
        )
        chosen = [
            f"{text_expression([cells[name] for name in names_of(theirs)])} AS {ours}"
            for ours, theirs in columns.items()
            if ours != "utility"
        ]
        if "utility" in columns:
            (cell,) = (cells[name] for name in names_of(columns["utility"]))
            value = utility_expression(cell, "varchar", decimal_comma=dialect.has_decimal_comma)
            chosen += [f"{value} AS utility", f"CASE WHEN isfinite({value}) THEN NULL ELSE {cell} END AS written"]
        try:
            self._view(source.table, f"SELECT {', '.join(chosen)} FROM {read}", stored=True)
        except (self._duckdb.InvalidInputException, self._duckdb.ConversionException) as problem:
            what = _csv_problem(str(problem), source.files[0], dialect)
            if what.endswith(NOT_UTF_8) and dialect.encoding == "utf-8":  # the header alone was
                self._load_csv(source, replace(dialect, encoding=WINDOWS), columns)
                return
            raise InputError(f"{source.shown}: {what}") from None
        except (self._duckdb.Error, RuntimeError) as problem:
            raise self._failure(problem) from None

    def _transcoded(self, source: Source, dialect: Dialect) -> str:
        """Return the file of ours that holds a CSV table as UTF-8, with all lines of its header in one."""
        copied, encoding = self._folder / f"{source.table}.csv", dialect.encoding
        try:
            with (
                Path(source.files[0]).open(encoding=encoding, newline="") as read,
                copied.open("w", encoding="utf-8", newline="") as written,
            ):
                if dialect.odd_lines:
                    written.writelines(itertools.islice(read, dialect.skip))
                    *first, last = itertools.islice(read, dialect.odd_lines)
                    written.writelines([*(line.rstrip("\r\n") + " " for line in first), last])
                shutil.copyfileobj(read, written, 1 << 20)
        except UnicodeError:
            raise InputError(f"{source.shown}: is not text in UTF-8, UTF-16 or Windows-1252") from None
        if encoding == WINDOWS:
            self.notes.append(AS_WINDOWS.format(file=source.shown))
        return str(copied)

    def view(self, view: str, query: str, *, stored: bool = False) -> None:
        with self._explained():
            self._view(view, query, stored=stored)

    def _view(self, view: str, query: str, *, stored: bool) -> None:
        if stored:
            file = quoted(str(self._folder / f"{view}.parquet"))
            self._run(f"COPY ({query}) TO {file} (FORMAT parquet)")
            query = (
                "SELECT * RENAME (file_row_number AS row_index), '' AS file_name "
                f"FROM read_parquet({file}, file_row_number = true)"
            )
        self._run(f"CREATE OR REPLACE VIEW {self.name(view)} AS {query}")

    def lookup(self, view: str, table: pa.Table) -> None:
        self._connection.register(self.name(view), table)

    def table(self, query: str) -> pa.Table:
        with self._explained():
            return self._stoppable(lambda: self._connection.sql(query).to_arrow_table())

    def rows(self, query: str) -> list[dict[str, Any]]:
        # DuckDB plans what becomes an Arrow table twice, which is most of the time that a small log takes.
        def fetched() -> list[dict[str, Any]]:
            found = self._connection.execute(query)
            names = [column[0] for column in found.description]
            return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

        with self._explained():
            return self._stoppable(fetched)

    def stream(self, query: str, rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        with self._explained():
            reader = self._stoppable(lambda: self._connection.sql(query).to_arrow_reader(rows))
            while (batch := self._stoppable(lambda: next(reader, None))) is not None:
                yield batch

    def _stoppable(self, work: Callable[[], T]) -> T:
        """Return what comes of work with the connection; what a signal raises in the meantime stops it.

        Signals arrive in the main thread, and a query that runs there hardly ever looks for them.
        """
        if threading.current_thread() is not threading.main_thread():
            return work()
        try:
            return self._handed_over(work).result()
        except BaseException:
            # A signal may come before, while or after work was handed over: wait for whatever there was.
            rest = self._handed_over(int)
            while not rest.done():
                self._connection.interrupt()
                wait([rest], 0.05)
            raise

    def _handed_over(self, work: Callable[[], T]) -> Future[T]:
        try:
            return self._beside.submit(work)
        except RuntimeError as problem:  # there is no room for the stack of a thread
            raise MemoryError(str(problem)) from None

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn DuckDB's failures while it reads a log into ours."""
        try:
            yield
        except (self._duckdb.Error, RuntimeError) as problem:
            raise self._failure(problem) from None

    def _failure(self, problem: Exception) -> BaseException:
        """Return our own account of a failure; a signal stops DuckDB and comes out as some error of its own."""
        if isinstance(problem, self._duckdb.InterruptException) or str(problem) == "Query interrupted":
            return KeyboardInterrupt()
        if not isinstance(problem, self._duckdb.Error):
            return problem
        if isinstance(problem, self._duckdb.OutOfMemoryException):
            return CoterieError(f"DuckDB needs more memory or disk than it may use here; raise {said('memory_limit')}")
        if damaged := self._damaged():
            return InputError(f"{damaged}: cannot be read as Parquet, it is damaged ({_first_line(problem)})")
        if isinstance(problem, self._duckdb.IOException):
            if str(self._folder) in str(problem):
                return CoterieError(
                    f"temporary files in {self._folder.parent} cannot be written or read ({_first_line(problem)}); the "
                    "variable TMPDIR says where else they may be"
                )
            return CoterieError(f"the log cannot be read ({_first_line(problem)})")
        return CoterieError(f"DuckDB failed ({_first_line(problem)})")

    def _damaged(self) -> str | None:
        """Return the first Parquet file of the log that DuckDB cannot read to its end."""
        for file in (file for source in self._parquet for file in source.files):
            try:
                self._run(f"SELECT max(hash(t)) FROM read_parquet({file_pattern(file)}) t")
            except self._duckdb.OutOfMemoryException:
                continue
            except self._duckdb.Error:
                return file
        return None

    def fingerprint(self, columns: Sequence[str]) -> str:
        return f"hash({', '.join(columns)})"

    def distinct(self, hashed: Mapping[str, Sequence[str]], most: int) -> list[int]:
        if most < MANY_HASHES:
            return super().distinct(hashed, most)
        pieces = -(-most // MOST_HASHES)
        found = [distinct(self._hashes(hashed, piece, pieces), most) for piece in range(pieces)]
        return [sum(counts) for counts in zip(*found, strict=True)]

    def _hashes(self, hashed: Mapping[str, Sequence[str]], piece: int, pieces: int) -> list[Iterator[Hashes]]:
        """Return the hashes of each view, those that are in one of several pieces."""

        def of_view(view: str, kinds: Sequence[str]) -> Iterator[Hashes]:
            for batch in self.stream(queries.hashes(view, kinds), HASHED_ROWS):
                every = np.column_stack([column.to_numpy() for column in batch.columns]).ravel()
                yield every if pieces == 1 else every[every % np.uint64(pieces) == piece]

        return list(itertools.starmap(of_view, hashed.items()))

    def listed(self, column: str, pattern: str) -> str:
        return f"unnest(regexp_split_to_array({column}, '{pattern}'))"

    def wide_sum(self, term: str, bits: int) -> tuple[str, str]:
        # DuckDB sums into 128 bits, once for both expressions.
        return f"CAST(sum({term}) >> {bits} AS BIGINT)", f"CAST(sum({term}) & {(1 << bits) - 1} AS BIGINT)"

    def _run(self, statement: str) -> None:
        self._stoppable(lambda: self._connection.execute(statement))


_ROW, _FILE = "coterie_row_index", "coterie_file_name"  # unlike what tables of users hold

_CLOSED = (
    "autoinstall_known_extensions",
    "autoload_known_extensions",
    "python_enable_replacements",
)
"""What DuckDB does not do here; the last would let a query read variables of Python."""


def _refuse_ours(names: Iterable[str], shown: str) -> None:
    """Refuse columns with the names of those that are added to a table while it is read."""
    for name in names:
        if name.casefold() in {_ROW, _FILE, "file_row_number"}:
            raise InputError(f"{shown}: has a column {name!r}, which is used while tables are read; rename it")


def _can_be_read(file: str) -> bool:
    """Return whether a file gives its bytes; then what is wrong with it is what they are."""
    try:
        with Path(file).open("rb") as content:
            while content.read(1 << 24):
                pass
    except OSError:
        return False
    return True


def _first_line(problem: Exception) -> str:
    return (str(problem).splitlines() or [type(problem).__name__])[0]


def _csv_problem(text: str, file: str, dialect: Dialect) -> str:
    """Turn DuckDB's account of a CSV error into one sentence."""
    # DuckDB quotes the line, which may hold any words; what it says itself comes before and after.
    said, _, rest = text.partition("Original Line:")
    counted = re.search(r"^Expected Number of Columns: \d+ Found: \d+", rest or said, re.MULTILINE)
    line = re.search(r"Line: (\d+)", said)
    where = f"line {line[1]}: " if line else ""
    lowered = said.lower()
    if "utf-8" in lowered or "utf8" in lowered or "unicode" in lowered:
        return f"{where}{NOT_UTF_8}"
    if counted or "columns" in lowered:
        return first_ragged(file, dialect) or too_many_cells(None, len(dialect.header), None)
    if "state machine" in lowered:
        return "is not well-formed CSV: lines end in different ways, or quotes are misplaced"
    if "quote" in lowered:
        return f"{where}a quoted cell does not end or goes on after its closing quote"
    return f"{where}cannot be read as CSV ({text.splitlines()[0]})"


def make_engine(options: Options) -> Engine:
    """Return the engine that the options ask for; a Spark session given by the user is used as it is."""
    session, threads = options.get("spark"), options.get("threads")
    if session is None and options.get("engine") != "spark":
        return DuckDBEngine(options.get("memory_limit"), threads)
    from coterie.log.spark import SparkEngine

    return SparkEngine(session, threads=threads)
