"""`coterie demo`: a simulated consulting firm, from its records to everybody's teams."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from coterie.cli.output import messages, results, wrapped


def command(
    out: Annotated[
        Path | None, typer.Option(help="Write the firm's records here, with the truth behind them; a new folder.")
    ] = None,
) -> None:
    """Learn stable teams from the records of a simulated consulting firm."""
    from coterie.cli.evaluate import holds
    from coterie.cli.result_text import deliver
    from coterie.learn.learner import StableLearner
    from coterie.simulate.demo import DAYS, MOST_TEAMS, consulting_firm

    firm = consulting_firm()
    game = firm.game
    for line in wrapped(
        f"A consulting firm: {game.n_agents} consultants, {game.n_coalitions} domains, up to {MOST_TEAMS} of them a "
        f"day each. For {DAYS:,} working days, any two who shared a domain rated the day from -1 to 1.", "", "",
    ):  # fmt: skip
        results.print(line)
    results.print()
    with tempfile.TemporaryDirectory() as kept:
        folder = Path(kept) / "firm" if out is None else out
        firm.simulation.write_log(folder, DAYS)
        learner = StableLearner().fit(folder)
    deliver(learner.result_, target_gap=None, out=None, as_json=False, quiet=False, timed=False)
    gap = game.gap(learner.strategy_)
    held = "held" if holds(gap, learner.certificate_.gap) else "did NOT hold"
    results.print()
    for line in wrapped(
        f"The firm is simulated, so the truth is known: the most that anybody really gains by moving is {gap:.2g}. "
        f"The certificate {held}.", "", "",
    ):  # fmt: skip
        results.print(line)
    if out is not None:
        messages.print(
            f"\nWrote the records to {out}: memberships.csv, pairs.csv, log.json and truth.json. Go on with\n"
            f"  coterie inspect {out}\n"
            f"  coterie learn {out} --out result.json\n"
            f"  coterie evaluate result.json --truth {out / 'truth.json'}"
        )
