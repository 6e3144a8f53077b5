"""Every statistic against plain Python, row by row."""

import numpy as np
import pytest

import coterie
from coterie.errors import InputError, TooLargeError
from coterie.statistics import reduce as reduction
from coterie.statistics.statistics import Statistics

WEIGHTS = {"pairs": lambda c: 1 / c, "samples": lambda c: 1 / c**2, "none": lambda c: c**0}


def found_entries(part):
    keys, values = part.entries.keys.tolist(), part.entries.values.tolist()
    return {tuple(key): value for key, value in zip(keys, values, strict=True)}


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("sized", [False, True])
def test_pair_statistics(tables, oracle, symmetric, sized):
    log_tables = tables(1, symmetric=symmetric)
    log = coterie.Log.from_frames(**log_tables.frames(), symmetric=symmetric)
    expected = oracle(log_tables, symmetric=symmetric, seed=7)
    statistics = Statistics.of(log, sizes="aware" if sized else "ignore", seed=7)
    assert log.agents == tuple(expected.agents)
    assert log.coalitions == tuple(expected.coalitions)
    assert statistics.n_samples == log.n_samples == len(log_tables.samples)
    assert statistics.rows == log.rows == len(log_tables.pairs)
    for p, part in enumerate(statistics.parts):
        assert found_entries(part) == expected.entries(p, sized=sized)
        assert (part.size_counts == expected.size_counts(p)).all()
        assert part.n_samples == sum(expected.part(sample) == p for sample in log_tables.samples)


@pytest.mark.parametrize("symmetric", [True, False])
def test_views_in_utility_points(tables, symmetric):
    log_tables = tables(2, low=1.0, high=5.0, symmetric=symmetric)
    log = coterie.Log.from_frames(**log_tables.frames(), utility_range=(1, 5), neutral=3, symmetric=symmetric)
    whole = Statistics.of(log).whole
    values = {}
    for _, coalition, agent, partner, value in log_tables.pairs:
        l, i, j = int(coalition[1:]), int(agent[1:]), int(partner[1:])
        values.setdefault((l, i, j), []).append(value - 3)
        if symmetric:
            values.setdefault((l, j, i), []).append(value - 3)
    assert whole.counts.sum() == sum(len(seen) for seen in values.values())
    for (l, i, j), seen in values.items():
        assert whole.counts[l, i, j] == len(seen)
        assert whole.means[l, i, j] == pytest.approx(np.mean(seen), abs=1e-8)
        assert whole.sums[l, i, j] == pytest.approx(np.sum(seen), abs=1e-7)
        assert whole.variances[l, i, j] == pytest.approx(np.var(seen, ddof=1) if len(seen) > 1 else 0, abs=1e-7)
        assert whole.pair_means.matrix(l)[i, j] == whole.means[l, i, j]


def test_values_on_the_grid_are_exact(csv_log):
    rows = "".join(f"{m},x,a,b,{value}\n" for m, value in enumerate([-1, 1, 0.5, 0]))
    whole = Statistics.of(coterie.read_log(csv_log(pairs="sample,coalition,agent,partner,utility\n" + rows))).whole
    assert whole.means[0, 0, 1] == 0.125
    assert whole.variances[0, 0, 1] == np.var([-1, 1, 0.5, 0], ddof=1)


@pytest.mark.parametrize("sized", [False, True])
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("pooled", [False, True])
def test_repeats_are_the_same_from_diagonals_and_from_the_log(tables, monkeypatch, symmetric, sized, pooled):
    log = coterie.Log.from_frames(
        **tables(4, n=4, samples=25, symmetric=symmetric).frames(), symmetric=symmetric, pool_coalitions=pooled
    )
    options = {"noise": "samples", "sizes": "aware" if sized else "ignore", "parts": (0.4, 0.6)}
    by_diagonals = Statistics.of(log, **options)
    monkeypatch.setattr(reduction, "MOST_GRAM_ENTRIES", 0)
    by_query = Statistics.of(log, **options)
    for one, other in zip(by_diagonals.parts, by_query.parts, strict=True):
        assert other.together is None
        assert one.repeats.tolist() == other.repeats.tolist()
        assert not pooled or (one.repeats != one.count).any()


@pytest.mark.parametrize("sized", [False, True])
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("at_once", [reduction.SORTED, 20])
def test_cooccurrence(tables, oracle, monkeypatch, symmetric, sized, pooled, at_once):
    monkeypatch.setattr(reduction, "SORTED", at_once)  # so many rows are sorted at once
    log_tables = tables(3, n=4, samples=25, symmetric=symmetric)
    log = coterie.Log.from_frames(**log_tables.frames(), symmetric=symmetric, pool_coalitions=pooled)
    expected = oracle(log_tables, symmetric=symmetric, pooled=pooled)
    statistics = Statistics.of(log, noise="samples", sizes="aware" if sized else "ignore")
    for p, part in enumerate(statistics.parts):
        for agent in range(4):
            assert (part.cooccurrence(agent) == expected.cooccurrence(p, agent, sized=sized)).all()
        # The diagonal of H_i is the sum over samples of the squared number of meetings.
        size = part.size if sized else None
        place = part.setting.feature(part.agent, part.coalition, part.partner, size)
        diagonal = [part.cooccurrence(i)[f, f] for i, f in zip(part.agent, place, strict=True)]
        assert part.repeats.tolist() == diagonal
        if not pooled:
            assert part.repeats.tolist() == part.count.tolist()


def test_pooled_pairs(tables, oracle):
    log_tables = tables(4)
    log = coterie.Log.from_frames(**log_tables.frames(), pool_coalitions=True)
    for p, part in enumerate(Statistics.of(log).parts):
        assert found_entries(part) == oracle(log_tables, pooled=True).entries(p)
        assert part.counts.shape == (1, 5, 5)
        assert part.size_counts.shape == (1, 6)
        assert part.size_counts.sum() == part.n_samples * len(log.coalitions)


@pytest.mark.parametrize("noise", ["pairs", "samples"])
@pytest.mark.parametrize("sized", [False, True])
@pytest.mark.parametrize("pooled", [False, True])
def test_total_statistics(tables, oracle, noise, sized, pooled):
    log_tables = tables(5, n=4, low=1.0, high=5.0)
    options = {"utility_range": (1, 5), "neutral": 3, "pool_coalitions": pooled}
    log = coterie.Log.from_frames(**log_tables.frames("memberships", "totals"), **options)
    expected = oracle(log_tables, pooled=pooled, low=1.0, high=5.0, neutral=3.0)
    assert log.feedback == "bandit"
    statistics = Statistics.of(log, noise=noise, sizes="aware" if sized else "ignore", unweighted=True)
    assert statistics.rows == len(log_tables.totals)
    for p, part in enumerate(statistics.parts):
        assert part.n_samples == sum(expected.part(sample) == p for sample in log_tables.samples)
        for agent in range(4):
            for weighting in (noise, "none"):
                gram, moment, squares, rows = expected.least_squares(p, agent, WEIGHTS[weighting], sized=sized)
                assert part.gram(agent, weighting) == pytest.approx(gram, abs=1e-6)
                assert part.moment(agent, weighting) == pytest.approx(moment, abs=1e-5)
                assert part.squares(agent, weighting) == pytest.approx(squares, abs=1e-5)
                assert part.totals[agent] == rows


def test_unweighted_gram_is_exact_and_left_out_unless_asked_for(tables, oracle):
    log_tables = tables(6)
    log = coterie.Log.from_frames(**log_tables.frames("memberships", "totals"))
    part = Statistics.of(log, unweighted=True, parts=(1.0,)).parts[0]
    halves = [oracle(log_tables).least_squares(p, 2, WEIGHTS["none"])[0] for p in (0, 1)]
    assert (part.gram(2, "none") == sum(halves)).all()
    with pytest.raises(InputError, match="no sums with weighting 'none'"):
        Statistics.of(log).parts[0].gram(2, "none")


@pytest.mark.parametrize("pooled", [False, True])
def test_joint_sums(tables, oracle, pooled):
    log_tables = tables(8, n=4, k=2, samples=30)
    log = coterie.Log.from_frames(**log_tables.frames("memberships", "totals"), pool_coalitions=pooled)
    statistics = Statistics.of(log, joint=True)
    expected = oracle(log_tables, pooled=pooled)
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    edges = [(l, i, j) for l in range(1 if pooled else 2) for i, j in pairs]
    for p, part in enumerate(statistics.parts):
        projections, moments = np.zeros((len(edges), len(edges))), np.zeros(len(edges))
        for sample in log_tables.samples:
            if expected.part(sample) != p:
                continue
            totals = [(int(a[1:]), v) for s, a, v in log_tables.totals if s == sample]
            z = np.zeros((len(totals), len(edges)))
            for row, (agent, _) in enumerate(totals):
                for l, coalition in enumerate(expected.coalitions):
                    team = [int(a[1:]) for a in expected.teams.get((sample, coalition), [])]
                    for other in team if agent in team else []:
                        if other != agent:
                            i, j = min(agent, other), max(agent, other)
                            z[row, edges.index((0 if pooled else l, i, j))] += 1
            inverse = np.linalg.pinv(z)
            projections += inverse @ z
            moments += inverse @ np.array([v for _, v in totals])
        assert part.joint.projections == pytest.approx(projections, abs=1e-9)
        assert part.joint.moments == pytest.approx(moments, abs=1e-9)


def test_limits_are_stated(tables, monkeypatch):
    log_tables = tables(9)
    bandit = coterie.Log.from_frames(**log_tables.frames("memberships", "totals"))
    pairs = coterie.Log.from_frames(**log_tables.frames())
    monkeypatch.setattr("coterie.statistics.joint.MOST_EDGES", 5)
    with pytest.raises(TooLargeError, match="up to 5 pairs"):
        Statistics.of(bandit, joint=True)
    monkeypatch.setattr(reduction, "MOST_GRAM_ENTRIES", 10)
    with pytest.raises(TooLargeError, match="ignore sizes"):
        Statistics.of(bandit, sizes="aware")
    # An agent has 3 unknowns where there is one other, and 3 * 4 / 2 = 6 entries.
    monkeypatch.setattr(reduction, "MOST_GRAM_ENTRIES", 2 * 6)
    with pytest.raises(TooLargeError, match="those of 2 agents, such as a department, would fit"):
        Statistics.of(bandit)
    part = Statistics.of(pairs, noise="samples").parts[0]
    with pytest.raises(InputError, match="left out"):
        part.cooccurrence(0)
    monkeypatch.setattr(reduction, "MOST_ROWS", 10)
    with pytest.raises(TooLargeError, match="in pieces"):
        Statistics.of(pairs)


def test_options_that_make_no_sense(tables):
    log = coterie.Log.from_frames(pairs=tables(9).frames()["pairs"])
    with pytest.raises(InputError, match="needs a table memberships"):
        Statistics.of(log, sizes="aware")
    with pytest.raises(InputError, match='expected "ignore" or "aware"'):
        Statistics.of(log, sizes="maybe")
    with pytest.raises(InputError, match='expected "auto", "pairs" or "samples"'):
        Statistics.of(log, noise="loud")
    with pytest.raises(InputError, match="for bandit logs"):
        Statistics.of(log, joint=True)
    with pytest.raises(InputError, match="shares that sum to 1"):
        Statistics.of(log, parts=(0.5, 0.6))


def test_parts_of_any_share(tables):
    log_tables = tables(10, samples=400, n=3)
    log = coterie.Log.from_frames(**log_tables.frames())
    counts = [part.n_samples for part in Statistics.of(log, parts=(0.2, 0.5, 0.3), seed=1).parts]
    assert sum(counts) == len(log_tables.samples)
    assert np.abs(np.array(counts) / sum(counts) - [0.2, 0.5, 0.3]).max() < 0.1
    assert counts != [part.n_samples for part in Statistics.of(log, parts=(0.2, 0.5, 0.3), seed=2).parts]


def test_declared_sigma_widens_the_grid(csv_log):
    text = "sample,coalition,agent,partner,utility\n1,x,a,b,7.25\n2,x,a,b,-3\n"
    whole = Statistics.of(coterie.read_log(csv_log(pairs=text), sigma=1.0)).whole
    assert whole.means[0, 0, 1] == pytest.approx(2.125, abs=1e-5)
    bounded = Statistics.of(coterie.read_log(csv_log(pairs=text), sigma=1.0, utility_range=(-1, 1))).whole
    assert bounded.means[0, 0, 1] == pytest.approx(2.125, abs=1e-7)


def test_sparse_above_the_limit(tables, monkeypatch):
    log_tables = tables(11)
    dense = Statistics.of(coterie.Log.from_frames(**log_tables.frames())).whole
    expected = [dense.pair_means.matrix(l) for l in range(3)]
    monkeypatch.setattr("coterie.statistics.pair_statistics.DENSE_AGENTS", 3)
    sparse = Statistics.of(coterie.Log.from_frames(**log_tables.frames())).whole
    assert type(sparse.pair_means).__name__ == "SparseMeans"
    for l in range(3):
        assert (sparse.pair_means.matrix(l) == expected[l]).all()
    with pytest.raises(TooLargeError, match="use the entries"):
        _ = sparse.counts
