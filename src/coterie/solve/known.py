"""Games with known utilities: an equilibrium by the solver that suits the game, and the best welfare with proof.

These are what `Game.equilibrium` and `Game.best_welfare` call: methods of the game for those who use it, solved here.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from coterie import checks
from coterie.game.admissible import Admissible
from coterie.game.dynamics import MANY, settle
from coterie.game.game import Game
from coterie.game.strategy import Strategy
from coterie.game.welfare import Outcome
from coterie.solve.columns import largest_value
from coterie.solve.control import Control
from coterie.solve.exact import enumerate_profiles
from coterie.solve.many import fits, many_profiles
from coterie.solve.mixed import mixed
from coterie.solve.objective import GapObjective
from coterie.solve.polymatrix import polymatrix, takes
from coterie.solve.pure import pure
from coterie.solve.search import ENUMERATED
from coterie.solve.smooth import SmoothGap
from coterie.solve.solution import Solution, Status

FEW = 256
"""Up to so many pure profiles, looking at all of them is quicker than anything else."""

STARTS = 32
"""From so many profiles best responses begin."""


def equilibrium(game: Game, seed: checks.Seed = 0, *, time_limit: float | None = None) -> Solution:
    """Return a Nash equilibrium, pure where one is found and else mixed.

    In turn, until one has gap 0:

    1. best responses from some profiles, which with a potential end in pure equilibria (of many agents whose pairs are
       listed, after moves of whole groups: `coterie.solve.groups`); where there are very few profiles, all of them. Of
       the equilibria the one with the largest potential, or without one the largest sum of utilities;
    2. all pure profiles, where they are few;
    3. without sizes, complementary pivoting (`coterie.solve.polymatrix`), which ends in an equilibrium;
    4. where sizes matter, there are too many actions for it or it did not end, a search among pure profiles, and one
       for the mixed strategy of smallest gap.

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
        return _pure(game, Strategy.pure(profile, game.agents, game.coalitions), "groups", control, 1, 0)
    best = _listed(game, control) if game.actions.size <= FEW else _settled(game, control)
    for solver in (_all_profiles, _pivoted, _searched, _mixed):
        if best.value <= game.rounding or control.ended:
            break
        found = solver(game, control, best)
        if found is not None:
            best = min(best, _judged(game, found), key=lambda one: one.value)
    return best


def _listed(game: Game, control: Control) -> Solution:
    """Return the best of all pure equilibria, or any profile where there are none."""
    stable = game.stable_profiles()
    if stable:
        return _pure(game, max(stable, key=game.height), "enumeration", control, 1, 1)
    anything = Strategy.pure(game.actions.sample(control.rng, 1)[0], game.agents, game.coalitions)
    return _pure(game, anything, "enumeration", control, 1, 1)


def _settled(game: Game, control: Control) -> Solution:
    """Return the best end of best responses; where they come to rest nowhere in a share of the time, where one stopped.

    Where time is up before, a profile that they began from. Of these the one with the smallest gap.
    """
    ends, sweeps = game.actions.sample(control.rng, STARTS), 0
    stable, inner = np.zeros(STARTS, dtype=bool), control.nested(0.3)
    with inner.running():
        ends, stable, sweeps = settle(game, ends, control.rng, inner.check)
    control.heed(inner)
    profiles = {end.tobytes(): end for end in (ends[stable] if stable.any() else ends)}.values()
    strategies = [Strategy.pure(profile, game.agents, game.coalitions) for profile in profiles]
    best = max(strategies, key=game.height) if stable.any() else min(strategies, key=game.gap)
    return _pure(game, best, "best responses", control, STARTS, sweeps)


def _all_profiles(game: Game, control: Control, _: Solution) -> Solution | None:
    if game.actions.size > ENUMERATED:
        return None
    return _nested(control, 0.3, lambda inner: enumerate_profiles(GapObjective(game), inner))


def _pivoted(game: Game, control: Control, _: Solution) -> Solution | None:
    return _nested(control, 1.0, lambda inner: polymatrix(game, inner)) if takes(game) else None


def _searched(game: Game, control: Control, _: Solution) -> Solution | None:
    if game.actions.size <= ENUMERATED:
        return None
    return _nested(control, 0.3, lambda inner: pure(GapObjective(game), inner, kicks=2))


def _mixed(game: Game, control: Control, best: Solution) -> Solution:
    return _nested(control, 1.0, lambda inner: mixed(SmoothGap(game), inner, begin=[best.strategy]))


def _nested(control: Control, share: float, search: Callable[[Control], Solution]) -> Solution:
    """Run a search in a share of the time that is left."""
    inner = control.nested(share)
    found = search(inner)
    control.heed(inner)
    return found


def _pure(game: Game, strategy: Strategy, method: str, control: Control, starts: int, sweeps: int) -> Solution:
    """Return a pure strategy as the solution that it is."""
    gap = game.gap(strategy)
    status: Status = control.ended or ("converged" if gap <= game.rounding else "cycled")
    return Solution(strategy, gap, method, "gap", status, starts, sweeps, control.seconds, 0.0, (strategy,))


def _judged(game: Game, found: Solution) -> Solution:
    """Return a solution whose value is the gap of its strategy and nothing else."""
    return replace(found, value=game.gap(found.strategy), objective="gap")


def largest_welfare(game: Game, admissible: Admissible, time_limit: float | None = None) -> Outcome:
    """Return the profile with the largest sum of utilities, by a program over all teams that there could be."""
    best = largest_value(game, admissible, control=Control(0, time_limit))
    strategy = Strategy.pure(best.profile, game.agents, game.coalitions)
    welfare = game.welfare(strategy)
    return Outcome(strategy, welfare, welfare if best.is_optimal else best.bound)
