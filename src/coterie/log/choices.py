"""What agents may do in the game that a log describes: the `actions` option, read against the data."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from coterie.errors import InputError
from coterie.game.actions import OR_NONE, ActionSpaces, UpTo
from coterie.log import queries
from coterie.log.columns import codes
from coterie.log.engine import Engine
from coterie.words import said

WORD_BITS = 62
"""How many coalitions one integer of bits stands for."""


def is_observed(description: Any) -> bool:
    """Return whether actions are those that were seen in the log."""
    return isinstance(description, str) and description.removesuffix(OR_NONE) in {"observed", "observed-own"}


def sorted_sets(sets: Iterable[Iterable[str]], coalitions: tuple[str, ...]) -> list[list[str]]:
    """Return distinct sets of coalition names, small ones first, in the order of the coalitions."""
    place = {name: index for index, name in enumerate(coalitions)}
    distinct = {tuple(sorted(place[name] for name in chosen)) for chosen in sets}
    return [[coalitions[l] for l in chosen] for chosen in sorted(distinct, key=lambda chosen: (len(chosen), chosen))]


def described(description: Any, *, may_stay_out: bool) -> Any:
    """Return the `actions` option as results show it, with the right to stay out in its name."""
    if not may_stay_out:
        return description
    if isinstance(description, str):
        return description if description.endswith(OR_NONE) else description + OR_NONE
    if isinstance(description, Mapping):
        return {agent: described(sets, may_stay_out=True) for agent, sets in description.items()}
    return description if [] in description else [*description, []]


def action_sets(
    description: Any, engine: Engine, agents: tuple[str, ...], coalitions: tuple[str, ...], *, pooled: bool
) -> Any:
    """Return what a description comes to in this log, in a form that `ActionSpaces.parse` reads.

    "observed" becomes the sets that anybody was seen to choose; for interchangeable coalitions,
    any set of at most as many as anybody joined at once.
    """
    if not is_observed(description):
        if pooled and not isinstance(description, str):
            raise InputError(
                f"{said('actions')}: with {said(pool_coalitions=True)} old coalition names mean nothing, so sets of "
                'them are refused; say "one", "any", "up-to:3" or "observed"'
            )
        ActionSpaces.parse(description, agents, coalitions)
        return description
    may_stay_out = description.endswith(OR_NONE)
    own = description.removesuffix(OR_NONE) == "observed-own"
    members = engine.name("members")
    if pooled:
        if own:
            needs = f'{said("actions")}: "observed-own" needs coalitions that mean something'
            raise InputError(f"{needs}; drop {said(pool_coalitions=True)}")
        most = int(engine.table(queries.most_at_once(members, "sample, agent"))["most"][0].as_py())
        return UpTo(len(coalitions), min(most, len(coalitions)), may_stay_out).to_json(())
    extra: list[list[str]] = [[]] if may_stay_out else []
    seen = _observed_sets(engine, members, agents, coalitions, own=own)
    if not own:
        return sorted_sets(extra + seen.get("", []), coalitions)
    never = [agent for agent in agents if agent not in seen]
    if never and not may_stay_out:
        raise InputError(
            f"{said('actions')}: {never[0]!r} was never seen in a coalition, so observed-own gives them an empty "
            f"action space; list their sets in {said('actions')}, or say observed"
        )
    return {agent: sorted_sets(extra + seen.get(agent, []), coalitions) for agent in agents}


def _observed_sets(
    engine: Engine, members: str, agents: tuple[str, ...], coalitions: tuple[str, ...], *, own: bool
) -> dict[str, list[list[str]]]:
    """Return the sets that each agent chose in some sample, or under "" those of all agents."""
    words = -(-len(coalitions) // WORD_BITS)
    numbered = {
        "coalition": pa.array(coalitions, pa.string()),
        "word": pa.array([l // WORD_BITS for l in range(len(coalitions))], pa.int64()),
        "bit": pa.array([1 << (l % WORD_BITS) for l in range(len(coalitions))], pa.int64()),
    }
    engine.lookup("codes", pa.table(numbered))
    chosen_sets = engine.table(queries.observed_sets(members, engine.name("codes"), words, own=own))
    bits = np.stack([chosen_sets[f"w{w}"].to_numpy() for w in range(words)], axis=1)
    owner = codes(chosen_sets["agent"], pa.array(agents, pa.string())).tolist() if own else [None] * len(bits)
    result: dict[str, list[list[str]]] = {}
    for agent, row in zip(owner, bits.tolist(), strict=True):
        chosen = [name for l, name in enumerate(coalitions) if row[l // WORD_BITS] >> (l % WORD_BITS) & 1]
        result.setdefault("" if agent is None else agents[agent], []).append(chosen)
    return result
