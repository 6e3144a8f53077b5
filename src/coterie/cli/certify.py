"""`coterie certify`: how stable a given strategy surely is, and what `learn` and `certify` print."""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coterie.cli.log_options import reads_log
from coterie.cli.output import aligned, printable, results, short, show_json, wrapped
from coterie.errors import InputError
from coterie.log import Log
from coterie.words import counted, signed

if TYPE_CHECKING:
    from coterie.certificates.certificate import Witness
    from coterie.learn.result import Result

NAMED = 12
"""How many members of a coalition are listed."""


class Sizes(StrEnum):
    """Whether utilities may depend on coalition size."""

    ignore = "ignore"
    aware = "aware"


class Noise(StrEnum):
    """What is taken to be independent."""

    auto = "auto"
    pairs = "pairs"
    samples = "samples"


class Given(StrEnum):
    """Which certificate a given strategy gets."""

    paired = "paired"
    paper = "paper"
    holdout = "holdout"


@reads_log
def command(
    log: Log,
    strategy_file: Annotated[
        Path,
        typer.Argument(metavar="STRATEGY", help="A result file, its strategy part, or a CSV table agent,coalition."),
    ],
    *,
    certificate: Annotated[Given, typer.Option(help="holdout is tighter and needs --fresh.")] = Given.paired,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="The strategy was fixed without looking at the utilities of this log.")
    ] = False,
    delta: Annotated[float, typer.Option(help="The certificate holds with probability 1 - delta.")] = 0.01,
    sizes: Annotated[Sizes, typer.Option(help="aware: utilities may depend on coalition size.")] = Sizes.ignore,
    noise: Annotated[
        Noise, typer.Option(help="samples: the pairs of one sample may depend on each other; auto: if they seem to.")
    ] = Noise.auto,
    target_gap: Annotated[
        float | None, typer.Option(metavar="EPS", help="Exit with code 3 if the certificate is above this.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the result here, as JSON.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors (and JSON).")] = False,
) -> int:
    """Certify how far anybody could gain by leaving a given assignment, such as today's teams."""
    from coterie.files import naming
    from coterie.game.strategy import Strategy, read_strategy_content
    from coterie.learn.assemble import certified

    refuse_unwritable(out)
    if target_gap is not None and not target_gap >= 0:
        raise InputError(f"target gap: expected a number from 0 up, got {target_gap}")
    content = read_strategy_content(strategy_file)
    with naming(strategy_file):
        given = Strategy.from_json(content, log.agents, log.coalitions)
    data = content.get("data") if isinstance(content, dict) else None
    found = certified(
        log,
        given,
        certificate=certificate.value,
        fresh=fresh,
        delta=delta,
        sizes=sizes.value,
        noise=noise.value,
        learnt_from=data.get("log_sha256") if isinstance(data, dict) else None,
    )
    return deliver(found, target_gap=target_gap, out=out, as_json=json, quiet=quiet)


def refuse_unwritable(out: Path | None) -> None:
    """Refuse an output file that could not be written, before any work is done."""
    if out is not None and (out.is_dir() or not out.resolve().parent.is_dir()):
        raise InputError(f"--out {out}: {'is a folder' if out.is_dir() else 'there is no such folder'}")


def deliver(
    result: "Result",
    *,
    target_gap: float | None,
    out: Path | None,
    as_json: bool,
    quiet: bool,
    timed: bool = True,
) -> int:
    """Write and print a result; return the exit code."""
    if out is not None:
        result.save(out)
    if as_json:
        show_json(result.to_json())
    elif not quiet:
        for line in _lines(result, target_gap, timed=timed):
            results.print(printable(line))
    if result.solver.get("status") == "interrupted":
        return 130
    return 3 if target_gap is not None and not result.certificate.gap <= target_gap else 0


def _lines(result: "Result", target_gap: float | None, *, timed: bool) -> Iterator[str]:
    yield from _verdict(result, target_gap, timed=timed)
    yield ""
    yield from _people(result)
    if result.strategy.is_pure:
        yield ""
        yield from _teams(result)
    if result.warnings:
        yield from ("", "Warnings")
        for warning in result.warnings:
            yield from wrapped(warning, "  - ", "    ")
    yield from _help_wanted(result)


def percent(share: float) -> str:
    """Return a probability as a percentage without false precision.

    >>> percent(0.99), percent(0.999), percent(0.9)
    ('99 %', '99.9 %', '90 %')
    """
    return f"{100 * share:.6g} %"


def sentence(result: "Result") -> str:
    """Return the certificate in one plain sentence."""
    found = result.certificate
    if found.gap == float("inf"):
        return "Nothing can be certified: nothing bounds the utility of pairs that were never seen."
    sure = f"With {percent(1 - found.delta)} confidence, nobody can gain "
    if found.worst is None:
        return sure + "by moving: nobody has a choice."
    amount = "by moving" if found.gap == 0 else f"more than {found.gap:.3g} by moving"
    return f"{sure}{amount}; the tightest case is {found.worst.agent} {_moving(found.worst, result)}."


def _moving(witness: "Witness", result: "Result") -> str:
    """Word a deviation as a move."""
    now = set(result.strategy.actions[witness.agent]) if result.strategy.is_pure else set()
    to = [name for name in witness.deviation if name not in now]
    kept = bool(now & set(witness.deviation))
    if not to:
        left = [name for name in result.strategy.coalitions if name in now and name not in witness.deviation]
        return f"leaving {' and '.join(left)}" if left else "staying out"
    return f"{'also ' if kept and now <= set(witness.deviation) else ''}moving to {' and '.join(to)}"


def _verdict(result: "Result", target_gap: float | None, *, timed: bool) -> Iterator[str]:
    from coterie.learn.assemble import TOO_FEW

    if TOO_FEW in result.warnings:
        yield "There are too few data to certify anything."
        gap, sure = result.estimate["gap"], sentence(result)
        yield from wrapped(
            f"If the averages in the log were the truth, nobody could gain more than {gap:.3g} by moving. "
            f"What is sure: {sure[0].lower()}{sure[1:]}", "", "",
        )  # fmt: skip
    else:
        yield from wrapped(sentence(result), "", "")
    about = f"{result.certificate.method} certificate, {counted(result.coverage['samples'], 'sample')}"
    how = result.solver
    if how.get("method") != "given":
        ended = "stopped by the time limit" if how["status"] == "time" else how["status"]
        about += f", {how['method']} search {ended}" + (f", {_seconds(how['seconds'])}" if timed else "")
    yield f"({about})"
    guess = how.get("guess", "raw")
    if guess != "raw":
        yield from wrapped(f"(searched with {_searched_with(guess)})", "", "")
    if target_gap is not None:
        reached = result.certificate.gap <= target_gap
        yield f"The target of {target_gap:g} is {'certified' if reached else 'NOT certified'}."


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 0.05 else "under 0.1 s"


EFFECTS = {
    "mean": "the overall mean",
    "coalition": "coalitions' averages",
    "agents": "the effects of coalitions and agents",
    "agents in coalitions": "the effects of coalitions, agents and agents in coalitions",
    "pairs": "the effects of coalitions, agents and pairs",
}
"""What each level of `coterie.estimate.guess` shrinks means towards."""


def _searched_with(guess: str) -> str:
    """Word the name of a guess."""
    level = guess.partition(",")[0]
    if level == "ridge":
        return "ridge estimates"
    return f"means shrunk towards {EFFECTS.get(level, 'a table of low rank')}: {guess}"


def _people(result: "Result") -> Iterator[str]:
    strategy, utility = result.strategy, result.estimate["utility"]
    intervals = result.extras.get("gain_intervals", {})
    rows = [["agent", "goes to", "value", "best alternative", "change", "least", "at most"]]
    for agent in strategy.agents:
        goes = _shown(strategy.actions[agent]) if strategy.is_pure else _mixture(strategy.actions[agent])
        other = result.certificate.alternatives.get(agent)
        last = ["-", "", "", ""]
        if other is not None:
            least = signed(float(intervals[agent][0])) if agent in intervals else ""
            last = [_shown(other.deviation), signed(other.estimated_gain), least, signed(other.bound)]
        rows.append([short(agent), goes, signed(utility[agent]), *last])
    yield "Who goes where"
    yield from aligned(rows, left=(0, 1, 3))


def _shown(coalitions: Sequence[str]) -> str:
    return ", ".join(short(name) for name in coalitions) or "nothing"


def _mixture(options: Sequence[dict[str, object]]) -> str:
    chances = [(round(float(str(option["probability"])), 3), option["coalitions"]) for option in options]
    listed = sorted((one for one in chances if one[0] > 0), key=lambda one: -one[0])
    if not listed:
        return f"{counted(len(options), 'set')}, each under 0.1 %"
    return "; ".join(f"{_shown(coalitions)} {percent(chance)}" for chance, coalitions in listed)  # type: ignore[arg-type]


def _teams(result: "Result") -> Iterator[str]:
    yield "Coalitions"
    for name, members in result.strategy.members().items():
        listed = ", ".join(short(member) for member in members[:NAMED])
        more = f" and {len(members) - NAMED} more" if len(members) > NAMED else ""
        yield from wrapped(f"{short(name)} ({len(members)}): {listed}{more}" if members else f"{short(name)}: nobody")


def _help_wanted(result: "Result") -> Iterator[str]:
    """Yield what data would help, from the pairs that the tightest case hangs on."""
    worst = result.certificate.worst
    if result.certificate.gap == 0 or worst is None or not worst.doubts:
        return
    yield from ("", "What would help most")
    for doubt in worst.doubts[:3]:
        yield from wrapped(
            f"more outcomes of {worst.agent} with {doubt.partner} in {doubt.coalition} "
            f"(uncertain by about {doubt.error:.2g})", "  - ", "    ",
        )  # fmt: skip
