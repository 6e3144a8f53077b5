"""Every reader of files and options, with inputs for it: sound ones, and how they are changed.

A reader may do two things with any bytes: take them, or refuse them with an `InputError` that fits on a screen. The
command line ends with a documented code and without a traceback.
"""

import contextlib
import io
import json
import sys
import tempfile
import warnings
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import xlsxwriter

import coterie
import old_workbooks
from coterie.cli import main
from coterie.errors import LONGEST
from coterie.files import plain, read_json
from coterie.game.actions import ActionSpaces
from coterie.game.admissible import Admissible
from coterie.game.rules import read_staff
from coterie.game.truth import read_truth
from coterie.learn.certify import Given, refuse_known, taken_over
from coterie.learn.result import Result
from coterie.log.choices import is_observed
from coterie.log.options import file_options, merged, settled
from coterie.statistics import statistics
from fuzz import inputs, naive
from patience import at_most

PAIRS = (
    ("sample", "coalition", "agent", "partner", "utility"),
    ("1", "x", "a", "b", "0.5"),
    ("1", "y", "c", "d", "-0.25"),
    ("2", "x", "a", "c", "1"),
    ("2", "x", "b", "a", "0"),
    ("2", "x", "c", "b", "-1e-1"),
    ("3", "y", "a", "d", ".75"),
)
MEMBERSHIPS = (
    ("sample", "agent", "coalition"),
    *((s, a, "x") for s, a in (("1", "a"), ("1", "b"), ("2", "a"), ("2", "b"), ("2", "c"), ("3", "b"))),
    *((s, a, "y") for s, a in (("1", "c"), ("1", "d"), ("3", "a"), ("3", "d"), ("3", "c"))),
)
TOTALS = (
    ("sample", "agent", "utility"),
    *(("1", agent, utility) for agent, utility in zip("abcd", ("0.5", "0.5", "-0.25", "-0.25"), strict=True)),
    *(("2", agent, utility) for agent, utility in zip("abc", ("1", "-0.1", "0.9"), strict=True)),
    ("3", "a", "1.5"),
    ("3", "b", "0"),
)
LOG_JSON = {
    "format": "coterie.log/1", "feedback": "semi-bandit", "utility_range": [-1, 1], "neutral": 0, "symmetric": True,
    "agents": ["a", "b"], "coalitions": ["x", "y"], "actions": [["x"], ["y"], ["x", "y"], []], "may_stay_out": False,
}  # fmt: skip
RULES = {
    "format": "coterie.rules/1", "team_size": {"*": {"min": 1, "max": 3, "or_empty": True}, "x": {"min": 1, "max": 4}},
    "per_person": [1, 2], "together": [{"agents": ["a", "b"]}], "apart": [{"agents": ["a", "c"], "coalition": "x"}],
    "fix": {"a": ["x"]}, "ban": {"d": ["x"]}, "staff": ["a", "b", "c", "d"], "labels": {"a": {"site": "Paris"}},
    "quota": [{"label": "site", "equals": "Paris", "at_least": 1, "coalition": "*"}], "left_behind": "strict",
}  # fmt: skip
TRUTH = {
    "format": "coterie.truth/1", "agents": ["a", "b", "c"], "coalitions": ["x", "y"], "actions": "one",
    "means": [[[0, 0.5, -1], [0.5, 0, 0.25], [-1, 0.25, 0]]] * 2, "size_scale": [[1, 1, 1, 1]] * 2,
    "size_shift": [[0, 0, 0, 0]] * 2,
}  # fmt: skip
ASSIGNED = {"a": ["x"], "b": ["x"], "c": ["y"], "d": ["x", "y"]}
MIXED = {**ASSIGNED, "a": [{"coalitions": ["x"], "probability": 0.25}, {"coalitions": ["y"], "probability": 0.75}]}
STRATEGY = (("agent", "coalition"), ("a", "x"), ("b", "x"), ("c", "y"), ("d", "x"), ("d", "y"))
STAFF = (("agent", "site", "Level"), ("a", "Paris", "1"), ("b", "Rome", "2"), ("c", "", "2"))
SECONDS = 30
"""How long one execution may take before it counts as a defect."""


class Defect(Exception):  # noqa: N818  (it reads so)
    """A reader did what it must not."""


@dataclass(frozen=True)
class Reader:
    """One reader: `draw(rng)` returns an input, bytes, and `read(folder, content)` hands it over.

    Where bytes are not what is read, but a list of words or tables, only `draw` changes them.
    """

    name: str
    draw: object
    read: object
    reads_bytes: bool = True


def execute(reader, content, folder):
    """Run a reader once; return whether it took the input, or raise a `Defect`."""
    for left in folder.iterdir():
        if left.is_file():
            left.unlink()
    with warnings.catch_warnings(), at_most(SECONDS):
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", category=ResourceWarning)
        try:
            reader.read(folder, content)
        except coterie.InputError as refused:
            if not str(refused).strip() or len(str(refused)) > LONGEST:
                raise Defect(f"a message of {len(str(refused))} characters") from refused
            return False
        except (Defect, KeyboardInterrupt):
            raise
        except BaseException as problem:
            raise Defect(f"{type(problem).__name__}: {problem}") from problem
    return True


def a_folder():
    """Return a temporary folder, in memory where there is such a place."""
    memory = Path("/dev/shm")
    return tempfile.TemporaryDirectory(prefix="fuzz-", dir=memory if memory.is_dir() else None)


# --- Tables -----------------------------------------------------------------------------------------------------------


def _table(*tables):
    def draw(rng):
        table, how = rng.choice(tables), rng.random()
        if how < 0.2:
            return inputs.csv_bytes(rng, table)  # in any dialect
        if how < 0.6:
            return inputs.csv_bytes(rng, inputs.changed_table(rng, table))
        return inputs.changed_bytes(rng, inputs.csv_bytes(rng, table))

    return draw


def _read_csv(folder, content):
    (folder / "table.csv").write_bytes(content)
    coterie.read_log(folder / "table.csv", threads=1)


def _with(name):
    """Read a table among sound others."""

    def read(folder, content):
        for table, rows in (("memberships", MEMBERSHIPS), ("totals", TOTALS), ("pairs", PAIRS)):
            if not (name == "totals" and table == "pairs"):
                (folder / f"{table}.csv").write_text("\n".join(map(",".join, rows)))
        (folder / f"{name}.csv").write_bytes(content)
        coterie.read_log(folder, threads=1)

    return read


ARROW = (
    pa.string(), pa.large_string(), pa.string_view(), pa.int64(), pa.uint8(), pa.float32(), pa.float64(), pa.bool_(),
    pa.date32(), pa.timestamp("us"), pa.timestamp("ns", "UTC"), pa.decimal128(10, 2), pa.binary(),
    pa.list_(pa.string()), pa.null(), pa.dictionary(pa.int32(), pa.string()), pa.duration("s"), pa.time32("s"),
    pa.struct([("a", pa.int64())]), pa.float16(),
)  # fmt: skip


def _parquet(rng):
    rows = [(f"{row[0]}-{t}", *row[1:]) for t in range(rng.choice((1, 1, 1, 40))) for row in PAIRS[1:]]
    columns = {}
    for place, name in enumerate(PAIRS[0]):
        cells = [row[place] for row in rows]
        values = [float(cell) for cell in cells] if name == "utility" else cells
        column = pa.array(values)
        if rng.random() < 0.15:
            column = _as_type(rng, cells, rng.choice(ARROW))
        columns[name if rng.random() < 0.95 else rng.choice((name.upper(), "extra", ""))] = column
    made = io.BytesIO()
    try:
        pq.write_table(pa.table(columns), made, compression=rng.choice(("snappy", "zstd", "none", "gzip")))
    except (pa.ArrowException, ValueError):
        return b"PAR1"
    return inputs.changed_bytes(rng, made.getvalue()) if rng.random() < 0.7 else made.getvalue()


def _as_type(rng, cells, kind):
    made = {"b": bool, "d": Decimal}
    for values in (
        cells,
        [rng.randrange(5) for _ in cells],
        [made[rng.choice("bd")](1) for _ in cells],
        [None] * len(cells),
    ):
        with contextlib.suppress(pa.ArrowException, ValueError, TypeError):
            return pa.array(values, kind)
    return pa.array(cells)


def _read_parquet(folder, content):
    (folder / "pairs.parquet").write_bytes(content)
    log = coterie.read_log(folder, threads=1)
    coterie.Statistics.of(log, parts=(1.0,), clues=False)


def _sheet(rng):
    made = io.BytesIO()
    book = xlsxwriter.Workbook(made, {"in_memory": True, "nan_inf_to_errors": True})
    book.set_properties({"created": datetime(2024, 1, 1)})  # noqa: DTZ001  (the same bytes at any time)
    sheet = book.add_worksheet(rng.choice(("pairs", "Sheet1", "Zoë")))
    for at, row in enumerate(inputs.changed_table(rng, PAIRS) if rng.random() < 0.6 else PAIRS):
        for place, cell in enumerate(row):
            with contextlib.suppress(ValueError, UnicodeError):
                cell = float(cell) if rng.random() < 0.5 else cell  # noqa: PLW2901
            with contextlib.suppress(UnicodeError, TypeError, OverflowError):
                sheet.write(
                    at + 2 * (place == 9),
                    place,
                    cell if isinstance(cell, float) else cell.encode(errors="replace").decode(),
                )
    if rng.random() < 0.2:
        sheet.merge_range(rng.randrange(3), 7, 4, 8, "merged")
    book.close()
    content, how = made.getvalue(), rng.random()
    if how < 0.4:
        return inputs.changed_archive(rng, content)
    return inputs.changed_bytes(rng, content) if how < 0.7 else content


def _old_sheet(rng):
    table = inputs.changed_table(rng, PAIRS) if rng.random() < 0.4 else PAIRS
    rows = [[cell.encode("utf-16le", errors="ignore").decode("utf-16le") for cell in row] for row in table]
    stream = old_workbooks.stream(old_workbooks.sheet(rows), old_workbooks.sheet(rows[:2]))
    if rng.random() < 0.5:
        stream = inputs.changed_bytes(rng, stream)
    content = old_workbooks.compound(stream, short=rng.random() < 0.3)
    return inputs.changed_bytes(rng, content) if rng.random() < 0.5 else content


def _read_old_sheet(folder, content):
    (folder / "table.xls").write_bytes(content)
    coterie.read_log(folder / "table.xls", threads=1)


def _read_sheet(folder, content):
    (folder / "table.xlsx").write_bytes(content)
    coterie.read_log(folder / "table.xlsx", threads=1)


# --- Differential -----------------------------------------------------------------------------------------------------


def _differential(kind):
    def draw(rng):
        return json.dumps(naive.drawn(rng, kind)).encode()

    def read(folder, content):
        tables = json.loads(content)
        for name, text in tables.items():
            (folder / f"{name}.csv").write_bytes(text.encode())
        problem = naive.disagreement(folder, kind)
        if problem:
            raise Defect(problem)

    return draw, read


# --- Files of JSON ----------------------------------------------------------------------------------------------------


def _json(*values):
    def draw(rng):
        value = rng.choice(values)
        if rng.random() < 0.6:
            return inputs.written(rng, inputs.changed_value(rng, value))
        return inputs.changed_bytes(rng, json.dumps(value).encode())

    return draw


def _read_log_json(folder, content):
    place = folder / "log.json"
    place.write_bytes(content)
    options = settled(merged({}, file_options(read_json(place), str(place))))
    if not is_observed(options["actions"]):
        ActionSpaces.parse(options["actions"], ("a", "b", "c", "d"), ("x", "y"))


def _read_rules(folder, content):
    (folder / "rules.json").write_bytes(content)
    Admissible.of(coterie.Rules.load(folder / "rules.json"), ("a", "b", "c", "d"), ("x", "y"))


def _read_truth(folder, content):
    (folder / "truth.json").write_bytes(content)
    game = read_truth(folder / "truth.json")
    repr(game)


def _read_strategy(folder, content):
    (folder / "strategy.json").write_bytes(content)
    coterie.read_strategy(folder / "strategy.json", ("a", "b", "c", "d"), ("x", "y"))


def _strategy_or_staff(rng):
    return _table(STRATEGY, STAFF)(rng)


def _read_strategy_table(folder, content):
    (folder / "table.csv").write_bytes(content)
    refused = []
    for read in (
        lambda: coterie.read_strategy(folder / "table.csv", ("a", "b", "c", "d"), ("x", "y")),
        lambda: read_staff(folder / "table.csv"),
    ):
        try:
            read()
        except coterie.InputError as problem:
            refused.append(problem)
    if len(refused) == 2:
        raise refused[0]


class _Made:
    """A log, its statistics and its result, made once."""

    def __init__(self):
        frames = {
            "pairs": {name: [row[place] for row in PAIRS[1:]] for place, name in enumerate(PAIRS[0][:-1])},
            "memberships": {name: [row[place] for row in MEMBERSHIPS[1:]] for place, name in enumerate(MEMBERSHIPS[0])},
        }
        frames["pairs"]["utility"] = [float(row[-1]) for row in PAIRS[1:]]
        totals = {name: [row[place] for row in TOTALS[1:]] for place, name in enumerate(TOTALS[0][:-1])}
        totals["utility"] = [float(row[-1]) for row in TOTALS[1:]]
        log = coterie.Log.from_frames(**frames)
        result = coterie.StableLearner().fit(log).result_
        self.result = json.loads(json.dumps(plain(result.to_json())))
        others = coterie.Log.from_frames(memberships=frames["memberships"], totals=totals)
        self.statistics, self.learnt_from = [], coterie.Statistics.for_learning(others)
        with a_folder() as folder:
            for one in (coterie.Statistics.for_learning(log), self.learnt_from):
                one.save(Path(folder) / "kept.npz")
                self.statistics.append((Path(folder) / "kept.npz").read_bytes())


_made = None


def made():
    """Return what is made once."""
    global _made  # noqa: PLW0603
    _made = _made or _Made()
    return _made


def _result(rng):
    return _json(made().result)(rng)


def _read_result(folder, content):
    (folder / "result.json").write_bytes(content)
    with contextlib.suppress(coterie.InputError):  # other commands take what they need of it
        given = Given.read(folder / "result.json")
        taken_over([given], coterie.Rules(), None, None, "total")
        refuse_known(given.learnt_from, made().learnt_from, "this strategy")
    result = Result.load(folder / "result.json")
    json.dumps(plain(result.to_json()), allow_nan=False)


def _npz(rng):
    content = rng.choice(made().statistics)
    how = rng.random()
    if how < 0.3:
        return inputs.changed_bytes(rng, content)
    if how < 0.5:
        return inputs.changed_archive(rng, content)
    return _hashed(rng, content)


def _hashed(rng, content):
    """Return statistics whose header or arrays were changed and whose hash is right all the same."""
    with np.load(io.BytesIO(content)) as held:
        arrays = {name: held[name] for name in held.files}
    header = json.loads(arrays.pop("header").tobytes())
    if rng.random() < 0.5:
        header = inputs.changed_value(rng, header)
    else:
        name = rng.choice(list(arrays))
        array = arrays[name].copy()
        how = rng.randrange(5)
        if how <= 1 and array.size:
            flat = array.reshape(-1)
            with contextlib.suppress(OverflowError):
                flat[rng.randrange(len(flat))] = rng.choice((-1, 0, 1, 2**31, 2**62, -(2**63), 5))
        elif how == 2:
            array = array[:0] if array.ndim else array
        elif how == 3:
            array = array.astype(rng.choice(("float64", "int32", "uint8", "bool")))
        else:
            array = array.reshape(-1)
        arrays[name] = array
        if rng.random() < 0.1:
            del arrays[name]
    if isinstance(header, dict):
        header.pop("sha256", None)
        with contextlib.suppress(TypeError, ValueError, RecursionError, AttributeError):
            header["sha256"] = statistics._digest(header, arrays)
    kept = io.BytesIO()
    np.savez(kept, **arrays, header=np.frombuffer(json.dumps(header).encode(), dtype=np.uint8))
    return kept.getvalue()


def _read_npz(folder, content):
    (folder / "kept.npz").write_bytes(content)
    found = coterie.Statistics.load(folder / "kept.npz")
    repr(found)
    assert found.whole is not None


# --- The command line -------------------------------------------------------------------------------------------------

LOGS = ("pairs.csv", "log", "missing", "")
COMMANDS = {
    "inspect": [], "learn": ["--time-limit", "1"], "certify": ["today.csv"], "coverage": [],
    "compare": ["today.csv", "today.csv"], "what-if": ["today.csv"], "evaluate": [], "bounds": [], "report": [],
}  # fmt: skip
WORDS = (
    "--delta", "--utility-range", "--neutral", "--sigma", "--asymmetric", "--symmetrize", "--pool-coalitions",
    "--coalitions", "--may-stay-out", "--columns", "--actions", "--sizes", "--noise", "--certificate", "--solver",
    "--strategy", "--seed", "--json", "--quiet", "--target-gap", "--rules", "--team-size", "--per-person",
    "--together", "--apart", "--fix", "--ban", "--staff", "--quota", "--left-behind", "--today", "--keep-sizes",
    "--max-moves", "--value", "--stability", "--goal", "--missing", "--adaptive", "--since", "--until",
    "--min-samples", "--sheet", "--clean-names", "--blanks", "--agents", "--samples", "--gap", "--truth", "--fresh",
    "--memory-limit", "--threads", "--engine", "--collect", "--change-at-most", "--feedback", "--totals", "-h",
    "--duplicates",
)  # fmt: skip
VALUES = (
    "0.5", "1e-300", "1e-323", "0", "1", "2", "-1", "nan", "inf", "1e400", "-1e-5", "99999999999999999999", "", " ",
    "a", "a,b", "a=x", "a=x,y", "x", "x=1:2", "1:2", "2:1", "0,1:3", "any", "observed", "observed-own", "one",
    "up-to:2", "up-to:-1", '[["x"],[]]', '[["z"]]', '{"a": [["x"]]}', "[[[[", "{", "sample=Project",
    "utility=utility,sample=utility", "=", "aware", "ignore", "pairs", "samples", "auto", "holdout", "paired",
    "paper", "mixed", "pure", "exact", "nash", "swap", "individual", "contractual", "average", "total", "value",
    "stability", "fairness", "worst", "skip", "refuse", "rules.json", "today.csv", "staff.csv", "truth.json",
    "result.json", "missing.json", "pairs.csv", "log", "site=Paris>=1", "site=Paris>=1@x", "site>=", "swap a, b",
    "a: x", "a: ", "join a", "\x1b[2J", "\u202e", "é", "a" * 5000, "500MB", "-1", "1MB", "bandit", "semi-bandit",
    "team-scores", "2GB", "a,b@x",
)  # fmt: skip


def _line(rng):
    command = rng.choice(list(COMMANDS))
    words = [command]
    if command not in {"bounds", "evaluate", "report"}:
        words.append(rng.choice(LOGS[:2]) if rng.random() < 0.9 else rng.choice(LOGS))
    words += COMMANDS[command]
    if command in {"evaluate", "report"}:
        words += ["result.json", *(["--truth", "truth.json"] if command == "evaluate" else ["--json"])][
            : rng.randrange(2, 4)
        ]
    if command == "bounds":
        words += ["--agents", "4", "--coalitions", "2", "--samples", "100"]
    if command == "what-if":
        words.append(rng.choice(("a: y", "swap a, c", "z: x", "a:", "", "a: x, y")))
    for _ in range(rng.randrange(4)):
        words.append(rng.choice(WORDS))
        words += [rng.choice(VALUES) for _ in range(rng.choice((0, 1, 1, 1, 2)))]
    return json.dumps(words).encode()


def _prepared(folder):
    (folder / "log").mkdir(exist_ok=True)
    for place, name, rows in (
        (folder, "pairs", PAIRS), (folder / "log", "memberships", MEMBERSHIPS), (folder / "log", "totals", TOTALS),
        (folder, "today", STRATEGY), (folder, "staff", STAFF),
    ):  # fmt: skip
        (place / f"{name}.csv").write_text("\n".join(map(",".join, rows)))
    for name, value in (("rules", RULES), ("truth", TRUTH), ("result", made().result)):
        (folder / f"{name}.json").write_text(json.dumps(value))


def _run_line(folder, content):
    _prepared(folder)
    code, out, err = run([word.replace("\x00", "") for word in json.loads(content)], folder)
    if code not in {0, 1, 2, 3}:
        raise Defect(f"exit code {code}")
    if "Traceback" in err or "Traceback" in out:
        raise Defect("a traceback")
    if code == 1:
        raise Defect(f"exit code 1: {err[:500]}")
    if code == 2 and not err.strip() and "Usage" not in out:
        raise Defect("refused without a message")
    if any(len(line) > LONGEST + 100 for line in err.splitlines()) or (code == 2 and len(err) > 3 * LONGEST):
        raise Defect(f"a message of {len(err)} characters")
    if "\x1b" in err + out or "\u202e" in err + out:
        raise Defect("a control character reached the terminal")
    if code == 2:
        raise coterie.InputError(err[:LONGEST])


def run(words, folder):
    """Run the command line in this process; return exit code, stdout and stderr."""
    out, err = io.StringIO(), io.StringIO()
    before = sys.argv
    sys.argv = ["coterie", *words]
    with contextlib.ExitStack() as stack:
        stack.callback(setattr, sys, "argv", before)
        stack.enter_context(contextlib.chdir(folder))
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(contextlib.redirect_stderr(err))
        try:
            main()
        except SystemExit as ended:
            return ended.code or 0, out.getvalue(), err.getvalue()
    raise Defect("the command line did not end")


READERS = {
    one.name: one
    for one in (
        Reader("csv", _table(PAIRS, TOTALS), _read_csv),
        Reader("pairs", _table(PAIRS), _with("pairs")),
        Reader("memberships", _table(MEMBERSHIPS), _with("memberships")),
        Reader("totals", _table(TOTALS), _with("totals")),
        Reader("parquet", _parquet, _read_parquet),
        Reader("xlsx", _sheet, _read_sheet),
        Reader("xls", _old_sheet, _read_old_sheet),
        Reader("log.json", _json(LOG_JSON), _read_log_json),
        Reader("rules", _json(RULES), _read_rules),
        Reader("truth", _json(TRUTH), _read_truth),
        Reader("strategy", _json(ASSIGNED, MIXED, {"actions": ASSIGNED}), _read_strategy),
        Reader("lists", _strategy_or_staff, _read_strategy_table),
        Reader("result", _result, _read_result),
        Reader("statistics", _npz, _read_npz),
        Reader("options", _line, _run_line, reads_bytes=False),
        *(Reader(f"second-{kind}", *_differential(kind), reads_bytes=False) for kind in ("pairs", "totals")),
    )
}
