"""The best pure profile: best-response dynamics on the estimate, then local search on the objective.

1. Diverse starts, each led by best-response dynamics on the estimate to a profile that looks stable.
   Without a potential the dynamics may run in circles, which is noticed.
2. Descents from the best of them: single-agent moves that lower the largest margin (where several agents
   share it, their number), until there are none. Then soft descents from the same profiles: moves first
   lower the soft maximum of the margins, which sees all that are large and not the largest alone.
3. Rounds of kicks: soft descents from profiles made of the best ends, by moving a few agents at random or
   by crossing two, and from one profile quite at random; and descents from the next best starts.

The smallest certificate wins. Where several profiles have it, the one of largest potential does, or of
largest total utility where there is no potential.
"""

from itertools import cycle

import numpy as np

from coterie import checks
from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.game.dynamics import settle
from coterie.game.steps import small_steps
from coterie.solve.control import Control
from coterie.solve.objective import Objective, soft_maximum
from coterie.solve.solution import Solution, Status
from coterie.solve.starts import diverse

TIE = 1e-9
"""Values that differ by less are the same."""

LISTED = 256
"""Spaces up to this size contribute every action as a move, larger ones small steps and so many swaps at most."""

WHOLE = 6_000
"""Up to so many (moves x agents x actions), all moves are looked at in full."""

SOFT = 20_000
"""On the soft maximum, moves of so many agents are compared at once that (moves x agents x actions) is about this."""

CHUNK = 24
"""Else the moves that lower the largest margin are looked at in so large groups, the most promising first."""

MOST_TIES = 500
"""So many profiles of the same certificate, those with the largest margins first, are compared by potential."""

ELITE = 12
"""From the ends of so many of the best descents kicks start, and twice as many are crossed."""

FIRST = 512
"""So many starts are let settle at first, the others only if most of these come to rest."""

PATIENCE = 24
"""After so many rounds of kicks without success a search ends."""

LEADING = 3
"""So many of the largest margins are compared, in turn."""


def pure(
    objective: Objective,
    control: Control | None = None,
    *,
    starts: int | None = None,
    kicks: int | None = None,
    keep: int = 8,
    work: float = np.inf,
    hopeless: float = np.inf,
) -> Solution:
    """Search for the pure profile with the smallest value.

    Parameters
    ----------
    objective
        What to minimise.
    control
        Seed, time limit, progress, interruption.
    starts
        From how many profiles the search begins; by default 64 to 4096, by the size of the game.
    kicks
        How many rounds of kicks in a row may fail before the search ends; by default 24, down to 8 where more
        than 33 agents make rounds long.
    keep
        How many distinct profiles to return as candidates, the best first.
    work
        The search ends when so many bounds (moves x agents x actions) have been asked for. Unlike a time limit this is
        the same on every machine.
    hopeless
        If nothing that looks stable and no start has at most this value, only the best of them is improved, without
        kicks.
    """
    control = control or Control()
    n = objective.game.n_agents
    if starts is None:
        starts = min(4096, max(256, 100_000 // n), max(64, objective.spaces.size))
    checks.whole(starts, "starts", 1)
    if kicks is None:
        kicks = max(8, min(PATIENCE, 800 // n))
    patience = checks.whole(kicks, "kicks", 0)
    search = _Search(objective, control, work)
    rng, game = control.rng, objective.game
    settled, tried, failed = False, 0, 0
    with control.running():
        control.report("pure", 0, patience, search.best_value)
        begin = diverse(game, starts, rng, control.check)
        search.note(begin[:1], objective.margins(begin[:1]))
        for some in (begin[:FIRST], begin[FIRST:]):
            tried += len(some)
            ends, stable, sweeps = settle(game, some, rng, control.check)
            search.sweeps += sweeps
            settled = settled or bool(stable.any())
            search.look_at(ends)
            if len(some) == starts or stable.mean() <= 0.5:  # where most run in circles, more of them lead nowhere
                break
        # The raw starts add what dynamics on the estimate leaves at once or never visits.
        search.look_at(np.concatenate([begin[: starts // 8], begin[-starts // 8 :]]))
        promising = search.best(max(6, 600 // n))
        if search.best_value > hopeless:
            promising, patience = promising[:1], 0
        control.report("pure", 0, patience, search.best_value)
        for key in promising:
            search.descend(search.profiles[key], search.margins[key])
        for key in promising if patience and not search.nothing_to_win else []:
            search.descend_softly(search.profiles[key], search.margins[key])
        while failed < patience and not search.nothing_to_win and not search.is_over:
            control.report("pure", failed, patience, search.best_value)
            before = search.best_value
            for key in search.best(2, unvisited=True):
                search.descend(search.profiles[key], search.margins[key])
            for profile in search.children(rng):
                search.descend_softly(profile)
            failed = 0 if search.best_value < before - search.tie else failed + 1
    if not search.values:  # whatever the time limit, there is something to return
        anything = objective.spaces.sample(rng, 1)
        search.note(anything, objective.margins(anything))
    ranked = search.ranked()
    status: Status = control.ended or ("limit" if search.is_over else "converged" if settled else "cycled")
    note = (
        ""
        if settled
        else f"no stable pure profile was found in the {objective.label_of_game}; the profile with the smallest "
        f"{objective.label} is returned, and a mixed strategy may do better"
    )
    return Solution(
        strategy=objective.strategy(ranked[0]),
        value=objective.value(ranked[0]),
        method="pure",
        objective=objective.label,
        status=status,
        starts=tried,
        sweeps=search.sweeps,
        seconds=control.seconds,
        candidates=tuple(objective.strategy(profile) for profile in ranked[:keep]),
        note=note,
    )


class _Search:
    """Everything that one search has seen."""

    def __init__(self, objective: Objective, control: Control, work: float = np.inf) -> None:
        self.objective, self.control = objective, control
        self.work, self.spent = work, 0
        self.n_agents = objective.game.n_agents
        self.tie = TIE * objective.game.unit
        self.sweeps = 0
        self.best_value = np.inf
        self.values: dict[bytes, float] = {}
        self.profiles: dict[bytes, BoolArray] = {}
        self.margins: dict[bytes, FloatArray] = {}
        self.visited: set[bytes] = set()
        self.ends: dict[bytes, None] = {}  # in the order in which they were found, unlike a set
        self.listed: list[BoolArray | None] = [None] * self.n_agents
        for space, members in objective.spaces.groups:
            sets = space.enumerate() if space.size <= LISTED else None
            for agent in members.tolist():
                self.listed[agent] = sets
        self.actions = max(min(space.size, 2048) for space in objective.spaces.spaces)

    def note(self, profiles: BoolArray, margins: FloatArray) -> None:
        """Remember profiles and their margins."""
        for profile, row in zip(profiles, margins, strict=True):
            key = profile.tobytes()
            value = float(row.max())
            self.values[key], self.profiles[key], self.margins[key] = value, profile.copy(), row
            self.best_value = min(self.best_value, value)

    def look_at(self, profiles: BoolArray) -> None:
        """Compute the margins of profiles that were not seen before."""
        fresh = {key: profile for profile in profiles if (key := profile.tobytes()) not in self.values}
        first = np.arange(0, self.n_agents, 4)
        for start in range(0, len(fresh), 64):
            self.control.check()
            some = np.array(list(fresh.values())[start : start + 64])
            if self.n_agents > len(first) > 1 and len(self.values) > 2 * ELITE:
                # A few agents show that most profiles are not among the best.
                cut = max(sorted(self.values.values())[2 * ELITE], 0.0)
                some = some[self.objective.margins(some, first).max(axis=1) <= cut]
            self.note(some, self.objective.margins(some))

    @property
    def is_over(self) -> bool:
        """Whether all the work was done that may be."""
        return self.spent > self.work

    def best(self, count: int, *, unvisited: bool = False) -> list[bytes]:
        """Return the keys of the best profiles, or of the best that no descent has visited."""
        keys = [key for key in self.values if not (unvisited and key in self.visited)]
        return sorted(keys, key=lambda key: self.values[key])[:count]

    @property
    def nothing_to_win(self) -> bool:
        """Whether the best value cannot be improved in a way that counts."""
        return not self.objective.margin_counts and self.best_value <= 0

    def ranked(self) -> list[BoolArray]:
        """Return all remembered profiles, the best first; those within `TIE` by potential."""
        floor = -np.inf if self.objective.margin_counts else 0.0
        keys = sorted(self.values, key=lambda key: self.values[key])
        best = max(self.values[keys[0]], floor)
        ties = [key for key in keys[:MOST_TIES] if max(self.values[key], floor) <= best + self.tie]
        rest = keys[len(ties) :]
        ties.sort(key=lambda key: -self.objective.height(self.profiles[key]))
        return [self.profiles[key] for key in ties + rest]

    def children(self, rng: np.random.Generator) -> list[BoolArray]:
        """Return new profiles made from the ends of the best descents, and one at random."""
        ends = sorted(self.ends or self.values, key=lambda key: self.values[key])[: 2 * ELITE]
        # Dynamics undoes much of a kick, so what settles is kicked harder.
        kicked = self._kicked(ends[:ELITE], max(4, min(self.n_agents // 3, 12) - 1), rng)
        settled, _, sweeps = settle(self.objective.game, kicked[None], rng, self.control.check, 30)
        self.sweeps += sweeps
        one, two = (self.profiles[ends[t]] for t in rng.integers(len(ends), size=2).tolist())
        crossed = np.where(rng.random((self.n_agents, 1)) < 0.5, one, two)
        # Some of what is best lies far from everything that looks stable on the estimate.
        anything = self.objective.spaces.sample(rng, 1)[0]
        return [self._kicked(ends[:ELITE], 4, rng), settled[0], crossed, anything]

    def _kicked(self, keys: list[bytes], most: int, rng: np.random.Generator) -> BoolArray:
        """Return one of some profiles, more often one of the first, with up to `most` agents moved at random."""
        key = keys[min(int(rng.integers(len(keys))), int(rng.integers(len(keys))))]
        kicked = self.profiles[key].copy()
        chosen = rng.choice(self.n_agents, size=min(int(rng.integers(1, most + 1)), self.n_agents), replace=False)
        # Those with the largest margins are where something must change.
        leading = np.argsort(-self.margins[key], kind="stable")[: max(3, self.n_agents // 4)]
        chosen[0] = leading[int(rng.integers(len(leading)))]
        for agent in np.unique(chosen).tolist():
            kicked[agent] = self.objective.spaces.spaces[agent].sample(rng, 1)[0]
        return kicked

    def descend(self, profile: BoolArray, margins: FloatArray | None = None) -> None:
        """Move single agents as long as that lowers the largest margins."""
        profile = profile.copy()
        margins = self.objective.margins(profile[None])[0] if margins is None else margins
        while (key := profile.tobytes()) not in self.visited and not self.is_over:
            self.note(profile[None], margins[None])  # at once: a search may be stopped at any time
            self.visited.add(key)
            self.control.check()
            self.sweeps += 1
            found = self._better(profile, margins)
            if found is None:
                self.ends[key] = None
                break
            profile, margins = found

    def descend_softly(self, profile: BoolArray, margins: FloatArray | None = None) -> None:
        """Move single agents as long as that lowers the soft maximum of margins, then as `descend` does."""
        margins = self.objective.margins(profile[None])[0] if margins is None else margins
        self.descend(*self._softly_lowered(profile, margins))

    def _softly_lowered(self, profile: BoolArray, margins: FloatArray) -> tuple[BoolArray, FloatArray]:
        """Return where moves that lower w log sum exp(margin / w) end; w is the spread of margins at first."""
        finite = margins[np.isfinite(margins)]
        width = float(finite.std()) if len(finite) else 0.0
        if width <= self.tie:
            return profile, margins
        at_once = max(1, SOFT // (self.n_agents * self.actions**2))
        order = self.control.rng.permutation(self.n_agents)
        groups = [order[start : start + at_once] for start in range(0, self.n_agents, at_once)]
        in_vain, now = 0, soft_maximum(margins[None], width)[0]
        for group in cycle(groups):
            self.control.check()
            if self.is_over:
                break
            movers, actions = self._moves(profile, group)
            self.spent += len(movers) * self.n_agents * self.actions
            best, after = self.objective.softest_move(profile, movers, actions, width, now - TIE)
            if best >= 0:
                profile, margins, in_vain, now = profile.copy(), after, 0, soft_maximum(after[None], width)[0]
                profile[movers[best]] = actions[best]
                if margins.max() < self.best_value:
                    self.note(profile[None], margins[None])
                self.sweeps += 1
            elif (in_vain := in_vain + 1) == len(groups):
                break
        return profile, margins

    def _better(self, profile: BoolArray, margins: FloatArray) -> tuple[BoolArray, FloatArray] | None:
        """Return the best profile that one agent's move away from `profile` leads to, if it is better."""
        movers, actions = self._moves(profile, np.arange(self.n_agents))
        # No move helps that leaves the mover herself, or the agent with the largest margin, with as large a one.
        most = margins.max() - self.tie
        cut = most + 3 * self.tie  # beyond this it cannot even be as good
        self.spent += len(movers) * self.actions
        helps = self.objective.moved_margins(profile, movers, actions) < most
        movers, actions = movers[helps], actions[helps]
        if not len(movers):
            return None
        objective, chunk = self.objective, len(movers)
        if len(movers) * self.n_agents * self.actions > WHOLE:
            self.spent += len(movers) * self.actions
            alone = objective.margins_of_moves(profile, movers, actions, np.array([margins.argmax()]))[:, 0]
            promising = np.flatnonzero(alone < most)
            promising = promising[np.argsort(alone[promising], kind="stable")]
            movers, actions, chunk = movers[promising], actions[promising], CHUNK
            if self.n_agents > CHUNK and len(movers):
                # Those who have large margins now are most likely to have too large ones afterwards.
                leaders = np.sort(np.argsort(-margins, kind="stable")[: self.n_agents // 4])
                after = objective.margins_of_moves(profile, movers, actions, leaders, cut).max(axis=1)
                movers, actions = movers[after < cut], actions[after < cut]
        now = _leading(margins[None])
        for start in range(0, len(movers), chunk):
            self.control.check()
            part = slice(start, start + chunk)
            self.spent += len(movers[part]) * self.n_agents * self.actions
            some = objective.margins_of_moves(profile, movers[part], actions[part], cut=cut)
            leading = _leading(some)
            best = int(np.lexsort(leading.T[::-1])[0])
            if _less(leading[best], now[0], self.tie):
                moved = profile.copy()
                moved[movers[start + best]] = actions[start + best]
                return moved, some[best]
        return None

    def _moves(self, profile: BoolArray, agents: IntArray) -> tuple[IntArray, BoolArray]:
        """Return who of `agents` may move, shape (m,), and to which sets, shape (m, k)."""
        movers, actions = [], []
        for agent in agents.tolist():
            space, sets = self.objective.spaces.spaces[agent], self.listed[agent]
            options = small_steps(space, profile[agent], LISTED) if sets is None else sets
            options = options[(options != profile[agent]).any(axis=1)]
            movers.append(np.full(len(options), agent))
            actions.append(options)
        return np.concatenate(movers), np.concatenate(actions)


def _leading(margins: FloatArray) -> FloatArray:
    """Return the largest margins of each row, the largest first."""
    count = min(LEADING, margins.shape[1])
    top = np.partition(margins, margins.shape[1] - count, axis=1)[:, -count:]
    return -np.sort(-top, axis=1)


def _less(one: FloatArray, two: FloatArray, tie: float) -> bool:
    """Return whether the first margins that differ are smaller in `one`."""
    for a, b in zip(one.tolist(), two.tolist(), strict=True):
        if abs(a - b) > tie:
            return bool(a < b)
    return False
