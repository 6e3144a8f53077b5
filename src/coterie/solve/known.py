"""Games with known utilities: an equilibrium by the solver that suits the game, and the best welfare with proof.

These are what `Game.equilibrium` and `Game.best_welfare` call: methods of the game for those who use it, solved here.
"""

from dataclasses import replace
from importlib.util import find_spec

from coterie import checks
from coterie.game.admissible import Admissible
from coterie.game.dynamics import MANY, best_pure_profile
from coterie.game.game import Game
from coterie.game.strategy import Strategy
from coterie.game.welfare import Outcome
from coterie.solve.columns import largest_value
from coterie.solve.control import Control
from coterie.solve.exact import enumerate_profiles
from coterie.solve.many import fits, many_profiles
from coterie.solve.mixed import mixed
from coterie.solve.objective import GapObjective
from coterie.solve.polymatrix import polymatrix
from coterie.solve.pure import pure
from coterie.solve.search import ENUMERATED
from coterie.solve.smooth import SmoothGap
from coterie.solve.solution import Solution

PIVOTED = 40
"""Up to so many actions of all agents together, pivoting is quick."""


def equilibrium(game: Game, seed: checks.Seed = 0, *, time_limit: float | None = None) -> Solution:
    """Return a Nash equilibrium, pure where one is found and else mixed.

    In turn, until one has gap 0:

    1. with a potential, best responses, which end in a pure equilibrium; of many agents whose pairs are listed, after
       moves of whole groups (`coterie.solve.groups`);
    2. else all pure profiles, where they are few, or a search among them;
    3. a search for the mixed strategy of smallest gap;
    4. for few actions and without sizes, complementary pivoting (`coterie[equilibria]`), which ends in an equilibrium.

    If none has, the smallest gap that was found: look at `value`.

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
    if game.has_potential and fits(game) and game.n_agents * game.n_coalitions >= MANY:
        profile, *_ = many_profiles(game, control)
        strategy = Strategy.pure(profile, game.agents, game.coalitions)
        return Solution(
            strategy, game.gap(strategy), "groups", "gap", control.ended or "converged", 1, 0, control.seconds, 0.0,
            (strategy,),
        )  # fmt: skip
    if game.has_potential:
        rest = best_pure_profile(game, control.rng)
        return Solution(
            rest.strategy, game.gap(rest.strategy), "best responses", "gap", "converged", rest.starts, 0,
            control.seconds, 0.0, (rest.strategy,),
        )  # fmt: skip
    objective, inner = GapObjective(game), control.nested(0.3)
    best = enumerate_profiles(objective, inner) if game.actions.size <= ENUMERATED else pure(objective, inner, kicks=2)
    best = _judged(game, best)
    control.heed(inner)
    if best.value <= game.rounding or control.ended:
        return best
    inner = control.nested()
    found = [_judged(game, mixed(SmoothGap(game), inner, begin=[best.strategy])), best]
    control.heed(inner)
    pivots = not game.depends_on_size and sum(space.size for space in game.actions.spaces) <= PIVOTED
    if found[0].value > game.rounding and pivots and not control.ended and find_spec("quantecon") is not None:
        found.append(_judged(game, polymatrix(game, control)))
    return min(found, key=lambda one: one.value)


def _judged(game: Game, found: Solution) -> Solution:
    """Return a solution whose value is the gap of its strategy and nothing else."""
    return replace(found, value=game.gap(found.strategy), objective="gap")


def largest_welfare(game: Game, admissible: Admissible, time_limit: float | None = None) -> Outcome:
    """Return the profile with the largest sum of utilities, by a program over all teams that there could be."""
    best = largest_value(game, admissible, control=Control(0, time_limit))
    strategy = Strategy.pure(best.profile, game.agents, game.coalitions)
    welfare = game.welfare(strategy)
    return Outcome(strategy, welfare, welfare if best.is_optimal else best.bound)
