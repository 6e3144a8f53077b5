"""How long a command takes from process start to end, in CPU seconds, and what of it cannot be avoided.

    python benchmarks/small_log.py [--against OTHER/src]

Beginning: `--version` and `--help` beside `import numpy` in a process of its own. Small logs: 6 agents, 3 coalitions,
200 samples, of pairs and of totals. A log of 10 agents, 5 coalitions and 5000 samples beside a bare query for its pair
means, which does neither check nor certify anything. With `--against`, the same commands of other sources, run in turn.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from coterie.simulate import Simulation
from harness import record, table

QUERY = """
import duckdb, sys
duckdb.sql(f"select coalition, agent, partner, count(*), avg(utility) from '{sys.argv[1]}' group by all").fetchall()
"""

RUNS = 5


def cpu_seconds(command: list[str], sources: str) -> float:
    """Return user and system time of one process and its threads."""
    path = os.pathsep.join([sources, *sys.path])
    # What Python keeps of sources that it has read is kept as an installed package keeps it.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, env={**environment, "PYTHONPATH": path}, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--against", help="the sources of another version")
    against = parser.parse_args().against
    with tempfile.TemporaryDirectory() as folder:
        logs = {
            "small log of pairs": (6, 3, 200, "semi-bandit"),
            "small log of totals": (6, 3, 200, "bandit"),
            "log of 5000 samples": (10, 5, 5000, "semi-bandit"),
        }
        python, out = sys.executable, str(Path(folder) / "result.json")
        commands = {
            "import numpy": [python, "-c", "import numpy"],
            "coterie --version": [python, "-m", "coterie", "--version"],
            "coterie --help": [python, "-m", "coterie", "--help"],
        }
        for place, (name, (n, k, samples, feedback)) in enumerate(logs.items()):
            log = Path(folder) / str(place)
            Simulation.draw(n, k, np.random.default_rng(0)).write_log(
                log, samples, table_format="csv", feedback=feedback
            )
            commands[f"coterie learn, {name}"] = [python, "-m", "coterie", "learn", str(log), "--quiet", "--out", out]
        commands["bare query, log of 5000 samples"] = [python, "-c", QUERY, str(log / "pairs.csv")]
        versions = [str(Path(__file__).parents[1] / "src"), *([str(Path(against).resolve())] if against else [])]
        took = {name: [float("inf")] * len(versions) for name in commands}
        for _ in range(RUNS):
            for name, command in commands.items():
                for v, sources in enumerate(versions):
                    took[name][v] = min(took[name][v], cpu_seconds(command, sources))
    bare = took["import numpy"][0]
    rows = [
        [name, f"{found[0]:.2f}", f"{found[0] / bare:.1f}", *([f"{found[1] / found[0]:.1f}"] if against else [])]
        for name, found in took.items()
    ]
    header = ["process", "CPU seconds", "times `import numpy`", *(["times as long before"] if against else [])]
    text = f"Everything that starts with the process; the best of {RUNS} runs each.\n\n{table(header, rows)}"
    record("Small log", "python benchmarks/small_log.py", text)


if __name__ == "__main__":
    main()
