"""What interchangeable teams are called where people read of them: as today's table calls them, else "team 1".

Files and Python have the coalitions "1", "2", ... of the contract; whatever is printed, drawn or mailed is made of a
copy that `with_team_names` returns.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from coterie.certificates.certificate import Witness
from coterie.game.strategy import Strategy
from coterie.learn.explanation import Explanation
from coterie.learn.result import Result
from coterie.words import numbered_team


def shown_names(coalitions: Sequence[str], known: Mapping[str, str]) -> dict[str, str]:
    """Return what interchangeable coalitions are called: by a name that is known, else as numbered teams.

    >>> shown_names(["1", "2"], {"2": "Table B"})
    {'1': 'team 1', '2': 'Table B'}
    """
    found = {name: known.get(name) or numbered_team(name) for name in coalitions}
    return found if len(set(found.values())) == len(found) else {name: numbered_team(name) for name in coalitions}


def with_team_names(result: Result) -> Result:
    """Return a result in which interchangeable teams are called as people call them; any other as it is."""
    if not result.data.pool_coalitions:
        return result
    names = shown_names(result.strategy.coalitions, result.team_names)

    def called(some: Sequence[str]) -> tuple[str, ...]:
        return tuple(names.get(one, one) for one in some)

    def strategy(one: Strategy) -> Strategy:
        return replace(one, coalitions=called(one.coalitions))

    def witness(one: Witness) -> Witness:
        return replace(
            one,
            deviation=called(one.deviation),
            doubts=tuple(replace(doubt, coalition=names.get(doubt.coalition, "")) for doubt in one.doubts),
            movers={agent: called(to) for agent, to in one.movers.items()},
        )

    def explained(one: Explanation) -> Explanation:
        rooms = tuple(replace(room, coalition=names.get(room.coalition, room.coalition)) for room in one.rooms)
        return replace(one, rooms=rooms, alternative=None if one.alternative is None else witness(one.alternative))

    found, today = result.certificate, result.today
    return replace(
        result,
        strategy=strategy(result.strategy),
        certificate=replace(
            found,
            worst=None if found.worst is None else witness(found.worst),
            alternatives={agent: witness(one) for agent, one in found.alternatives.items()},
        ),
        explanations={agent: explained(one) for agent, one in result.explanations.items()},
        options=tuple(
            replace(
                one,
                strategy=strategy(one.strategy),
                team_ranges={names.get(name, name): ends for name, ends in one.team_ranges.items()},
            )
            for one in result.options
        ),
        today=None
        if today is None
        else replace(
            today,
            strategy=strategy(today.strategy),
            changes=tuple(replace(one, before=called(one.before), after=called(one.after)) for one in today.changes),
        ),
        rules=result.rules.with_teams(names),
        warnings=tuple(called_in(text, names) for text in result.warnings),
        violations=tuple(called_in(text, names) for text in result.violations),
        team_names={},
    )


def called_in(text: str, names: Mapping[str, str]) -> str:
    """Return a sentence of ours about numbered teams in the names that these have.

    >>> called_in("team 2 would have 5 members", {"2": "Table B"})
    'Table B would have 5 members'
    """
    return re.sub(r"\bteam (\d+)\b", lambda found: names.get(found[1], found[0]), text)
