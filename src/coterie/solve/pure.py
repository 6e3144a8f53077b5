"""The best pure profile: best-response dynamics on the estimate, then local search on the objective.

1. Diverse starts, each led by best-response dynamics on the estimate to a profile that looks stable.
   Without a potential the dynamics may run in circles, which is noticed.
2. From each of them, single-agent moves that lower the largest margin (where several agents share it,
   their number), until there are none.
3. Kicks: a few agents of a good profile are moved at random, and the descent starts again.

The smallest certificate wins. Where several profiles have it, the one of largest potential does, or of
largest total utility where there is no potential.
"""

import numpy as np

from coterie import checks
from coterie.actions import ActionSpace
from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.solve.control import Control
from coterie.solve.objective import Objective
from coterie.solve.solution import Solution, Status
from coterie.solve.starts import diverse, settle

TIE = 1e-9
"""Values that differ by less are the same."""

LISTED = 256
"""Spaces up to this size contribute every action as a move; larger ones small steps and best responses."""

WHOLE = 40_000
"""Up to so many (moves x agents x actions), all moves are looked at in full."""

LEADING = 3
"""So many of the largest margins are compared, in turn."""


def pure(
    objective: Objective,
    control: Control | None = None,
    *,
    starts: int = 32,
    kicks: int | None = None,
    keep: int = 8,
) -> Solution:
    """Search for the pure profile with the smallest value.

    Parameters
    ----------
    objective
        What to minimise.
    control
        Seed, time limit, progress, interruption.
    starts
        From how many profiles the search begins.
    kicks
        How many kicks in a row may fail before the search ends; by default half of the starts. With 0
        kicks and a time limit, or anything else, the search ends when it has nothing left to try.
    keep
        How many distinct profiles to return as candidates, the best first.
    """
    control = control or Control()
    checks.whole(starts, "starts", 1)
    patience = starts // 2 if kicks is None else checks.whole(kicks, "kicks", 0)
    search = _Search(objective, control)
    rng, game = control.rng, objective.game
    begin = diverse(game, starts, rng)
    search.note(begin[0], objective.margins(begin[:1])[0])
    settled, done = False, 0
    with control.running():
        ends, stable, sweeps = settle(game, begin, rng, control)
        search.sweeps += sweeps
        settled = bool(stable.any())
        # Circles have no best profile; the raw starts add what dynamics would never visit.
        ends = np.unique(np.concatenate([ends, begin[starts // 2 :][: starts // 4]]), axis=0)
        margins = objective.margins(ends)
        for profile, row in zip(ends, margins, strict=True):
            search.note(profile, row)
        order = np.argsort(margins.max(axis=1), kind="stable")
        for t in order.tolist():
            search.descend(ends[t], margins[t])
            done += 1
            control.report("pure", done, len(order) + patience, search.best_value)
        failed = 0
        while failed < patience and not search.nothing_to_win:
            before = search.best_value
            search.descend(search.kicked(rng))
            failed = 0 if search.best_value < before - TIE else failed + 1
            control.report("pure", len(order) + failed, len(order) + patience, search.best_value)
    ranked = search.ranked()
    status: Status = control.ended or ("converged" if settled else "cycled")
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
        starts=starts,
        sweeps=search.sweeps,
        seconds=control.seconds,
        candidates=tuple(objective.strategy(profile) for profile in ranked[:keep]),
        note=note,
    )


class _Search:
    """Everything that one search has seen."""

    def __init__(self, objective: Objective, control: Control) -> None:
        self.objective, self.control = objective, control
        self.n_agents = objective.game.n_agents
        self.sweeps = 0
        self.best_value = np.inf
        self.values: dict[bytes, float] = {}
        self.profiles: dict[bytes, BoolArray] = {}
        self.visited: set[bytes] = set()
        self.listed = [
            space.enumerate() if space.size <= LISTED else None for space, _ in objective.spaces.groups
        ]
        self.actions = max(min(space.size, 2048) for space in objective.spaces.spaces)

    def note(self, profile: BoolArray, margins: FloatArray) -> None:
        """Remember a profile and its value."""
        key = profile.tobytes()
        value = float(margins.max())
        self.values[key], self.profiles[key] = value, profile.copy()
        self.best_value = min(self.best_value, value)

    @property
    def nothing_to_win(self) -> bool:
        """Whether the best value cannot be improved in a way that counts."""
        return not self.objective.margin_counts and self.best_value <= 0

    def ranked(self) -> list[BoolArray]:
        """Return all remembered profiles, the best first; those within `TIE` by potential."""
        floor = -np.inf if self.objective.margin_counts else 0.0
        keys = sorted(self.values, key=lambda key: self.values[key])
        best = max(self.values[keys[0]], floor)
        ties = [key for key in keys if max(self.values[key], floor) <= best + TIE]
        rest = keys[len(ties) :]
        ties.sort(key=lambda key: -self.objective.height(self.profiles[key]))
        return [self.profiles[key] for key in ties + rest]

    def kicked(self, rng: np.random.Generator) -> BoolArray:
        """Return one of the best profiles with a few agents moved at random."""
        keys = sorted(self.values, key=lambda key: self.values[key])[:5]
        profile = self.profiles[keys[int(rng.integers(len(keys)))]].copy()
        count = min(int(rng.integers(2, max(4, self.n_agents // 5 + 1))), self.n_agents)
        for agent in rng.choice(self.n_agents, size=count, replace=False).tolist():
            profile[agent] = self.objective.spaces.spaces[agent].sample(rng, 1)[0]
        if rng.random() < 0.3:
            profile = settle(self.objective.game, profile[None], rng, self.control, 30)[0][0]
        return profile

    def descend(self, profile: BoolArray, margins: FloatArray | None = None) -> None:
        """Move single agents as long as that lowers the largest margins."""
        profile = profile.copy()
        margins = self.objective.margins(profile[None])[0] if margins is None else margins
        while (key := profile.tobytes()) not in self.visited:
            self.visited.add(key)
            self.control.check()
            self.sweeps += 1
            found = self._better(profile, margins)
            if found is None:
                break
            profile, margins = found
        self.note(profile, margins)

    def _better(self, profile: BoolArray, margins: FloatArray) -> tuple[BoolArray, FloatArray] | None:
        """Return the best profile that one agent's move away from `profile` leads to, if it is better."""
        moved = self._moves(profile)
        if not len(moved):
            return None
        chunk = len(moved)
        if len(moved) * self.n_agents * self.actions > WHOLE:
            # A move helps only if it lowers the margin of the agent who has the largest one.
            worst = int(margins.argmax())
            alone = self.objective.margins(moved, np.array([worst]))[:, 0]
            helps = np.flatnonzero(alone < margins[worst] - TIE)
            moved = moved[helps[np.argsort(alone[helps], kind="stable")]]
            chunk = max(16, WHOLE // (self.n_agents * self.actions))
        now = _leading(margins[None])
        for start in range(0, len(moved), chunk):
            self.control.check()
            some = self.objective.margins(moved[start : start + chunk])
            leading = _leading(some)
            order = np.lexsort(leading.T[::-1])
            best = int(order[0])
            if _less(leading[best], now[0]):
                return moved[start + best], some[best]
        return None

    def _moves(self, profile: BoolArray) -> BoolArray:
        """Return the profiles that differ in one agent's action, shape (m, n, k)."""
        agents, actions = [], []
        for (space, members), sets in zip(self.objective.spaces.groups, self.listed, strict=True):
            for agent in members.tolist():
                options = _small_steps(space, profile[agent]) if sets is None else sets
                options = options[(options != profile[agent]).any(axis=1)]
                agents.append(np.full(len(options), agent))
                actions.append(options)
        movers: IntArray = np.concatenate(agents)
        moved = np.repeat(profile[None], len(movers), axis=0)
        moved[np.arange(len(movers)), movers] = np.concatenate(actions)
        return moved


def _leading(margins: FloatArray) -> FloatArray:
    """Return the largest margins of each row, the largest first."""
    count = min(LEADING, margins.shape[1])
    top = np.partition(margins, margins.shape[1] - count, axis=1)[:, -count:]
    return -np.sort(-top, axis=1)


def _less(one: FloatArray, two: FloatArray) -> bool:
    """Return whether the first margins that differ are smaller in `one`."""
    for a, b in zip(one.tolist(), two.tolist(), strict=True):
        if abs(a - b) > TIE:
            return bool(a < b)
    return False


def _small_steps(space: ActionSpace, own: BoolArray) -> BoolArray:
    """Return the sets that differ from `own` by joining, leaving or swapping one coalition."""
    k = len(own)
    flips = np.eye(k, dtype=bool)
    joined, left = np.flatnonzero(~own), np.flatnonzero(own)
    swaps = [flips[l] | flips[m] for l in left.tolist() for m in joined.tolist()][:LISTED]
    options = own ^ np.array([*flips, *swaps])
    return np.asarray(options[space.contains(options)])
