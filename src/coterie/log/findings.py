"""What is missing or suspicious in a log, in sentences with advice."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from coterie.log.drawn_anew import MAY_MEAN_NOTHING, MEAN_NOTHING, drawn_anew
from coterie.log.inspection import Inspection
from coterie.log.log import INFERRED, WITHOUT_TEAMS, Log
from coterie.log.names import are_names_for_once
from coterie.words import counted, interval, number, said

NAMED = 5
"""How many names a sentence lists."""


@dataclass(frozen=True)
class Finding:
    """Something missing or suspicious, and what to do about it."""

    what: str
    """A sentence; "{names}" in it stands for some of the names."""
    advice: str = ""
    names: tuple[str, ...] = ()

    def worded(self, shown: Callable[[str], str] = str) -> str:
        """Return the sentence, with each name as `shown` returns it."""
        listed = ", ".join(shown(name) for name in self.names[:NAMED])
        more = len(self.names) - NAMED
        return self.what.replace("{names}", listed if more <= 0 else f"{listed} and {more:,} more")

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {"what": self.worded(), "advice": self.advice, "names": list(self.names)}


def _without_asymmetric(log: Log) -> str:
    """Return what takes back that a log is asymmetric, wherever that was said."""
    if "symmetric" in log.said:
        return f"leave out {said(symmetric=False)}"
    return 'write "symmetric": true in log.json'


def findings_of(seen: Inspection) -> Iterator[Finding]:
    """Yield each thing that is missing or suspicious."""
    log = seen.log
    helps = {
        INFERRED: "add a table memberships (sample, agent, coalition)",
        WITHOUT_TEAMS: "if there were several teams at once, add a column that says in which one a row is",
    }
    for note in log.notes:
        yield Finding(note, helps.get(note, ""))
    if seen.n_samples == 1:
        yield Finding(
            "there is one round only: nothing shows how much values vary, and no part can be held out",
            "add the rounds of more months, terms or seasons",
        )
    yield from _odd_meetings(seen)
    yield from _unrated_meetings(seen)
    yield from _odd_teams(seen)
    yield from _odd_utilities(seen)


def _odd_meetings(seen: Inspection) -> Iterator[Finding]:
    log = seen.log
    never = seen.pairs_possible - seen.pairs_met
    if never:
        yield Finding(
            f"{never:,} of {counted(seen.pairs_possible, 'pair')} of people never met: nothing is known about them",
            "bring them together once; until then nothing can be promised about teams that hold both",
        )
    lonely = sorted(set(range(len(log.agents))) - set(seen.meetings.keys.ravel().tolist()))
    if lonely:
        yield Finding(
            "{names} never met anybody",
            "check the spelling, and whether these people should take part",
            tuple(log.agents[i] for i in lonely),
        )
    once = int((seen.meetings.values[:, 0] == 1).sum())
    if once:
        yield Finding(f"{counted(once, 'pair')} met only once", "more rounds would say more about them")


def _unrated_meetings(seen: Inspection) -> Iterator[Finding]:
    unrated = 0 if seen.pairs_rated is None else seen.pairs_met - seen.pairs_rated
    if unrated:
        yield Finding(
            f"{counted(unrated, 'pair')} of people met but {'was' if unrated == 1 else 'were'} never rated: nothing is "
            "known about what they get from each other",
            "look for their rows in pairs, or ask them",
        )
    if seen.unobserved and WITHOUT_TEAMS not in seen.log.notes:  # nobody knows that they shared a team
        yield Finding(
            f"{seen.unobserved:,} of {counted(seen.n_meetings, 'meeting')} {'has' if seen.unobserved == 1 else 'have'} "
            "no row in pairs: two people shared a team, but what they got is unobserved",
            "look for the rows; if they are missing because things went badly, what is learnt is too rosy",
        )
    if seen.one_sided:
        yield Finding(
            f"{counted(seen.one_sided, 'meeting')} {'has' if seen.one_sided == 1 else 'have'} a row in one order "
            "only: what the other person got is unobserved",
            f"add the other order, or {_without_asymmetric(seen.log)} if both get the same",
        )
    if seen.totals_missing:
        yield Finding(
            f"{counted(seen.totals_missing, 'time')} a person was a member but has no total: unobserved",
            "look for the rows; a person who got nothing needs a row with 0",
        )


def _odd_teams(seen: Inspection) -> Iterator[Finding]:
    empty = tuple(name for name, sizes in seen.teams.items() if not any(sizes))
    if empty:
        yield Finding("nobody ever joined {names}", "check the spelling, or leave out what no longer exists", empty)
    used = {name: {size: count for size, count in sizes.items() if size} for name, sizes in seen.teams.items()}
    once = tuple(name for name, sizes in used.items() if sum(sizes.values()) == 1)
    teams = sum(sum(sizes.values()) for sizes in used.values())
    if seen.n_samples > 1 and not seen.log.pool_coalitions and are_names_for_once(len(once), len(used), teams):
        yield Finding(
            f"{len(once):,} of {counted(len(used), 'team')} occur in one round only, such as {{names}}",
            f"if such names mean nothing, {said(pool_coalitions=True)} learns about pairs whatever the team is called",
            once,
        )
    elif "pool_coalitions" not in seen.log.declared and drawn_anew(seen.log) != "no":
        yield Finding(
            f"{MAY_MEAN_NOTHING}: {MEAN_NOTHING}",
            f"if they are drawn anew each time, {said(pool_coalitions=True)} learns about pairs whatever the team is "
            "called, from several times as many data",
        )
    fixed = tuple(name for name, sizes in used.items() if len(sizes) == 1 and sum(sizes.values()) > 1)
    if fixed and seen.log.has_memberships:
        yield Finding(
            "{names} always had the same size" if len(fixed) == 1 or seen.log.pool_coalitions else
            "{names} each always had the same size",
            "whether size matters cannot be seen there",
            fixed,
        )  # fmt: skip


def _odd_utilities(seen: Inspection) -> Iterator[Finding]:
    log, (low, high) = seen.log, seen.extent
    if low == high:
        yield Finding(f"every value is {number(low)}", f"check that the right column was read (see {said('columns')})")
        return
    if not seen.per_pair:
        return
    if low > log.neutral or high < log.neutral:
        side = "above" if low > log.neutral else "below"
        yield Finding(
            f"all values are {side} the neutral point {number(log.neutral)}: everybody would rather be "
            f"{'together' if (side == 'above') != log.lower_is_better else 'alone'}",
            f"if another value is worth as much as being alone, say so with {said('neutral')}",
        )
    if seen.is_wide:
        assert log.utility_range is not None
        yield Finding(
            f"values use {interval(low, high)} of the declared range {interval(*log.utility_range)}",
            f"if no other value can occur, declaring the true range ({said('utility_range')}) narrows every "
            "certificate",
        )
