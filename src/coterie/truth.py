"""The truth behind a simulated log: `truth.json`, to and from a `Game`.

The mean utility of the pair i, j in coalition l of size s is
size_scale[l][s] * means[l][i][j] + size_shift[l][s]; games whose means depend on the size in
another way hold a `size_table` [l][i][j][s] instead.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from coterie import checks
from coterie.arrays import FloatArray
from coterie.errors import InputError
from coterie.files import read_json, to_json, whole_file
from coterie.game import Game
from coterie.utilities import ScaledBySize, SizeFree, TableBySize

FORMAT = "coterie.truth/1"


def truth_of(game: Game, provenance: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the content of `truth.json`; `provenance` says where the game comes from."""
    k, n = game.n_coalitions, game.n_agents
    content: dict[str, Any] = {
        "format": FORMAT,
        "agents": game.agents,
        "coalitions": game.coalitions,
        "actions": game.actions.to_json(game.agents, game.coalitions),
        "symmetric": game.is_symmetric,
    }
    utilities = game.utilities
    if isinstance(utilities, TableBySize):
        content["size_table"] = utilities.table
    elif isinstance(utilities, (SizeFree, ScaledBySize)):
        sized = utilities if isinstance(utilities, ScaledBySize) else None
        content["means"] = np.array([utilities.means.matrix(l) for l in range(k)])
        content["size_scale"] = sized.scale if sized else np.ones((k, n + 1))
        content["size_shift"] = sized.shift if sized else np.zeros((k, n + 1))
    else:  # pragma: no cover
        raise TypeError(f"no file format for {type(utilities).__name__}")
    return content | ({"simulation": dict(provenance)} if provenance else {})


def write_truth(path: Path, game: Game, provenance: Mapping[str, Any] | None = None) -> None:
    """Write `truth.json`, whole or not at all."""
    with whole_file(path) as temporary:
        temporary.write_text(to_json(truth_of(game, provenance)), encoding="utf-8")


def read_truth(path: Path) -> Game:
    """Read `truth.json`; anything that is not one is refused in one sentence."""
    content = read_json(path)
    try:
        return _game(content)
    except InputError as problem:
        raise InputError(f"{path}: {problem}") from None


def _game(content: Any) -> Game:
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError(f'expected an object with "format": "{FORMAT}"')
    agents, coalitions = (_names(content, key) for key in ("agents", "coalitions"))
    if "actions" not in content:
        raise InputError('"actions" is missing')
    n, k = len(agents), len(coalitions)
    named = {"agents": agents, "coalitions": coalitions}
    symmetric = content.get("symmetric")
    if symmetric is not None and not isinstance(symmetric, bool):
        raise InputError(f"symmetric: expected true or false, got {symmetric!r}")
    if "size_table" in content:
        if {"means", "size_scale", "size_shift"} & set(content):
            raise InputError("size_table: expected alone, without means, size_scale or size_shift")
        table = _numbers(content, "size_table", (k, n, n, n + 1))
        if symmetric is None:
            symmetric = _is_symmetric(table[..., 2:])
        return Game(None, content["actions"], size_table=table, symmetric=symmetric, **named)
    means = _numbers(content, "means", (k, n, n))
    scale, shift = (_numbers(content, key, (k, n + 1)) for key in ("size_scale", "size_shift"))
    if symmetric is None:
        symmetric = _is_symmetric(means)
    if (scale[:, 2:] == 1).all() and (shift[:, 2:] == 0).all():  # no pair meets in sizes 0 and 1
        return Game(means, content["actions"], symmetric=symmetric, **named)
    return Game(means, content["actions"], size_scale=scale, size_shift=shift, symmetric=symmetric, **named)


def _names(content: dict[str, Any], key: str) -> tuple[str, ...]:
    listed = content.get(key)
    if not isinstance(listed, list) or not listed or not all(isinstance(name, str) for name in listed):
        raise InputError(f"{key}: expected a list of names")
    return checks.names(listed, key, len(listed))


def _numbers(content: dict[str, Any], key: str, shape: tuple[int, ...]) -> FloatArray:
    if key not in content:
        raise InputError(f'"{key}" is missing')
    try:
        array = np.asarray(content[key])
    except ValueError:  # rows of different lengths
        array = np.asarray(None)
    if array.dtype.kind not in "iuf":
        raise InputError(f"{key}: expected numbers in a rectangular array of shape {shape}")
    return checks.finite(array, key, shape)


def _is_symmetric(means: FloatArray) -> bool:
    return bool((means == np.swapaxes(means, 1, 2)).all())
