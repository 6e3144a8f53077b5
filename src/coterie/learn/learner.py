"""`StableLearner`: from a log to a recommended strategy and its certificate, in scikit-learn's manner."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from coterie import checks
from coterie.errors import InputError, NotFittedError
from coterie.learn.assemble import learnt
from coterie.learn.auto import recommend
from coterie.learn.explain import Explanation, explain
from coterie.log.log import Log, read_log
from coterie.solve.control import Control, Progress
from coterie.statistics.setting import NOISE_CHOICES, SIZES, NoiseChoice, Sizes
from coterie.statistics.statistics import Statistics
from coterie.words import said

CHOICES = {
    "strategy": ("pure", "mixed"),
    "certificate": ("auto", "holdout", "paired", "paper"),
    "solver": ("auto", "pure", "mixed", "exact", "polymatrix", "paper"),
    "sizes": SIZES,
    "noise": NOISE_CHOICES,
}


class StableLearner:
    """Learn a strategy that nobody wants to leave, and certify how far anybody could gain by leaving.

    Parameters
    ----------
    strategy
        "pure" (everybody goes to fixed coalitions) or "mixed".
    certificate
        "auto" (`holdout` or `paired`, whichever serves better), or one of "holdout", "paired", "paper".
    delta
        The certificate holds with probability at least 1 - delta.
    sizes
        "ignore", or "aware": mean utilities may depend on coalition size.
    noise
        "pairs": all pair utilities are independent. "samples": those of one sample need not be. "auto":
        "samples" if the samples that learn show dependence, else "pairs"; `result_.data["noise"]` says which.
    solver
        "auto", "pure", "mixed", "exact", "polymatrix" or "paper".
    target_gap
        A strategy whose certificate is at most this is preferred to any other; None for no such wish.
    time_limit
        In seconds, for the searches; reading, certifying and testing assumptions come on top.
    random_state
        The seed of the split and of the search: the same seed gives the same result.
    progress
        Called now and then with a `coterie.solve.Progress`.

    Attributes
    ----------
    strategy_, certificate_, result_, statistics_, coverage_
        What `fit` found: the strategy, its certificate, everything that a result file holds, the sums
        that the log was reduced to, and how well the log covers what the certificate depends on.
    """

    def __init__(
        self,
        *,
        strategy: str = "pure",
        certificate: str = "auto",
        delta: float = 0.01,
        sizes: Sizes = "ignore",
        noise: NoiseChoice = "auto",
        solver: str = "auto",
        target_gap: float | None = None,
        time_limit: float | None = None,
        random_state: int = 0,
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self.strategy = strategy
        self.certificate = certificate
        self.delta = delta
        self.sizes = sizes
        self.noise = noise
        self.solver = solver
        self.target_gap = target_gap
        self.time_limit = time_limit
        self.random_state = random_state
        self.progress = progress

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

    def fit(self, log: Log | Statistics | str | Path, y: None = None) -> Self:  # noqa: ARG002  (scikit-learn's signature)
        """Learn from a log, from saved statistics of one, or from the folder or file that a log is in."""
        return self._learn(self._statistics(log), frozenset())

    def partial_fit(self, log: Log | Statistics | str | Path, y: None = None) -> Self:  # noqa: ARG002
        """Add a log that arrived later, whose samples must be new, and learn from everything so far.

        The samples that certify stay held out from all learning, so every certificate holds on its own
        with probability 1 - delta, provided that who worked with whom in the later log was not decided by
        the utilities of the certifying samples before it.
        """
        if not self.__sklearn_is_fitted__():
            return self.fit(log)
        more = self._statistics(log, like=self.statistics_)
        if more.log_identity in self._seen:
            raise InputError("this log was added before; its samples must not count twice")
        return self._learn(self.statistics_ + more, self._seen | {more.log_identity})

    def merge(self, other: "StableLearner") -> Self:
        """Add what another learner has seen, and learn from both; they must not have seen the same log."""
        more = self._statistics(other.statistics_)
        theirs = other._seen  # noqa: SLF001  (of this class too)
        if not self.__sklearn_is_fitted__():
            return self._learn(more, theirs)
        if self._seen & theirs:
            raise InputError("both learners have seen the same log; its samples must not count twice")
        return self._learn(self.statistics_ + more, self._seen | theirs)

    def _statistics(self, log: Any, like: Statistics | None = None) -> Statistics:
        """Return the statistics of whatever was given; what was taken to be independent before still is."""
        self._check()
        if isinstance(log, (str, Path)):
            log = read_log(log)
        if isinstance(log, Statistics):
            for name in ("sizes", "noise"):
                made, wanted = getattr(log.setting, name), getattr(self, name)
                if wanted not in {made, "auto"}:
                    raise InputError(f"these statistics were made with {name}={made!r}, the learner wants {wanted!r}")
            return log
        if not isinstance(log, Log):
            raise InputError(f"expected a Log, its Statistics or a path, got {type(log).__name__}")
        paper = "paper" in {self.certificate, self.solver}
        made = Statistics.for_learning(log, sizes=self.sizes, noise=self.noise, seed=self.random_state, paper=paper)
        if like is None or made.setting.noise == like.setting.noise:
            return made
        noise = like.setting.noise
        return Statistics.for_learning(log, sizes=self.sizes, noise=noise, seed=self.random_state, paper=paper)

    def explain(self, agent: str) -> Explanation:
        """Return why an agent is where she is."""
        return explain(self.result_, agent)

    def _check(self) -> None:
        for name, known in CHOICES.items():
            if getattr(self, name) not in known:
                raise InputError(f"{name}: expected one of {', '.join(known)}, got {getattr(self, name)!r}")
        checks.probability(self.delta, "delta")
        checks.whole(self.random_state, said("random_state"), 0)
        if self.target_gap is not None and checks.number(self.target_gap, "target gap") < 0:
            raise InputError(f"target gap: expected a number from 0 up, got {self.target_gap}")

    def _learn(self, statistics: Statistics, seen: frozenset[Any]) -> Self:
        control = Control(self.random_state, self.time_limit, self.progress)
        found = recommend(
            statistics,
            self.delta,
            control,
            strategy=self.strategy,  # type: ignore[arg-type]
            certificate=self.certificate,  # type: ignore[arg-type]
            solver=self.solver,  # type: ignore[arg-type]
            target_gap=self.target_gap,
        )
        # The logs added so far, and their sum, which somebody may hand in as one log.
        self._seen = seen | {statistics.log_identity}
        self.statistics_ = statistics
        self.strategy_ = found.strategy
        self.certificate_ = found.certificate
        self.result_ = learnt(found, statistics, self.random_state)
        self.coverage_ = self.result_.coverage
        return self


_FITTED = ("statistics", "strategy", "certificate", "result", "coverage")
