"""Profiles of largest expected value under rules: steps of one person, exchanges of two, and kicks.

1. Starts that keep all rules: today's teams if they do, others from a program with random weights, and where everybody
   is in one coalition at most, these after annealing (`coterie.solve.annealing`).
2. From each, steps that raise the value as long as there are any: one person joins, leaves or changes a coalition, two
   exchange, people who must be together move as one, or exchange with as many others or fewer. All steps are compared;
   the best one is taken, and with it others that touch none of its coalitions.
3. Kicks: a few random admissible steps from the best profiles, and up again, until that is in vain for long.

Every profile on the way keeps all rules. `settled` leads from there to profiles that look stable: whoever blocks most
has her way.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations, product
from math import comb

import numpy as np

from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.estimate.step_design import factor
from coterie.game.actions import ActionSpace, ActionSpaces
from coterie.game.admissible import Admissible, PlaceRule, SizeRule
from coterie.game.changes import changes_of_all, changes_of_the_sum
from coterie.game.game import Game
from coterie.game.steps import Stability, Steps, exchanges, handed_over, single_steps, small_steps, steps_of_groups
from coterie.game.utilities import FromMeans
from coterie.solve.control import Control
from coterie.solve.feasible import Assignments
from coterie.solve.promising import SumOfPairs, blocking, drawn_exchanges

STARTS = 6
"""From so many profiles the search begins."""

ANNEALED, ANNEALED_CELLS = 4, 20_000_000
"""So many are annealed first, where pairs x coalitions are not more than that; then half as many will do."""

PATIENCE = 60
"""After so many kicks in vain a search ends."""

KICKED = 4
"""At most so many random steps make a kick."""

FIRST_SWEEPS = 4
"""So many steps from the first profile are taken however little time there is: what anybody would see at a glance."""

TOGETHER = 64
"""So many of the best steps are looked at for some that can be taken together."""

DRAWN = 64
"""So many random steps are drawn at once, before all are listed for one that keeps the rules."""

KEPT = 32
"""So many of the best profiles are remembered."""

LISTED = 64
"""Action spaces up to this size contribute every set as a step, larger ones small steps."""

REGROUPED = 128
"""People who must be together try to exchange with so many sets of as many others in a coalition, at most."""

ENUMERATED = 20_000
"""Up to so many profiles are looked at one by one."""

SETTLING = 200
"""After so many steps a profile that does not come to rest is left alone."""


@dataclass(frozen=True, eq=False)
class Task:
    """What teams are looked for: in which game, under which rules, at most how large."""

    game: Game
    """Expected utilities, with the value that is wanted."""
    admissible: Admissible
    largest: IntArray
    """The most members that a coalition is recommended to have, shape (k,); a limit that is no rule."""
    fair: bool = False
    """Whether the worst-off's utility counts, and the mean only among equals."""

    @cached_property
    def spaces(self) -> ActionSpaces:
        """What those who are to be assigned may do."""
        return self.admissible.spaces(self.game.actions)

    @cached_property
    def assignments(self) -> Assignments:
        """The profiles that are allowed, as a program."""
        game = self.game
        return Assignments(self.spaces, self.admissible, game.agents, game.coalitions, largest=self.largest)

    def score(self, profile: BoolArray) -> float:
        """Return what is to be large: the mean utility of the staff, or that of the worst-off."""
        return float(self.scores(profile[None])[0])

    def scores(self, profiles: BoolArray) -> FloatArray:
        """Return the same for several profiles."""
        rooms = self.game.utilities.pure_room_values(profiles)
        own = np.where(profiles, rooms, 0.0).sum(axis=2)[:, self.admissible.staff]
        return np.asarray(self._score(own))

    def _score(self, own: FloatArray) -> FloatArray:
        mean = own.mean(axis=1)
        return np.asarray(own.min(axis=1) + 1e-3 * mean if self.fair else mean)

    def allows(self, profile: BoolArray) -> bool:
        """Return whether everybody may do that, it keeps the rules, and no coalition is larger than is recommended."""
        small = bool((profile.sum(axis=0) <= self.largest).all())
        return small and bool(self.spaces.contains(profile).all()) and self.admissible.holds(profile)

    def steps(self, profile: BoolArray, *, alone: bool = False) -> Steps:
        """Return the steps that a search may take, or those of single people: they keep what holds."""
        spaces = self.spaces
        parts = [_small(profile, spaces)]
        if not alone:
            parts += [exchanges(profile, spaces), *self._steps_of_groups(profile)]
        return self._kept(profile, parts)

    def rising(self, profile: BoolArray, *, alone: bool = False) -> tuple[Steps, FloatArray]:
        """Return the same steps as far as they raise the score, and by how much, the one that does most first."""
        least = self.game.rounding
        if self._sum is None:
            steps = self.steps(profile, alone=alone)
        else:
            above = least * self._staffed / 2  # half: what rounding makes of sums does not decide
            parts = [self._sum.moves(profile, self.spaces, above)]
            if not alone:
                parts += [self._sum.exchanges(profile, self.spaces, above), *self._steps_of_groups(profile)]
            steps = self._kept(profile, parts)
        gains = self.changes(profile, steps)
        rising = np.flatnonzero(gains > least)
        rising = rising[np.argsort(-gains[rising], kind="stable")]
        return steps[rising], gains[rising]

    def random_step(self, profile: BoolArray, rng: np.random.Generator) -> Steps:
        """Return one step, if there is any: single steps and exchanges alike, however many there are of each."""
        if not self.admissible.groups_in(profile):
            few = (_drawn_moves if rng.random() < 0.5 else drawn_exchanges)(profile, self.spaces, rng, DRAWN)
            if len(found := self._kept(profile, [few])):
                return found[:1]
        steps = self.steps(profile)
        several = steps.moves.sum(axis=1)
        return steps[rng.choice(np.flatnonzero(several == rng.choice(np.unique(several))), 1)] if len(steps) else steps

    @cached_property
    def _sum(self) -> SumOfPairs | None:
        """What tells which steps raise the score without a list of all; None where nothing does."""
        utilities = self.game.utilities
        if self.fair or not isinstance(utilities, FromMeans):
            return None
        return SumOfPairs(utilities) if all(space.size <= LISTED for space, _ in self.spaces.groups) else None

    @property
    def _staffed(self) -> int:
        return max(1, int(self.admissible.staff.sum()))

    def _steps_of_groups(self, profile: BoolArray) -> list[Steps]:
        """Return the steps of people who must be together."""
        groups = self.admissible.groups_in(profile)
        if not groups:
            return []
        return [steps_of_groups(profile, self.spaces, "nash", groups), self._regrouped(profile, groups)]

    def _kept(self, profile: BoolArray, parts: Sequence[Steps]) -> Steps:
        """Return the steps of all parts that keep what holds."""
        found = Steps.together([*parts, Steps.none(profile.shape[1])])
        if self.admissible.rules:
            found = found[self.admissible.admitted(profile, found)]
        if (self.largest < len(profile)).any():
            sizes = profile.sum(axis=0) + found.change(profile).sum(axis=1)
            found = found[np.asarray((sizes <= self.largest).all(axis=1))]
        return found if self.admissible.max_moves is None else found[self._within_moves(profile, found)]

    def _regrouped(self, profile: BoolArray, groups: Sequence[Sequence[int]]) -> Steps:
        """Return exchanges of people who are together with at most as many others, who need not be.

        Those are not steps that people take by themselves, but where sizes are fixed there is no other way for a group
        to go. Of many others, those whose own move would raise the value most.
        """
        parts, units = [], np.eye(profile.shape[1], dtype=bool)
        for group in map(list, groups):
            own = profile[group]
            for l, m in product(*(np.flatnonzero(rooms).tolist() for rooms in (own.all(axis=0), ~own.any(axis=0)))):
                others = np.flatnonzero(profile[:, m] & ~profile[:, l])
                counts = range(1, min(len(group), len(others)) + 1)
                if any(len(others) > _taken_from(count) for count in counts):
                    others = others[self._order_of_leaving(profile, others, l, m)]
                for count in counts:
                    chosen = others[_subsets(min(len(others), _taken_from(count)), count)]
                    movers = np.hstack([np.tile(np.array(group), (len(chosen), 1)), chosen])
                    given, taken = (np.broadcast_to(units[room], (len(chosen), len(units))) for room in (l, m))
                    parts.append(handed_over(profile, self.spaces, movers, len(group), given, taken))
        return Steps.together([*parts, Steps.none(profile.shape[1])])

    def _order_of_leaving(self, profile: BoolArray, agents: IntArray, l: int, m: int) -> IntArray:
        """Return in which order agents come who are in m and could be in l: whose move is worth most first."""
        sets = profile[agents]
        sets[:, m], sets[:, l] = False, True
        changes = changes_of_the_sum(self.game.utilities, profile, Steps(agents[:, None], sets[:, None]))
        return np.argsort(-changes, kind="stable")

    def _within_moves(self, profile: BoolArray, steps: Steps) -> BoolArray:
        """Return which steps leave at most as many people moved as allowed, names of coalitions as they are."""
        today, most = self.admissible.today, self.admissible.max_moves
        assert today is not None
        assert most is not None
        counted = today.any(axis=1) & self.admissible.staff
        moved = (profile != today).any(axis=1) & counted
        after = (steps.sets != today[steps.movers]).any(axis=2) & counted[steps.movers] & steps.moves
        before = moved[steps.movers] & steps.moves
        return np.asarray(moved.sum() + (after.astype(int) - before).sum(axis=1) <= most)

    def changes(self, profile: BoolArray, steps: Steps) -> FloatArray:
        """Return by how much each step changes the score."""
        if not self.fair:
            return changes_of_the_sum(self.game.utilities, profile, steps) / self._staffed
        staff = self.admissible.staff
        own = self.game.values(profile)[staff]
        after = own + changes_of_all(self.game.utilities, profile, steps)[:, staff]
        return np.asarray(self._score(after) - self._score(own[None])[0])


@cache
def _taken_from(size: int) -> int:
    """Return among how many others a group looks for so many: of not too many choices."""
    return max(among for among in range(size, size + REGROUPED) if comb(among, size) <= REGROUPED or among == size)


@cache
def _subsets(among: int, size: int) -> IntArray:
    """Return every set of so many of the numbers below another, one to a row."""
    return np.array(list(combinations(range(among), size)))


def _small(profile: BoolArray, spaces: ActionSpaces) -> Steps:
    """Return the single steps, of agents with many sets the small ones only."""
    if all(space.size <= LISTED for space, _ in spaces.groups):
        return single_steps(profile, spaces)
    movers, sets = [], []
    for agent, space in enumerate(spaces.spaces):
        listed = _small_of(space, profile[agent])
        movers.append(np.full(len(listed), agent))
        sets.append(listed)
    return Steps(np.concatenate(movers)[:, None], np.concatenate(sets)[:, None])


def _small_of(space: ActionSpace, own: BoolArray) -> BoolArray:
    """Return the other sets of one agent, of many sets those that a small step leads to."""
    listed = space.enumerate() if space.size <= LISTED else small_steps(space, own)
    return np.asarray(listed[(listed != own).any(axis=1)])


def _drawn_moves(profile: BoolArray, spaces: ActionSpaces, rng: np.random.Generator, count: int) -> Steps:
    """Draw agents, and for each a set that she may choose; where that is her own, it is no step."""
    movers = rng.integers(len(profile), size=count)
    sets = profile[movers]
    for space, agents in spaces.groups:
        own = np.flatnonzero(np.isin(movers, agents))
        if space.size <= LISTED:
            sets[own] = space.enumerate()[rng.integers(space.size, size=len(own))]
        else:
            for row in own.tolist():
                listed = _small_of(space, profile[movers[row]])
                sets[row] = listed[rng.integers(len(listed))] if len(listed) else sets[row]
    real = (sets != profile[movers]).any(axis=1)
    return Steps(movers[real, None], sets[real, None])


@dataclass(frozen=True, eq=False)
class Found:
    """What a search brought: the best profiles, the best first, and their scores."""

    profiles: list[BoolArray]
    scores: list[float]
    starts: int
    sweeps: int
    is_optimal: bool = False


def best_teams(
    task: Task,
    control: Control,
    *,
    begin: Sequence[BoolArray] = (),
    starts: int = STARTS,
    patience: int = PATIENCE,
    keep: int = KEPT,
) -> Found:
    """Search for the profiles of largest score that keep all rules.

    Parameters
    ----------
    task
        What is looked for.
    control
        Seed, time limit, progress, interruption.
    begin
        Profiles to begin with, such as today's; those that break rules are led to the nearest that does not.
    starts
        How many other profiles to begin with.
    patience
        How many kicks in a row may fail.
    keep
        How many profiles to return.
    """
    search = _Search(task, control, keep)
    # Whatever the time limit, one profile is needed, or the reason why there is none.
    first = [profile if task.allows(profile) else task.assignments.nearest(profile) for profile in begin]
    first = first or [_any_profile(task, control.rng)]
    search.note(first[0])
    with control.running():
        if task.spaces.size <= ENUMERATED:
            search.look_at_all()
            return search.found(1, is_optimal=True)
        search.climb(first[0], FIRST_SWEEPS)
        anneals = _anneals(task)
        for _ in range(starts // 2 if anneals else starts):
            drawn = _random_profile(task, control.rng)
            drawn = task.assignments.drawn(control) if drawn is None else drawn
            control.check()
            first += [] if drawn is None else [drawn]
        others = [*(_annealed(task, first[-ANNEALED:], control) if anneals else ()), *first[1:]]
        for done, profile in enumerate(others):
            control.report("teams", done, len(others) + patience, -search.best)
            search.climb(profile)
        failed = 0
        while failed < patience:
            control.report("teams", len(others) + failed, len(others) + patience, -search.best)
            before = search.best
            search.climb(search.kicked(control.rng), alone_first=False)
            failed = 0 if search.best > before + task.game.rounding else failed + 1
    return search.found(len(first))


def _anneals(task: Task) -> bool:
    """Return whether annealing applies: it knows sums and averages of pairs, and one coalition for each person."""
    game, n, k = task.game, task.game.n_agents, task.game.n_coalitions
    if task.fair or task.admissible.max_moves is not None or k * n * n > ANNEALED_CELLS:
        return False
    if not isinstance(game.observed, FromMeans) or game.observed.depends_on_size:
        return False
    return all(space.size <= LISTED and (space.enumerate().sum(axis=1) <= 1).all() for space, _ in task.spaces.groups)


def _annealed(task: Task, profiles: Sequence[BoolArray], control: Control) -> list[BoolArray]:
    """Return profiles after annealing among what sizes and places allow, led to the nearest that keeps all rules."""
    from coterie.solve.annealing import annealed  # compiled: loaded where it is needed

    game, spaces, n, k = task.game, task.spaces, task.game.n_agents, task.game.n_coalitions
    assert isinstance(game.observed, FromMeans)  # `_anneals`
    means = np.stack([game.observed.means.matrix(l) for l in range(k)]) * ~np.eye(n, dtype=bool)
    staff = task.admissible.staff
    places = np.append(spaces.can_join, spaces.contains(np.zeros((n, k), dtype=bool))[:, None], axis=1)
    places[~staff] = np.arange(k + 1) == k
    sizes = np.arange(n + 2)
    allowed = np.tile(sizes <= n, (k, 1)) & (sizes <= task.largest[:, None])
    for rule in task.admissible.rules:
        if isinstance(rule, SizeRule):
            allowed[rule.coalition] &= rule.allows(sizes)
        if isinstance(rule, PlaceRule):
            places[rule.agent] &= (np.arange(k + 1) == rule.coalition) == rule.inside
    found, counted = [], factor(sizes, game.value)
    for profile in profiles:
        control.check()
        area = np.where(profile.any(axis=1), profile.argmax(axis=1), k)
        area = annealed(means, counted, allowed, places, area, int(control.rng.integers(2**31)))
        after = area[:, None] == np.arange(k)
        found.append(after if task.allows(after) else task.assignments.nearest(after))
    return found


def _any_profile(task: Task, rng: np.random.Generator) -> BoolArray:
    """Return a profile that is allowed: one of a few random ones if rules leave much, else from the program."""
    found = _random_profile(task, rng)
    return task.assignments.first_drawn(rng) if found is None else found


def _random_profile(task: Task, rng: np.random.Generator) -> BoolArray | None:
    """Return one of a few random profiles that is allowed, if any is."""
    return next((np.asarray(one) for one in task.spaces.sample(rng, 20) if task.allows(one)), None)


class _Search:
    """Everything that one search has seen."""

    def __init__(self, task: Task, control: Control, keep: int) -> None:
        self.task, self.control, self.keep = task, control, keep
        self.known: dict[bytes, tuple[float, BoolArray]] = {}
        self.best, self.sweeps = -np.inf, 0

    def note(self, profile: BoolArray, score: float | None = None) -> None:
        """Remember a profile if it is among the best."""
        score = self.task.score(profile) if score is None else score
        self.known[self.task.admissible.key(profile)] = score, profile.copy()
        self.best = max(self.best, score)
        if len(self.known) > 4 * self.keep:
            kept = sorted(self.known, key=lambda key: -self.known[key][0])[: self.keep]
            self.known = {key: self.known[key] for key in kept}

    def found(self, starts: int, *, is_optimal: bool = False) -> Found:
        ranked = sorted(self.known.values(), key=lambda one: -one[0])[: self.keep]
        return Found(
            [profile for _, profile in ranked], [score for score, _ in ranked], starts, self.sweeps, is_optimal
        )

    def climb(self, profile: BoolArray, sure: int = 0, *, alone_first: bool = True) -> None:
        """Take steps that raise the score as long as there are any, so many whatever the time.

        Exchanges are many. On a long way up they wait until nobody can raise the score alone.
        """
        profile, sure = profile.copy(), self.sweeps + sure
        try:
            while True:
                if self.sweeps >= sure:
                    self.control.check()
                self.sweeps += 1
                steps = self.task.rising(profile, alone=alone_first)[0]
                if alone_first and not len(steps):
                    steps = self.task.rising(profile)[0]
                if not len(steps):
                    break
                profile = self._taken(profile, steps)
        finally:  # also where time runs out on the way up
            self.note(profile)

    def _taken(self, profile: BoolArray, steps: Steps) -> BoolArray:
        """Return the profile after the first step, and others that touch neither its coalitions nor its people."""
        chosen = [0] if self.task.fair else _apart(profile, steps[:TOGETHER])
        after = profile.copy()
        for step in chosen:
            for agent, own in zip(steps.movers[step].tolist(), steps.sets[step], strict=True):
                if agent >= 0:
                    after[agent] = own
        return after if len(chosen) == 1 or self.task.allows(after) else np.asarray(steps[:1].after(profile)[0])

    def kicked(self, rng: np.random.Generator) -> BoolArray:
        """Return one of the best profiles after a few random steps."""
        ranked = sorted(self.known.values(), key=lambda one: -one[0])[:8]
        profile = ranked[min(int(rng.integers(len(ranked))), int(rng.integers(len(ranked))))][1].copy()
        for _ in range(int(rng.integers(2, KICKED + 1))):
            step = self.task.random_step(profile, rng)
            if not len(step):
                break
            profile = np.asarray(step.after(profile)[0])
        return profile

    def look_at_all(self) -> None:
        """Remember the best of all profiles that keep the rules."""
        for block in self.task.spaces.joint_actions(2048):
            self.control.check()
            small = block[(block.sum(axis=1) <= self.task.largest).all(axis=1)]
            if not len(small):
                continue
            scores = self.task.scores(small)
            for at in np.argsort(-scores, kind="stable").tolist():
                if len(self.known) >= self.keep and scores[at] <= sorted(s for s, _ in self.known.values())[-self.keep]:
                    break
                if self.task.admissible.holds(small[at]):
                    self.note(small[at], float(scores[at]))


def _apart(profile: BoolArray, steps: Steps) -> list[int]:
    """Return the numbers of the first steps, of those that share a coalition or a person with an earlier one none."""
    touched, moved = np.zeros(profile.shape[1], dtype=bool), np.zeros(len(profile), dtype=bool)
    rooms = (steps.change(profile) != 0).any(axis=1)
    chosen = []
    for step in range(len(steps)):
        movers = steps.movers[step][steps.movers[step] >= 0]
        if not (touched & rooms[step]).any() and not moved[movers].any():
            chosen.append(step)
            touched |= rooms[step]
            moved[movers] = True
            if touched.all():
                break
    return chosen


def settled(
    task: Task, profile: BoolArray, stability: Stability, check: Callable[[], None] = lambda: None
) -> BoolArray | None:
    """Return where a profile comes to rest if whoever blocks most has her way; None where it does not.

    Steps that would break a limit on sizes or moves are not taken, although people could: then it does not come to
    rest.
    """
    seen: set[bytes] = set()
    for _ in range(SETTLING):
        check()
        after, gains = _blocking(task, profile, stability)
        if gains.max(initial=0.0) <= task.game.rounding:
            return profile if task.allows(profile) else None
        order = np.argsort(-gains, kind="stable")
        allowed = (after(t) for t in order[gains[order] > task.game.rounding].tolist())
        found = next((one for one in allowed if task.allows(one)), None)
        if found is None or found.tobytes() in seen:
            return None
        seen.add(found.tobytes())
        profile = found
    return None


def _blocking(task: Task, profile: BoolArray, stability: Stability) -> tuple[Callable[[int], BoolArray], FloatArray]:
    """Return what whoever gains least has of each step, and where it leads: of single moves without rules the best."""
    if stability == "nash" and not task.admissible.rules:  # there may be too many sets to list
        rooms = task.game.utilities.rooms(profile).all()
        best, actions = task.spaces.best_responses(rooms)

        def moved(agent: int) -> BoolArray:
            after = profile.copy()
            after[agent] = actions[agent]
            return after

        return moved, np.asarray(best - np.where(profile, rooms, 0.0).sum(axis=1))
    steps, gains = task.game.unrefused(profile, _gaining(task, profile, stability), stability)
    return lambda step: np.asarray(steps[np.array([step])].after(profile)[0]), gains.min(axis=1, initial=np.inf)


def _gaining(task: Task, profile: BoolArray, stability: Stability) -> Steps:
    """Return the steps that people may take, of those by which anybody who moves gains nothing perhaps none."""
    utilities, spaces, admissible = task.game.utilities, task.spaces, task.admissible
    if not isinstance(utilities, FromMeans):
        return admissible.steps(profile, task.game.actions, stability)
    above = task.game.rounding / 2  # half: what rounding makes of sums does not decide
    found = blocking(utilities, profile, spaces, above, swaps=stability == "swap")
    groups = steps_of_groups(profile, spaces, stability, admissible.groups_in(profile))
    return admissible.taken_by(spaces, profile, Steps.together([found, groups]))
