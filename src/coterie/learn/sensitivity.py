"""What the choice of values decides: on which side of the neutral point utilities lie, and whether teams hang on it.

With totals every teammate above the neutral point is a gain and every one below it a loss, so the neutral point decides
how large teams should be: where most utilities lie on one side, teams are as large, or as small, as they may be.
"""

from collections.abc import Callable, Iterator

import numpy as np

from coterie.certificates.pair_evidence import PairEvidence
from coterie.game.admissible import moves_between
from coterie.game.strategy import Strategy
from coterie.learn.beliefs import Beliefs
from coterie.solve.control import Control
from coterie.solve.teams import Task, best_teams
from coterie.statistics.setting import Setting
from coterie.words import counted, number, percent, said

ONE_SIDED = 0.8
"""From this share of utilities on one side of the neutral point on, averages are suggested."""

SHIFT = 0.05
"""The neutral point is moved by so much of the range."""

PATIENCE = 4
"""So many kicks look for other teams."""


def notes_on_values(
    setting: Setting,
    beliefs: Beliefs,
    strategy: Strategy,
    task_of: Callable[[Beliefs], Task],
    control: Control,
) -> Iterator[str]:
    """Yield sentences about totals: whether averages would say more, and whether the neutral point decides on teams."""
    evidence = beliefs.evidence
    what, (above, below) = _sides(beliefs)
    if max(above, below) >= ONE_SIDED:
        side, size = setting.side(better=above > below), "larger" if above > below else "smaller"
        yield (
            f"{percent(round(max(above, below), 2))} of all {what} {side} the "
            f"neutral point {number(setting.told(setting.neutral))}, so {size} teams look better to nearly everybody: "
            f"{said(value='average')} compares teams by how people get on, whatever their size"
        )
    if setting.neutral == 0 or setting.utility_range is None:
        return
    low, high = setting.utility_range
    step = SHIFT * (high - low)
    inner = control.nested(0.5)
    for shift in (-step, step):
        moved = Beliefs(evidence, beliefs.middle - shift, None)
        found = best_teams(task_of(moved), inner, begin=[strategy.sets], starts=0, patience=PATIENCE)
        others = moves_between(strategy.sets, found.profiles[0], interchangeable=setting.pool_coalitions)
        if others:
            yield (
                f"with the neutral point at {number(round(setting.told(setting.neutral + shift), 6))} instead of "
                f"{number(setting.told(setting.neutral))}, {counted(others, 'person', 'people')} would be elsewhere: "
                "how much being alone is worth decides on these teams"
            )
    control.heed(inner)


def _sides(beliefs: Beliefs) -> tuple[str, tuple[float, float]]:
    """Return which share of what lies above the neutral point, and below.

    Of pairs that were seen, outcomes; where totals were, what pairs of people are expected to be worth.
    """
    evidence = beliefs.evidence
    if isinstance(evidence, PairEvidence):
        what, mean, weight = (
            "outcomes are of pairs that are on average",
            evidence.estimate.moments.mean,
            evidence.estimate.moments.count,
        )
    else:
        what, mean = "pairs of people are expected to be", beliefs.middle
        n = mean.shape[1]
        weight = np.broadcast_to((1.0 - np.eye(n)).reshape(1, n, n, *[1] * (mean.ndim - 3)), mean.shape)
    every = max(float(weight.sum()), 1.0)
    return what, (float(weight[mean > 0].sum()) / every, float(weight[mean < 0].sum()) / every)
