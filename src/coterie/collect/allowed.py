"""Which joint actions may be planned: those that keep the rules, with at most so many people elsewhere than today.

What a sample is worth is a sum over the pairs that it brings together, so it is the total of everybody's utility in the
game whose means are the worths of pairs, and the joint action to play is the best assignment in that game
(`coterie.solve.teams`): exact where the profiles can be looked at one by one, else by steps, exchanges and kicks.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.certificates.widened import widened
from coterie.estimate.unknowns import Unknowns
from coterie.game.actions import ActionSpaces
from coterie.game.admissible import Admissible, StaffRule
from coterie.game.game import Game
from coterie.game.steps import Steps
from coterie.game.strategy import Strategy
from coterie.solve.control import Control
from coterie.solve.teams import Task, best_teams

DRAWN = 6
"""So many random assignments are where searches begin, and what a random plan is made of."""

FIRST, LATER = 24, 2
"""How many kicks in vain end the first search of a plan, and those that begin where the last one ended."""

SAME = 1e-6
"""What was planned already is kept if nothing is better by more than this share."""


@dataclass(frozen=True, eq=False)
class Allowed:
    """The joint actions that may be planned."""

    spaces: ActionSpaces
    """What people may do; what they do today among it."""
    admissible: Admissible
    largest: IntArray
    """The most members of each coalition, shape (k,); those of today or of the assignment are not too many."""
    agents: tuple[str, ...]
    coalitions: tuple[str, ...]

    @classmethod
    def of(cls, spaces: ActionSpaces, admissible: Admissible, largest: IntArray, strategy: Strategy) -> "Allowed":
        """Return what may be planned: whoever is somewhere in the strategy or today may be there, whatever she may do.

        Teams may also be as large as in these, whatever the `largest` ones that were seen, as far as rules allow that.
        `spaces` are those that were declared: whoever is nowhere yet, as newcomers are, need not stay so.
        """
        names = (strategy.agents, strategy.coalitions)
        for given in (strategy.sets if strategy.is_pure else None, admissible.today):
            if given is not None:
                there = (given.any(axis=1) & admissible.staff)[:, None]
                rows = np.where(there, given, spaces.sample(np.random.default_rng(0), 1)[0])
                spaces = widened(spaces, Strategy.pure(rows, *names))[0]
                sizes = given[admissible.staff].sum(axis=0)
                sizes = np.full_like(sizes, sizes.max()) if admissible.interchangeable else sizes
                largest = np.maximum(largest, np.minimum(sizes, admissible.largest))
        return cls(spaces, admissible, largest, *names)

    def without_limit_on_moves(self) -> "Allowed":
        """Return the same for any number of moves."""
        return replace(self, admissible=replace(self.admissible, max_moves=None))

    def without_rules(self) -> "Allowed":
        """Return the same for any assignment of those who are there."""
        everybody = np.full(len(self.coalitions), len(self.agents))
        staff = tuple(rule for rule in self.admissible.rules if isinstance(rule, StaffRule))
        free = replace(self.admissible, rules=staff, largest=everybody, groups=(), max_moves=None)
        return replace(self, admissible=free, largest=everybody)

    @cached_property
    def _task(self) -> Task:
        """What is searched, in a game in which nothing is worth anything yet."""
        means = np.zeros((len(self.agents), len(self.agents)))
        game = Game(means, self.spaces, agents=self.agents, coalitions=self.coalitions)
        return Task(game, self.admissible, self.largest)

    def allows(self, profile: BoolArray) -> bool:
        """Return whether an assignment may be planned."""
        return self._task.allows(profile)

    def steps(self, profile: BoolArray) -> Steps:
        """Return the steps from one assignment to others that may be planned."""
        return self._task.steps(profile)

    @cached_property
    def drawn(self) -> tuple[BoolArray, ...]:
        """Some that were drawn at random; refused, with the rules that contradict each other, if there are none."""
        control = Control(0)
        found = [self._task.assignments.drawn(control) for _ in range(DRAWN)]
        if control.ended is not None:  # nobody set a limit
            raise KeyboardInterrupt
        return tuple(profile for profile in found if profile is not None)

    @cached_property
    def today(self) -> BoolArray | None:
        """Today's assignment of those who are still there, if that may be planned."""
        if self.admissible.today is None:
            return None
        today = self.admissible.today
        return today if self.allows(today) else None

    def known(self, strategy: Strategy) -> list[BoolArray]:
        """Return the strategy and today's assignment, as far as they may be planned."""
        found = [strategy.sets] if strategy.is_pure and self.allows(strategy.sets) else []
        return found if self.today is None else [*found, self.today]

    def moves(self, profile: BoolArray) -> int | None:
        """Return how many people are elsewhere than today; None where that is not known."""
        return None if self.admissible.today is None else self.admissible.moves(profile)

    def best(
        self,
        unknowns: Unknowns,
        pairs: FloatArray,
        rng: np.random.Generator,
        played: Sequence[BoolArray] = (),
        begin: Iterable[BoolArray] = (),
    ) -> BoolArray:
        """Return an assignment with the largest sum of worths of pairs, or nearly.

        Parameters
        ----------
        unknowns
            The way the log is read.
        pairs
            What one more observation of each pair is worth, in the shape of the unknowns.
        rng
            Where the search's kicks come from.
        played
            What was planned so far; the last one is kept where nothing is better.
        begin
            Where to begin as well, if that is allowed.
        """
        # Only proportions count, and searches stop at differences that are small beside 1.
        scale = max(float(pairs.max(initial=0.0)), 1e-300)
        task = replace(self._task, game=unknowns.game(pairs / scale, self.spaces, self.agents, self.coalitions))
        if played:
            starts = [played[-1], self.drawn[len(played) % len(self.drawn)]]
        else:
            starts = [*filter(self.allows, begin), *self.drawn]
        control = Control(rng)
        found = best_teams(task, control, begin=starts, starts=0, patience=LATER if played else FIRST, keep=8)
        if control.ended is not None:  # nobody set a limit
            raise KeyboardInterrupt
        if played and found.scores[0] <= task.score(played[-1]) * (1 + SAME):
            return played[-1]
        return found.profiles[0]
