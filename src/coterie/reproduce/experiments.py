"""Which experiments there are: figures, their panels, and the cells (one game and its log) behind them.

A cell is one drawn game and one log of it, looked at after each of several numbers of samples. Figures share cells:
the panels of Figure 1 are among those of S1 and S2, and sweeps over agents and coalitions have one cell in common.

Figures of your own are made of the same parts, `Figure` and `Panel`, with other models, policies, sizes, numbers of
samples, seeds and methods; `coterie.reproduce.run.reproduce` takes them, with methods and games of your own.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from coterie import checks
from coterie.errors import InputError
from coterie.simulate.logs import FEEDBACKS, Feedback
from coterie.simulate.models import ModelName
from coterie.simulate.policies import PolicyName

DELTA = 0.01

SAMPLES = (100, 5_000, 10_000, 20_000, 30_000)
MIXED_SAMPLES = (100, 2_000, 4_000, 6_000, 8_000, 10_000, 20_000, 30_000)

MODELS: tuple[ModelName, ...] = ("uniform", "size-uniform", "gaussian", "size-gaussian")

SEEDS = 5
"""How many games each point is a mean over, as in the paper. A larger number computes only what is missing."""

BOTH = ("paper", "auto")

BASELINES = ("best response", "pessimism", "welfare", "random")
"""Simpler ways, in every figure's table and in no picture; see `coterie.reproduce.methods`."""

ABLATION = (
    "monte carlo", "exact", "union bound", "clipped", "paired", "pure search", "union form", "held out",
    "variance", "auto",
)  # fmt: skip
"""From the paper's certificate to ours, one change at a time; see `coterie.reproduce.ablation`."""

STEPS = ABLATION[1:-1]
"""Those that are no methods on their own."""


@dataclass(frozen=True)
class Cell:
    """One game, drawn from its seed, and one log of it."""

    feedback: Feedback
    model: ModelName | str
    policy: PolicyName
    n: int
    k: int
    actions: int
    seed: int
    samples: tuple[int, ...]
    methods: tuple[str, ...]

    @property
    def name(self) -> str:
        """A file name of its own; the last word stands for samples and methods, and for a model of any name."""
        rest = repr((self.model, self.samples, self.methods))
        model = "".join(letter if letter.isalnum() else "-" for letter in self.model)
        return (
            f"{self.feedback}_{model}_{self.policy}_n{self.n}_k{self.k}_a{self.actions}_s{self.seed}"
            f"_{hashlib.sha256(rest.encode()).hexdigest()[:12]}"
        )

    @property
    def cost(self) -> float:
        """Roughly how long it takes, for starting the long ones first."""
        by_size = 2.0 if self.model.startswith("size") else 1.0
        if self.model.startswith("mixed"):
            by_size = 3.0**self.n / (20 if self.feedback == "bandit" else 50)
        return by_size * self.n**2 * self.k * len(self.samples) * len(self.methods) * self.actions


@dataclass(frozen=True)
class Panel:
    """One picture of a figure: a family of cells of which one number varies."""

    model: ModelName | str
    """One of `coterie.simulate.MODELS`, or the name of games of your own."""
    policy: PolicyName
    varies: str
    """What the curves differ in: "n", "k", or nothing."""
    curves: tuple[tuple[int, int], ...]
    """(n, k) of each curve, or of one."""
    feedback: Feedback = "semi-bandit"
    actions: int = 3

    def __post_init__(self) -> None:
        """Refuse what no panel has; lists, NumPy numbers and (n, k) of a single curve are taken too."""
        checks.index_of(self.varies, ("n", "k", ""), "what varies in a panel")
        checks.index_of(self.feedback, FEEDBACKS, "feedback")
        object.__setattr__(self, "actions", checks.whole(self.actions, "actions", 1))
        object.__setattr__(self, "curves", _sizes(self.curves))

    @property
    def name(self) -> str:
        """How the panel is called in tables."""
        fixed = {"n": f"k={self.curves[0][1]}", "k": f"n={self.curves[0][0]}"}
        kept = fixed.get(self.varies, f"n={self.curves[0][0]} k={self.curves[0][1]}")
        more = "" if self.actions == 3 else f" {self.actions} actions"
        return f"{self.model} {self.policy} {kept}{' bandit' if self.feedback == 'bandit' else ''}{more}"


def _sizes(curves: Any) -> tuple[tuple[int, int], ...]:
    """Return (n, k) of each curve."""
    listed = [_several(curve) for curve in _several(curves)]
    if len(listed) == 2 and all(len(curve) == 1 for curve in listed):
        listed = [listed[0] + listed[1]]
    if not listed or any(len(curve) != 2 for curve in listed):
        raise InputError(
            f"curves: expected (n, k) of each curve, such as [(5, 5), (10, 5)], got {checks.shown(curves)}"
        )
    found = tuple((checks.whole(n, "curves: n", 2), checks.whole(k, "curves: k", 1)) for n, k in listed)
    if len(set(found)) < len(found):
        raise InputError(f"curves: {next(one for one in found if found.count(one) > 1)} occurs twice")
    return found


def _several(given: Any) -> tuple[Any, ...]:
    """Return several things as a tuple, and one thing as a tuple of one."""
    return tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (given,)


def seeds_of(given: Any, what: str) -> int | tuple[int, ...]:
    """Return a number of games, or the seeds of these games, each once."""
    if not isinstance(given, Iterable) or isinstance(given, str):
        return checks.whole(given, what, 1)
    found = tuple(checks.whole(seed, what, 0) for seed in given)
    if not found:
        raise InputError(f"{what}: expected at least one")
    if len(set(found)) < len(found):
        twice = next(seed for seed in found if found.count(seed) > 1)
        raise InputError(f"{what}: {twice} occurs twice, which would count one game twice")
    return found


SEVERAL = ("panels", "samples", "methods", "beside")


@dataclass(frozen=True)
class Figure:
    """Panels with common axes."""

    name: str
    title: str
    panels: tuple[Panel, ...]
    samples: tuple[int, ...] = SAMPLES
    seeds: int | tuple[int, ...] = SEEDS
    """How many games each point is a mean over, or the seeds of these games."""
    methods: tuple[str, ...] = BOTH
    """What is drawn: names in `coterie.reproduce.methods.METHODS`, or methods of your own."""
    beside: tuple[str, ...] = BASELINES
    """What is in the table too."""

    def __post_init__(self) -> None:
        """Refuse what no figure has; lists, NumPy numbers and one instead of several are taken too."""
        where = f"figure {self.name!r}"
        if not self.name or any(letter in self.name for letter in "/\\:\0"):
            raise InputError(f"{where}: the name becomes that of files; take letters, digits and blanks")
        several: dict[str, Any] = {name: _several(getattr(self, name)) for name in SEVERAL}
        several["samples"] = tuple(checks.whole(one, f"{where}, samples", 1) for one in several["samples"])
        several["seeds"] = seeds_of(self.seeds, f"{where}, seeds")
        for name, value in several.items():
            object.__setattr__(self, name, value)
        if not self.methods:
            raise InputError(f"{where}: no methods; `coterie.reproduce.METHODS` has some")
        if not self.samples or sorted(set(self.samples)) != list(self.samples):
            raise InputError(f"{where}: expected numbers of samples in ascending order, got {list(self.samples)}")
        panels = [panel.name if isinstance(panel, Panel) else checks.shown(panel) for panel in self.panels]
        if not panels or len(set(panels)) < len(panels) or not all(isinstance(one, Panel) for one in self.panels):
            raise InputError(f"{where}: expected panels that differ, got {panels}")

    @property
    def games(self) -> tuple[int, ...]:
        """The seeds of the games of each point."""
        return tuple(range(self.seeds)) if isinstance(self.seeds, int) else self.seeds

    @property
    def tabled(self) -> tuple[str, ...]:
        """All methods whose results are in the table."""
        return tuple(dict.fromkeys(self.methods + self.beside))

    @cached_property
    def cells(self) -> tuple[tuple[Panel, Cell], ...]:
        """Every cell with the panel that shows it."""
        return tuple(
            (
                panel,
                Cell(panel.feedback, panel.model, panel.policy, n, k, panel.actions, seed, self.samples, self.tabled),
            )
            for panel in self.panels
            for n, k in panel.curves
            for seed in self.games
        )


def _sweeps(models: Iterable[ModelName], policy: PolicyName, sizes: tuple[int, ...], agents: int) -> Iterator[Panel]:
    """Yield for each model the panel of agents (5 coalitions) and that of coalitions (10 agents, or as many)."""
    for model in models:
        yield Panel(model, policy, "n", tuple((n, 5) for n in sizes))
        yield Panel(model, policy, "k", tuple((agents, k) for k in sizes))


def _mixed(
    policy: PolicyName, feedback: Feedback, agents: Iterable[int], model: ModelName = "mixed-effects"
) -> tuple[Panel, ...]:
    return tuple(Panel(model, policy, "", ((n, 5),), feedback) for n in agents)


def _figures(
    sizes: tuple[int, ...],
    fixed: int,
    few: tuple[int, ...],
    agents: tuple[int, ...],
    steps: tuple[tuple[int, int], ...],
) -> tuple[Figure, ...]:
    some = tuple((n, 5) for n in few)
    kinds: tuple[Feedback, ...] = ("semi-bandit", "bandit")
    supplement: tuple[tuple[str, Feedback, PolicyName], ...] = (
        ("S3", "semi-bandit", "random"),
        ("S4", "semi-bandit", "coalition-size"),
        ("S5", "bandit", "random"),
        ("S6", "bandit", "coalition-size"),
    )
    return (
        Figure(
            "1",
            "Certificates against the number of samples",
            (
                *_sweeps(("size-uniform", "size-gaussian"), "random", sizes, fixed),
                *_sweeps(("uniform", "size-uniform"), "1rand", sizes, fixed),
            ),
        ),
        Figure("S1", "Four models, uniformly random policy", tuple(_sweeps(MODELS, "random", sizes, fixed))),
        Figure("S2", "Four models, 1Rand", tuple(_sweeps(MODELS, "1rand", sizes, fixed))),
        *(
            Figure(
                name,
                f"Mixed coalition size effects, {feedback} feedback, {policy} policy",
                _mixed(policy, feedback, agents),
                MIXED_SAMPLES,
            )
            for name, feedback, policy in supplement
        ),
        Figure(
            "clipped",
            "Mixed coalition size effects, clipped to [-1, 1], 4 agents",
            tuple(
                panel
                for feedback in kinds
                for policy in ("random", "coalition-size")
                for panel in _mixed(policy, feedback, agents[1:2], "mixed-effects-clipped")
            ),
            MIXED_SAMPLES,
        ),
        Figure(
            "redrawn",
            "Gaussian models: one mean per pair and coalition, one per pair, or one per observation",
            tuple(Panel(model, "random", "n", some) for model in ("gaussian", "gaussian-pairs", "gaussian-redrawn")),
        ),
        Figure(
            "actions",
            "Eight actions instead of three",
            tuple(
                Panel(model, "random", "n", some[:2], actions=actions)
                for model in ("uniform", "gaussian")
                for actions in (3, 8)
            ),
        ),
        Figure(
            "mixed",
            "Mixed strategies beside pure ones",
            tuple(Panel("gaussian", policy, "", some[:1]) for policy in ("random", "1rand")),
            methods=("auto", "auto mixed"),
        ),
        Figure(
            "ablation",
            "From the paper's certificate to ours, one change at a time",
            tuple(Panel("gaussian", "random", "", (size,)) for size in steps),
            methods=ABLATION,
        ),
    )


FIGURES = {
    figure.name: figure for figure in _figures((5, 10, 15, 20, 25), 10, (5, 10, 25), (3, 4, 5, 6), ((5, 5), (10, 5)))
}
"""Every figure of the paper (1, S1 to S6), and what goes beyond it."""

QUICK = {
    figure.name: replace(
        figure,
        samples=(100, 1_000, 5_000) if figure.samples == SAMPLES else (100, 2_000, 10_000),
        seeds=1,
    )
    for figure in _figures((3, 5), 5, (3, 5), (3, 4), ((5, 5),))
}
"""The same with small games and one seed: a look at everything within a minute."""


def figures(names: Iterable[str], *, quick: bool = False) -> tuple[Figure, ...]:
    """Return figures by name, "all" or no name for all of them; an unknown name is refused."""
    known = QUICK if quick else FIGURES
    wanted = list(names)
    if not wanted or "all" in wanted:
        wanted = [*(name for name in wanted if name != "all"), *known]
    places = dict.fromkeys(checks.index_of(name, tuple(known), "figure") for name in wanted)
    return tuple(tuple(known.values())[place] for place in sorted(places))
