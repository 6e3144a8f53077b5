"""The truth behind a simulated log: `truth.json`, to and from a `Game`.

The mean utility of the pair i, j in coalition l of size s is
`size_scale[l][s] * means[l][i][j] + size_shift[l][s]`; games whose means depend on the size in
another way hold a `size_table[l][i][j][s]` instead. `value` is "average" where coalitions are worth
that of these utilities, and is left out where they are worth the total. Where being alone is worth something,
`alone[l][i]` says what.
"""

import os
from collections.abc import Mapping
from typing import Any

from coterie import __version__, checks
from coterie.arrays import FloatArray
from coterie.errors import InputError
from coterie.files import expect_format, naming, read_json, to_json, whole_file
from coterie.game.actions import ActionSpaces
from coterie.game.game import Game, Value

FORMAT = "coterie.truth/1"


def truth_of(game: Game, provenance: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the content of `truth.json`; `provenance` says where the game comes from."""
    content: dict[str, Any] = {
        "format": FORMAT,
        "agents": game.agents,
        "coalitions": game.coalitions,
        "actions": game.actions.to_json(game.agents, game.coalitions),
        "symmetric": game.is_symmetric,
        "interchangeable": game.is_interchangeable,
        **({} if game.value == "total" else {"value": game.value}),
        **game.observed.arrays(),
    }
    return content | ({"simulation": dict(provenance)} if provenance else {})


def write_truth(path: str | os.PathLike[str], game: Game, provenance: Mapping[str, Any] | None = None) -> None:
    """Write `truth.json`, whole or not at all, with the version that made it."""
    made = {"version": __version__, **(provenance or {})}
    with whole_file(checks.path(path, "truth")) as temporary:
        temporary.write_text(to_json(truth_of(game, made)), encoding="utf-8")


def read_truth(path: str | os.PathLike[str]) -> Game:
    """Read `truth.json`; anything that is not one is refused in one sentence."""
    path = checks.path(path, "truth")
    content = read_json(path)
    with naming(path):
        return _game(content)


def _game(content: Any) -> Game:
    expect_format(content, FORMAT)
    agents, coalitions = (_names(content, key) for key in ("agents", "coalitions"))
    if "actions" not in content:
        raise InputError('"actions" is missing')
    n, k = len(agents), len(coalitions)
    described: Any = {
        "actions": ActionSpaces.parse(content["actions"], agents, coalitions),
        "symmetric": _promise(content, "symmetric"),
        "agents": agents,
        "coalitions": coalitions,
        "value": checks.one_of(content.get("value", "total"), Value, "value"),
    }
    if "alone" in content:
        described["alone"] = _numbers(content, "alone", (k, n))
    if "size_table" in content:
        if {"means", "size_scale", "size_shift"} & set(content):
            raise InputError("size_table: expected alone, without means, size_scale or size_shift")
        game = Game(size_table=_numbers(content, "size_table", (k, n, n, n + 1)), **described)
    else:
        means = _numbers(content, "means", (k, n, n))
        scale, shift = (_numbers(content, key, (k, n + 1)) for key in ("size_scale", "size_shift"))
        if (scale[:, 2:] == 1).all() and (shift[:, 2:] == 0).all():  # no pair meets in sizes 0 and 1
            game = Game(means, **described)
        else:
            game = Game(means, size_scale=scale, size_shift=shift, **described)
    if _promise(content, "interchangeable") and (other := game.observed.first_difference()):
        raise InputError(
            f"interchangeable: expected the same utilities in coalitions {coalitions[0]} and {coalitions[other]}"
        )
    return game


def _promise(content: dict[str, Any], key: str) -> bool | None:
    value = content.get(key)
    if value is not None and not isinstance(value, bool):
        raise InputError(f"{key}: expected true or false, got {checks.shown(value)}")
    return value


def _names(content: dict[str, Any], key: str) -> tuple[str, ...]:
    listed = content.get(key)
    if not isinstance(listed, list) or not listed or not all(isinstance(name, str) for name in listed):
        raise InputError(f"{key}: expected a list of names")
    return checks.names(listed, key, len(listed))


def _numbers(content: dict[str, Any], key: str, shape: tuple[int, ...]) -> FloatArray:
    if key not in content:
        raise InputError(f'"{key}" is missing')
    return checks.finite(content[key], key, shape)
