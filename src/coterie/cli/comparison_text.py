"""What `compare` and `what-if` print."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from coterie.cli.output import FEW_WARNINGS, aligned, printable, results, short, show_json, warned, wrapped
from coterie.words import GUESS, chance, counted, decimals, said

if TYPE_CHECKING:
    from coterie.learn.comparison import Amount, Comparison, Person, Score

LIKELY = 0.8
"""A change of which the sign is at least so probable is called likely."""


def show(found: "Comparison", *, as_json: bool, details: bool, legend: str = "") -> None:
    """Print a comparison, with all warnings if `details`."""
    if as_json:
        show_json(found.to_json())
        return
    for line in _lines(found, legend, details=details):
        results.print(printable(line))


def _lines(found: "Comparison", legend: str, *, details: bool) -> Iterator[str]:
    for text in (*found.broken(), found.sentence(), found.guesses()):
        yield from wrapped(text, "", "")
    if found.is_contradicted:
        yield from wrapped(
            "But the log contradicts what the intervals take for granted, so they may be wrong: see the warnings.",
            "",
            "",
        )
    is_sure = not found.says_nothing and found.one.strategy != found.two.strategy
    for text in (legend, *((found.meaning(), found.stable()) if is_sure else ())):
        if text:
            yield from wrapped(text, "", "")
    yield ""
    yield from _together(found)
    yield ""
    if found.one.scores and found.two.scores:
        yield from _scores(found)
        yield ""
    yield from _people(found)
    yield from warned([found.called(warning) for warning in found.warnings], details=details)
    if not details and (hidden := len(found.warnings[FEW_WARNINGS:])):
        yield from ("", f"{said(details=True)} prints {counted(hidden, 'more warning')}.")


def _together(found: "Comparison") -> Iterator[str]:
    """Yield what both are worth per person."""
    n = max(1, found.n_counted)
    rows = [["", "expected", *([] if found.says_nothing else ["at least", "at most"])]]
    for name, amount in ((found.one.label, found.one.value), (found.two.label, found.two.value)):
        each = amount / n
        rows.append([name, found.shown(each.expected), *([] if found.says_nothing else found.ends(each))])
    rows.append(["difference", *_numbers(found, found.per_person, found.changed_by)])
    people = counted(found.n_counted, "person", "people")
    yield f"What both are worth ({found.counted_in}; mean of {people})"
    yield from aligned(rows, left=(0,))
    if found.left_out:
        yield from wrapped(f"Not counted: {', '.join(short(name) for name in found.left_out)}.")


def _scores(found: "Comparison") -> Iterator[str]:
    """Yield what the teams of both are expected to score, where that differs."""
    one, two = found.one.scores, found.two.scores
    every = [*one, *(name for name in two if name not in one)]
    told = [name for name in every if one.get(name) != two.get(name)]
    places = decimals(*(score.range for side in (one, two) for score in side.values() if score.range))

    def shown(score: "Score | None") -> str:
        if score is None:
            return "-"
        likely = f" (likely {score.range[0]:.{places}f} to {score.range[1]:.{places}f})" if score.range else ""
        return f"{score.expected:.{places}f}{likely}"

    names = dict(zip(every, found.teams(every), strict=True))
    rows = [[short(names[name]), shown(one.get(name)), shown(two.get(name))] for name in told]
    yield f"What teams are expected to score{f', in {found.unit}' if found.unit else ''}"
    yield from aligned([["team", found.one.label, found.two.label], *rows], left=(0, 1, 2))
    if len(told) < len(every):
        yield f"  {counted(len(every) - len(told), 'team')}: nothing changes"


def _numbers(found: "Comparison", amount: "Amount", shown: Callable[[float], str]) -> list[str]:
    """Return what is expected, and what is sure where that says something."""
    ends = [] if found.says_nothing else [amount.low, amount.high]
    return [shown(amount.expected), *(shown(end) for end in ends)]


ORDER = ("loses", "gains", "unclear", "same")
"""Whoever surely loses comes first."""


def _people(found: "Comparison") -> Iterator[str]:
    def matters(person: "Person") -> tuple[int, float]:
        return ORDER.index(person.verdict), -abs(person.change.expected)

    def change(amount: float) -> str:
        return found.changed_by(amount, 2)

    # Where teams are interchangeable, another name for the same teammates is no change.
    told = [one for one in found.people if one.verdict != "same" or (one.before != one.after and not found.pooled)]
    one, two = found.one.label, found.two.label
    rows = [["person", f"in {one}" if one != "before" else one, f"in {two}" if two != "after" else two,
             "change", *([] if found.says_nothing else ["at least", "at most"]), ""]]  # fmt: skip
    for person in sorted(told, key=matters):
        name = short(person.agent) if person.is_counted else f"{short(person.agent)} (not counted)"
        after = "the same" if person.before == person.after else _shown(found.teams(person.after))
        rows.append(
            [name, _shown(found.teams(person.before)), after, *_numbers(found, person.change, change), _word(person)]
        )
    part = " (their own part in the score: their pairs with the others there)" if found.tells_scores else ""
    yield f"Who gains, who loses{f', in {found.unit}' if found.unit else ''}{part}"
    if told:
        yield from aligned(rows, left=(0, 1, 2, len(rows[0]) - 1))
    unchanged = sum(one.is_counted and one not in told for one in found.people)
    if unchanged:
        yield f"  {counted(unchanged, 'person', 'people')}: nothing changes"


def _word(person: "Person") -> str:
    if person.verdict != "unclear":
        return {"gains": "surely gains", "loses": "surely loses", "same": ""}[person.verdict]
    if person.is_new:
        return f"new: {GUESS}"
    if person.chance is None:
        return "open"
    if person.chance >= LIKELY:
        return f"likely gains ({chance(person.chance)})"
    if person.chance <= 1 - LIKELY:
        return f"likely loses ({chance(1 - person.chance)})"
    return "open"


def _shown(coalitions: Sequence[str]) -> str:
    return ", ".join(short(name) for name in coalitions) or "nothing"
