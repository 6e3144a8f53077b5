"""Totals that are averages: the same as the sums that they stand for, to the last digit."""

import json

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import coterie
from coterie.cli.app import app
from coterie.errors import InputError
from coterie.estimate.ridge import agent_ridge
from coterie.learn.certify import certify
from coterie.statistics.statistics import Statistics

AGENTS = [f"a{i}" for i in range(8)]


class Made:
    """Samples in which everybody is in as many coalitions, all of one size, and what came of them."""

    def __init__(self, seed, *, size=None, each=1, samples=40, means=None, neutral=0.0):
        rng, n = np.random.default_rng(seed), len(AGENTS)
        self.neutral, rooms = neutral, []
        for _ in range(samples):
            there = np.zeros((n, 0), dtype=bool)
            for _ in range(each):
                per = size or int(rng.choice([2, 3, 5]))  # with 1, 2 or 4 others: averages of halves are exact
                order = rng.permutation(n)
                teams = np.zeros((n, 4), dtype=bool)
                for place in range(n // per):
                    teams[order[place * per : (place + 1) * per], place] = True
                there = np.concatenate([there, teams], axis=1)
            rooms.append(there)
        self.joined = np.stack(rooms)
        k = self.joined.shape[2]
        self.means = np.zeros((k, n, n)) if means is None else np.broadcast_to(means, (k, n, n))
        heads = rng.random((samples, k, n, n)) < (1 + self.means) / 2
        pairs = np.where(heads, 1.0, -1.0) + neutral
        upper = np.triu(np.ones((n, n), dtype=bool), 1)
        pairs = np.where(upper, pairs, np.swapaxes(pairs, 2, 3))
        met = np.einsum("mil,mjl->mlij", self.joined, self.joined) * ~np.eye(n, dtype=bool)
        self.met, self.others = met, met.sum(axis=3)
        self.sums, self.by_room = (met * pairs).sum(axis=(1, 3)), (met * pairs).sum(axis=3)

    @property
    def terms(self):
        """c of every sample and agent."""
        return self.others.sum(axis=1)

    def rows(self, totals):
        """Return what the log says, by definition."""
        if totals == "sum":
            return self.sums
        if totals == "average":
            return self.sums / np.maximum(self.terms, 1)
        return (self.by_room / np.maximum(self.others, 1)).sum(axis=1)

    def coefficients(self, agent, totals):
        """Return x of every row of an agent, shape (samples, k (n - 1))."""
        found = np.delete(self.met[:, :, agent], agent, axis=2).astype(float)
        if totals == "team-averages":
            found /= np.maximum(self.others[:, :, agent], 1)[:, :, None]
        elif totals == "average":
            found /= np.maximum(self.terms[:, agent], 1)[:, None, None]
        return found.reshape(len(found), -1)

    def tables(self, totals, rows=None):
        sample, agent, coalition = np.nonzero(self.joined)
        names, rooms = np.array(AGENTS), np.array([f"r{l}" for l in range(self.joined.shape[2])])
        everybody = np.divmod(np.arange(self.sums.size), len(AGENTS))
        values = (self.rows(totals) if rows is None else rows).ravel()
        return {
            "memberships": pa.table(
                {"sample": sample.astype(str), "agent": names[agent], "coalition": rooms[coalition]}
            ),
            "totals": pa.table(
                {"sample": everybody[0].astype(str), "agent": names[everybody[1]], "utility": values}
            ),
        }  # fmt: skip

    def log(self, totals, rows=None, **options):
        low, high = self.neutral - 1, self.neutral + 1
        declared = {"utility_range": (low, high), "neutral": self.neutral, "actions": "any", **options}
        if not declared.get("pool_coalitions"):
            declared["coalitions"] = [f"r{l}" for l in range(self.joined.shape[2])]
        return coterie.Log.from_frames(**self.tables(totals, rows), totals_are=totals, **declared)


@pytest.mark.parametrize("noise", ["pairs", "samples"])
@pytest.mark.parametrize(("totals", "each"), [("average", 1), ("team-averages", 1), ("team-averages", 2)])
def test_averages_are_the_sums_that_they_stand_for(totals, each, noise):
    """Every sum, every estimate and every certificate, to the last digit."""
    made = Made(1, size=None if each == 1 else 3, each=each, neutral=3.0)
    first, second = (
        Statistics.of(made.log(kind), parts=(0.5, 0.5), noise=noise, joint=noise == "pairs", unweighted=True)
        for kind in ("sum", totals)
    )
    for ours, theirs in zip(first.parts, second.parts, strict=True):
        for name, array in ours.arrays().items():
            np.testing.assert_array_equal(array, theirs.arrays()[name], err_msg=name)
    assert first.sha256 == second.sha256


def test_certificates_are_those_of_sums():
    made = Made(2, size=3, samples=60)
    results = [
        coterie.StableLearner(certificate="holdout", random_state=0, delta=0.5)
        .fit(made.log(kind, actions="one", may_stay_out=True))
        .result_
        for kind in ("sum", "team-averages", "average")
    ]
    for other in results[1:]:
        assert other.certificate.gap == results[0].certificate.gap
        assert other.strategy == results[0].strategy
        assert other.certificates == results[0].certificates


@pytest.mark.parametrize("noise", ["pairs", "samples"])
@pytest.mark.parametrize("totals", ["sum", "average", "team-averages"])
def test_sums_are_those_of_the_definition(totals, noise):
    """G = sum w x x' and sum w x v with 1/w the variance proxy of a row, the coefficients x as the log has them."""
    made = Made(3, size=3, each=2, neutral=3.0)
    found = agent_ridge(Statistics.of(made.log(totals), parts=(1.0,), noise=noise).whole)
    for agent in range(len(AGENTS)):
        x, v = made.coefficients(agent, totals), made.rows(totals)[:, agent]
        v = v - 3.0 * x.sum(axis=1)
        proxy = (x**2).sum(axis=1) if noise == "pairs" else x.sum(axis=1) ** 2
        x, v, proxy = x[proxy > 0], v[proxy > 0], proxy[proxy > 0]
        np.testing.assert_allclose(found.gram[agent], (x / proxy[:, None]).T @ x, atol=1e-5)
        np.testing.assert_allclose(found.moment[agent], (x / proxy[:, None]).T @ v, atol=1e-5)
        assert found.squares[agent] == pytest.approx((v**2 / proxy).sum(), abs=1e-5)


def test_spark_reads_averages_alike(spark):
    made = Made(4, size=3, each=2, samples=10)
    rows = np.round(made.rows("team-averages"), 3)
    found = [
        Statistics.of(made.log("team-averages", rows, **options), parts=(1.0,), noise="pairs").sha256
        for options in ({}, {"spark": spark})
    ]
    assert found[0] == found[1]


@pytest.mark.slow
@pytest.mark.parametrize("totals", ["average", "team-averages"])
@pytest.mark.parametrize("certificate", ["paired", "holdout"])
def test_certificates_hold(totals, certificate):
    """At delta = 1/2 the gap is below the certificate at least half of the time, at every width in use."""
    truth = np.random.default_rng(5).uniform(-0.3, 0.3, (len(AGENTS), len(AGENTS)))
    truth = (truth + truth.T) / 2 * ~np.eye(len(AGENTS), dtype=bool)
    held, finite = [], []
    for seed in range(20):
        made = Made([6, seed], size=3, samples=150, means=truth)
        log = made.log(totals, pool_coalitions=True, actions="one")
        k = len(log.coalitions)
        game = coterie.Game(np.repeat(truth[None], k, axis=0), actions="one", agents=log.agents)
        profile = np.arange(len(AGENTS))[:, None] % k == np.arange(k)
        found = certify(log, profile, certificate=certificate, fresh=certificate == "holdout", delta=0.5)
        held.append(game.gap(profile) <= found.certificate.gap)
        finite.append(found.certificate.gap < 2 * (len(AGENTS) - 1))
    assert np.mean(held) >= 0.5
    assert np.mean(finite) > 0.5


# --- Refusals ---------------------------------------------------------------------------------------------

MEMBERS = "sample,agent,coalition\n1,a,x\n1,b,x\n1,c,x\n1,d,y\n"
PAIRS = "sample,coalition,agent,partner,utility\n1,x,a,b,0.5\n"


def totals_of(*rows):
    return "sample,agent,utility\n" + "".join(f"1,{agent},{value}\n" for agent, value in rows)


def test_where_to_say_it(csv_log):
    folder = csv_log(memberships=MEMBERS, totals=totals_of(("a", 0.75)), json='{"totals": "average"}')
    log = coterie.read_log(folder)
    assert log.options["totals"] == "average"
    assert any("average over all pairs" in note for note in log.notes)
    query = f"SELECT utility FROM {log.engine.name('totals')}"
    assert log.engine.table(query)["utility"].to_pylist() == [1.5]
    assert coterie.read_log(folder, totals="sum").options["totals"] == "sum"
    printed = CliRunner().invoke(app, ["inspect", str(folder), "--totals", "team-averages", "--json"])
    assert printed.exit_code == 0
    assert json.loads(printed.stdout)["rows"] == 1


def test_averages_of_some_samples(csv_log):
    members = MEMBERS + MEMBERS.replace("\n1,", "\n2,").partition("\n")[2]
    totals = totals_of(("a", 0.75)) + "2,b,0.25\n"
    log = coterie.read_log(csv_log(memberships=members, totals=totals), totals="average", since="2")
    query = f"SELECT sample, utility FROM {log.engine.name('totals')}"
    assert log.engine.table(query).to_pylist() == [{"sample": "2", "utility": 0.5}]


@pytest.mark.parametrize("totals", ["average", "team-averages"])
def test_averages_outside_the_range(csv_log, totals):
    folder = csv_log(memberships=MEMBERS, totals=totals_of(("a", 0.5), ("b", 1.5)))
    said = rf'row 3: the total 1.5 of 2 pairs is outside \[-1, 1\] \(totals="{totals}"\)'
    with pytest.raises(InputError, match=said):
        coterie.read_log(folder, totals=totals)
    assert coterie.read_log(folder).rows == 2


@pytest.mark.parametrize("totals", ["average", "team-averages"])
def test_nobody_to_average_over(csv_log, totals):
    folder = csv_log(memberships=MEMBERS, totals=totals_of(("d", 0.5)))
    with pytest.raises(InputError, match=r"the total is 0\.5, expected 0 for an agent who shared no coalition"):
        coterie.read_log(folder, totals=totals)
    coterie.read_log(csv_log(memberships=MEMBERS, totals=totals_of(("d", 0))), totals=totals)


def test_teams_of_different_sizes(csv_log):
    """Of the sum of two averages over teams of 3 and 2 the sum over pairs is not known; a team of one adds nothing."""
    folder = csv_log(memberships=MEMBERS + "1,a,y\n1,b,z\n", totals=totals_of(("b", 0.5), ("a", 0.5)))
    with pytest.raises(InputError, match=r"row 3: 'a' was in coalitions of 2 and of 3 in sample '1'"):
        coterie.read_log(folder, totals="team-averages")
    assert coterie.read_log(folder, totals="average").rows == 2


def test_pairs_are_no_totals(csv_log):
    folder = csv_log(pairs=PAIRS, json='{"totals": "average"}')
    assert coterie.read_log(folder).feedback == "semi-bandit"  # the file may speak of a table that is not used
    with pytest.raises(InputError, match='totals="average" says what totals are, and this log is read from pairs'):
        coterie.read_log(folder, totals="average")
    with pytest.raises(InputError, match="totals: expected"):
        coterie.read_log(folder, totals="mean")
