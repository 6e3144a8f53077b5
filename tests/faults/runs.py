"""One run of a command in a process of its own, with a fault, and everything that must be true afterwards.

Runs are forks of a process in which everything is imported, so that they begin at once; the layer of `layer.c` is
loaded in it. A run has a folder of its own, with one for temporary files, and a session of its own, so that no process
is lost from sight.
"""

import atexit
import contextlib
import csv
import ctypes
import json
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from python_calamine import CalamineWorkbook

import coterie
from coterie.cli import app, main
from coterie.files import UNFINISHED, is_unfinished
from coterie.learn.result import Result
from coterie.statistics import Statistics

LONGEST = 300
"""Seconds of work that a run may take, and of waiting for nothing; waiting for its turn does not count."""

BEFORE = ("cli/__init__.py", "cli/signals.py")
"""Modules that a run enters before it heeds signals: until then they are Python's, as while it starts."""

TEMPORARY, WORK = "temporary", "work"
TRIED = re.compile(r"[a-z0-9_]{8}")
"""Files of four letters by which Python's `tempfile` tries whether it can write to a folder."""

KEPT = re.compile(r"it is in (\S+) instead")


@dataclass(frozen=True)
class Fault:
    """What happens to a run."""

    kind: str
    error: int = 0
    """The error of a failing operation."""
    operation: int = 0
    """Which operation fails, or sends the signal, counted from 1."""
    lasting: bool = False
    """Whether all operations after it fail too."""
    sign: int = 0
    """A signal."""
    stage: int = 0
    """The signal comes when so many modules of the package have been entered."""
    after: float | None = None
    """The signal comes after so many seconds."""
    clock: int = 0
    """By how many seconds the clock jumps, to and fro."""
    memory: int | None = None
    """How many bytes of address space there are on top of what is used already."""
    limit: int | None = None
    """How many bytes of address space a process of its own has, from its first moment on."""
    disk: Callable | None = None
    """A context in which the disk is full, or cannot be written to; it is given the folder."""


NONE = Fault("none")
COUNTING = Fault("none", stage=10**9)
"""Nothing happens, and stages are counted."""


@dataclass(frozen=True)
class Command:
    """A command, and what it writes."""

    name: str
    words: tuple
    """What stands on the command line, or a function of no argument."""
    files: tuple = ()
    """The files that it writes, each whole or not at all."""
    folder: str = ""
    """The folder that it writes, whole or not at all."""
    filling: str = ""
    """A folder that it fills little by little, with files that are whole."""
    old: tuple = ()
    """Which of the files were there before."""
    empty: bool = False
    """Whether the folder is there, and empty."""
    once: bool = False
    """Whether what it fills must be new: after a kill the next run is given another folder."""
    stride: int = 1
    """Only every so-many-th place and stage is tried, since it takes long."""


@dataclass(frozen=True)
class Ended:
    """How a run ended."""

    code: int
    """The exit code; minus the signal that it died of."""
    out: str
    err: str
    seconds: float
    operations: int
    stages: int
    orphans: int


class Place:
    """The folder of a run: what it reads is there, and what it writes will be."""

    def __init__(self, folder, inputs, command):
        self.folder, self.command = Path(folder), command
        self.work, self.temporary = self.folder / "run" / WORK, self.folder / "run" / TEMPORARY
        self.temporary.mkdir(parents=True)
        shutil.copytree(inputs, self.work)
        for name in command.old:
            (self.work / name).write_text("old")
        if command.empty:
            (self.work / command.folder).mkdir()
        self.before = self._content()

    def loaded(self):
        """Run the command; return the modules that it has loaded."""
        ended = self.run(replace(NONE, kind="loading"))
        if ended.code != 0:
            raise RuntimeError(f"{self.command.name}: {ended.err}")
        return (self.folder / "modules").read_text().split()

    def run(self, fault=NONE):
        """Run the command, and wait until it has ended."""
        with (fault.disk or contextlib.nullcontext)(self.work):
            begun = time.monotonic()
            for name in ("out", "err"):
                (self.folder / name).write_text("")
            told, tells = os.pipe()
            child = os.fork()
            if child == 0:
                os.close(told)
                self._child(fault, tells)
            os.close(tells)
            code = _waited(child, fault)
            seconds = time.monotonic() - begun
            with os.fdopen(told) as said:
                counted = said.read().split()
            operations, stages = map(int, counted or (0, 0))
        out, err = ((self.folder / name).read_text(errors="replace") for name in ("out", "err"))
        return Ended(code, out, err, seconds, operations, stages, orphans_of(child))

    def _child(self, fault, tells):
        code = 70
        try:
            os.setsid()
            os.chdir(self.work)
            os.environ.update(TMPDIR=str(self.temporary), HOME=str(self.work))
            tempfile.tempdir = None
            for number, name in ((1, "out"), (2, "err")):
                file = os.open(self.folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
                os.dup2(file, number)
            sys.stdout = open(1, "w", closefd=False, encoding="utf-8")  # noqa: SIM115
            sys.stderr = open(2, "w", closefd=False, encoding="utf-8")  # noqa: SIM115
            for signum in (signal.SIGINT, signal.SIGTERM):
                signal.signal(signum, signal.default_int_handler if signum == signal.SIGINT else signal.SIG_DFL)
            if fault.limit is not None:
                _afresh(self.command.words, fault.limit)
            stages = _stages(fault)
            if fault.memory is not None:
                used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
                resource.setrlimit(resource.RLIMIT_AS, (used + fault.memory, used + fault.memory))
            arm(self.folder / "run", fault)
            code = _called(self.command.words, fault)
        except BaseException:  # noqa: BLE001  (whatever it is, it is seen)
            traceback.print_exc()
        finally:
            sys.setprofile(None)
            if fault.kind == "loading":
                (self.folder / "modules").write_text("\n".join(sys.modules))
            with contextlib.suppress(BaseException):
                threading._shutdown()
            with contextlib.suppress(BaseException):
                atexit._run_exitfuncs()
            with contextlib.suppress(BaseException):
                os.write(tells, f"{layer().fault_count()} {len(stages)}".encode())
            with contextlib.suppress(BaseException):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(code)

    # --- What there is afterwards -------------------------------------------------------------------------------------

    def written(self):
        """Return what was written: canonical content by name."""
        command, found = self.command, {}
        for name in command.files:
            if (self.work / name).exists():
                found[name] = canonical(self.work / name)
        for name in filter(None, (command.folder, command.filling)):
            for path in sorted((self.work / name).rglob("*")):
                if path.is_file() and UNFINISHED not in str(path):
                    found[str(path.relative_to(self.work))] = canonical(path)
        return found

    def left(self):
        """Return what a run has left behind that is neither its output nor a copy that it told of."""
        err = (self.folder / "err").read_text(errors="replace") if (self.folder / "err").exists() else ""
        told = {Path(name).parent for name in KEPT.findall(err)}
        found = [*self.temporary.iterdir(), *self.work.rglob(f"{UNFINISHED}*")]
        return [path for path in found if path not in told and not TRIED.fullmatch(path.name)]

    def is_untouched(self):
        """Return whether everything that a run reads or may leave behind is as if none had been."""
        return self._content() == self.before

    def _content(self):
        return {path: path.read_bytes() if path.is_file() else None for path in (self.folder / "run").rglob("*")}

    def clear(self):
        """Remove everything."""
        shutil.rmtree(self.folder, ignore_errors=True)


_layer = None


def layer():
    """Return the layer of this process."""
    global _layer  # noqa: PLW0603
    _layer = _layer or ctypes.CDLL(None)
    return _layer


def arm(folder, fault):
    """Let operations below a folder be counted, and what was asked for happen."""
    number = fault.error or (-fault.sign if fault.operation else 0)
    layer().fault_arm(str(folder).encode(), fault.operation, number, int(fault.lasting))
    layer().fault_clock(ctypes.c_long(fault.clock))


def _stages(fault):
    """Watch which modules of the package are entered; send the signal in the one that was asked for."""
    entered = set()

    def watch(frame, event, _):
        name = frame.f_code.co_filename
        if event == "call" and "/coterie/" in name and name not in entered and not name.endswith(BEFORE):
            entered.add(name)
            if len(entered) == fault.stage:
                os.kill(os.getpid(), fault.sign)

    if fault.stage:
        sys.setprofile(watch)
    return entered


def _afresh(words, limit):
    """Become a process that has loaded nothing yet, with so many bytes of address space."""
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    os.execve(sys.executable, [sys.executable, "-m", "coterie", *words], environment)


def _called(words, fault):
    if callable(words):
        try:
            words()
        except (OSError, MemoryError, coterie.CoterieError) as problem:  # as in Python
            sys.stderr.write(f"error: {problem}\n")
            return 1
        return 0
    sys.argv = ["coterie", *words]
    run = app.run

    def begun(caught):
        timer = threading.Timer(fault.after or 0.0, os.kill, (os.getpid(), fault.sign))
        timer.daemon = True
        if fault.after is not None and fault.sign != signal.SIGKILL:
            timer.start()
        try:
            return run(caught)
        finally:
            timer.cancel()  # what comes after the end is Python's again

    app.run = begun
    try:
        main()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0


def _waited(child, fault):
    """Wait for a child, and kill it when its time has come; other signals it sends itself."""
    begun, sent = time.monotonic(), fault.after is None or fault.sign != signal.SIGKILL
    patience = _Patience(child)
    while True:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        passed = time.monotonic() - begun
        if not sent and passed >= fault.after:
            os.kill(child, fault.sign)
            sent = True
        if patience.is_over():
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return None
        time.sleep(0.002)


class _Patience:
    """With a run: it is over after too much work, or where for long nothing was done and nothing is about to be."""

    def __init__(self, session):
        self.session, self.spent = session, 0
        self.looked = self.busy = time.monotonic()

    def is_over(self):
        now = time.monotonic()
        if now - self.looked < 1:
            return False
        self.looked = now
        found = [fields for _, _, fields in _in_session(self.session)]
        spent = sum(int(fields[11]) + int(fields[12]) for fields in found) / os.sysconf("SC_CLK_TCK")
        if spent != self.spent or any(fields[0] in "RD" for fields in found):
            self.busy, self.spent = now, spent
        return spent > LONGEST or now - self.busy > LONGEST


def _in_session(session):
    """Yield number, name and state of the live processes of a session."""
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError, IndexError):
            before, _, after = (entry / "stat").read_text().rpartition(")")
            fields = after.split()
            if int(fields[3]) == session and fields[0] != "Z":
                yield int(entry.name), before.partition("(")[2], fields


def processes_of(session, name=None):
    """Return the live processes of a session, or those of one name."""
    return [number for number, found, _ in _in_session(session) if name in {None, found}]


def orphans_of(session, seconds=60.0):
    """Return how many processes of a session are still there after a while; they are ended."""
    end = time.monotonic() + seconds
    while True:
        found = processes_of(session)
        if not found or time.monotonic() > end:
            for process in found:
                with contextlib.suppress(OSError):
                    os.kill(process, signal.SIGKILL)
            return len(found)
        time.sleep(0.05)


# --- Files ------------------------------------------------------------------------------------------------------------


def canonical(path):
    """Return what a file says, without times that it records; ValueError where it is not whole."""
    content = path.read_bytes()
    if content == b"old":
        return "old"
    try:
        if path.suffix == ".json":
            found = json.loads(content)
            if isinstance(found, dict) and found.get("format") == "coterie.result/1":
                Result.load(path)
            return json.dumps(_timeless(found))
        if path.suffix == ".csv":
            rows = list(csv.reader(content.decode("utf-8").splitlines()))
            kept = [x for x, name in enumerate(rows[0]) if name != "seconds"]
            return str([[row[x] for x in kept] for row in rows])
        if path.suffix == ".xlsx":
            book = CalamineWorkbook.from_path(str(path))
            return str([(name, book.get_sheet_by_name(name).to_python()) for name in book.sheet_names])
        if path.suffix == ".npz":
            return str(Statistics.load(path).log_sha256)
        if path.suffix == ".html":
            text = content.decode()
            if not text.rstrip().endswith("</html>"):
                raise ValueError("it does not end")
            return text
        if path.suffix == ".png":
            if not content.endswith(b"IEND\xaeB\x60\x82"):
                raise ValueError("it does not end")
            return content.hex()
    except Exception as problem:
        raise ValueError(f"{path.name} is damaged: {problem}") from problem
    return content.hex()


def _timeless(value):
    """Return JSON without how long things took."""
    if isinstance(value, dict):
        return {key: _timeless(item) for key, item in value.items() if key != "seconds"}
    return [_timeless(item) for item in value] if isinstance(value, list) else value


def problems(place, ended, fault, reference):
    """Return everything that is wrong after a run with a fault."""
    found = []
    if "Traceback" in ended.err:
        found.append(f"a traceback: {ended.err[-300:]}")
    if ended.orphans:
        found.append(f"{ended.orphans} processes are left")
    if ended.code is None:
        return [*found, f"no end after {LONGEST} seconds"]
    if wrong := wrong_code(ended, fault):
        found.append(wrong)
    try:
        found += _half_written(place, ended, reference)
    except ValueError as problem:
        found.append(str(problem))
    if not fault.sign and not is_cut_off(ended) and (left := place.left()):  # after these, the next run cleans up
        found.append(f"{left[0].name} is left (exit code {ended.code}): {ended.err[-300:]!r}")
    return found


def is_cut_off(ended):
    """Return whether a library that does not look at what malloc gives it, or the C library itself, ended a run."""
    return ended.code < 0 or ended.code == 127


def wrong_code(ended, fault):
    """Return what is wrong with an exit code and its message; nothing where all is well."""
    by_signal = {signal.SIGKILL: -signal.SIGKILL, signal.SIGINT: 130, signal.SIGTERM: 143}
    words = {130: "interrupted", 143: "terminated"}
    if ended.code == 0:
        return ""
    if fault.sign:
        right = by_signal[fault.sign]
        if ended.code != right:
            return f"exit code {ended.code} instead of {right}: {ended.err[-300:]!r}"
        if right in words and words[right] not in ended.err:
            return f"exit code {right} without a word: {ended.err[-300:]!r}"
        return ""
    if (fault.memory is not None or fault.limit is not None) and is_cut_off(ended):
        return ""
    if ended.code not in {1, 2}:
        return f"exit code {ended.code}: {ended.err[-300:]!r}"
    if "error:" not in ended.err:
        return f"exit code {ended.code} without a message: {ended.err[-300:]!r}"
    return ""


def _half_written(place, ended, reference):
    """Yield what is neither as before nor as it should be."""
    command, found = place.command, place.written()
    interrupted = ended.code == 130  # the best so far is written, which differs
    for name, content in found.items():
        if content != reference.get(name) and not interrupted and not (content == "old" and name in command.old):
            yield f"{name} is neither old nor new (exit code {ended.code})"
    for name in command.old:
        if name not in found:
            yield f"{name} is gone"
    if ended.code == 0 and found.keys() != reference.keys():
        yield f"done, but {', '.join(sorted(reference.keys() - found.keys()))} is missing"
    folder = place.work / command.folder
    if command.folder and found and found.keys() != reference.keys() and not is_unfinished(folder):
        yield f"{command.folder} is half full: {sorted(found)}"


def again(place, reference):
    """Return what is wrong after running once more, without a fault; that it went well once is known."""
    if place.is_untouched():
        return []
    is_done = bool(place.command.folder) and place.written() == reference
    err = (place.folder / "err").read_text(errors="replace")
    if place.command.once:
        shutil.rmtree(place.work / place.command.filling, ignore_errors=True)
    ended = place.run()
    if is_done and ended.code == 2:  # the folder is full; whoever next makes temporary files cleans up
        return []
    found = []
    if ended.code != 0:
        found.append(f"the next run ends with {ended.code}: {ended.err[-300:]!r}")
    elif place.written() != reference:
        found.append("the next run writes something else")
    kept = {Path(name).parent for name in KEPT.findall(err)}
    if left := [path.name for path in place.left() if path not in kept]:
        found.append(f"{left[0]} is left even after the next run")
    return found
