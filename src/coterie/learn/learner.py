"""`StableLearner`: from a log to a recommended strategy and its certificate, in scikit-learn's manner."""

import copy
import inspect
from collections.abc import Callable
from dataclasses import replace
from os import PathLike
from typing import Any, Self

import numpy as np

from coterie import checks
from coterie.arrays import FloatArray
from coterie.certificates.certificate import Certificate
from coterie.certificates.from_statistics import evidence_from
from coterie.coverage.coverage import Coverage
from coterie.errors import InputError, NotFittedError
from coterie.estimate.intervals import Moments
from coterie.estimate.pair_means import is_listed
from coterie.game.game import STABLE_WITHIN, Game, Value
from coterie.game.steps import Stability
from coterie.game.strategy import Strategy, StrategyLike, as_strategy
from coterie.learn.assemble import assembled
from coterie.learn.auto import Method, Recommendation, recommend
from coterie.learn.beliefs import Beliefs, beliefs_from
from coterie.learn.explain import explain
from coterie.learn.explanation import Explanation
from coterie.learn.own import Own, Problem, Question, named
from coterie.learn.result import Result, Search
from coterie.learn.teams import TeamsRecommendation, recommend_teams, refuse_for_many
from coterie.learn.warnings import NO_STABLE_PROFILE, chosen_before, not_seen_lately
from coterie.learn.wishes import Goal, Wishes, wishes_about
from coterie.learn.worth import Worth, worth
from coterie.log.log import Log, as_log
from coterie.solve.control import Control, Progress
from coterie.solve.search import Kind, SolverName
from coterie.statistics.dependence import SampleExcess
from coterie.statistics.fresh import share_samples
from coterie.statistics.noise import chosen_noise
from coterie.statistics.second_pass import SecondPass
from coterie.statistics.setting import NoiseChoice, Sizes
from coterie.statistics.statistics import Statistics
from coterie.threads import one_thread
from coterie.words import said

CHOICES = {"strategy": Kind, "sizes": Sizes, "noise": NoiseChoice}
"""The parameters that are one of several words."""

OR_OWN = {"certificate": Method, "solver": SolverName}
"""Those that are one of several words, or a function."""

LogLike = Log | Statistics | str | PathLike[str]
"""What stands for a log: itself, its statistics, or the folder or file that it is in."""


class StableLearner:
    """Learn a strategy that nobody wants to leave, and certify how far anybody could gain by leaving.

    Parameters
    ----------
    strategy
        "pure" (everybody goes to fixed coalitions) or "mixed".
    certificate
        "auto" (`holdout` or `paired`, whichever serves better), or one of "holdout", "paired", "paper"; or a function
        that is given a `coterie.learn.own.Question` and returns a number that bounds the gap of its strategy, or a
        `Certificate`. It must hold for all strategies together with probability 1 - delta; nothing can check that.
    delta
        The certificate holds with probability at least 1 - delta.
    sizes
        "ignore", or "aware": what a pair gets on average may depend on the size of its team.
    noise
        "pairs": all pair utilities are independent. "samples": those of one sample need not be. "auto": "pairs" if
        the samples that learn are enough to show dependence and do not, else "samples"; `result_.data.noise` says
        which. `partial_fit` and `merge` choose anew.
    solver
        "auto", "pure", "mixed", "exact", "polymatrix" or "paper"; or a function that is given a
        `coterie.learn.own.Problem` and returns one strategy, or several to choose from. What it returns is certified as
        anything else is.
    guess
        A function that is given the counts, means and variances of all pairs (`coterie.estimate.intervals.Moments`) and
        returns what every mean is taken to be; it decides what is looked for, never what is promised. None: what the
        log leaves possible.
    target_gap
        A strategy whose certificate is at most this is preferred to any other; None for no such wish.
    min_samples
        Agents who were in fewer samples are left out of the certificate, by name (`result_.left_out`): it is about what
        the others could gain. They still take part. 0 counts everybody.
    rules
        Which teams can be formed: `coterie.Rules`, an object as in `rules.json`, or the path of such a file.
    value
        What a coalition is worth to a member: the "total" over the others, or their "average". By default what the log
        says, see `coterie.read_log`; for mixed strategies and the paper's solver and certificate, "total".
    stability
        Which steps a strategy must hold against: "nash", "individual", "contractual", "contractual-individual" or
        "swap". By default "swap" where rules bound sizes, else "nash".
    goal
        What is recommended: the largest expected "value" among what no other beats, the smallest certificate
        ("stability"), or the largest expected value of whoever is worst off ("fairness"). By default "value"; for mixed
        strategies and the paper's solver and certificate, "stability".
    today
        Who is where now: a dictionary person -> coalitions, a strategy, or the path of a CSV or JSON file.
    keep_sizes
        Whether every coalition keeps the size that it has today.
    any_size
        Whether coalitions larger than any seen may be recommended.
    time_limit
        In seconds, for the searches; reading, what the log makes of people, certifying and testing assumptions come on
        top: they are the same with a limit and without.
    random_state
        The seed of the split and of the search: the same number gives the same result. None, or a NumPy Generator,
        draws a number, which the result records.
    progress
        Called now and then with a `coterie.solve.Progress`.
    stop
        Asked often; the searches end when it says True, and the best so far is certified: `threading.Event().is_set`.

    Attributes
    ----------
    game_
        The game that the log suggests: the utilities that are expected.
    strategy_, certificate_, result_, statistics_, coverage_
        What `fit` found: the strategy, its certificate, everything that a result file holds, the sums
        that the log was reduced to, and how well the log covers what the certificate depends on (None where that
        would take too long to work out).
    """

    statistics_: Statistics
    strategy_: Strategy
    certificate_: Certificate
    result_: Result
    coverage_: Coverage | None
    _known: tuple[Statistics, Beliefs] | None = None

    def __init__(
        self,
        *,
        strategy: Kind = "pure",
        certificate: Method | Callable[[Question], Certificate | float] = "auto",
        delta: float = 0.01,
        sizes: Sizes = "ignore",
        noise: NoiseChoice = "auto",
        solver: SolverName | Callable[[Problem], Any] = "auto",
        guess: Callable[[Moments], Any] | None = None,
        target_gap: float | None = None,
        min_samples: int = 0,
        rules: Any = None,
        value: Value | None = None,
        stability: Stability | None = None,
        goal: Goal | None = None,
        today: Any = None,
        keep_sizes: bool = False,
        any_size: bool = False,
        time_limit: float | None = None,
        random_state: checks.Seed = 0,
        progress: Callable[[Progress], None] | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> None:
        self.strategy = strategy
        self.certificate = certificate
        self.delta = delta
        self.sizes = sizes
        self.noise = noise
        self.solver = solver
        self.guess = guess
        self.target_gap = target_gap
        self.min_samples = min_samples
        self.rules = rules
        self.value = value
        self.stability = stability
        self.goal = goal
        self.today = today
        self.keep_sizes = keep_sizes
        self.any_size = any_size
        self.time_limit = time_limit
        self.random_state = random_state
        self.progress = progress
        self.stop = stop

    # --- scikit-learn's manners ---------------------------------------------------------------------

    @classmethod
    def _parameters(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: FBT001, FBT002, ARG002  (scikit-learn's signature)
        """Return the parameters as they were given."""
        return {name: getattr(self, name) for name in self._parameters()}

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters; they take effect at the next `fit`."""
        for name, value in parameters.items():
            if name not in self._parameters():
                raise InputError(f"unknown parameter {name!r}; expected one of {', '.join(self._parameters())}")
            setattr(self, name, value)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "result_")

    def __sklearn_tags__(self) -> Any:
        # Only scikit-learn asks for these, so it is installed then; this package does not need it.
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=False))

    def __getattr__(self, name: str) -> Any:
        if name.endswith("_") and not name.startswith("_") and name.rstrip("_") in _FITTED:
            raise NotFittedError(f"{name}: this learner has learnt nothing yet; call fit(log) first")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __repr__(self) -> str:
        default = inspect.signature(type(self).__init__).parameters
        given = [f"{name}={value!r}" for name, value in self.get_params().items() if value != default[name].default]
        return f"StableLearner({', '.join(given)})"

    # --- Learning -----------------------------------------------------------------------------------

    @one_thread()
    def fit(self, log: LogLike, y: None = None) -> Self:  # noqa: ARG002  (scikit-learn's signature)
        """Learn from a log, from statistics of one, or from the folder or file that a log is in.

        A bandit log is read twice where that makes its certificate tighter; its statistics alone cannot be.
        """
        seed = self._checked_seed()
        source = log if isinstance(log, Statistics) else as_log(log)
        statistics = self._statistics(source, seed)
        again = SecondPass.of_log(source, statistics) if isinstance(source, Log) else None
        return self._learn(statistics, frozenset(), seed, again)

    @one_thread()
    def partial_fit(self, log: LogLike, y: None = None) -> Self:  # noqa: ARG002
        """Add a log that arrived later, whose samples must be new, and learn from everything so far.

        The samples that certify stay held out from all learning, so every certificate holds on its own
        with probability 1 - delta, provided that who worked with whom in the later log was not decided by
        the utilities of the certifying samples before it.
        """
        if not self.__sklearn_is_fitted__():
            return self.fit(log)
        seed = self._seed_as_in(self.statistics_)
        more = self._statistics(log, seed, like=self.statistics_.clues.decisive)
        if more.log_identity in self._seen:
            raise InputError("this log was added before; its samples must not count twice")
        return self._learn(self.statistics_ + more, self._seen | {more.log_identity}, seed)

    @one_thread()
    def merge(self, other: "StableLearner") -> Self:
        """Add what another learner has seen, and learn from both; they must not have seen the same log."""
        if not isinstance(other, StableLearner):
            raise InputError(f"merge: expected a StableLearner, got {checks.shown(other)}")
        fitted = self.__sklearn_is_fitted__()
        seed = self._seed_as_in(self.statistics_ if fitted else other.statistics_)
        more, theirs = self._statistics(other.statistics_, seed), other._seen  # noqa: SLF001  (of this class too)
        if not fitted:
            return self._learn(more, theirs, seed)
        if self._seen & theirs:
            raise InputError("both learners have seen the same log; its samples must not count twice")
        return self._learn(self.statistics_ + more, self._seen | theirs, seed)

    def explain(self, agent: str) -> Explanation:
        """Return why an agent is where she is."""
        return explain(self.result_, agent)

    def __getstate__(self) -> dict[str, Any]:
        """Return what pickles hold: what is found again when it is asked for is left out."""
        state: Any = super().__getstate__()
        return {**state, "_known": None, "stop": None}  # what says stop belongs to this process

    def __sklearn_clone__(self) -> Self:
        """Return an unfitted copy that heeds the same stop, which cannot be copied."""
        parameters = {name: value for name, value in self.get_params().items() if name != "stop"}
        return type(self)(**copy.deepcopy(parameters), stop=self.stop)

    # --- What else the log says -----------------------------------------------------------------------

    @property
    def game_(self) -> Game:
        """The game that the log suggests: the utilities that are expected, given everything so far, and the value."""
        return self._beliefs.game(self.statistics_.setting.actions).valued(self._value)

    @property
    def _beliefs(self) -> Beliefs:
        statistics = self.statistics_
        if self._known is None or self._known[0] is not statistics:
            evidence = evidence_from(statistics.whole)
            own = self._own
            symmetric = statistics.setting.symmetric
            found = beliefs_from(evidence, symmetric=symmetric) if own.guess is None else own.beliefs(evidence)
            self._known = (statistics, found)
        return self._known[1]

    def worth(self, strategy: StrategyLike | None = None) -> Worth:
        """Return what a strategy is worth, by default the learnt one, whether anybody ever played it or not.

        Its interval holds with probability 1 - delta, whichever strategy it is; see `coterie.learn.worth.worth`.
        """
        setting = self.statistics_.setting
        return worth(
            self.statistics_, self.strategy_ if strategy is None else strategy, delta=self.delta, sizes=setting.sizes,
            noise=setting.noise, value=self._value,
        )  # fmt: skip

    @one_thread()
    def draws(
        self, count: int = 200, strategy: StrategyLike | None = None, seed: checks.Seed = 0
    ) -> dict[str, FloatArray]:
        """Return draws of what is possible, given the log: the gap of a strategy, and what it is worth to each agent.

        "gap" has shape (count,), "value" (count, agents). They say what is likely and promise nothing. ArviZ takes
        them with one more axis for a single chain: `{name: drawn[None] for name, drawn in ...}`.

        Parameters
        ----------
        count
            How many draws.
        strategy
            A pure strategy, by default the learnt one. Gaps are those of the learner's notion of stability and rules.
        seed
            Where they come from.
        """
        rng, count = checks.generator(seed, "seed"), checks.whole(count, "count", 1)
        wider, wishes = self._wishes(self.statistics_)
        beliefs = self._beliefs
        if wider is not self.statistics_ or beliefs.draw is None:
            raise InputError("draws: nothing can be drawn for people without data, own guesses or very many unknowns")
        against = wishes.against(wider.setting.actions.leaving_out(wider.seen_less(self.min_samples)))
        names = (wider.agents, wider.coalitions, "the log's", wider.clues.called)
        found = self.strategy_ if strategy is None else as_strategy(strategy, *names)
        games = [beliefs.game(against.own_spaces, values) for values in beliefs.draws(rng, count)]
        return {
            "gap": np.array([against.gap(game, found) for game in games]),
            "value": np.stack([game.valued(self._value).values(found) for game in games]),
        }

    @one_thread()
    def score(self, log: LogLike, y: None = None) -> float:  # noqa: ARG002  (scikit-learn's signature)
        """Return how good the learnt strategy is by another log: larger is better.

        For the goals "value" and "fairness", what it is expected to be worth per person (or to the worst-off), given
        that log alone; for "stability", minus the gap that it then has. The other log must be held out: no sample of it
        may have been learnt from. `sklearn.model_selection.cross_val_score` divides a log by samples.
        """
        seed = self._checked_seed()
        statistics = self._statistics(log, seed)
        if share_samples(self.statistics_.clues.marks, statistics.clues.marks):
            raise InputError("score: this log has samples that were learnt from; hold some out, see Log.split")
        wider, wishes = self._wishes(statistics)
        strategy = as_strategy(self.strategy_, wider.agents, wider.coalitions, "the other log's")
        against = wishes.against(wider.setting.actions)
        beliefs = beliefs_from(evidence_from(wider.whole), symmetric=wider.setting.symmetric)
        game = beliefs.game(against.own_spaces)
        if wishes.goal == "stability":
            return -against.gap(game, strategy)
        values = game.valued(self._value).values(strategy)[wishes.admissible.staff]
        return float(values.min() if wishes.goal == "fairness" else values.mean())

    def _checked_seed(self) -> int:
        """Return the seed, after a look at all parameters."""
        for name, choices in CHOICES.items():
            checks.one_of(getattr(self, name), choices, said(name))
        for name, choices in OR_OWN.items():
            if not callable(getattr(self, name)):
                checks.one_of(getattr(self, name), choices, said(name))
        if self.guess is not None and not callable(self.guess):
            raise InputError(f"guess: expected a function, got {checks.shown(self.guess)}")
        if self._own and self._classic:
            raise InputError(
                "own solvers, guesses and certificates are about pure strategies, without the paper's solver and "
                "certificate; a mixed strategy of your own can be certified by coterie.certify"
            )
        checks.probability(self.delta, said("delta"))
        if self.target_gap is not None:
            checks.number(self.target_gap, said("target_gap"), at_least=0)
        checks.whole(self.min_samples, said("min_samples"), 0)
        for name in ("keep_sizes", "any_size"):
            checks.boolean(getattr(self, name), said(name))
        checks.one_of(self._goal, Goal, said("goal"))
        for name in ("progress", "stop"):
            if getattr(self, name) is not None and not callable(getattr(self, name)):
                raise InputError(f"{name}: expected a function, got {checks.shown(getattr(self, name))}")
        return checks.seed(self.random_state, said("random_state"))

    def _seed_as_in(self, earlier: Statistics) -> int:
        """Return the seed, where it is drawn that of earlier logs: all must be divided alike."""
        seed = self._checked_seed()
        drawn = self.random_state is None or isinstance(self.random_state, np.random.Generator)
        return earlier.setting.seed if drawn else seed

    def _statistics(self, log: Any, seed: int, like: SampleExcess | None = None) -> Statistics:
        """Return the statistics of whatever was given, to be added to others whose samples decided on their noise."""
        paper = "paper" in (self.certificate, self.solver)
        options: Any = {"sizes": self.sizes, "seed": seed, "paper": paper}
        made = Statistics.for_learning(log, noise=self.noise, **options)
        decisive = made.clues.decisive
        if self.noise != "auto" and decisive is not None:
            return replace(made, clues=replace(made.clues, decisive=None))  # nothing that is added changes the choice
        if like is None or decisive is None or isinstance(log, Statistics):
            return made
        if made.setting.noise == "pairs" and chosen_noise(like + decisive) == "samples":
            # What occurs together can be had from the log, and else is only bounded.
            anew = Statistics.for_learning(log, noise="samples", **options)
            return replace(anew, clues=replace(anew.clues, excess=made.clues.excess, decisive=decisive))
        return made

    @property
    def _own(self) -> Own:
        """The functions that this learner was given."""
        return Own(
            self.solver if callable(self.solver) else None,
            self.guess,
            self.certificate if callable(self.certificate) else None,
        )

    @property
    def _classic(self) -> bool:
        """Whether strategies are looked for in the paper's game alone: mixed ones, and by its own scheme."""
        return (
            self.strategy == "mixed" or self.solver in ("mixed", "polymatrix", "paper") or self.certificate == "paper"
        )

    @property
    def _goal(self) -> Goal:
        return self.goal or ("stability" if self._classic else "value")

    @property
    def _value(self) -> Value:
        """What a team is worth, by what was learnt from."""
        return self.value or ("total" if self._classic else self.statistics_.setting.value)

    def _wishes(self, statistics: Statistics) -> tuple[Statistics, Wishes]:
        """Return what is wanted of teams, in the names of a log that knows all who are to be assigned."""
        statistics, wishes = wishes_about(
            statistics,
            rules=self.rules,
            value="total" if self.value is None and self._classic else self.value,
            stability=self.stability,
            goal=self._goal,
            today=self.today,
            keep_sizes=self.keep_sizes,
            any_size=self.any_size,
        )
        if self._classic and not (wishes.is_plain and wishes.goal == "stability"):
            what = "mixed strategies are" if self.strategy == "mixed" else "the paper's game is"
            raise InputError(
                f"{what} about totals, {said(stability='nash')} and {said(goal='stability')}, without rules; pure "
                f"strategies have all of these: {said(strategy='pure', solver='auto')}"
            )
        return statistics, wishes

    def _learn(self, statistics: Statistics, seen: frozenset[Any], seed: int, again: SecondPass | None = None) -> Self:
        control = Control(seed, self.time_limit, self.progress, self.stop)
        control.tell("search")
        wider, wishes = self._wishes(statistics)
        own = self._own
        asked: Any = {
            "certificate": self.certificate if own.certificate is None else "auto",
            "solver": self.solver if own.solver is None else "auto",
            "target_gap": self.target_gap,
            "min_samples": self.min_samples,
            "again": again if wider is statistics else None,
        }
        found: Recommendation | TeamsRecommendation
        if self._classic and is_listed(wider.setting):
            what = said(strategy="mixed") if self.strategy == "mixed" else "the paper's game"
            refuse_for_many(wider.setting, [what])
        plain = wishes.is_plain and wishes.goal == "stability" and self.any_size and not own
        if self._classic or (plain and not is_listed(wider.setting)):
            found = recommend(wider, self.delta, control, strategy=self.strategy, **asked)
        else:
            found = recommend_teams(wider, self.delta, wishes, control, **asked, own=own)
        # The logs added so far, and their sum, which somebody may hand in as one log.
        self._seen = seen | {statistics.log_identity}
        self.statistics_ = statistics
        self.strategy_ = found.strategy
        self.certificate_ = found.certificate
        control.tell("checks")
        self.result_ = self._result(found, wider, wishes, seed)
        self.coverage_ = self.result_.coverage
        return self

    def _result(
        self, found: Recommendation | TeamsRecommendation, statistics: Statistics, wishes: Wishes, seed: int
    ) -> Result:
        how = found.solution
        teams = found if isinstance(found, TeamsRecommendation) else None
        solver = Search(
            how.method, how.status, how.starts, how.sweeps, how.seconds, how.objective, how.value, how.bound, how.note,
            found.guess if isinstance(found, Recommendation) else "raw",
        )  # fmt: skip
        asked = {
            name: named(value) if callable(value) else value
            for name, value in self.get_params().items()
            if name not in _NOT_RECORDED
        }
        against = None if teams is None else teams.against
        notes = [*chosen_before(statistics, self.noise, paper="paper" in (self.certificate, self.solver))]
        notes += not_seen_lately(statistics, wishes.rules.staff)
        notes += () if teams is None else teams.notes
        result = assembled(found, statistics, solver, {**asked, "random_state": seed}, notes, against)
        estimate, warnings = result.estimate, result.warnings
        is_pure = wishes.is_plain and found.strategy.is_pure
        low, high = statistics.setting.fixed_range
        if is_pure and estimate.potential is None and estimate.gap > STABLE_WITHIN * (high - low) / 2:
            warnings += (f"{NO_STABLE_PROFILE}: {said(strategy='mixed')}",)
        return replace(
            result,
            warnings=warnings,
            candidates=found.candidates if isinstance(found, Recommendation) else (),
            seed=seed,
            value=wishes.value,
            stability=wishes.stability,
            goal=wishes.goal,
            rules=wishes.rules,
            options=() if teams is None else teams.options,
            today=None if teams is None else teams.today,
            more_samples=None if teams is None else teams.more_samples,
            by_lot=None if teams is None else teams.by_lot,
            team_names=wishes.team_names,
        )


_NOT_RECORDED = ("progress", "stop", "rules", "today")
"""Parameters that a result has elsewhere, or that are no plain values."""

_FITTED = ("statistics", "strategy", "certificate", "result", "coverage", "game")
