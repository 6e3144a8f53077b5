"""What teams and people have, as it is told: on the scale of the log, with its unit, and digits as ranges deserve."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from coterie.game.strategy import Strategy
from coterie.learn.options import RANGE
from coterie.learn.result import Result
from coterie.log.options import TEAM_SCORES, are_own
from coterie.words import GUESS, better_by, decimals, number, percent, signed


def tells_scores(result: Result) -> bool:
    """Return whether what is expected is told as the score of a team, which is what was seen: a sum, or an average.

    Where another value is asked for than the scores have, people's values do not add up to them.
    """
    return result.value == TEAM_SCORES.get(result.data.totals) and result.strategy.is_pure


def tells_own(result: Result) -> bool:
    """Return whether what is expected of people is told as what each of them got in a team, which is what was seen."""
    return are_own(result.data.totals, result.value) and result.strategy.is_pure


def options_tell_scores(result: Result) -> bool:
    """Return whether options are told as scores of teams: sums over more pairs are no better or worse for that."""
    counts = {pairs_and_teams(one.strategy) for one in result.options if one.strategy.is_pure}
    return tells_scores(result) and (result.data.totals != "team-scores" or len(counts) <= 1)


def mean_score(result: Result, strategy: Strategy, each: float) -> float | None:
    """Return what a team is expected to score, given what a person is expected to have; None where there is no team.

    Averages are those over people. Sums: every pair counts for both of its people, and once in the score.
    """
    level = per_teammate(result, strategy, each)
    if level is None or result.data.totals != "team-scores":
        return None if level is None else result.data.on_scale(level)
    pairs, teams = pairs_and_teams(strategy)
    return result.data.on_scale(level) * pairs / teams


def pairs_and_teams(strategy: Strategy) -> tuple[int, int]:
    """Return how many pairs there are in all teams of several people, and how many such teams."""
    sizes = strategy.sets.sum(axis=0)
    return int((sizes * (sizes - 1) // 2).sum()), int((sizes > 1).sum())


def points_per_team(result: Result) -> float | None:
    """Return how much of a team's score one point of a person is, then and now; None where that is not one number."""
    if not tells_scores(result) or result.data.totals != "team-scores":
        return 1.0 if tells_scores(result) else None
    both = (result.strategy, *([] if result.today is None else [result.today.strategy]))
    counts = [pairs_and_teams(one) for one in both]
    people = result.strategy.n_agents if result.rules.staff is None else len(result.rules.staff)
    return people / (2 * counts[0][1]) if len(set(counts)) == 1 and counts[0][1] else None


def own_scores(result: Result, agent: str) -> str:
    """Return what the teams of somebody are expected to score, where scores of teams were seen; else ""."""
    levels = team_levels(result) if result.data.totals in TEAM_SCORES else {}
    told = []
    for name in result.strategy.actions[agent] if levels else ():
        level, _, likely_to_be = levels.get(name, "").partition(", ")
        if level:
            told.append(f"{name} is expected to score {with_unit(level, result)}{aside(likely_to_be)}")
    return f"{'; '.join(told)}." if told else ""


def aside(*notes: str) -> str:
    """Return what is told in parentheses; "" where there is nothing."""
    told = [one for one in notes if one]
    return f" ({'; '.join(told)})" if told else ""


AVERAGE, MIDDLE = "the average of the table", "the middle of the scale"


def what_neutral_is(result: Result) -> str:
    """Return what the neutral point stands for."""
    less = ", less is better" if result.data.lower_is_better else ""
    return f"{number(result.data.neutral)} is {_neutral(result) or 'as good as being alone'}{less}"


def _neutral(result: Result) -> str:
    """Return what the neutral point is where people are not compared with being alone; else ""."""
    if neutral_is_average(result):
        return AVERAGE
    return MIDDLE if neutral_is_middle(result) and nobody_is_alone(result) else ""


def neutral_is_middle(result: Result) -> bool:
    """Return whether the neutral point is the middle of the scale."""
    return result.data.utility_range is not None and result.data.neutral == sum(result.data.utility_range) / 2


def nobody_is_alone(result: Result) -> bool:
    """Return whether everybody has one team and others in it, in every option: what being alone is worth is no matter.

    A team is worth its average then, in which the neutral point has no part.
    """
    every = (result.strategy, *(option.strategy for option in result.options))
    return is_on_scale(result) and all(have_others(result, one) for one in every)


def have_others(result: Result, strategy: Strategy) -> bool:
    """Return whether everybody who is assigned has one team, and others in it."""
    sets = strategy.sets[np.isin(strategy.agents, result.rules.staff or strategy.agents)]
    return bool((sets.sum(axis=1) == 1).all() and (strategy.sets.sum(axis=0) != 1)[sets.any(axis=0)].all())


def neutral_is_average(result: Result) -> bool:
    """Return whether the neutral point is the average of the table, and no middle of a scale."""
    data = result.data
    if data.average is None or data.utility_range is None:
        return False
    low, high = data.utility_range
    is_average = abs(data.average - data.neutral) <= ROUNDED * (high - low)
    return is_average and not neutral_is_middle(result)


def worse_than_neutral(result: Result) -> str:
    """Return how to say that something is worse than the neutral point."""
    worse = "worse than" if result.data.lower_is_better else "below"
    return f"{worse} {neutral}" if (neutral := _neutral(result)) else "worse than alone"


ROUNDED = 0.005
"""A neutral point that is an average was rounded by up to such a share of the range."""


def has_range(result: Result) -> bool:
    """Return whether it is known where what the recommendation is worth lies; what the log contradicts is no range."""
    return bool(result.options) and result.options[0].expected_range is not None and not result.contradicted


def likely_range(ends: Sequence[Any], shown: Callable[[Any], str]) -> str:
    """Word where something lies by what a log makes likely; "" where nobody knows, or rounding hides it."""
    told = [shown(end) for end in ends]
    return f"with {percent(RANGE)} probability {told[0]} to {told[1]}" if len(set(told)) > 1 else ""


def per_teammate(result: Result, strategy: Strategy, each: float) -> float | None:
    """Return the value of a person as an average over teammates; None where there are none, or no one average."""
    if not strategy.is_pure:
        return None
    sizes = strategy.sets.sum(axis=0)
    partners = np.where(strategy.sets, sizes - 1, 0)
    people = strategy.n_agents if result.rules.staff is None else len(result.rules.staff)
    if result.value == "total":
        return None if not partners.sum() else each * people / float(partners.sum())
    teams = (partners > 0).sum(axis=1)
    return each * people / float(teams.sum()) if teams.sum() else None


def shown_level(result: Result, level: float, places: int = 2) -> str:
    """Return a value per teammate as the log has it: on its scale where that has a neutral point, else with a sign."""
    return f"{result.data.on_scale(level):.{places}f}" if result.data.has_scale else signed(level, places)


def shown_gain(result: Result, gain: float, places: int = 2) -> str:
    """Return by how much something is better or worse: with a sign, or in words where less is better."""
    return better_by(gain, places) if result.data.lower_is_better else signed(gain, places)


def as_on_scale(result: Result, ends: Sequence[float]) -> tuple[float, ...]:
    """Return ends of a range in the order of the log's scale, on which less may be better."""
    return tuple(reversed(ends)) if result.data.lower_is_better else tuple(ends)


def is_on_scale(result: Result) -> bool:
    """Return whether what people have is on the scale of the log: an average over one team at most, in every option."""
    every = (result.strategy, *(option.strategy for option in result.options))
    at_most_one = all(one.is_pure and bool((one.sets.sum(axis=1) <= 1).all()) for one in every)
    return result.value == "average" and at_most_one and result.data.has_scale


def scaled(result: Result, value: float) -> float:
    """Return what somebody has as it is told: on the scale of the log where that can be, else from 0 = alone."""
    return result.data.on_scale(value) if is_on_scale(result) else value


def places_of_people(result: Result) -> int:
    """Return with how many decimals values of people are told: as many as half of them deserve."""
    ranges = result.options[0].person_ranges if result.options else {}
    return decimals((0.0, float(np.median([high - low for low, high in ranges.values()])))) if ranges else 2


def shown_worth(result: Result, value: float) -> str:
    """Return what somebody has, or has of a teammate, as it is told, without its unit."""
    if not math.isfinite(value):
        return "no limit"
    places = places_of_people(result)
    return f"{scaled(result, value):.{places}f}" if is_on_scale(result) else shown_gain(result, value, places)


def shown_ends(result: Result, low: float, high: float) -> tuple[str, str]:
    """Return between what somebody's value lies, the smaller number first."""
    ends = as_on_scale(result, (low, high)) if is_on_scale(result) else (low, high)
    return shown_worth(result, ends[0]), shown_worth(result, ends[1])


def shown_change(result: Result, change: float) -> str:
    """Return what changes for somebody, with as many decimals as what they have."""
    return shown_gain(result, change, places_of_people(result)) if math.isfinite(change) else "no limit"


OWN_PART = "for their own part in the score"


def what_own_part_is(result: Result) -> str:
    """Return what somebody's own part in the score of a team is; "" where what they have is something else."""
    return "what their pairs with the others there score" if tells_scores(result) else ""


def own_worth(result: Result, value: float) -> str:
    """Return what somebody has, with what it is counted in."""
    worth = with_unit(shown_worth(result, value), result)
    return worth if tells_own(result) and is_on_scale(result) else f"{worth} {_over_whom(result)}"


def unit_of_people(result: Result) -> str:
    """Return what values of people are counted in."""
    return f"{result.unit} {_over_whom(result)}" if result.unit else _over_whom(result)


def _over_whom(result: Result) -> str:
    if tells_scores(result):
        of = OWN_PART
    elif result.value != "average":
        of = "over all teammates"
    else:
        several = result.strategy.is_pure and bool((result.strategy.sets.sum(axis=1) > 1).any())
        of = f"{per_what(result)}, all teams added up" if several else per_what(result)
    return of


def per_what(result: Result) -> str:
    """Return what a level is counted by: by person where each has a number of their own, else by teammate."""
    return "per person" if tells_own(result) else "per teammate"


def likely_worth(result: Result, agent: str) -> str:
    """Return where what somebody has is likely to be; "" where nobody knows, or the log contradicts it."""
    ends = result.options[0].person_ranges.get(agent) if result.options else None
    if ends is None or result.contradicted:
        return ""
    value = result.estimate.utility[agent]  # what is sure is stronger than what is believed
    told = shown_ends(result, min(ends[0], value), max(ends[1], value))
    return likely_range(told, str)


def team_levels(result: Result) -> dict[str, str]:
    """Return what each team of several people is expected to get, on the scale of the log, in a few words.

    What a teammate is worth there to a member, on average over all its members; where scores of teams were seen that
    are sums over pairs, the sum. Nothing where that is not known, as of mixed strategies or very many people.
    """
    if not result.strategy.is_pure:
        return {}

    are_scores = result.data.totals in TEAM_SCORES

    def worth(s: int, level: float) -> float:
        pairs = s * (s - 1) / 2 if result.data.totals == "team-scores" else 1.0
        return result.data.on_scale(level) * pairs if are_scores else level

    known: dict[str, tuple[float, tuple[float, ...], str]] = {}
    first = result.options[0] if result.options else None
    for name, members in result.strategy.members().items():
        s = len(members)
        told = [result.explanations[one] for one in members if one in result.explanations]
        rooms = [room for one in told for room in one.rooms if room.coalition == name]
        if s < 2 or len(rooms) < s:
            continue
        level = sum(room.value for room in rooms) / (s if result.value == "average" else s * (s - 1))
        ends = first.team_ranges.get(name, ()) if first is not None else ()
        guess = "" if any(room.seen is not False for room in rooms) else f", {GUESS}"
        known[name] = worth(s, level), tuple(worth(s, end) for end in as_on_scale(result, ends)), guess
    places = decimals(*(sorted(ends) for _, ends, _ in known.values()))

    def shown(level: float) -> str:
        return f"{level:.{places}f}" if are_scores else shown_level(result, level, places)

    return {
        name: shown(level) + (f", likely {' to '.join(map(shown, ends))}" if ends else "") + guess
        for name, (level, ends, guess) in known.items()
    }


def what_levels_are(result: Result) -> str:
    """Return what is expected of each team, in a few words."""
    if result.data.totals in TEAM_SCORES:
        return f"expected score in {result.unit}" if result.unit else "expected score"
    return f"expected {result.unit} {per_what(result)}" if result.unit else f"expected {per_what(result)}"


def with_unit(amount: str, result: Result) -> str:
    """Return an amount with the unit behind its number: 0.5 stars, 0.5 errors better."""
    shown, *word = amount.split(" ")
    return " ".join([shown, *([result.unit] if result.unit else []), *word])


def size_of_gain(result: Result, gain: float) -> str:
    """Return how much somebody gains or loses, without a sign, and never nothing."""
    shown = f"{abs(gain):.{places_of_people(result)}f}"
    return shown if float(shown) else f"{abs(gain):.2g}"


def what_values_are(result: Result) -> str:
    """Return what the values of people are, in a few words."""
    return f"value: {unit_of_people(result)}; {what_zero_is(result)}"


def what_worths_are(result: Result) -> str:
    """Return what the values of people and of single teammates are, in a few words."""
    unit = f"in {result.unit}; " if result.unit else ""
    of = "what each person gets" if tells_own(result) else "a team is worth the average of its teammates"
    if tells_scores(result):
        pairs = "averaged" if result.value == "average" else "added up"
        of = f"their own part in the score of a team: its pairs with them, {pairs}"
    elif result.value != "average":
        of = "a team is worth its teammates added up"
    return f"{unit}{of}; {what_zero_is(result)}"


def what_zero_is(result: Result) -> str:
    """Return what a value stands for that is as good as none."""
    if is_on_scale(result):
        return what_neutral_is(result)
    more = ", more is better" if result.data.lower_is_better else ""
    return f"0 is {_neutral(result) or 'as good as being alone'}{more}"
