"""`coterie demo`: a simulated consulting firm, from its records to everybody's teams."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coterie.cli.output import messages, results

if TYPE_CHECKING:
    from coterie.demo import Firm
    from coterie.strategy import Strategy


def command(
    out: Annotated[
        Path | None, typer.Option(help="Write the firm's records here, with the truth behind them; a new folder.")
    ] = None,
) -> None:
    """Show stable teams for a simulated consulting firm."""
    from coterie.demo import MONTHS, consulting_firm

    firm = consulting_firm()
    if out is not None:
        firm.simulation.write_log(out, MONTHS)
    _show(firm, firm.recommend())
    if out is not None:
        messages.print(
            f"\nWrote {MONTHS} months of records to {out}: memberships.csv, pairs.csv, log.json and truth.json.\n"
            f"What is the true gap of other teams? Put them into a table agent,coalition and run\n"
            f"  coterie evaluate TEAMS.csv --truth {out / 'truth.json'}"
        )


def _show(firm: "Firm", strategy: "Strategy") -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from coterie.demo import MOST_TEAMS, closest_calls

    game = firm.game
    calls = closest_calls(game, strategy)
    size = f"{game.n_agents} consultants, {game.n_coalitions} domains, up to {MOST_TEAMS} teams each"
    results.print(Text.assemble(("A consulting firm", "bold"), f": {size}\n"))
    people = Table(title="Recommended teams", title_justify="left", box=box.SIMPLE_HEAD)
    people.add_column("Consultant")
    people.add_column("Teams")
    people.add_column("Value", justify="right")
    people.add_column("Best other choice")
    people.add_column("Change", justify="right")
    for (agent, teams), value, call in zip(strategy.actions.items(), game.values(strategy), calls, strict=True):
        people.add_row(agent, ", ".join(teams), f"{value:.2f}", ", ".join(call.action), f"{call.gain:+.2f}")
    results.print(people, soft_wrap=False)

    teams = Table(title="The teams", title_justify="left", box=box.SIMPLE_HEAD)
    teams.add_column("Domain")
    teams.add_column("Size", justify="right")
    teams.add_column("Members")
    teams.add_column("Value", justify="right")
    worth = (strategy.marginals * game.room_values(strategy)).sum(axis=0)
    for (domain, members), value in zip(strategy.members().items(), worth, strict=True):
        teams.add_row(domain, str(len(members)), ", ".join(members), f"{value:.1f}")
    results.print(teams, soft_wrap=False)

    total = f"{game.values(strategy).sum():.1f}"
    results.print(Text.assemble("Total value: ", (total, "bold"), " a month over all consultants."))
    gap = f"{game.gap(strategy):.2f}"
    closest = max(calls, key=lambda call: call.gain)
    choice = " and ".join(closest.action)
    if game.is_nash_stable(strategy):
        verdict = (
            f". Nobody gains by moving; closest is {closest.agent}, who would\nlose {-closest.gain:.2f} in {choice}."
        )
        results.print(Text.assemble("Gap: ", (gap, "bold green"), verdict))
    else:
        verdict = f". {closest.agent} would gain that much in {choice}."
        results.print(Text.assemble("Gap: ", (gap, "bold red"), verdict))
