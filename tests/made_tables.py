"""Tables of experiments whose answer is known, and of simulated samples."""

import numpy as np
import pandas as pd

from coterie.reproduce.rows import Row


def falls(_cell, samples, _method):
    return 1 / samples


def made(figure, certificate):
    """Return a table in which certificates are a function of row's cell, samples and method."""
    rows = []
    for panel, cell in figure.cells:
        for samples in figure.samples:
            for method in figure.tabled:
                value = certificate(cell, samples, method)
                row = Row(cell.feedback, cell.model, cell.policy, cell.n, cell.k, cell.actions, cell.seed, samples,
                          method, value, 0.0, 1, 0.5)  # fmt: skip
                rows.append((panel.name, row))
    return rows


def frames_of(batch):
    """Simulated samples as frames that `Log.from_frames` takes: agents p0, p1, ..., coalitions c0, c1, ..."""
    _, n, k = batch.joined.shape
    agents, coalitions = (np.array([f"{letter}{i}" for i in range(count)]) for letter, count in (("p", n), ("c", k)))
    rows = {"sample": batch.sample.astype(str), "coalition": coalitions[batch.coalition]}
    rows |= {"agent": agents[batch.agent], "partner": agents[batch.partner], "utility": batch.utility}
    sample, agent, coalition = np.nonzero(batch.joined)
    members = {"sample": sample.astype(str), "agent": agents[agent], "coalition": coalitions[coalition]}
    return {"memberships": pd.DataFrame(members), "pairs": pd.DataFrame(rows)}
