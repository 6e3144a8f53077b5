"""Spark at three sizes: rows per second, what is shuffled, and the second pass of certificates from totals.

    python benchmarks/spark.py [--rows 1,3,10] [--totals 20,60,200]

`--rows` are millions of rows of a semi-bandit log (100 agents, 5 coalitions), `--totals` thousands of samples of a
bandit log (20 agents, 3 coalitions), of which the certifying part is read a second time. Needs Java. Spark runs in
local mode on this machine, so this says what the work costs and how it grows, not what a network does to it.
"""

import argparse
import json
import math
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

NOTE = (
    "Spark in local mode on both cores, Parquet; semi-bandit logs of 100 agents and 5 coalitions, bandit logs of "
    "20 agents and 3 coalitions, of which four fifths are read again for 500 directions. What is shuffled of "
    "pairs are sums, one for each pair, coalition and part; totals are streamed sample by sample to the process "
    "that adds up their matrices."
)


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

    def line(self) -> list[str]:
        """A line of the table."""
        per_second = f"{self.rows / self.seconds:,.0f}"
        return [self.name, f"{self.rows:,}", f"{self.seconds:.1f}", per_second, f"{self.shuffled:,}"]


def one_each(n: int, k: int) -> Simulation:
    """A game with utilities between -1 and 1 in which everybody is in one coalition."""
    means = np.random.default_rng(0).uniform(-0.5, 0.5, (k, n, n))
    game = coterie.Game((means + means.transpose(0, 2, 1)) / 2 * ~np.eye(n, dtype=bool), actions="one")
    return Simulation.from_game(game, utility_range=(-1, 1))


def of_pairs(spark: Any, folder: Path, millions: float) -> list[Pass]:
    """The sums of a semi-bandit log."""
    n, k = 100, 5
    source = one_each(n, k)
    source.write_log(folder, int(millions * 1e6 / (n * (n / k - 1) / 2)), table_format="parquet")
    log = coterie.read_log(folder, spark=spark, actions="one")
    found, seconds, sent = measured(spark, lambda: Statistics.of(log, parts=(0.2, 0.8)))
    return [Pass("pairs, sums", int(found.whole.count.sum()), seconds, sent)]


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


def table_of(passes: list[Pass]) -> str:
    """All passes, each kind with the exponent of seconds in rows, from the smallest log to the largest."""
    lines: list[list[str]] = []
    for name in dict.fromkeys(one.name for one in passes):
        some = [one for one in passes if one.name == name]
        lines += [one.line() for one in some]
        grown, longer = some[-1].rows / some[0].rows, some[-1].seconds / some[0].seconds
        lines.append([f"{name}: exponent", "", f"{math.log(longer) / math.log(grown):.2f}", "", ""])
    return table(["what", "rows", "seconds", "rows per second", "bytes shuffled"], lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default="1,3,10", help="millions of rows, the smallest first")
    parser.add_argument("--totals", default="20,60,200", help="thousands of samples, the smallest first")
    options = parser.parse_args()
    spark, passes = session(), []
    for run, sizes in ((of_pairs, options.rows), (of_totals, options.totals)):
        first, *_ = several = [float(one) for one in sizes.split(",")]
        for number, size in enumerate([first, *several]):
            with tempfile.TemporaryDirectory() as folder:
                found = run(spark, Path(folder) / "log", size)
            passes += found if number else []  # the first one also starts Java's compilers
    command = f"python benchmarks/spark.py --rows {options.rows} --totals {options.totals}"
    record("Spark", command, f"{table_of(passes)}\n\n{NOTE}")


if __name__ == "__main__":
    main()
