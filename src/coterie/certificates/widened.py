"""Action spaces that hold a given strategy, such as today's teams, which need not be among what agents may do."""

import numpy as np

from coterie.certificates.gains import is_enumerated
from coterie.errors import InputError
from coterie.game.actions import ActionSpaces, ExplicitSets, names_in
from coterie.game.strategy import Strategy
from coterie.words import said


def widened(spaces: ActionSpaces, strategy: Strategy) -> tuple[ActionSpaces, list[str]]:
    """Return action spaces that hold every set of a strategy, and a sentence for each that was added."""
    listed, notes = list(spaces.spaces), []
    for i in spaces.outside(strategy.owner, strategy.sets):
        rows = strategy.sets[strategy.owner == i]
        missing = rows[~listed[i].contains(rows)]
        if not is_enumerated(listed[i]) and not strategy.is_pure:
            raise InputError(
                f"strategy of {strategy.agents[i]}: holds a set that is not among their actions, which are too many to "
                f"add to; declare actions that hold it ({said('actions')})"
            )
        if is_enumerated(listed[i]):
            listed[i] = ExplicitSets(np.concatenate([listed[i].enumerate(), missing]))
        for row in missing:
            named = ", ".join(names_in(row, strategy.coalitions)) or "nothing"
            notes.append(
                f"{strategy.agents[i]} is where they could not be before ({named}), which is taken as possible"
            )
    return (ActionSpaces(tuple(listed), spaces.left_out) if notes else spaces), notes
