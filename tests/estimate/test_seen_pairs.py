"""What is listed for many agents, against arrays over all pairs."""

from dataclasses import replace
from zlib import crc32

import numpy as np
import pytest

import coterie
from coterie import Strategy, TooLargeError
from coterie.certificates.from_statistics import evidence_from
from coterie.certificates.gains import worst_deviations
from coterie.certificates.holdout import fixed
from coterie.certificates.likely import likely_gap
from coterie.certificates.paired import paired
from coterie.game.actions import ActionSpaces, ExplicitSets, UpTo
from coterie.statistics.statistics import Statistics

LIMIT = "coterie.statistics.pair_statistics.DENSE_AGENTS"

KINDS = {
    "plain": {},
    "asymmetric": {"symmetric": False},
    "pooled": {"pool_coalitions": True, "coalitions": 3},
    "missing": {"missing": "worst"},
    "pooled, missing": {"pool_coalitions": True, "coalitions": 3, "missing": "worst"},
    "adaptive": {"adaptive": True},
    "pooled, adaptive": {"pool_coalitions": True, "coalitions": 3, "adaptive": True},
    "sigma": {"sigma": 0.7},
}


def statistics_of(tables, kind, noise="pairs", seed=3):
    options = KINDS[kind]
    rows = tables(seed, n=7, symmetric=options.get("symmetric", True), observed=0.6)
    # Of six samples in seven nothing was recorded in the first coalition: some pairs were never seen there.
    kept = [row for row in rows.pairs if row[1] != rows.pairs[0][1] or crc32(row[0].encode()) % 7 == 0]
    return Statistics.of(coterie.Log.from_frames(**replace(rows, pairs=kept).frames(), **options), noise=noise)


def both(part, monkeypatch):
    """Return the evidence of all pairs, and that of those that were seen."""
    dense = evidence_from(part)
    with monkeypatch.context() as patch:
        patch.setattr(LIMIT, 0)
        listed = evidence_from(part)
    assert dense.values.ndim == 3
    assert listed.unknowns.is_listed
    return dense, listed


def profiles(statistics, most, count=6):
    spaces = ActionSpaces.shared(UpTo(len(statistics.coalitions), most, True), len(statistics.agents))
    for sets in spaces.sample(1, count):
        yield Strategy.pure(sets, statistics.agents, statistics.coalitions), spaces


@pytest.mark.parametrize("most", [1, 3], ids=["disjoint", "overlapping"])
@pytest.mark.parametrize("kind", KINDS)
def test_certificates_are_those_of_arrays(tables, kind, most, monkeypatch):
    statistics = statistics_of(tables, kind)
    dense, listed = both(statistics.whole, monkeypatch)
    assert (listed.estimate.moments.count > 0).sum() <= dense.estimate.moments.count.size
    for strategy, spaces in profiles(statistics, most):
        for form in ("box", "union"):
            one, two = (paired(evidence, strategy, spaces, 0.1, form=form) for evidence in (dense, listed))
            if form == "box" or "pooled" not in kind:
                assert two.per_agent == pytest.approx(one.per_agent, abs=1e-12)
                assert two.worst.bound == pytest.approx(one.worst.bound, abs=1e-12)
            assert len(two.worst.doubts) == len(one.worst.doubts)
        for form in ("hoeffding", "bernstein"):
            one, two = (fixed(evidence, strategy, spaces, 0.1, form=form) for evidence in (dense, listed))
            if form == "bernstein" and "pooled" in kind and most == 1:
                # The largest step is that of the rooms that somebody leaves and joins, not that of all rooms.
                assert all(two.per_agent[agent] <= bound + 1e-12 for agent, bound in one.per_agent.items())
            else:
                assert two.per_agent == pytest.approx(one.per_agent, abs=1e-12)
                assert two.gap == pytest.approx(one.gap, abs=1e-12)
        likely = [likely_gap(evidence, strategy, spaces, 0.1) for evidence in (dense, listed)]
        assert likely[1] == (None if likely[0] is None else pytest.approx(likely[0], abs=1e-9))
        games = [evidence.game(spaces) for evidence in (dense, listed)]
        assert games[0].gap(strategy) == pytest.approx(games[1].gap(strategy), abs=1e-12)
        assert (
            worst_deviations(listed.range_bound(listed.design(strategy)), spaces).largest
            == worst_deviations(dense.range_bound(dense.design(strategy)), spaces).largest
        )
    assert listed.assumptions() == dense.assumptions()


@pytest.mark.parametrize("kind", ["plain", "pooled", "asymmetric"])
def test_samples_may_depend(tables, kind, monkeypatch):
    statistics = statistics_of(tables, kind, noise="samples")
    without_matrices = replace(statistics.whole, together=None)
    dense, listed = both(without_matrices, monkeypatch)
    for strategy, spaces in profiles(statistics, 1):
        one, two = (fixed(evidence, strategy, spaces, 0.1) for evidence in (dense, listed))
        assert two.per_agent == pytest.approx(one.per_agent, abs=1e-12)


@pytest.mark.parametrize("kind", ["plain", "pooled", "asymmetric"])
def test_parts_that_saw_other_pairs_expect_the_same(tables, kind, monkeypatch):
    statistics = statistics_of(tables, kind)
    pairs = [both(part, monkeypatch) for part in (statistics.certifying, statistics.learning)]
    (dense, dense_learning), (listed, listed_learning) = zip(*pairs, strict=True)
    for strategy, spaces in profiles(statistics, 1):
        one = fixed(dense.preview(dense_learning), strategy, spaces, 0.1, form="hoeffding")
        two = fixed(listed.preview(listed_learning), strategy, spaces, 0.1, form="hoeffding")
        assert two.per_agent == pytest.approx(one.per_agent, abs=1e-12)
        one = fixed(dense, strategy, spaces, 0.1, learning=dense_learning)
        two = fixed(listed, strategy, spaces, 0.1, learning=listed_learning)
        assert two.per_agent == pytest.approx(one.per_agent, abs=1e-9)
        without = fixed(dense, strategy, spaces, 0.1)
        assert one.per_agent != without.per_agent  # so the width that knows variances was in use


@pytest.mark.parametrize("noise", ["pairs", "samples"])
@pytest.mark.parametrize("kind", ["plain", "pooled", "missing", "sigma"])
def test_moves_from_room_to_room_are_looked_at_as_such(tables, kind, noise, monkeypatch):
    statistics = statistics_of(tables, kind, noise)
    _, certifying = both(statistics.certifying, monkeypatch)
    _, learning = both(statistics.learning, monkeypatch)

    def certified(strategy, spaces):
        return [
            paired(certifying, strategy, spaces, 0.1, form="box"),
            *(fixed(certifying, strategy, spaces, 0.1, form=form) for form in ("hoeffding", "bernstein", "both")),
            fixed(certifying, strategy, spaces, 0.1, learning=learning),
        ]

    for stays_out in (True, False):
        spaces = ActionSpaces.shared(UpTo(len(statistics.coalitions), 1, stays_out), len(statistics.agents))
        if stays_out:  # where some may go to some rooms alone
            own = np.eye(4, 3, -1, dtype=bool)
            spaces = ActionSpaces(tuple(ExplicitSets(own[[0, 1, 2 + i % 2][i % 3 :]]) for i in range(7)))
        for sets in spaces.sample(2, 4):
            strategy = Strategy.pure(sets, statistics.agents, statistics.coalitions)
            one_by_one = certified(strategy, spaces)
            with monkeypatch.context() as patch:
                patch.setattr("coterie.certificates.gains.MANY", 0)
                as_singles = certified(strategy, spaces)
            for one, two in zip(one_by_one, as_singles, strict=True):
                assert two.per_agent == pytest.approx(one.per_agent, abs=1e-12)
                bounds = [{name: witness.bound for name, witness in found.alternatives.items()} for found in (one, two)]
                assert bounds[1] == pytest.approx(bounds[0], abs=1e-12)


def test_what_is_for_fewer_agents_says_so(tables, monkeypatch):
    statistics = statistics_of(tables, "pooled")
    _, listed = both(statistics.whole, monkeypatch)
    uniform = Strategy.uniform(statistics.setting.actions, statistics.agents, statistics.coalitions)
    with pytest.raises(TooLargeError, match="this one is mixed"):
        listed.design(uniform)
    with pytest.raises(TooLargeError, match="this log has 7"):
        listed.unknowns.chances(uniform.marginals)
    monkeypatch.setattr("coterie.estimate.seen_pairs.FORMS", 10)
    strategy, spaces = next(profiles(statistics, 3))
    with pytest.raises(TooLargeError, match="any number if everybody is in one"):
        fixed(listed, strategy, spaces, 0.1)
