"""Data frames with names on their rows and columns: the names are heeded, whatever the order they come in.

What has names is told by duck typing: pandas has an index and columns, Polars and Arrow columns only. A frame without
an index of its own (0, 1, 2, ...) has no names on its rows, and columns are nameless likewise; then places count. But
of pairs, where one side has these numbers in another order, they are names on both.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from coterie import checks
from coterie.errors import InputError

Labels = tuple[str, ...] | None
"""The names along one axis; None where there are none."""


def labels_of(values: Any) -> tuple[Labels, ...] | None:
    """Return the names along each axis of a data frame or a series; None for anything else."""
    if isinstance(values, (np.ndarray, list, tuple)) or hasattr(values, "tocsr"):
        return None
    if hasattr(values, "column_names") and hasattr(values, "num_rows"):  # Arrow
        return None, _names(values.column_names)
    if hasattr(values, "to_numpy") and hasattr(values, "index") and not callable(values.index):  # pandas
        columns = (_names(values.columns),) if hasattr(values, "columns") else ()
        return _names(values.index), *columns
    if hasattr(values, "to_numpy") and hasattr(values, "columns"):  # Polars
        return None, _names(values.columns)
    return None


def _names(labels: Any) -> Labels:
    found = list(labels)
    default = found == list(range(len(found))) or found == [f"column_{place}" for place in range(len(found))]
    return None if default else tuple(str(label) for label in found)


def is_labelled(values: Any) -> bool:
    """Return whether something has names on its rows or columns."""
    return any(names is not None for names in labels_of(values) or ())


def aligned(values: Any, axes: Sequence[tuple[str, Sequence[str]]], what: str) -> Any:
    """Return the values of a frame in the wanted order of names; anything without names as it is.

    Parameters
    ----------
    values
        A data frame, or anything else.
    axes
        What the rows and the columns are, such as "agents", and their names in the order that is wanted. The last ones
        count where a frame has fewer axes.
    what
        The argument's name, for refusals.
    """
    labels = labels_of(values)
    if labels is None:
        return values
    array = np.asarray(values)
    for axis, (names, (kind, wanted)) in enumerate(zip(labels, axes[-len(labels) :], strict=False)):
        if names is not None and array.ndim > axis:
            array = np.take(array, _order(names, wanted, f"{what}: the {('rows', 'columns')[axis]}", kind), axis=axis)
    return array


def _order(names: Sequence[str], wanted: Sequence[str], where: str, kind: str) -> list[int]:
    places = {name: place for place, name in enumerate(names)}
    if len(places) != len(names):
        repeated = next(name for place, name in enumerate(names) if places[name] != place)
        raise InputError(f"{where} have the name {repeated!r} twice")
    for name in names:
        if name not in wanted:
            raise InputError(f"{where} have the name {name!r}, which is not one of the {kind} ({_some(wanted)})")
    for name in wanted:
        if name not in places:
            raise InputError(f"{where} lack {name!r}, which is one of the {kind}")
    return [places[name] for name in wanted]


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")


def named_means(means: Any, agents: checks.Names, coalitions: checks.Names) -> tuple[Any, checks.Names, checks.Names]:
    """Return means of pairs as plain arrays in the order of their names, and the names of agents and coalitions.

    Takes one frame for all coalitions, a list of frames, or a dictionary coalition -> matrix or frame. Names that
    frames bring are the game's unless it was given others, which must then be the same ones.
    """
    if isinstance(means, Mapping):
        means, coalitions = _by_coalition(means, coalitions)
    listed = list(means) if isinstance(means, (list, tuple)) else [means]
    if not any(is_labelled(one) for one in listed):
        return means, agents, coalitions
    own = next(names for one in listed for names in labels_of(one) or () if names is not None)
    order = own if agents is None or isinstance(agents, int) else checks.names(agents, "agents")
    if isinstance(agents, int) and agents != len(order):
        raise InputError(f"means: the frame has {len(order)} names of agents, expected {agents}")
    found = [_square(one, order) for one in listed]
    return found if isinstance(means, (list, tuple)) else found[0], order, coalitions


def _by_coalition(means: Mapping[Any, Any], coalitions: checks.Names) -> tuple[list[Any], tuple[str, ...]]:
    by_name = {str(name): matrix for name, matrix in means.items()}
    order = checks.names(list(by_name) if coalitions is None else coalitions, "coalitions")
    return [
        list(by_name.values())[place] for place in _order(list(by_name), order, "means: its keys", "coalitions")
    ], order


def _square(frame: Any, order: Sequence[str]) -> Any:
    """Return a frame of pairs in the wanted order of agents: where one side has no names, they are the other's."""
    labels = labels_of(frame)
    if labels is None or len(labels) != 2 or not is_labelled(frame):
        return frame
    rows, columns = labels
    if (rows is None or columns is None) and hasattr(frame, "index"):
        # Numbers are names where the other side has the same ones in another order.
        numbers = tuple(map(str, frame.index)), tuple(map(str, frame.columns))
        if set(numbers[0]) == set(numbers[1]):
            rows, columns = numbers
    array = np.asarray(frame)
    places = [_order(names, order, f"means: the {side}", "agents") if names else None
              for side, names in (("rows", rows or columns), ("columns", columns or rows))]  # fmt: skip
    if array.shape != (len(order), len(order)):
        raise InputError(f"means: expected a frame with one row and one column for each agent, got shape {array.shape}")
    return array[np.ix_(*places)]
