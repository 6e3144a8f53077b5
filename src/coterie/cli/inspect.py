"""`coterie inspect`: what is in a log, and what is missing or suspicious."""

from collections.abc import Iterator
from typing import Annotated

import typer

from coterie.cli.log_options import reads_log
from coterie.cli.output import results, show_json
from coterie.log import Log
from coterie.log.inspection import Inspection, inspect_log
from coterie.log.schema import interval, number

MAP_AGENTS = 40
"""Up to so many agents, meetings are drawn as a map; above, the rarest are listed."""

SHADES = " .:-=+*#%@"
BAR = 40


@reads_log
def command(
    log: Log,
    *,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Show what is in a log: who met how often, coalition sizes, utilities, and what seems odd."""
    inspection = inspect_log(log)
    if json:
        show_json(inspection.to_json())
        return
    for line in _lines(inspection):
        results.print(line, markup=False)


def _lines(seen: Inspection) -> Iterator[str]:
    log = seen.log
    kind = "symmetric" if log.symmetric else "asymmetric"
    yield f"{log.feedback} log, {kind}, {log.rows:,} rows in {log.tables[-1]}"
    pooled = " (interchangeable)" if log.pool_coalitions else ""
    yield f"{seen.n_samples:,} samples, {len(log.agents):,} agents, {len(log.coalitions):,} coalitions{pooled}"
    declared = "none declared" if log.utility_range is None else interval(*log.utility_range)
    yield (
        f"utilities from {number(seen.extent[0])} to {number(seen.extent[1])}, mean {seen.mean:.4g}; "
        f"range {declared}, neutral {number(log.neutral)}"
        + ("" if log.sigma is None else f", sigma {number(log.sigma)}")
    )
    yield from ("", "Utilities" if log.feedback == "semi-bandit" else "Totals")
    largest = max(seen.counts)
    for low, high, count in zip(seen.edges, seen.edges[1:], seen.counts, strict=False):
        bar = "#" * round(BAR * count / largest)
        yield f"  {low:>10.4g} to {high:<10.4g} {bar} {count:,}" if count else f"  {low:>10.4g} to {high:<10.4g}"
    yield from ("", "Sizes (members: samples)")
    width = max(len(name) for name in seen.teams)
    for name, sizes in seen.teams.items():
        yield f"  {name:<{width}}  " + "  ".join(f"{size}: {count:,}" for size, count in sizes.items())
    yield ""
    yield f"Meetings: {seen.pairs_met:,} of {seen.pairs_possible:,} pairs of agents met"
    yield from _map(seen) if len(log.agents) <= MAP_AGENTS else _table(seen)
    yield from ("", "Missing or suspicious")
    yield from (f"  - {finding}" for finding in seen.findings or ("nothing",))


def _map(seen: Inspection) -> Iterator[str]:
    """Draw how often each two agents met, darker for more often."""
    met, agents = seen.matrix(), seen.log.agents
    most = max(int(met.max()), 1)
    width = max(len(name) for name in agents)
    for i, name in enumerate(agents):
        shades = (
            "\\" if i == j else SHADES[-(-int(met[i, j]) * (len(SHADES) - 1) // most)] for j in range(len(agents))
        )
        yield f"  {name:<{width}}  " + " ".join(shades)
    yield f"  from '{SHADES[1]}' (at least once) to '{SHADES[-1]}' ({most:,} times); blank: never"


def _table(seen: Inspection) -> Iterator[str]:
    """List the pairs that met least often."""
    yield "  the rarest:"
    yield from (f"  {met:>8,}  {i} and {j}" for i, j, met in seen.rarest(MAP_AGENTS // 2))
