"""A result in sentences that need no game theory: what is found, in the units of the log, and what the words mean.

Wherever a result is shown, on the terminal, in a report or in a notebook, these are its words.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from coterie.arrays import BoolArray
from coterie.game.admissible import named_as_today
from coterie.game.rules import EACH, TeamSize
from coterie.game.strategy import Strategy
from coterie.learn.amounts import (
    OWN_PART,
    aside,
    is_on_scale,
    likely_worth,
    options_tell_scores,
    own_worth,
    per_what,
    places_of_people,
    scaled,
    shown_change,
    shown_worth,
    size_of_gain,
    tells_own,
    unit_of_people,
    what_own_part_is,
    what_zero_is,
    with_unit,
    worse_than_neutral,
)
from coterie.learn.headline import expected_worth
from coterie.learn.options import LITTLE, RANGE, SMALLEST
from coterie.learn.result import STEPS, Result
from coterie.learn.warnings import SAYS_NOTHING, SPOILING, TOO_FEW
from coterie.words import GUESS, alphabetical, counted, percent, said, signed


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
    amount = with_unit(level, result)
    return f"So far: {amount} {per_what(result)}, the average of what was read." if level else ""


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


def told_first(result: Result) -> list[str]:
    """Return in sentences the warnings of what would make all of the answer wrong, which come before it."""
    told = []
    for text in result.warnings:
        for begins, then in SPOILING.items():
            if text.startswith(begins):
                told.append(f"Before you read on: {text}.{then}")
    return told


def told_warnings(result: Result) -> list[str]:
    """Return the warnings that nothing else of the summary says already."""
    return [text for text in result.warnings if text != TOO_FEW and not text.startswith(tuple(SPOILING))]


def for_readers(text: str) -> str:
    """Return a sentence without advice on options of commands, for people who have the report alone.

    Examples
    --------
    >>> for_readers("outcomes in Finance depend on its size: use --sizes aware")
    'outcomes in Finance depend on its size'
    >>> for_readers("More is taken to be better: --lower-is-better turns it. Then these are the worst teams.")
    'More is taken to be better. Then these are the worst teams.'
    >>> for_readers("promises allow for it and are weaker; if one has nothing to do with another, say --noise pairs")
    'promises allow for it and are weaker'
    """
    whole = re.sub(r"\s*\([^()]*--[a-z][^()]*\)", "", text)
    kept = []
    for sentence in re.split(r"(?<=[.!?])\s+", whole):
        option = re.search(r"(^|\s|\()--[a-z]", sentence)
        # What is advised begins after the last colon or semicolon before it; without one it is all of the sentence.
        before = sentence if option is None else sentence[: option.start() + 1]
        left = sentence if option is None else before[: max(before.rfind(";"), before.rfind(":"), 0)]
        kept.append(left + "." if left != sentence and left and sentence.endswith(".") else left)
    return " ".join(part for part in kept if part) or text


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
    notes = [what_own_part_is(result), likely_worth(result, least), worse_than_neutral(result) if is_worse else ""]
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
    told = f"Least well off: {least} {has}{aside(*notes)}"
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
    whom = aside(_gains_most(result, gains)) if gains else ""
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


def why_worse(result: Result, agent: str) -> str:
    """Return why somebody is worse off than today, and what it brings to whom; "" where they visibly are not."""
    losses = () if result.today is None else result.today.losses
    one = next((loss for loss in losses if loss.agent == agent), None)
    if one is None or not shown_change(result, -one.expected).strip("0."):
        return ""
    return one.told(lambda worth: shown_worth(result, worth), lambda gain: size_of_gain(result, gain))


def what_options_are(result: Result) -> str:
    """Return what options are, and what their values are counted in."""
    if options_tell_scores(result):
        unit = f"{result.unit} " if result.unit else ""
        over = "people" if result.value == "average" else "teams"
        # On one scale both are turned round, which is said once.
        less = ", less is better" if result.data.lower_is_better and not is_on_scale(result) else ""
        counted_in = f"{unit}per team, on average over {over}{less}; least well off {OWN_PART}, {what_zero_is(result)}"
    else:
        over = "" if tells_own(result) else ", on average over people"
        counted_in = f"{unit_of_people(result)}{over}; {what_zero_is(result)}"
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
