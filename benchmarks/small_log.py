"""A small log from process start to result, against a bare query for the pair means in a process of its own.

    python benchmarks/small_log.py

10 agents, 5 coalitions, 5000 samples, CSV files; the query does neither check nor certify anything.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from coterie.simulate import Simulation
from harness import record, seconds, table

QUERY = """
import duckdb, sys
duckdb.sql(f"select coalition, agent, partner, count(*), avg(utility) from '{sys.argv[1]}' group by all").fetchall()
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        source = Simulation.draw(10, 5, np.random.default_rng(0))
        source.write_log(log, 5000, table_format="csv")
        pairs = next(log.glob("pairs*.csv"))
        rows = sum(1 for _ in pairs.open(encoding="utf-8")) - 1
        out = str(Path(folder) / "result.json")
        commands = {
            "coterie learn": [sys.executable, "-m", "coterie", "learn", str(log), "--quiet", "--out", out],
            "bare query": [sys.executable, "-c", QUERY, str(pairs)],
        }
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        took = {}
        for name, command in commands.items():
            took[name] = seconds(lambda: subprocess.run(command, check=True, env=environment), 5)  # noqa: B023
    rows_shown = [[name, f"{value:.2f}", f"{value / took['bare query']:.1f}"] for name, value in took.items()]
    text = f"{rows} rows in {pairs.name}; the best of five runs each.\n\n"
    text += table(["process", "seconds", "times the bare query"], rows_shown)
    record("Small log", "python benchmarks/small_log.py", text)


if __name__ == "__main__":
    main()
