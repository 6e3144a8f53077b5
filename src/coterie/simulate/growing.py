"""Statistics of simulated logs that grow: the samples of a shorter log are the first of a longer one.

So every point of a curve is the same log, seen for longer. Nothing is written to tables on the way.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from coterie.simulate.logs import Feedback, Simulation
from coterie.statistics.in_memory import reduced
from coterie.statistics.setting import Noise, Setting, Sizes
from coterie.statistics.statistics import Statistics

Shares = tuple[float, ...]


@dataclass(frozen=True)
class Reading:
    """What a log is taken to be when it is reduced."""

    sizes: Sizes = "ignore"
    noise: Noise = "pairs"
    unweighted: bool = False
    """Whether bandit sums without weights are made too, which the paper's certificate needs."""
    joint: bool = False
    """Whether the sums of the joint bandit estimator are made too."""
    pool_coalitions: bool = False


def setting_of(simulation: Simulation, feedback: Feedback, reading: Reading, shares: Shares) -> Setting:
    """Return the setting of a simulated log, as reading its files would find it."""
    game, model = simulation.game, simulation.model
    actions = game.actions.to_json(game.agents, game.coalitions)
    return Setting(
        feedback, game.agents, game.coalitions, model.symmetric, model.utility_range, 0.0, model.sigma,
        reading.pool_coalitions, actions, actions, reading.sizes, reading.noise, shares, 0,
    )  # fmt: skip


def growing(
    simulation: Simulation,
    lengths: Sequence[int],
    feedback: Feedback,
    readings: Mapping[str, Reading],
    shares: Shares = (1.0,),
) -> Iterator[tuple[int, dict[str, Statistics]]]:
    """Yield, for each length in ascending order, the statistics of a log of so many samples under each reading.

    Samples are divided at random into parts with these shares, the same under all readings.
    """
    distinct = {reading: setting_of(simulation, feedback, reading, shares) for reading in set(readings.values())}
    total: dict[Reading, Statistics] = {}
    done = 0
    for length in lengths:
        for batch in simulation.batches(length - done):
            part = simulation.rng.choice(len(shares), len(batch.joined), p=shares)
            for reading, setting in distinct.items():
                found = reduced(batch, part, setting, unweighted=reading.unweighted, joint=reading.joint)
                total[reading] = total[reading] + found if reading in total else found
        done = length
        yield length, {name: total[reading] for name, reading in readings.items()}
