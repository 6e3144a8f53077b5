"""Do certificates hold? Simulated logs of hostile games with known truth, and a search that takes the luckiest profile.

For one log of a setting, a plain multi-start search looks at everything that the certificate allows it to
look at and takes the profile that certifies best; what the certificate says is then compared with the true gains.
It makes three promises, and each is counted on its own, see `Record`.
`benchmarks/calibration.py` does so for a thousand logs of each setting, the tests for a few.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from coterie.arrays import BoolArray, FloatArray
from coterie.assumptions.sample_dependence import independence_check
from coterie.assumptions.size_dependence import size_check
from coterie.certificates.certificate import Certificate
from coterie.certificates.evidence import Evidence, Form
from coterie.certificates.from_statistics import evidence_from
from coterie.certificates.gains import ENUMERATED, GainBound, worst_deviations
from coterie.certificates.holdout import Sealed, hold_out, holdout_bound
from coterie.certificates.pair_evidence import PairEvidence
from coterie.certificates.paired import paired, paired_bound, union_terms
from coterie.certificates.paper import paper, paper_totals
from coterie.certificates.total_evidence import TotalEvidence
from coterie.certificates.widths import one_event
from coterie.estimate.ridge import paper_ridge
from coterie.estimate.unknowns import Anonymous, KnownFactor, Unknowns
from coterie.game.actions import ActionSpace, ActionSpaces, ExplicitSets, UpTo, any_subset
from coterie.game.game import Game
from coterie.game.strategy import Strategy
from coterie.log.log import Log
from coterie.log.options import Missing
from coterie.simulate import hostile
from coterie.simulate.growing import Reading, setting_of
from coterie.simulate.logs import Feedback, Simulation, draw_sets, numbered
from coterie.simulate.policies import Policy, PolicyName, UniformOver, exploration_policy
from coterie.statistics.in_memory import Batch, reduced
from coterie.statistics.second_pass import SecondPass
from coterie.statistics.setting import Noise, Sizes
from coterie.statistics.statistics import PartStatistics, Statistics
from coterie.statistics.total_statistics import TotalStatistics

DELTAS = (0.5, 0.1, 0.01)

CHOOSING = 0.1
"""At this delta the profile is the one that certifies best."""

STARTS = {3: 5, 6: 5, 12: 3}
"""From how many profiles the search begins, by the number of agents."""

LEARNING_SHARE = 0.4

ROUNDS = 10
"""So many times the agents of an adaptive log look at what they have got so far."""

Method = Literal["best", "joint", "paper"]
"""How totals are fitted: each agent's weighted ridge, the joint ridge, the paper's ridge without weights."""

ROUNDING = 1e-9

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
    policy: PolicyName | Literal["rare", "popular"] = "random"
    """"rare": two agents meet only by chance of one in fifty, and one pair never; "popular": everybody mostly chooses
    the same set; else as in `coterie simulate`."""
    adaptive: bool = False
    """Whether agents mostly do what paid best so far; the certificate allows for it."""
    unrecorded: Callable[[np.random.Generator, Batch], BoolArray] | None = None
    """Which rows are missing from the log."""
    missing: Missing = "ignore"
    """How the certificate counts them."""
    pool: bool = False
    actions: Literal["sets", "any", "one", "up to two"] = "sets"
    """"sets": four random ones; "any": all of them; "one": single coalitions; "up to two": as many at most, or none."""
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
        plain = self.feedback == "bandit" and self.sizes == "ignore" and self.noise == "pairs" and not self.adaptive
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
        if self.actions == "one":
            space = ExplicitSets(np.eye(self.k, dtype=bool))
        if self.actions == "up to two":
            space = UpTo(self.k, 2, may_stay_out=True)
        spaces = ActionSpaces.shared(space, self.n)
        game = model.game(spaces, numbered("p", self.n), numbered("c", self.k))
        shared = self.noise == "samples" or self.shared_noise
        return Simulation(model, self._policy(rng, game), game, rng, "samples" if shared else None)

    def _policy(self, rng: np.random.Generator, game: Game) -> Policy:
        spaces = game.actions
        if self.policy == "popular":
            return hostile.popular(game)
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
        about = replace(
            setting_of(source, self.feedback, reading, shares), missing=self.missing, adaptive=self.adaptive
        )
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
    batch = _in_rounds(source, setting.samples) if setting.adaptive else next(source.batches(setting.samples))
    if setting.unrecorded is not None:
        batch = hostile.without(batch, setting.unrecorded(rng, batch))
    return Drawn(source, batch, rng)


def _in_rounds(source: Simulation, samples: int) -> Batch:
    """Draw a log whose agents look at what they have got, again and again."""
    seen: Batch | None = None
    for _ in range(ROUNDS):
        (found,) = replace(source, policy=hostile.greedy(source.game, seen)).batches(samples // ROUNDS)
        seen = found if seen is None else _appended(seen, found)
    assert seen is not None
    return seen


def _appended(ours: Batch, theirs: Batch) -> Batch:
    def both(name: str) -> Any:
        return np.concatenate([getattr(ours, name), getattr(theirs, name)])

    return replace(
        ours,
        joined=both("joined"),
        sample=np.concatenate([ours.sample, theirs.sample + len(ours.joined)]),
        coalition=both("coalition"),
        agent=both("agent"),
        partner=both("partner"),
        utility=both("utility"),
    )


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
    """Two mixed profiles between pairs of candidates."""
    mixed = []
    for _ in range(2):
        one, two = (pure[int(rng.integers(len(pure)))] for _ in range(2))
        supports = []
        for i in range(game.n_agents):
            sets = [one.sets[i], two.sets[i]][: 2 - bool((one.sets[i] == two.sets[i]).all())]
            supports.append((sets, rng.dirichlet(np.ones(len(sets)))))
        mixed.append(Strategy.mixed(supports, game.agents, game.coalitions))
    return mixed


class Record(NamedTuple):
    """What came of one certificate of one log: of its three promises, each with probability 1 - delta on its own."""

    certificate: str
    delta: float
    wrong: bool
    """The promise: whether the true gap is larger than certified."""
    agents: BoolArray
    """Whose own bound is wrong, be it negative: each agent's holds on its own."""
    staying: int
    """How many surely stay."""
    staying_wrong: bool
    """Whether any of them can gain: they stay together, or the statement is wrong."""
    slack: float
    """The certificate minus the true gap."""


def run(setting: Setting, methods: Iterable[Method], seed: int) -> list[Record]:
    """Return for one log which promises of each certificate were broken, and its slack."""
    source, batch, rng = drawn(setting, seed)
    game = source.game
    learns = rng.random(setting.samples) < LEARNING_SHARE
    records: list[Record] = []
    truth = Truth(game)
    for method in methods:
        if method != "best":
            # Records of one method do not depend on which others are made with them.
            rng = np.random.default_rng([seed, setting.n, setting.samples, METHODS.index(method)])
        statistics = setting.statistics(source, batch, learns, method)
        again = SecondPass.of_batches([(batch, (~learns).astype(np.int64))], statistics)
        records += [
            compared(name, found, truth, strategy)
            for name, found, strategy in _certificates(setting, statistics, game, method, rng, again)
        ]
    return records


class Truth:
    """The true gains of strategies; many certificates are about the same one."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self._known: dict[Strategy, tuple[FloatArray, float]] = {}

    def of(self, strategy: Strategy) -> tuple[FloatArray, float]:
        """Return the largest gain of every agent from a real deviation, which may be negative, and the gap."""
        if strategy not in self._known:
            self._known[strategy] = self._gains(strategy), self._gap(strategy)
        return self._known[strategy]

    def _gap(self, strategy: Strategy) -> float:
        return self.game.gap(strategy)

    def _gains(self, strategy: Strategy) -> FloatArray:
        rooms = self.game.room_values(strategy)
        sets = self.game.actions.spaces[0].enumerate()
        gains = (sets[None] - strategy.marginals[:, None]) @ rooms[:, :, None]
        own = (sets[None] == strategy.marginals[:, None]).all(axis=2)
        return np.asarray(np.where(own, -np.inf, gains[:, :, 0]).max(axis=1))


def compared(name: str, found: Certificate, truth: Truth, strategy: Strategy) -> Record:
    """Return what a certificate says beside what is true."""
    true, gap = truth.of(strategy)
    agents = strategy.agents
    # Of whoever has no alternative, no step at all is said to be possible.
    claimed = np.array([found.alternatives[one].bound if one in found.alternatives else -np.inf for one in agents])
    stays = np.isin(agents, found.surely_stay)
    if not found.is_exact:
        claimed, true = np.maximum(claimed, 0), np.maximum(true, 0)
    wrong, own_wrong = gap > found.gap + ROUNDING, true > claimed + ROUNDING
    # The gap is somebody's gain, and the certificate is at least her own bound.
    assert own_wrong.any() or not wrong
    return Record(
        name, found.delta, wrong, own_wrong, int(stays.sum()), bool((true[stays] > ROUNDING).any()), found.gap - gap
    )


def _lowest(
    profiles: Sequence[Strategy], spaces: ActionSpaces, bound: Callable[[Strategy], GainBound], count: int = 1
) -> list[Strategy]:
    """Return the profiles whose largest bound, be it negative, is smallest."""
    if len(profiles) <= count:
        return list(profiles)
    return sorted(profiles, key=lambda s: float(worst_deviations(bound(s), spaces).value.max()))[:count]


def _certificates(
    setting: Setting,
    statistics: Statistics,
    game: Game,
    method: Method,
    rng: np.random.Generator,
    again: SecondPass | None,
) -> Iterator[tuple[str, Certificate, Strategy]]:
    """Yield every certificate of a log that a method can make: its name, and the profile that it is about."""
    spaces, starts = game.actions, STARTS[setting.n]
    full = setting.evidence(statistics.whole, game, method)
    pure = candidates(full, game, rng, starts)
    if method == "paper":
        printed = TotalEvidence(paper_ridge(statistics.whole))  # type: ignore[arg-type]
        for delta in DELTAS:
            yield PAPER, *_smallest((paper_totals(printed, s, spaces, delta, setting.samples), s) for s in pure)
        return
    suffix = " joint" if method == "joint" else ""

    def by_paired(s: Strategy) -> GainBound:
        return paired_bound(full, full.design(s), CHOOSING, union_terms(s, spaces, CHOOSING))

    # The profile is the one that certifies best: the luckiest choice that data allow.
    (best,) = _lowest(pure, spaces, by_paired)
    (mixed,) = _lowest(mixtures(pure, game, rng), spaces, by_paired)
    for delta in DELTAS:
        yield f"paired{suffix}", paired(full, best, spaces, delta), best
        yield f"paired box{suffix}", paired(full, best, spaces, delta, form="box"), best
        yield f"paired mixed{suffix}", paired(full, mixed, spaces, delta), mixed
        if setting.adaptive:
            continue  # nothing else holds there
        yield f"paired union{suffix}", paired(full, best, spaces, delta, form="union"), best
        if isinstance(full, PairEvidence) and setting.unknowns is None:
            yield PAPER, *_smallest((paper(full, s, spaces, delta), s) for s in pure)
    if not setting.adaptive:
        for name, found, strategy in _held_out(setting, statistics, game, method, rng, again):
            yield name + suffix, found, strategy


def _smallest(found: Iterable[tuple[Certificate, Strategy]]) -> tuple[Certificate, Strategy]:
    return min(found, key=lambda pair: pair[0].worst.bound)  # type: ignore[union-attr]


def _held_out(
    setting: Setting,
    statistics: Statistics,
    game: Game,
    method: Method,
    rng: np.random.Generator,
    again: SecondPass | None,
) -> Iterator[tuple[str, Certificate, Strategy]]:
    """Yield the certificates of profiles that were learnt on one part, from the other part."""
    spaces = game.actions
    learnt, held = (setting.evidence(part, game, method) for part in statistics.parts)
    chosen = candidates(learnt, game, rng, STARTS[setting.n])
    mixed = mixtures(chosen, game, rng)

    def held_out(
        profiles: list[Strategy], delta: float, form: Form = "both", again: SecondPass | None = None
    ) -> tuple[Certificate, Strategy]:
        # A copy, since a part that has certified is sealed for good.
        copy: Evidence = replace(held)  # type: ignore[type-var]
        strategy, found = hold_out(learnt, copy, lambda *_: profiles, spaces, delta, form=form, again=again)
        return found, strategy

    ahead = Sealed(held).preview(learnt)
    expected_best = _lowest(
        chosen, spaces, lambda s: holdout_bound(ahead, ahead.design(s), one_event(CHOOSING)), count=3
    )
    for delta in DELTAS:
        yield "holdout", *held_out(expected_best, delta)
        yield "holdout mixed", *held_out(mixed, delta)
        if again is not None:
            yield "holdout, read twice", *held_out(expected_best, delta, again=again)
            yield "holdout mixed, read twice", *held_out(mixed, delta, again=again)
        if isinstance(held, PairEvidence) and setting.noise == "pairs":
            yield "holdout hoeffding", *held_out(chosen[:1], delta, "hoeffding")
            yield "holdout bernstein", *held_out(chosen[:1], delta, "bernstein")


def warns(setting: Setting, seed: int) -> bool:
    """Return whether the test of the assumption that fails in this setting warns of it, on the log that `run` draws."""
    source, batch, _ = drawn(setting, seed)
    tables = source.tables(batch)
    log = Log.from_frames(memberships=tables["memberships"], pairs=tables["pairs"], threads=1)
    statistics = Statistics.of(log, parts=(1.0,))
    check = independence_check(statistics) if setting.shared_noise else size_check(statistics)
    return check.verdict == "broken"


def settings() -> Iterator[Setting]:
    """Yield every setting: 42 kinds of games and logs, each with 3, 6 and 12 agents."""
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
        # Enough samples that widths are about as small as what is at stake.
        long = replace(base, samples=10 * samples)
        yield replace(long, name="two points near 0", model=hostile.two_point)
        yield replace(long, name="rare losses", model=hostile.rare_loss)
        yield replace(long, name="ties within epsilon", model=hostile.ties)
        yield replace(base, name="ratings with absentees", model=hostile.ratings, unrecorded=hostile.absent)
        yield replace(base, name="popular sets", model=hostile.signs, policy="popular")
        yield replace(base, name="chasing in circles", model=hostile.chasing, actions="one")
        hushed_up = replace(base, model=hostile.ratings, unrecorded=hostile.hushed_up, missing="worst")
        yield replace(hushed_up, name="bad outcomes hushed up")
        yield replace(hushed_up, name="bad outcomes hushed up, shared noise", noise="samples")
        yield replace(base, name="adaptive", model=hostile.signs, adaptive=True)
        yield replace(base, name="adaptive, shared noise", model=hostile.signs, adaptive=True, noise="samples")
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
        yield replace(bandit, name="bandit adaptive", model=hostile.signs, adaptive=True)
        by_size = replace(bandit, model=hostile.crowding, sizes="aware", k=k)
        yield replace(by_size, name="bandit sizes")
        yield replace(by_size, name="bandit sizes, shared noise", noise="samples")
        # Enough samples that residuals tell more than the range does.
        lasting = replace(bandit, samples=10 * samples)
        for model in (hostile.narrow, hostile.two_point, hostile.rare_loss):
            yield replace(lasting, name=f"bandit {model.__name__}, many samples".replace("_", " "), model=model)
        yield replace(lasting, name="bandit narrow, shared noise", model=hostile.narrow, noise="samples")
