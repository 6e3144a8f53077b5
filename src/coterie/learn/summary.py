"""A result in sentences that need no game theory: what is found, in the units of the log, and what the words mean.

Wherever a result is shown, on the terminal, in a report or in a notebook, these are its words.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from coterie.arrays import BoolArray
from coterie.game.admissible import named_as_today
from coterie.game.rules import EACH, TeamSize
from coterie.game.strategy import Strategy
from coterie.learn.more_samples import LONGEST
from coterie.learn.options import LITTLE, RANGE, SMALLEST
from coterie.learn.result import NAMED, STEPS, Result
from coterie.learn.warnings import SAYS_NOTHING, TOO_FEW
from coterie.log.options import TEAM_SCORES
from coterie.words import GUESS, alphabetical, better_by, chance, counted, decimals, number, percent, said, signed, some

if TYPE_CHECKING:
    from coterie.certificates.certificate import Doubt

GLOSSARY: dict[str, str] = {
    "certificate": "a proven limit on what anybody could gain by moving; it fails with probability delta at most",
    "coalition": "a kind of team: an area, a room, a project",
    "round": "one period in which everybody's teams were fixed: a day, a month, a term (in files: sample)",
    "surely": "proven from the log at the stated confidence, not just estimated",
    "surely stay": "proven to have nothing to gain, all of them together",
    "best alternative": "the step that would be best for somebody by what the log makes most likely",
    "holdout": "proven on rounds that were set aside while the teams were chosen",
    "paired": "proven for all teams at once, so that it does not matter how these were chosen",
    "paper": "the bound of the published method, wider than the others",
    "own part": "the score of a team is made of its pairs; this is what those of somebody with the others there score",
    "least well off": "whoever has least by the best guess, with what is expected of them",
    "gain by moving": "what whoever gains most by moving would gain, on average over all that the log leaves possible; "
    "more than any change by the best guess alone",
    "option": "an assignment that none of the others beats in everything",
}  # fmt: skip
"""Words that not everybody knows -> what they mean."""


ANY_TEAMS = "Proven for all teams at once, however these were chosen."

FOR_ANY_TEAMS = (
    f"{ANY_TEAMS} For teams of its own, learn may prove a smaller limit, as it sets rounds aside that do not choose."
)
"""Why `certify` and `coverage` say something else than `learn` of the same teams."""


def glossary(text: str) -> list[tuple[str, str]]:
    """Return the unusual words that a text uses, and what they mean.

    Examples
    --------
    >>> ", ".join(word for word, _ in glossary("A holdout certificate of 30 rounds"))
    'certificate, round, holdout'
    """
    low = text.lower()
    found = [(word, meaning) for word, meaning in GLOSSARY.items() if re.search(rf"\b{word}s?\b", low)]
    return [one for one in found if one[0] != "surely" or low.replace("surely stay", "").count("surely")]


def recommendation(result: Result) -> str:
    """Return what is recommended, and what it is expected to be worth, in the units of the log."""
    if not result.options:
        return ""
    teams = sum(1 for members in result.strategy.members().values() if members)
    return f"Recommended: {counted(teams, 'team')}. Expected: {expected_worth(result)}."


def cut_short(result: Result) -> str:
    """Return that a search did not come to its end, which belongs beside what is promised of what it found."""
    why = {"time": "by the time limit", "interrupted": "since somebody stopped it"}.get(result.solver.status)
    if why is None:
        return ""
    return f"Stopped early: the search was cut short {why}, and there may be better teams than these."


def so_far(result: Result) -> str:
    """Return what a teammate was worth on average in the log, to compare with, where nobody said who is where today."""
    level = level_so_far(result)
    amount = _with_unit(level, result)
    return f"So far: {amount} per teammate, the average of what was read." if level else ""


def level_so_far(result: Result) -> str:
    """Return that average as the log has it; "" where there is something better to compare with, or nothing.

    It is no value of an assignment: people met in many teams, some more often than others.
    """
    average = result.data.average
    if average is None or not result.options or not result.strategy.is_pure or result.today or result.by_lot:
        return ""
    return f"{average:.2f}" if result.data.has_scale else signed(average)


def guesses(result: Result) -> str:
    """Return how many pairs are put together who were never seen together, and the first of them."""
    return "" if result.together is None else result.together.told(pooled=result.data.pool_coalitions)


def assigned_people(result: Result) -> list[str]:
    """Return everybody but those who left, as people look for them: who is on the staff, or in a team all the same."""
    staff, strategy = result.rules.staff, result.strategy
    return alphabetical(
        agent
        for agent, shares in zip(strategy.agents, strategy.marginals, strict=True)
        if staff is None or agent in staff or shares.any()
    )


def listed_teams(result: Result) -> dict[str, list[str]]:
    """Return who is in which team, as people look for them."""
    return {name: alphabetical(members) for name, members in result.strategy.members().items()}


def options_have_limits(result: Result) -> bool:
    """Return whether what is certified of options is worth showing: whether that is anything of any of them."""
    if not result.says_nothing:
        return True
    return any(one.gap < SAYS_NOTHING * (result.range_gap or 0.0) for one in result.options)


def option_labels(result: Result) -> list[str]:
    """Return what each option is best at, and of one that is best at nothing what differs from the recommendation.

    No two are called the same.
    """
    labels, times = [], Counter[str]()
    for option in result.options:
        is_named = option.label != "another" and (option.label != "surest" or options_have_limits(result))
        label = option.label if is_named else difference(result, option.strategy)
        times[label] += 1
        labels.append(f"{label} ({times[label]})" if times[label] > 1 else label)
    return labels


DIFFERENT = 2
"""Up to so many people or pairs are named that differ."""


def difference(result: Result, other: Strategy) -> str:
    """Return in a few words what another pure assignment does otherwise than the recommended one.

    Sizes of teams where they differ, else whom it keeps together who are in one team today, else who is elsewhere;
    where that is many, how many.
    """
    mine, theirs = result.strategy.sets, other.sets
    sizes = [sorted((int(size) for size in sets.sum(axis=0) if size), reverse=True) for sets in (mine, theirs)]
    if sizes[0] != sizes[1]:
        return f"teams of {', '.join(map(str, sizes[1]))}"
    names = result.strategy.agents
    if result.today is not None:
        met, new, before = (
            (sets.astype(int) @ sets.T.astype(int)) > 0 for sets in (mine, theirs, result.today.strategy.sets)
        )
        kept = np.argwhere(np.triu(new & before & ~met, 1)).tolist()
        if 0 < len(kept) <= DIFFERENT:
            return f"keeps {', '.join(f'{names[i]} and {names[j]}' for i, j in kept)} together"
    moved = np.flatnonzero(elsewhere(result, other)).tolist()
    if not moved:
        return "the same teams"
    if len(moved) > DIFFERENT:
        return f"{len(moved)} people elsewhere"
    if result.data.pool_coalitions:
        return f"{' and '.join(names[i] for i in moved)} elsewhere"
    return ", ".join(f"{names[i]} in {' and '.join(other.actions[names[i]]) or 'no team'}" for i in moved)


def elsewhere(result: Result, other: Strategy) -> BoolArray:
    """Return who is elsewhere than recommended; where teams are interchangeable, whatever they are called."""
    mine, theirs = result.strategy.sets, other.sets
    if result.data.pool_coalitions:
        theirs = named_as_today(mine, theirs)
    return np.asarray((mine != theirs).any(axis=1))


def told_warnings(result: Result) -> list[str]:
    """Return the warnings that nothing else of the summary says already."""
    return [text for text in result.warnings if text != TOO_FEW]


def for_readers(text: str) -> str:
    """Return a sentence without advice on options of commands, for people who have the report alone.

    Examples
    --------
    >>> for_readers("outcomes in Finance depend on its size: use --sizes aware")
    'outcomes in Finance depend on its size'
    >>> for_readers("promises allow for it and are weaker; if one has nothing to do with another, say --noise pairs")
    'promises allow for it and are weaker'
    """
    whole = re.sub(r"\s*\([^()]*--[a-z][^()]*\)", "", text)
    kept = []
    for sentence in re.split(r"(?<=[.!?])\s+", whole):
        option = re.search(r"(^|\s|\()--[a-z]", sentence)
        # What is advised begins after the last colon or semicolon before it; without one it is all of the sentence.
        before = sentence if option is None else sentence[: option.start() + 1]
        kept.append(sentence if option is None else before[: max(before.rfind(";"), before.rfind(":"), 0)])
    return " ".join(part for part in kept if part) or text


def has_range(result: Result) -> bool:
    """Return whether it is known where what the recommendation is worth lies; what the log contradicts is no range."""
    return bool(result.options) and result.options[0].expected_range is not None and not result.contradicted


NO_RANGE = "no range is known, and the best of many guesses often turns out worse"
"""What is told of expected values beside which no range stands."""


def expected_worth(result: Result) -> str:
    """Return what the recommendation is expected to be worth, to a person and with a teammate, and its range."""
    first = result.options[0]
    each = first.expected_value
    level = per_teammate(result, result.strategy, each)
    ends = first.expected_range if first.expected_range is not None and has_range(result) else ()
    lack = "" if first.expected_range is not None else NO_RANGE
    if level is None:
        places = decimals(ends)
        told = _with_unit(shown_gain(result, each, places), result)
        likely_to_be = likely_range(ends, lambda end: shown_gain(result, end, places))
        return f"{told} per person{_aside(likely_to_be or lack)}"
    if tells_scores(result):
        scores = sorted(mean_score(result, result.strategy, end) or 0.0 for end in ends)
        places, score = decimals(scores), mean_score(result, result.strategy, each) or 0.0
        neutral = what_neutral_is(result) if result.data.has_scale and result.data.totals != "team-scores" else ""
        less = "less is better" if result.data.lower_is_better and not neutral else ""
        told = f"{_with_unit(f'{score:.{places}f}', result)} per team"
        return told + _aside(likely_range(scores, lambda end: f"{end:.{places}f}") or lack, neutral, less)
    levels = tuple(per_teammate(result, result.strategy, end) or 0.0 for end in ends)
    places = decimals(levels)
    neutral = what_neutral_is(result) if result.data.has_scale else ""
    told = f"{_with_unit(shown_level(result, level, places), result)} per teammate"
    likely_to_be = likely_range(as_on_scale(result, levels), lambda end: shown_level(result, end, places))
    told += _aside(likely_to_be or lack, neutral)
    in_all = shown_gain(result, each, decimals(ends))
    return told if result.value == "average" else f"{told}, {in_all} per person over all teammates"


def tells_scores(result: Result) -> bool:
    """Return whether what is expected is told as the score of a team, which is what was seen: a sum, or an average.

    Where another value is asked for than the scores have, people's values do not add up to them.
    """
    return result.value == TEAM_SCORES.get(result.data.totals) and result.strategy.is_pure


def options_tell_scores(result: Result) -> bool:
    """Return whether options are told as scores of teams: sums over more pairs are no better or worse for that."""
    counts = {_pairs_and_teams(one.strategy) for one in result.options if one.strategy.is_pure}
    return tells_scores(result) and (result.data.totals != "team-scores" or len(counts) <= 1)


def mean_score(result: Result, strategy: Strategy, each: float) -> float | None:
    """Return what a team is expected to score, given what a person is expected to have; None where there is no team.

    Averages are those over people. Sums: every pair counts for both of its people, and once in the score.
    """
    level = per_teammate(result, strategy, each)
    if level is None or result.data.totals != "team-scores":
        return None if level is None else result.data.on_scale(level)
    pairs, teams = _pairs_and_teams(strategy)
    return result.data.on_scale(level) * pairs / teams


def _pairs_and_teams(strategy: Strategy) -> tuple[int, int]:
    """Return how many pairs there are in all teams of several people, and how many such teams."""
    sizes = strategy.sets.sum(axis=0)
    return int((sizes * (sizes - 1) // 2).sum()), int((sizes > 1).sum())


def _points_per_team(result: Result) -> float | None:
    """Return how much of a team's score one point of a person is, then and now; None where that is not one number."""
    if not tells_scores(result) or result.data.totals != "team-scores":
        return 1.0 if tells_scores(result) else None
    both = (result.strategy, *([] if result.today is None else [result.today.strategy]))
    counts = [_pairs_and_teams(one) for one in both]
    people = result.strategy.n_agents if result.rules.staff is None else len(result.rules.staff)
    return people / (2 * counts[0][1]) if len(set(counts)) == 1 and counts[0][1] else None


def own_scores(result: Result, agent: str) -> str:
    """Return what the teams of somebody are expected to score, where scores of teams were seen; else ""."""
    levels = team_levels(result) if result.data.totals in TEAM_SCORES else {}
    told = []
    for name in result.strategy.actions[agent] if levels else ():
        level, _, likely_to_be = levels.get(name, "").partition(", ")
        if level:
            told.append(f"{name} is expected to score {_with_unit(level, result)}{_aside(likely_to_be)}")
    return f"{'; '.join(told)}." if told else ""


def _aside(*notes: str) -> str:
    told = [one for one in notes if one]
    return f" ({'; '.join(told)})" if told else ""


AVERAGE = "the average of the table"


def what_neutral_is(result: Result) -> str:
    """Return what the neutral point stands for."""
    less = ", less is better" if result.data.lower_is_better else ""
    what = AVERAGE if neutral_is_average(result) else "as good as being alone"
    return f"{number(result.data.neutral)} is {what}{less}"


def neutral_is_average(result: Result) -> bool:
    """Return whether the neutral point is the average of the table, and no middle of a scale."""
    data = result.data
    if data.average is None or data.utility_range is None:
        return False
    low, high = data.utility_range
    is_average = abs(data.average - data.neutral) <= ROUNDED * (high - low)
    return is_average and data.neutral != (low + high) / 2


def _worse(result: Result) -> str:
    worse = "worse than" if result.data.lower_is_better else "below"
    return f"{worse} {AVERAGE}" if neutral_is_average(result) else "worse than alone"


ROUNDED = 0.005
"""A neutral point that is an average was rounded by up to such a share of the range."""


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


# --- What somebody has: one number, with its unit, wherever it is told ---------------------------------


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
    return f"{_with_unit(shown_worth(result, value), result)} {_over_whom(result)}"


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
        of = "per teammate, all teams added up" if several else "per teammate"
    return of


def likely_worth(result: Result, agent: str) -> str:
    """Return where what somebody has is likely to be; "" where nobody knows, or the log contradicts it."""
    ends = result.options[0].person_ranges.get(agent) if result.options else None
    if ends is None or result.contradicted:
        return ""
    value = result.estimate.utility[agent]  # what is sure is stronger than what is believed
    told = shown_ends(result, min(ends[0], value), max(ends[1], value))
    return likely_range(told, str)


def full_teams(result: Result) -> dict[str, str]:
    """Return the teams that have as many members as the rules allow, and how to say so."""
    return {
        name: f"which is full ({members} of at most {size.max})"
        for name, members, size in _sized(result)
        if size.max is not None and members >= size.max
    }


def teams_to_stay_in(result: Result) -> dict[str, str]:
    """Return the teams that nobody may just leave, as too few would be left behind, and how to say so."""
    return {
        name: f"which would be smaller than {size.min} without them"
        for name, members, size in _sized(result)
        if result.rules.left_behind != "free" and 1 <= members <= size.min and not (size.or_empty and members == 1)
    }


def _sized(result: Result) -> Iterator[tuple[str, int, TeamSize]]:
    """Yield the teams of which the rules say a size, how many are in them, and that size."""
    if result.strategy.is_pure:
        sizes = result.rules.team_size
        for name, members in result.strategy.members().items():
            if (size := sizes.get(name, sizes.get(EACH))) is not None:
                yield name, len(members), size


def rules_told(result: Result) -> list[str]:
    """Return every rule that was kept, or is to be, in a few words."""
    return result.rules.told(result.strategy.agents, result.strategy.coalitions)


# --- Teams --------------------------------------------------------------------------------------------


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
    return f"expected {result.unit} per teammate" if result.unit else "expected per teammate"


def less_well_off(result: Result, *, advise: bool) -> str:
    """Return who has least by the best guess, where that is likely to be, and what would look after them."""
    if not result.options or not result.strategy.is_pure:
        return ""
    values, people = result.estimate.utility, valued(result)
    if len(people) < FEW:
        return ""
    least = min(people, key=lambda agent: values[agent])
    # What is shown as the neutral point is about as good as that, whatever the digits behind.
    is_worse = values[least] < 0 and shown_worth(result, values[least]) != shown_worth(result, 0.0)
    notes = [what_own_part_is(result), likely_worth(result, least), _worse(result) if is_worse else ""]
    seen = [agent for agent in people if not is_guess(result, agent)]
    if least not in seen:
        guess = why_guess(result, least)
        if seen:
            known = min(seen, key=lambda agent: values[agent])
            guess += f"; of those who were, {known} with {shown_worth(result, values[known])}"
        notes.append(guess)
    own = result.strategy.sets[:, result.strategy.sets[result.strategy.agents.index(least)]]
    is_alone = bool((own.sum(axis=0) == 1).all())
    has = "alone" if is_alone else f"with {own_worth(result, values[least])}"
    told = f"Least well off: {least} {has}{_aside(*notes)}"
    told += ", and what is fairest hangs on that guess" if least not in seen and result.goal == "fairness" else ""
    told += "."
    if advise and is_worse and result.goal == "value":
        told += f" {said(goal='fairness')} looks for teams in which whoever has least has more."
    return told


def valued(result: Result) -> list[str]:
    """Return everybody of whom it is known what they have and could have."""
    values = result.estimate.utility
    return [agent for agent in assigned_people(result) if agent in values and agent in result.explanations]


def gains_elsewhere(result: Result) -> dict[str, float] | None:
    """Return who could get a better place, and what they would gain; None where nobody knows.

    One rule, wherever they are counted: by the best guess, the best that they could do gains them more than a little.
    """
    people = valued(result)
    if not people or not result.strategy.is_pure:
        return None
    low, high = result.data.utility_range or (0.0, 0.0)
    return {
        agent: other.estimated_gain
        for agent in people
        if (other := result.explanations[agent].alternative) is not None
        and other.estimated_gain > max(LITTLE * (high - low), SMALLEST)
    }


def better_places(result: Result) -> str:
    """Return how many people could get a better place, as guesses err and by the best guess, and who most of all."""
    gains = gains_elsewhere(result)
    if gains is None or (result.certificate.gap == 0 and not gains) or len(valued(result)) < FEW:
        return ""  # the promise says it
    who, by = f"{len(valued(result))} people", STEPS[result.stability]
    guess = str(len(gains)) if gains else "nobody"
    whom = _aside(_gains_most(result, gains)) if gains else ""
    if likely := likely_better(result):
        return (
            f"With {percent(RANGE)} probability, {likely} of {who} could get a better place {by}; by the best guess, "
            f"{guess}{whom}."
        )
    return f"By the best guess, {f'{guess} of {who}' if gains else guess} could get a better place {by}{whom}."


def _gains_most(result: Result, gains: Mapping[str, float]) -> str:
    most = max(gains, key=lambda agent: gains[agent])
    by = signed(gains[most], places_of_people(result)).removeprefix("+")
    by = by if float(by) else f"{gains[most]:.2f}"
    other = result.explanations[most].alternative
    by = f"{by} or more" if other is not None and len(other.movers) > 1 else by  # as much as whoever gains least
    return f"{most} most, who would gain {by}" if len(gains) > 1 else f"{most}, who would gain {by}"


def likely_better(result: Result) -> str:
    """Return how many could get a better place as guesses err; "" where that is no news, or nobody knows."""
    ends = result.options[0].elsewhere if result.options else None
    if ends is None or result.contradicted or result.certificate.gap == 0:
        return ""
    low, high = (min(end, len(valued(result))) for end in ends)
    if low == high == len(gains_elsewhere(result) or ()):
        return ""
    return str(low) if low == high else f"{low} to {high}"


FEW = 3
"""Of fewer people everybody is seen at a glance."""


def _with_unit(amount: str, result: Result) -> str:
    """Return an amount with the unit behind its number: 0.5 stars, 0.5 errors better."""
    shown, *word = amount.split(" ")
    return " ".join([shown, *([result.unit] if result.unit else []), *word])


def against_today(result: Result) -> str:
    """Return what is expected to be better than today; where nobody said what that is, than teams drawn by lot."""
    told = improvement(result)
    if told is None:
        return ""
    amount, notes = told
    who = f"; {who_changes(result)}" if result.today is not None else ""
    return f"Against {what_is_compared(result)}: {amount} {per_whom(result)} expected{_aside(*notes)}{who}."


def improvement(result: Result) -> tuple[str, list[str]] | None:
    """Return what is better than before with its unit, and how sure that is; None where there is nothing to compare."""
    better = _better(result)
    if better is None:
        return None
    expected, ends, sure = better
    if per_whom(result) == PER_TEAM:
        points = _points_per_team(result) or 1.0
        expected, ends = points * expected, (points * ends[0], points * ends[1])
    places = decimals(ends)
    notes = [likely_range(ends, lambda end: shown_gain(result, end, places))]
    if sure is not None and not result.contradicted and signed(expected, places).startswith("+"):
        notes.append(f"an improvement with {chance(sure)} probability")
    return _with_unit(shown_gain(result, expected, places), result), notes


def _better(result: Result) -> tuple[float, tuple[float, float], float | None] | None:
    """Return by how much it is expected to be better than before, its range, and how probable it is that it is."""
    if result.today is not None:
        return result.today.expected_improvement, result.today.range, result.today.chance
    return None if result.by_lot is None else (result.by_lot.expected, result.by_lot.range, result.by_lot.chance)


def what_is_compared(result: Result) -> str:
    """Return what the recommendation is compared with, and what a teammate is expected to be worth there."""
    what = "teams of the same sizes drawn by lot" if result.today is None else what_today_is(result)
    better = _better(result)
    if better is None or not result.options:
        return what
    before = result.strategy if result.today is None else result.today.strategy
    level = per_teammate(result, before, result.options[0].expected_value - better[0])
    if level is None:
        return what
    limits = result.options[0].expected_range or ()
    if tells_scores(result):
        if _points_per_team(result) is None:
            return what  # sums over more pairs, or fewer, are not compared
        score = mean_score(result, before, result.options[0].expected_value - better[0]) or 0.0
        scores = sorted(mean_score(result, result.strategy, end) or 0.0 for end in limits)
        return f"{what} ({_with_unit(f'{score:.{decimals(scores)}f}', result)} per team)"
    ends = [per_teammate(result, result.strategy, end) or 0.0 for end in limits]
    return f"{what} ({_with_unit(shown_level(result, level, decimals(ends)), result)} per teammate)"


def who_changes(result: Result) -> str:
    """Return how many people are to be elsewhere than today, and how many get a place who have none."""
    assert result.today is not None
    told = f"{counted(result.today.moves, 'person changes', 'people change')} something"
    more = sum(not change.before for change in result.today.changes)
    return f"{told}, and {more} more {'gets' if more == 1 else 'get'} a place" if more > 0 else told


def why_worse(result: Result, agent: str) -> str:
    """Return why somebody is worse off than today, and what it brings to whom; "" where they visibly are not."""
    losses = () if result.today is None else result.today.losses
    one = next((loss for loss in losses if loss.agent == agent), None)
    if one is None or not shown_change(result, -one.expected).strip("0."):
        return ""
    return one.told(lambda worth: shown_worth(result, worth), lambda gain: _amount(result, gain))


def _amount(result: Result, gain: float) -> str:
    """Return how much somebody gains or loses, without a sign, and never nothing."""
    shown = f"{abs(gain):.{places_of_people(result)}f}"
    return shown if float(shown) else f"{abs(gain):.2g}"


def what_today_is(result: Result) -> str:
    """Return what is compared with: today's teams, without those who left, if anybody in them did."""
    assert result.today is not None
    return "today's teams without those who left" if result.today.left else "today"


def per_whom(result: Result) -> str:
    """Return what an improvement is counted by: by teammate where everybody has one team with others, then and now."""
    people = np.isin(result.strategy.agents, assigned_people(result))

    def have_others(strategy: Strategy) -> bool:
        sets = strategy.sets[people]
        return bool((sets.sum(axis=1) == 1).all() and (strategy.sets.sum(axis=0) != 1)[sets.any(axis=0)].all())

    every = (result.strategy, *([] if result.today is None else [result.today.strategy]))
    if all(map(have_others, every)) and _points_per_team(result) is not None:
        return PER_TEAM
    if result.value != "average":
        return "per person over all teammates"
    return "per teammate" if all(map(have_others, every)) else "per person"


PER_TEAM = "per team"


TOO_LITTLE = "There are too few data to prove that nobody could get a better place"

REALISTIC = 10
"""Nobody waits for a log that is more than so many times as long."""

HELPFUL = 3
"""So many pairs are named of whom more data would help."""

NEXT = "Next: form them, go on recording, and run this again with the longer table."

NOTHING_SURE = f"{TOO_LITTLE}: these teams are a best guess, and what is known are the ranges above. {NEXT}"

NOTHING_KNOWN = (
    f"{TOO_LITTLE}, and no ranges are known either: these teams are a best guess, and may well be worth less than "
    f"expected, as the best of many uncertain guesses often is. {NEXT}"
)


def nothing_sure(result: Result) -> str:
    """Return what to make of teams of which nothing is certified: those that were given are nobody's guess."""
    if not result.options:
        return f"{TOO_LITTLE}."
    return NOTHING_SURE if has_range(result) else NOTHING_KNOWN


def more_needed(result: Result) -> str:
    """Return how much more would be needed to certify something, as an extrapolation; "" where nobody knows."""
    more, now = result.more_samples, result.data.samples
    if more is None or not now:
        return ""
    if not math.isfinite(more):
        if result.coverage is not None and not result.coverage.is_enough:
            return (
                "More rounds in which the same people are together would not do: what is missing are people who were "
                "never together, or seldom."
            )
        return f"Even {LONGEST:,} times as many rounds like these would not prove anything of use."
    about = (
        f"up to about {rounded(more):,} more rounds like the {now:,} so far to promise anything of use (an "
        "extrapolation; fewer where everybody meets everybody)"
    )
    if more > REALISTIC * now:
        return f"It would take {about}: more than is realistic."
    return f"It would take {about}."


def rounded(amount: float) -> int:
    """Return an amount to two digits: what is about so much is not known more closely."""
    digits = max(0, len(str(int(amount))) - 2)
    return int(round(amount, -digits))


def what_is_sure(result: Result) -> str:
    """Return the promise; where there is none one line, what to make of that and what would help."""
    is_open = result.says_nothing and math.isfinite(result.certificate.gap)
    return (
        nothing_sure(result) if is_open else " ".join(filter(None, (result.sentence(witness=False), how_much(result))))
    )


SHARES = {
    0.225: "a fifth",
    0.29: "a quarter",
    0.42: "a third",
    0.58: "half",
    0.71: "two thirds",
    0.85: "three quarters",
}
"""Shares in words, up to which they are called so."""

MUCH = 0.175
"""A promise that is a larger share of what the scale says by itself is told with that share."""


def how_much(result: Result) -> str:
    """Return how much a promise is of what the scale says by itself, where it is much: a number does not show that."""
    found = result.certificate
    share = found.gap / result.range_gap if result.range_gap else 0.0
    # What newcomers may gain is told beside what all others may.
    if not MUCH < share <= 1 or result.says_nothing or found.known_gap is not None:
        return ""
    words = next((f"about {name}" for end, name in SHARES.items() if share <= end), "nearly all")
    is_expected = found.worst is not None and found.worst.estimated_gain >= found.gap / 2
    more = "" if is_expected else "; more rounds can make it smaller"
    return f"That is {words} of what the scale would let anybody gain at all{more}."


def what_values_are(result: Result) -> str:
    """Return what the values of people are, in a few words."""
    return f"value: {unit_of_people(result)}; {what_zero_is(result)}"


def what_worths_are(result: Result) -> str:
    """Return what the values of people and of single teammates are, in a few words."""
    unit = f"in {result.unit}; " if result.unit else ""
    of = "a team is worth the average of its teammates"
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
    return f"0 is {AVERAGE if neutral_is_average(result) else 'as good as being alone'}{more}"


def what_options_are(result: Result) -> str:
    """Return what options are, and what their values are counted in."""
    if options_tell_scores(result):
        unit = f"{result.unit} " if result.unit else ""
        over = "people" if result.value == "average" else "teams"
        # On one scale both are turned round, which is said once.
        less = ", less is better" if result.data.lower_is_better and not is_on_scale(result) else ""
        counted_in = f"{unit}per team, on average over {over}{less}; least well off {OWN_PART}, {what_zero_is(result)}"
    else:
        counted_in = f"{unit_of_people(result)}, on average over people; {what_zero_is(result)}"
    return f"Options, none of them better than another in everything ({counted_in})"


def why_recommended(result: Result) -> str:
    """Return by which rule the recommendation was taken among the options; "" in files that do not say."""
    why = result.options[0].why if result.options else ""
    return f"Recommended: {why}." if why else ""


def shown_value(result: Result, agent: str) -> str:
    """Return what somebody's place is expected to be worth, and whether that is a guess."""
    guess = f" ({GUESS})" if is_guess(result, agent) else ""
    return f"{shown_worth(result, result.estimate.utility[agent])}{guess}"


def is_guess(result: Result, agent: str) -> bool:
    """Return whether what somebody's place is worth is a guess: they were never seen with anybody who is there."""
    return bool(why_guess(result, agent))


def why_guess(result: Result, agent: str) -> str:
    """Return that it is a guess and why, in a few words; "" where it is none."""
    one = result.explanations.get(agent)
    unseen = "" if one is None else one.unseen
    return unseen or (f"{GUESS}: never seen with anybody there" if agent in result.certificate.newcomers else "")


def who_stays(result: Result) -> str:
    """Return how many surely stay and who is undecided; nothing where there is no such difference."""
    stay, left_out = set(result.certificate.surely_stay), set(result.left_out)
    everybody = [agent for agent in result.strategy.agents if agent not in left_out]
    undecided = [agent for agent in everybody if agent not in stay]
    chose = [agent for agent in stay if agent not in result.explanations or result.explanations[agent].alternative]
    if not chose or not undecided:  # who has no choice stays anyway
        return ""
    sure = f"(with {percent(1 - result.certificate.delta)} confidence, all of them together)"
    return (
        f"Proven to have nothing to gain: {len(stay)} of {len(everybody)} {sure}; not proven, whether they could "
        f"get a better place or not: {some(undecided, NAMED)}."
    )


def vacuous(result: Result) -> str:
    """Return a warning where the promise needs no data."""
    if not result.is_vacuous:
        return ""
    return (
        "That nobody gains by moving is so whatever the data say: what people could do under these rules and choices "
        "is never worth more than what they have. It is no sign of good teams."
    )


def likely(result: Result) -> str:
    """Return what is likely and no promise, where that says more than the certificate."""
    if result.says_nothing or result.likely is None or f"{result.likely:.3g}" == f"{result.certificate.gap:.3g}":
        return ""
    return f"Likely, but not proven: {result.nobody_gains(result.likely)}."


def tightest_case(result: Result) -> str:
    """Return who comes closest to gaining by moving, or gains most at most; "" where nobody has a choice."""
    worst = result.certificate.worst
    return "" if worst is None else f"The tightest case of that is {worst.agent} {result.moving(worst)}."


def kind_of_proof(result: Result, *, commands: bool = True) -> str:
    """Return why the certificate is what it is, and why other `commands` say something else of the same teams."""
    method, others = result.certificate.method, result.certificates
    given = result.solver.status == "given"
    paired = others.get("paired")
    if method == "holdout" and not given:
        proven = "Proven on rounds that were set aside while the teams were chosen."
        if not commands or paired is None or paired == result.certificate.gap:
            return proven
        return (
            f"{proven} Of the same teams certify and coverage say {_gap(paired)}: they take any teams, also such as "
            "were chosen on the very rounds that certify, and must allow for that."
        )
    if method == "holdout":
        return "Proven for teams that were fixed without looking at these outcomes."
    if method == "paired" and given:
        return FOR_ANY_TEAMS if commands else ANY_TEAMS
    if method == "paired":
        return "Proven for all teams at once, so it does not matter that the same rounds chose these."
    return "Proven by the published method."


def _gap(gap: float) -> str:
    return "0" if gap == 0 else f"{gap:.3g}"


def what_would_help(result: Result) -> list[str]:
    """Return what data would help most, from the pairs that the tightest case hangs on, a sentence for each team.

    Where nothing is proven the tightest case is anybody's: pairs help then of whom the guess knows nothing directly.
    """
    worst = result.certificate.worst
    if result.certificate.gap == 0 or worst is None:
        return []
    if result.says_nothing:
        together = result.together
        pairs = [] if together is None else together.pairs_named(pooled=result.data.pool_coalitions)[:HELPFUL]
        return [f"outcomes of those who were never seen together: {', '.join(pairs)}"] if pairs else []
    by_team: dict[str, list[Doubt]] = {}
    for doubt in worst.doubts[:HELPFUL]:
        by_team.setdefault("" if result.data.pool_coalitions else f" in {doubt.coalition}", []).append(doubt)
    return [
        f"more outcomes of {worst.agent}{where} with {some([one.partner for one in doubts], HELPFUL)} (uncertain by "
        f"{'up to' if len(doubts) > 1 else 'about'} {max(one.error for one in doubts):.2g})"
        for where, doubts in by_team.items()
    ]


def people_rows(result: Result) -> list[list[Any]]:
    """Return a header and a row for everybody: where they are, what it is worth, and what would be best instead.

    Where a value is a guess, a column says so.
    """
    sure = set(result.certificate.surely_stay)
    changes = () if result.today is None else result.today.changes
    reasons = {one.agent: one.why(lambda worth: shown_worth(result, worth)) for one in changes}
    ends = not result.says_nothing
    guessed = {agent for agent in assigned_people(result) if is_guess(result, agent)}
    rows: list[list[Any]] = [
        ["person", "teams", *(["today", "why"] if result.today else []), "value",
         *(["known"] if guessed else []), "best alternative", "better by" if result.data.lower_is_better else "change",
         *(["at least", "at most"] if ends else []), *(["surely stays"] if ends or sure else [])]
    ]  # fmt: skip
    for agent in assigned_people(result):
        one = result.explanations.get(agent)
        other = None if one is None else one.alternative
        before = [] if result.today is None else [_joined(result.today.strategy, agent), reasons.get(agent, "")]
        last: list[Any] = [""] * (4 if ends else 2)
        if other is not None:
            low = None if one is None else one.least
            last = [
                result.step(other),
                other.estimated_gain,
                *(["" if low is None else low, other.bound] if ends else []),
            ]
        stays = "yes" if agent in sure else "not counted" if agent in result.left_out else "open"
        own = result.estimate.utility.get(agent)
        value: list[Any] = ["" if own is None else scaled(result, own)]
        if guessed:
            value.append(why_guess(result, agent) or "seen together")
        rows.append(
            [agent, _joined(result.strategy, agent), *before, *value, *last, *([stays] if ends or sure else [])]
        )
    return rows


def _joined(strategy: Strategy, agent: str) -> str:
    if strategy.is_pure:
        return " + ".join(strategy.actions[agent]) or "nothing"
    return "; ".join(
        f"{' + '.join(option['coalitions']) or 'nothing'} {option['probability']:.1%}"
        for option in strategy.actions[agent]
    )
