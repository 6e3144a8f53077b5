"""Whole simulated logs: who was where, what every pair got, and the truth behind it.

Samples are drawn in batches, so that memory does not grow with the log, and everything in a
batch is vectorised. Totals are sums of the same draws that a semi-bandit log would show.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, get_args

import numpy as np
import numpy.typing as npt

from coterie import __version__, checks
from coterie.arrays import BoolArray
from coterie.errors import InputError
from coterie.files import to_json, whole_folder
from coterie.game.actions import ActionSpaces, ExplicitSets
from coterie.game.game import Game, Value
from coterie.game.strategy import Strategy, StrategyLike
from coterie.game.truth import write_truth
from coterie.game.utilities import FromMeans
from coterie.log import schema
from coterie.log.log import Log
from coterie.log.options import fixed_range
from coterie.log.queries import SLACK
from coterie.simulate.models import (
    MIXED_EFFECTS_SETS,
    NOISES,
    AroundGame,
    ModelName,
    Noise,
    NoiseDraw,
    UtilityModel,
    around_game,
    utility_model,
)
from coterie.simulate.policies import Policy, PolicyName, exploration_policy
from coterie.simulate.writing import FORMATS, TableFormat, names_column, table_writer
from coterie.statistics.in_memory import Batch, refuse_outside
from coterie.words import interval, said

Feedback = schema.Feedback
"""What a log shows: the utility of every pair, or only every agent's total."""

FEEDBACKS: tuple[str, ...] = get_args(Feedback)

CELLS_PER_BATCH = 1 << 21
"""How much a batch looks at, which bounds its memory; see `Simulation.cells_per_sample`.

Part of what a seed means: draws are made batch by batch."""


def draw_sets(seed: checks.Seed, n_coalitions: int, count: int, what: str = "count") -> BoolArray:
    """Draw `count` distinct non-empty sets of coalitions uniformly, in the order of drawing; refusals say `what`."""
    rng = checks.generator(seed, "seed")
    available = 2 ** checks.whole(n_coalitions, said("n_coalitions"), 1) - 1
    if checks.whole(count, what, 1) > available:
        raise InputError(
            f"{what}: expected at most {available}, the number of non-empty sets of coalitions, got {count}"
        )
    found: dict[bytes, BoolArray] = {}
    while len(found) < count:  # uniform rows without empty ones and repetitions
        for row in rng.integers(2, size=(2 * count, n_coalitions)).astype(bool):
            if row.any() and len(found) < count:
                found.setdefault(row.tobytes(), row)
    return np.array(list(found.values()))


def numbered(letter: str, count: int) -> tuple[str, ...]:
    """Return names such as p01, p02, ..., padded to equal width so that they sort."""
    width = len(str(count))
    return tuple(f"{letter}{index:0{width}}" for index in range(1, count + 1))


MOST_SAMPLES = 10**9
"""More would be written for weeks, and fit on no disk: they are a slip of the hand."""


@dataclass(frozen=True, eq=False)
class Simulation:
    """A source of simulated samples; it holds its random generator, so no draw ever repeats.

    Parameters
    ----------
    model
        How utilities come about; it knows their exact means.
    policy
        How joint actions come about.
    game
        The game of the exact means, `model.game(...)`.
    rng
        Advanced by every draw.
    noise
        What shares a draw; by default what the model says.
    provenance
        Written into `truth.json`, for the reader.
    """

    model: UtilityModel
    policy: Policy
    game: Game
    rng: np.random.Generator
    noise: Noise | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.noise is not None and self.noise not in NOISES:
            raise InputError(f"unknown noise {self.noise!r}; known are: {', '.join(NOISES)}")
        object.__setattr__(self, "rng", checks.generator(self.rng, "rng"))
        model, game = self.model, self.game
        shape = (game.n_agents, game.n_coalitions)
        is_models = (model.n_agents, model.n_coalitions) == shape and model.symmetric == game.is_symmetric
        known = isinstance(model, AroundGame) and model.truth is game
        if not is_models or not (known or _same_means(model, game)):
            raise InputError("simulation: the game is not the model's; take model.game(...)")
        if not hasattr(self.policy, "shape"):
            raise InputError(f"policy: {type(self.policy).__name__} needs a shape, (agents, coalitions)")
        if tuple(self.policy.shape) != shape:
            raise InputError(
                f"simulation: the policy is for {self.policy.shape[0]} agents and {self.policy.shape[1]} coalitions, "
                f"the game has {shape[0]} and {shape[1]}"
            )
        _refuse_means_outside(model)

    @classmethod
    def draw(
        cls,
        n_agents: int,
        n_coalitions: int,
        seed: checks.Seed,
        *,
        model: ModelName = "gaussian",
        policy: PolicyName = "random",
        profile: StrategyLike | None = None,
        actions_per_agent: int | None = None,
        symmetric: bool = True,
        noise: Noise | None = None,
        clip: bool | None = None,
        value: Value = "total",
    ) -> Self:
        """Draw a game as in the paper's experiments, and return the simulation of its log.

        All agents share one action set of `actions_per_agent` sets (3 by default) drawn uniformly
        without repetition from the non-empty sets of coalitions; the mixed-effects models have
        their own three. The game depends on the generator and on the parameters that describe it,
        not on the policy or the noise.

        Parameters
        ----------
        n_agents, n_coalitions
            The size of the game.
        seed
            Draws the game now and the samples later: a seed, or a generator that goes on where it is.
        model
            One of `coterie.simulate.MODELS`.
        policy
            One of `coterie.simulate.POLICIES`.
        profile
            What those in `coterie.simulate.AROUND_PROFILE` explore around.
        actions_per_agent
            The number of sets to choose from, 3 by default.
        symmetric
            Whether both members of a pair get the same utility.
        noise
            What shares a draw, one of `coterie.simulate.NOISES`; by default what the model says.
        clip
            Whether normal utilities are clipped to [-1, 1]; by default they are, except in `mixed-effects`.
        value
            What coalitions are worth in the game: the total over the other members, or their average. What is drawn and
            written does not depend on it; a total in a bandit log is the sum over pairs.
        """
        rng, sets = checks.generator(seed, "seed"), None
        if model.startswith("mixed-effects"):
            if actions_per_agent not in {None, len(MIXED_EFFECTS_SETS)}:
                raise InputError(f"{said('actions_per_agent')}: the model {model} has its own three actions")
        else:
            count = 3 if actions_per_agent is None else actions_per_agent
            sets = draw_sets(rng, n_coalitions, count, said("actions_per_agent"))
        utilities = utility_model(model, n_agents, n_coalitions, rng, symmetric=symmetric, clip=clip)
        if sets is None:
            sets = np.array([np.isin(np.arange(n_coalitions), chosen) for chosen in MIXED_EFFECTS_SETS])
        spaces = ActionSpaces.shared(ExplicitSets(sets), n_agents)
        game = utilities.game(spaces, numbered("p", n_agents), numbered("c", n_coalitions)).valued(value)
        provenance: dict[str, Any] = {
            "model": model,
            "clip": utilities.clip,
            "noise": noise or utilities.default_noise,
            "policy": policy,
            **seeded(seed),
        }
        if profile is not None:
            profile = profile if isinstance(profile, Strategy) else game.strategy(profile)
            provenance["profile"] = profile.to_json()
        explores = exploration_policy(policy, spaces, profile)
        return cls(utilities, explores, game, rng, noise, provenance)

    @classmethod
    def from_game(
        cls,
        game: Game,
        noise: float | NoiseDraw = 0.5,
        policy: Policy | PolicyName = "random",
        seed: checks.Seed = 0,
        *,
        profile: StrategyLike | None = None,
        utility_range: tuple[float, float] | None = None,
        sigma: float | None = None,
        shared: Noise = "pairs",
    ) -> Self:
        """Return the simulation of logs of a known game.

        Parameters
        ----------
        game
            The truth.
        noise
            What is added to the mean utility of a pair: a number h, for noise that is uniform between -h and h, or a
            function of a generator and a shape that draws noise of mean 0.
        policy
            A `Policy`, or the name of one in `coterie.simulate.POLICIES`.
        seed
            Draws the samples.
        profile
            What policies in `coterie.simulate.AROUND_PROFILE` explore around.
        utility_range, sigma
            What bounds noise that a function draws; one of them is needed then.
        shared
            What shares a draw, one of `coterie.simulate.NOISES`.
        """
        model = around_game(game, noise, utility_range, sigma)
        around = None if profile is None else game.strategy(profile)
        explores = policy if isinstance(policy, Policy) else exploration_policy(policy, game.actions, around)
        named = policy if isinstance(policy, str) else type(policy).__name__
        provenance = {"model": "known game", "policy": named, **seeded(seed)}
        return cls(model, explores, game, checks.generator(seed, "seed"), shared, provenance)

    @property
    def cells_per_sample(self) -> int:
        """Places for a row of a table: pairs and members of every coalition, and a few for the sample itself."""
        return self.game.n_coalitions * (len(_meetings(self.model)[0]) + self.game.n_agents) + 8

    def batches(self, n_samples: int) -> Iterator[Batch]:
        """Draw `n_samples` new samples."""
        checks.whole(n_samples, said("n_samples"), 1, MOST_SAMPLES)
        step = max(1, CELLS_PER_BATCH // self.cells_per_sample)
        for start in range(0, n_samples, step):
            yield self._batch(start + 1, min(step, n_samples - start))

    def _batch(self, first: int, samples: int) -> Batch:
        joined, expected = self.policy.sample(self.rng, samples), (samples, *self.policy.shape)
        if np.shape(joined) != expected:
            raise InputError(
                f"policy: {type(self.policy).__name__}.sample returned an array of shape {np.shape(joined)}, expected "
                f"{expected}: samples, agents, coalitions"
            )
        return outcomes(self.model, joined, self.rng, self.noise, first=first)

    def tables(self, batch: Batch, feedback: Feedback = "semi-bandit") -> dict[str, Any]:
        """Return a batch as Arrow record batches: `memberships`, and `pairs` or `totals`."""
        return tables_of(batch, self.game.agents, self.game.coalitions, feedback)

    def log(self, n_samples: int, feedback: Feedback = "semi-bandit", **options: Any) -> Log:
        """Draw `n_samples` new samples and return them as a log in memory; options win over what is declared."""
        return log_of(self.batches(n_samples), self.description(feedback), feedback, **options)

    def description(self, feedback: Feedback) -> dict[str, Any]:
        """Return the content of `log.json`."""
        model, game = self.model, self.game
        scale = {} if model.sigma is None else {"sigma": model.sigma}
        return {
            "format": "coterie.log/1",
            "feedback": feedback,
            "utility_range": list(model.utility_range),
            **scale,
            "symmetric": model.symmetric,
            "agents": game.agents,
            "coalitions": game.coalitions,
            "actions": game.actions.to_json(game.agents, game.coalitions),
        }

    def write_log(
        self,
        path: Path,
        n_samples: int,
        *,
        feedback: Feedback = "semi-bandit",
        table_format: TableFormat = "csv",
        progress: Callable[[int], None] | None = None,
    ) -> dict[str, int]:
        """Draw `n_samples` samples and write them as a folder, whole or not at all.

        Parameters
        ----------
        path
            The folder; it must not exist, or be empty.
        n_samples
            How many samples, named 1, 2, ...
        feedback
            "semi-bandit" writes the table `pairs`, "bandit" the table `totals`.
        table_format
            "csv" or "parquet".
        progress
            Called with the number of samples written so far, after each batch.

        Returns
        -------
        The number of rows of each table.
        """
        if feedback not in FEEDBACKS:
            raise InputError(f"unknown feedback {feedback!r}; known are: {', '.join(FEEDBACKS)}")
        if table_format not in FORMATS:
            raise InputError(f"unknown format {table_format!r}; known are: {', '.join(FORMATS)}")
        checks.whole(n_samples, said("n_samples"), 1)
        rows: dict[str, int] = {}
        with whole_folder(path) as folder:
            with table_writer(folder, table_format) as write:
                for batch in self.batches(n_samples):
                    for name, table in self.tables(batch, feedback).items():
                        write(name, table)
                        rows[name] = rows.get(name, 0) + table.num_rows
                    if progress is not None:
                        progress(batch.first - 1 + len(batch.joined))
            made_by = {"version": __version__} | {
                key: self.provenance[key] for key in ("seed",) if key in self.provenance
            }
            (folder / "log.json").write_text(to_json({**self.description(feedback), **made_by}), encoding="utf-8")
            write_truth(folder / "truth.json", self.game, {**self.provenance, "samples": n_samples})
        return rows


def seeded(seed: checks.Seed) -> dict[str, int]:
    """Return the seed as a log's truth records it, where it is a number and not a generator."""
    return {} if seed is None or isinstance(seed, np.random.Generator) else {"seed": int(seed)}


def log_of(batches: Iterable[Batch], description: Mapping[str, Any], feedback: Feedback, **options: Any) -> Log:
    """Return batches of samples, drawn here or made elsewhere, as a log in memory.

    Parameters
    ----------
    batches
        What happened; the first sample of each is the one after the last of the batch before.
    description
        What `log.json` would hold: at least "agents" and "coalitions"; what else there is to say has the same defaults.
    feedback
        "semi-bandit" shows what pairs got, "bandit" everybody's total.
    options
        Win over the description, see `coterie.Log.from_frames`.
    """
    import pyarrow as pa

    if feedback not in FEEDBACKS:
        raise InputError(f"unknown feedback {feedback!r}; known are: {', '.join(FEEDBACKS)}")
    for needed in ("agents", "coalitions"):
        if needed not in description:
            raise InputError(f"description: {needed!r} is missing; it holds what log.json would")
    found: dict[str, list[Any]] = {}
    for batch in batches:
        for name, table in tables_of(batch, description["agents"], description["coalitions"], feedback).items():
            found.setdefault(name, []).append(table)
    if not found:
        raise InputError("batches: there are none; a log needs at least one sample")
    declared: Any = {key: value for key, value in description.items() if key not in {"format", "feedback"}} | options
    return Log.from_frames(**{name: pa.Table.from_batches(parts) for name, parts in found.items()}, **declared)


def outcomes(
    model: UtilityModel, joined: BoolArray, rng: np.random.Generator, noise: Noise | None = None, *, first: int = 1
) -> Batch:
    """Draw what every pair got, given who was where, shape (samples, n, k).

    `noise` says what shares a draw, by default what the model says; `first` is the number of the first sample.
    """
    samples, _, k = joined.shape
    agents, partners = _meetings(model)
    by_coalition = np.ascontiguousarray(np.swapaxes(joined, 1, 2))
    met = by_coalition[:, :, agents] & by_coalition[:, :, partners]
    room, pair = np.divmod(np.flatnonzero(met), len(agents)) if len(agents) else (np.empty(0, np.int64),) * 2
    sample, coalition = np.divmod(room, k)
    agent, partner = agents[pair], partners[pair]
    size = by_coalition.sum(axis=2).ravel()[room]
    noise = noise or model.default_noise
    if noise == "pairs":
        drive = model.driving_noise(rng, room.shape)
    elif noise == "coalitions":
        drive = model.driving_noise(rng, (samples * k,))[room]
    else:
        drive = model.driving_noise(rng, (samples,))[sample]
    utility = model.utilities(drive, coalition, agent, partner, size)
    limits = fixed_range(model.utility_range, 0.0, model.sigma)
    refuse_outside(utility, limits, model.sigma, f"the model {type(model).__name__}")
    return Batch(first, joined, sample, coalition, agent, partner, utility, model.symmetric)


def tables_of(
    batch: Batch, agents: Sequence[str], coalitions: Sequence[str], feedback: Feedback = "semi-bandit"
) -> dict[str, Any]:
    """Return a batch as Arrow record batches: `memberships`, and `pairs` or `totals`."""
    import pyarrow as pa

    samples = [str(number) for number in range(batch.first, batch.first + len(batch.joined))]
    sample, agent, coalition = np.nonzero(batch.joined)
    tables = {
        "memberships": pa.record_batch(
            {
                "sample": names_column(sample, samples),
                "agent": names_column(agent, agents),
                "coalition": names_column(coalition, coalitions),
            }
        )
    }
    if feedback == "semi-bandit":
        tables["pairs"] = pa.record_batch(
            {
                "sample": names_column(batch.sample, samples),
                "coalition": names_column(batch.coalition, coalitions),
                "agent": names_column(batch.agent, agents),
                "partner": names_column(batch.partner, agents),
                "utility": batch.utility,
            }
        )
        return tables
    totals = batch.totals()
    sample, agent = np.divmod(np.arange(totals.size), len(agents))
    tables["totals"] = pa.record_batch(
        {
            "sample": names_column(sample, samples),
            "agent": names_column(agent, agents),
            "utility": totals.ravel(),
        }
    )
    return tables


def _meetings(model: UtilityModel) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return all agents and partners that can meet: unordered pairs, or ordered ones if asymmetric."""
    n = model.n_agents
    if model.symmetric:
        return np.triu_indices(n, 1)
    agent, partner = np.nonzero(~np.eye(n, dtype=bool))
    return agent, partner


def _same_means(model: UtilityModel, game: Game) -> bool:
    """Return whether the game's means are the model's, for all pairs and sizes."""
    utilities = game.observed
    if not isinstance(utilities, FromMeans):
        return False
    scale = 1.0 if model.size_scale is None else model.size_scale
    shift = 0.0 if model.size_shift is None else model.size_shift
    if not (np.equal(scale, utilities.scale).all() and np.equal(shift, utilities.shift).all()):
        return False
    return all(np.array_equal(means, utilities.means.matrix(l)) for l, means in enumerate(model.means))


def _refuse_means_outside(model: UtilityModel) -> None:
    """Refuse a model with a sigma whose means leave the range that it declares for them: no batch would show it."""
    n, k = model.n_agents, model.n_coalitions
    if model.sigma is None or n < 2:
        return
    agent, partner = np.nonzero(~np.eye(n, dtype=bool))
    (low, high), slack = model.utility_range, SLACK * (model.utility_range[1] - model.utility_range[0])
    least, most = np.inf, -np.inf
    for l in range(k):
        for size in range(2, n + 1):
            means = model.mean_utilities(np.full(len(agent), l), agent, partner, np.full(len(agent), size))
            least, most = min(least, float(means.min())), max(most, float(means.max()))
    if least < low - slack or most > high + slack:
        raise InputError(
            f"simulation: the model's mean utilities go from {least:g} to {most:g}, outside its utility range "
            f"{interval(low, high)}"
        )
