"""`coterie evaluate`: the true gap of a strategy, and whether its certificate held."""

from pathlib import Path
from typing import Annotated, Any

import typer

from coterie.cli.output import results, show_json, warn


def command(
    strategy_file: Annotated[
        Path, typer.Argument(metavar="RESULT", help="A result file, its strategy part, or a CSV table agent,coalition.")
    ],
    *,
    truth: Annotated[Path, typer.Option(help="The truth.json of the simulated log.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print the true gap of a strategy, and whether its certificate held."""
    from coterie.files import naming, typed
    from coterie.game.strategy import Strategy, read_strategy_content
    from coterie.game.truth import read_truth

    game = read_truth(truth)
    content = read_strategy_content(strategy_file)
    with naming(strategy_file):
        strategy = Strategy.from_json(content, game.agents, game.coalitions)
        certificate = certified_gap(content)
        left_out = typed(tuple[str, ...], content.get("left_out", ()), "left_out") if isinstance(content, dict) else ()
        counted = game.leaving_out(left_out).gap(strategy)
    if outside := game.actions.outside(strategy.owner, strategy.sets):
        warn(f"a set that is not among her actions: {', '.join(game.agents[i] for i in outside)}")
    gap, worst, stable = game.gap(strategy), game.worst(strategy), game.is_nash_stable(strategy)
    held = None if certificate is None else holds(counted, certificate)
    if as_json:
        found = {"gap": gap, "worst": worst.to_json(), "nash_stable": stable, "certificate_held": held}
        show_json(found | ({"counted_gap": counted} if left_out else {}))
        return
    lines = [("true gap", f"{gap:.6g}")]
    if stable:
        results.print("The strategy is Nash stable: nobody gains by moving.")
    else:
        results.print(f"The strategy is not Nash stable: {worst.agent} gains {worst.gain:.4g} by moving.")
        lines += [("agent", worst.agent), ("best move", ", ".join(worst.action) or "nothing")]
    if left_out:
        lines.append(("gap of counted", f"{counted:.6g}"))
    if certificate is not None:
        lines += [("certificate", f"{certificate:.6g}"), ("certificate held", "yes" if held else "NO")]
    for label, value in lines:
        results.print(f"  {label:<18}{value}")


def holds(gap: float, certificate: float) -> bool:
    """Return whether the true gap is within the certificate, up to rounding."""
    from coterie.game.game import STABLE_WITHIN

    return gap <= certificate + STABLE_WITHIN


def certified_gap(content: Any) -> float | None:
    """Return the certificate of a result file; None where the file holds a bare strategy."""
    from coterie import checks
    from coterie.errors import InputError

    certificate = content.get("certificate") if isinstance(content, dict) else None
    if certificate is None:
        return None
    if not isinstance(certificate, dict) or "gap" not in certificate:
        raise InputError(f'certificate: expected an object with "gap", got {checks.shown(certificate)}')
    gap = certificate["gap"]
    if gap is None:
        return None
    if gap == "inf":
        return float("inf")
    found = checks.number(gap, "certificate: gap")
    if found < 0:
        raise InputError(f'certificate: gap is {found}, expected a number from 0 up or "inf"')
    return found
