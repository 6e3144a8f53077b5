"""Extreme numbers through the whole pipeline: results are finite, valid against the truth, and the same in any units,
from any origin and under any names."""

import math
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

import coterie
from conftest import Tables
from coterie import Game, InputError, StableLearner, Statistics
from coterie.coverage import coverage
from coterie.statistics.clues import NO_CLUES
from coterie.sums import Sums

N, K = 4, 2
OFF = 1 - np.eye(N)
RNG = np.random.default_rng(7)
UPPER = np.triu(RNG.uniform(-0.8, 0.8, (K, N, N)), 1)
MEANS = UPPER + np.swapaxes(UPPER, 1, 2)


def played(means, samples=12, noise=0.1, seed=0, places=None):
    """Return a log of a game in which everybody joins one coalition at random; pairs are off by plus or minus noise."""
    rng = np.random.default_rng(seed)
    k, n, _ = means.shape
    memberships, pairs, totals = [], [], []
    for m in range(samples):
        where = rng.integers(k, size=n) if places is None else places(m)
        memberships += [(f"s{m}", f"a{i}", f"c{where[i]}") for i in range(n)]
        got = np.zeros(n)
        for i in range(n):
            for j in range(i + 1, n):
                if where[i] == where[j]:
                    value = float(means[where[i], i, j] + noise * rng.choice([-1, 1]))
                    pairs.append((f"s{m}", f"c{where[i]}", f"a{i}", f"a{j}", value))
                    got[[i, j]] += value
        totals += [(f"s{m}", f"a{i}", float(got[i])) for i in range(n)]
    return Tables(memberships, pairs, totals)


@dataclass(frozen=True)
class Case:
    """A log, how it is described, and the truth behind it, counted from the neutral point."""

    tables: Tables
    means: np.ndarray
    options: dict = field(default_factory=dict)

    def log(self, feedback):
        return coterie.Log.from_frames(**self.tables.frames("memberships", feedback), **self.options)


def case(means=MEANS, *, samples=12, noise=0.1, places=None, unit=1.0, origin=0.0, seed=0, **options):
    """Return a case; `unit` and `origin` are what 1 and 0 are written as."""
    made = played(means, samples, noise, seed, places)
    team = {(m, l): sum(row[0] == m and row[2] == l for row in made.memberships) for m, _, l in made.memberships}
    terms = {(m, a): team[m, l] - 1 for m, a, l in made.memberships}
    pairs = [(*row[:-1], row[-1] * unit + origin) for row in made.pairs]
    totals = [(*row[:-1], row[-1] * unit + origin * terms[row[:2]]) for row in made.totals]
    if (unit, origin) != (1.0, 0.0):
        options |= {"utility_range": (origin - unit, origin + unit), "neutral": origin}
    return Case(Tables(made.memberships, pairs, totals), means * unit, options)


CASES = {
    "ordinary": case(),
    "equal utilities": case(0.25 * np.ones((K, N, N)) * OFF, noise=0),
    "all at the upper bound": case(np.ones((K, N, N)) * OFF, noise=0),
    "all at the lower bound": case(-np.ones((K, N, N)) * OFF, noise=0),
    "all at the neutral point": case(np.zeros((K, N, N)), noise=0),
    "coins between the bounds": case(np.zeros((K, N, N)), noise=1),
    "one sample": case(samples=1),
    "two samples": case(samples=2),
    "two agents": case(MEANS[:, :2, :2]),
    "one coalition": case(MEANS[:1]),
    "one coalition, two agents, one sample": case(MEANS[:1, :2, :2], samples=1),
    "everybody always did the same": case(places=lambda _: [0] * N, coalitions=["c0", "c1"]),
    "nobody may do anything": case(actions=[[]]),
    "from 0 to a million": case(unit=5e5, origin=5e5),
    "within a billionth": case(unit=1e-9),
    "far from 0": case(unit=1, origin=1e6),
    "as wide as can be": case(unit=4.9e59),
    "as narrow as can be": case(unit=5.1e-61),
    # Whoever meets one of a0 and a1 meets both: of totals, only their sum is known; then but for one sample.
    "singular": case(samples=24, places=lambda m: [m % 2, m % 2, (m // 2) % 2, (m // 4) % 2]),
    "nearly singular": case(samples=60, places=lambda m: [m % 2, (m + (m == 17)) % 2, (m // 2) % 2, (m // 4) % 2]),
}
WITHOUT_CHOICE = ("one coalition", "one coalition, two agents, one sample", "everybody always did the same")
WITHOUT_CHOICE += ("nobody may do anything",)
LESS_EXTREME = ("two samples", "coins between the bounds", "far from 0", "one coalition", "singular")
SETTINGS = (
    {},
    {"delta": 1e-300},
    {"stability": "swap", "value": "average"},
    {"delta": 0.999},
    {"stability": "individual", "goal": "stability"},
    {"stability": "contractual-individual", "goal": "fairness"},
    {"sizes": "aware", "noise": "samples"},
)
ASKED = [
    pytest.param(
        name, feedback, SETTINGS[(place + shift) % len(SETTINGS)], id=f"{name}, {feedback}",
        marks=[pytest.mark.slow] if name in LESS_EXTREME else [],
    )
    for place, name in enumerate(CASES)
    for feedback, shift in (("pairs", 0), ("totals", 3))
]  # fmt: skip


def numbers(value, where=""):
    """Yield every number in a result file, with its place."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from numbers(item, f"{where}.{key}")
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from numbers(item, where)
    elif isinstance(value, float):
        yield where, value


def refuse_nonsense(result, game, stability, width=2.0):
    """A result has no number that is none, and its certificate is valid and no worse than knowing nothing.

    Nobody gains more than the range, `width`, with each of the others: here nobody joins two coalitions.
    """
    for where, value in numbers(result.to_json()):
        assert not math.isnan(value), where
        assert math.isfinite(value) or where.startswith((".coverage.c_", ".more_samples")), where
    found = result.certificate
    assert found.gap == max(0.0, *found.per_agent.values())
    assert game.gap(result.strategy, stability) * (1 - 1e-9) <= found.gap
    # The paper's certificate is as the paper has it: bounds of each room are not held against the range.
    assert found.method == "paper" or found.gap <= (game.n_agents - 1) * width * (1 + 1e-9)


@pytest.mark.parametrize(("name", "feedback", "settings"), ASKED)
def test_extreme_numbers(name, feedback, settings):
    chosen = CASES[name]
    log = chosen.log(feedback)
    game = Game(chosen.means, log.actions, agents=log.agents, coalitions=log.coalitions).valued(
        settings.get("value", "total")
    )
    learner = StableLearner(**settings).fit(log)
    judged = {key: value for key, value in settings.items() if key not in {"goal", "strategy", "solver"}}
    result = coterie.certify(log, learner.strategy_, **judged)
    low, high = chosen.options.get("utility_range", (-1, 1))
    for one in (learner.result_, result):
        refuse_nonsense(one, game, settings.get("stability", "nash"), high - low)
        assert one.certificate.gap == 0 or name not in WITHOUT_CHOICE or one.certificate.method == "paper"
    for strategy in (None, learner.strategy_):
        assert coverage(log, strategy).samples == len({row[0] for row in chosen.tables.memberships})


def learnt(chosen, feedback, **settings):
    return StableLearner(**settings).fit(chosen.log(feedback)).result_


PAPER = {"strategy": "mixed", "solver": "paper", "certificate": "paper"}


@pytest.mark.parametrize(
    ("feedback", "settings"),
    [("pairs", {}), ("totals", {"value": "average", "stability": "swap"}), ("pairs", PAPER), ("totals", PAPER)],
)
def test_units_and_origins_change_nothing(feedback, settings):
    """Steps of 2^-30 of the range are rounded elsewhere, so numbers may differ in the seventh digit."""
    plain = learnt(case(samples=40), feedback, **settings)
    for unit, origin in ((5e5, 5e5), (1e-9, 0.0), (1.0, 1e6)):
        other = learnt(case(samples=40, unit=unit, origin=origin), feedback, **settings)
        assert other.strategy == plain.strategy
        assert other.solver.sweeps == plain.solver.sweeps
        assert other.certificate.method == plain.certificate.method
        assert other.certificate.worst.agent == plain.certificate.worst.agent
        for name, gap in plain.certificates.items():
            assert gap is None or other.certificates[name] == pytest.approx(gap * unit, rel=1e-6)
        assert other.estimate.gap == pytest.approx(plain.estimate.gap * unit, rel=1e-6, abs=1e-6 * unit)
        assert dict(other.estimate.utility) == pytest.approx(
            {name: value * unit for name, value in plain.estimate.utility.items()}, rel=1e-6, abs=1e-6 * unit
        )


def renamed(tables, people, places):
    """Return a log under other names, its rows in another order."""
    memberships = [(m, people[a], places[l]) for m, a, l in tables.memberships]
    pairs = [(m, places[l], people[a], people[b], value) for m, l, a, b, value in tables.pairs]
    totals = [(m, people[a], value) for m, a, value in tables.totals]
    return Tables(*(rows[::-1] for rows in (memberships, pairs, totals)))


@pytest.mark.parametrize(
    ("feedback", "settings"),
    [("pairs", {}), ("pairs", {"sizes": "aware"}), ("totals", {"value": "average", "stability": "swap"})],
)
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_names_change_nothing(feedback, settings, seed):
    chosen, rng = case(samples=40, seed=seed), np.random.default_rng(seed)
    people = {f"a{i}": f"a{j}" for i, j in enumerate(rng.permutation(N))}
    places = {"c0": "c1", "c1": "c0"}
    plain, log = learnt(chosen, feedback, **settings), replace(chosen, tables=renamed(chosen.tables, people, places))
    other = learnt(log, feedback, **settings)
    moved = {people[a]: tuple(places[l] for l in where) for a, where in plain.strategy.actions.items()}
    assert {a: tuple(where) for a, where in other.strategy.actions.items()} == moved
    for name, gap in plain.certificates.items():
        assert gap is None or other.certificates[name] == pytest.approx(gap, rel=1e-9)
    assert dict(other.certificate.per_agent) == pytest.approx(
        {people[a]: gap for a, gap in plain.certificate.per_agent.items()}, rel=1e-9
    )


def many_times(statistics, times):
    """Return the statistics of a log in which every sample occurred so many times."""

    def repeated(part):
        assert int(part.entries.values.max()) * times < 2**63
        entries, teams = (Sums(one.keys, one.values * times) for one in (part.entries, part.teams))
        return replace(part, n_samples=part.n_samples * times, entries=entries, teams=teams)

    attendance = statistics.attendance * times
    return replace(statistics, parts=tuple(map(repeated, statistics.parts)), clues=NO_CLUES, attendance=attendance)


def test_a_billion_rows_of_a_pair(tmp_path):
    """Means and variances are exact, certificates come down to what is left to gain, and files keep all of it."""
    chosen = case(samples=60, noise=0)
    few = Statistics.for_learning(chosen.log("pairs"), noise="pairs")
    many = many_times(few, 10**9 // int(few.whole.count.max()))
    np.testing.assert_allclose(many.whole.mean, few.whole.mean, rtol=1e-15)
    np.testing.assert_allclose(many.whole.variance, 0, atol=1e-18)
    game = Game(chosen.means, few.setting.actions, agents=few.agents, coalitions=few.coalitions)
    learner = StableLearner(noise="pairs").fit(many)
    refuse_nonsense(learner.result_, game, "nash")
    assert learner.certificate_.gap <= game.gap(learner.strategy_) + 1e-3
    assert coterie.certify(many, learner.strategy_, noise="pairs").certificate.gap <= game.gap(learner.strategy_) + 1e-3
    assert coverage(many.whole).samples == many.n_samples
    many.save(tmp_path / "many.npz")
    assert Statistics.load(tmp_path / "many.npz").sha256 == many.sha256


def test_one_agent_is_nobody_to_form_teams_with():
    with pytest.raises(InputError, match="one agent only: there is nobody to form coalitions with"):
        StableLearner().fit(case(MEANS[:1, :1, :1]).log("totals"))


@pytest.mark.parametrize("delta", [0, 1e-301, 5e-324, 1, math.nan])
def test_deltas_that_are_none_are_refused_as_they_were_given(delta):
    with pytest.raises(
        InputError,
        match=f"delta: expected a number (from 1e-300 up|between 0 and 1), got {delta}|delta: expected a finite",
    ):
        learnt(CASES["two agents"], "pairs", delta=delta)


def test_actions_that_are_the_same_are_refused():
    with pytest.raises(InputError, match="actions: the same set is listed twice"):
        case(actions=[["c0"], ["c1"], ["c0"]]).log("pairs")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "feedback", "settings"),
    [
        pytest.param(name, feedback, settings, id=f"{name}, {feedback}, {next(iter(settings))}")
        for place, name in enumerate(CASES)
        for feedback, settings in zip(
            ("pairs", "totals") if place % 2 else ("totals", "pairs"),
            ({"strategy": "mixed"}, {"solver": "paper", "certificate": "paper"}),
            strict=True,
        )
    ],
)
def test_extreme_numbers_in_the_game_of_the_paper(name, feedback, settings):
    test_extreme_numbers(name, feedback, settings)
