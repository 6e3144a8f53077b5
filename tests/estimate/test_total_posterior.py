"""The posterior of pairs' means given totals: against one dense normal distribution of all unknowns and totals."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie import Log
from coterie.certificates.from_statistics import evidence_from
from coterie.estimate.posterior import THRIFT
from coterie.estimate.total_posterior import means_left_by_totals, square_root
from coterie.statistics.statistics import Statistics

CLOSE = 1e-6
"""Statistics round utilities."""


class Unit:
    """Stands in for a generator whose normal numbers are all 0, but for one."""

    def __init__(self, place):
        self.place = place

    def normal(self, size):
        drawn = np.zeros(size)
        drawn[self.place] = 1.0
        return drawn


class Sums:
    """A few samples of totals, and every matrix that they depend on written down in full."""

    def __init__(self, seed, n, k, *, symmetric, pooled=False, aware=False, noise="pairs", samples=5):
        rng = np.random.default_rng(seed)
        self.n, self.k, self.symmetric, self.pooled, self.aware = n, k, symmetric, pooled, aware
        self.noise = noise
        self.joined = rng.random((samples, n, k)) < 0.6
        self.joined[0] = True  # every pair meets
        pairs = rng.uniform(-1, 1, (samples, k, n, n))
        if symmetric:
            pairs = np.triu(pairs, 1) + np.swapaxes(np.triu(pairs, 1), 2, 3)
        met = np.einsum("mil,mjl->mlij", self.joined, self.joined) * ~np.eye(n, dtype=bool)
        self.met, self.totals = met, (met * pairs).sum(axis=(1, 3))

    @property
    def log(self):
        sample, agent, coalition = np.nonzero(self.joined)
        everybody = np.divmod(np.arange(self.totals.size), self.n)
        names = np.array([f"a{i}" for i in range(self.n)])
        memberships = {"sample": sample.astype(str), "agent": names[agent], "coalition": coalition.astype(str)}
        totals = {"sample": everybody[0].astype(str), "agent": names[everybody[1]], "utility": self.totals.ravel()}
        return Log.from_frames(
            memberships=pa.table(memberships), totals=pa.table(totals), symmetric=self.symmetric,
            pool_coalitions=self.pooled, actions="any",
        )  # fmt: skip

    def found(self, *, joint=False):
        sizes = "aware" if self.aware else "ignore"
        statistics = Statistics.of(self.log, parts=(1.0,), noise=self.noise, joint=joint, sizes=sizes)
        evidence = evidence_from(statistics.whole)
        return means_left_by_totals(evidence.estimate, by_size=self.aware, symmetric=self.symmetric)

    @property
    def cells(self):
        """All unknowns (coalition, agent, partner, size) in the order of the model."""
        tables = range(1 if self.pooled else self.k)
        sizes = range(2, self.n + 1) if self.aware else [0]
        pairs = [(i, j) for i in range(self.n) for j in range(i + 1, self.n)]
        orders = (lambda i, j: [(i, j)]) if self.symmetric else (lambda i, j: [(i, j), (j, i)])
        return [(l, *one, s) for pair in pairs for one in orders(*pair) for l in tables for s in sizes]

    @property
    def design(self):
        """Which unknowns each total adds up, one row per sample and agent."""
        rows = np.zeros((len(self.joined), self.n, len(self.cells)))
        place = {cell: index for index, cell in enumerate(self.cells)}
        for m, l, i, j in zip(*np.nonzero(self.met), strict=True):
            pair = (min(i, j), max(i, j)) if self.symmetric else (i, j)
            size = int(self.joined[m, :, l].sum()) if self.aware else 0
            rows[m, i, place[0 if self.pooled else l, *pair, size]] += 1
        return rows.reshape(-1, len(self.cells))

    def noise_form(self, rows, *, shared):
        """Return the covariance of the totals' noise if that of a pair has variance 1."""
        terms = rows.sum(axis=1)
        if self.noise == "samples":
            return np.diag(terms**2)
        if not shared:
            return np.diag(terms)  # a total of c terms varies c times as much as one
        sample = np.arange(len(rows)) // self.n
        return rows @ rows.T * (sample[:, None] == sample)

    def prior(self, variances, slope=None):
        return np.array([[self.covariance(variances, a, b, slope) for b in self.cells] for a in self.cells])

    def covariance(self, variances, one, other, slope):
        (l, i, j, s), (m, u, v, r) = one, other
        shared = {"pair": (i, j) == (u, v), "level": 1.0}
        if self.symmetric:
            shared["rater"] = (i == u) + (j == v) + (i == v) + (j == u)
        else:
            shared |= {"rater": i == u, "rated": j == v, "mutual": {i, j} == {u, v}}
        if slope is not None:
            shared |= {"size": s == r, "slope": slope[s - 2] * slope[r - 2]}
        found = variances["centre"] + variances["rest"] * (one == other)
        for name, factor in shared.items():
            here, everywhere = variances.get(name, 0.0), variances.get(f"{name}, common", 0.0)
            found += factor * (here * (l == m) + everywhere)
        return found


def with_random_variances(found, seed):
    rng = np.random.default_rng(seed)
    variances = {name: rng.uniform(0.05, 1) for name in found.possible.parts}
    model = replace(found.possible, variances={**variances, "centre": 0.4}, noise=rng.uniform(0.05, 0.5))
    return replace(found, possible=model)


def conditioned(sums, found, *, shared):
    """Return mean and covariance of all unknowns by conditioning one normal distribution."""
    model, rows = found.possible, sums.design
    prior = sums.prior(model.variances, model.cells.slope)
    joint = rows @ prior @ rows.T + model.noise * sums.noise_form(rows, shared=shared)
    gain = prior @ rows.T @ np.linalg.pinv(joint, rcond=1e-10, hermitian=True)
    off = sums.totals.ravel() - rows.sum(axis=1) * found.centre
    return found.centre + gain @ off, prior - gain @ rows @ prior


def log_density(sums, found):
    """Return the logarithm of the density of all totals with partners, if the noise of each is its own."""
    model = found.possible
    rows = sums.design
    some = rows.any(axis=1)
    rows, off = rows[some], (sums.totals.ravel() - rows.sum(axis=1) * found.centre)[some]
    covariance = rows @ sums.prior(model.variances, model.cells.slope) @ rows.T
    covariance += model.noise * sums.noise_form(sums.design, shared=False)[np.ix_(some, some)]
    by_data = -0.5 * (np.linalg.slogdet(covariance)[1] + off @ np.linalg.solve(covariance, off))
    nothing, terms = dict.fromkeys(model.variances, 0.0), np.diag(sums.noise_form(rows, shared=False))
    price = 0.0
    for name in model.parts:
        if name != "rest":  # what an effect adds to the mean square of totals costs, as a share of that
            alone = sums.prior({**nothing, name: 1.0}, model.cells.slope)
            added = np.sum(np.einsum("rc,cd,rd->r", rows, alone, rows) / terms) / model.own.count
            price += THRIFT * model.variances[name] * added / model.spread
    return by_data - price


KINDS = {
    "k": st.integers(1, 2),
    "symmetric": st.booleans(),
    "pooled": st.booleans(),
    "noise": st.sampled_from(["pairs", "samples"]),
    "seed": st.integers(0, 10**6),
}


def close_to_dense(sums, found, *, shared):
    mean, covariance = conditioned(sums, found, shared=shared)
    model = found.possible
    np.testing.assert_allclose(found.centre + model.middle, mean, atol=CLOSE)
    np.testing.assert_allclose(model.covariance, covariance, atol=CLOSE)
    moves = np.array([model.draw(Unit(place)) - model.middle for place in range(len(mean))])
    np.testing.assert_allclose(moves.T @ moves, covariance, atol=CLOSE)


@settings(max_examples=25, deadline=None)
@given(n=st.integers(2, 4), **KINDS)
def test_each_agents_own_totals(n, k, symmetric, pooled, noise, seed):
    sums = Sums(seed, n, k, symmetric=symmetric, pooled=pooled, noise=noise)
    found = with_random_variances(sums.found(), seed)
    # A pair that meets twice in a sample has c terms, which is what its noise counts.
    close_to_dense(sums, found, shared=False)
    before, after = found, with_random_variances(found, seed + 1)
    after = replace(after, possible=replace(after.possible, noise=before.possible.noise))
    change = after.possible.log_density - before.possible.log_density
    assert change == pytest.approx(log_density(sums, after) - log_density(sums, before), abs=1e-4)


@settings(max_examples=25, deadline=None)
@given(n=st.integers(2, 4), k=st.integers(1, 2), pooled=st.booleans(), seed=st.integers(0, 10**6))
def test_totals_of_both_agents_share_their_noise(n, k, pooled, seed):
    sums = Sums(seed, n, k, symmetric=True, pooled=pooled)
    found = with_random_variances(sums.found(joint=True), seed)
    close_to_dense(sums, found, shared=True)


@pytest.mark.parametrize("symmetric", [True, False])
def test_sizes(symmetric):
    sums = Sums(3, 4, 2, symmetric=symmetric, aware=True, samples=8)
    close_to_dense(sums, with_random_variances(sums.found(), 3), shared=False)


def test_variances_are_the_most_likely_ones():
    """No variance could be a little different and more likely, and the noise is what residuals say."""
    sums = Sums(1, 8, 2, symmetric=False, samples=80)
    found = sums.found().possible
    least = 1e-6
    for name in found.parts:
        for factor in (0.9, 1.1):
            other = found.variances[name] * factor
            if other > least:
                moved = replace(found, variances={**found.variances, name: other})
                assert moved.log_density < found.log_density + 0.02
    again = found.heard(least, 1.0).noise
    assert again == pytest.approx(found.noise, rel=0.02)


def test_few_totals_leave_everything_possible():
    sums = Sums(0, 2, 1, symmetric=True, samples=1)
    found = sums.found()
    assert np.sqrt(np.diag(found.possible.covariance)).max() > 0.3


def test_totals_that_are_all_alike_say_that_nothing_differs():
    sums = Sums(2, 3, 1, symmetric=True, samples=12)
    sums.totals = 0.25 * sums.met.sum(axis=(1, 3))
    found = sums.found()
    np.testing.assert_allclose(found.middle, 0.25, atol=1e-3)


def test_what_hardly_varies_by_itself_is_drawn():
    """Effects of levels, people and pairs alone: then the covariance is singular, and rounding may leave it below 0."""
    found = Sums(1, 4, 2, symmetric=True, aware=True).found().possible
    model = replace(found, variances={**dict.fromkeys(found.parts, 1.0), "centre": 1.0, "rest": 0.0})
    drawn = model.draw(np.random.default_rng(0))
    assert np.isfinite(drawn).all()
    prior, whole = model._prior, square_root(model._prior)
    assert np.linalg.eigvalsh(prior)[0] < 1e-9
    assert whole @ whole.T == pytest.approx(prior, abs=1e-8)


def test_hardly_any_noise_is_drawn_with():
    """What totals leave open is lost in rounding beside what they tell."""
    model = replace(Sums(1, 4, 2, symmetric=True, aware=True).found().possible, noise=1e-280)
    assert np.isfinite(model.draw(np.random.default_rng(0))).all()
