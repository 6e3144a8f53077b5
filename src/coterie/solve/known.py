"""Games with known utilities: an equilibrium by the solver that suits the game, and the best welfare with proof.

These are what `Game.equilibrium` and `Game.best_welfare` call: methods of the game for those who use it, solved here.
"""

from dataclasses import replace
from importlib.util import find_spec

from coterie import checks
from coterie.game.admissible import Admissible
from coterie.game.dynamics import best_pure_profile
from coterie.game.game import STABLE_WITHIN, Game
from coterie.game.strategy import Strategy
from coterie.game.welfare import Outcome
from coterie.solve.columns import largest_value
from coterie.solve.control import Control
from coterie.solve.exact import enumerate_profiles
from coterie.solve.mixed import mixed
from coterie.solve.objective import GapObjective
from coterie.solve.polymatrix import MOST_ACTIONS, polymatrix
from coterie.solve.pure import pure
from coterie.solve.search import ENUMERATED
from coterie.solve.smooth import SmoothGap
from coterie.solve.solution import Solution


def equilibrium(game: Game, seed: checks.Seed = 0, *, time_limit: float | None = None) -> Solution:
    """Return a Nash equilibrium, pure where one is found and else mixed.

    In turn, until one has gap 0:

    1. with a potential, best responses, which end in a pure equilibrium;
    2. else all pure profiles, where they are few, or a search among them;
    3. without sizes, complementary pivoting (`coterie[equilibria]`), which ends in a mixed equilibrium;
    4. the mixed strategy of smallest gap that a search finds. It need not be 0: look at `value`.

    Parameters
    ----------
    game
        The known utilities. Agents who are left out of its gap may have reasons to move.
    seed
        Draws where searches start.
    time_limit
        In seconds.
    """
    control = Control(seed, time_limit)
    if game.has_potential:
        found = best_pure_profile(game, control.rng)
        return Solution(
            found.strategy, game.gap(found.strategy), "best responses", "gap", "converged", found.starts, 0,
            control.seconds, 0.0, (found.strategy,),
        )  # fmt: skip
    objective, inner = GapObjective(game), control.nested(0.3)
    best = (
        enumerate_profiles(objective, inner)
        if game.actions.size <= ENUMERATED
        else pure(objective, inner, kicks=2)
    )
    best = _judged(game, best)
    control.heed(inner)
    if best.value <= STABLE_WITHIN or control.ended:
        return best
    actions = sum(space.size for space in game.actions.spaces)
    pivots = not game.depends_on_size and actions <= MOST_ACTIONS and game.n_agents > 1
    if pivots and find_spec("quantecon") is not None:
        found_mixed = _judged(game, polymatrix(game, control))
        if found_mixed.value <= STABLE_WITHIN:
            return found_mixed
    rest = control.nested()
    found_mixed = _judged(game, mixed(SmoothGap(game), rest, begin=[best.strategy]))
    return min(found_mixed, best, key=lambda one: one.value)


def _judged(game: Game, found: Solution) -> Solution:
    """Return a solution whose value is the gap of its strategy and nothing else."""
    return replace(found, value=game.gap(found.strategy), objective="gap")


def largest_welfare(game: Game, admissible: Admissible, time_limit: float | None = None) -> Outcome:
    """Return the profile with the largest sum of utilities, by a program over all teams that there could be."""
    best = largest_value(game, admissible, control=Control(0, time_limit))
    strategy = Strategy.pure(best.profile, game.agents, game.coalitions)
    welfare = game.welfare(strategy)
    return Outcome(strategy, welfare, welfare if best.is_optimal else best.bound)
