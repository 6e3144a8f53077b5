"""What `learn` and `certify` find: the contract's result file, and the same in Python."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from coterie import checks
from coterie.assumptions.check import QUESTIONS, Check
from coterie.certificates.certificate import Certificate, Witness
from coterie.coverage.coverage import Coverage
from coterie.errors import InputError
from coterie.files import expect_format, naming, read_json, record, to_json, typed, whole_file
from coterie.game.game import Value
from coterie.game.rules import Rules
from coterie.game.steps import Stability
from coterie.game.strategy import Strategy
from coterie.learn.changes import Change, Loss
from coterie.learn.explanation import Explanation, Room, with_others
from coterie.learn.options import Likely, Option
from coterie.learn.warnings import TOO_FEW
from coterie.learn.wishes import Goal
from coterie.log.direction import Scale
from coterie.log.options import Missing
from coterie.log.schema import Feedback
from coterie.solve.solution import Status
from coterie.statistics.setting import Noise, Sizes
from coterie.words import GUESS, counted, data_frame, html_table, percent, said, some

FORMAT = "coterie.result/1"

LOOKED_AT = 1000
"""In so many bytes a result file says that it is one."""

NAMED = 12
"""So many agents are named in a sentence."""

STEPS: dict[str, str] = {
    "nash": "by moving",
    "individual": "by moving to where nobody would lose by it",
    "contractual": "by moving from where nobody would lose by it",
    "contractual-individual": "by moving without somebody else losing by it",
    "swap": "by moving or by a swap that both gain from",
}
"""What people could do, by notion of stability."""


@dataclass(frozen=True)
class Estimate:
    """What the strategy is worth if what is expected is the truth.

    Expected is what `coterie.learn.beliefs` makes of the log, as for the worth of options, never beyond what is sure.
    What `learn` finds in the game of the paper (`any_size`, goal "stability") has the averages in the log instead.
    """

    gap: float
    potential: float | None
    """None where the estimated game has none."""
    utility: Mapping[str, float]
    """Agent -> their utility."""


@dataclass(frozen=True)
class Search:
    """How the strategy was looked for; "given" where it was not."""

    method: str
    status: Literal["given", Status]
    starts: int
    sweeps: int
    seconds: float = field(compare=False)
    objective: str | None = None
    """What was minimised; None where nothing was."""
    value: float | None = None
    """The objective at the strategy."""
    bound: float | None = None
    """A proven lower bound on the objective at every strategy that was admitted, where there is one."""
    note: str = ""
    """What a reader should know about the search, in one sentence."""
    guess: str = "raw"
    """The kind of guess that the search used: "raw" means, how they were shrunk, or what is expected ("posterior")."""

    def to_json(self) -> dict[str, Any]:
        """Return the `solver` part of a result file."""
        if self.objective is None:
            return {name: getattr(self, name) for name in ("method", "status", "starts", "sweeps", "seconds")}
        first = ("method", "objective", "value", "bound")
        return {**{name: getattr(self, name) for name in first}, **asdict(self)}


@dataclass(frozen=True)
class Data:
    """The log that was learnt from, and how it was read."""

    feedback: Feedback
    symmetric: bool
    sizes: Sizes
    noise: Noise
    utility_range: tuple[float, float] | None
    rows: int
    sha256: str
    """Of the statistics."""
    neutral: float = 0.0
    sigma: float | None = None
    actions: Any = "observed"
    pool_coalitions: bool = False
    log_sha256: str | None = None
    """Of what was observed, however its samples were divided."""
    samples: int | None = None
    missing: Missing = "ignore"
    """Whether meetings without a row were left out, or counted at their worst."""
    since: str | None = None
    """The first sample that was asked for; None where none was, or where logs were added that differ in this."""
    until: str | None = None
    """The last sample that was asked for."""
    adaptive: bool = False
    """Whether who met whom was allowed to depend on earlier utilities."""

    marks: tuple[str, ...] = ()
    """Of a few samples, so that a log is known again however it is read; see `coterie.statistics.fresh`."""
    average: float | None = None
    """What a pair got on average over everything in the log, on its scale; None where nothing was seen, or in older
    files."""
    period: tuple[str, str] | None = None
    """The first and the last sample, where samples are dates."""
    totals: str = ""
    """What totals are, as `read_log` is told; "" where there are none, or in older files."""
    lower_is_better: bool = False
    """Whether less is better on the scale of the log, which range, neutral point and average here are on; values and
    gains of people count from the neutral point, and more of them is better in any case."""

    @property
    def has_scale(self) -> bool:
        """Whether the neutral point is one of the scale's own, so that what a pair gets is told on it."""
        return Scale(self.neutral, self.lower_is_better).has_neutral

    def on_scale(self, level: float) -> float:
        """Return what is so far from the neutral point, as the log has it."""
        return Scale(self.neutral, self.lower_is_better).level(level)

    def to_json(self) -> dict[str, Any]:
        """Return the `data` part of a result file, which has the samples elsewhere."""
        names = (
            *("feedback", "symmetric", "sizes", "noise", "utility_range", "neutral", "sigma", "actions"),
            *("pool_coalitions", "missing", "since", "until", "adaptive", "rows", "average", "period", "sha256"),
            *("log_sha256", "totals"),
        )
        turned = {"lower_is_better": True} if self.lower_is_better else {}
        return {**{name: getattr(self, name) for name in names}, **turned, "marks": list(self.marks)}


@dataclass(frozen=True)
class Together:
    """How many pairs the teams of an assignment bring together, and which of them nobody has ever seen together."""

    pairs: int
    """Pairs of people times teams that both are in."""
    unseen: int
    """How many of them were never seen together there; anywhere, where coalitions are interchangeable."""
    named: tuple[tuple[str, str, str], ...] = ()
    """The first of those: two people and their coalition."""

    def pairs_named(self, *, pooled: bool) -> list[str]:
        """Return the first of them in words; where coalitions are `pooled`, it does not matter in which."""
        return [f"{one} and {two}" + ("" if pooled else f" in {coalition}") for one, two, coalition in self.named]

    def told(self, *, pooled: bool) -> str:
        """Return how many are put together who were never seen together, and the first of them; "" if there are none.

        Where coalitions are `pooled`, it does not matter in which.
        """
        if not self.unseen:
            return ""
        there = "" if pooled else " there"
        first = self.pairs_named(pooled=pooled)[0]
        if self.unseen == self.pairs:
            return f"No two people in these teams were ever seen together{there}: what they are worth is {GUESS}."
        return (
            f"{self.unseen:,} of the {counted(self.pairs, 'pair')} in these teams "
            f"{'was' if self.unseen == 1 else 'were'} never seen together{there}, "
            f"{'namely' if self.unseen == 1 else 'such as'} {first}: what they are worth is {GUESS}."
        )


@dataclass(frozen=True)
class Candidate:
    """A strategy that was certified on the way."""

    method: str
    gap: float
    """Its certificate."""
    expected_gap: float | None
    """The gap to expect, None where that did not matter."""


@dataclass(frozen=True)
class Today:
    """Today's assignment, and what the recommended one is expected to improve."""

    strategy: Strategy
    moves: int
    """How many people are elsewhere in the recommended assignment."""
    expected_improvement: float
    """Of the mean utility of those who are assigned."""
    range: tuple[float, float]
    """What it is with probability 80 %, as far as the log tells."""
    changes: tuple[Change, ...] = ()
    """What changes for whom, and why."""
    chance: float | None = None
    """How probable it is that the recommended one is better, as far as the log tells; None where nobody knows."""
    left: tuple[str, ...] = ()
    """Who was in a team of it and left: it is taken without them."""
    losses: tuple[Loss, ...] = ()
    """Who is worse off than today, and why."""

    def to_json(self) -> dict[str, Any]:
        """Return `today` of a result file."""
        return {
            "strategy": self.strategy.to_json(),
            "moves": self.moves,
            "expected_improvement": self.expected_improvement,
            "range": list(self.range),
            "chance": self.chance,
            "changes": [change.to_json() for change in self.changes],
            **({"left": list(self.left)} if self.left else {}),
            "losses": [asdict(one) for one in self.losses],
        }


@dataclass(frozen=True, repr=False)
class Result:
    """A recommended (or given) strategy with its certificate and everything a reader may ask about it."""

    strategy: Strategy
    certificate: Certificate
    certificates: Mapping[str, float | None]
    """Each method alone at delta for this strategy; None where it would not be valid."""
    estimate: Estimate
    coverage: Coverage | None
    """None where it would take too long to work out."""
    solver: Search
    data: Data
    warnings: tuple[str, ...] = ()
    range_gap: float | None = None
    """What the range of utilities says without any data."""
    gain_intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Agent -> what their best alternative by what is expected changes, at least and at most."""
    explanations: Mapping[str, Explanation] = field(default_factory=dict)
    """Agent -> why they are where they are."""
    likely: float | None = None
    """What the gap likely is at most, not guaranteed (`coterie.certificates.likely`); `likely_gap` in the file. None
    where it is not known."""
    checks: tuple[Check, ...] = ()
    """What the log says about each assumption of the certificate, those that were not tested included."""
    candidates: tuple[Candidate, ...] = ()
    """What `learn` certified on the way."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """What was asked: the parameters of the learner, or of `certify`, as plain values."""
    version: str = ""
    seed: int | None = None
    value: Value = "total"
    """What a coalition is worth: the total over the other members, or their average."""
    stability: Stability = "nash"
    goal: Goal | None = None
    """What was recommended for; None where the strategy was given."""
    rules: Rules = field(default_factory=Rules)
    options: tuple[Option, ...] = ()
    """What else could be recommended, none of them beaten by another; the first is the recommendation."""
    today: Today | None = None
    violations: tuple[str, ...] = ()
    """The rules that the strategy breaks."""
    is_vacuous: bool = False
    """Whether the certificate would be 0 without any data."""
    together: Together | None = None
    """Who is put together without having been seen together; None for mixed strategies, and where it is not known."""
    more_samples: float | None = None
    """Where nothing is certified, how many more samples like these would certify something, by extrapolation; infinite
    where no realistic number would, None where that is not known."""
    by_lot: Likely | None = None
    """By how much the mean utility is above that of teams of the same sizes drawn by lot; None where today is known,
    or where that is too much to draw."""
    team_names: Mapping[str, str] = field(default_factory=dict)
    """What interchangeable coalitions are called today, where that is known; see `coterie.learn.team_names`."""
    unit: str = ""
    """What utilities are counted in, such as "stars"; only said, never computed with."""
    title: str = ""
    """What the report is called; by default what it is about."""
    date: str = ""
    """The date that the report bears, in the words of who made it."""

    @property
    def left_out(self) -> tuple[str, ...]:
        """The agents whom the certificate is not about: they were in too few samples, or are not on the staff."""
        return self.certificate.left_out

    @property
    def says_nothing(self) -> bool:
        """Whether the certificate says no more than the scale does."""
        return TOO_FEW in self.warnings

    @property
    def contradicted(self) -> tuple[Check, ...]:
        """What the certificate takes for granted although the log shows otherwise."""
        covered = {"independence"} if self.data.noise == "samples" else set()
        return tuple(one for one in self.checks if one.verdict == "broken" and one.assumption not in covered)

    def caveat(self) -> str:
        """Return a sentence that belongs before the certificate where the log contradicts what it assumes."""
        if not self.contradicted:
            return ""
        which = "; ".join(QUESTIONS.get(check.assumption, check.assumption) for check in self.contradicted)
        return (
            f"Careful: the log contradicts what the promise takes for granted (by a test of {which}), so it may be "
            "wrong: see the warnings."
        )

    def sentence(self, *, witness: bool = True) -> str:
        """Return the certificate in one plain sentence, with its tightest case or not; `caveat` may belong to it."""
        found = self.certificate
        if found.gap == float("inf"):
            return "Nothing can be certified: nothing bounds the utility of pairs that were never seen."
        sure = f"With {percent(1 - found.delta)} confidence, {self.nobody_gains(found.gap)}"
        if found.worst is None:
            why = "nobody has a choice"
            if self.stability not in {"nash", "swap"}:
                why = "whoever could gain would surely be refused, or has no choice"
            return f"{sure}: {why}{self.uncounted()}."
        tightest = f"; the tightest case is {found.worst.agent} {self.moving(found.worst)}" if witness else ""
        return f"{sure}{tightest}{self.uncounted()}."

    def among_known(self) -> str:
        """Return what is sure without newcomers, a sentence that belongs below `sentence`; "" where there are none."""
        found = self.certificate
        if found.known_gap is None or found.known_gap == float("inf"):
            return ""
        sure = f"with {percent(1 - found.delta)} confidence, {self.nobody_gains(found.known_gap, 'nobody else')}"
        return f"There are no data of {some(found.newcomers, NAMED)}. Leaving their moves aside, {sure}."

    def nobody_gains(self, gap: float, who: str | None = None) -> str:
        """Word that a gap is at most so much."""
        who = who or ("nobody who is counted" if self.left_out else "nobody")
        # Labels and limits on moves say nothing about what people could do.
        within = " within the rules" if replace(self.rules, labels={}, left_behind=None, max_moves=None) else ""
        unit = f"{self.unit} " if self.unit else ""
        return f"{who} can gain {'' if gap == 0 else f'more than {gap:.3g} {unit}'}{STEPS[self.stability]}{within}"

    def uncounted(self) -> str:
        """Name those whom the certificate is not about, as the end of a sentence."""
        if not self.left_out:
            return ""
        gone = [] if self.rules.staff is None else [name for name in self.left_out if name not in self.rules.staff]
        rare = [name for name in self.left_out if name not in gone]
        few = (
            f", seen in fewer than {self.parameters['min_samples']} rounds"
            if self.parameters.get("min_samples")
            else ""
        )
        parts = [f"not counted{few}: {some(rare, NAMED)}"] if rare else []
        return "; " + "; ".join([*parts, *([f"not on the staff: {some(gone, NAMED)}"] if gone else [])])

    def step(self, witness: Witness, shown: Callable[[str], str] = str, between: str = " + ") -> str:
        """Name a step in a cell of a table: where it leads, or with whom it is taken."""
        if len(witness.movers) > 1:
            return with_others(witness, self.strategy.actions, shown=shown)
        return between.join(map(shown, witness.deviation)) or "nothing"

    def moving(self, witness: Witness) -> str:
        """Word a deviation as a move."""
        if witness.movers:
            return with_others(witness, self.strategy.actions, moving="moving", swapping="swapping")
        now = set(self.strategy.actions[witness.agent]) if self.strategy.is_pure else set()
        to = [name for name in witness.deviation if name not in now]
        kept = bool(now & set(witness.deviation))
        if not to:
            left = [name for name in self.strategy.coalitions if name in now and name not in witness.deviation]
            if left:
                return f"leaving {' and '.join(left)}"
            # The paper's certificate charges people for the doubt about what they already do.
            return "staying where they are" if now else "staying out"
        return f"{'also ' if kept and now <= set(witness.deviation) else ''}moving to {' and '.join(to)}"

    def __repr__(self) -> str:
        nothing = "There are too few data to certify anything. " if self.says_nothing else ""
        caveat = f"{self.caveat()}\n" if self.contradicted else ""
        known = f"\n{self.among_known()}" if self.among_known() else ""
        return f"{caveat}{nothing}{self.sentence()}{known}\n{self.strategy!r}"

    def _repr_html_(self) -> str:
        """Return what was found, and everybody's row, for notebooks."""
        from coterie.learn.headline import against_today
        from coterie.learn.promises import what_is_sure
        from coterie.learn.summary import (
            better_places,
            cut_short,
            guesses,
            less_well_off,
            people_rows,
            recommendation,
            so_far,
            told_first,
        )
        from coterie.learn.team_names import with_team_names

        shown = with_team_names(self)
        told = [
            *told_first(shown),
            recommendation(shown),
            cut_short(shown),
            so_far(shown),
            self.caveat(),
            against_today(shown),
            less_well_off(shown, advise=False),
            better_places(shown),
            guesses(shown),
            what_is_sure(shown),
            self.among_known(),
        ]
        rows = [[f"{cell:.2f}" if isinstance(cell, float) else cell for cell in row] for row in people_rows(shown)]
        return "".join(f"<p>{escape(text)}</p>" for text in told if text) + html_table(rows)

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for everybody: where they are, what it is worth, what would be best."""
        from coterie.learn.summary import people_rows
        from coterie.learn.team_names import with_team_names

        return data_frame(people_rows(with_team_names(self)))

    # --- The file -----------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """Return the content of `result.json`."""
        strategy = self.strategy
        marginals = {
            agent: dict(zip(strategy.coalitions, row.tolist(), strict=True))
            for agent, row in zip(strategy.agents, strategy.marginals, strict=True)
        }
        coverage = {"samples": self.data.samples, **dict.fromkeys(_COVERAGE)}
        rooms = {agent: [asdict(room) for room in one.rooms] for agent, one in self.explanations.items()}
        return {
            "format": FORMAT,
            "version": self.version,
            "seed": self.seed,
            "agents": list(strategy.agents),
            "coalitions": list(strategy.coalitions),
            "strategy": strategy.to_json(),
            "coalition_members": strategy.members() if strategy.is_pure else None,
            **({} if strategy.is_pure else {"marginals": marginals}),
            "certificate": self.certificate.to_json(),
            "likely_gap": self.likely,
            "value": self.value,
            "stability": self.stability,
            "goal": self.goal,
            "rules": self.rules.to_json(),
            "violations": list(self.violations),
            "options": [one.to_json() for one in self.options],
            "today": None if self.today is None else self.today.to_json(),
            "is_vacuous": self.is_vacuous,
            "together": None if self.together is None else asdict(self.together),
            **({} if self.more_samples is None else {"more_samples": self.more_samples}),
            "by_lot": None if self.by_lot is None else asdict(self.by_lot),
            **{name: getattr(self, name) for name in ("unit", "title", "date") if getattr(self, name)},
            **({"team_names": dict(self.team_names)} if self.team_names else {}),
            "left_out": list(self.left_out),
            "certificates": dict(self.certificates),
            "estimate": asdict(self.estimate),
            "coverage": coverage if self.coverage is None else self.coverage.to_json(),
            "solver": self.solver.to_json(),
            "data": self.data.to_json(),
            "warnings": list(self.warnings),
            "checks": [asdict(check) for check in self.checks],
            "range_gap": self.range_gap,
            "gain_intervals": {agent: list(interval) for agent, interval in self.gain_intervals.items()},
            "best_alternatives": {
                agent: one.alternative.to_json() for agent, one in self.explanations.items() if one.alternative
            },
            "explanations": rooms,
            **({"candidates": [asdict(one) for one in self.candidates]} if self.candidates else {}),
            "parameters": dict(self.parameters),
        }

    @classmethod
    def from_json(cls, data: Any) -> "Result":
        """Read what `to_json` returned, or the content of a result file, also of one that others wrote."""
        expect_format(data, FORMAT)
        for name, kind in _NEEDED.items():
            if not isinstance(data.get(name), kind):
                raise InputError(f"is not a complete result file: {name} is {checks.shown(data.get(name))}")
        agents, coalitions = (checks.names(data[name], name) for name in ("agents", "coalitions"))
        certificate: Certificate = record(Certificate, data["certificate"], "certificate")
        intervals = typed(Mapping[str, tuple[float, float]], data.get("gain_intervals", {}), "gain_intervals")
        explained = typed(Mapping[str, tuple[Room, ...]], data.get("explanations", {}), "explanations")
        least = {agent: low for agent, (low, _) in intervals.items()}
        best = certificate.alternatives
        if "best_alternatives" in data:
            best = typed(Mapping[str, Witness], data["best_alternatives"], "best_alternatives")
        coverage = data["coverage"]
        parts = {
            "strategy": Strategy.from_json(data["strategy"], agents, coalitions),
            "certificate": certificate,
            "coverage": None if coverage.get("c_size") is None else Coverage.from_json(coverage),
            "data": {**data["data"], "samples": coverage.get("samples")},
            "likely": data.get("likely_gap"),
            "rules": Rules.from_json(data["rules"]) if data.get("rules") else Rules(),
            "options": tuple(
                _with_strategy(Option, one, "options", agents, coalitions)
                for one in typed(tuple[Any, ...], data.get("options", ()), "options")
            ),
            "today": None
            if data.get("today") is None
            else _with_strategy(Today, data["today"], "today", agents, coalitions),
            "explanations": {
                agent: Explanation.of(agent, rooms, best.get(agent), least.get(agent))
                for agent, rooms in explained.items()
            },
        }
        found: Result = record(cls, {**data, **parts})
        return found

    def file_content(self) -> str:
        """Return the text of the result file."""
        return to_json(self.to_json())

    def save(self, path: str | PathLike[str]) -> None:
        """Write the result file, whole or not at all."""
        with whole_file(path) as temporary:
            temporary.write_text(self.file_content(), encoding="utf-8")

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "Result":
        """Read a result file."""
        if isinstance(path, str | PathLike) and Path(path).is_dir():
            raise InputError(_about_folder(Path(path)))
        try:
            content = read_json(path)
        except InputError:
            other = isinstance(path, str | PathLike) and Path(path).suffix.lower() != ".json"
            if other and Path(path).is_file():
                raise InputError(
                    f"{path}: is no result file, expected the .json file that learn wrote with "
                    f"{said(out='result.json')}"
                ) from None
            raise
        with naming(path):
            return cls.from_json(content)


def _with_strategy(kind: Any, data: Any, where: str, agents: tuple[str, ...], coalitions: tuple[str, ...]) -> Any:
    """Return a record that holds a strategy."""
    if not isinstance(data, Mapping):
        raise InputError(f"{where}: expected an object, got {checks.shown(data)}")
    return record(kind, {**data, "strategy": Strategy.from_json(data.get("strategy"), agents, coalitions)}, where)


_NEEDED: dict[str, type] = {
    **dict.fromkeys(("agents", "coalitions"), list),
    **dict.fromkeys(("strategy", "certificate", "certificates", "estimate", "coverage", "solver", "data"), Mapping),
}

_COVERAGE = ("pairs_unseen", "assumption_1", "c_size", "assumption_2", "c_act", "c_pair")
"""What the contract's `coverage` holds, besides samples."""


def as_result(value: Any) -> Result:
    """Return a result that was given itself, or by its file."""
    if isinstance(value, Result):
        return value
    if isinstance(value, (str, PathLike)):
        return Result.load(value)
    raise InputError(f"result: expected a Result or the path of a result file, got {checks.shown(value)}")


def _about_folder(folder: Path) -> str:
    """Return which result files lie in a folder that was given for one, or how to make one of it."""
    begins = f'"format": "{FORMAT}"'
    there = [
        file for file in sorted(folder.glob("*.json")) if begins in file.read_bytes()[:LOOKED_AT].decode("latin-1")
    ]
    if there:
        return f"{folder}: is a folder, expected a result file; in it there is {some(map(str, there), NAMED)}"
    return (
        f"{folder}: is a folder, expected a result file; if it is a log, learn from it first, with "
        f"{said(out='result.json')}, and name that file"
    )
