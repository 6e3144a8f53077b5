"""`coterie evaluate`: the true gap of a strategy, and whether its certificate held."""

from pathlib import Path
from typing import Annotated, Any

import typer

from coterie.cli.output import messages, results, show_json


def command(
    strategy_file: Annotated[
        Path, typer.Argument(metavar="RESULT", help="A result file, its strategy part, or a CSV table agent,coalition.")
    ],
    *,
    truth: Annotated[Path, typer.Option(help="The truth.json of the simulated log.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print the true gap of a strategy, and whether its certificate held."""
    from rich.markup import escape

    from coterie.strategy import read_strategy
    from coterie.truth import read_truth

    game = read_truth(truth)
    strategy = read_strategy(strategy_file, game.agents, game.coalitions)
    certificate = certified_gap(strategy_file)
    played = zip(strategy.owner, strategy.sets, strict=True)
    outside = {strategy.agents[i]: None for i, row in played if not game.actions.spaces[i].contains(row[None])[0]}
    if outside:
        messages.print(f"[yellow]warning:[/] a set that is not among her actions: {escape(', '.join(outside))}")
    worst = game.worst(strategy)
    stable = game.is_nash_stable(strategy)
    held = None if certificate is None else holds(worst.gain, certificate)
    if as_json:
        show_json({"gap": worst.gain, "worst": worst.to_json(), "nash_stable": stable, "certificate_held": held})
        return
    move = ", ".join(worst.action) or "nothing"
    if stable:
        results.print("The strategy is Nash stable: nobody gains by moving.")
    else:
        results.print(escape(f"The strategy is not Nash stable: {worst.agent} gains {worst.gain:.4g} by moving."))
    lines = [("true gap", f"{worst.gain:.6g}"), ("agent", worst.agent), ("best move", move)]
    if certificate is not None:
        lines += [("certificate", f"{certificate:.6g}"), ("certificate held", "yes" if held else "NO")]
    for label, value in lines:
        results.print(escape(f"  {label:<18}{value}"))


def holds(gap: float, certificate: float) -> bool:
    """Return whether the true gap is within the certificate, up to rounding."""
    from coterie.game import STABLE_WITHIN

    return gap <= certificate + STABLE_WITHIN


def certified_gap(path: Path) -> float | None:
    """Return the certificate of a result file; None where the file holds a bare strategy."""
    from coterie.errors import InputError
    from coterie.files import read_json

    if path.suffix.lower() == ".csv":
        return None
    content: Any = read_json(path)
    certificate = content.get("certificate") if isinstance(content, dict) else None
    if certificate is None:
        return None
    if not isinstance(certificate, dict) or "gap" not in certificate:
        raise InputError(f'{path}: certificate: expected an object with "gap", got {certificate!r}')
    gap = certificate["gap"]
    if gap is None:
        return None
    if gap == "inf":
        return float("inf")
    if isinstance(gap, bool) or not isinstance(gap, (int, float)) or not gap >= 0:
        raise InputError(f'{path}: certificate: gap is {gap!r}, expected a number from 0 up or "inf"')
    return float(gap)
