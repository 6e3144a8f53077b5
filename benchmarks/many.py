"""Many agents: games whose pairs are listed, groups that move beside Leiden's, and logs up to certificates.

Each case runs in a process of its own, so that memory is its own. leidenalg and igraph are not needed by the package;
without them their column says so.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.sparse import coo_array, csr_array, triu

import coterie
from coterie import Game
from coterie.certificates.from_statistics import evidence_from
from coterie.solve.control import Control
from coterie.solve.groups import best_groups, potential
from coterie.solve.many import many_profiles
from coterie.statistics.parts import PARTS, Division
from coterie.statistics.statistics import Statistics
from harness import record, table

GAMES = ((1_000, 10_000, 50), (10_000, 100_000, 50), (100_000, 1_000_000, 100))


def weights_of(n: int, pairs: int, seed: int, planted: float) -> csr_array:
    """Return signed weights of about so many pairs; those of one of 20 or more kinds like each other a little."""
    rng = np.random.default_rng(seed)
    i, j = np.sort(rng.integers(n, size=(2, pairs)), axis=0)
    key = np.unique((i * n + j)[i != j])
    i, j = key // n, key % n
    kind = rng.integers(max(20, n // 500), size=n)
    value = rng.normal(size=len(i)) * 0.5 + np.where(kind[i] == kind[j], planted, -0.05)
    both = np.concatenate([i, j]), np.concatenate([j, i])
    return coo_array((np.concatenate([value, value]), both), shape=(n, n)).tocsr()


def timed(work: Any) -> tuple[Any, float]:
    begin = time.perf_counter()
    return work(), time.perf_counter() - begin


def known_game(n: int, pairs: int, k: int) -> dict[str, float]:
    """Time what is asked of a game, and the search by groups; compiling is not counted."""
    warm = weights_of(300, 60_000, 0, 0.5)
    Game(warm, "one", coalitions=200).equilibrium()
    Game(warm, "one", coalitions=200).dynamics(seed=0)
    weights = weights_of(n, pairs, 0, 0.5)
    game, making = timed(lambda: Game(weights, "one", coalitions=k))
    run, dynamics = timed(lambda: game.dynamics(seed=1))
    gap, gap_time = timed(lambda: game.gap(run.strategy))
    height, height_time = timed(lambda: game.potential(run.strategy))
    found, search = timed(lambda: game.equilibrium(0))
    return {
        "game": making, "dynamics": dynamics, "gap": gap_time, "potential": height_time, "search": search,
        "height": height, "reached": game.potential(found.strategy), "left": max(gap, found.value),
    }  # fmt: skip


def beside_leiden(n: int, pairs: int) -> dict[str, Any]:
    """Compare potentials with those of leidenalg, with any number of coalitions."""
    import igraph
    import leidenalg

    best_groups(weights_of(300, 3_000, 0, 0.5), 300, np.random.default_rng(0))
    ratios, ours, theirs = [], 0.0, 0.0
    for seed in range(5):
        for planted in (0.0, 0.5):
            weights = weights_of(n, pairs, seed, planted)
            (_, height), one = timed(lambda w=weights, s=seed: best_groups(w, n, np.random.default_rng(s)))
            upper = triu(weights).tocoo()
            graph = igraph.Graph(n=n, edges=list(zip(upper.row.tolist(), upper.col.tolist(), strict=True)))
            options = {"weights": upper.data.tolist(), "resolution_parameter": 0, "n_iterations": -1, "seed": seed}
            parts, two = timed(
                lambda g=graph, o=options: leidenalg.find_partition(g, leidenalg.CPMVertexPartition, **o)
            )
            ratios.append(height / potential(weights, np.array(parts.membership)))
            ours, theirs = ours + one, theirs + two
    return {"least": min(ratios), "mean": float(np.mean(ratios)), "ours": ours / 10, "theirs": theirs / 10}


def worked(work: Any) -> tuple[Any, float]:
    """Return what comes of work, and the seconds that it took of all cores: others do not add to these."""
    begin = time.process_time()
    return work(), time.process_time() - begin


def write_log(folder: Path, n: int, k: int, samples: int) -> int:
    """Write a log in which everybody is in one of two teams of their own in each sample; return its rows."""
    rng = np.random.default_rng(0)
    one = np.arange(n) % k
    two = (one + rng.integers(1, k, size=n)) % k
    taste = rng.normal(size=(k, n))

    def sample() -> tuple[np.ndarray, ...]:
        room = np.where(rng.random(n) < 0.5, one, two)
        members = [np.flatnonzero(room == l) for l in range(k)]
        pairs = [(inside[i], inside[j]) for inside in members for i, j in [np.triu_indices(len(inside), 1)]]
        i, j = (np.concatenate([pair[side] for pair in pairs]) for side in (0, 1))
        return room, i, j, 0.2 * taste[room[i], i] * taste[room[i], j] + 0.3 * rng.normal(size=len(i))

    return write_samples(folder, n, k, (sample() for _ in range(samples)), with_members=True)


def write_sites(folder: Path, n: int, k: int, samples: int) -> int:
    """Write a log of sites, where one in 200 works at one of two in turn, and is rated by all who are there."""
    rng = np.random.default_rng(0)
    site, travels = np.arange(n) % k, np.arange(n) < n // 200
    other = (site + rng.integers(1, k, size=n)) % k
    taste = rng.normal(size=(k, n))

    def sample() -> tuple[np.ndarray, ...]:
        room = np.where(travels & (rng.random(n) < 0.5), other, site)
        members = [np.flatnonzero(room == l) for l in range(k)]
        pairs = []
        for inside in members:  # those who travel have the smallest numbers, so they come first
            sides = np.triu_indices(np.count_nonzero(travels[inside]), 1, len(inside))
            pairs.append(np.stack([inside[side] for side in sides]))
        i, j = np.concatenate(pairs, axis=1)
        return room, i, j, 0.2 * taste[room[i], i] * taste[room[i], j] + 0.3 * rng.normal(size=len(i))

    return write_samples(folder, n, k, (sample() for _ in range(samples)), with_members=False)


def write_circles(folder: Path, n: int, k: int, samples: int) -> int:
    """Write a log of circles of 21, whose members are in the same room in four samples of five, and rate each other."""
    rng = np.random.default_rng(0)
    circle = np.arange(n) // 21
    i, j = (np.add.outer(np.arange(0, n - 20, 21), side).ravel() for side in np.triu_indices(21, 1))
    mean = 0.1 + 0.4 * rng.normal(size=len(i))

    def sample() -> tuple[np.ndarray, ...]:
        room = np.where(rng.random(n) < 0.8, rng.integers(k, size=n)[circle], rng.integers(k, size=n))
        there = room[i] == room[j]
        return room, i[there], j[there], mean[there] + 0.3 * rng.normal(size=np.count_nonzero(there))

    return write_samples(folder, n, k, (sample() for _ in range(samples)), with_members=False)


def write_samples(
    folder: Path, n: int, k: int, samples: Iterable[tuple[np.ndarray, ...]], *, with_members: bool
) -> int:
    """Write samples, each of them who is where and the pairs with what they get; return the rows of pairs."""
    agents, teams = pa.array([f"p{i:06}" for i in range(n)]), pa.array([f"team {l:03}" for l in range(k)])
    writers: dict[str, pq.ParquetWriter] = {}
    rows = 0
    for number, (room, i, j, values) in enumerate(samples):
        sample = pa.array([f"s{number:04}"])
        tables = {
            "pairs": {
                "sample": coded(np.zeros(len(i)), sample), "coalition": coded(room[i], teams),
                "agent": coded(i, agents), "partner": coded(j, agents), "utility": pa.array(np.clip(values, -1, 1)),
            },
            "memberships": {
                "sample": coded(np.zeros(n), sample), "agent": coded(np.arange(n), agents),
                "coalition": coded(room, teams),
            },
        }  # fmt: skip
        for name, columns in tables.items():
            if name == "memberships" and not with_members:
                continue
            written = pa.table(columns)
            if name not in writers:
                writers[name] = pq.ParquetWriter(folder / f"{name}.parquet", written.schema)
            writers[name].write_table(written)
        rows += len(i)
    for writer in writers.values():
        writer.close()
    return rows


def coded(codes: np.ndarray, values: pa.Array) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), values)


LOGS = {
    "teams": (
        write_log,
        {"actions": "observed-own"},
        "everybody in one of two teams of their own in each sample, may go to these",
    ),
    "sites": (
        write_sites,
        {"actions": "observed-own"},
        "one in 200 at one of two sites in turn, rated by all who are there; all others stay where they are",
    ),
    "circles": (
        write_circles,
        {"actions": "one", "pool_coalitions": True},
        "circles of 21 who are mostly in one room, of any name, and rate each other; may go anywhere",
    ),
}
"""Kinds of logs: how they are written and read, and what they are about."""


def from_a_log(folder: str, kind: str, n: int, k: int, samples: int) -> dict[str, float]:
    """Return what a log takes from its files to a recommendation with its certificate, in seconds of all cores."""
    write, options, _ = LOGS[kind]
    with tempfile.TemporaryDirectory(dir=folder) as name:
        rows = write(Path(name), n, k, samples)
        bare = measured("bare", name)["seconds"]
        (statistics, reading), both = worked(lambda: summed(name, options))
    game = evidence_from(statistics.whole).game(statistics.setting.actions)
    _, searching = worked(lambda: many_profiles(game, Control()))
    learner = coterie.StableLearner(noise="pairs", goal="stability")
    result, learning = worked(lambda: learner.fit(statistics).result_)
    return {
        "rows": rows, "pairs": len(statistics.whole.count), "bare": bare, "reading": reading,
        "reducing": both - reading, "searching": searching, "learning": learning,
        "certificate": result.certificate.gap,
        "range": result.range_gap, "paired": result.certificates["paired"], "holdout": result.certificates["holdout"],
        "median": float(np.median(list(result.certificate.per_agent.values()))),
    }  # fmt: skip


def summed(folder: str, options: dict[str, Any]) -> tuple[Statistics, float]:
    """Return the statistics of a log, which is closed then, and the seconds that reading it took."""
    log, reading = worked(lambda: coterie.read_log(folder, **options))
    return Statistics.for_learning(log, noise="pairs"), reading


def bare_sums(folder: str) -> dict[str, float]:
    """Time DuckDB alone, for sums by the same keys in the same parts."""
    import duckdb

    whole, ends = "md5(concat('0:', sample))", Division.by_shares(PARTS, 0).ends
    part = " ".join(f"WHEN {whole} < '{end:032x}' THEN {index}" for index, end in enumerate(ends[:-1]))
    query = (
        f"SELECT CASE {part} ELSE {len(ends) - 1} END AS part, coalition, agent, partner, count(*), sum(utility), "
        f"sum(utility * utility) FROM '{folder}/pairs.parquet' GROUP BY ALL"
    )
    connection = duckdb.connect(config={"memory_limit": "2304MB", "temp_directory": folder})
    return {"seconds": worked(lambda: connection.sql(query).to_arrow_table())[1]}


CASES = {"game": known_game, "leiden": beside_leiden, "log": from_a_log, "bare": bare_sums}


def measured(case: str, *numbers: object) -> dict[str, Any]:
    """Run a case in a process of its own."""
    command = [sys.executable, __file__, "--case", case, *map(str, numbers)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        return {}
    last = done.stdout.splitlines()[-1]
    print(*command[2:], last, file=sys.stderr, flush=True)
    return json.loads(last)


def games() -> None:
    """Measure games whose pairs are listed, and groups that move."""
    rows = []
    for n, pairs, k in GAMES:
        found = measured("game", n, pairs, k)
        times = [f"{found[name]:.3g}" for name in ("game", "dynamics", "gap", "potential", "search")]
        more = f"{100 * (found['reached'] / found['height'] - 1):.0f} %"
        rows.append([f"{n:,}", f"{pairs:,}", k, *times, more, f"{found['left']:.2g}", f"{found['memory']:.2f}"])
    header = ["agents", "pairs", "coalitions", "game s", "dynamics s", "gap s", "potential s", "groups s",
              "more potential", "gap left", "GB"]  # fmt: skip
    text = table(header, rows)
    text += (
        "\n\n*groups*: `Game.equilibrium`, moves of groups and then best responses; *more potential*: than dynamics."
    )
    if leiden := measured("leiden", 1_000, 10_000):
        text += (
            f"\n\nBeside leidenalg at 1,000 agents and 10,000 pairs, ten games, any number of coalitions: potential "
            f"{leiden['mean']:.4f} times its on average, {leiden['least']:.4f} at least; {leiden['ours']:.2f} s "
            f"against {leiden['theirs']:.2f} s."
        )
    else:
        text += "\n\nleidenalg is not installed, and was not compared with."
    record("Many agents", "python benchmarks/many.py --only games", text)


def logs(folder: str, cases: Sequence[str], beside: int) -> None:
    """Measure logs of many agents, some of them at the same time."""
    numbers = [(kind, *map(int, sizes)) for kind, *sizes in (case.split(":") for case in cases)]
    with ThreadPoolExecutor(beside) as pool:
        every = list(pool.map(lambda case: measured("log", folder, *case), numbers))
    rows = []
    for (kind, n, k, samples), found in zip(numbers, every, strict=True):
        if not found:
            rows.append([kind, f"{n:,}", k, f"{samples} samples", *["failed"] * 12])
            continue
        times = [f"{found[name]:.0f}" for name in ("bare", "reading", "reducing", "searching", "learning")]
        named = ("certificate", "median", "holdout", "paired", "range")
        limits = ["" if found[name] is None else f"{found[name]:.3g}" for name in named]
        counts = [f"{found[name]:,}" for name in ("rows", "pairs")]
        rows.append([kind, f"{n:,}", k, *counts, *times, *limits, f"{found['memory']:.1f}"])
    header = ["log", "agents", "coalitions", "rows", "pairs seen", "bare sums", "reading", "sums", "search", "learning",
              "certificate", "median agent", "`holdout`", "`paired`", "range", "GB"]  # fmt: skip
    told = "\n".join(f"- *{kind}*: {about}." for kind, (_, _, about) in LOGS.items())
    text = (
        f"{table(header, rows)}\n\nTimes are seconds of all cores together. *Bare sums*: DuckDB alone, by the same "
        "keys; *search*: one, on the whole log; *learning*: all searches and certificates (`--goal stability`). "
        "`holdout` and `paired`: each alone, at delta, for what is recommended; no `holdout` where that was learnt "
        f"from all rows.\n\n{told}"
    )
    record("Logs of many agents", "python benchmarks/many.py --only logs", text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", nargs="+", help="one case alone, with its numbers")
    parser.add_argument("--only", choices=("games", "logs"), help="one of the two sections")
    parser.add_argument("--folder", default=tempfile.gettempdir(), help="where logs are written, up to 1 GB each")
    parser.add_argument("--beside", type=int, default=1, help="how many logs are measured at the same time")
    parser.add_argument(
        "--logs",
        default="teams:2500:50:40,teams:10000:50:50,sites:100000:100:40,circles:100000:100:20",
        help="kind, agents, coalitions and samples of each log",
    )
    given = parser.parse_args()
    if given.case:
        name, *numbers = given.case
        found = CASES[name](*(int(one) if one.isdecimal() else one for one in numbers))
        found["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(json.dumps(found))
        return
    if given.only != "logs":
        games()
    if given.only != "games":
        logs(given.folder, given.logs.split(","), given.beside)


if __name__ == "__main__":
    main()
