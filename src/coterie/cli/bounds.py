"""`coterie bounds`: how large a gap can be after so many samples, or how many make it small, before any data."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from coterie.cli.output import aligned, results, show_json, wrapped
from coterie.errors import InputError
from coterie.log.schema import Feedback
from coterie.theory.bounds import (
    BEST_C_PAIR,
    PRINTED_C_SIZE,
    Bound,
    Constants,
    Problem,
    all_bounds,
    known_c_act,
    pair_coverage,
    printed_c_act,
)
from coterie.words import said

DECADES = (10**3, 10**5, 10**7, 10**9)
"""The numbers of samples that are shown where neither samples nor a gap are given."""

QUICK = 10**7
"""Logs with up to so many places for pairs (samples x pairs x coalitions) are simulated without being asked."""

METHODS = {"holdout": "held-out certificate", "paired": "paired certificate", "paper": "paper's certificate"}

WHERE_FROM = {
    "c_size": "the paper's value for the best policy",
    "c_pair": "no policy does better",
    "c_act": "the best that a policy is proven to have",
}


def command(
    *,
    agents: Annotated[int | None, typer.Option(help="Number of agents; by default those of --result.")] = None,
    coalitions: Annotated[int | None, typer.Option(help="Number of coalitions; by default those of --result.")] = None,
    samples: Annotated[int | None, typer.Option(help="Show the gaps after so many samples.")] = None,
    gap: Annotated[float | None, typer.Option(help="Show how many samples make the gap so small.")] = None,
    feedback: Annotated[
        Feedback | None, typer.Option(help="semi-bandit (pairs, the default) or bandit (totals).")
    ] = None,
    delta: Annotated[float | None, typer.Option(help="How often a bound may fail (0.01).")] = None,
    most_joined: Annotated[int | None, typer.Option(help="Most coalitions an agent may join at once (all).")] = None,
    c_size: Annotated[float | None, typer.Option(help="Coverage of coalition sizes (3, the paper's best).")] = None,
    c_pair: Annotated[float | None, typer.Option(help="Coverage of pairs (1, the best possible).")] = None,
    c_act: Annotated[float | None, typer.Option(help="Coverage of actions (the best with a proof).")] = None,
    slack: Annotated[float, typer.Option(help="How far the search stays above its optimum.")] = 0.0,
    asymmetric: Annotated[bool, typer.Option("--asymmetric", help="The two of a pair differ in utility.")] = False,
    constants: Annotated[
        Constants, typer.Option(help="paper (as printed), corrected (those that hold) or both.")
    ] = "both",
    result: Annotated[Path | None, typer.Option(help="A result file to compare with; its coverage is used.")] = None,
    simulate: Annotated[
        bool | None,
        typer.Option(
            "--simulate/--no-simulate",
            help="Compare with the certificate reached on a simulated log, or not. By default if it is quick.",
        ),
    ] = None,
    actions_per_agent: Annotated[int, typer.Option(help="Sets to choose from in the simulated log.")] = 3,
    seed: Annotated[int, typer.Option(help="Of the simulated log.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what is known about the gap before any data: the paper's bounds, those that hold, and what data reach."""
    if samples is not None and gap is not None:
        raise InputError(f"{said('samples')} and {said('gap')}: expected one of them; the other is the answer")
    known = _Known() if result is None else _known(result)
    agents, coalitions = (
        known.agents if agents is None else agents,
        known.coalitions if coalitions is None else coalitions,
    )
    if agents is None or coalitions is None:
        raise InputError("expected --agents and --coalitions, or a result file (--result) that has them")
    if samples is None and gap is None:
        samples = known.samples
    given = {"c_size": c_size, "c_pair": c_pair, "c_act": c_act}
    cover: dict[str, Any] = known.coverage | {name: value for name, value in given.items() if value is not None}
    problem = Problem(
        agents,
        coalitions,
        known.delta if delta is None else delta,
        most_joined,
        known.symmetric and not asymmetric,
        **{"c_size": PRINTED_C_SIZE, "c_pair": BEST_C_PAIR, "c_act": None, **cover},
        slack=slack,
    )
    asked = _Asked(problem, feedback or known.feedback, samples, gap, frozenset(cover), actions_per_agent, seed)
    rows = [(bound, asked.answers(bound)) for bound in all_bounds(problem, asked.feedback, constants)]
    simulated = asked.rehearse() if simulate or (simulate is None and asked.is_quick) else None
    if as_json:
        show_json(_content(asked, rows, simulated, known))
        return
    for line in _lines(asked, rows, simulated, known):
        results.print(line)
    if simulate is None and simulated is None and known.gap is None and (samples or gap):
        results.print("\nNot compared with a simulated log, which would take a while; --simulate does it.")


@dataclass(frozen=True)
class _Known:
    """What a result file says about its log; without one, what is taken for granted."""

    agents: int | None = None
    coalitions: int | None = None
    samples: int | None = None
    feedback: Feedback = "semi-bandit"
    delta: float = 0.01
    symmetric: bool = True
    certificates: tuple[tuple[str, float], ...] = ()
    gap: float | None = None
    cover: tuple[tuple[str, float], ...] = ()

    @property
    def coverage(self) -> dict[str, float]:
        """The coefficients that the file has."""
        return dict(self.cover)


def _known(path: Path) -> _Known:
    from coterie.learn.result import Result

    found = Result.load(path)
    cover = {} if found.coverage is None else {name: getattr(found.coverage, name) for name in WHERE_FROM}
    numbers = {name: value for name, value in cover.items() if value is not None}
    if "c_act" in numbers:  # infinite where nobody has company; less coverage than there is does no harm
        numbers["c_act"] = min(numbers["c_act"], 1.0)
    return _Known(
        len(found.strategy.agents),
        len(found.strategy.coalitions),
        found.data.samples,
        found.data.feedback,
        found.certificate.delta,
        found.data.symmetric,
        tuple((name, value) for name, value in found.certificates.items() if value is not None),
        found.certificate.gap,
        # 0 where nobody can meet anybody: nothing to cover, and the defaults are as good.
        tuple((name, value) for name, value in numbers.items() if value > 0 or name == "c_act"),
    )


@dataclass(frozen=True)
class _Asked:
    """The question: for which game, and after how many samples, or for which gap."""

    problem: Problem
    feedback: Feedback
    samples: int | None
    gap: float | None
    said: frozenset[str]
    """The coefficients that were given, by the user or by a result file."""
    actions_per_agent: int
    seed: int

    def answers(self, bound: Bound) -> list[float]:
        """Return what a bound says: one gap or number of samples, or the gaps after decades of samples."""
        if self.gap is not None:
            return [bound.samples(self.gap)]
        return [bound.gap(samples) for samples in self._columns]

    @property
    def _columns(self) -> Sequence[int]:
        return DECADES if self.samples is None else (self.samples,)

    @property
    def heads(self) -> list[str]:
        """The titles of the columns."""
        if self.gap is not None:
            return ["samples"]
        return ["gap"] if self.samples is not None else [f"gap at {samples:.0e}" for samples in DECADES]

    @property
    def cells_per_sample(self) -> int:
        """How many pairs can meet in a sample."""
        return self.problem.n_agents**2 // 2 * self.problem.n_coalitions

    @property
    def is_quick(self) -> bool:
        """Whether a simulation takes a few seconds at most."""
        if self.gap is None and (self.samples or 0) < 2:
            return False
        return self.cells_per_sample * max(self.samples or 0, 1000) <= QUICK

    def rehearse(self) -> Any:
        """Return what is certified on a simulated log of this size, or of the first size that certifies the gap."""
        from coterie import checks
        from coterie.theory.rehearse import rehearse, rehearse_until

        checks.whole(self.seed, said("seed"), 0)
        problem = self.problem
        size = (problem.n_agents, problem.n_coalitions)
        options: dict[str, Any] = {
            "feedback": self.feedback,
            "delta": problem.delta,
            "actions_per_agent": self.actions_per_agent,
            "most_joined": problem.joined,
            "symmetric": problem.symmetric,
        }
        if self.gap is not None:
            return rehearse_until(self.gap, QUICK // self.cells_per_sample, self.seed, *size, **options)
        if self.samples is None:
            raise InputError("--simulate needs --samples or --gap")
        return rehearse(*size, self.samples, self.seed, **options)


Rows = Sequence[tuple[Bound, list[float]]]


def _content(asked: _Asked, rows: Rows, simulated: Any, known: _Known) -> dict[str, Any]:
    problem = asked.problem
    key = "gap" if asked.gap is None else "samples"
    decades = asked.gap is None and asked.samples is None
    return {
        "agents": problem.n_agents,
        "coalitions": problem.n_coalitions,
        "feedback": asked.feedback,
        "symmetric": problem.symmetric,
        "delta": problem.delta,
        "most_joined": problem.joined,
        "slack": problem.slack,
        "samples": asked.samples,
        "gap": asked.gap,
        "largest_gap": problem.largest_gap,
        "coverage": {
            "c_size": problem.c_size,
            "c_pair": problem.c_pair,
            "c_act": _c_act(problem),
            "c_act_printed": printed_c_act(problem),
        },
        "bounds": [
            {
                "name": bound.name,
                "statement": bound.statement,
                "status": bound.status,
                "why": bound.why,
                key: dict(zip(map(str, DECADES), answers, strict=True)) if decades else answers[0],
            }
            for bound, answers in rows
        ],
        "simulated": None
        if simulated is None
        else {
            "samples": simulated.samples,
            "certificates": simulated.certificates,
            "true_gap": simulated.true_gap,
            "c_pair": simulated.c_pair,
        },
        "result": None if known.gap is None else {"gap": known.gap, "certificates": dict(known.certificates)},
    }


def _c_act(problem: Problem) -> float:
    return known_c_act(problem)[0] if problem.c_act is None else problem.c_act


def _lines(asked: _Asked, rows: Rows, simulated: Any, known: _Known) -> Iterator[str]:
    problem = asked.problem
    what = (
        f"{problem.n_agents} agents, {problem.n_coalitions} coalitions, {asked.feedback} log, delta {problem.delta:g}"
    )
    if asked.gap is not None:
        yield f"Samples that make the gap at most {asked.gap:g}: {what}"
    else:
        after = "" if asked.samples is None else f" after {asked.samples:,} samples"
        yield f"Bounds on the gap{after}: {what}"
    yield from _coverage(asked)
    yield ""
    yield from _table(asked, rows)
    if asked.gap is None:
        yield from wrapped(
            f"* no gap exceeds {problem.largest_gap:g}, whatever is done, so a bound above that says nothing"
        )
    yield from wrapped("proven: it holds as the paper has it. corrected: it holds, in place of what is printed.")
    yield from wrapped("as printed: for comparison; it is not proven, for the reason given below.")
    yield ""
    yield f"What they say (M samples, at most m = {problem.joined} joined at once, K = {problem.events:,} means)"
    for bound, _ in rows:
        yield from wrapped(f"{bound.name} ({bound.status}): {bound.statement}", "  - ", "    ")
        start = "" if bound.at_least == 1 else f"; for {bound.at_least:,} samples or more"
        yield from wrapped(bound.why + start, "    ", "    ")
    if simulated is not None:
        yield from ("", *_simulation(asked, rows, simulated))
    if known.gap is not None:
        yield from ("", f"Certified in the result file: {known.gap:.4g}")
        yield from aligned(
            [(METHODS.get(name, name), f"{value:.4g}") for name, value in known.certificates], left=(0, 1)
        )
        if asked.gap is None and asked.samples is not None:
            yield from wrapped(_compared(rows, known.gap))


def _coverage(asked: _Asked) -> Iterator[str]:
    problem = asked.problem
    values = {"c_size": problem.c_size, "c_pair": problem.c_pair}
    if asked.feedback == "bandit":
        values = {"c_act": _c_act(problem)}
    for name, value in values.items():
        source = "as given" if name in asked.said else WHERE_FROM[name]
        if name == "c_act" and name not in asked.said:
            source += f"; as printed {printed_c_act(problem):.3g}"
        yield from wrapped(f"{name} = {value:.3g} ({source})", "  ", "    ")


def _table(asked: _Asked, rows: Rows) -> Iterator[str]:
    """Yield the bounds, those that say nothing marked with a star."""
    limit = asked.problem.largest_gap if asked.gap is None else math.inf
    lines = [["", *asked.heads, "status"]]
    for bound, answers in rows:
        lines.append([bound.name, *(_number(x) + ("*" if x >= limit else " ") for x in answers), bound.status])
    yield from aligned(lines, left=(0, len(lines[0]) - 1))


def _simulation(asked: _Asked, rows: Rows, found: Any) -> Iterator[str]:
    yield from wrapped(
        f"On a simulated log of this kind ({found.samples:,} samples, {asked.actions_per_agent} actions, Gaussian "
        f"utilities, uniform exploration, seed {asked.seed})",
        "",
    )
    yield from aligned(
        [
            *((METHODS[name], f"{value:.4g}") for name, value in found.certificates.items()),
            ("true gap", f"{found.true_gap:.4g}"),
            ("c_pair", f"{found.c_pair:.4g}"),
        ],
        left=(0, 1),
    )
    if asked.gap is None:
        yield from wrapped(_compared(rows, found.certificates["holdout"]))
        if asked.feedback == "semi-bandit" and asked.samples is not None:
            bound = pair_coverage(replace(asked.problem, c_pair=found.c_pair)).gap(asked.samples)
            yield from wrapped(f"With the coverage of this log, pair coverage gives {_number(bound)}.")
        return
    held = found.certificates["holdout"]
    reached = f"certifies {held:.4g} after {found.samples:,} samples"
    if held > asked.gap:
        reached += ", the longest log that was tried"
    best = _best(rows)
    asks = "" if best is None else f"; the smallest bound that holds ({best[0]}) asks for {_number(best[1])}"
    yield from wrapped(f"The held-out certificate {reached}{asks}.")


def _best(rows: Rows) -> tuple[str, float] | None:
    """Return the smallest answer among the bounds that hold."""
    hold = [(answers[0], bound.name) for bound, answers in rows if bound.status != "as printed"]
    return (min(hold)[1], min(hold)[0]) if hold else None


def _compared(rows: Rows, certificate: float) -> str:
    best = _best(rows)
    if best is None:
        return f"Data certify {certificate:.4g}; the bounds above are as printed, and prove nothing."
    name, value = best
    more = ""
    if 0 < certificate < math.inf and 0 < value < math.inf:
        ratio = value / certificate
        more = f", {ratio:,.3g} times as much" if ratio >= 1 else f", {1 / ratio:,.3g} times less"
    return f"Data certify {certificate:.4g}; the smallest bound that holds ({name}) is {_number(value)}{more}."


def _number(value: float) -> str:
    """Return a number of four digits, and whole numbers up to a million in full."""
    if math.isinf(value):
        return "inf"
    if float(value).is_integer() and value < 10**6:
        return f"{int(value):,}"
    return f"{value:.4g}" if value < 10**6 else f"{value:.3e}"
