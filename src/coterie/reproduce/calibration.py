"""Do certificates hold? Simulated logs of hostile games with known truth, and a search that takes the luckiest profile.

For one log of a setting, a plain multi-start search looks at everything that the certificate allows it to
look at and takes the profile that certifies best; the certificate is then compared with the true gains.
`benchmarks/calibration.py` does so for a thousand logs of each setting, the tests for a few.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, NamedTuple

import numpy as np

from coterie.arrays import BoolArray, FloatArray
from coterie.assumptions.sample_dependence import independence_check
from coterie.assumptions.size_dependence import size_check
from coterie.certificates.certificate import Certificate
from coterie.certificates.evidence import Evidence, Form
from coterie.certificates.from_statistics import evidence_from
from coterie.certificates.gains import ENUMERATED
from coterie.certificates.holdout import Sealed, fixed, hold_out
from coterie.certificates.pair_evidence import PairEvidence
from coterie.certificates.paired import paired
from coterie.certificates.paper import paper, paper_totals
from coterie.certificates.total_evidence import TotalEvidence
from coterie.estimate.ridge import paper_ridge
from coterie.estimate.unknowns import Anonymous, KnownFactor, Unknowns
from coterie.game.actions import ActionSpace, ActionSpaces, ExplicitSets, any_subset
from coterie.game.game import Game
from coterie.game.strategy import Strategy
from coterie.log.log import Log
from coterie.simulate import hostile
from coterie.simulate.growing import Reading, setting_of
from coterie.simulate.logs import Feedback, Simulation, draw_sets, numbered
from coterie.simulate.policies import Policy, PolicyName, UniformOver, exploration_policy
from coterie.statistics.in_memory import Batch, reduced
from coterie.statistics.setting import Noise, Sizes
from coterie.statistics.statistics import PartStatistics, Statistics
from coterie.statistics.total_statistics import TotalStatistics

DELTAS = (0.1, 0.01)

STARTS = {3: 5, 6: 5, 12: 3}
"""From how many profiles the search begins, by the number of agents."""

LEARNING_SHARE = 0.4

Method = Literal["best", "joint", "paper"]
"""How totals are fitted: each agent's weighted ridge, the joint ridge, the paper's ridge without weights."""

METHODS: tuple[Method, ...] = ("best", "joint", "paper")

PAPER = "paper (as printed)"

FIRST_CELL: dict[Method, str] = {"best": "paired", "joint": "paired joint", "paper": PAPER}
"""The certificate that shows that a method was tried."""


@dataclass(frozen=True)
class Setting:
    """A kind of game, how its logs come about, and how they are read."""

    name: str
    n: int
    k: int
    samples: int
    model: hostile.Draw
    feedback: Feedback = "semi-bandit"
    sizes: Sizes = "ignore"
    noise: Noise = "pairs"
    """What the certificate allows for; where this is "samples", the log's noise is shared."""
    shared_noise: bool = False
    """Whether the log's noise is shared although the certificate takes pairs for independent."""
    policy: PolicyName | Literal["rare"] = "random"
    """"rare": two agents meet only by chance of one in fifty, and one pair never; else as in `coterie simulate`."""
    pool: bool = False
    actions: str = "sets"
    """"sets": four random ones; "any": all of them."""
    listed: int = ENUMERATED
    """Up to how many actions are listed; with fewer than there are, bounds go through the oracle. It is for the
    caller to put this into `coterie.certificates.gains.ENUMERATED`."""
    unknowns: Callable[[Game], Unknowns] | None = None
    """Other unknowns than those that sizes and noise say, made for a game."""
    expected_to_fail: bool = False

    @property
    def key(self) -> str:
        """The setting's own name."""
        return f"{self.name} {self.n}"

    def methods(self) -> list[Method]:
        """Return how its logs can be fitted; semi-bandit logs have one way, which is the best."""
        plain = self.feedback == "bandit" and self.sizes == "ignore" and self.noise == "pairs"
        applies = {
            "best": True,
            "joint": plain and self.model is not hostile.one_sided,
            "paper": plain and not self.pool,
        }
        return [method for method in METHODS if applies[method]]

    def simulation(self, rng: np.random.Generator) -> Simulation:
        """Draw a game, and return the source of its log."""
        model = self.model(rng, self.n, self.k)
        space: ActionSpace = ExplicitSets(draw_sets(rng, self.k, min(4, 2**self.k - 1)))
        if self.actions == "any":
            space = any_subset(self.k)
        spaces = ActionSpaces.shared(space, self.n)
        game = model.game(spaces, numbered("p", self.n), numbered("c", self.k))
        shared = self.noise == "samples" or self.shared_noise
        return Simulation(model, self._policy(rng, spaces), game, rng, "samples" if shared else None)

    def _policy(self, rng: np.random.Generator, spaces: ActionSpaces) -> Policy:
        if self.policy != "rare":
            return exploration_policy(self.policy, spaces, None)
        common = spaces.sample(rng, 50)
        common[1:, 0] = ~common[1:, 1] & spaces.spaces[0].enumerate()[0]
        return UniformOver(common)

    def statistics(
        self, source: Simulation, batch: Batch, learns: BoolArray, method: Method = "best", sizes: Sizes | None = None
    ) -> Statistics:
        """Return the statistics of the samples that learn and of the others."""
        reading = Reading(sizes or self.sizes, self.noise, method == "paper", method == "joint", self.pool)
        shares = (LEARNING_SHARE, 1 - LEARNING_SHARE)
        about = setting_of(source, self.feedback, reading, shares)
        part = (~learns).astype(np.int64)
        return reduced(batch, part, about, unweighted=reading.unweighted, joint=reading.joint)

    def evidence(self, part: PartStatistics, game: Game, method: Method = "best") -> Evidence:
        """Return what a part of a log proves, read as the setting says."""
        if isinstance(part, TotalStatistics):
            return TotalEvidence(paper_ridge(part)) if method == "paper" else evidence_from(part)
        return evidence_from(part, unknowns=None if self.unknowns is None else self.unknowns(game))


def _size_factor(game: Game) -> Unknowns:
    return KnownFactor(game.utilities.scale)  # type: ignore[attr-defined]


def _anonymous(game: Game) -> Unknowns:
    del game
    return Anonymous()


class Drawn(NamedTuple):
    """A log in memory, the source that it is from, and the generator for what is drawn later."""

    source: Simulation
    batch: Batch
    rng: np.random.Generator


def drawn(setting: Setting, seed: int) -> Drawn:
    """Return the log that belongs to a seed."""
    rng = np.random.default_rng([seed, setting.n, setting.samples])
    source = setting.simulation(rng)
    (batch,) = source.batches(setting.samples)
    return Drawn(source, batch, rng)


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


def mixtures(pure: Sequence[Strategy], game: Game, rng: np.random.Generator) -> list[Strategy]:
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


def true_gains(game: Game, strategy: Strategy) -> FloatArray:
    """Return every agent's largest true gain from a real deviation; it may be negative for pure profiles."""
    rooms = game.room_values(strategy)
    sets = game.actions.spaces[0].enumerate()
    gains = (sets[None] - strategy.marginals[:, None]) @ rooms[:, :, None]
    own = (sets[None] == strategy.marginals[:, None]).all(axis=2)
    return np.asarray(np.where(own, -np.inf, gains[:, :, 0]).max(axis=1))


def worst_bound(found: Certificate) -> float:
    """Return the largest bound of any agent's gain, be it negative."""
    assert found.worst is not None
    return found.worst.bound


def ranked(
    chosen: Sequence[Strategy], spaces: ActionSpaces, delta: float, part: Evidence, sealed: Sealed
) -> list[Strategy]:
    """Return the three profiles that the learning part expects to certify best."""
    ahead = sealed.preview(part)
    return sorted(chosen, key=lambda s: worst_bound(fixed(ahead, s, spaces, delta)))[:3]


class Record(NamedTuple):
    """What came of one certificate of one log."""

    certificate: str
    delta: float
    wrong: bool
    """Whether any agent's bound was wrong."""
    slack: float
    """The certificate minus the true gap."""


def run(setting: Setting, methods: Iterable[Method], seed: int) -> list[Record]:
    """Return for one log whether each certificate was wrong, and its slack."""
    source, batch, rng = drawn(setting, seed)
    game = source.game
    learns = rng.random(setting.samples) < LEARNING_SHARE
    records: list[Record] = []
    for method in methods:
        if method != "best":
            # Records of one method do not depend on which others are made with them.
            rng = np.random.default_rng([seed, setting.n, setting.samples, METHODS.index(method)])
        statistics = setting.statistics(source, batch, learns, method)
        for name, delta, found, strategy in _certificates(setting, statistics, game, method, rng):
            # Stronger than "the gap is larger than certified": no agent's bound may be wrong.
            true, gap = true_gains(game, strategy), game.gap(strategy)
            claimed = np.array([found.alternatives[agent].bound for agent in game.agents])
            if not found.is_exact:
                claimed, true = np.maximum(claimed, 0), np.maximum(true, 0)
            wrong = bool((true > claimed + 1e-9).any())
            assert gap <= found.gap + 1e-9 or wrong
            records.append(Record(name, delta, wrong, found.gap - gap))
    return records


Certified = tuple[Certificate, Strategy]

Learn = Callable[[Evidence, Sealed], Sequence[Strategy]]


def _smallest(found: Iterable[Certified]) -> Certified:
    return min(found, key=lambda pair: worst_bound(pair[0]))


def _certificates(
    setting: Setting, statistics: Statistics, game: Game, method: Method, rng: np.random.Generator
) -> Iterator[tuple[str, float, Certificate, Strategy]]:
    """Yield every certificate of a log that a method can make: its name, delta, and the profile that it is about."""
    spaces, starts = game.actions, STARTS[setting.n]
    full = setting.evidence(statistics.whole, game, method)
    pure = candidates(full, game, rng, starts)
    if method == "paper":
        ridge = paper_ridge(statistics.whole)  # type: ignore[arg-type]
        for delta in DELTAS:
            yield (
                PAPER,
                delta,
                *_smallest((paper_totals(TotalEvidence(ridge), s, spaces, delta, setting.samples), s) for s in pure),
            )
        return
    suffix = " joint" if method == "joint" else ""
    learnt, held = (setting.evidence(part, game, method) for part in statistics.parts)
    chosen = candidates(learnt, game, rng, starts)
    mixed, mixed_from_learning = mixtures(pure, game, rng), mixtures(chosen, game, rng)
    pairs = full if isinstance(full, PairEvidence) else None

    def held_out(profiles: Learn, delta: float, form: Form = "both") -> Certified:
        # A copy, since a part that has certified is sealed for good.
        strategy, found = hold_out(learnt, replace(held), profiles, spaces, delta, form=form)  # type: ignore[type-var]
        return found, strategy

    for delta in DELTAS:
        # The profile is the one that certifies best: the luckiest choice that data allow.
        found, best = _smallest((paired(full, s, spaces, delta), s) for s in pure)
        yield f"paired{suffix}", delta, found, best
        yield f"paired box{suffix}", delta, paired(full, best, spaces, delta, form="box"), best
        yield f"paired union{suffix}", delta, paired(full, best, spaces, delta, form="union"), best
        yield f"paired mixed{suffix}", delta, *_smallest((paired(full, s, spaces, delta), s) for s in mixed)
        if pairs is not None and setting.unknowns is None:
            yield PAPER, delta, *_smallest((paper(pairs, s, spaces, delta), s) for s in pure)
        yield f"holdout{suffix}", delta, *held_out(partial(ranked, chosen, spaces, delta), delta)
        if pairs is not None and setting.noise == "pairs":
            yield "holdout hoeffding", delta, *held_out(lambda *_: chosen[:1], delta, "hoeffding")
            yield "holdout bernstein", delta, *held_out(lambda *_: chosen[:1], delta, "bernstein")
        yield f"holdout mixed{suffix}", delta, *held_out(lambda *_: mixed_from_learning, delta)


def warns(setting: Setting, seed: int) -> bool:
    """Return whether the test of the assumption that fails in this setting warns of it, on the log that `run` draws."""
    source, batch, _ = drawn(setting, seed)
    tables = source.tables(batch)
    log = Log.from_frames(memberships=tables["memberships"], pairs=tables["pairs"], threads=1)
    statistics = Statistics.of(log, parts=(1.0,))
    check = independence_check(statistics) if setting.shared_noise else size_check(statistics)
    return check.verdict == "broken"


def settings() -> Iterator[Setting]:
    """Yield every setting: 27 kinds of games and logs, each with 3, 6 and 12 agents."""
    for n, samples in ((3, 60), (6, 150), (12, 400)):
        base = Setting("", n, 3, samples, hostile.gaussian)
        yield replace(base, name="gaussian")
        yield replace(base, name="signs", model=hostile.signs)
        yield replace(base, name="plateau", model=hostile.plateau)
        yield replace(base, name="narrow", model=hostile.narrow)
        yield replace(base, name="rare jackpot", model=hostile.rare_jackpot)
        yield replace(base, name="rare and unseen pairs", model=hostile.signs, policy="rare")
        yield replace(base, name="ordered pairs", model=hostile.one_sided)
        yield replace(base, name="unbounded", model=hostile.unbounded)
        yield replace(base, name="any set, by the oracle", model=hostile.signs, actions="any", listed=2)
        yield replace(base, name="pooled, met several times", model=hostile.pooled, pool=True)
        yield replace(base, name="pooled, shared noise", model=hostile.pooled, pool=True, noise="samples")
        yield replace(base, name="shared noise", model=hostile.signs, noise="samples")
        sized = replace(base, sizes="aware", samples=2 * samples)
        yield replace(sized, name="sizes", model=hostile.size_gaussian)
        yield replace(sized, name="crowding", model=hostile.crowding)
        # With 12 agents these have hundreds of unknowns each: two coalitions instead of three.
        k = 2 if n == 12 else 3
        yield replace(sized, name="sizes, shared noise", model=hostile.crowding, noise="samples", k=k)
        yield replace(sized, name="sizes, known factor", model=hostile.scaled, unknowns=_size_factor)
        yield replace(sized, name="sizes, anonymous", model=hostile.anonymous_crowding, unknowns=_anonymous)
        yield replace(sized, name="sizes, pooled", model=hostile.pooled_crowding, pool=True)
        wrongly = replace(base, expected_to_fail=True)
        yield replace(wrongly, name="crowding, sizes ignored", model=hostile.crowding, samples=20 * samples)
        yield replace(wrongly, name="shared noise, ignored", model=hostile.plateau, shared_noise=True)
        bandit = replace(base, feedback="bandit", samples=2 * samples)
        yield replace(bandit, name="bandit gaussian")
        yield replace(bandit, name="bandit signs", model=hostile.signs)
        yield replace(bandit, name="bandit pooled", model=hostile.pooled, pool=True)
        yield replace(bandit, name="bandit one-sided", model=hostile.one_sided)
        yield replace(bandit, name="bandit shared noise", model=hostile.signs, noise="samples")
        by_size = replace(bandit, model=hostile.crowding, sizes="aware", k=k)
        yield replace(by_size, name="bandit sizes")
        yield replace(by_size, name="bandit sizes, shared noise", noise="samples")
