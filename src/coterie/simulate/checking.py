"""Does a model keep its word? A look at what it draws, before anything is learnt from it."""

import numpy as np

from coterie import checks
from coterie.errors import InputError
from coterie.estimate.confidence import empirical_bernstein, hoeffding
from coterie.simulate.models import UtilityModel
from coterie.words import interval

FALSE_ALARM = 1e-4
"""A model that keeps its word is refused with at most this probability."""

MOST_CELLS = 2_000
"""At most so many pairs, coalitions and sizes are looked at, drawn at random."""


def check_model(model: UtilityModel, seed: checks.Seed = 0, draws: int = 2_000) -> None:
    """Refuse a model that breaks what it declares, naming where.

    Utilities must lie in its range (without a sigma), be the same for both of a pair where it is symmetric, and be its
    exact means on average. Means are tested: an average of `draws` draws must be within its confidence width (Maurer
    and Pontil's; with a sigma, Hoeffding's), all of them together with probability 1 - `FALSE_ALARM`. What is off by
    less goes unnoticed.

    Parameters
    ----------
    model
        The model.
    seed
        Draws the noise, and which of very many cells are looked at.
    draws
        How often each cell is drawn.
    """
    if not isinstance(model, UtilityModel):
        raise InputError(f"model: expected a UtilityModel, got {checks.shown(model)}")
    rng, draws = checks.generator(seed, "seed"), checks.whole(draws, "draws", 2)
    n, k = model.n_agents, model.n_coalitions
    if n < 2:
        return
    cells = [(l, i, j, s) for l in range(k) for i in range(n) for j in range(n) if i != j for s in range(2, n + 1)]
    if len(cells) > MOST_CELLS:
        cells = [cells[place] for place in np.sort(rng.choice(len(cells), MOST_CELLS, replace=False)).tolist()]
    (low, high), name = model.utility_range, type(model).__name__
    for l, i, j, s in cells:
        rows = [np.full(draws, value) for value in (l, i, j, s)]
        noise = model.driving_noise(rng, (draws,))
        drawn = np.asarray(model.utilities(noise.copy(), *rows), dtype=np.float64)
        where = f"agent {i + 1} and partner {j + 1} in coalition {l + 1} of size {s}"
        if drawn.shape != (draws,) or not np.isfinite(drawn).all():
            raise InputError(f"{name}: expected {draws} finite utilities for {where}, got shape {drawn.shape}")
        slack = 1e-9 * max(1.0, abs(low), abs(high))
        if model.sigma is None and not (low - slack <= drawn.min() and drawn.max() <= high + slack):
            raise InputError(
                f"{name}: the utilities of {where} go from {drawn.min():g} to {drawn.max():g}, outside its range "
                f"{interval(low, high)}"
            )
        if model.symmetric:
            mirrored = model.utilities(noise.copy(), rows[0], rows[2], rows[1], rows[3])
            if not np.allclose(mirrored, drawn):
                raise InputError(f"{name}: it is symmetric, and yet {where} get different utilities from the same draw")
        mean = float(model.mean_utilities(*(row[:1] for row in rows))[0])
        if model.sigma is None:
            spread = np.asarray(drawn.var(ddof=1))
            width = empirical_bernstein(np.asarray(draws), spread, (high - low) / 2, len(cells), FALSE_ALARM)
        else:
            width = hoeffding(np.asarray(draws), model.sigma, len(cells), FALSE_ALARM)
        if abs(drawn.mean() - mean) > float(width) + slack:
            raise InputError(
                f"{name}: the utilities of {where} are {drawn.mean():.4g} on average in {draws} draws, and its mean is "
                f"said to be {mean:.4g}"
            )
