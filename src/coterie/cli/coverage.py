"""`coterie coverage`: is the log enough, what is missing, and what to collect next."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from coterie import checks
from coterie.cli.collecting import Called, collecting, named, proving
from coterie.cli.heat_map import MAP_AGENTS, heat_map
from coterie.cli.log_options import reads_log
from coterie.cli.output import aligned, at_work, results, short, show_json, warn, wrapped
from coterie.cli.team_options import JUDGED, RULES, STAYING, about_teams
from coterie.errors import InputError
from coterie.log import Log
from coterie.statistics.setting import NoiseChoice, Sizes
from coterie.words import counted, joined, said

if TYPE_CHECKING:
    from coterie.arrays import FloatArray
    from coterie.collect import Aim
    from coterie.coverage import Coverage, Direction, PairWitness

LISTED = 10
"""How many pairs and sizes are listed; `--json` has more."""

NAMED = 3
"""How many pairs the verdict names."""

APART = "-"


@reads_log
@about_teams(RULES, STAYING, JUDGED)
def command(
    log: Log,
    *,
    wishes: dict[str, Any],
    change_at_most: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="In each planned round at most so many people are elsewhere than today; needs --today.",
        ),
    ] = None,
    strategy: Annotated[
        Path | None,
        typer.Option(
            help="A result file, its strategy part, or a table (CSV, .xlsx) of who is where; else all profiles."
        ),
    ] = None,
    collect: Annotated[
        int | None, typer.Option(min=1, metavar="M", help="Plan M more rounds that help most; needs --strategy.")
    ] = None,
    target_gap: Annotated[
        float | None,
        typer.Option(metavar="EPS", help="How many more rounds would certify this; exit code 3 if more are needed."),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Plan for a certificate of the new rounds alone.")] = False,
    delta: Annotated[float, typer.Option(help="Certificates hold with probability 1 - delta.")] = 0.01,
    seed: Annotated[int, typer.Option(min=0, help="Where searches start.")] = 0,
    sizes: Annotated[Sizes, typer.Option(help="aware: outcomes may depend on the size of teams.")] = "ignore",
    noise: Annotated[
        NoiseChoice,
        typer.Option(
            help="samples: the pairs of one round may depend on each other; auto: if they seem to. Matters to "
            "certificates alone, so with --collect or --target-gap."
        ),
    ] = "auto",
    min_samples: Annotated[
        int,
        typer.Option(metavar="N", help="Leave people seen in fewer rounds out of what is certified and planned."),
    ] = 0,
    details: Annotated[
        bool, typer.Option("--details", help="Also say how scarce pairs and sizes are, in the paper's coefficients.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> int:
    """Say whether a log is enough for an assignment, what is missing, and what to collect next.

    What is planned keeps the rules; what it is expected to prove is said first, and if that is nothing, the plan is one
    that makes the guess better.
    """
    from coterie.collect.aim import Situation, aim_in
    from coterie.coverage import coverage, scarcest, seen_in
    from coterie.learn.team_names import shown_names

    if strategy is None and (collect is not None or target_gap is not None):
        wanted = f"{said('collect')} and {said('target_gap')} need {said('strategy')}"
        raise InputError(f"{wanted}: the result of coterie learn, or today's teams")
    checks.probability(delta, said("delta"))
    if target_gap is not None:
        checks.number(target_gap, said("target_gap"), at_least=0)
    aims = strategy is not None and (collect is not None or target_gap is not None)
    # Nothing but certificates depends on the noise.
    with at_work("Reading the log"):
        situation = Situation.of(
            log, strategy, sizes=sizes, noise=noise if aims else "pairs", min_samples=min_samples,
            change_at_most=change_at_most, **wishes,
        )  # fmt: skip
    aim = None
    if aims:
        with at_work("Planning rounds"):
            aim = aim_in(situation, collect, target_gap, delta=delta, fresh=fresh, rng=np.random.default_rng(seed))
    for note in situation.notes if aim is None else aim.warnings:
        warn(note)
    given, spaces = situation.strategy, situation.wishes.admissible.chosen_from(situation.spaces)
    seen = seen_in(situation.statistics)
    found = coverage(seen, given, spaces)
    called = shown_names(seen.coalitions, situation.team_names) if seen.pooled else {}
    if json:
        content: dict[str, Any] = {
            "format": "coterie.coverage/1",
            "agents": list(seen.agents),
            "coalitions": list(seen.coalitions),
            "verdict": verdict(found, called),
            "enough": found.is_enough,
            **found.to_json(),
            **({} if aim is None else aim.to_json()),
        }
        show_json(content)
    else:
        rarest = scarcest(seen, given, spaces) if len(seen.agents) <= MAP_AGENTS else None
        for line in _lines(seen.agents, found, rarest, aim, called, details=details):
            results.print(line)
    return 3 if aim is not None and not aim.is_reached else 0


def verdict(found: "Coverage", called: Called) -> str:
    """Return in one sentence whether the log is enough, and if not, why; `called` is empty where teams have names."""
    about = "this assignment" if found.profile != "all" else "every assignment that the actions allow"
    if not found.covers_pairs:
        named = [_never(pair, called, one_way=found.one_way) for pair in found.uncovered_pairs[:NAMED]]
        more = found.n_uncovered_pairs - len(named)
        rest = f"; and {counted(more, 'more rating' if found.one_way else 'more pair')}{_mostly(found)}" if more else ""
        return f"Not enough for {about}: {'; '.join(named)}{rest}."
    if found.assumption_2 is False and found.worst_direction is not None:
        return f"Not enough for {about}: {_hidden(found.worst_direction, called)}."
    what = "can be told from the totals" if found.assumption_2 else "has met"
    every = "every pair that a move can bring together" if found.profile != "all" else "every pair"
    return f"Enough for {about}: {every} {what}; how much that proves depends on how often."


def _mostly(found: "Coverage") -> str:
    """Return who is in most of the pairs that were never seen."""
    people = [short(name) for name, _ in found.uncovered_people[:NAMED]]
    return f" (most of them with {joined(people)})" if people else ""


def _never(pair: "PairWitness", called: Called, *, one_way: bool) -> str:
    size = "" if pair.size is None else f" when it had {counted(pair.size, 'member')}"
    one, two, where = short(pair.agent), short(pair.partner), short(pair.coalition)
    if called:
        size = "" if pair.size is None else f" in a team of {pair.size}"
        return f"{one} never rated {two}{size}" if one_way else f"{one} and {two} were never together{size}"
    if one_way:
        return f"{one} never rated {two} in {where}{size}"
    return f"{one} and {two} were never in {where} together{size}"


def _hidden(direction: "Direction", called: Called) -> str:
    terms = [
        f"{term.weight:+.2g} x {short(term.partner)}{'' if called else f' in {short(term.coalition)}'}"
        for term in direction.terms
    ]
    return f"the totals of {short(direction.agent)} never tell {' '.join(terms)}, which matters to their move"


def _lines(
    agents: Sequence[str],
    found: "Coverage",
    rarest: "FloatArray | None",
    aim: "Aim | None",
    called: Called,
    *,
    details: bool,
) -> Iterator[str]:
    if aim is not None and aim.violations:
        yield from wrapped(f"The assignment breaks rules: {'; '.join(aim.violations)}.", "", "")
    if aim is not None and aim.target is not None:
        yield from wrapped(aim.sentence(), "", "")
    if aim is not None and (plan := list(collecting(aim, called))):  # what to do comes first
        yield from (*plan, "")
    yield from wrapped(verdict(found, called), "", "")
    if aim is not None and not (aim.plan and aim.plan.fresh):
        yield from wrapped(aim.proven(), "", "")
    if aim is not None:
        yield from proving(aim)
    if details:
        yield ""
        yield from _numbers(len(agents), found, called)
    home = "some assignment" if found.profile == "all" else "the assignment itself"
    named_above = aim is not None and aim.forming is not None and named(aim.forming)
    if found.uncovered_pairs and (details or not named_above):
        many = found.n_uncovered_pairs
        title = f"Never rated ({many:,})" if found.one_way else f"Never seen together ({counted(many, 'pair')})"
        yield from ("", title)
        rows: list[tuple[str, ...]] = [
            (*(("who", "whom") if found.one_way else ("pair", "")), "team", "size", "needed by")
        ]
        rows += [
            (
                short(p.agent),
                short(p.partner),
                short(p.coalition),
                "" if p.size is None else str(p.size),
                home if p.deviation is None else _move(p.agent, p.deviation, called),
            )
            for p in found.uncovered_pairs[:LISTED]
        ]
        sized = any(row[3] for row in rows[1:])
        keep = [place for place in range(5) if (place != 2 or not called) and (place != 3 or sized)]
        yield from aligned([[row[place] for place in keep] for row in rows], left=range(5))
        yield from _more(found.n_uncovered_pairs)
    if found.uncovered_sizes and (details or any(pair.size is not None for pair in found.uncovered_pairs)):
        yield from ("", "Sizes that a move can reach and that were never seen")
        rows = [("team", "members", "probability", "needed by")]
        rows += [
            (short(called.get(w.coalition, w.coalition)), str(w.size), f"{w.probability:.2g}",
             home if w.agent is None or w.deviation is None else _move(w.agent, w.deviation, called))
            for w in found.uncovered_sizes[:LISTED]
        ]  # fmt: skip
        yield from aligned(rows, left=(0, 3))
        yield from _more(len(found.uncovered_sizes))
        if all(pair.size is None for pair in found.uncovered_pairs):
            yield from wrapped("This matters only if outcomes depend on the size of a team (--sizes aware).")
    if details and found.worst_direction is not None and not found.worst_direction.is_hidden:
        direction = found.worst_direction
        yield from ("", f"What totals tell least about: {_move(direction.agent, direction.deviation, called)}")
        rows = [
            (f"{term.weight:+.2f}", short(term.partner), *(() if called else ("in", short(term.coalition))))
            for term in direction.terms
        ]
        yield from aligned(rows, left=(1, 2, 3))
    if rarest is not None:
        where = "" if called else ", in the rarest team where a move can bring them together"
        yield from ("", f"How often two people met{where}")
        apart = np.isinf(rarest)
        times = np.rint(np.where(apart, 0.0, rarest) * (found.samples or 1)).astype(np.int64)
        yield from heat_map(agents, times, {APART: (apart, "no move brings them together")})


def _more(count: int) -> Iterator[str]:
    if count > LISTED:
        yield f"  and {count - LISTED:,} more (see --json)"


def _move(agent: str, deviation: tuple[str, ...], called: Called) -> str:
    return f"{short(agent)} moving to {', '.join(short(called.get(name, name)) for name in deviation) or 'nothing'}"


def _numbers(n_agents: int, found: "Coverage", called: Called) -> Iterator[str]:
    yield f"Coverage ({counted(found.samples or 0, 'round')}, {counted(n_agents, 'person', 'people')})"
    rows = [("", "holds", "coefficient", f"{1 - found.delta:.0%} interval", "scarcest")]
    # What never occurred is scarcer than anything that did.
    pair = found.uncovered_pairs[0] if found.uncovered_pairs else found.tightest_pair
    size = found.uncovered_sizes[0] if found.uncovered_sizes else found.tightest_size
    rows.append(
        ("pairs that a move can bring together", _yes(found.covers_pairs), _number(found.c_pair),
         _interval(found.c_pair_interval),
         "" if pair is None else f"{short(pair.agent)}, {short(pair.partner)}"
         + ("" if called else f" in {short(pair.coalition)}"))
    )  # fmt: skip
    rows.append(
        ("sizes that a move can reach (Assumption 1)", _yes(found.assumption_1), _number(found.c_size),
         _interval(found.c_size_interval),
         "" if size is None else f"{'a team' if called else short(size.coalition)} with {size.size}")
    )  # fmt: skip
    from_2 = found.c_size_from_2
    rows.append(("  from 2 members up", _yes(from_2 is not None and from_2 < np.inf), _number(from_2), "", ""))
    if found.assumption_2 is not None:
        bound = "" if found.c_act_is_exact else "at least "
        act = "-" if found.c_act is None else f"{bound}{found.c_act:.3g}"
        rows.append(("what totals tell (Assumption 2)", _yes(found.assumption_2), act, "", ""))
    yield from aligned(rows, left=(0, 1, 4))
    yield from wrapped(
        "A coefficient says how many times likelier a move makes the scarcest pair or size than it was in the log: "
        "1 is the best, inf is not covered"
        + (" (for totals: 1 is the best, 0 is not covered)." if found.assumption_2 is not None else ".")
    )


def _yes(is_so: bool) -> str:  # noqa: FBT001
    return "yes" if is_so else "NO"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def _interval(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f"{interval[0]:.3g} to {interval[1]:.3g}"
