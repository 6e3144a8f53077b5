"""Time and memory of reading and reducing logs, against bare queries on the same files.

    python benchmarks/log.py [--scale 1.0] [--cases reduce,checks,...] [--folder DIR]

Every measurement runs in a process of its own, so that its peak memory is its own. With scale 1
the log has 20 million pair rows (200 agents, 5 coalitions), the bandit log 500,000 samples and
the long log 100 million rows.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from coterie.statistics.statistics import Statistics
from harness import record, seconds, table

AGENTS, COALITIONS = 200, 5
REPEATS = {"reduce": 5, "sizes": 2, "checks": 2}
"""How often a case is run; others once."""


def members_query(samples, chance):
    """Everybody is there with some chance, in one coalition at random."""
    return (
        f"SELECT 's' || s AS sample, 'agent' || a AS agent, 'c' || (hash(s * 1000 + a + 7) % {COALITIONS}) AS "
        f"coalition FROM range({samples}) t(s), range({AGENTS}) u(a) WHERE hash(s * 1000 + a) % 1000 < {chance}"
    )


def make_pairs(folder, samples, parts=1):
    """A semi-bandit log: about 67 pair rows per sample."""
    import duckdb

    run = duckdb.connect().execute
    for part in range(parts):
        for name in ("memberships", "pairs"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        members, pairs = (f"{folder}/{name}/{part}.parquet" for name in ("memberships", "pairs"))
        listed = f"SELECT * REPLACE ('p{part}' || sample AS sample) FROM ({members_query(samples, 130)})"
        run(f"COPY ({listed}) TO '{members}'")
        run(
            f"COPY (SELECT m.sample, m.coalition, m.agent, p.agent AS partner, "
            f"(hash(m.sample || m.agent || p.agent) % 20001) / 10000.0 - 1 AS utility FROM '{members}' m "
            f"JOIN '{members}' p ON m.sample = p.sample AND m.coalition = p.coalition AND m.agent < p.agent) "
            f"TO '{pairs}'"
        )


def make_totals(folder, samples):
    """A bandit log: about 22 memberships per sample."""
    import duckdb

    from coterie.log import queries

    folder.mkdir(parents=True)
    run = duckdb.connect().execute
    members = f"{folder}/memberships.parquet"
    run(f"COPY ({members_query(samples, 109)}) TO '{members}'")
    run(
        f"COPY (SELECT sample, agent, terms * ((hash(sample || agent) % 20001) / 10000.0 - 1) AS utility FROM "
        f"({queries.terms(repr(members))})) TO '{folder}/totals.parquet'"
    )


def bare(folder, *queries):
    """Queries in DuckDB directly, with the same settings."""
    import duckdb

    from coterie.log.engine import default_memory

    connection = duckdb.connect()
    connection.execute("SET enable_progress_bar = false")
    connection.execute(f"SET temp_directory = '{folder}/spill'")
    connection.execute(f"SET memory_limit = '{default_memory(os.cpu_count() or 1)}'")
    for name in ("pairs", "memberships"):
        connection.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet('{folder}/{name}/*.parquet')")
    return lambda: [connection.sql(text).to_arrow_table() for text in queries]


def task(folder, **options):
    """An unchecked log, ready to be reduced: what is timed is the reduction alone."""
    from coterie.log.checking import match_columns
    from coterie.log.engine import DuckDBEngine
    from coterie.log.tables import find_log
    from coterie.statistics.reduce import Reduction
    from coterie.statistics.setting import Setting

    engine = DuckDBEngine()
    for source in find_log(folder)[0]:
        engine.load(source, match_columns(source, source.table, engine.types(source), {}))
        engine.view(
            {"pairs": "ratings", "memberships": "members"}[source.table], f"SELECT * FROM {engine.name(source.table)}"
        )
    agents = tuple(f"agent{i}" for i in range(AGENTS))
    coalitions = tuple(f"c{l}" for l in range(COALITIONS))
    settings = {"sizes": "ignore", "noise": "pairs", "shares": (0.5, 0.5), "seed": 0, **options}
    return Reduction(
        engine,
        Setting("semi-bandit", agents, coalitions, True, (-1.0, 1.0), 0.0, None, False, "any", "any", **settings),
        0,
        (-1.0, 1.0),  # as the checks found out before
    )


GROUPED = "count(*), sum(utility), sum(utility * utility)"
SPLIT = "md5('0:' || sample) < '8'"
SIZED = "JOIN (SELECT sample, coalition, count(*) AS size FROM memberships GROUP BY ALL) USING (sample, coalition)"
MEMBER = "SELECT 1 FROM memberships m WHERE m.sample = p.sample AND m.coalition = p.coalition AND m.agent"
ROW_CHECKS = """SELECT count(*), count_if(sample = '' OR agent = '' OR partner = '' OR coalition = ''),
    count_if(agent = partner), count_if(NOT isfinite(utility)), count_if(utility NOT BETWEEN -1 AND 1) FROM pairs"""
PAIR_REPEATS = """SELECT count(*) FROM (SELECT 1 FROM pairs GROUP BY sample, coalition, least(agent, partner),
    greatest(agent, partner) HAVING count(*) > 1)"""
BARE_CHECKS = [
    ROW_CHECKS,
    "SELECT count(*) FROM (SELECT 1 FROM memberships GROUP BY sample, agent, coalition HAVING count(*) > 1)",
    PAIR_REPEATS,
    f"SELECT count(*) FROM pairs p WHERE NOT EXISTS ({MEMBER} = p.agent) OR NOT EXISTS ({MEMBER} = p.partner)",
]


def polars_reduction(folder):
    import polars as pl

    rows = pl.scan_parquet(f"{folder}/pairs/*.parquet").group_by("coalition", "agent", "partner")
    query = rows.agg(pl.len(), pl.col("utility").sum().alias("s"), (pl.col("utility") ** 2).sum().alias("q"))
    return lambda: query.collect(engine="streaming")


def our_reduction(folder, **options):
    from coterie.statistics.reduce import pair_sums

    reduction = task(folder, **options)
    return lambda: pair_sums(reduction, reduction.division).sums()


def our_checks(folder):
    from coterie.log import checking, tables
    from coterie.log.checking import match_columns
    from coterie.log.engine import DuckDBEngine
    from coterie.log.options import settled

    engine, sources = DuckDBEngine(), tables.find_log(folder)[0]
    for source in sources:
        engine.load(source, match_columns(source, source.table, engine.types(source), {}))
    return lambda: checking.check(engine, sources, settled({}))


def everything(folder):
    """Reading, checking and reducing, as a user does it."""
    import coterie

    return lambda: Statistics.of(coterie.read_log(folder), clues=False)


def bandit(folder):
    import coterie

    log = coterie.read_log(folder, actions="one", symmetric=False, memory_limit="200MB")
    return lambda: Statistics.of(log)


def on_spark(folder):
    """The statistics on Spark, after its start and after the checks."""
    import coterie
    from coterie.log.spark import local_session

    log = coterie.read_log(folder, spark=local_session(threads=2), actions="one")
    return lambda: Statistics.of(log, parts=(1.0,), clues=False)


PLAIN = f"SELECT coalition, agent, partner, {GROUPED} FROM pairs GROUP BY ALL"
HALVES = f"SELECT {SPLIT} AS part, coalition, agent, partner, {GROUPED} FROM pairs GROUP BY ALL"
BY_SIZE = f"SELECT coalition, agent, partner, size, {GROUPED} FROM pairs {SIZED} GROUP BY ALL"

MEASUREMENTS = {
    "reduce": [
        ("bare DuckDB query, no split", lambda at: bare(at / "log", PLAIN)),
        ("coterie, reduction, no split", lambda at: our_reduction(at / "log", shares=(1.0,))),
        ("Polars streaming, no split", lambda at: polars_reduction(at / "log")),
        ("bare DuckDB query, two halves", lambda at: bare(at / "log", HALVES)),
        ("coterie, reduction, two halves", lambda at: our_reduction(at / "log")),
    ],
    "sizes": [
        ("bare DuckDB query, size-aware, no split", lambda at: bare(at / "log", BY_SIZE)),
        (
            "coterie, reduction, size-aware, no split",
            lambda at: our_reduction(at / "log", shares=(1.0,), sizes="aware"),
        ),
    ],
    "checks": [
        ("bare DuckDB queries for the same checks", lambda at: bare(at / "log", *BARE_CHECKS)),
        ("coterie, all checks", lambda at: our_checks(at / "log")),
    ],
    "all": [("coterie, read, check and reduce to two halves", lambda at: everything(at / "log"))],
    "bandit": [("coterie, bandit Gram matrices, two halves", lambda at: bandit(at / "bandit"))],
    "long": [
        ("coterie, reduction of the long log, two halves", lambda at: our_reduction(at / "long")),
        ("coterie, all checks of the long log", lambda at: our_checks(at / "long")),
    ],
    "spark": [("coterie on Spark local[2], no split", lambda at: on_spark(at / "log"))],
}


NOTE = f"""

{AGENTS} agents, {COALITIONS} coalitions, Parquet. Bare queries sum floats and check nothing; ours sum fixed-point \
integers. The reduction is that one pass; the lines of a case take turns in one process, and each line's memory is \
that of a process of its own. For the bandit log DuckDB was limited to 200 MB; matrices of agents who join several \
coalitions at once take 1.6 GB by themselves. Spark's memory is Java's and is not counted."""


def times(case, folder):
    """The best time of each line of a case, and its CPU time; lines take turns, so that all see the same machine."""
    actions = [prepare(folder) for _, prepare in MEASUREMENTS[case]]
    best = [(float("inf"), float("inf"))] * len(actions)
    for _ in range(REPEATS.get(case, 1)):
        for line, action in enumerate(actions):
            begun = time.process_time()
            taken = seconds(action, 1)
            best[line] = (min(best[line][0], taken), min(best[line][1], time.process_time() - begun))
    return best


def peak_memory():
    """The largest resident memory of this process in GB (Linux counts it since the last exec)."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 2**20 for line in lines if line.startswith("VmHWM"))


def measured(what, folder):
    """Run one measurement in a fresh process."""
    command = [sys.executable, __file__, "--one", what, "--folder", str(folder)]
    output = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(output.stdout.splitlines()[-1])


def measure(what, folder):
    """Return the times of a case, or for case:line that line's peak memory."""
    case, _, line = what.partition(":")
    if not line:
        return times(case, folder)
    MEASUREMENTS[case][int(line)][1](folder)()
    return peak_memory()


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--scale", type=float, default=1.0)
    options.add_argument("--cases", default=",".join(MEASUREMENTS))
    options.add_argument("--folder", type=Path)
    options.add_argument("--one", help="for our own processes")
    given = options.parse_args()
    if given.one:
        print(json.dumps(measure(given.one, given.folder)))
        return
    folder = Path(tempfile.mkdtemp(prefix="coterie-bench-", dir=given.folder))
    cases = given.cases.split(",")
    rows = []
    try:
        if {"reduce", "sizes", "checks", "all", "spark"} & set(cases):
            make_pairs(folder / "log", int(300_000 * given.scale))
        if "bandit" in cases:
            make_totals(folder / "bandit", int(500_000 * given.scale))
        if "long" in cases:
            make_pairs(folder / "long", int(300_000 * given.scale), parts=5)
        for case in cases:
            taken = measured(case, folder)
            for line, (what, _) in enumerate(MEASUREMENTS[case]):
                peak = "" if case == "spark" else f"{measured(f'{case}:{line}', folder):.2f}"
                # Spark works in a process of its own.
                rows.append((what, f"{taken[line][0]:.2f}", "" if case == "spark" else f"{taken[line][1]:.2f}", peak))
                print(*rows[-1], flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    command = f"python benchmarks/log.py --scale {given.scale:g}"
    command += f" --cases {given.cases}" if cases != list(MEASUREMENTS) else ""
    record("Logs", command, table(["what", "seconds", "CPU seconds", "peak GB"], rows) + NOTE)


if __name__ == "__main__":
    main()
