"""How `coterie coverage` words a plan for more samples."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from coterie.cli.output import aligned, short, wrapped
from coterie.words import counted

if TYPE_CHECKING:
    from coterie.collect import Collection
    from coterie.statistics.setting import Setting

LISTED = 10
"""How many pairs are listed; `--json` has all."""

ASSIGNMENTS = 3
"""How many joint actions are listed."""

TOGETHER = (
    "The plan looked at utilities. The certificate of the log and the new samples together takes it that actions "
    "did not; certify the new samples by themselves (certify NEW STRATEGY --certificate holdout --fresh), and "
    "plan for that with --fresh, to be on the safe side."
)


def collecting(plan: "Collection", setting: "Setting") -> Iterator[str]:
    """Yield what to collect, and what it is expected to certify."""
    independent = ", as if pairs of a sample were independent" if setting.noise == "samples" else ""
    yield f"What to collect next ({counted(plan.samples, 'more sample')}{independent})"
    low, high = plan.likely
    rows = [
        ("certificate now" if not plan.fresh else "without any data", f"{plan.now:.3g}", ""),
        ("expected by this plan", f"{plan.predicted:.3g}", f"(likely {low:.3g} to {high:.3g})"),
        ("expected at random", f"{plan.random:.3g}", "(everybody uniform over their actions)"),
        ("no plan below about", f"{plan.least:.3g}", ""),
    ]
    yield from aligned(rows, left=(0, 2))
    if not plan.needs:
        yield "  nobody has a choice: there is nothing to learn"
        return
    yield from ("", "Pairs that tell most")
    sized = plan.needs[0].size is not None
    pairs = [("pair", "", "coalition", *(["size"] if sized else []), "seen", "planned", "worth of one more")]
    pairs += [
        (short(need.agent), short(need.partner), short(need.coalition), *([str(need.size)] if sized else []),
         "-" if need.seen is None else f"{need.seen:,}", f"{need.planned:,}", f"{need.worth:.2g}")
        for need in plan.needs[:LISTED]
    ]  # fmt: skip
    yield from aligned(pairs, left=(0, 1, 2))
    if len(plan.needs) > LISTED:
        yield f"  and {len(plan.needs) - LISTED:,} more (see --json)"
    shares = ", ".join(f"{short(name)} {share:.0%}" for name, share in plan.coalitions if share >= 0.005)
    yield from wrapped(f"By coalition: {shares}")
    yield from ("", "Who should work where")
    for planned in plan.plan[:ASSIGNMENTS]:
        members = planned.strategy.members()
        teams = "; ".join(
            f"{short(name)}: {', '.join(short(agent) for agent in team)}" for name, team in members.items() if team
        )
        yield from wrapped(f"{counted(planned.times, 'time')}: {teams}", "  - ", "    ")
    if len(plan.plan) > ASSIGNMENTS:
        rest = sum(planned.times for planned in plan.plan[ASSIGNMENTS:])
        others = counted(len(plan.plan) - ASSIGNMENTS, "more assignment")
        yield f"  and {others} for {counted(rest, 'sample')} (see --json)"
    if not plan.fresh and not setting.adaptive:
        yield from ("", *wrapped(TOGETHER))
