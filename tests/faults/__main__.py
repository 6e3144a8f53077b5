"""`make faults`: what happens when something fails at every place where commands write, and between them.

Commands are run in forks of this process with a fault: a write, fsync, renaming or opening that fails, a signal, a
disk that is full, no memory, a clock that jumps. After each, nothing may be half-written or left behind, and the next
run must give what a run without a fault gives. What happened is counted in a table, and added up in a file.
"""

import argparse
import contextlib
import errno
import importlib
import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path

COUNTS = Path("build/faults.json")
HERE = Path(__file__).parent
ERRORS = {"no space": errno.ENOSPC, "no permission": errno.EACCES, "failing disk": errno.EIO}
SIGNALS = {"interrupt": signal.SIGINT, "terminate": signal.SIGTERM}
MB = 1 << 20
MEMORY = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
"""How many MB of memory there are on top of what the imported package takes."""

LIMITS = tuple(range(128, 1793, 128))
"""How many MB of address space a process has in all, from its beginning on."""

DISKS = (0, 4, 8, 16, 64, 256, 1024)
"""How many KB are left on disks that become full; they are given away in pieces of 4."""

KINDS = (
    "errors",
    "kills at writes",
    "kills",
    "signals at writes",
    "signals",
    "disks",
    "memory",
    "limits",
    "clock",
    "spark",
)


def main():
    """Run what the command line asks for; the exit code is 1 where something is wrong."""
    asked = _arguments()
    _with_layer()
    from faults.commands import commands, make_inputs
    from faults.runs import Command, Place

    counts = Counter(json.loads(asked.counts.read_text())) if asked.counts.exists() else Counter()
    seed = asked.seed if asked.seed is not None else sum(counts.values())
    new, defects, begun = Counter(), Counter(), time.monotonic()
    place = Path(tempfile.mkdtemp(prefix="faults-"))
    os.chmod(place, 0o755)  # noqa: PTH101
    try:
        (place / "nothing").mkdir()
        made = Place(place / "made", place / "nothing", Command("inputs", make_inputs))
        if (ended := made.run()).code != 0:
            raise RuntimeError(f"inputs cannot be made: {ended.err}")
        chosen = [one for one in commands() if not asked.commands or one.name in asked.commands]
        if unknown := set(asked.commands) - {one.name for one in chosen}:
            raise SystemExit(f"unknown command {min(unknown)!r}; there are {', '.join(one.name for one in commands())}")
        _import_everything(made.work, chosen, place)
        _compile_templates(made.work)
        for command in chosen:
            trials = Trials(command, made.work, place, random.Random(f"{seed}:{command.name}"), new, defects)
            for _ in trials.carried_out(asked, _weight(command) / sum(map(_weight, chosen))):
                _keep(asked, counts, new)
        if "spark" in asked.kinds:
            from faults.spark import with_spark

            with_spark(made.work, place / "spark", new, defects)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    counts = _keep(asked, counts, new)
    _report(asked, counts, new, defects, seed, time.monotonic() - begun)
    return 1 if defects else 0


def _weight(command):
    """Return how many kills a command has for one of others: of those that take long there are fewer."""
    return 1 if command.stride == 1 else 1 / 4


def _keep(asked, counts, new):
    """Write down what was counted so far, over all runs; return it."""
    both = counts + new
    asked.counts.parent.mkdir(parents=True, exist_ok=True)
    asked.counts.write_text(json.dumps(both, indent=2) + "\n")
    return both


class Trials:
    """All faults of one command."""

    def __init__(self, command, inputs, place, rng, counts, defects):
        from faults.runs import COUNTING

        self.command, self.inputs, self.place, self.rng = command, inputs, place, rng
        self.counts, self.defects, self.number = counts, defects, 0
        plain = self._at()
        first = plain.run(COUNTING)
        self.reference = plain.written()
        if first.code != 0 or not (self.reference or not self._writes) or plain.left():
            raise RuntimeError(f"{command.name}: without a fault: {first}, {plain.left()}")
        plain.clear()
        self.operations, self.stages = first.operations, first.stages
        timed = self._at()
        self.seconds = timed.run().seconds
        timed.clear()
        sys.stdout.write(f"{command.name}: {self.operations} operations, {self.stages} stages, {self.seconds:.1f} s\n")
        sys.stdout.flush()

    @property
    def _writes(self):
        return bool(self.command.files or self.command.folder or self.command.filling)

    def _at(self):
        from faults.runs import Place

        self.number += 1
        return Place(self.place / f"{self.command.name.replace(' ', '-')}-{self.number}", self.inputs, self.command)

    def carried_out(self, asked, share):
        """Let everything happen that was asked for, one after the other; `share` is that of the kills."""
        for kind in asked.kinds:
            if kind.startswith(("signals", "limits")) and callable(self.command.words):
                continue  # in Python, signals are its own
            for fault in self._faults(kind, asked, share):
                self.one(fault)
                yield fault

    def one(self, fault):
        """Let a fault happen, look at what there is, and run again."""
        from faults.runs import again, problems

        here = self._at()
        try:
            ended = here.run(fault)
            found = problems(here, ended, fault, self.reference)
            found += again(here, self.reference)
        except Exception as problem:  # noqa: BLE001  (a defect of ours is seen, and does not end everything)
            found, ended = [f"{type(problem).__name__}: {problem}"], None
        outcome = "?" if ended is None else _outcome(ended)
        self.counts[f"{fault.kind}|{self.command.name}|{outcome}"] += 1
        for one in found:
            self.defects[f"{fault.kind}: {self.command.name}: {one}"] += 1
            sys.stdout.write(f"found: {self.command.name}: {fault}: {one}\n")
            sys.stdout.flush()
        here.clear()

    def _faults(self, kind, asked, share):
        from faults.runs import Fault

        every = asked.every * self.command.stride
        places = list(range(1 + self.rng.randrange(every), self.operations + 1, every))
        stages = list(range(1 + self.rng.randrange(every), self.stages + 1, every))
        count = math.ceil(asked.kills * share)
        if kind == "errors":
            for name, error in ERRORS.items():
                for operation in places:
                    # A disk stays full, or fails once; which of them, chance decides.
                    yield Fault(name, error=error, operation=operation, lasting=self.rng.random() < 0.5)
        elif kind == "kills at writes":
            for operation in places:
                yield Fault("kill at a write", operation=operation, sign=signal.SIGKILL)
        elif kind == "kills":
            for _ in range(count):
                yield Fault("kill", sign=signal.SIGKILL, after=self.rng.uniform(0, 1.05 * self.seconds))
        elif kind == "signals at writes":
            for operation in places:
                name, sign = self.rng.choice(list(SIGNALS.items()))
                yield Fault(f"{name} at a write", operation=operation, sign=sign)
        elif kind == "signals":
            for name, sign in SIGNALS.items():
                for stage in stages:
                    yield Fault(f"{name} in a stage", stage=stage, sign=sign)
                for _ in range(-(-count // 4)):
                    yield Fault(name, sign=sign, after=self.rng.uniform(0, 1.05 * self.seconds))
        elif kind == "memory":
            for size in MEMORY[self.rng.randrange(asked.every) :: asked.every]:
                yield Fault("no memory", memory=size * MB)
        elif kind == "limits":
            for size in LIMITS[self.rng.randrange(asked.every) :: asked.every]:
                yield Fault("limited memory", limit=size * MB)
        elif kind == "clock":
            for jump in (86_400, -86_400):
                yield Fault("clock", clock=jump)
        elif kind == "disks":
            yield from self._disks()

    def _disks(self):
        """Real disks, where they can be mounted."""
        from faults.runs import Fault

        if reason := cannot_mount(self.place):
            self.counts[f"full disk|{self.command.name}|skipped: {reason}"] += 1
            return
        for size in DISKS:
            yield Fault("full disk", disk=partial(mounted, free=size * 1024))
        yield Fault("read-only disk", disk=partial(mounted, free=MB, writable=False))


def _outcome(ended):
    if ended.code is None:
        return "no end"
    if ended.code < 0:
        return signal.Signals(-ended.code).name
    return {0: "done", 1: "failed, said why", 2: "refused, said why"}.get(ended.code, str(ended.code))


def cannot_mount(place):
    """Return why disks cannot be mounted here; nothing where they can."""
    if os.geteuid() != 0:
        return "only root mounts disks"
    trial = Path(place) / "mount"
    trial.mkdir(exist_ok=True)
    tried = subprocess.run(["mount", "-t", "tmpfs", "none", trial], check=False, capture_output=True, text=True)
    if tried.returncode != 0:
        return tried.stderr.strip() or "mounting fails"
    subprocess.run(["umount", trial], check=True)
    return ""


@contextlib.contextmanager
def mounted(folder, *, free, writable=True):
    """Put a small disk where a folder is, with what is in it and some free space; take what is there then back."""
    aside = folder.with_name("aside")
    shutil.copytree(folder, aside)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "none", folder], check=True)
    shutil.copytree(aside, folder, dirs_exist_ok=True)
    shutil.rmtree(aside)
    disk = os.statvfs(folder)
    size = (disk.f_blocks - disk.f_bfree) * disk.f_frsize + free
    subprocess.run(["mount", "-o", f"remount,size={size}{'' if writable else ',ro'}", folder], check=True)
    try:
        yield
    finally:
        shutil.copytree(folder, aside)
        subprocess.run(["umount", "-l", folder], check=True)
        shutil.rmtree(folder)
        aside.rename(folder)


def _with_layer():
    """Start again with the layer loaded, which is compiled first."""
    if os.environ.get("COTERIE_FAULTS_LAYER"):
        return
    compiler = shutil.which(sysconfig.get_config_var("CC").split()[0] if sysconfig.get_config_var("CC") else "cc")
    compiler = compiler or shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        sys.stdout.write("skipped: the layer that fails needs Linux and a C compiler\n")
        sys.exit(0)
    folder = Path(tempfile.mkdtemp(prefix="faults-layer-"))
    made = folder / "layer.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", made, HERE / "layer.c", "-ldl"], check=True)
    environment = {**os.environ, "LD_PRELOAD": str(made), "COTERIE_FAULTS_LAYER": str(made)}
    environment |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MPLCONFIGDIR": str(folder)}
    try:
        code = subprocess.run([sys.executable, "-m", "faults", *sys.argv[1:]], env=environment, check=False).returncode
    finally:
        shutil.rmtree(folder)
    sys.exit(code)


def _import_everything(inputs, chosen, place):
    """Load what the commands load, so that runs begin at once: each is run to see what that is."""
    from coterie.memory import use_linear_algebra
    from faults.runs import Place

    for number, command in enumerate(chosen):
        here = Place(place / f"loading-{number}", inputs, command)
        for name in here.loaded():
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
        here.clear()
    use_linear_algebra()  # as commands do first where memory is limited


def _compile_templates(inputs):
    """Compile the template of reports once for all runs, as modules are loaded once."""
    import jinja2

    from coterie.learn.result import Result
    from coterie.report.page import report_html

    compiled, compile_ = {}, jinja2.Environment.compile

    def once(environment, source, *given):
        if source not in compiled:
            compiled[source] = compile_(environment, source, *given)
        return compiled[source]

    jinja2.Environment.compile = once
    report_html(Result.load(inputs / "old.json"))


def _arguments():
    parser = argparse.ArgumentParser(description="Faults at every place where commands write, and between them.")
    parser.add_argument("commands", nargs="*", help="by default all")
    parser.add_argument("--kinds", default=",".join(KINDS), help=f"of {', '.join(KINDS)}")
    parser.add_argument("--kills", type=int, default=200, help="so many at random times, all commands together")
    parser.add_argument("--every", type=int, default=1, help="only every so-many-th place and stage")
    parser.add_argument("--seed", type=int, help="by default the number of faults so far: a new run is new faults")
    parser.add_argument("--counts", type=Path, default=COUNTS, help="where faults of all runs are added up")
    asked = parser.parse_args()
    asked.kinds = [kind.strip() for kind in asked.kinds.split(",") if kind.strip()]
    if unknown := [kind for kind in asked.kinds if kind not in KINDS]:
        parser.error(f"unknown kind {unknown[0]!r}; there are {', '.join(KINDS)}")
    return asked


def _report(asked, counts, new, defects, seed, seconds):
    say = sys.stdout.write
    say(f"{'fault':24}{'command':28}{'runs':>6}  outcomes   (all runs)\n")
    rows = {}
    for key, number in counts.items():
        fault, command, outcome = key.split("|")
        rows.setdefault((fault, command), Counter())[outcome] += number
    for (fault, command), outcomes in sorted(rows.items()):
        said = ", ".join(f"{outcome} {number:,}" for outcome, number in outcomes.most_common())
        say(f"{fault:24}{command:28}{outcomes.total():>6,}  {said}\n")
    say(
        f"\n{new.total():,} faults in {seconds:,.0f} s (seed {seed}), {counts.total():,} in all runs ({asked.counts}); "
    )
    say(f"{defects.total():,} defects\n")


if __name__ == "__main__":
    sys.exit(main())
