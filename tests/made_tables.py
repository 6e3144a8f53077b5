"""Tables of experiments whose answer is known."""

from coterie.reproduce.rows import Row


def falls(_cell, samples, _method):
    return 1 / samples


def made(figure, certificate):
    """Return a table in which certificates are a function of row's cell, samples and method."""
    rows = []
    for panel, cell in figure.cells:
        for samples in figure.samples:
            for method in figure.methods:
                value = certificate(cell, samples, method)
                row = Row(cell.feedback, cell.model, cell.policy, cell.n, cell.k, cell.actions, cell.seed, samples,
                          method, value, 0.0, 1, 0.5)  # fmt: skip
                rows.append((panel.name, row))
    return rows
