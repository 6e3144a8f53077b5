"""What teams and rounds got as a whole: the same from tables and from memory, in any order, added, saved and loaded."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from coterie import Log
from coterie.certificates.from_statistics import evidence_from
from coterie.learn.beliefs import beliefs_from
from coterie.statistics.noise import with_noise
from coterie.statistics.shared import MOST_EDGES, can_share, edge_of, n_edges, tell_luck
from coterie.statistics.statistics import Statistics
from coterie.statistics.total_statistics import JointSums


def rated(seed, *, rounds=4, people=6, first=0, symmetric=False):
    rng, rows, members = np.random.default_rng(seed), [], []
    for m in range(first, first + rounds):
        for t, team in enumerate(rng.permutation(people).reshape(-1, 3)):
            members += [(f"r{m:03}", f"p{i}", f"t{t}") for i in team]
            rows += [
                (f"r{m:03}", f"t{t}", f"p{i}", f"p{j}", float(rng.integers(-5, 6)))
                for i in team
                for j in team
                if (i < j if symmetric else i != j)
            ]
    ratings = dict(zip(("sample", "coalition", "agent", "partner", "utility"), zip(*rows, strict=True), strict=True))
    memberships = dict(zip(("sample", "agent", "coalition"), zip(*members, strict=True), strict=True))
    tables = {"pairs": pa.table(ratings), "memberships": pa.table(memberships)}
    return Log.from_frames(**tables, utility_range=(-10, 10), pool_coalitions=True, symmetric=symmetric), rows


def made(log, noise="samples"):
    return Statistics.of(log, noise=noise, clues=False)


@pytest.mark.parametrize("symmetric", [False, True])
def test_the_sums_are_what_they_say(symmetric):
    log, rows = rated(0, symmetric=symmetric)
    statistics = made(log)
    setting, shared = statistics.setting, statistics.shared
    for one, columns in zip(shared, ((0, 1), (0,)), strict=True):
        groups = {}
        for row in rows:
            groups.setdefault(tuple(row[c] for c in columns), []).append(row)
        matrix, moment, squares = np.zeros((n_edges(setting),) * 2), np.zeros(n_edges(setting)), 0.0
        for group in groups.values():
            i, j = (np.array([int(row[c][1:]) for row in group]) for c in (2, 3))
            z = np.zeros(n_edges(setting))
            np.add.at(z, edge_of(setting, np.zeros_like(i), i, j), 1.0)
            total, terms = sum(row[4] for row in group), z @ z
            matrix, moment, squares = (
                matrix + np.outer(z, z) / terms,
                moment + z * total / terms,
                squares + total**2 / terms,
            )
        assert np.allclose(one.projections, matrix)
        assert np.allclose(one.moments, moment)
        assert np.allclose(one.scores, (squares, len(groups)))


def test_they_can_be_added_widened_saved_and_loaded(tmp_path):
    (ours, _), (theirs, _) = rated(1), rated(2, first=4)
    one, other = made(ours), made(theirs)
    added = one + other
    for t, sums in enumerate(added.shared):
        assert np.allclose(sums.projections, one.shared[t].projections + other.shared[t].projections)
    added.save(tmp_path / "sums")
    loaded = Statistics.load(tmp_path / "sums")
    assert all((a.moments == b.moments).all() for a, b in zip(loaded.shared, added.shared, strict=True))
    wider = one.with_agents(("new",))
    assert wider.shared[0].projections.shape == (n_edges(wider.setting),) * 2
    assert np.isclose(wider.shared[0].projections.sum(), one.shared[0].projections.sum())


def test_they_are_the_same_whatever_is_independent_and_none_where_there_are_too_many():
    log, _ = rated(3)
    statistics = made(log)
    for other in (made(log, "pairs"), with_noise(statistics, "pairs")):
        for one, same in zip(statistics.shared, other.whole.shared, strict=True):
            assert (one.projections == same.projections).all()
            assert (one.moments == same.moments).all()
    many = replace(statistics.setting, agents=tuple(f"p{i:03}" for i in range(MOST_EDGES)))
    assert can_share(statistics.setting, 100)
    assert not can_share(many, 100)


@pytest.mark.parametrize("newcomers", [1, 12])
def test_newcomers_change_nothing_that_is_expected_of_others(newcomers):
    log, _ = rated(4, rounds=12)
    statistics = made(log)
    wider = statistics.with_agents([f"q{i:02}" for i in range(newcomers)])
    n, middles = len(statistics.agents), []
    for one in (statistics, wider):
        assert one.whole.shared
        middles.append(beliefs_from(evidence_from(one.whole), symmetric=False).middle[:, :n, :n])
    assert n_edges(wider.setting) > MOST_EDGES or newcomers == 1
    assert np.allclose(*middles)


def test_luck_of_teams_is_told_only_where_rounds_had_several():
    def sums(teams, rounds):
        return tuple(JointSums(np.eye(1), np.ones(1), np.array([1.0, each, each])) for each in (teams, rounds))

    assert tell_luck(sums(20, 10))
    assert not tell_luck(sums(19, 10))
    assert not tell_luck(sums(0, 0))
    assert not tell_luck(())
