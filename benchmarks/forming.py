"""Rounds for the guess: are teams known better, and recommended better, after rounds that `coterie coverage` plans?

    python benchmarks/forming.py [--seeds 16] [--rounds 4 10] [--places firm class event]

A firm in which teammates rate each other (22 people, 4 areas, 18 months, teams of 4 to 7), a class whose pupils at
tables of four have a total each (20 people, 12 terms), and events at which teams of four get a score (20 people, 12
events), with known truth. The teams of largest expected value are recommended; some more rounds are held: as planned,
with today's teams, with teams drawn at random, or with the recommended teams again and again; then teams are found
anew. Errors are root mean squares over people, of what they are expected to have in the teams that were recommended
first. Values are true, means over people, in stars, in the unit of the class, and in points.
"""

import argparse
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import coterie
from coterie.arrays import BoolArray, FloatArray
from coterie.certificates.from_statistics import evidence_from
from coterie.collect.allowed import Allowed
from coterie.collect.forming import forming
from coterie.files import to_json
from coterie.learn.beliefs import Beliefs, beliefs_from
from coterie.learn.wishes import Wishes, wishes_about
from coterie.simulate import ClassPlan, FirmPlan, rated_firm, school_class
from coterie.simulate.firm import HalfStars
from coterie.simulate.logs import outcomes
from coterie.simulate.models import Normal
from coterie.simulate.records import Records
from coterie.solve.control import Control
from coterie.solve.teams import Task, best_teams
from coterie.statistics.statistics import Statistics
from harness import record, table

FIRM = FirmPlan(n_agents=22, n_coalitions=4, months=18, sizes=(4, 7))
PEOPLE, EVENTS, TEAMS = 20, 12, 5
NOISE = 5.0
"""Of a score."""


@dataclass(frozen=True)
class Place:
    """Somewhere with known truth."""

    held: BoolArray
    """The teams of the rounds so far, (rounds, n, k)."""
    value: Callable[[BoolArray], FloatArray]
    """What everybody truly has in some teams."""
    log: Callable[[BoolArray], coterie.Log]
    """The log of some rounds; those that were held before have the same outcomes in all of them."""
    team_size: str
    neutral: float
    has_today: bool


def firm(seed: int) -> Place:
    made = rated_firm(seed, FIRM)
    mu = FIRM.effects.draw(np.random.default_rng(seed), FIRM.n_coalitions, FIRM.n_agents)  # as the firm's were drawn
    model = HalfStars(mu, np.full_like(mu, FIRM.noise), neutral=FIRM.neutral)
    assert np.allclose(model.game("one").values(made.today.sets), made.truth.values(made.today.sets))

    def log(rounds: BoolArray) -> coterie.Log:
        found = outcomes(model, rounds, np.random.default_rng([seed, 1]))
        return Records(made.truth, found, "semi-bandit", (1.0, 5.0), FIRM.neutral, False, made.staff).log()

    return Place(made.outcomes.joined, made.truth.valued("average").values, log, "4:7", FIRM.neutral, True)


def school(seed: int) -> Place:
    plan = ClassPlan(n_agents=PEOPLE, terms=EVENTS)
    made = school_class(seed, plan)
    mu = np.repeat(
        plan.effects.draw(np.random.default_rng(seed), 1, PEOPLE), TEAMS, axis=0
    )  # as the class's were drawn
    model = Normal(mu, np.full_like(mu, plan.noise), symmetric=True)
    assert np.allclose(model.game("one").values(made.today.sets), made.truth.values(made.today.sets))

    def log(rounds: BoolArray) -> coterie.Log:
        found = outcomes(model, rounds, np.random.default_rng([seed, 1]))
        return Records(made.truth, found, "bandit", made.utility_range, 0.0, True, made.staff).log()

    return Place(made.outcomes.joined, made.truth.valued("average").values, log, "4", 0.0, True)


def event(seed: int) -> Place:
    rng = np.random.default_rng([seed, 2])
    skill, liking = rng.normal(0, 9, PEOPLE), rng.normal(0, 8, (PEOPLE, PEOPLE))
    means = 55 + 0.7 * (skill[:, None] + skill) + (liking + liking.T) / np.sqrt(2)
    places = rng.permuted(np.tile(np.arange(PEOPLE) % TEAMS, (EVENTS, 1)), axis=1)

    def value(teams: BoolArray) -> FloatArray:
        together = (teams @ teams.T.astype(int)).astype(float)
        np.fill_diagonal(together, 0.0)
        return np.asarray((together * means).sum(axis=1) / together.sum(axis=1) - 55)

    def log(rounds: BoolArray) -> coterie.Log:
        noise = np.random.default_rng([seed, 3])
        lines = ["sample,coalition,members,utility"]
        for number, teams in enumerate(rounds):
            for l in range(TEAMS):
                members = np.flatnonzero(teams[:, l])
                score = value(teams)[members].mean() + 55 + noise.normal(0, NOISE)
                names = ";".join(f"p{i:02}" for i in members)
                lines.append(f"{number:03},t{number}_{l},{names},{np.clip(score, 0, 100):.1f}")
        described = {
            "format": "coterie.log/1", "separators": ";", "totals": "team-score-averages", "pool_coalitions": True,
            "utility_range": [0, 100], "neutral": 55, "coalitions": TEAMS, "value": "average",
            "agents": [f"p{i:02}" for i in range(PEOPLE)],
        }  # fmt: skip
        folder = Path(tempfile.mkdtemp())
        (folder / "totals.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        (folder / "log.json").write_text(to_json(described), encoding="utf-8")
        return coterie.read_log(folder)

    return Place(places[:, :, None] == np.arange(TEAMS), value, log, "4", 55, False)


@dataclass(frozen=True)
class Learnt:
    statistics: Statistics
    wishes: Wishes
    beliefs: Beliefs

    @classmethod
    def of(cls, log: coterie.Log, team_size: str) -> "Learnt":
        statistics = Statistics.for_coverage(log, noise="pairs")
        rules = coterie.Rules(team_size=team_size)
        statistics, wishes = wishes_about(statistics, rules=rules, value="average")
        symmetric = statistics.setting.symmetric
        return cls(statistics, wishes, beliefs_from(evidence_from(statistics.whole), symmetric=symmetric))

    def expected(self, teams: BoolArray) -> FloatArray:
        return self.beliefs.game(self.statistics.setting.actions).valued("average").values(teams)

    def best(self, begin: Sequence[BoolArray] = ()) -> BoolArray:
        game = self.beliefs.game(self.statistics.setting.actions).valued("average")
        task = Task(game, self.wishes.admissible, self.wishes.largest)
        return best_teams(task, Control(0), begin=list(begin), starts=6, patience=12, keep=1).profiles[0]


def rounds_of(kind: str, place: Place, learnt: Learnt, first: BoolArray, count: int) -> list[BoolArray]:
    setting, wishes = learnt.statistics.setting, learnt.wishes
    strategy = coterie.Strategy.pure(first, setting.agents, setting.coalitions)
    allowed = Allowed.of(setting.actions, wishes.admissible, wishes.largest, strategy)
    if kind == "today's teams":
        return [place.held[-1]] * count
    if kind == "the recommended teams":
        return [first] * count
    if kind == "at random":
        control = Control(1)
        drawn = [allowed._task.assignments.drawn(control) for _ in range(count)]  # noqa: SLF001
        return [one for one in drawn if one is not None]
    plan = forming(learnt.statistics, learnt.beliefs, strategy, "average", count, allowed, np.random.default_rng(0))
    assert plan is not None
    return [one.strategy.sets for one in plan.rounds for _ in range(one.times)]


def measured(place: Place, count: int) -> dict[str, list[float]]:
    before = Learnt.of(place.log(place.held), place.team_size)
    first = before.best()
    kinds = [
        "no more",
        *(["today's teams"] if place.has_today else []),
        "at random",
        "the recommended teams",
        "planned",
    ]
    found = {}
    for kind in kinds:
        new = [] if kind == "no more" else rounds_of(kind, place, before, first, count)
        after = Learnt.of(place.log(np.stack([*place.held, *new])), place.team_size)
        again = after.best([first])
        error = float(np.sqrt(np.mean((after.expected(first) - place.value(first)) ** 2)))
        meanwhile = float(np.mean([place.value(one).mean() for one in new])) if new else np.nan
        found[kind] = [error, *(place.neutral + one for one in (float(place.value(again).mean()), meanwhile))]
    return found


PLACES = {"firm": firm, "class": school, "event": event}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=16)
    parser.add_argument("--rounds", type=int, nargs="+", default=[4, 10])
    parser.add_argument("--places", nargs="+", choices=tuple(PLACES), default=list(PLACES))
    options = parser.parse_args()
    rows = []
    for name in options.places:
        for count in options.rounds:
            all_found = [measured(PLACES[name](seed), count) for seed in range(options.seeds)]
            for kind in all_found[0]:
                values = np.array([one[kind] for one in all_found])
                doubt = (values - np.array([one["at random"] for one in all_found])).std(axis=0) / np.sqrt(len(values))
                told = [f"{v:.3f} ({d:.3f})" for v, d in zip(values.mean(axis=0)[:2], doubt[:2], strict=True)]
                during = "" if kind == "no more" else f"{values[:, 2].mean():.3f}"
                rows.append([name, count, kind, *told, during])
                print(rows[-1], flush=True)
    text = table(["place", "rounds more", "teams in them", "error", "value of the new teams", "value meanwhile"], rows)
    text += f"\n\nMeans of {options.seeds} seeds; in brackets the standard error of the difference to teams at random."
    words = f"--seeds {options.seeds} --rounds {' '.join(map(str, options.rounds))} --places {' '.join(options.places)}"
    record("Rounds for the guess", f"python benchmarks/forming.py {words}", text)


if __name__ == "__main__":
    main()
