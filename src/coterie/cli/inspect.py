"""`coterie inspect`: what is in a log, and what is missing or suspicious."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

import numpy as np
import typer

from coterie.cli.heat_map import MAP_AGENTS, heat_map
from coterie.cli.log_options import reads_log
from coterie.cli.output import aligned, results, short, show_json, wrapped
from coterie.log import Log
from coterie.log.inspection import POOLED, Inspection, inspect_log
from coterie.words import counted, interval, number

LISTED = 20
"""How many coalitions, and how many pairs, are listed."""

SIZES = 8
"""How many different sizes of a coalition are listed one by one."""

UNRATED = "?"
BAR = 30


@reads_log
def command(
    log: Log,
    *,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Show what is in a log: who met how often, sizes of teams, values, and what seems odd."""
    inspection = inspect_log(log)
    if json:
        show_json(inspection.to_json())
        return
    for line in _lines(inspection):
        results.print(line, markup=False)


def _share(part: int, whole: int) -> str:
    """Return a percentage that says 0% and 100% only where that is exact."""
    return f"{min(max(round(100 * part / whole), 1), 99) if 0 < part < whole else 100 * part // whole}%"


def _lines(seen: Inspection) -> Iterator[str]:
    yield "Summary"
    for sentence in _summary(seen):
        yield from wrapped(sentence)
    yield ""
    yield from _sizes(seen)
    yield ""
    yield "Meetings (two people in the same team of the same round)"
    yield from _map(seen) if len(seen.log.agents) <= MAP_AGENTS else _table(seen)
    yield ""
    yield from _utilities(seen)
    yield from ("", "Missing or suspicious")
    for finding in seen.findings:
        yield from wrapped(short(finding.worded(short), 400), "  - ", "    ")
        if finding.advice:
            yield from wrapped(finding.advice, "    > ", "      ")
    if not seen.findings:
        yield "  nothing"


def _summary(seen: Inspection) -> Iterator[str]:
    log = seen.log
    coalitions = counted(len(log.coalitions), "team") + (" (interchangeable)" if log.pool_coalitions else "")
    yield f"{counted(seen.n_samples, 'round')}, {counted(len(log.agents), 'person', 'people')}, {coalitions}"
    yield f"{_kind(log)}; {counted(log.rows, 'row')} in {log.tables[-1]}"
    yield f"{seen.pairs_met:,} of {counted(seen.pairs_possible, 'pair')} of people met{_how_often(seen)}{_rated(seen)}"
    of_pairs = "" if seen.rated is not None else " of a single pair"
    declared = (
        "no range declared" if log.utility_range is None else f"declared range{of_pairs} {interval(*log.utility_range)}"
    )
    yield (
        f"{_utility_noun(seen)} from {number(seen.extent[0])} to {number(seen.extent[1])}, "
        f"{seen.mean:.4g} on average; {declared}, {number(log.neutral)} is neutral"
        + ("" if log.sigma is None else f", sigma {number(log.sigma)}")
        + (", less is better" if log.lower_is_better else "")
    )
    count = len(seen.findings)
    yield f"{counted(count, 'thing')} to look at, listed at the end" if count else "nothing is missing or suspicious"


def _kind(log: Log) -> str:
    """Return what was seen, in words."""
    if log.of_teams:
        return "the score of each team is known, not what each pair got"
    if log.feedback == "bandit":
        same = "both of a pair get the same: symmetric" if log.symmetric else "each has their own: asymmetric"
        return f"what each person got in all is known, not what each pair got; {same}"
    same = "one number for both: symmetric" if log.symmetric else "each of the two has their own: asymmetric"
    return f"what each pair got is known, {same}"


def _how_often(seen: Inspection) -> str:
    if not seen.pairs_met:
        return ""
    fewest, most = int(seen.meetings.values.min()), int(seen.meetings.values.max())
    times = counted(most, "time")
    return f", each {times}" if fewest == most else f", from {fewest:,} to {times}"


def _rated(seen: Inspection) -> str:
    if seen.rated is None or not seen.n_meetings:
        return ""
    if not seen.unobserved:
        return "; every meeting is rated"
    rated = seen.n_meetings - seen.unobserved
    return (
        f"; {rated:,} of {counted(seen.n_meetings, 'meeting')} ({_share(rated, seen.n_meetings)}) "
        f"{'is' if rated == 1 else 'are'} rated"
    )


def _utility_noun(seen: Inspection) -> str:
    if seen.rated is not None:
        return "values"
    if seen.log.of_teams:
        return "scores of teams"
    if not seen.as_averages:
        return "totals"
    return "averages over teammates" if seen.log.options["totals"] == "team-averages" else "averages over pairs"


def _sizes(seen: Inspection) -> Iterator[str]:
    unit = "teams" if seen.log.pool_coalitions else "rounds"
    yield f"Sizes (how many members, in how many {unit})"
    rows = [("team", unit, "members")]
    for name, sizes in list(seen.teams.items())[:LISTED]:
        used = {size: count for size, count in sizes.items() if size}
        shown = "all" if seen.log.pool_coalitions and name == POOLED else short(name)
        rows.append((shown, f"{sum(used.values()):,}", _listed_sizes(used)))
    yield from aligned(rows, left=(0, 2))
    if len(seen.teams) > LISTED:
        yield f"  and {counted(len(seen.teams) - LISTED, 'more team')} (see --json)"


def _listed_sizes(sizes: Mapping[int, int]) -> str:
    if not sizes:
        return "never used"
    if len(sizes) <= SIZES:
        return ", ".join(f"{size} ({count:,})" for size, count in sizes.items())
    reached = np.cumsum(list(sizes.values()))
    low, high = (list(sizes)[int(np.searchsorted(reached, share * reached[-1]))] for share in (0.25, 0.75))
    return f"{min(sizes)} to {max(sizes)}, half of the time {low} to {high}"


def _map(seen: Inspection) -> Iterator[str]:
    """Draw how often each two agents met."""
    met, rated = seen.matrix(), seen.rated_matrix()
    unrated = np.zeros(met.shape, dtype=bool) if rated is None else (met > 0) & (rated == 0)
    return heat_map(seen.log.agents, met, {UNRATED: (unrated, "met but never rated")})


def _table(seen: Inspection) -> Iterator[str]:
    """Count the pairs by how often they met, and list those that met least often."""
    met, possible = seen.meetings.values[:, 0], seen.pairs_possible
    rows = [("met", "pairs", "")]
    never = possible - seen.pairs_met
    if never:
        rows.append(("never", f"{never:,}", _share(never, possible)))
    low, high = 1, 1
    while low <= met.max(initial=0):
        found = int(((met >= low) & (met <= high)).sum())
        if found:
            name = "once" if high == 1 else f"{low:,} to {high:,} times"
            rows.append((name, f"{found:,}", _share(found, possible)))
        low, high = high + 1, 9 if high == 1 else 10 * high + 9
    yield from aligned(rows, left=(0,))
    rarest = seen.rarest(LISTED)
    yield from ("", f"  The {len(rarest)} pairs that met least often")
    header = ("met", "rated", "people", "")
    listed = [(f"{m:,}", "" if r is None else f"{r:,}", short(i), short(j)) for i, j, m, r in rarest]
    keep = [0, 2, 3] if seen.rated is None else [0, 1, 2, 3]
    lines = [[row[place] for place in keep] for row in (header, *listed)]
    yield from aligned(lines, left=(len(keep) - 2, len(keep) - 1))


def _utilities(seen: Inspection) -> Iterator[str]:
    noun, whole = _utility_noun(seen), sum(seen.counts)
    if len(seen.counts) == 1:
        yield noun.capitalize()
        yield (
            f"  all {whole:,} are {number(seen.edges[0])}"
            if whole != 1
            else f"  the only one is {number(seen.edges[0])}"
        )
        return
    edges, largest = _same_digits(seen.edges), max(seen.counts)
    if seen.of_each:
        yield f"{noun.capitalize()} (how many of each)"
        each = zip(edges, seen.counts, strict=False)
        bars = [(one, f"{count:,}", _share(count, whole), "#" * -(-BAR * count // largest)) for one, count in each]
        yield from aligned(bars, left=(3,))
        return
    yield f"{noun.capitalize()} (how many, from one number to below the next; the last included)"
    rows = [
        (low, "to", high, f"{count:,}", _share(count, whole), "#" * -(-BAR * count // largest))
        for low, high, count in zip(edges, edges[1:], seen.counts, strict=False)
    ]
    yield from aligned(rows, left=(5,))


def _same_digits(values: Sequence[float]) -> list[str]:
    """Return round numbers with as many decimals as the longest needs, unless that would be many."""
    plain = [number(value) for value in values]
    if any("e" in text or "inf" in text for text in plain):
        return plain
    decimals = max(len(text.partition(".")[2]) for text in plain)
    return [f"{value:,.{decimals}f}" for value in values]
