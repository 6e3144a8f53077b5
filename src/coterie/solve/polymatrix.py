"""Exact mixed equilibria of size-free games: a game with known pair utilities is a polymatrix game.

Agent i's payoff against agent j is the sum over the coalitions that both are in of d_ij^l. Howson's
complementary pivoting (1972), as `quantecon` has it, ends in an equilibrium, pure or not, symmetric or not.
"""

from coterie.errors import CoterieError, InputError, TooLargeError
from coterie.game.game import Game
from coterie.game.strategy import Strategy
from coterie.solve.control import Control
from coterie.solve.smooth import SmoothGap
from coterie.solve.solution import Solution

MOST_ACTIONS = 400
"""Up to so many actions of all agents together."""


def polymatrix(game: Game, control: Control | None = None) -> Solution:
    """Return an equilibrium of a size-free game; needs the extra `coterie[equilibria]`."""
    try:
        from quantecon.game_theory import PolymatrixGame, polym_lcp_solver
    except ImportError:
        raise CoterieError(
            "the polymatrix solver needs quantecon; install it with: pip install 'coterie[equilibria]'"
        ) from None
    control = control or Control()
    if game.depends_on_size:
        raise InputError("a game whose utilities depend on coalition sizes is not a polymatrix game")
    sizes = [space.size for space in game.actions.spaces]
    if sum(sizes) > MOST_ACTIONS:
        raise TooLargeError(f"there are {sum(sizes):.3g} actions in all; the polymatrix solver takes {MOST_ACTIONS}")
    if game.n_agents == 1:
        raise InputError("a polymatrix game needs at least two agents")
    listed = [space.enumerate().astype(float) for space in game.actions.spaces]
    n, k = game.n_agents, game.n_coalitions
    means = [game.utilities.means.matrix(l) for l in range(k)]  # type: ignore[attr-defined]
    payoffs = {
        (i, j): sum(means[l][i, j] * listed[i][:, l, None] * listed[j][None, :, l] for l in range(k))
        for i in range(n)
        for j in range(n)
        if i != j
    }
    first = [int(control.rng.integers(size)) for size in sizes]
    found, about = polym_lcp_solver(PolymatrixGame(payoffs), starting_player_actions=first, full_output=True)
    supports = []
    for sets, shares in zip(listed, found, strict=True):
        kept = shares > 1e-12
        supports.append((sets[kept].astype(bool), shares[kept] / shares[kept].sum()))
    strategy = Strategy.mixed(supports, game.agents, game.coalitions)
    return Solution(
        strategy,
        SmoothGap(game).value(strategy.marginals),
        "polymatrix",
        "gap",
        "converged" if about.converged else "limit",
        1,
        int(about.num_iter),
        control.seconds,
        bound=0.0,
        candidates=(strategy,),
    )
