"""The second pass over totals: every sum again in plain NumPy, on every engine, and what ends it."""

from collections import defaultdict

import numpy as np
import pytest

import coterie
from coterie.errors import InputError
from coterie.simulate.growing import Reading, setting_of
from coterie.simulate.logs import Simulation
from coterie.statistics import second_pass
from coterie.statistics.in_memory import reduced
from coterie.statistics.parts import Division
from coterie.statistics.second_pass import Directions, SecondPass
from coterie.statistics.statistics import Statistics
from coterie.statistics.total_statistics import edge_index

ZERO = 0.25
SHARES = (0.3, 0.7)
CERTIFYING = 1


def asked(setting, *, joint, count=7):
    """Some directions among all, in no order, and a centre."""
    rng = np.random.default_rng(5)
    regressions, unknowns = (1, len(edge_index(setting))) if joint else (setting.n_agents, setting.n_features)
    return Directions(
        rng.normal(size=(count, unknowns)),
        rng.integers(regressions, size=count),
        rng.normal(size=(regressions, unknowns)),
        ZERO,
        joint,
    )


def expected_own(oracle, directions, *, sized, dependent):
    """w x'u (v - x'centre) of each total, and the terms that its noise consists of."""
    squares, widest, steepest, reach = (np.zeros(len(directions.solved)) for _ in range(4))
    for agent, x, v in oracle.problems(CERTIFYING, sized=sized):
        c = x.sum()
        if not c:
            continue
        residual = v - c * ZERO - x @ directions.centre[agent]
        weight = 1 / c**2 if dependent else 1 / c
        for d in np.flatnonzero(directions.regression == agent):
            step = weight * x @ directions.solved[d]
            terms = np.array([c * step]) if dependent else np.full(int(c), step)
            squares[d] += (step * residual) ** 2
            widest[d] = max(widest[d], terms @ terms)
            steepest[d] = max(steepest[d], np.abs(terms).max())
            reach[d] = max(reach[d], np.abs(terms).sum())
    return squares, widest, steepest, reach


def expected_joint(oracle, directions):
    """u'Z^+ (v - Z centre) of each sample with the pseudo-inverse itself, and u'Z^+ Z."""
    n = len(oracle.agents)
    tables = 1 if oracle.pooled else len(oracle.coalitions)
    place = {
        edge: e for e, edge in enumerate((l, i, j) for l in range(tables) for i in range(n) for j in range(i + 1, n))
    }
    samples = defaultdict(list)
    for sample, name, value in oracle.tables.totals:
        if oracle.part(sample) == CERTIFYING:
            samples[sample].append((name, value))
    squares, widest, steepest, reach = (np.zeros(len(directions.solved)) for _ in range(4))
    for sample, rows in samples.items():
        z = np.zeros((len(rows), len(place)))
        for row, (name, _) in enumerate(rows):
            for coalition in oracle.coalitions:
                team = oracle.teams.get((sample, coalition), [])
                for other in team if name in team else ():
                    if other != name:
                        i, j = sorted((oracle.agents.index(name), oracle.agents.index(other)))
                        z[row, place[oracle.table(coalition), i, j]] += 1
        totals = np.array([value for _, value in rows])
        inverse = np.linalg.pinv(z)
        y = directions.solved @ inverse @ (totals - z @ (directions.centre[0] + ZERO))
        steps = directions.solved @ inverse @ z
        squares += y**2
        widest = np.maximum(widest, (steps**2).sum(axis=1))
        steepest = np.maximum(steepest, np.abs(steps).max(axis=1))
        reach = np.maximum(reach, np.abs(steps).sum(axis=1))
    return squares, widest, steepest, reach


def assert_found(found, expected):
    for ours, theirs in zip(columns(found), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
    assert found.squares.any()


def totals_log(tables, *, pooled=False, symmetric=True, **engine):
    pool = {"pool_coalitions": True, "coalitions": 3, "actions": "any"} if pooled else {}
    return coterie.Log.from_frames(**tables.frames("memberships", "totals"), symmetric=symmetric, **pool, **engine)


@pytest.mark.parametrize("sizes", ["ignore", "aware"])
@pytest.mark.parametrize("noise", ["pairs", "samples"])
@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("symmetric", [False, True])
def test_each_agents_own_regression(tables, oracle, sizes, noise, pooled, symmetric):
    log_tables = tables(31, n=4, samples=60, symmetric=symmetric)
    log = totals_log(log_tables, pooled=pooled, symmetric=symmetric)
    statistics = Statistics.of(log, sizes=sizes, noise=noise)
    directions = asked(statistics.setting, joint=False)
    found = SecondPass.of_log(log, statistics).residuals(directions)
    truth = oracle(log_tables, pooled=pooled, symmetric=symmetric)
    assert_found(found, expected_own(truth, directions, sized=sizes == "aware", dependent=noise == "samples"))


@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("waiting", [1, 10, 1 << 14])
def test_the_joint_regression(tables, oracle, pooled, waiting, monkeypatch):
    monkeypatch.setattr(second_pass, "KEPT_SAMPLES", waiting)
    log_tables = tables(32, n=4, samples=80)
    log = totals_log(log_tables, pooled=pooled)
    statistics = Statistics.of(log, joint=True)
    directions = asked(statistics.setting, joint=True)
    found = SecondPass.of_log(log, statistics).residuals(directions)
    assert_found(found, expected_joint(oracle(log_tables, pooled=pooled), directions))


@pytest.mark.parametrize("joint", [False, True])
def test_samples_in_memory_are_read_as_those_of_a_log(tmp_path, joint):
    def simulation():
        return Simulation.draw(4, 3, np.random.default_rng(3))

    simulation().write_log(tmp_path / "log", 90, feedback="bandit", table_format="parquet")
    log = coterie.read_log(tmp_path / "log")
    statistics = Statistics.of(log, joint=joint, parts=SHARES)
    source = simulation()
    (batch,) = source.batches(90)
    part = Division.by_shares(SHARES, 0).of(str(number) for number in range(1, 91))
    ours = reduced(batch, part, setting_of(source, "bandit", Reading(joint=joint), SHARES), joint=joint)
    directions = asked(statistics.setting, joint=joint)
    in_memory = SecondPass.of_batches([(batch, part)], ours).residuals(directions)
    assert_found(SecondPass.of_log(log, statistics).residuals(directions), columns(in_memory))


def columns(found):
    return found.squares, found.widest, found.steepest, found.reach


def test_spark_reads_again_what_duckdb_reads(tables, tmp_path, spark):
    folder = tables(33, n=4, samples=60).write(tmp_path / "log", "memberships", "totals")
    found = []
    for options in ({}, {"spark": spark}):
        log = coterie.read_log(folder, **options)
        statistics = Statistics.of(log, joint=True)
        again = SecondPass.of_log(log, statistics)
        found.append([again.residuals(asked(statistics.setting, joint=joint)) for joint in (False, True)])
    for duckdb, cluster in zip(*found, strict=True):
        assert_found(cluster, columns(duckdb))


def test_a_pass_may_be_ended_and_tells_how_far_it_is(tables):
    log = totals_log(tables(34, samples=60))
    statistics = Statistics.of(log)
    told = []
    SecondPass.of_log(log, statistics).residuals(
        asked(statistics.setting, joint=False), lambda done, of_all: told.append((done, of_all))
    )
    totals = statistics.certifying.rows
    assert told[0] == (0, totals)
    assert told[-1] == (totals, totals)

    def ends(_done, _all):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        SecondPass.of_log(log, statistics).residuals(asked(statistics.setting, joint=False), ends)


def test_another_log_is_refused(tables):
    statistics = Statistics.of(totals_log(tables(35, samples=60)))
    other = totals_log(tables(36, samples=50))
    with pytest.raises(InputError, match="has changed"):
        SecondPass.of_log(other, statistics).residuals(asked(statistics.setting, joint=False))


def test_where_there_is_nothing_to_read_again(tables):
    log_tables = tables(37, samples=40)
    bandit, pairs = totals_log(log_tables), coterie.Log.from_frames(**log_tables.frames())
    assert SecondPass.of_log(bandit, Statistics.of(bandit)) is not None
    assert SecondPass.of_log(bandit, Statistics.of(bandit, parts=(1.0,))) is None
    assert SecondPass.of_log(pairs, Statistics.of(pairs)) is None
    adaptive = coterie.Log.from_frames(**log_tables.frames("memberships", "totals"), adaptive=True)
    assert SecondPass.of_log(adaptive, Statistics.of(adaptive)) is None
    unbounded = coterie.Log.from_frames(**log_tables.frames("memberships", "totals"), sigma=0.5)
    assert SecondPass.of_log(unbounded, Statistics.of(unbounded)) is None
