"""Run all benchmarks; each rewrites its section of RESULTS.md."""

import subprocess
import sys
from pathlib import Path

BENCHMARKS = (
    "game.py", "simulate.py", "log.py", "certificates.py", "solve.py", "choices.py", "learn.py", "small_log.py",
    "few_data.py", "any_areas.py", "expected_values.py", "posterior.py", "collect.py", "teams.py", "best_stable.py",
    "size_policy.py", "many.py", "rivals.py", "growth.py", "roll_calls.py", "spark.py",
)  # fmt: skip

for name in BENCHMARKS:
    print(f"--- {name}", flush=True)
    subprocess.run([sys.executable, str(Path(__file__).parent / name)], check=True)
