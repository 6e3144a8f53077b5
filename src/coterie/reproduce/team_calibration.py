"""Do certificates of teams hold? Every notion of stability, value, kind of rules, feedback and way of reading a log.

What `coterie.reproduce.calibration` does for single deviations without rules is done here for the certificates of
`coterie.certificates.against`: hostile games with known truth, the luckiest profile that data allow, three promises
counted apart. There are too many combinations to try them all. `settings` are a pairwise design: whichever two levels
of different factors are possible together, some setting has both. Each setting tries every certificate of
`CERTIFICATES`, at every delta.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cache, partial
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np

from coterie.arrays import BoolArray, FloatArray
from coterie.certificates.against import Against, fixed_against, paired_against
from coterie.certificates.certificate import Certificate
from coterie.certificates.evidence import Evidence, Form
from coterie.game.actions import ActionSpaces
from coterie.game.admissible import Admissible
from coterie.game.game import Game, Value
from coterie.game.rules import EACH, Pairing, Rules, TeamSize
from coterie.game.steps import Stability
from coterie.game.strategy import Strategy
from coterie.reproduce.calibration import CHOOSING, DELTAS, LEARNING_SHARE, Record, Setting, Truth, compared, drawn
from coterie.simulate import hostile
from coterie.simulate.logs import Feedback, numbered
from coterie.simulate.models import TimesSize, UtilityModel
from coterie.solve.teams import Task, settled

RulesName = Literal[
    "no rules", "team sizes", "fixed sizes", "together, apart and fixed", "too few left behind", "leavers"
]
Mode = Literal["size-free", "sizes aware", "pooled coalitions", "shared noise", "asymmetric"]
"""How utilities come about, and how the log is read."""

ModelName = Literal["signs", "two points near 0", "rare losses", "plateau", "gaussian"]
Teams = Literal["one", "up to two"]

MODELS: dict[ModelName, hostile.Draw] = {
    "signs": hostile.signs,
    "two points near 0": hostile.two_point,
    "rare losses": hostile.rare_loss,
    "plateau": hostile.plateau,
    "gaussian": hostile.gaussian,
}

SAMPLES = {4: 80, 6: 150, 8: 220}
"""How long logs are, by the number of agents; longer where there is more to learn, or less at stake."""

COALITIONS = {4: 2, 6: 3, 8: 3}

STARTS = 5
"""From so many profiles the search begins."""

KNOWN_STARTS = 100
"""Starts are drawn from so many profiles that keep the rules."""

CertificateName = Literal["paired", "holdout", "holdout, nothing learnt", "fresh"]
CERTIFICATES: tuple[CertificateName, ...] = get_args(CertificateName)
"""`paired` and `holdout` are about the profile that certifies best on all data, or is expected to from the learning
part; without anything learnt, movers and refusers are all paid for. `fresh` is about a profile that is drawn without
any data, from the whole log."""


@dataclass(frozen=True)
class TeamSetting:
    """A level of every factor."""

    rules: RulesName
    stability: Stability
    mode: Mode
    model: ModelName
    n: int
    value: Value
    feedback: Feedback
    actions: Teams

    @property
    def name(self) -> str:
        """The setting's own name, but for the number of agents."""
        return "; ".join(str(getattr(self, factor)) for factor in FACTORS if factor != "n")

    @property
    def k(self) -> int:
        """The number of coalitions."""
        return COALITIONS[self.n]

    @property
    def log(self) -> Setting:
        """How logs come about, and how they are read."""
        longer = 10 if self.model in {"two points near 0", "rare losses"} else 1
        longer *= (2 if self.mode == "sizes aware" else 1) * (2 if self.feedback == "bandit" else 1)
        return Setting(
            self.name,
            self.n,
            self.k,
            longer * SAMPLES[self.n],
            partial(_model, self.model, self.mode),
            feedback=self.feedback,
            sizes="aware" if self.mode == "sizes aware" else "ignore",
            noise="samples" if self.mode == "shared noise" else "pairs",
            pool=self.mode == "pooled coalitions",
            actions=self.actions,
        )

    @property
    def form(self) -> Form:
        """The width of a fixed direction, as learners choose it."""
        return "hoeffding" if self.mode == "shared noise" and self.feedback == "semi-bandit" else "both"

    def what_rules(self) -> Rules:
        """Return the rules."""
        agents, coalitions = numbered("p", self.n), numbered("c", self.k)
        least, most = self.n // self.k, -(-self.n // self.k)
        if self.rules == "team sizes":
            return Rules(team_size={EACH: TeamSize(max(least - 1, 1), most + 1)})
        if self.rules == "fixed sizes":
            sizes = np.diff(np.linspace(0, self.n, self.k + 1).round().astype(int)).tolist()
            return Rules(team_size={name: TeamSize(s, s) for name, s in zip(coalitions, sizes, strict=True)})
        if self.rules == "too few left behind":
            return Rules(team_size={EACH: TeamSize(least, most + 1)}, left_behind="free")
        if self.rules == "together, apart and fixed":
            together, apart = Pairing(agents[:2]), Pairing(agents[2:4])
            return Rules(together=(together,), apart=(apart,), fix={agents[3]: coalitions[:1]})
        if self.rules == "leavers":
            return Rules(staff=agents[: self.n - self.n // 4])
        return Rules()

    def against(self, spaces: ActionSpaces) -> Against:
        """Return what profiles are to be stable against."""
        admissible = Admissible.of(
            self.what_rules(),
            numbered("p", self.n),
            numbered("c", self.k),
            interchangeable=self.mode == "pooled coalitions",
        )
        return Against(spaces, self.stability, self.value, admissible)


def _model(model: ModelName, mode: Mode, rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    """Draw the utilities of a game."""
    draw = MODELS[model]
    if mode == "pooled coalitions":
        return hostile.alike_everywhere(draw, rng, n, k)
    if mode == "asymmetric":
        return hostile.from_either_side(draw, rng, n, k)
    return TimesSize(draw(rng, n, k)) if mode == "sizes aware" else draw(rng, n, k)


# --- The design ---------------------------------------------------------------------------------------

FACTORS: dict[str, tuple[Any, ...]] = {
    "rules": get_args(RulesName),
    "stability": get_args(Stability),
    "mode": get_args(Mode),
    "model": get_args(ModelName),
    "n": tuple(SAMPLES),
    "value": get_args(Value),
    "feedback": get_args(Feedback),
    "actions": get_args(Teams),
}

Level = tuple[str, Any]
"""A factor and one of its levels."""

TRIED = 50
"""So many settings are made, and the one with the most new pairs is added."""


def is_possible(one: Level, two: Level) -> bool:
    """Return whether two levels make sense together: at fixed sizes people cannot move but by exchanges."""
    found = dict((one, two))
    return found.get("rules") != "fixed sizes" or found.get("stability", "swap") == "swap"


def pairs_of(setting: TeamSetting) -> set[tuple[Level, Level]]:
    """Return the pairs of levels that a setting has."""
    return set(combinations([(factor, getattr(setting, factor)) for factor in FACTORS], 2))


def possible_pairs() -> set[tuple[Level, Level]]:
    """Return all pairs of levels of different factors that make sense together."""
    return {
        ((first, one), (second, two))
        for first, second in combinations(FACTORS, 2)
        for one in FACTORS[first]
        for two in FACTORS[second]
        if is_possible((first, one), (second, two))
    }


@cache
def settings(seed: int = 15) -> tuple[TeamSetting, ...]:
    """Return the pairwise design: settings are added, each with as many new pairs as a greedy choice finds."""
    rng, missing, found = np.random.default_rng(seed), possible_pairs(), []
    while missing:
        tried = [_grown(rng, missing) for _ in range(TRIED)]
        best = max(tried, key=lambda setting: len(pairs_of(setting) & missing))
        found.append(best)
        missing -= pairs_of(best)
    return tuple(found)


def _grown(rng: np.random.Generator, missing: set[tuple[Level, Level]]) -> TeamSetting:
    """Return a setting with a missing pair, whose other levels are added in random order, each the best so far."""
    first = sorted(missing, key=str)[int(rng.integers(len(missing)))]
    levels: dict[str, Any] = dict(first)
    order = list(FACTORS)
    for factor in (order[place] for place in rng.permutation(len(order)).tolist()):
        if factor in levels:
            continue
        allowed = [own for own in FACTORS[factor] if all(is_possible((factor, own), one) for one in levels.items())]
        new = [_new_pairs((factor, own), levels, missing) for own in allowed]
        best = [own for own, count in zip(allowed, new, strict=True) if count == max(new)]
        levels[factor] = best[int(rng.integers(len(best)))]
    return TeamSetting(**levels)


def _new_pairs(level: Level, levels: dict[str, Any], missing: set[tuple[Level, Level]]) -> int:
    return sum((level, one) in missing or (one, level) in missing for one in levels.items())


assert tuple(one.name for one in fields(TeamSetting)) == tuple(FACTORS)


# --- One log ------------------------------------------------------------------------------------------


class StepTruth(Truth):
    """The true gains of steps that are admissible and that nobody refuses."""

    def __init__(self, game: Game, against: Against) -> None:
        super().__init__(game.valued(against.value))
        self.against = against

    def _gains(self, strategy: Strategy) -> FloatArray:
        """Return for each agent the largest gain of a step that she takes part in: of whoever gains least by it."""
        steps, gains = self.game.steps(strategy.sets, self.against.stability, self.against.admissible)
        found, least = np.full(strategy.n_agents, -np.inf), gains.min(axis=1, initial=np.inf)
        for step, movers in enumerate(steps.movers):
            for agent in movers[steps.moves[step]].tolist():
                found[agent] = max(found[agent], least[step])
        return found

    def _gap(self, strategy: Strategy) -> float:
        return self.game.gap(strategy, self.against.stability, self.against.admissible)


@cache
def starts(setting: TeamSetting) -> BoolArray:
    """Return some profiles that keep the rules, the same for all logs of a setting."""
    rng, found = np.random.default_rng(0), {}
    against = setting.against(setting.log.simulation(rng).game.actions)
    assert against.admissible is not None
    for _ in range(20):
        for profile in against.own_spaces.sample(rng, 500):
            if against.admissible.holds(profile):
                found[profile.tobytes()] = profile
        if len(found) >= KNOWN_STARTS:
            break
    return np.array(list(found.values())[:KNOWN_STARTS])


def candidates(evidence: Evidence, game: Game, against: Against, begin: BoolArray) -> list[Strategy]:
    """Return profiles that look stable: where those that are begun with come to rest, or else themselves."""
    assert against.admissible is not None
    largest = np.full(game.n_coalitions, game.n_agents)
    task = Task(against.game(evidence), against.admissible, largest)
    found: dict[bytes, BoolArray] = {}
    for start in begin:
        rest = settled(task, start, against.stability)
        profile = start if rest is None else rest
        found[profile.tobytes()] = profile
    return [Strategy.pure(profile, game.agents, game.coalitions) for profile in found.values()]


def run(setting: TeamSetting, seed: int) -> list[Record]:
    """Return for one log which promises of each certificate were broken, and its slack."""
    log = setting.log
    source, batch, rng = drawn(log, seed)
    game, learns = source.game, rng.random(log.samples) < LEARNING_SHARE
    statistics = log.statistics(source, batch, learns)
    whole, learnt, held = (log.evidence(part, game) for part in (statistics.whole, *statistics.parts))
    against = setting.against(game.actions)
    known = starts(setting)
    begin = known[rng.choice(len(known), min(STARTS, len(known)), replace=False)]
    truth = StepTruth(game, against)
    fresh = Strategy.pure(begin[0], game.agents, game.coalitions)
    return [
        compared(name, found, truth, strategy)
        for name, found, strategy in _certificates(setting, game, against, (whole, learnt, held), begin, fresh)
    ]


def _certificates(
    setting: TeamSetting,
    game: Game,
    against: Against,
    parts: tuple[Evidence, Evidence, Evidence],
    begin: BoolArray,
    fresh: Strategy,
) -> Iterator[tuple[CertificateName, Certificate, Strategy]]:
    """Yield every certificate of a log: its name, and the profile that it is about."""
    whole, learnt, held = parts
    form, ahead = setting.form, held.preview(learnt)
    lucky = _luckiest(
        [(paired_against(whole, one, against, CHOOSING), one) for one in candidates(whole, game, against, begin)]
    )
    promising = _luckiest(
        [
            (fixed_against(ahead, one, against, CHOOSING, form=form), one)
            for one in candidates(learnt, game, against, begin)
        ]
    )
    for delta in DELTAS:
        yield "paired", paired_against(whole, lucky, against, delta), lucky
        yield "holdout", fixed_against(held, promising, against, delta, form=form, learning=learnt), promising
        yield "holdout, nothing learnt", fixed_against(held, promising, against, delta, form=form), promising
        yield "fresh", fixed_against(whole, fresh, against, delta, form=form), fresh


def _luckiest(found: Sequence[tuple[Certificate, Strategy]]) -> Strategy:
    """Return the profile whose largest bound, be it negative, is smallest."""
    return min(found, key=lambda pair: -np.inf if pair[0].worst is None else pair[0].worst.bound)[1]
