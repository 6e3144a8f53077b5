"""A test of whether people add to their teammates' totals what they get themselves."""

from dataclasses import dataclass

import numpy as np

from coterie.from_scipy import special
from coterie.statistics.total_statistics import TotalStatistics, own_edges

MOST_UNKNOWNS = 2000
"""The means of more pairs are not fitted: that would take seconds."""

SPARE = 3
"""So many totals for each person must be left over when all pairs are fitted, or a difference would hardly be seen."""

TOGETHER = 100
"""Totals of a team that move together raise this test's false alarms; it is made at a level lower by so much."""

NOTHING = 1e-10
"""Eigenvalues below this share of the largest are rounding errors of 0."""


@dataclass(frozen=True)
class Giving:
    """Who gets more from others than they get from her, and whether chance explains it."""

    chance: float
    """How likely differences as large are where there are none, if totals have independent normal noise."""
    agent: int
    """Who differs most."""
    more: float
    """How much more she gets from each of the others than they get from her, on average."""

    def is_surprising(self, alpha: float) -> bool:
        """Return whether it is an objection to symmetry."""
        return self.chance < alpha / TOGETHER


def giving(part: TotalStatistics) -> Giving | None:
    """Compare what people get with what others get from them; None where totals are too few, or pairs too many.

    If both of a pair get the same, totals are v = X mu + noise, with an unknown for each pair and coalition (and size).
    If people differ in what they get and give, i gets b_i - b_j more from j than the mean of both, and totals are
    v = X mu + Z b + noise, where Z = Y D, Y has an unknown for each order of a pair, and D says which differences of b
    these are. The F test of b = 0 compares the squares that Z explains after X, per direction, with those that neither
    does, per spare total. Sums of each agent's own problem tell all of that: the squares v'v, X'X, X'v, D'Y'Y D.

    Whatever the means of pairs are, so long as both get the same, it fires as often as it says with independent normal
    noise of one variance, and about so with skewed or rounded totals. Where totals of a team move together, as they do
    if both of a pair share what they get in a meeting, it fires more often: in simulations up to 6 times in 100 at a
    level of 1, and at most 6 times in 1,000 at the level that is used (`TOGETHER`).

    It is for pairs with independent noise (`noise="pairs"`): totals have weights 1 / c. How many of them are of
    somebody's company the sums tell exactly unless two people meet twice in a sample, in interchangeable coalitions:
    if others are alone at times, some of these count as spare totals then, and it fires slightly more often.
    """
    setting, n = part.setting, part.setting.n_agents
    unknowns = setting.n_pairs
    if n < 3 or unknowns > MOST_UNKNOWNS or part.rows < SPARE * n:
        return None
    by_pair, moment, squares, totals = np.zeros((unknowns, unknowns)), np.zeros(unknowns), 0.0, 0.0
    across, within, along = np.zeros((n, unknowns)), np.zeros((n, n)), np.zeros(n)
    for agent, edges in enumerate(own_edges(setting)):
        places = (edges[:, None] * setting.n_sizes + np.arange(setting.n_sizes)).ravel()
        gram, sums = part.gram(agent), part.moment(agent)
        partner = np.tile(np.repeat(np.delete(np.arange(n), agent), setting.n_sizes), setting.n_tables)
        difference = np.zeros((len(sums), n))
        difference[np.arange(len(sums)), partner], difference[:, agent] = -1, 1
        through = difference.T @ gram
        by_pair[np.ix_(places, places)] += gram
        moment[places] += sums
        across[:, places] += through
        within += through @ difference
        along += difference.T @ sums
        squares += part.squares(agent)
        # Totals of nobody's company tell nothing: with weights 1 / c each other one adds 1 to the trace, or more.
        totals += min(float(np.rint(np.trace(gram))), float(part.totals[agent]))
    values, vectors = np.linalg.eigh(by_pair)
    seen = values > NOTHING * max(float(values[-1]), NOTHING)
    root = vectors[:, seen] / np.sqrt(values[seen])
    fitted, shared = root.T @ moment, across @ root
    left = within - shared @ shared.T
    lengths, directions = np.linalg.eigh((left + left.T) / 2)
    free = lengths > np.sqrt(NOTHING) * max(float(np.trace(within)) / n, NOTHING)
    count, spare = int(free.sum()), totals - int(seen.sum()) - int(free.sum())
    if not count or spare < SPARE * n:
        return None
    towards = directions[:, free].T @ (along - shared @ fitted)
    gain = float((towards**2 / lengths[free]).sum())
    rest = max(squares - float(fitted @ fitted) - gain, NOTHING * squares)
    chance = float(special().fdtrc(count, spare, gain / count / (rest / spare))) if rest > 0 else 1.0
    found = directions[:, free] @ (towards / lengths[free])
    more = 2 * (found - (found.sum() - found) / (n - 1))
    agent = int(np.argmax(np.abs(more)))
    return Giving(chance, agent, float(more[agent]))
