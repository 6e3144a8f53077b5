"""Teams at today's sizes: how far from random to the best do they get that are learnt from a log?

    python benchmarks/teams.py [--firms 20] [--classes 20] [--small] [--time 3] [--people 40,100,300]

Firms (`coterie.simulate.firm`): 40 people, 6 areas, 36 months of ratings in half stars. Classes
(`coterie.simulate.school`): 28 pupils at tables of 4, totals of 30 terms. The truth is known. A team is worth the
average over teammates, and an assignment the mean of that over people. 0 firms or classes leave that part out;
`--small` takes few people, for a try, and records nothing; `--time 3` tells how long so many firms take, and nothing
else; `--people` how long firms of so many people in ten areas take, whose sizes have bounds.
"""

import argparse
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from coterie import Rules, StableLearner
from coterie.simulate.firm import STEP, FirmPlan, mean_half_stars, rated_firm
from coterie.simulate.records import Records
from coterie.simulate.school import ClassPlan, school_class
from harness import record, table
from programs import programmed_teams
from swaps import average_value, best_teams, random_value

PSEUDO_COUNT = 3
"""How many observations at the overall mean the swap search adds to every pair's."""

AREAS = 10
"""In so many areas many people work."""

PROGRAM_SECONDS = 60
"""How long an integer program may be solved."""

OURS, OPTIMUM, LIMIT = "coterie", "best on the true means", "best on the posterior means under the true prior"
PROGRAM = "integer program on coterie's posterior means"


def learnt(records: Records):
    """Return the teams that coterie recommends, as everybody's team, and the means (k, n, n) that it expects."""
    learner = StableLearner(value="average", today=records.today.actions, keep_sizes=True)
    learner.fit(records.log())
    game = learner.game_
    expected = np.array([game.observed.means.matrix(l) for l in range(game.n_coalitions)])
    return learner.strategy_.sets.argmax(axis=1), of_pairs(expected)


# --- A rival: exchange two people while it pays, on shrunk means ------------------------------------------


def shrunk(total, count):
    """Return means by cell, with a few observations at the overall mean added to each."""
    return (total + PSEUDO_COUNT * total.sum() / count.sum()) / (count + PSEUDO_COUNT)


def swap_search(means, today, rng, starts=20):
    """Return the best of a few local optima, at today's sizes."""
    found = []
    for _ in range(starts):
        area, pays = rng.permutation(today), True
        value = average_value(means, area)
        while pays:
            pays = False
            for i, j in combinations(range(len(area)), 2):
                if area[i] != area[j]:
                    tried = area.copy()
                    tried[[i, j]] = area[[j, i]]
                    if (now := average_value(means, tried)) > value + 1e-12:
                        area, value, pays = tried, now, True
        found.append((value, area.tolist()))
    return np.array(max(found)[1])


# --- The limit of what data tell: the posterior under the prior that the truth was drawn from -------------


def posterior_of_firm(firm: Records, plan: FirmPlan):
    """Return the expected means (k, n, n) given all ratings.

    Rounding counts as more noise, by a twelfth of the square of a step, and the ends of the scale as if they were not
    there; the rest is exact.
    """
    total, count = sums_by_cell(firm)
    seen, shape = np.nonzero(count), count.shape
    observed = total[seen] / count[seen] + plan.neutral - plan.effects.level
    noise = (plan.noise**2 + STEP**2 / 12) / count[seen]
    weights = cho_solve(cho_factor(plan.effects.covariance(seen, seen) + np.diag(noise)), observed)
    expected = np.empty(shape)
    for l in range(shape[0]):  # an area at a time, for memory's sake
        cells = np.nonzero(np.ones((1, *shape[1:]), dtype=bool))
        expected[l] = (plan.effects.covariance((cells[0] + l, *cells[1:]), seen) @ weights).reshape(shape[1:])
    return of_pairs(mean_half_stars(plan.effects.level + expected, plan.noise) - plan.neutral)


def posterior_of_class(school: Records, plan: ClassPlan):
    """Return the expected means (k, n, n) given all totals; the ends of the range count as if they were not there."""
    joined, n = school.outcomes.joined, plan.n_agents
    agent, partner = np.nonzero(np.triu(np.ones((n, n)), 1) if plan.effects.symmetric else ~np.eye(n, dtype=bool))
    cells = (np.zeros_like(agent), agent, partner)
    met = joined @ np.swapaxes(joined, 1, 2)
    ends = (agent, partner) if plan.effects.symmetric else (agent,)
    design = np.zeros((len(joined), n, len(agent)))  # which pairs a pupil's total adds up
    for end in ends:
        design[:, end, np.arange(len(agent))] = met[:, agent, partner]
    # Both of a pair may share a draw: the noise of a term is that of its draws, added up in the same way.
    noise = np.zeros((len(joined), n, len(joined), n))
    terms = np.arange(len(joined))
    noise[terms, :, terms, :] = plan.noise**2 * design @ np.swapaxes(design, 1, 2)
    rows, noise = design.reshape(-1, len(agent)), noise.reshape(len(joined) * n, -1)
    prior = plan.effects.covariance(cells, cells)
    off = school.outcomes.totals().ravel() - rows.sum(axis=1) * plan.effects.level
    found = plan.effects.level + prior @ rows.T @ cho_solve(cho_factor(rows @ prior @ rows.T + noise), off)
    expected = np.zeros((n, n))
    expected[agent, partner] = found
    if plan.effects.symmetric:
        expected[partner, agent] = found
    return np.repeat(expected[None], plan.n_coalitions, axis=0)


# --- Sums that rivals need ---------------------------------------------------------------------------------


def sums_by_cell(records: Records):
    """Return the sums and the numbers of ratings, counted from the neutral point, by area, rater and rated."""
    rows, shape = records.outcomes, (records.truth.n_coalitions, *(records.truth.n_agents,) * 2)
    cell = np.ravel_multi_index((rows.coalition, rows.agent, rows.partner), shape)
    size = int(np.prod(shape))
    total, count = np.bincount(cell, rows.utility, size), np.bincount(cell, minlength=size)
    return total.reshape(shape), count.reshape(shape)


def sums_by_pair(records: Records):
    """Return sums of what pupils got on average at tables where they sat with another, and how often they did."""
    joined = records.outcomes.joined
    met = of_pairs((joined @ np.swapaxes(joined, 1, 2)).astype(float))
    each = records.outcomes.totals() / np.maximum(met.sum(axis=2), 1)
    shape = (records.truth.n_coalitions, 1, 1)
    return np.tile((met * each[:, :, None]).sum(axis=0), shape), np.tile(met.sum(axis=0), shape)


def of_pairs(means):
    """Return the same with 0 for nobody's own company."""
    return means * ~np.eye(means.shape[-1], dtype=bool)


# --- Tables ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """One kind of place: how its records are drawn, and what rivals make of them."""

    title: str
    about: str
    draw: Callable
    plan: object
    small: object
    sums: Callable
    posterior: Callable


FIRMS = Part(
    "Teams of a firm",
    "Mean of {count} firms of {people} people in {teams} areas with {samples} months of both-way ratings in half stars",
    rated_firm,
    FirmPlan(),
    FirmPlan(n_agents=12, n_coalitions=3, months=12, sizes=(3, 5)),
    sums_by_cell,
    posterior_of_firm,
)
CLASSES = Part(
    "Tables of a class",
    "Mean of {count} classes of {people} pupils at {teams} tables with the totals of {samples} terms",
    school_class,
    ClassPlan(),
    ClassPlan(n_agents=8, terms=10),
    sums_by_pair,
    posterior_of_class,
)


def found_in(part: Part, plan, seed: int) -> tuple[dict[str, float], bool, bool]:
    """Return what teams are worth in one place, by where they come from.

    Also whether ours have today's sizes, and whether the integer program was solved to the end.
    """
    records: Records = part.draw(np.random.default_rng([seed, 1]), plan)
    rng = np.random.default_rng([seed, 2])
    truth = np.array([records.truth.utilities.means.matrix(l) for l in range(plan.n_coalitions)])
    today = records.today.sets.argmax(axis=1)
    sizes = np.bincount(today, minlength=plan.n_coalitions)
    ours, expected = learnt(records)
    program, proven = programmed_teams(expected, sizes, alike=records.pooled, seconds=PROGRAM_SECONDS)
    teams = {
        "today": today,
        "swap search on shrunk means": swap_search(shrunk(*part.sums(records)), today, rng),
        PROGRAM: program,
        OURS: ours,
        LIMIT: best_teams(part.posterior(records, plan), sizes, rng),
        OPTIMUM: best_teams(truth, sizes, rng),
    }
    worth = {name: records.neutral + average_value(truth, area) for name, area in teams.items()}
    ours = np.bincount(teams[OURS], minlength=plan.n_coalitions)
    kept = sorted(ours) == sorted(sizes) if records.pooled else np.array_equal(ours, sizes)
    return {"random": records.neutral + random_value(truth, sizes), **worth}, kept, proven


def compare(part: Part, count: int, *, small: bool) -> str:
    """Return the table of one part."""
    plan = part.small if small else part.plan
    found, same_sizes, solved = [], 0, 0
    for seed in range(count):
        values, kept, proven = found_in(part, plan, seed)
        same_sizes += kept
        solved += proven
        found.append(values)
        print(seed, {name: round(value, 3) for name, value in values.items()}, flush=True)
    names = list(found[0])
    worth = np.array([[one[name] for name in names] for one in found])
    low, high = (worth[:, [names.index(name)]] for name in ("random", OPTIMUM))
    shares = (worth - low) / (high - low)
    lead = shares[:, [names.index(OURS)]] - shares
    rows = [
        [name, f"{worth[:, t].mean():.3f}", with_error(shares[:, t]), "" if name == OURS else with_error(lead[:, t])]
        for t, name in enumerate(names)
    ]
    about = part.about.format(
        count=count,
        people=plan.n_agents,
        teams=plan.n_coalitions,
        samples=getattr(plan, "months", None) or plan.terms,
    )
    note = (
        f"{about}, one team each, at today's sizes. {OURS} kept these in {same_sizes} of {count}. The integer "
        f"program (HiGHS, {PROGRAM_SECONDS} s) was solved to the end in {solved} of {count}. Worth is the true "
        "mean over people of the average over teammates, the neutral point for those who are alone; the share is "
        "that of the way from random to the best on the true means. +- is one standard error over places, for "
        "differences over those in the same place. Random teams are exact. The best teams are those of annealing "
        "with many starts, so lower bounds on optima. The posterior is the normal one that knows the variances "
        "that the truth was drawn with: what data can tell at best."
    )
    return f"{table(['teams', 'worth', 'share', f'{OURS} ahead by'], rows)}\n\n{note}"


def timed(count: int) -> str:
    """Return how long teams of a few firms take, against a swap search in Python."""
    rows = []
    for seed in range(count):
        records = FIRMS.draw(np.random.default_rng([seed, 1]), FIRMS.plan)
        begin = time.process_time()
        learnt(records)
        middle = time.process_time()
        rng, today = np.random.default_rng([seed, 2]), records.today.sets.argmax(axis=1)
        swap_search(shrunk(*sums_by_cell(records)), today, rng)
        ours, theirs = middle - begin, time.process_time() - middle
        rows.append([str(seed), f"{ours:.1f}", f"{theirs:.1f}", f"{ours / theirs:.2f}"])
    return (
        table(["firm", "coterie, CPU s", "swap search, CPU s", "ratio"], rows)
        + f"\n\nFirms of {FIRMS.plan.n_agents} people in {FIRMS.plan.n_coalitions} areas, from {FIRMS.plan.months} "
        "months of ratings to teams at today's sizes with certificates; the first firm includes compiling or loading "
        "kernels. The swap search has 20 starts and certifies nothing."
    )


def by_people(numbers: list[int]) -> str:
    """Return how long teams of bounded sizes take in firms of several sizes, and what they are worth."""
    rows = []
    for people in numbers:
        usual = people // AREAS
        sizes = (usual - usual // 4, usual + usual // 4)
        records = rated_firm(
            np.random.default_rng([people, 1]), FirmPlan(n_agents=people, n_coalitions=AREAS, sizes=sizes)
        )
        rules = {"team_size": f"{sizes[0]}:{sizes[1]}"}
        begin = time.process_time()
        learner = StableLearner(value="average", today=records.today.actions, rules=Rules(**rules)).fit(records.log())
        seconds = time.process_time() - begin
        truth = of_pairs(np.array([records.truth.utilities.means.matrix(l) for l in range(AREAS)]))
        ours, today = (one.sets.argmax(axis=1) for one in (learner.strategy_, records.today))
        random = np.random.default_rng([people, 2]).permutation(today)
        worth = [f"{average_value(truth, teams):.3f}" for teams in (ours, today, random)]
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        rated = f"{len(records.outcomes.agent):,}"
        rows.append([str(people), f"{sizes[0]} to {sizes[1]}", rated, f"{seconds:.1f}", f"{peak:.1f}", *worth])
        print(rows[-1], flush=True)
    seconds = [float(row[3]) for row in rows]
    growth = np.log(seconds[-1] / seconds[0]) / np.log(numbers[-1] / numbers[0]) if len(numbers) > 1 else np.nan
    return (
        table(["people", "sizes", "ratings", "CPU s", "peak GB", "worth", "today", "random"], rows)
        + f"\n\nOne firm each of {AREAS} areas, from {FirmPlan().months} months of ratings to teams whose sizes have "
        "bounds, stable against moves and exchanges, with certificates; the first includes compiling or loading "
        f"kernels. From the first to the last, time grows with exponent {growth:.2f}. Worth is the true mean over "
        "people of the average over teammates."
    )


def with_error(values) -> str:
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{np.mean(values):.3f} +- {error:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--firms", type=int, default=20)
    parser.add_argument("--classes", type=int, default=20)
    parser.add_argument("--small", action="store_true", help="few people; nothing is recorded")
    parser.add_argument("--time", type=int, help="how long so many firms take, and nothing else")
    parser.add_argument("--people", help="how long firms of so many people take, and nothing else: 40,100,300")
    options = parser.parse_args()
    if options.people:
        numbers = sorted(int(one) for one in options.people.split(","))
        record("Teams of many people", f"python benchmarks/teams.py --people {options.people}", by_people(numbers))
        return
    if options.time:
        record("Time of teams", f"python benchmarks/teams.py --time {options.time}", timed(options.time))
        return
    for name, part in (("firms", FIRMS), ("classes", CLASSES)):
        if count := getattr(options, name):
            text = compare(part, count, small=options.small)
            if options.small:
                print(text)
            else:
                others = "".join(f" --{other} 0" for other in ("firms", "classes") if other != name)
                record(part.title, f"python benchmarks/teams.py --{name} {count}{others}", text)


if __name__ == "__main__":
    main()
