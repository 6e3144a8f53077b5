"""Do certificates hold? Violations over many simulated logs, for learnt profiles, and how tight they are.

For every setting, many logs are drawn, a profile is learnt from each by a plain multi-start search
(which looks at everything that the certificate allows it to look at, and mostly picks the profile that
certifies best), and the certificate is compared with the true gap. Where an assumption fails, the test
that should warn of it is counted too.
"""

import argparse
import json
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import beta

from coterie import ActionSpaces, Game, Strategy, any_subset
from coterie.certificates import gains as gain_bounds
from coterie.certificates.certificate import Certificate
from coterie.certificates.diagnose import size_dependence, within_sample_dependence
from coterie.certificates.evidence import Evidence
from coterie.certificates.from_statistics import evidence_from
from coterie.certificates.holdout import Sealed, fixed, hold_out
from coterie.certificates.pair_evidence import PairEvidence
from coterie.certificates.paired import paired
from coterie.certificates.paper import paper, paper_totals
from coterie.certificates.total_evidence import TotalEvidence
from coterie.estimate.intervals import Bounds
from coterie.estimate.ridge import PENALTY, AgentRidge, JointRidge
from coterie.estimate.unknowns import Anonymous, KnownFactor
from coterie.game.actions import ExplicitSets
from coterie.simulate import Simulation, draw_sets, exploration_policy, numbered
from coterie.simulate.models import Normal, TimesSize, UtilityModel, utility_model
from coterie.simulate.policies import UniformOver
from coterie.statistics.dependence import SampleExcess
from coterie.statistics.in_memory import Batch
from coterie.statistics.packed import embedded
from coterie.statistics.pair_statistics import PairStatistics
from coterie.statistics.setting import Setting as LogSetting
from coterie.sums import Sums
from harness import table

DELTAS = (0.1, 0.01)
STARTS = {3: 5, 6: 5, 12: 3}
"""From how many profiles the search begins, by the number of agents."""
RESULT = Path(__file__).parent / "CALIBRATION.md"
KEPT = Path(__file__).parent / "calibration.json"
"""Cells and shares of warnings that are finished: a run computes only what is not there yet."""
LEARNING_SHARE = 0.4


# --- Games built to break certificates ------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Signs(UtilityModel):
    """v = +1 with probability (1 + mu) / 2, else -1: the largest variance that the range allows."""

    mu: Any
    symmetric: bool = True

    @property
    def n_agents(self) -> int:  # type: ignore[override]
        return self.mu.shape[1]

    @property
    def n_coalitions(self) -> int:  # type: ignore[override]
        return self.mu.shape[0]

    @property
    def means(self) -> Any:
        return self.mu

    def driving_noise(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        return rng.random(shape)

    def utilities(self, noise: Any, coalition: Any, agent: Any, partner: Any, size: Any) -> Any:  # noqa: ARG002
        return np.where(noise < (1 + self.mu[coalition, agent, partner]) / 2, 1.0, -1.0)


def random_mu(rng: np.random.Generator, k: int, n: int, spread: float) -> Any:
    upper = np.triu(rng.uniform(-spread, spread, (k, n, n)), 1)
    return upper + np.swapaxes(upper, 1, 2)


def signs(rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    return Signs(random_mu(rng, k, n, 0.3))


def plateau(rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    """All pairs of a coalition are worth the same small amount: many deviations gain alike, and the search
    picks whatever looks best by luck."""
    del rng
    mu = np.repeat(np.linspace(-0.1, 0.1, k)[:, None], n * n, axis=1).reshape(k, n, n)
    return Signs(mu * ~np.eye(n, dtype=bool))


def one_sided(rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    """What i gets from j says nothing about what j gets from i."""
    return Signs(rng.uniform(-0.3, 0.3, (k, n, n)) * ~np.eye(n, dtype=bool), symmetric=False)


def unbounded(rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    """Normal utilities with scale 1 and no bounds but those of the means."""
    return Normal(random_mu(rng, k, n, 0.5), np.ones((k, n, n)), clip=False)


def scaled(rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    return TimesSize(Normal(random_mu(rng, k, n, 0.8), np.full((k, n, n), 0.3)))


def pooled(rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    mu = np.repeat(random_mu(rng, 1, n, 0.5), k, axis=0)
    return Signs(mu)


def gaussian(rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    return utility_model("gaussian", n, k, rng)


def narrow(rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    """Little noise: variance-aware widths are small, and a mistake in them shows."""
    return Normal(random_mu(rng, k, n, 0.5), np.full((k, n, n), 0.1))


def rare_jackpot(rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    """Almost always -1, rarely +1: sample variances are often 0 although the variance is not."""
    mu = np.triu(-1 + 2 * rng.choice([0.002, 0.01, 0.05], (k, n, n)), 1)
    return Signs(mu + np.swapaxes(mu, 1, 2))


def size_gaussian(rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    return utility_model("size-gaussian", n, k, rng)


@dataclass(frozen=True, eq=False)
class Crowding(Signs):
    """Signs whose mean falls with the size of the coalition: 0.8 at two members, down to -0.8 at n."""

    @property
    def size_shift(self) -> Any:
        n = self.n_agents
        return np.tile(np.interp(np.arange(n + 1), [2, n], [0.6, -0.6]), (self.n_coalitions, 1))

    def utilities(self, noise: Any, coalition: Any, agent: Any, partner: Any, size: Any) -> Any:
        mean = self.mu[coalition, agent, partner] + self.size_shift[coalition, size]
        return np.where(noise < (1 + mean) / 2, 1.0, -1.0)


def crowding(rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    return Crowding(random_mu(rng, k, n, 0.2))


def anonymous_crowding(rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    """All pairs alike, by size."""
    del rng
    return Crowding(np.zeros((k, n, n)))


def pooled_crowding(rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    return Crowding(np.repeat(random_mu(rng, 1, n, 0.3), k, axis=0))


# --- Logs in memory --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Setting:
    name: str
    n: int
    k: int
    samples: int
    model: Callable[[np.random.Generator, int, int], UtilityModel]
    feedback: str = "semi-bandit"
    sizes: str = "ignore"
    noise: str = "pairs"
    """What the certificate allows for; where this is "samples", the log's noise is shared."""
    shared_noise: bool = False
    """Whether the log's noise is shared although the certificate takes pairs for independent."""
    policy: str = "random"
    pool: bool = False
    actions: str = "sets"
    """"sets": four random ones; "any": all of them, through the oracle as if they were too many."""
    structure: str = "declared"
    expected_to_fail: bool = False

    @property
    def key(self) -> str:
        return f"{self.name} {self.n}"


def simulation(setting: Setting, rng: np.random.Generator) -> Simulation:
    model = setting.model(rng, setting.n, setting.k)
    space: Any = ExplicitSets(draw_sets(rng, setting.k, min(4, 2**setting.k - 1)))
    if setting.actions == "any":
        space = any_subset(setting.k)
    spaces = ActionSpaces.shared(space, setting.n)
    game = model.game(spaces, numbered("p", setting.n), numbered("c", setting.k))
    if setting.policy == "rare":
        # Two agents meet only by chance of one in fifty, and one pair never.
        common = spaces.sample(rng, 50)
        common[1:, 0] = ~common[1:, 1] & space.enumerate()[0]
        policy: Any = UniformOver(common)
    else:
        policy = exploration_policy(setting.policy, spaces, None)
    shared = setting.noise == "samples" or setting.shared_noise
    return Simulation(model, policy, game, rng, "samples" if shared else None)


def statistics(setting: Setting, batch: Batch, game: Game, kept: Any, *, sizes: str | None = None) -> PairStatistics:
    """Return the statistics of some samples, as the reduction of a log would."""
    sizes = setting.sizes if sizes is None else sizes
    sigma = None if abs(batch.utility).max(initial=0.0) <= 1 else 1.0
    facts = LogSetting(
        "semi-bandit", game.agents, game.coalitions, batch.symmetric, (-1.0, 1.0), 0.0, sigma, setting.pool,
        "any", "any", sizes, setting.noise, (1.0,), 0,
    )  # fmt: skip
    low, high = facts.fixed_range
    rows = kept[batch.sample]
    size = batch.joined.sum(axis=1)[batch.sample, batch.coalition]
    room = np.zeros_like(batch.coalition) if setting.pool else batch.coalition
    q = np.floor((batch.utility - low) / (high - low) * 2**30 + 0.5).astype(np.int64)
    columns = [room, batch.agent, batch.partner, *([size] if sizes == "aware" else [])]
    keys = np.stack(columns, axis=1)[rows]
    values = [np.ones_like(q), q, (q * q) >> 30, (q * q) & (2**30 - 1)]
    together = None
    if setting.noise == "samples":
        if setting.pool:
            values.append(np.zeros_like(q))
        together = cooccurrences(facts, batch, columns, rows)
    entries = Sums.collect(keys, np.stack(values, axis=1)[rows])
    if setting.noise == "samples" and setting.pool:
        met = Sums.collect(np.column_stack([batch.sample[rows], keys]), np.ones((rows.sum(), 1), dtype=np.int64))
        squares = np.zeros((len(met.keys), 5), dtype=np.int64)
        squares[:, 4] = met.values[:, 0] ** 2
        entries = entries + Sums.collect(met.keys[:, 1:], squares)
    teams = Sums(np.zeros((0, 2), dtype=np.int64), np.zeros((0, 1), dtype=np.int64))
    return PairStatistics(facts, int(kept.sum()), entries, teams, together)


def cooccurrences(facts: LogSetting, batch: Batch, columns: list[Any], rows: Any) -> Any:
    """Return H_i of every agent, packed, straight from the definition."""
    packed = []
    for i in range(facts.n_agents):
        x = np.zeros((len(batch.joined), facts.n_features))
        for receiver, giver in ((1, 2), (2, 1)) if batch.symmetric else ((1, 2),):
            own = rows & (columns[receiver] == i)
            size = (columns[3][own],) if len(columns) == 4 else ()
            place = facts.feature(np.full(own.sum(), i), columns[0][own], columns[giver][own], *size)
            np.add.at(x, (batch.sample[own], place), 1)
        gram = (x.T @ x).astype(np.int64)
        packed.append(embedded(gram, np.arange(len(gram)), facts.block, len(gram)))
    return np.array(packed)


def evidence(setting: Setting, batch: Batch, game: Game, kept: Any, method: str = "best") -> Evidence:
    """Return what some of the samples prove.

    Utilities of pairs go the way that a log on disk would go, through `PairStatistics`; for totals, the
    `method` (one of `METHODS`) is fitted straight to the samples.
    """
    if setting.feedback == "bandit":
        return total_evidence(setting, batch, kept, method)
    part = statistics(setting, batch, game, kept)
    if setting.structure == "factor":
        scale = game.utilities.scale  # type: ignore[attr-defined]
        return evidence_from(part, unknowns=KnownFactor(scale))
    return evidence_from(part, unknowns=Anonymous() if setting.structure == "anonymous" else None)


METHODS = ("best", "joint", "paper")
"""How totals are fitted: each agent's weighted ridge, the joint ridge, the paper's ridge without weights."""


def methods(setting: Setting) -> list[str]:
    """Return which methods apply to a setting; semi-bandit logs have one, which is the best."""
    plain = setting.feedback == "bandit" and setting.sizes == "ignore" and setting.noise == "pairs"
    applies = {
        "best": True,
        "joint": plain and setting.model is not one_sided,
        "paper": plain and not setting.pool,
    }
    return [method for method in METHODS if applies[method]]


def total_evidence(setting: Setting, batch: Batch, kept: Any, method: str) -> TotalEvidence:
    """Return what some samples' totals prove, by one of `METHODS`."""
    totals, joined = batch.totals()[kept], batch.joined[kept]
    aware = setting.sizes == "aware"
    structure: Any = "pooled" if setting.pool else "size-free"
    if aware:
        structure = "pooled-aware" if setting.pool else "aware"
    if method == "joint":
        return TotalEvidence(joint_ridge(totals, joined, pool=setting.pool), structure)
    n = setting.n
    sizes = joined.sum(axis=1)
    grams, moments = [], []
    for i in range(n):
        both = (joined & joined[:, i : i + 1]).astype(float)
        x = np.delete(both, i, axis=1).transpose(0, 2, 1)  # samples, k, n - 1
        if aware:
            hot = (sizes[:, :, None] == np.arange(2, n + 1)).astype(float)
            x = x[:, :, :, None] * hot[:, :, None, :]
        if setting.pool:
            x = x.sum(axis=1)
        x = x.reshape(len(x), -1)
        c = np.maximum(x.sum(axis=1), 1.0)
        w = c ** {"paper": 0, "pairs": -1, "samples": -2}["paper" if method == "paper" else setting.noise]
        grams.append((x * w[:, None]).T @ x)
        moments.append(x.T @ (w * totals[:, i]))
    penalty = 1.0 if method == "paper" else PENALTY
    estimate = AgentRidge(tuple(grams), tuple(moments), Bounds(-1.0, 1.0), penalty)
    return TotalEvidence(estimate, structure, setting.noise == "samples")


def joint_ridge(totals: Any, joined: Any, *, pool: bool) -> JointRidge:
    """Return the joint estimate over edges: the sums of Z^+ Z and Z^+ v of all samples."""
    n = joined.shape[1]
    one, two = np.triu_indices(n, 1)
    met = (joined[:, one] & joined[:, two]).astype(float).transpose(0, 2, 1)  # samples, k, pairs
    if pool:
        met = met.sum(axis=1, keepdims=True)
    tables = met.shape[1]
    ends = np.tile((np.arange(n)[:, None] == one) | (np.arange(n)[:, None] == two), tables)
    z = met.reshape(len(met), 1, -1) * ends
    # Z^+ = Z' (Z Z')^+: matrices of agents by agents are much quicker to invert than those over edges.
    plus = np.linalg.pinv(z @ z.transpose(0, 2, 1), rcond=1e-10, hermitian=True) @ z
    projections = np.tensordot(plus, z, axes=((0, 1), (0, 1)))
    moment = np.tensordot(plus, totals, axes=((0, 1), (0, 1)))
    place = np.zeros((n, n), dtype=int)
    place[one, two] = place[two, one] = np.arange(len(one))
    own = tuple(np.concatenate([l * len(one) + np.delete(place[i], i) for l in range(tables)]) for i in range(n))
    return JointRidge(projections, moment, own, Bounds(-1.0, 1.0))


# --- Search and certificates -----------------------------------------------------------------------


def candidates(found: Evidence, game: Game, rng: np.random.Generator, starts: int) -> list[Strategy]:
    """Profiles that look stable: best-response dynamics on estimated room values, from random starts."""
    kept: dict[bytes, Strategy] = {}
    for start in game.actions.sample(rng, starts):
        profile = Strategy.pure(start, game.agents, game.coalitions)
        for _ in range(30):
            rooms = found.rooms(found.design(profile))
            value, action = game.actions.best_responses(rooms)
            gains = value - (profile.marginals * rooms).sum(axis=1)
            worst = int(gains.argmax())
            if gains[worst] <= 1e-9:
                break
            sets = profile.sets.copy()
            sets[worst] = action[worst]
            profile = Strategy.pure(sets, game.agents, game.coalitions)
        kept[profile.sets.tobytes()] = profile
    return list(kept.values())


def mixtures(pure: list[Strategy], game: Game, rng: np.random.Generator) -> list[Strategy]:
    """Mixed profiles between pairs of candidates."""
    mixed = []
    for _ in range(3):
        one, two = (pure[int(rng.integers(len(pure)))] for _ in range(2))
        supports = []
        for i in range(game.n_agents):
            sets = np.unique(np.stack([one.sets[i], two.sets[i]]), axis=0)
            supports.append((sets, rng.dirichlet(np.ones(len(sets)))))
        mixed.append(Strategy.mixed(supports, game.agents, game.coalitions))
    return mixed


def true_gains(game: Game, strategy: Strategy) -> Any:
    """Return every agent's largest true gain from a real deviation; it may be negative for pure profiles."""
    rooms = game.room_values(strategy)
    sets = game.actions.spaces[0].enumerate()
    gains = (sets[None] - strategy.marginals[:, None]) @ rooms[:, :, None]
    own = (sets[None] == strategy.marginals[:, None]).all(axis=2)
    return np.where(own, -np.inf, gains[:, :, 0]).max(axis=1)


def ranked(
    chosen: list[Strategy], spaces: ActionSpaces, delta: float, part: Evidence, sealed: Sealed
) -> list[Strategy]:
    """Return the three profiles that the learning part expects to certify best."""
    ahead = sealed.preview(part)
    return sorted(chosen, key=lambda s: fixed(ahead, s, spaces, delta).worst.bound)[:3]  # type: ignore[union-attr]


PAPER = "paper (as printed)"
FIRST_CELL = {"best": "paired", "joint": "paired joint", "paper": PAPER}
"""The certificate that shows that a method's cells are there."""

Record = tuple[str, float, bool, float]
"""Certificate, delta, whether any agent's bound was wrong, slack."""


def drawn(setting: Setting, seed: int) -> tuple[Game, Batch, np.random.Generator]:
    """Return the game and the log that belong to a seed."""
    rng = np.random.default_rng([seed, setting.n, setting.samples])
    source = simulation(setting, rng)
    (batch,) = source.batches(setting.samples)
    return source.game, batch, rng


def run(setting: Setting, chosen_methods: Sequence[str], seed: int) -> list[Record]:
    """Return for one log whether each certificate was wrong, and its slack."""
    gain_bounds.ENUMERATED = 2 if setting.actions == "any" else 2048
    game, batch, rng = drawn(setting, seed)
    spaces, starts = game.actions, STARTS[setting.n]
    learns = rng.random(setting.samples) < LEARNING_SHARE
    records: list[Record] = []

    def note(name: str, delta: float, found: Certificate, strategy: Strategy) -> None:
        # Stronger than "the gap is larger than certified": no agent's bound may be wrong.
        true = true_gains(game, strategy)
        claimed = np.array([found.alternatives[agent].bound for agent in game.agents])
        if not found.is_exact:
            claimed, true = np.maximum(claimed, 0), np.maximum(true, 0)
        wrong = bool((true > claimed + 1e-9).any())
        assert game.gap(strategy) <= found.gap + 1e-9 or wrong
        records.append((name, delta, wrong, found.gap - game.gap(strategy)))

    def smallest(found: Iterable[tuple[Certificate, Strategy]]) -> tuple[Certificate, Strategy]:
        return min(found, key=lambda pair: pair[0].worst.bound)  # type: ignore[union-attr]

    everything = np.ones(setting.samples, dtype=bool)
    for method in chosen_methods:
        if method != "best":
            # Cells of one method do not depend on which others are computed with them.
            rng = np.random.default_rng([seed, setting.n, setting.samples, METHODS.index(method)])
        full = evidence(setting, batch, game, everything, method)
        pure = candidates(full, game, rng, starts)
        if method == "paper":
            ridge: Any = full.estimate  # type: ignore[attr-defined]
            for delta in DELTAS:
                found, best = smallest((paper_totals(ridge, s, spaces, delta, setting.samples), s) for s in pure)
                note(PAPER, delta, found, best)
            continue
        suffix = " joint" if method == "joint" else ""
        learnt, held = (evidence(setting, batch, game, kept, method) for kept in (learns, ~learns))
        chosen = candidates(learnt, game, rng, starts)
        mixed = mixtures(pure, game, rng)
        mixed_from_learning = mixtures(chosen, game, rng)
        for delta in DELTAS:
            # The profile is the one that certifies best: the luckiest choice that data allow.
            found, best = smallest((paired(full, s, spaces, delta), s) for s in pure)
            note(f"paired{suffix}", delta, found, best)
            for form in ("box", "union"):
                note(f"paired {form}{suffix}", delta, paired(full, best, spaces, delta, form), best)  # type: ignore[arg-type]
            note(f"paired mixed{suffix}", delta, *smallest((paired(full, s, spaces, delta), s) for s in mixed))
            if isinstance(full, PairEvidence) and setting.structure == "declared":
                note(PAPER, delta, *smallest((paper(full, s, spaces, delta), s) for s in pure))

            best, found = hold_out(learnt, replace(held), partial(ranked, chosen, spaces, delta), spaces, delta)
            note(f"holdout{suffix}", delta, found, best)
            if isinstance(full, PairEvidence) and setting.noise == "pairs":
                for form in ("hoeffding", "bernstein"):
                    best, found = hold_out(learnt, replace(held), lambda *_: chosen[:1], spaces, delta, form)  # type: ignore[arg-type]  # noqa: B023
                    note(f"holdout {form}", delta, found, best)
            best, found = hold_out(learnt, replace(held), lambda *_: mixed_from_learning, spaces, delta)  # noqa: B023
            note(f"holdout mixed{suffix}", delta, found, best)
    return records


def warns(setting: Setting, seed: int) -> bool:
    """Return whether the test of the assumption that fails in this setting warns of it, on the log that `run` draws."""
    game, batch, rng = drawn(setting, seed)
    if setting.shared_noise:
        return within_sample_dependence(excess(batch)) is not None
    half = rng.random(setting.samples) < 0.5
    parts = [statistics(setting, batch, game, kept, sizes="aware") for kept in (half, ~half)]
    return bool(size_dependence(parts).coalitions)


def excess(batch: Batch) -> SampleExcess:
    """Return what `coterie.statistics.dependence.sample_excess` finds in a log on disk."""
    size = batch.joined.sum(axis=1)[batch.sample, batch.coalition]
    _, n, k = batch.joined.shape
    cell = np.ravel_multi_index((batch.coalition, batch.agent, batch.partner, size), (k, n, n, n + 1))
    count, total = np.bincount(cell), np.bincount(cell, batch.utility)
    e = batch.utility - (total / np.maximum(count, 1))[cell]
    pairs = np.bincount(batch.sample)
    products = np.bincount(batch.sample, e) ** 2 - np.bincount(batch.sample, e**2)
    each = products[pairs > 1] / pairs[pairs > 1]
    return SampleExcess(len(each), float(each.sum()), float((each**2).sum()))


def settings() -> Iterator[Setting]:
    for n, samples in ((3, 60), (6, 150), (12, 400)):
        base = Setting("", n, 3, samples, gaussian)
        yield replace(base, name="gaussian")
        yield replace(base, name="signs", model=signs)
        yield replace(base, name="plateau", model=plateau)
        yield replace(base, name="narrow", model=narrow)
        yield replace(base, name="rare jackpot", model=rare_jackpot)
        yield replace(base, name="rare and unseen pairs", model=signs, policy="rare")
        yield replace(base, name="ordered pairs", model=one_sided)
        yield replace(base, name="unbounded", model=unbounded)
        yield replace(base, name="any set, by the oracle", model=signs, actions="any")
        yield replace(base, name="pooled, met several times", model=pooled, pool=True)
        yield replace(base, name="pooled, shared noise", model=pooled, pool=True, noise="samples")
        yield replace(base, name="shared noise", model=signs, noise="samples")
        sized = replace(base, sizes="aware", samples=2 * samples)
        yield replace(sized, name="sizes", model=size_gaussian)
        yield replace(sized, name="crowding", model=crowding)
        # With 12 agents these have hundreds of unknowns each: two coalitions instead of three.
        k = 2 if n == 12 else 3
        yield replace(sized, name="sizes, shared noise", model=crowding, noise="samples", k=k)
        yield replace(sized, name="sizes, known factor", model=scaled, structure="factor")
        yield replace(sized, name="sizes, anonymous", model=anonymous_crowding, structure="anonymous")
        yield replace(sized, name="sizes, pooled", model=pooled_crowding, pool=True)
        yield replace(base, name="crowding, sizes ignored", model=crowding, samples=20 * samples, expected_to_fail=True)
        yield replace(base, name="shared noise, ignored", model=plateau, shared_noise=True, expected_to_fail=True)
        bandit = replace(base, feedback="bandit", samples=2 * samples)
        yield replace(bandit, name="bandit gaussian")
        yield replace(bandit, name="bandit signs", model=signs)
        yield replace(bandit, name="bandit pooled", model=pooled, pool=True)
        yield replace(bandit, name="bandit one-sided", model=one_sided)
        yield replace(bandit, name="bandit shared noise", model=signs, noise="samples")
        by_size = replace(bandit, model=crowding, sizes="aware", k=k)
        yield replace(by_size, name="bandit sizes")
        yield replace(by_size, name="bandit sizes, shared noise", noise="samples")


def interval(failures: int, runs: int) -> tuple[float, float]:
    """Return the exact (Clopper and Pearson) 99 % interval for a share."""
    low = float(beta.ppf(0.005, failures, runs - failures + 1)) if failures else 0.0
    high = float(beta.ppf(0.995, failures + 1, runs - failures)) if failures < runs else 1.0
    return low, high


def summarise(setting: Setting, records: list[list[Record]]) -> list[list[Any]]:
    grouped: dict[tuple[str, float], list[tuple[bool, float]]] = defaultdict(list)
    for one in records:
        for name, delta, wrong, slack in one:
            grouped[name, delta].append((wrong, slack))
    rows = []
    for (name, delta), pairs in grouped.items():
        failures = sum(wrong for wrong, _ in pairs)
        low, high = interval(failures, len(pairs))
        slack = np.mean([slack for _, slack in pairs])
        verdict = "fails" if low > delta else "holds"
        share = f"{failures}/{len(pairs)}"
        rows.append([setting.name, setting.n, name, delta, share, f"{low:.4f} to {high:.4f}", f"{slack:.3f}", verdict])
    return rows


HEADER = ["game", "n", "certificate", "delta", "violations", "99 % interval", "mean slack", "verdict"]


Cells = dict[str, list[list[Any]]]
"""Rows of the table by setting."""


def report(results: Cells, warned: dict[str, str], logs: int) -> str:
    """Return the page: a summary, every cell, and what happens where an assumption fails."""
    expected = {setting.key for setting in settings() if setting.expected_to_fail}
    sound = [row for key, rows in results.items() if key not in expected for row in rows]
    printed = [row for row in sound if row[2].startswith("paper")]
    ours = [row for row in sound if not row[2].startswith("paper")]
    failing = [row for row in ours if row[-1] == "fails"]
    worst = {}
    for delta in DELTAS:
        shares = [int(row[4].split("/")[0]) / int(row[4].split("/")[1]) for row in ours if row[3] == delta]
        worst[delta] = max(shares, default=0.0)
    about = (
        "A certificate g promises that the true gap is at most g with probability 1 - delta. Each cell counts, over "
        f"{logs} simulated logs with known truth, how often something stronger was wrong: that no agent's largest "
        "bound, even a negative one, lies below her largest true gain. The profile is the one that certifies best "
        f"among those that a search from {STARTS[3]} starts ({STARTS[12]} with 12 agents) found: the luckiest choice "
        "that data allow. Two pairs of rows differ: `paired box` and `paired union` are about the profile that is best "
        "by `paired`, `holdout hoeffding` and `holdout bernstein` about the first that the search found. "
        "Games have three coalitions; with 12 agents, bandit logs by size and logs by size with shared noise have two. "
        "Bandit logs are fitted agent by agent; rows that end in `joint` use the joint ridge, which needs a symmetric "
        "game, independent pairs and sizes ignored. The interval is exact (Clopper and Pearson). "
        "Slack is the certificate minus the true gap."
    )
    todo = [
        setting.key
        for setting in settings()
        if missing(setting, results.get(setting.key, [])) or (setting.expected_to_fail and setting.key not in warned)
    ]
    total = len(list(settings()))
    as_printed = (
        f"- The paper's certificate as printed, where its assumptions hold: {len(printed)} cells, "
        f"{sum(row[-1] == 'fails' for row in printed)} failing."
    )
    ignored = (
        '- Where utilities depend on size and sizes are ignored ("crowding, sizes ignored"), or where the pairs of a '
        'sample share their noise and are taken for independent ("shared noise, ignored"), certificates may fail, and '
        "a test warns; the last table shows how often both happen."
    )
    warnings = (
        "`warned` counts the logs of the setting in which the test for that assumption warns: the test for dependence "
        "on size, or for pairs of a sample that move together."
    )
    failed = [[*row, warned.get(key, "-")] for key, rows in results.items() if key in expected for row in rows]
    lines = [
        "# Calibration",
        "",
        f"Made by `python benchmarks/calibration.py --logs {logs}`; finished: {total - len(todo)} of {total} settings.",
        "",
        about,
        "",
        f"- {len(ours)} cells whose assumptions hold: {len(failing)} with significantly more violations than delta.",
        *(f"- Largest share of violations at delta = {delta}: {share:.4f}." for delta, share in worst.items()),
        as_printed,
        ignored,
        "",
        "## Where assumptions hold",
        "",
        table(HEADER, sound),
        "",
        "## Where an assumption fails",
        "",
        warnings,
        "",
        table([*HEADER, "warned"], failed),
        "",
    ]
    return "\n".join(lines)


def write_page(cells: Cells, warned: dict[str, str], logs: int) -> None:
    """Write the page with all cells in the order of the settings."""
    ordered = {setting.key: cells[setting.key] for setting in settings() if setting.key in cells}
    RESULT.write_text(report(ordered, warned, logs), encoding="utf-8")


def missing(setting: Setting, rows: list[list[Any]]) -> list[str]:
    """Return the methods whose cells are not among the rows."""
    there = {row[2] for row in rows}
    return [method for method in methods(setting) if FIRST_CELL[method] not in there]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logs", type=int, default=1000, help="logs per setting")
    parser.add_argument("--only", default="", help="settings whose name contains this")
    parser.add_argument("--agents", type=int, default=0, help="only this number of agents")
    parser.add_argument("--kept", type=Path, default=KEPT, help="finished settings, for resuming")
    options = parser.parse_args()
    kept = json.loads(options.kept.read_text()) if options.kept.exists() else {"cells": {}, "warned": {}}
    cells, warned = kept["cells"], kept["warned"]
    shares = [row[4] for rows in cells.values() for row in rows] + list(warned.values())
    assert all(share.endswith(f"/{options.logs}") for share in shares), "--logs: as before"

    def keep(key: str, start: float, found: Any) -> None:
        options.kept.write_text(json.dumps(kept))
        write_page(cells, warned, options.logs)
        print(key, f"{time.perf_counter() - start:.0f} s", found, flush=True)

    with ProcessPoolExecutor(os.cpu_count()) as pool:

        def over_logs(work: Callable[[int], Any]) -> list[Any]:
            return list(pool.map(work, range(options.logs), chunksize=20))

        for setting in settings():
            key = setting.key
            if options.only not in setting.name or options.agents not in {0, setting.n}:
                continue
            if chosen := missing(setting, cells.get(key, [])):
                start = time.perf_counter()
                rows = summarise(setting, over_logs(partial(run, setting, chosen)))
                cells[key] = cells.get(key, []) + rows
                keep(key, start, [row[2:5] for row in rows if row[-1] == "fails"] or "holds")
            if setting.expected_to_fail and key not in warned:
                start = time.perf_counter()
                warned[key] = f"{sum(over_logs(partial(warns, setting)))}/{options.logs}"
                keep(key, start, f"warned {warned[key]}")
    write_page(cells, warned, options.logs)


if __name__ == "__main__":
    main()
