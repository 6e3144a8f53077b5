"""Spark at three sizes: rows per second, what is shuffled, and the second pass of certificates from totals.

    python benchmarks/spark.py [--cases rows,warned,totals] [--rows 0.5,2,8] [--warned 0.1,0.3,1] [--totals 20,60,200]

Each case has a section of its own. `--rows` are millions of rows of a semi-bandit log (100 agents, 5 coalitions) that
is read, checked and summed, `--warned` the same for what warnings are made from, `--totals` thousands of samples of a
bandit log (20 agents, 3 coalitions), of which the certifying part is read a second time. Needs Java. Spark runs in
local mode on this machine, so this says what the work costs and how it grows, not what a network does to it.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import numpy as np

import coterie
from coterie.simulate import Simulation
from coterie.statistics.second_pass import Directions, SecondPass
from coterie.statistics.statistics import Statistics
from harness import record, table

DIRECTIONS = 500
"""So many directions are asked for in the second pass."""

NOTES = {
    "rows": (
        "Semi-bandit logs of 100 agents and 5 coalitions. Checks shuffle a hash of each row; sums (`Statistics.of` "
        "with `clues=False`) shuffle what each task has added up, one line for each pair, coalition and part, of which "
        "so many were found."
    ),
    "warned": (
        "The same logs, smaller: sums with what warnings are made from (`clues=True`), which compares rows with means "
        "of their pair, and so shuffles rows."
    ),
    "totals": (
        "Bandit logs of 20 agents and 3 coalitions, of which four fifths are read again for 500 directions. Totals are "
        "streamed sample by sample to the process that adds up their matrices."
    ),
}
EVERYWHERE = "Spark in local mode on both cores, Parquet; exponents are fitted to the seconds of all sizes."


def session() -> Any:
    """A session that tells what its stages shuffled, through its own pages."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    made = SparkSession.builder.master("local[2]").appName("coterie benchmark")
    for key, value in {
        "spark.ui.enabled": "true",
        "spark.ui.showConsoleProgress": "false",
        "spark.ui.retainedStages": "100000",
        "spark.sql.shuffle.partitions": "8",
        "spark.log.level": "ERROR",
        "spark.driver.memory": "4g",
    }.items():
        made = made.config(key, value)
    return made.getOrCreate()


def shuffled(spark: Any) -> int:
    """Bytes that all stages so far have written for others to read."""
    context = spark.sparkContext
    address = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/stages"
    with urlopen(address) as answer:  # noqa: S310  (the session's own page)
        return sum(int(stage["shuffleWriteBytes"]) for stage in json.load(answer))


def measured(spark: Any, work: Any) -> tuple[Any, float, int]:
    """Return what work returns, its seconds, and the bytes it shuffled."""
    before, start = shuffled(spark), time.perf_counter()
    found = work()
    took = time.perf_counter() - start
    time.sleep(0.5)  # the page is a little behind
    return found, took, shuffled(spark) - before


@dataclass(frozen=True)
class Pass:
    """One pass over a log."""

    name: str
    rows: int
    seconds: float
    shuffled: int
    sums: int | None = None
    """How many sums were found, where it is sums that are shuffled."""

    def line(self) -> list[str]:
        """A line of the table."""
        per_second = f"{self.rows / self.seconds:,.0f}"
        sums = "" if self.sums is None else f"{self.sums:,}"
        return [self.name, f"{self.rows:,}", f"{self.seconds:.1f}", per_second, f"{self.shuffled:,}", sums]


def one_each(n: int, k: int) -> Simulation:
    """A game with utilities between -1 and 1 in which everybody is in one coalition."""
    means = np.random.default_rng(0).uniform(-0.5, 0.5, (k, n, n))
    game = coterie.Game((means + means.transpose(0, 2, 1)) / 2 * ~np.eye(n, dtype=bool), actions="one")
    return Simulation.from_game(game, utility_range=(-1, 1))


def pairs_log(folder: Path, millions: float) -> None:
    """Write a semi-bandit log of about so many million rows."""
    n, k = 100, 5
    one_each(n, k).write_log(folder, int(millions * 1e6 / (n * (n / k - 1) / 2)), table_format="parquet")


def of_pairs(spark: Any, folder: Path, millions: float) -> list[Pass]:
    """Reading and checking a semi-bandit log, and its sums."""
    pairs_log(folder, millions)
    log, reading, hashed = measured(spark, lambda: coterie.read_log(folder, spark=spark, actions="one"))
    found, seconds, sent = measured(spark, lambda: Statistics.of(log, parts=(0.2, 0.8), clues=False))
    sums = sum(len(part.count) for part in found.parts)
    return [
        Pass("pairs, reading and checks", log.rows, reading, hashed),
        Pass("pairs, sums", log.rows, seconds, sent, sums),
    ]


def of_warnings(spark: Any, folder: Path, millions: float) -> list[Pass]:
    """What warnings about a semi-bandit log are made from, its sums included."""
    pairs_log(folder, millions)
    log = coterie.read_log(folder, spark=spark, actions="one")
    _, seconds, sent = measured(spark, lambda: Statistics.of(log, parts=(0.2, 0.8)))
    return [Pass("pairs, sums and warnings", log.rows, seconds, sent)]


def of_totals(spark: Any, folder: Path, thousands: float) -> list[Pass]:
    """The sums of a bandit log, and what its certifying part says about directions that are fixed by then."""
    n, k, samples = 20, 3, int(1000 * thousands)
    source = one_each(n, k)
    source.write_log(folder, samples, feedback="bandit", table_format="parquet")
    log = coterie.read_log(folder, spark=spark, actions="one")
    found, seconds, sent = measured(spark, lambda: Statistics.of(log, parts=(0.2, 0.8)))
    second, unknowns, rng = SecondPass.of_log(log, found), found.setting.n_features, np.random.default_rng(0)
    assert second is not None
    asked = Directions(
        rng.normal(size=(DIRECTIONS, unknowns)) / 1000, rng.integers(n, size=DIRECTIONS), np.zeros((n, unknowns)), 0.0,
        joint=False,
    )  # fmt: skip
    _, again, sent_again = measured(spark, lambda: second.residuals(asked))
    return [
        Pass("totals, sums", samples * n, seconds, sent),
        Pass("totals, second pass", samples * n, again, sent_again),
    ]


def exponent(passes: list[Pass]) -> float:
    """The slope of the line through the logarithms of rows and seconds."""
    rows, seconds = (np.log([getattr(one, name) for one in passes]) for name in ("rows", "seconds"))
    return float(np.polyfit(rows, seconds, 1)[0])


def table_of(passes: list[Pass]) -> str:
    """All passes, each kind with the exponent of seconds in rows."""
    lines: list[list[str]] = []
    for name in dict.fromkeys(one.name for one in passes):
        some = [one for one in passes if one.name == name]
        lines += [one.line() for one in some]
        lines.append([f"{name}: exponent", "", f"{exponent(some):.2f}", "", "", ""])
    return table(["what", "rows", "seconds", "rows per second", "bytes shuffled", "sums"], lines)


CASES = {
    "rows": ("Spark: reading and sums", of_pairs),
    "warned": ("Spark: warnings", of_warnings),
    "totals": ("Spark: totals, and the second pass of their certificates", of_totals),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--rows", default="0.5,2,8", help="millions of rows, the smallest first")
    parser.add_argument("--warned", default="0.1,0.3,1", help="millions of rows that warnings are made from")
    parser.add_argument("--totals", default="20,60,200", help="thousands of samples, the smallest first")
    options = parser.parse_args()
    spark = session()
    for case in options.cases.split(","):
        title, run = CASES[case]
        asked = getattr(options, case)
        first, *_ = several = [float(one) for one in asked.split(",")]
        passes: list[Pass] = []
        for number, size in enumerate([first, *several]):
            with tempfile.TemporaryDirectory() as folder:
                found = run(spark, Path(folder) / "log", size)
            passes += found if number else []  # the first one also starts Java's compilers
            print(*(" ".join(one.line()) for one in found), sep="\n", flush=True)
        command = f"python benchmarks/spark.py --cases {case} --{case} {asked}"
        record(title, command, f"{table_of(passes)}\n\n{EVERYWHERE} {NOTES[case]}")


if __name__ == "__main__":
    main()
