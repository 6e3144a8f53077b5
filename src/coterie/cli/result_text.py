"""What `learn`, `certify` and `demo` print of a result, and how they hand it over."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from coterie.cli.output import FEW_WARNINGS, aligned, at_work, printable, results, short, show_json, warned, wrapped
from coterie.cli.targets import Target, say_written, write_all
from coterie.learn.amounts import (
    likely_worth,
    own_scores,
    own_worth,
    shown_change,
    shown_ends,
    shown_worth,
    team_levels,
    what_levels_are,
    what_values_are,
    what_worths_are,
)
from coterie.learn.glossary import glossary
from coterie.learn.headline import against_today, ranges_held
from coterie.learn.promises import (
    TOO_LITTLE,
    kind_of_proof,
    likely,
    more_needed,
    tightest_case,
    vacuous,
    what_is_sure,
    what_would_help,
    who_stays,
)
from coterie.learn.summary import (
    assigned_people,
    better_places,
    cut_short,
    full_teams,
    guesses,
    less_well_off,
    listed_teams,
    recommendation,
    rules_told,
    shown_value,
    so_far,
    teams_to_stay_in,
    told_first,
    told_warnings,
    what_options_are,
    why_recommended,
    why_worse,
)
from coterie.learn.team_names import with_team_names
from coterie.words import counted, joined, percent, said

if TYPE_CHECKING:
    from coterie.certificates.certificate import Witness
    from coterie.learn.result import Result
    from coterie.statistics.statistics import Statistics


def deliver(
    result: "Result",
    *,
    target_gap: float | None,
    out: Sequence[Target] = (),
    as_json: bool,
    quiet: bool,
    timed: bool = True,
    details: bool = False,
    explain: str | None = None,
    statistics: "Statistics | None" = None,
) -> int:
    """Write and print a result, in brief or with all `details`; return the exit code."""
    with at_work("Writing", quiet=quiet or not out):
        written = write_all(out, result, statistics)
    if as_json:
        show_json(result.to_json())
    elif explain is not None:
        show_card(result, explain)
    elif not quiet:
        for line in _lines(with_team_names(result), target_gap, timed=timed, details=details):
            results.print(printable(line))
    say_written(written, quiet=quiet)
    if len(written) < len(out):
        return 1
    if result.solver.status == "interrupted":
        return 130
    return 3 if target_gap is not None and not result.certificate.gap <= target_gap else 0


def show_card(result: "Result", agent: str) -> None:
    """Print everything about one person."""
    for line in card(with_team_names(result), agent):
        results.print(printable(line))


def card(result: "Result", agent: str) -> Iterator[str]:
    """Yield one person's card: where they are, what it is worth with whom, and what would be best instead."""
    from coterie.learn.explain import explain

    if agent not in assigned_people(result):
        yield f"{printable(agent)} is not on the staff, and has no place."
        return
    limits = not result.says_nothing
    likely_to_be = likely_worth(result, agent)
    found = explain(result, agent)
    if result.data.pool_coalitions:  # all empty ones are the same, and worth nothing
        found = replace(found, rooms=tuple(room for room in found.rooms if room.joined or room.seen is not None))
    verdict, *rooms = found.told(
        limits=limits,
        worth=lambda value: shown_worth(result, value),
        change=lambda value: shown_change(result, value),
        ends=lambda low, high: shown_ends(result, low, high),
        about={
            room.coalition: text
            for room in found.rooms
            if (text := (teams_to_stay_in if room.joined else full_teams)(result).get(room.coalition))
        },
        own=f"{own_worth(result, found.value)}{f' ({likely_to_be})' if likely_to_be else ''}",
    )
    yield from wrapped(printable(own_scores(result, agent)), "", "")
    yield from wrapped(verdict, "", "")
    if agent in result.left_out:
        yield "What they could gain is not counted in the promise."
    elif agent in result.certificate.surely_stay:
        yield f"With {percent(1 - result.certificate.delta)} confidence they have nothing to gain."
    elif agent in result.certificate.per_agent and limits:
        most = result.certificate.per_agent[agent]
        yield from wrapped(
            f"With {percent(1 - result.certificate.delta)} confidence nothing they could do gains them more than "
            f"{most:.3g}.", "", "",
        )  # fmt: skip
    elif not limits:
        yield f"{TOO_LITTLE}."
    if result.today is not None and result.today.strategy.is_pure:
        yield f"Today: {_shown(result.today.strategy.actions[agent])}."
        yield from wrapped(printable(why_worse(result, agent)), "", "")
    yield ""
    yield from wrapped(
        f"What each team would be worth to them, and who makes it so ({what_worths_are(result)})", "", "  "
    )
    for room in rooms:
        yield from wrapped(room.strip(), "  ", "    ")


def brief(result: "Result") -> Iterator[str]:
    """Yield the verdict on a pure strategy, and who is in which coalition."""
    yield from map(printable, _verdict(result, None, timed=False, details=False))
    yield ""
    yield from map(printable, _teams(result))


def _lines(result: "Result", target_gap: float | None, *, timed: bool, details: bool) -> Iterator[str]:
    lines = list(_told(result, target_gap, timed=timed, details=details))
    yield from lines
    words = glossary("\n".join(lines)) if details else []
    if words:
        yield ""
        yield "Words"
        for word, meaning in words:
            yield from wrapped(f"{word}: {meaning}", "  ", "    ")


FEW_CHANGES = 12
"""So many of those who change are shown in brief."""


def _told(result: "Result", target_gap: float | None, *, timed: bool, details: bool) -> Iterator[str]:
    yield from _verdict(result, target_gap, timed=timed, details=details)
    if result.strategy.is_pure:
        yield ""
        yield from _teams(result)
    if rules := rules_told(result):
        yield from wrapped(f"Rules: {'; '.join(rules)}.", "", "  ")
    yield from _options(result, details=details)
    yield from _changes(result, None if details else FEW_CHANGES)
    if details or not result.strategy.is_pure:
        yield ""
        yield from _people(result)
    warnings = told_warnings(result)
    yield from warned(warnings, details=details)
    if details:
        yield from _untested(result)
    yield from _help_wanted(result, None if details else 1)
    if not details:
        hidden = len(warnings[FEW_WARNINGS:])
        more = f"{counted(hidden, 'more warning')}, " if hidden else ""
        yield ""
        yield from wrapped(
            f"{said(details=True)} also tells what everybody's place is worth and what would be best for them instead, "
            f"{more}what was not tested, and what the words mean.", "", "",
        )  # fmt: skip


def _untested(result: "Result") -> Iterator[str]:
    """Name the assumptions that could not be tested, in one line."""
    from coterie.assumptions.check import QUESTIONS  # here, since it brings the tests with it

    names = [check.assumption for check in result.checks if check.verdict == "not tested"]
    if names:
        yield ""
        yield from wrapped(f"Not tested: {'; '.join(QUESTIONS.get(name, name) for name in names)}.", "", "  ")


def _verdict(result: "Result", target_gap: float | None, *, timed: bool, details: bool) -> Iterator[str]:
    for text in told_first(result):
        yield from (*wrapped(printable(text), "", ""), "")
    yield from _broken(result)
    for text in (recommendation(result), cut_short(result), so_far(result), result.caveat(), against_today(result)):
        yield from wrapped(text, "", "")
    for text in (less_well_off(result, advise=True), better_places(result), guesses(result), vacuous(result)):
        yield from wrapped(printable(text), "", "")
    yield from wrapped(what_is_sure(result), "", "")
    if (known := result.among_known()) and not result.says_nothing:
        yield from wrapped(printable(known), "", "")
    yield from wrapped(f"({_made_of(result, timed=timed, details=details)})", "", "")
    if details or result.solver.status == "given":  # of teams that were given the promise is the answer
        yield from _proof(result)
    if target_gap is not None:
        reached = result.certificate.gap <= target_gap
        yield f"The target of {target_gap:g} is {'certified' if reached else 'NOT certified'}."


def _proof(result: "Result") -> Iterator[str]:
    """Yield what else is known of gains by moving, how it is proven, and how much more that would take."""
    told = [more_needed(result)]
    if not result.says_nothing:
        told = [tightest_case(result), likely(result), who_stays(result), kind_of_proof(result)]
    if result.solver.guess != "raw":
        told.append(f"(looked for as if {_believed(result.solver.guess)})")
    for text in told:
        yield from wrapped(printable(text), "", "")


def _made_of(result: "Result", *, timed: bool, details: bool) -> str:
    """Return from how much it was made and how, in a few words."""
    how, rounds = result.solver, counted(result.data.samples or 0, "round")
    if not details:
        return "; ".join(filter(None, (f"from {rounds}", ranges_held(result))))
    took = f", {_seconds(how.seconds)}" if timed and how.status != "given" else ""
    about = rounds if result.says_nothing else f"{result.certificate.method} certificate, {rounds}"
    if how.status == "given":
        return about
    ended = "stopped by the time limit" if how.status == "time" else how.status
    return f"{about}, {how.method} search {ended}{took}"


def _broken(result: "Result") -> Iterator[str]:
    """Say first which rules a given assignment breaks."""
    if result.violations:
        yield from wrapped(f"This assignment breaks rules: {'; '.join(result.violations)}.", "", "")


def _options(result: "Result", *, details: bool) -> Iterator[str]:
    """Yield what else there is to choose from, a line each."""
    if len(result.options) < 2:
        return
    from coterie.report.tables import option_rows

    rows = option_rows(result, details=details)
    if len(rows) < 3:  # with nothing but the recommendation there is nothing to choose from
        return
    yield ""
    yield from wrapped(what_options_are(result), "", "  ")
    yield from aligned(rows, left=(0,))
    yield from wrapped(why_recommended(result), "  ", "  ")


def _changes(result: "Result", most: int | None) -> Iterator[str]:
    """Yield who is to be elsewhere than today, and why; of many those to whom it makes most of a difference."""
    if result.today is None or not result.today.changes:
        return
    told = list(result.today.changes)
    some_of = ""
    if most is not None and len(told) > most:
        some_of = f" ({most} of {len(told)}, those for whom most changes)"
        far = sorted(told, key=lambda one: -abs(one.expected or 0.0))[:most]
        told = [one for one in told if one in far]
    yield ""
    yield from wrapped(f"What changes against today ({what_worths_are(result)}){some_of}", "", "  ")
    rows = [
        [short(one.agent), _shown(one.before), _shown(one.after), one.worth(lambda gain: shown_change(result, gain)),
         one.why(lambda worth: shown_worth(result, worth))]
        for one in told
    ]  # fmt: skip
    yield from aligned([["person", "from", "to", "for them", "why"], *rows], left=(0, 1, 2, 4))


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 0.05 else "under 0.1 s"


EFFECTS = {
    "mean": "the average of all",
    "coalition": "the average in its coalition",
    "agents": "what is usual for its coalition and its two members",
    "agents in coalitions": "what is usual for its two members in that coalition",
    "pairs": "what is usual for its coalition and for the two elsewhere",
}
"""What each level of `coterie.estimate.guess` shrinks means towards."""


def _believed(guess: str) -> str:
    """Word the name of a guess for somebody who has seen averages, and nothing else of statistics."""
    level = guess.partition(",")[0]
    if level == "ridge":
        return "each pair were worth what the totals make most likely"
    usual = EFFECTS.get(level, "what is usual for members like its two")
    return f"a pair seen seldom were like {usual}; the promise above takes nothing of the kind for granted"


def _people(result: "Result") -> Iterator[str]:
    strategy, intervals, left_out = result.strategy, result.gain_intervals, set(result.left_out)
    ends = not result.says_nothing
    rows = [["person", "goes to", "value", "best alternative", "change", *(["at least", "at most"] if ends else [])]]
    for agent in assigned_people(result):
        goes = _shown(strategy.actions[agent]) if strategy.is_pure else _mixture(strategy.actions[agent])
        other = _best(result, agent)
        last = ["-", "", *(["", ""] if ends else [])]
        if other is not None:
            least = shown_change(result, intervals[agent][0]) if agent in intervals else ""
            last = [
                result.step(other, short, ", "),
                shown_change(result, other.estimated_gain),
                *([least, shown_change(result, other.bound)] if ends else []),
            ]
        name = f"{short(agent)} (not counted)" if agent in left_out else short(agent)
        rows.append([name, goes, shown_value(result, agent), *last])
    yield from wrapped(f"Who goes where ({what_values_are(result)})", "", "  ")
    yield from aligned(rows, left=(0, 1, 3))


def _best(result: "Result", agent: str) -> "Witness | None":
    """Return what is best by estimate; of a file that does not hold it, what comes closest to paying off."""
    if agent in result.explanations:
        return result.explanations[agent].alternative
    return result.certificate.alternatives.get(agent)


def _shown(coalitions: Sequence[str]) -> str:
    return ", ".join(short(name) for name in coalitions) or "nothing"


def _mixture(options: Sequence[dict[str, Any]]) -> str:
    chances = [(round(option["probability"], 3), option["coalitions"]) for option in options]
    listed = sorted((one for one in chances if one[0] > 0), key=lambda one: -one[0])
    if not listed:
        return f"{counted(len(options), 'set')}, each under 0.1 %"
    return "; ".join(f"{_shown(coalitions)} {percent(chance)}" for chance, coalitions in listed)


def _teams(result: "Result") -> Iterator[str]:
    levels = team_levels(result)
    yield f"Teams (how many people; {what_levels_are(result)})" if levels else "Teams"
    for name, members in listed_teams(result).items():
        if not members and result.data.pool_coalitions:
            continue  # one that has no name of its own, and nobody in it, is none
        listed = joined(members, short)
        about = f"{len(members)}; {levels[name]}" if name in levels else f"{len(members)}"
        yield from wrapped(f"{short(name)} ({about}): {listed}" if members else f"{short(name)}: nobody")


def _help_wanted(result: "Result", most: int | None) -> Iterator[str]:
    wanted = what_would_help(result)[:most]
    if wanted:
        yield from ("", "What would help most")
        for text in wanted:
            yield from wrapped(text, "  - ", "    ")
