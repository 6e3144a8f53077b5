"""Computing one cell: draw the game, let its log grow, and see what every method makes of it."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from coterie import checks
from coterie.errors import InputError
from coterie.game.actions import ActionSpaces, ExplicitSets
from coterie.reproduce.ablation import ablation
from coterie.reproduce.experiments import DELTA, STEPS, Cell
from coterie.reproduce.methods import METHODS, Method, Outcome, Task, outcome
from coterie.reproduce.rows import Row
from coterie.simulate.growing import Reading, growing
from coterie.simulate.logs import Simulation, draw_sets, numbered
from coterie.simulate.models import MIXED_EFFECTS_SETS, utility_model
from coterie.simulate.policies import exploration_policy
from coterie.statistics.parts import PARTS

Source = Callable[[Cell], Simulation]
"""Games of your own: the simulation of a cell, whose `n`, `k`, `actions`, `policy` and `seed` it may heed."""


def simulation_of(cell: Cell) -> Simulation:
    """Return the source of the cell's log.

    Actions, means and samples are drawn from random numbers of their own, which do not depend on the model: the same
    seed and size give a model and its twin with size (or with means drawn anew) the same actions and the same means,
    and eight actions begin with the three.
    """
    actions, means, samples = (np.random.default_rng([cell.seed, cell.n, cell.k, which]) for which in range(3))
    name: Any = cell.model
    model = utility_model(name, cell.n, cell.k, means)
    if cell.model.startswith("mixed-effects"):
        sets = np.array([np.isin(np.arange(cell.k), chosen) for chosen in MIXED_EFFECTS_SETS])
    else:
        sets = draw_sets(actions, cell.k, cell.actions)
    spaces = ActionSpaces.shared(ExplicitSets(sets), cell.n)
    game = model.game(spaces, numbered("p", cell.n), numbered("c", cell.k))
    return Simulation(model, exploration_policy(cell.policy, spaces), game, samples)


def reading_of(simulation: Simulation) -> Reading:
    """Return the assumptions that are true for a simulated log, which our certificates are made under."""
    shared = simulation.noise or simulation.model.default_noise
    return Reading(
        "aware" if simulation.game.depends_on_size else "ignore", "pairs" if shared == "pairs" else "samples"
    )


def run_cell(
    cell: Cell, methods: Mapping[str, Method] | None = None, sources: Mapping[str, Source] | None = None
) -> list[Row]:
    """Return one row per number of samples and method; `methods` and `sources` of your own, by name."""
    own = (sources or {}).get(cell.model)
    simulation = simulation_of(cell) if own is None else _own_simulation(own, cell)
    # The paper ignores sizes and takes pairs to be independent; its certificate needs sums without weights.
    readings = {"ours": reading_of(simulation), "paper": Reading(unweighted=True)}
    rows = []
    described = {key: value for key, value in asdict(cell).items() if key not in {"samples", "methods"}}
    for samples, statistics in growing(simulation, cell.samples, cell.feedback, readings, PARTS):
        begin = time.process_time()
        task = Task(statistics["ours"], statistics["paper"], DELTA, cell.seed)
        for method, found in _outcomes(cell.methods, task, {**METHODS, **(methods or {})}):
            end = time.process_time()
            gap = simulation.game.gap(found.strategy)
            rows.append(Row(**described, samples=samples, method=method, certificate=found.certificate,
                            true_gap=gap, sweeps=found.sweeps, seconds=end - begin))  # fmt: skip
            begin = time.process_time()
    return rows


def _own_simulation(source: Source, cell: Cell) -> Simulation:
    """Return the simulation that somebody brings for a cell, refusing one of another size."""
    where, found = f"games {cell.model!r}", source(cell)
    if not isinstance(found, Simulation):
        raise InputError(f"{where}: expected a Simulation, got {checks.shown(found)}")
    n, k = found.game.n_agents, found.game.n_coalitions
    if (n, k) != (cell.n, cell.k):
        raise InputError(
            f"{where}: asked for {cell.n} agents and {cell.k} coalitions, got {n} and {k}; take `cell.n` and `cell.k`"
        )
    return found


def _outcomes(wanted: tuple[str, ...], task: Task, known: Mapping[str, Method]) -> Iterator[tuple[str, Outcome]]:
    steps = ablation(task.statistics, task.delta, task.seed)
    made: dict[str, Outcome] = {}
    for method in wanted:
        if method in STEPS:
            while method not in made:
                made.update([next(steps)])
            yield method, made[method]
        else:
            yield method, outcome(known[method], task, f"method {method!r}")
