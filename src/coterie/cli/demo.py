"""`coterie demo`: a simulated consulting firm, from its records to everybody's teams."""

from pathlib import Path
from typing import Annotated

import typer

from coterie.cli.output import messages, results, wrapped
from coterie.files import temporary_folder, whole_file
from coterie.words import signed


def command(
    out: Annotated[
        Path | None, typer.Option(help="Write the firm's records here, with the truth behind them; a new folder.")
    ] = None,
) -> None:
    """Learn stable teams from the records of a simulated consulting firm."""
    from coterie.cli.evaluate import holds
    from coterie.cli.result_text import deliver
    from coterie.game.rules import Rules
    from coterie.learn.learner import StableLearner
    from coterie.simulate.demo import DAYS, MOST_TEAMS, TEAM_SIZE, consulting_firm, todays_teams

    firm = consulting_firm()
    game = firm.game
    for line in wrapped(
        f"A consulting firm: {game.n_agents} consultants, {game.n_coalitions} domains, up to {MOST_TEAMS} of them a "
        f"day each. For {DAYS:,} working days, any two who shared a domain rated the day from -1 to 1. Teams of "
        f"{TEAM_SIZE.replace(':', ' to ')} people are wanted.", "", "",
    ):  # fmt: skip
        results.print(line)
    results.print()
    with temporary_folder() as kept:
        folder = kept / "firm" if out is None else out
        firm.simulation.write_log(folder, DAYS)
        today = todays_teams()
        rows = [f"{agent},{domain}\n" for agent, domains in today.actions.items() for domain in domains or [""]]
        with whole_file(folder / "today.csv") as temporary:
            temporary.write_text("agent,coalition\n" + "".join(rows), encoding="utf-8")
        learner = StableLearner(rules=Rules(team_size=TEAM_SIZE), today=today).fit(folder)
    deliver(learner.result_, target_gap=None, as_json=False, quiet=False, timed=False)
    result = learner.result_
    gap = game.gap(learner.strategy_, result.stability, result.rules)
    better = float((game.values(learner.strategy_) - game.values(today)).mean())
    held = "held" if holds(gap, learner.certificate_.gap, game.rounding) else "did NOT hold"
    results.print()
    for line in wrapped(
        "The firm is simulated, so the truth is known: the most that anybody really gains by moving or changing places "
        f"is {gap:.2g}. The certificate {held}. The teams are really worth {signed(better)} per person against today.",
        "", "",
    ):  # fmt: skip
        results.print(line)
    if out is not None:
        messages.print(
            f"\nWrote the records to {out}: memberships.csv, pairs.csv, log.json, today.csv and truth.json.\n"
            "Go on with\n"
            f"  coterie inspect {out}\n"
            f"  coterie learn {out} --team-size {TEAM_SIZE} --today {out / 'today.csv'} --out result.json\n"
            f"  coterie evaluate result.json --truth {out / 'truth.json'}"
        )
