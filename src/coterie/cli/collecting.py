"""How `coterie coverage` words a plan for more samples."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from coterie.cli.output import aligned, short, wrapped
from coterie.words import alphabetical, counted, joined

if TYPE_CHECKING:
    from coterie.collect import Aim, Collection, Forming, Planned, Wanted

Called = Mapping[str, str]
"""What people call coalitions; empty where they go by their names."""

LISTED = 10
"""How many pairs are listed; `--json` has all."""

ASSIGNMENTS = 3
"""How many joint actions are listed."""

TOGETHER = (
    "The plan looked at outcomes. The certificate of the log and the new rounds together takes it that actions "
    "did not; certify the new rounds by themselves (certify NEW STRATEGY --certificate holdout --fresh), and "
    "plan for that with --fresh, to be on the safe side."
)


def collecting(aim: "Aim", called: Called) -> Iterator[str]:
    """Yield who should work together next: the rounds that prove most, or where none prove anything help the guess."""
    plan, rounds = aim.plan, aim.forming.rounds if aim.forming else aim.plan.plan if aim.plan else ()
    if plan is None and aim.forming is None:
        return
    as_if = plan is not None and aim.setting.noise == "samples"
    independent = ", as if outcomes of one round did not go together" if as_if else ""
    many = sum(one.times for one in rounds)
    yield f"What to collect next ({counted(many, 'more round')}{independent})"
    for text in (aim.newcomers(), aim.guessing()):
        yield from wrapped(text)
    if aim.forming is not None:
        yield from _pairs_to_form(aim.forming, called)
        yield from _who(rounds, called)
    elif plan is not None and not plan.needs:
        yield "  nobody has a choice: there is nothing to learn"
    elif plan is not None:
        yield from _pairs(plan, called)
        if aim.is_worthwhile:
            yield from _who(rounds, called)


def proving(aim: "Aim") -> Iterator[str]:
    """Yield what that is expected to prove, and what would prove more."""
    plan = aim.plan
    if plan is not None or aim.forming is not None:
        yield from ("", "What that is expected to prove", *wrapped(aim.buys()))
    if plan is not None and aim.forming is None:
        yield from _numbers(aim, plan)
        if aim.is_worthwhile and plan.needs and not plan.fresh and not aim.setting.adaptive:
            yield from ("", *wrapped(TOGETHER))
    if aim.would_help:
        yield from ("", "What would prove more")
        for one in aim.would_help:
            yield from wrapped(one, "  - ", "    ")


def _pairs_to_form(forming: "Forming", called: Called) -> Iterator[str]:
    """Yield which of the pairs of whom the guess would learn most were seen how often."""
    told = named(forming)[:LISTED]
    if not told:
        return
    yield from ("", "Who should work together, the most telling first")
    rows = [("pair", "", "team", "seen together" if called else "seen together there")]
    rows += [
        (short(one.agent), short(one.partner), short(one.coalition),
         counted(one.seen, "time") if one.seen else "never")
        for one in told
    ]  # fmt: skip
    kept = [0, 1, 3] if called else [0, 1, 2, 3]
    yield from aligned([[row[place] for place in kept] for row in rows], left=range(4))


def named(forming: "Forming") -> list["Wanted"]:
    """Return the pairs of which is known how often they were seen."""
    return [one for one in forming.pairs if one.seen is not None]


def _numbers(aim: "Aim", plan: "Collection") -> Iterator[str]:
    low, high = plan.likely
    rows = [
        ("proven now" if not plan.fresh else "without any data", f"{plan.now:.3g}", ""),
        ("expected by this plan", f"{plan.predicted:.3g}", f"(likely {low:.3g} to {high:.3g})"),
        *([] if plan.today is None else [("expected if all stay", f"{plan.today:.3g}", "(as they are today)")]),
        ("expected at random", f"{plan.random:.3g}",
         "(assignments that are allowed)" if aim.has_rules else "(everybody uniform over their actions)"),
        ("no plan below about", f"{plan.least:.3g}", ""),
    ]  # fmt: skip
    yield from aligned(rows, left=(0, 2))


def _pairs(plan: "Collection", called: Called) -> Iterator[str]:
    """Yield the pairs that tell most."""
    yield from ("", "Who should work together, the most telling first")
    sized = plan.needs[0].size is not None
    rows = [("pair", "", "team", "size", "seen", "planned", "worth of one more")]
    rows += [
        (short(need.agent), short(need.partner), short(need.coalition), str(need.size),
         "-" if need.seen is None else f"{need.seen:,}", f"{need.planned:,}", f"{need.worth:.2g}")
        for need in plan.needs[:LISTED]
    ]  # fmt: skip
    kept = [place for place in range(7) if (place != 2 or not called) and (place != 3 or sized)]
    yield from aligned([[row[place] for place in kept] for row in rows], left=(0, 1) if called else (0, 1, 2))
    if len(plan.needs) > LISTED:
        yield f"  and {len(plan.needs) - LISTED:,} more (see --json)"
    if not called:
        shares = ", ".join(f"{short(name)} {share:.0%}" for name, share in plan.coalitions if share >= 0.005)
        yield from wrapped(f"By team: {shares}")


def _who(rounds: Sequence["Planned"], called: Called) -> Iterator[str]:
    """Yield who should work where."""
    yield from ("", "Who should work where")
    for planned in rounds[:ASSIGNMENTS]:
        members = planned.strategy.members()
        moves = "" if planned.moves is None else f", {counted(planned.moves, 'person moves', 'people move')}"
        times = f"{counted(planned.times, 'time')}{moves}:"
        teams = [
            f"{short(called.get(name, name))}: {joined(alphabetical(team), short)}"
            for name, team in members.items()
            if team
        ]
        if any("," in name for team in members.values() for name in team):  # semicolons part people then
            yield from wrapped(times, "  - ", "    ")
            for team in teams:
                yield from wrapped(team, "    ", "      ")
        else:
            yield from wrapped(f"{times} {'; '.join(teams)}", "  - ", "    ")
    if len(rounds) > ASSIGNMENTS:
        rest = sum(planned.times for planned in rounds[ASSIGNMENTS:])
        others = counted(len(rounds) - ASSIGNMENTS, "more assignment")
        yield f"  and {others} for {counted(rest, 'round')} (see --json)"
