"""Runs one reader under a fuzzer that is guided by coverage (atheris, which is libFuzzer): `python -m fuzz.guided`.

Inputs that reach branches which no earlier one reached are kept, and changed further: by libFuzzer, which also knows
what bytes were compared with, or by drawing a new one as the plain fuzzer does. `make fuzz FUZZ="--guided"` starts it
in a process for each reader, since libFuzzer ends the one that it runs in.
"""

import random
import sys
from pathlib import Path

import atheris

LEADING = (
    "coterie.checks", "coterie.errors", "coterie.files", "coterie.log", "coterie.game.rules", "coterie.game.truth",
    "coterie.game.strategy", "coterie.game.admissible", "coterie.learn.result", "coterie.cli", "json", "csv",
)  # fmt: skip
"""What leads: whatever reads. Compiled kernels are not among them, since numba does not take code that counts."""

with atheris.instrument_imports(include=list(LEADING), enable_loader_override=False):
    from fuzz.__main__ import drawn, keep
    from fuzz.readers import READERS, Defect, a_folder, execute

SOUND = 50
"""How many inputs of the plain fuzzer it begins with."""


def main():
    """Run `READER SEED SECONDS EXECUTIONS`; libFuzzer says on stderr how many there were."""
    name, seed, seconds, executions = sys.argv[1], *map(int, sys.argv[2:5])
    seen = set()
    with a_folder() as place:
        folder, corpus = Path(place) / "run", Path(place) / "corpus"
        folder.mkdir()
        corpus.mkdir()
        for number in range(SOUND):
            (corpus / str(number)).write_bytes(drawn(name, seed, number))

        def one(content):
            try:
                execute(READERS[name], content, folder)
            except Defect as problem:
                keep(name, content, seed, problem, seen)

        def changed(content, most, chance):
            if chance % 4:
                return atheris.Mutate(content, most)
            return READERS[name].draw(random.Random(chance))[:most]

        limits = [f"-seed={seed % 2**31 + 1}", f"-max_total_time={seconds}", f"-runs={executions}", "-max_len=65536"]
        atheris.Setup(
            [sys.argv[0], *limits, "-timeout=60", "-rss_limit_mb=0", str(corpus)], one, custom_mutator=changed
        )
        atheris.Fuzz()


if __name__ == "__main__":
    main()
