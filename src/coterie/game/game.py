"""The game with known mean utilities: values, gains, gap, stability and potential, all exact.

Agent i's utility is the sum over her coalitions l and the other members j of d_ij^l. With the
room values W_i(l) of `coterie.game.utilities` and the marginals p_i(l) of a strategy,

    V_i          = sum over l of p_i(l) W_i(l)
    gain_i(a')   = sum over l of (1[l in a'] - p_i(l)) W_i(l)
    gap          = max over i and a' in A_i of gain_i(a')          (paper, eq. 1)

The gap is never negative, and 0 means exactly Nash stable. Every agent has a deviation that gains
at least 0 as long as she plays what is in A_i; a strategy may also hold sets outside of it (today's
teams, say), and where such a set is better than all of A_i she stays: her gain is then negative and
counts as 0 in the gap.

That is the game of sums (`value="total"`). With `value="average"` a coalition is worth the average of d_ij^l over
the other members, 0 alone. Other notions of stability than Nash's, and rules about which steps there are, are in
`coterie.game.steps` and `coterie.game.admissible`; the gap is then the largest gain of whoever gains least over all
admissible steps in which nobody whose consent is needed loses anything.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import permutations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from coterie import checks
from coterie.arrays import BoolArray, FloatArray
from coterie.errors import InputError, NoPotentialError
from coterie.game.actions import MAX_ENUMERATED, ActionSpaces, action_of, any_subset, names_in, refuse_too_many
from coterie.game.admissible import Admissible
from coterie.game.alone import WithAlone
from coterie.game.changes import changes_of_all, gains_of_movers
from coterie.game.core import Blocking, Groups, refuse_other_games, strongest, unblocked
from coterie.game.labels import aligned, named_means
from coterie.game.means import pair_means
from coterie.game.rules import as_rules
from coterie.game.steps import Stability, Steps, consent_needed, needs_consent
from coterie.game.strategy import Strategy, StrategyLike, as_strategy
from coterie.game.utilities import BLOCK_CELLS, ProfileRooms, ScaledBySize, SizeFree, TableBySize, Utilities
from coterie.game.welfare import Outcome, Prices

if TYPE_CHECKING:
    from coterie.game.dynamics import DynamicsResult
    from coterie.game.normal_form import NormalForm
    from coterie.solve.solution import Solution

STABLE_WITHIN = 1e-9
"""Gains up to this much are rounding, not reasons to move, where utilities are about 1; see `Game.rounding`."""


Value = Literal["total", "average"]
"""What a coalition is worth to a member: the sum over the others, or their average."""


@dataclass(frozen=True)
class Deviation:
    """A step of one agent, or of several together, to other sets of coalitions, and what is gained by it."""

    agent: str
    """Of several movers the one who gains least."""
    action: tuple[str, ...]
    gain: float
    movers: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    """Everybody who moves -> where to; empty where it is one agent."""

    def to_json(self) -> dict[str, Any]:
        """Return the form that `evaluate --json` prints."""
        movers = {agent: list(action) for agent, action in (self.movers or {self.agent: self.action}).items()}
        return {"agent": self.agent, "deviation": list(self.action), "gain": self.gain, "movers": movers}


class Game:
    """A coalition formation game whose mean utilities are known.

    Arrays are copied, and read-only from then on.

    Parameters
    ----------
    means
        Mean utility of agent i from agent j in coalition l: an array (k, n, n), a list of k sparse
        matrices (pairs not listed are 0), or a dictionary coalition -> matrix. One matrix (n, n)
        serves all coalitions, which are then interchangeable; `coalitions` says how many there are.
        Matrices may be data frames: their names are heeded, in whatever order they come.
    actions
        What agents may do: `ActionSpaces`, one `ActionSpace` for all, "one", "any", "up-to:3", a
        list of lists of coalition names, or an object agent -> any of these. Default: "any".
    size_scale, size_shift
        The mean in a coalition of size s is scale[l, s] * means + shift[l, s]: arrays (k, n + 1), or (n + 1,)
        where all coalitions have the same.
    size_table
        Instead of all three: every mean by size, shape (k, n, n, n + 1).
    symmetric
        Whether d_ij = d_ji is promised. It is checked; say False where it does not hold, and None
        to find out.
    agents, coalitions
        Names, or how many there are; "1", "2", ... by default.
    value
        "total": a coalition is worth the sum over its other members; "average": their average.
    alone
        What being alone in a coalition is worth, 0 by default: one number, one for each agent, or (k, n). Being in
        no coalition at all is worth 0.
    """

    def __init__(
        self,
        means: Any = None,
        actions: Any = None,
        *,
        size_scale: Any = None,
        size_shift: Any = None,
        size_table: Any = None,
        symmetric: bool | None = True,
        agents: checks.Names = None,
        coalitions: checks.Names = None,
        value: Value = "total",
        alone: Any = None,
    ) -> None:
        if symmetric is not None:
            checks.boolean(symmetric, "symmetric")
        means, agents, coalitions = named_means(means, agents, coalitions)
        named = None if coalitions is None else checks.names(coalitions, "coalitions")
        self.observed = self.utilities = _utilities(means, size_scale, size_shift, size_table, named)
        self.agents = checks.names(agents, "agents", self.utilities.n_agents)
        self.coalitions = checks.names(named, "coalitions", self.utilities.n_coalitions)
        if alone is not None:
            self.observed = self.utilities = self._with_alone(alone)
        if found := self.utilities.first_self_utility():
            l, i, own = found
            raise InputError(
                f"means: {self.agents[i]} has utility {own} from themselves in coalition {self.coalitions[l]}, "
                "expected 0"
            )
        asymmetry = None if symmetric is False else self.utilities.first_asymmetry()
        self.is_symmetric = symmetric is not False and asymmetry is None
        if symmetric and asymmetry:
            l, i, j = asymmetry
            raise InputError(
                f"means: {self.agents[i]} and {self.agents[j]} value each other differently in coalition "
                f"{self.coalitions[l]}; say symmetric=False if that is meant"
            )
        if actions is None:
            actions = any_subset(self.n_coalitions)
        if not isinstance(actions, ActionSpaces):
            actions = ActionSpaces.parse(actions, self.agents, self.coalitions)
        if (actions.n_agents, actions.n_coalitions) != (self.n_agents, self.n_coalitions):
            raise InputError(
                f"actions: made for {actions.n_agents} agents and {actions.n_coalitions} coalitions, "
                f"the game has {self.n_agents} and {self.n_coalitions}"
            )
        self.actions = actions
        self._take(value)

    def _with_alone(self, alone: Any) -> WithAlone:
        shape = (self.n_coalitions, self.n_agents)
        array = checks.finite(
            aligned(alone, [("coalitions", self.coalitions), ("agents", self.agents)], "alone"), "alone"
        )
        if array.shape not in {(), shape[1:], shape}:
            raise InputError(f"alone: expected a number, one for each agent, or shape {shape}, got shape {array.shape}")
        return WithAlone(self.utilities, checks.frozen(np.broadcast_to(array, shape), "alone"))

    def _take(self, value: Value) -> None:
        """Let coalitions be worth totals or averages of the utilities that are observed."""
        self.value: Value = checks.one_of(value, Value, "value")
        self.utilities = self.observed.averaged() if value == "average" else self.observed

    def valued(self, value: Value) -> "Game":
        """Return the game with the same utilities of pairs, whose coalitions are worth totals or averages."""
        if value == self.value:
            return self
        other = copy(self)
        for known in ("is_interchangeable", "has_potential"):
            other.__dict__.pop(known, None)
        other._take(value)  # noqa: SLF001  (of this class too)
        return other

    @property
    def n_agents(self) -> int:
        """The number of agents."""
        return self.utilities.n_agents

    @property
    def n_coalitions(self) -> int:
        """The number of coalitions."""
        return self.utilities.n_coalitions

    @property
    def depends_on_size(self) -> bool:
        """Whether utilities depend on coalition sizes."""
        return self.utilities.depends_on_size

    @cached_property
    def is_interchangeable(self) -> bool:
        """Whether every pair is worth the same in all coalitions, so that renaming them changes no utility."""
        return self.utilities.first_difference() is None

    def strategy(self, actions: StrategyLike) -> Strategy:
        """Return the strategy that a dictionary agent -> coalitions, an (n, k) matrix, or a file describes.

        Whatever takes a strategy takes these as well, see `coterie.game.strategy.as_strategy`.
        """
        return as_strategy(actions, self.agents, self.coalitions)

    def uniform(self) -> Strategy:
        """Return the strategy in which everybody is uniform over their actions."""
        return Strategy.uniform(self.actions, self.agents, self.coalitions)

    def room_values(self, strategy: StrategyLike) -> FloatArray:
        """Return W_i(l): what each coalition is worth to each agent if she is in it, shape (n, k)."""
        strategy = self.strategy(strategy)
        if strategy.is_pure:
            return self.utilities.rooms(strategy.sets).all()
        return self.utilities.room_values(strategy.marginals)

    def values(self, strategy: StrategyLike) -> FloatArray:
        """Return V_i, every agent's expected utility, shape (n,)."""
        strategy = self.strategy(strategy)
        return np.asarray((strategy.marginals * self.room_values(strategy)).sum(axis=1))

    def gain(self, strategy: StrategyLike, agent: str, action: Iterable[str]) -> float:
        """Return what `agent` would gain by playing the set `action` instead."""
        strategy = self.strategy(strategy)
        i = checks.index_of(agent, self.agents, "agent")
        change = action_of(action, self.coalitions, "action") - strategy.marginals[i]
        return float(change @ self.room_values(strategy)[i])

    def best_responses(self, strategy: StrategyLike) -> list[Deviation]:
        """Return every agent's best response to the others, with her gain.

        It is below 0 only for an agent who plays a set outside her action space that beats all in it.
        """
        gains, actions = self._best_responses(strategy)
        return [self._response(gains, actions, i) for i in range(self.n_agents)]

    def _best_responses(self, strategy: StrategyLike) -> tuple[FloatArray, BoolArray]:
        """Return what each agent gains by her best response, and that, shapes (n,) and (n, k)."""
        strategy = self.strategy(strategy)
        if strategy.is_pure:
            gains, actions = self.responses(self.utilities.rooms(strategy.sets))
        else:
            rooms = self.room_values(strategy)
            values, actions = self.actions.best_responses(rooms)
            gains = values - (strategy.marginals * rooms).sum(axis=1)
        gains[(gains < 0) & (gains >= -self.rounding)] = 0.0  # rounding
        return gains, actions

    def responses(self, rooms: ProfileRooms) -> tuple[FloatArray, BoolArray]:
        """Return what each agent gains by her best response in a pure profile, and that, shapes (n,) and (n, k)."""
        gains, actions = np.empty(self.n_agents), np.empty(rooms.profile.shape, dtype=bool)
        step = max(1, BLOCK_CELLS // self.n_coalitions)
        for first in range(0, self.n_agents, step):
            some = slice(first, min(first + step, self.n_agents))
            values = rooms.rows(some)
            best, actions[some] = self.actions.best_responses(values, first)
            gains[some] = best - np.where(rooms.profile[some], values, 0.0).sum(axis=1)
        return gains, actions

    def _response(self, gains: FloatArray, actions: BoolArray, i: int) -> Deviation:
        return Deviation(self.agents[i], tuple(names_in(actions[i], self.coalitions)), float(gains[i]))

    def best_response(self, strategy: StrategyLike, agent: str) -> Deviation:
        """Return one agent's best response to the others, with her gain."""
        return self.best_responses(strategy)[checks.index_of(agent, self.agents, "agent")]

    def worst(self, strategy: StrategyLike, stability: Stability = "nash", rules: Any = None) -> Deviation | None:
        """Return the step that attains the gap: who would move, where, and what is gained; None where there is none.

        Its gain is exactly that of the step, so it may be below 0, where the gap is 0. (Without rules, staying is among
        Nash's deviations; a gain below 0 then means that everybody plays a set outside her action space that beats all
        in it.) Steps of agents who are left out do not count.
        """
        checks.one_of(stability, Stability, "stability")
        admissible = None if rules is None else self._admissible(rules)
        if stability == "nash" and (admissible is None or not admissible.rules):
            gains, actions = self._best_responses(strategy)
            counted = np.flatnonzero(self.actions.counted)
            return self._response(gains, actions, int(counted[gains[counted].argmax()]))
        profile = self._pure(strategy)
        steps, gained = self.steps(profile, stability, admissible)
        if not len(steps):
            return None
        best = int(gained.min(axis=1).argmax())
        return self._deviation(steps, gained, best)

    def _deviation(self, steps: Steps, gains: FloatArray, index: int) -> Deviation:
        least = int(gains[index].argmin())
        movers = steps.named(index, self.agents, self.coalitions)
        agent = self.agents[steps.movers[index, least]]
        return Deviation(agent, movers[agent], float(gains[index, least]), movers if len(movers) > 1 else {})

    def steps(
        self, profile: BoolArray, stability: Stability = "nash", admissible: Admissible | None = None
    ) -> tuple[Steps, FloatArray]:
        """Return every step that is admissible and that nobody refuses, and what each mover gains, shape (s, g)."""
        admissible = admissible or self._admissible(None)
        return self.unrefused(profile, admissible.steps(profile, self.actions, stability), stability)

    def unrefused(self, profile: BoolArray, steps: Steps, stability: Stability = "nash") -> tuple[Steps, FloatArray]:
        """Return those of some steps that nobody refuses, and what each mover gains, shape (s, g)."""
        if needs_consent(stability) and len(steps):
            changes = changes_of_all(self.utilities, profile, steps)
            refused = ((changes < -self.rounding) & consent_needed(profile, steps, stability)).any(axis=1)
            steps = steps[np.asarray(~refused)]
        return steps, gains_of_movers(self.utilities, profile, steps)

    def _admissible(self, rules: Any) -> Admissible:
        if isinstance(rules, Admissible):
            return rules
        # A limit on moves is about what is recommended, not about what people may do.
        return Admissible.of(replace(as_rules(rules), max_moves=None), self.agents, self.coalitions)

    def _pure(self, strategy: StrategyLike) -> BoolArray:
        found = self.strategy(strategy)
        if not found.is_pure:
            raise InputError(
                "rules and other notions of stability than nash are about pure strategies; this one is mixed"
            )
        return found.sets

    def leaving_out(self, agents: Iterable[str]) -> "Game":
        """Return the same game, whose gap is about all but these agents."""
        places = [checks.index_of(agent, self.agents, "agent") for agent in agents]
        if len(set(places)) == self.n_agents:
            raise InputError("agents: nobody is left whose gains count")
        return self.with_actions(self.actions.leaving_out(places))

    def with_actions(self, spaces: ActionSpaces) -> "Game":
        """Return the same game, in which agents may do something else."""
        if spaces is self.actions:
            return self
        other = copy(self)
        other.actions = spaces
        return other

    def gap(self, strategy: StrategyLike, stability: Stability = "nash", rules: Any = None) -> float:
        """Return the most that any agent who counts can gain by moving; `worst` names her and the move.

        Parameters
        ----------
        strategy
            Who is where.
        stability
            Which steps there are, and whose consent they need: "nash", "individual", "contractual",
            "contractual-individual" or "swap".
        rules
            `Rules`, or the path of a rules file: only steps that make no rule worse count.
        """
        worst = self.worst(strategy, stability, rules)
        return 0.0 if worst is None else max(worst.gain, 0.0)

    def is_stable(
        self,
        strategy: StrategyLike,
        stability: Stability = "nash",
        rules: Any = None,
        tolerance: float | None = None,
    ) -> bool:
        """Return whether nobody gains more than `tolerance` by moving, by default `rounding`; see `gap`."""
        return self.gap(strategy, stability, rules) <= self._tolerance(tolerance)

    def is_nash_stable(self, strategy: StrategyLike, tolerance: float | None = None) -> bool:
        """Return whether nobody gains more than `tolerance` by moving, by default `rounding`."""
        return self.gap(strategy) <= self._tolerance(tolerance)

    @cached_property
    def unit(self) -> float:
        """The smallest power of two that no utility exceeds: whatever the unit of utilities, results are the same."""
        fraction, exponent = math.frexp(self.utilities.largest())
        return 1.0 if fraction == 0 else math.ldexp(1.0, exponent - (fraction == 0.5))

    @property
    def rounding(self) -> float:
        """Gains up to this much are rounding, not reasons to move."""
        return STABLE_WITHIN * self.unit

    def _tolerance(self, given: float | None) -> float:
        return self.rounding if given is None else given

    def potential(self, strategy: StrategyLike) -> float:
        """Return the potential: its change when one agent moves is that agent's gain.

        Lemma 1 for symmetric size-free games, Rosenthal's for games in which only the size of a
        coalition matters, and sums of the two. `NoPotentialError` says why there is none.
        """
        strategy = self.strategy(strategy)
        if not self.is_symmetric:
            raise NoPotentialError("no potential: agents value each other differently (the game is not symmetric)")
        total = 0.0
        by_coalition = np.ascontiguousarray(strategy.sets.T if strategy.is_pure else strategy.marginals.T)
        for l, (name, inside) in enumerate(zip(self.coalitions, by_coalition, strict=True)):
            part = self.utilities.potential_in(l, inside.astype(np.float64))
            if part is None:
                raise NoPotentialError(
                    f"no potential: in coalition {name} utilities depend on both the pair and the coalition's size; "
                    "one exists if they are size-free, the same for all pairs, or a sum of two such parts, and being "
                    "alone is worth the same to all"
                )
            total += part
        return total

    @cached_property
    def has_potential(self) -> bool:
        """Whether `potential` returns a number."""
        nobody = np.zeros(self.n_agents)
        known = (self.utilities.potential_in(l, nobody) is not None for l in range(self.n_coalitions))
        return self.is_symmetric and all(known)

    def height(self, strategy: StrategyLike) -> float:
        """Return the potential, or the sum of utilities where there is none: what ranks equally stable strategies."""
        strategy = self.strategy(strategy)
        return self.potential(strategy) if self.has_potential else float(self.values(strategy).sum())

    def stable_profiles(
        self,
        stability: Stability = "nash",
        rules: Any = None,
        tolerance: float | None = None,
        *,
        up_to_renaming: bool = False,
    ) -> list[Strategy]:
        """Return every stable pure strategy that keeps the rules, by enumeration.

        Refuses with `TooLargeError` above `coterie.game.actions.MAX_ENUMERATED` joint actions, or partitions of the
        agents where everybody is in one of several interchangeable coalitions.

        Parameters
        ----------
        stability, rules
            As for `gap`.
        tolerance
            Gains up to this much are no reason to move; by default `rounding`.
        up_to_renaming
            Where coalitions are interchangeable (and action spaces and rules do not tell them apart), profiles that
            differ only in names of coalitions are all listed. With `up_to_renaming`, one of them is.
        """
        checks.one_of(stability, Stability, "stability")
        tolerance, admissible = self._tolerance(tolerance), self._admissible(rules)
        blocks, alike = self._profiles(admissible, up_to_renaming=up_to_renaming)
        if stability == "nash" and admissible.is_free:
            found = self._nash_stable(blocks, tolerance)
        else:
            found = self._stable_one_by_one(blocks, stability, admissible, tolerance)
        return self._strategies(_renamed(list(found)) if alike and not up_to_renaming else found)

    def _strategies(self, profiles: Iterable[BoolArray]) -> list[Strategy]:
        owner, probability = np.arange(self.n_agents), np.ones(self.n_agents)
        for shared in (owner, probability):  # by all profiles: there may be a million
            shared.setflags(write=False)
        return [Strategy(self.agents, self.coalitions, owner, row, probability) for row in profiles]

    def _profiles(self, admissible: Admissible, *, up_to_renaming: bool) -> tuple[Iterator[BoolArray], bool]:
        """Return blocks of all pure profiles, and whether of those that differ in names alone there is one each."""
        spaces = admissible.spaces(self.actions)
        alike = self._listed_alike(admissible, spaces)
        if alike and (up_to_renaming or spaces.size > MAX_ENUMERATED):
            return spaces.partitions(), True
        if up_to_renaming and self.is_interchangeable and not alike:
            raise InputError(
                "up_to_renaming: profiles are listed up to the names of coalitions where everybody is in one of them, "
                "whichever it is, and rules name none"
            )
        return spaces.joint_actions(), False

    def _listed_alike(self, admissible: Admissible, spaces: ActionSpaces) -> bool:
        """Return whether profiles that differ in names of coalitions alone need to be looked at once only."""
        return self._are_partitions(spaces) and admissible.names_no_coalition

    def _are_partitions(self, spaces: ActionSpaces) -> bool:
        """Return whether a profile is a partition of the agents: interchangeable coalitions, one for everybody."""
        return self.is_interchangeable and spaces.are_single

    def _stable_one_by_one(
        self, blocks: Iterable[BoolArray], stability: Stability, admissible: Admissible, tolerance: float
    ) -> Iterator[BoolArray]:
        for block in blocks:
            for profile in block:
                if admissible.holds(profile):
                    gains = self.steps(profile, stability, admissible)[1]
                    if not (gains.min(axis=1, initial=np.inf) > tolerance).any():
                        yield profile

    def _nash_stable(self, blocks: Iterable[BoolArray], tolerance: float) -> Iterator[BoolArray]:
        for block in blocks:
            rooms = self.utilities.pure_room_values(block)
            own = np.where(block, rooms, 0.0).sum(axis=2)
            stable = np.ones(len(block), dtype=bool)
            for space, agents in self.actions.groups:
                flat = rooms[:, agents].reshape(-1, self.n_coalitions)
                best = space.best_responses(flat)[0].reshape(len(block), len(agents))
                unmoved = (best - own[:, agents] <= tolerance) | ~self.actions.counted[agents]
                stable &= unmoved.all(axis=1)
            yield from block[stable]

    # --- Everybody together ---------------------------------------------------------------------------

    def welfare(self, strategy: StrategyLike) -> float:
        """Return the sum of everybody's expected utility."""
        return float(self.values(strategy).sum())

    def best_welfare(self, rules: Any = None, *, time_limit: float | None = None) -> Outcome:
        """Return the pure strategy with the largest sum of utilities that keeps the rules, with proof.

        By looking at all profiles (up to names of coalitions, where these mean nothing), and where they are too many
        by a program that chooses among all teams (`coterie.solve.columns`), which may take long; after `time_limit`
        seconds it returns the best so far, with a bound. What is too large for both is refused with `TooLargeError`.
        """
        admissible = self._admissible(rules)
        if self._n_profiles(admissible) <= MAX_ENUMERATED:
            best, _ = self._by_welfare(admissible)
            return best
        from coterie.solve.known import largest_welfare

        return largest_welfare(self, admissible, time_limit)

    def prices(self, stability: Stability = "nash", rules: Any = None) -> Prices:
        """Return what stability costs: the best welfare against that of the best and of the worst stable profile.

        `anarchy` and `stability` of what is returned are the prices of anarchy and of stability. By enumeration, as
        `stable_profiles`; rules restrict what is best as well as what is stable.
        """
        best, alike = self._by_welfare(self._admissible(rules))
        stable = self.stable_profiles(stability, rules, up_to_renaming=alike)
        outcomes = [Outcome(one, welfare, best.bound) for one in stable for welfare in [self.welfare(one)]]
        ranked = sorted(outcomes, key=lambda one: -one.welfare)
        return Prices(best, ranked[0] if ranked else None, ranked[-1] if ranked else None, len(ranked))

    def _n_profiles(self, admissible: Admissible) -> int:
        spaces = admissible.spaces(self.actions)
        return spaces.n_partitions if self._listed_alike(admissible, spaces) else spaces.size

    def _by_welfare(self, admissible: Admissible) -> tuple[Outcome, bool]:
        """Return the best profile, and whether profiles were listed up to names of coalitions."""
        alike = self._listed_alike(admissible, admissible.spaces(self.actions))
        best: BoolArray | None = None
        largest = -np.inf
        for block in self._profiles(admissible, up_to_renaming=alike)[0]:
            welfare = np.where(block, self.utilities.pure_room_values(block), 0.0).sum(axis=(1, 2))
            for place in np.argsort(-welfare, kind="stable").tolist():
                if welfare[place] <= largest:
                    break
                if admissible.is_free or admissible.holds(block[place]):
                    best, largest = block[place], float(welfare[place])
                    break
        if best is None:
            raise InputError("rules: no profile keeps them")
        strategy = Strategy.pure(best, self.agents, self.coalitions)
        welfare = self.welfare(strategy)
        return Outcome(strategy, welfare, welfare), alike

    # --- What comes of it -----------------------------------------------------------------------------

    def dynamics(
        self,
        start: StrategyLike | None = None,
        seed: checks.Seed = None,
        *,
        stability: Stability = "nash",
        rules: Any = None,
    ) -> "DynamicsResult":
        """Let agents move to what is best for them until nobody gains, and return where that led, move by move.

        Parameters
        ----------
        start
            A pure strategy; by default one that `seed` draws.
        seed
            Draws the order in which agents move, once; without it they move in the order of the game, and the default
            start is always the same.
        stability, rules
            Other steps than Nash's, and rules that they must keep, as for `gap`: then whoever gains most moves first,
            and no order is drawn.
        """
        from coterie.game.dynamics import best_response_dynamics, step_dynamics

        rng = None if seed is None else checks.generator(seed, "seed")
        if start is None:
            start = self.actions.sample(0 if rng is None else rng, 1)[0]
        if checks.one_of(stability, Stability, "stability") == "nash" and self._admissible(rules).is_free:
            return best_response_dynamics(self, start, rng)
        return step_dynamics(self, start, stability, rules)

    def equilibrium(self, seed: checks.Seed = 0, *, time_limit: float | None = None) -> "Solution":
        """Return a Nash equilibrium, pure where one is found and else mixed, by the solver that suits the game.

        `value` of what is returned is its gap, worked out anew; see `coterie.solve.known.equilibrium` for the solvers.
        """
        from coterie.solve.known import equilibrium

        return equilibrium(self, seed, time_limit=time_limit)

    # --- The core -------------------------------------------------------------------------------------

    def blocking(
        self, strategy: StrategyLike, *, weakly: bool = False, tolerance: float | None = None
    ) -> Blocking | None:
        """Return a group that would rather be a coalition of its own, and what each member gains; None for none.

        Of all such groups, the one whose least gain is largest. By looking at all groups, so for up to 20 agents.

        Parameters
        ----------
        strategy
            A pure strategy of a game in which everybody is in one of several interchangeable coalitions.
        weakly
            A group blocks if every member gains. With `weakly`, also if nobody in it loses and somebody gains; then the
            group in which somebody gains most.
        tolerance
            Gains up to this much are rounding; by default `rounding`.
        """
        refuse_other_games(partitions=self._are_partitions(self.actions))
        found = self.strategy(strategy)
        if not found.is_pure or self.actions.outside(found.owner, found.sets):
            raise InputError("the core is about pure strategies in which everybody plays one of their actions")
        groups = Groups.of(self.utilities)
        gains = groups.gains(found.sets, self.values(found))
        best = strongest(gains, weakly=weakly, tolerance=self._tolerance(tolerance))
        if best is None:
            return None
        return Blocking({self.agents[i]: float(gains[best, i]) for i in np.flatnonzero(groups.members[best]).tolist()})

    def is_core_stable(self, strategy: StrategyLike, *, strict: bool = False, tolerance: float | None = None) -> bool:
        """Return whether no group blocks; in the strict core none does even weakly. See `blocking`."""
        return self.blocking(strategy, weakly=strict, tolerance=tolerance) is None

    def core(self, *, strict: bool = False, tolerance: float | None = None) -> list[Strategy]:
        """Return every partition that no group blocks, one of those that differ in names of coalitions alone."""
        refuse_other_games(partitions=self._are_partitions(self.actions))
        tolerance = self._tolerance(tolerance)
        found = unblocked(self.actions.partitions(), self.utilities, weakly=strict, tolerance=tolerance)
        return self._strategies(found)

    # --- Other programs -------------------------------------------------------------------------------

    def to_normal_form(self) -> "NormalForm":
        """Return the game as a table of payoffs, for QuantEcon, Gambit, nashpy or by hand."""
        from coterie.game.normal_form import NormalForm

        return NormalForm.of(self)

    @staticmethod
    def from_normal_form(payoffs: Any, agents: checks.Names = None) -> "Game":
        """Return the game of coalitions that a table of payoffs is; see `coterie.game.normal_form`."""
        from coterie.game.normal_form import from_normal_form

        return from_normal_form(payoffs, agents)

    def __repr__(self) -> str:
        kind = "symmetric" if self.is_symmetric else "asymmetric"
        sizes = "size-dependent" if self.depends_on_size else "size-free"
        return f"Game({self.n_agents} agents, {self.n_coalitions} coalitions, {kind}, {sizes})"


def _utilities(
    means: Any, size_scale: Any, size_shift: Any, size_table: Any, coalitions: tuple[str, ...] | None
) -> Utilities:
    if size_table is not None:
        if means is not None or size_scale is not None or size_shift is not None:
            raise InputError("size_table holds all means; give it alone, without means, size_scale or size_shift")
        return TableBySize(checks.frozen(size_table, "size_table"))
    if means is None:
        raise InputError("means: a game needs mean utilities (or a size_table)")
    pairs = pair_means(means, None if coalitions is None else len(coalitions))
    if size_scale is None and size_shift is None:
        return SizeFree(pairs)
    names = checks.names(coalitions, "coalitions", pairs.n_coalitions)
    scale, shift = (_by_size(values, what, names, pairs.n_agents) for values, what in
                    ((size_scale, "size_scale"), (size_shift, "size_shift")))  # fmt: skip
    return ScaledBySize.checked(pairs, scale, shift)


def _by_size(values: Any, what: str, coalitions: tuple[str, ...], n_agents: int) -> Any:
    """Return numbers by coalition and size; a row of sizes alone is for all coalitions."""
    if values is None:
        return None
    sizes = [str(size) for size in range(n_agents + 1)]
    array = checks.finite(aligned(values, [("coalitions", coalitions), ("sizes", sizes)], what), what)
    return np.tile(array, (len(coalitions), 1)) if array.ndim == 1 else array


def _renamed(profiles: list[BoolArray]) -> list[BoolArray]:
    """Return partitions under all names of coalitions; those without members are not told apart."""
    used = [int(profile.any(axis=0).sum()) for profile in profiles]
    k = profiles[0].shape[1] if profiles else 0
    refuse_too_many(
        sum(math.perm(k, taken) for taken in used), "stable profiles (up_to_renaming=True lists one for each partition)"
    )
    return [
        _placed(profile, list(places))
        for profile, taken in zip(profiles, used, strict=True)
        for places in permutations(range(k), taken)
    ]


def _placed(profile: BoolArray, places: list[int]) -> BoolArray:
    """Return a profile whose first coalitions are called otherwise."""
    found = np.zeros_like(profile)
    found[:, places] = profile[:, : len(places)]
    return found
