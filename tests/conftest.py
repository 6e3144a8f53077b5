"""Small random logs, and every statistic computed again in plain Python."""

import csv
import hashlib
import math
import os
import shutil
import signal
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import map_rows
from coterie import from_scipy

# Workers share the cores. Threads of linear algebra that tests call by itself would wait for each other there, which
# costs a multiple of the time; what users call has one thread anyway (`coterie.threads`, tests/test_threads.py).
from_scipy.load()  # what is loaded later would have threads of its own
threadpool_limits(1, user_api="blas")

# A shell that runs tests in the background has them, and all that they start, ignore Ctrl-C, which some of them send.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


def pytest_itemcollected(item):
    """Spark takes many seconds to start: whatever needs it is slow, and shares one worker and its session.

    Items are marked as they are collected, before xdist looks at them.
    """
    if "spark" in getattr(item, "fixturenames", ()):
        item.add_marker(pytest.mark.slow)
        item.add_marker(pytest.mark.xdist_group("spark"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """A test or script that the map of the paper cites must run the functions that the map says it is about."""
    check = map_rows.check_of(item.nodeid)
    if check not in map_rows.cited():
        return (yield)
    with map_rows.traced(map_rows.requirements(check)) as left:
        result = yield
    missing = "; ".join(what for what, _ in left)
    assert not missing, f"docs/paper/paper-map.md cites {check}, which does not run {missing}"
    return result


@dataclass(frozen=True)
class Tables:
    """A log as lists of rows."""

    memberships: list
    pairs: list
    totals: list

    COLUMNS = SimpleNamespace(
        memberships=("sample", "agent", "coalition"),
        pairs=("sample", "coalition", "agent", "partner", "utility"),
        totals=("sample", "agent", "utility"),
    )

    def write(self, folder, *tables, separator=","):
        folder.mkdir(parents=True, exist_ok=True)
        for table in tables or ("memberships", "pairs"):
            with (folder / f"{table}.csv").open("w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file, delimiter=separator)
                writer.writerow(getattr(self.COLUMNS, table))
                writer.writerows(getattr(self, table))
        return folder

    def frames(self, *tables):
        names = tables or ("memberships", "pairs")
        return {
            table: {
                column: [row[index] for row in getattr(self, table)]
                for index, column in enumerate(getattr(self.COLUMNS, table))
            }
            for table in names
        }

    def only(self, samples):
        kept = [[row for row in table if row[0] in samples] for table in (self.memberships, self.pairs, self.totals)]
        return Tables(*kept)

    @property
    def samples(self):
        return sorted({row[0] for row in self.memberships})


def make_tables(seed=0, n=5, k=3, samples=40, *, symmetric=True, several=True, observed=0.8, low=-1.0, high=1.0):
    """Return a random log in which agents may be absent, alone, or in several coalitions."""
    rng = np.random.default_rng(seed)
    memberships, pairs, totals = [], [], []
    for m in range(samples):
        sample, joined = f"s{m}", defaultdict(list)
        for i in range(n):
            if rng.random() < 0.15:
                continue
            how_many = int(rng.integers(1, k + 1)) if several else 1
            for l in sorted(rng.choice(k, size=how_many, replace=False).tolist()):
                joined[l].append(i)
                memberships.append((sample, f"a{i}", f"c{l}"))
        sums = dict.fromkeys(range(n), 0.0)
        for l, team in joined.items():
            for i in team:
                for j in team:
                    if i == j or (symmetric and i > j):
                        continue
                    value = round(float(rng.uniform(low, high)), 3)
                    sums[i] += value
                    if symmetric:
                        sums[j] += value
                    if rng.random() < observed:
                        pairs.append((sample, f"c{l}", f"a{i}", f"a{j}", value))
        present = sorted({i for team in joined.values() for i in team})
        totals += [(sample, f"a{i}", sums[i]) for i in present if rng.random() < observed]
    order = rng.permutation(len(pairs))
    return Tables(memberships, [pairs[t] for t in order], totals)


class Oracle:
    """The statistics of a log, one row at a time."""

    def __init__(self, tables, *, symmetric=True, pooled=False, seed=0, low=-1.0, high=1.0, neutral=0.0):
        self.tables, self.symmetric, self.pooled = tables, symmetric, pooled
        self.seed, self.low, self.high, self.neutral = seed, low, high, neutral
        self.agents = sorted({row[1] for row in tables.memberships})
        self.coalitions = sorted({row[2] for row in tables.memberships})
        self.teams = defaultdict(list)
        for sample, agent, coalition in tables.memberships:
            self.teams[sample, coalition].append(agent)

    def part(self, sample):
        digits = hashlib.md5(f"{self.seed}:{sample}".encode()).hexdigest()
        return 0 if int(digits, 16) < 2**127 else 1

    def fixed(self, value, terms=1):
        return math.floor((value - terms * self.low) / (terms * (self.high - self.low)) * 2**30 + 0.5)

    def table(self, coalition):
        return 0 if self.pooled else self.coalitions.index(coalition)

    def entries(self, part, *, sized=False):
        found = defaultdict(lambda: [0, 0, 0])
        for sample, coalition, agent, partner, value in self.tables.pairs:
            if self.part(sample) == part:
                i, j = self.agents.index(agent), self.agents.index(partner)
                if self.symmetric:
                    i, j = min(i, j), max(i, j)
                key = (self.table(coalition), i, j) + ((len(self.teams[sample, coalition]),) if sized else ())
                q = self.fixed(value)
                found[key][0] += 1
                found[key][1] += q
                found[key][2] += q * q
        return {key: [count, total, *divmod(squares, 2**30)] for key, (count, total, squares) in found.items()}

    def size_counts(self, part):
        samples = [sample for sample in self.tables.samples if self.part(sample) == part]
        counts = np.zeros((len(self.coalitions), len(self.agents) + 1), dtype=int)
        for l, coalition in enumerate(self.coalitions):
            for sample in samples:
                counts[l, len(self.teams.get((sample, coalition), []))] += 1
        return counts

    def feature(self, i, coalition, j, size=None):
        place = self.table(coalition) * (len(self.agents) - 1) + j - (j > i)
        return place if size is None else place * (len(self.agents) - 1) + size - 2

    def dimension(self, *, sized=False):
        n = len(self.agents)
        return (n - 1) * (1 if self.pooled else len(self.coalitions)) * ((n - 1) if sized else 1)

    def cooccurrence(self, part, agent, *, sized=False):
        """sum over samples of x x', x counting the observed pairs of the agent."""
        total = np.zeros((self.dimension(sized=sized),) * 2, dtype=int)
        for sample in self.tables.samples:
            if self.part(sample) == part:
                x = np.zeros(len(total), dtype=int)
                for s, coalition, first, second, _ in self.tables.pairs:
                    ends = [(first, second)] + ([(second, first)] if self.symmetric else [])
                    for i, j in ends:
                        if s == sample and self.agents.index(i) == agent:
                            size = len(self.teams[sample, coalition]) if sized else None
                            x[self.feature(agent, coalition, self.agents.index(j), size)] += 1
                total += np.outer(x, x)
        return total

    def problems(self, part, *, sized=False):
        """Yield agent, x and v of every observed total of a part, v counted from the neutral point."""
        for sample, name, value in self.tables.totals:
            if self.part(sample) == part:
                agent = self.agents.index(name)
                x = np.zeros(self.dimension(sized=sized))
                for coalition in self.coalitions:
                    team = self.teams.get((sample, coalition), [])
                    if name in team:
                        for other in team:
                            if other != name:
                                size = len(team) if sized else None
                                x[self.feature(agent, coalition, self.agents.index(other), size)] += 1
                yield agent, x, value - x.sum() * self.neutral

    def least_squares(self, part, agent, weight, *, sized=False):
        d = self.dimension(sized=sized)
        gram, moment, squares, rows = np.zeros((d, d)), np.zeros(d), 0.0, 0
        for i, x, v in self.problems(part, sized=sized):
            if i == agent:
                rows += 1
                if x.sum():
                    w = weight(x.sum())
                    gram += w * np.outer(x, x)
                    moment += w * x * v
                    squares += w * v * v
        return gram, moment, squares, rows


@pytest.fixture(scope="session")
def tables():
    return make_tables


@pytest.fixture(scope="session")
def oracle():
    return Oracle


@pytest.fixture(scope="session")
def csv_log(tmp_path_factory):
    """Write texts as a log: csv_log(pairs="...", memberships="...", json="...") -> folder."""

    def write(**texts):
        folder = tmp_path_factory.mktemp("log")
        for name, text in texts.items():
            target = folder / ("log.json" if name == "json" else f"{name}.csv")
            target.write_bytes(text if isinstance(text, bytes) else text.encode())
        return folder

    return write


@pytest.fixture(scope="session")
def unvotes():
    """Roll calls of the United Nations as a log: members are those who voted, pairs agree or not."""
    file = SHARED / "unvotes" / "votes.csv"
    if not file.exists():
        pytest.skip("the UN roll calls are not on this machine")
    memberships, pairs = [], []
    with file.open(encoding="utf-8") as text:
        reader = csv.DictReader(text)
        states = reader.fieldnames[5:]
        for row in reader:
            votes = {state: int(row[state]) for state in states if row[state]}
            for issue in row["issues"].split("|"):
                memberships += [(row["rcid"], state, issue) for state in votes]
                listed = list(votes)
                pairs += [
                    (row["rcid"], issue, i, j, 1.0 - abs(votes[i] - votes[j]))
                    for a, i in enumerate(listed)
                    for j in listed[a + 1 :]
                ]
    return Tables(memberships, pairs, [])


COMPILING = "spark.sql.codegen.factoryMode"
"""What says whether Spark compiles the expressions of each query, or computes them as they stand."""


@pytest.fixture(scope="session")
def spark():
    """A local Spark session, or a skip that says what is missing."""
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java")
    java = shutil.which("java") or str(Path(os.environ["JAVA_HOME"]) / "bin" / "java")
    if subprocess.run([java, "-version"], capture_output=True, check=False).returncode:
        pytest.skip("Java does not run")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # Java is to begin quickly, and never to be as fast as it could be.
    os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    from coterie.log.spark import local_session

    session = local_session(threads=2)
    # A query on a small log is mostly planning, compiling and its number of tasks.
    for key, value in {
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
        COMPILING: "NO_CODEGEN",
    }.items():
        session.conf.set(key, value)
    yield session
    session.stop()


@pytest.fixture
def compiling(spark):
    """The session, with expressions compiled, as Spark does unless told otherwise."""
    spark.conf.set(COMPILING, "FALLBACK")
    yield spark
    spark.conf.set(COMPILING, "NO_CODEGEN")
