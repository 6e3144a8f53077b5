"""`coterie evaluate`: the true gap of a strategy, and whether its certificate held."""

from pathlib import Path
from typing import Annotated, Any

import typer

from coterie.cli.output import results, short, show_json, warn


def command(
    strategy_file: Annotated[
        Path, typer.Argument(metavar="RESULT", help="A result file, its strategy part, or a CSV table agent,coalition.")
    ],
    *,
    truth: Annotated[Path, typer.Option(help="The truth.json of the simulated log.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print the true gap of a strategy, and whether its certificate held."""
    from coterie import checks
    from coterie.files import naming, typed
    from coterie.game.game import Value
    from coterie.game.rules import as_rules
    from coterie.game.steps import Stability
    from coterie.game.strategy import Strategy, read_strategy_content
    from coterie.game.truth import read_truth

    game = read_truth(truth)
    content = read_strategy_content(strategy_file, known=game.agents)
    with naming(strategy_file):
        strategy = Strategy.from_json(content, game.agents, game.coalitions)
        certificate = certified_gap(content)
        said = content if isinstance(content, dict) else {}
        left_out = typed(tuple[str, ...], said.get("left_out", ()), "left_out")
        game = game.valued(checks.one_of(said.get("value", game.value), Value, "value"))
        stability = checks.one_of(said.get("stability", "nash"), Stability, "stability")
        rules = as_rules(said.get("rules"))
        worst = game.worst(strategy, stability, rules)
        counted = game.leaving_out(left_out).gap(strategy, stability, rules)
    if outside := game.actions.outside(strategy.owner, strategy.sets):
        warn(f"a set that is not among their actions: {', '.join(short(game.agents[i]) for i in outside)}")
    gap = 0.0 if worst is None else max(worst.gain, 0.0)
    stable = gap <= game.rounding
    total = float(game.values(strategy).sum())
    held = None if certificate is None else holds(counted, certificate, game.rounding)
    if as_json:
        found = {
            "gap": gap, "worst": None if worst is None else worst.to_json(), "stable": stable,
            "nash_stable": game.is_nash_stable(strategy), "certificate_held": held, "total_value": total,
            "value": game.value, "stability": stability,
        }  # fmt: skip
        show_json(found | ({"counted_gap": counted} if left_out else {}))
        return
    lines = [("true gap", f"{gap:.6g}"), ("value of everybody", f"{total:.6g}")]
    notion = "Nash" if stability == "nash" else stability
    if stable or worst is None:
        results.print(f"The strategy is {notion} stable: nobody gains by moving.")
    else:
        together = " and ".join(map(short, worst.movers or [worst.agent]))
        gains = f"gain at least {worst.gain:.4g} each" if worst.movers else f"gains {worst.gain:.4g}"
        results.print(f"The strategy is not {notion} stable: {together} {gains} by moving.")
        for agent, action in (worst.movers or {worst.agent: worst.action}).items():
            lines += [("agent", short(agent)), ("best move", ", ".join(map(short, action)) or "nothing")]
    if left_out:
        lines.append(("gap of counted", f"{counted:.6g}"))
    if certificate is not None:
        lines += [("certificate", f"{certificate:.6g}"), ("certificate held", "yes" if held else "NO")]
    for label, value in lines:
        results.print(f"  {label:<20}{value}")


def holds(gap: float, certificate: float, rounding: float) -> bool:
    """Return whether the true gap is within the certificate, up to rounding."""
    return gap <= certificate + rounding


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
