"""Computing one cell: draw the game, let its log grow, and see what every method makes of it."""

import time
from collections.abc import Iterator
from dataclasses import asdict

import numpy as np

from coterie.certificates.paper import paper_evidence
from coterie.learn.auto import recommend
from coterie.reproduce.ablation import Outcome, ablation
from coterie.reproduce.experiments import ABLATION, DELTA, Cell
from coterie.reproduce.rows import Row
from coterie.simulate.growing import Reading, growing
from coterie.simulate.logs import Simulation
from coterie.simulate.models import MODELS
from coterie.solve.control import Control
from coterie.solve.paper_scheme import paper
from coterie.statistics.parts import PARTS
from coterie.statistics.statistics import Statistics


def simulation_of(cell: Cell) -> Simulation:
    """Return the source of the cell's log; the game does not depend on policy or feedback."""
    seeds = np.random.SeedSequence([cell.seed, cell.n, cell.k, cell.actions, MODELS.index(cell.model)])
    mixed = cell.model.startswith("mixed-effects")
    return Simulation.draw(
        cell.n,
        cell.k,
        np.random.default_rng(seeds),
        model=cell.model,
        policy=cell.policy,
        actions_per_agent=None if mixed else cell.actions,
    )


def reading_of(model: str) -> Reading:
    """Return the assumptions that are true for a model, which our certificates are made under."""
    sized = model.startswith(("size-", "mixed-effects"))
    # In the mixed-effects models the pairs of a coalition share a draw.
    return Reading("aware" if sized else "ignore", "samples" if model.startswith("mixed-effects") else "pairs")


def run_cell(cell: Cell) -> list[Row]:
    """Return one row per number of samples and method."""
    simulation = simulation_of(cell)
    # The paper ignores sizes and takes pairs to be independent; its certificate needs sums without weights.
    readings = {"ours": reading_of(cell.model), "paper": Reading(unweighted=True)}
    rows = []
    described = {key: value for key, value in asdict(cell).items() if key not in {"samples", "methods"}}
    for samples, statistics in growing(simulation, cell.samples, cell.feedback, readings, PARTS):
        begin = time.process_time()
        for method, found in _outcomes(cell, statistics):
            end = time.process_time()
            gap = simulation.game.gap(found.strategy)
            rows.append(Row(**described, samples=samples, method=method, certificate=found.certificate,
                            true_gap=gap, sweeps=found.sweeps, seconds=end - begin))  # fmt: skip
            begin = time.process_time()
    return rows


def _outcomes(cell: Cell, statistics: dict[str, Statistics]) -> Iterator[tuple[str, Outcome]]:
    if cell.methods == ABLATION:
        yield from ablation(statistics["ours"], DELTA, cell.seed)
        return
    for method in cell.methods:
        yield method, (_paper if method == "paper" else _auto)(method, statistics, cell.seed)


def _paper(method: str, statistics: dict[str, Statistics], seed: int) -> Outcome:
    del method
    printed = statistics["paper"]
    evidence, setting = paper_evidence(printed.whole, as_printed=True), printed.setting
    assert evidence is not None  # sums without weights were made
    found = paper(
        evidence, setting.actions, DELTA, Control(seed), agents=setting.agents, coalitions=setting.coalitions,
        n_samples=printed.n_samples,
    )  # fmt: skip
    return Outcome(found.certificate, found.strategy, found.sweeps)


def _auto(method: str, statistics: dict[str, Statistics], seed: int) -> Outcome:
    kind = "mixed" if method.endswith("mixed") else "pure"
    found = recommend(statistics["ours"], DELTA, Control(seed), strategy=kind)  # type: ignore[arg-type]
    return Outcome(found.certificate.gap, found.strategy, found.solution.sweeps)
