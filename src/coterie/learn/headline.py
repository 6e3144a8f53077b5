"""What a recommendation is expected to be worth, and how much better that is than today or than teams drawn by lot.

These numbers are read first, and beside each other: the last is the difference of the others, as far as they are
counted by the same, also as they are rounded.
"""

from collections.abc import Sequence

from coterie.game.strategy import Strategy
from coterie.learn.amounts import (
    as_on_scale,
    aside,
    has_range,
    have_others,
    is_on_scale,
    likely_range,
    mean_score,
    per_teammate,
    per_what,
    points_per_team,
    shown_gain,
    shown_level,
    tells_scores,
    what_neutral_is,
    with_unit,
)
from coterie.learn.result import Result
from coterie.words import chance, counted, decimals, number, signed

NO_RANGE = "no range is known, and the best of many guesses often turns out worse"
"""What is told of expected values beside which no range stands."""

PER_TEAM, PER_PERSON = "per team", "per person"

MOST_PLACES = 2


def expected_worth(result: Result) -> str:
    """Return what the recommendation is expected to be worth, to a person and with a teammate, and its range."""
    first = result.options[0]
    each = first.expected_value
    level = _level(result, result.strategy, each)
    ends = first.expected_range if first.expected_range is not None and has_range(result) else ()
    lack = "" if first.expected_range is not None else NO_RANGE
    if level is None:
        places = decimals(ends)
        told = with_unit(shown_gain(result, each, places), result)
        likely_to_be = likely_range(ends, lambda end: shown_gain(result, end, places))
        return f"{told} per person{aside(likely_to_be or lack)}"
    levels = _levels(result) if ends else []
    places = _places(result, levels)
    neutral, less = what_neutral_is(result) if result.data.has_scale else "", ""
    if tells_scores(result):
        neutral = neutral if result.data.totals != "team-scores" else ""
        less = "less is better" if result.data.lower_is_better and not neutral else ""
    else:
        levels = list(as_on_scale(result, levels))
    likely_to_be = likely_range(levels, lambda end: _told(result, end, places))
    notes = aside(likely_to_be or lack, neutral, less)
    told = f"{with_unit(_told(result, level, places), result)} {_per(result)}{notes}"
    if tells_scores(result) or result.value == "average":
        return told
    return f"{told}, {shown_gain(result, each, decimals(ends))} per person over all teammates"


def ranges_held(result: Result) -> str:
    """Return how often 80 % ranges held in simulations where they may mislead: where only totals were seen.

    These do not show luck that a whole team or round shares. `benchmarks/RESULTS.md` has the figures: *Ranges where
    luck is shared*.
    """
    if result.data.feedback != "bandit" or not has_range(result):
        return ""
    least, most = (65, 90) if tells_scores(result) else (50, 90)
    what = "scores" if tells_scores(result) else "people's totals"
    return f"such ranges of {what} held {least} to {most} times in 100 in simulated tables"


def against_today(result: Result) -> str:
    """Return what is expected to be better than today; where nobody said what that is, than teams drawn by lot."""
    told = improvement(result)
    if told is None:
        return ""
    amount, notes = told
    who = f"; {who_changes(result)}" if result.today is not None else ""
    return f"Against {what_is_compared(result)}: {amount} {per_whom(result)} expected{aside(*notes)}{who}."


def improvement(result: Result) -> tuple[str, list[str]] | None:
    """Return what is better than before with its unit, and how sure that is; None where there is nothing to compare."""
    better = _better(result)
    if better is None:
        return None
    expected, ends, sure = better
    places = _places(result, ends)
    notes = [likely_range(ends, lambda end: shown_gain(result, end, places))]
    if sure is not None and not result.contradicted and signed(expected, places).startswith("+"):
        notes.append(f"an improvement with {chance(sure)} probability")
    return with_unit(shown_gain(result, expected, places), result), notes


def what_is_compared(result: Result) -> str:
    """Return what the recommendation is compared with, and what a teammate, or whatever is told, is worth there."""
    what = "teams of the same sizes drawn by lot" if result.today is None else what_today_is(result)
    before = _before(result)
    if before is None:
        return what
    level, strategy = before
    told = f"{with_unit(_told(result, level, _places(result, _levels(result))), result)} {_per(result)}"
    return f"{what} ({', '.join(filter(None, (told, _alone(result, strategy))))})"


def per_whom(result: Result) -> str:
    """Return what an improvement is counted by: by teammate where everybody has one team with others, then and now."""
    every = (result.strategy, *([] if result.today is None else [result.today.strategy]))
    all_have = all(have_others(result, one) for one in every)
    if all_have and points_per_team(result) is not None:
        return PER_TEAM
    if result.value != "average":
        return "per person over all teammates"
    return per_what(result) if all_have else PER_PERSON


def who_changes(result: Result) -> str:
    """Return how many people are to be elsewhere than today, and how many get a place who have none."""
    assert result.today is not None
    told = f"{counted(result.today.moves, 'person changes', 'people change')} something"
    more = sum(not change.before for change in result.today.changes)
    return f"{told}, and {more} more {'gets' if more == 1 else 'get'} a place" if more > 0 else told


def what_today_is(result: Result) -> str:
    """Return what is compared with: today's teams, without those who left, if anybody in them did."""
    assert result.today is not None
    return "today's teams without those who left" if result.today.left else "today"


# --- The numbers ----------------------------------------------------------------------------------------


def _level(result: Result, strategy: Strategy, each: float) -> float | None:
    """Return what a team is expected to score, else what a teammate is worth, given what a person has.

    Where somebody is alone, then or now, it is what a person has: that is what an improvement counts.
    """
    if tells_scores(result):
        return mean_score(result, strategy, each)
    return each if _counts_people(result) else per_teammate(result, strategy, each)


def _counts_people(result: Result) -> bool:
    """Return whether people have what is on the scale, and somebody is alone, then or now."""
    return per_whom(result) == PER_PERSON and is_on_scale(result) and not tells_scores(result)


def _per(result: Result) -> str:
    """Return what levels are counted by."""
    if tells_scores(result):
        return PER_TEAM
    return PER_PERSON if _counts_people(result) else per_what(result)


def _alone(result: Result, strategy: Strategy) -> str:
    """Return what those count as who are alone; "" where nobody is, or they are not counted."""
    counts = _counts_people(result) and not have_others(result, strategy)
    return f"whoever is alone counting as {number(result.data.neutral)}" if counts else ""


def _told(result: Result, level: float, places: int) -> str:
    return f"{level:.{places}f}" if tells_scores(result) else shown_level(result, level, places)


def _levels(result: Result) -> list[float]:
    """Return between which levels the recommendation's is likely to be."""
    ends = result.options[0].expected_range or ()
    return sorted(_level(result, result.strategy, end) or 0.0 for end in ends)


def _better(result: Result) -> tuple[float, tuple[float, float], float | None] | None:
    """Return by how much it is expected to be better than before, its range, and how probable it is that it is."""
    if result.today is not None:
        expected, ends, sure = result.today.expected_improvement, result.today.range, result.today.chance
    elif result.by_lot is not None:
        expected, ends, sure = result.by_lot.expected, result.by_lot.range, result.by_lot.chance
    else:
        return None
    points = (points_per_team(result) or 1.0) if per_whom(result) == PER_TEAM else 1.0
    return points * expected, (points * ends[0], points * ends[1]), sure


def _before(result: Result) -> tuple[float, Strategy] | None:
    """Return the level of today, or of teams drawn by lot, and these; None where it tells nothing beside the others."""
    if result.today is not None:
        gain, strategy = result.today.expected_improvement, result.today.strategy
    elif result.by_lot is not None:
        gain, strategy = result.by_lot.expected, result.strategy
    else:
        return None
    # Sums over more pairs, or fewer, are not compared, nor are scores where somebody is in none.
    if not result.options or (tells_scores(result) and per_whom(result) != PER_TEAM):
        return None
    level = _level(result, strategy, result.options[0].expected_value - gain)
    return None if level is None else (level, strategy)


def _is_difference(result: Result) -> bool:
    """Return whether what is better is the difference of the two levels: all are counted by the same."""
    return per_whom(result) == _per(result)


def _places(result: Result, ends: Sequence[float]) -> int:
    """Return with how many decimals a number is told that lies in a range: no more than it deserves.

    But levels and their difference have as many as each other, and one more where rounding hides what they have to
    do with each other.
    """
    better, before = _better(result), _before(result)
    now = _level(result, result.strategy, result.options[0].expected_value) if result.options else None
    if better is None or before is None or now is None or not _is_difference(result):
        return decimals(ends)
    least = max(decimals(one) for one in (_levels(result), better[1]) if one)

    def add_up(places: int) -> bool:
        shown = (float(_told(result, level, places)) for level in (now, before[0]))
        return abs(round(abs(next(shown) - next(shown)), places) - round(abs(better[0]), places)) < 10.0**-places / 2

    return next((places for places in range(least, MOST_PLACES + 1) if add_up(places)), least)
