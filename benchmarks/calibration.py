"""Do certificates hold? Violations over many simulated logs, for learnt profiles, and how tight they are.

For every setting, many logs are drawn, a profile is learnt from each by a plain multi-start search
(which looks at everything that the certificate allows it to look at, and picks the profile that
certifies best), and the certificate is compared with the true gap.
"""

import argparse
import json
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import beta

from coterie import ActionSpaces, Game, Strategy, exactly_one
from coterie.actions import ExplicitSets
from coterie.certify.evidence import Evidence, PairEvidence
from coterie.certify.holdout import hold_out
from coterie.certify.paired import paired
from coterie.certify.paper import paper
from coterie.certify.total_evidence import TotalEvidence
from coterie.estimate.design import own_unknowns
from coterie.estimate.intervals import Bounds
from coterie.estimate.pairs import SampleNoise, size_aware, size_free
from coterie.estimate.totals import AgentRidge, JointRidge
from coterie.simulate import Batch, Simulation, draw_sets, exploration_policy, numbered
from coterie.simulate.models import Normal, UtilityModel, utility_model
from coterie.simulate.policies import Independent, UniformOver
from harness import table

DELTAS = (0.1, 0.01)
STARTS = 5
RESULT = Path(__file__).parent / "CALIBRATION.md"
LEARNING_SHARE = 0.4


# --- Games built to break certificates ------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Signs(UtilityModel):
    """v = +1 with probability (1 + mu) / 2, else -1: the largest variance that the range allows."""

    mu: Any
    symmetric: bool = True

    @property
    def n_agents(self) -> int:  # type: ignore[override]
        return self.mu.shape[1]

    @property
    def n_coalitions(self) -> int:  # type: ignore[override]
        return self.mu.shape[0]

    @property
    def means(self) -> Any:
        return self.mu

    def driving_noise(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        return rng.random(shape)

    def utilities(self, noise: Any, coalition: Any, agent: Any, partner: Any, size: Any) -> Any:  # noqa: ARG002
        return np.where(noise < (1 + self.mu[coalition, agent, partner]) / 2, 1.0, -1.0)


def random_mu(rng: np.random.Generator, k: int, n: int, spread: float) -> Any:
    upper = np.triu(rng.uniform(-spread, spread, (k, n, n)), 1)
    return upper + np.swapaxes(upper, 1, 2)


def signs(rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    return Signs(random_mu(rng, k, n, 0.3))


def ties(rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    """All means are 0: every profile is stable, and the search picks whatever looks best by luck."""
    del rng
    return Signs(np.zeros((k, n, n)))


def pooled(rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    mu = np.repeat(random_mu(rng, 1, n, 0.5), k, axis=0)
    return Signs(mu)


def gaussian(rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    return utility_model("gaussian", n, k, rng)


def narrow(rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    """Little noise: variance-aware widths are small, and a mistake in them shows."""
    return Normal(random_mu(rng, k, n, 0.5), np.full((k, n, n), 0.1))


def rare_jackpot(rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    """Almost always -1, rarely +1: sample variances are often 0 although the variance is not."""
    mu = np.triu(-1 + 2 * rng.choice([0.002, 0.01, 0.05], (k, n, n)), 1)
    return Signs(mu + np.swapaxes(mu, 1, 2))


def size_gaussian(rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    return utility_model("size-gaussian", n, k, rng)


@dataclass(frozen=True, eq=False)
class Crowding(Signs):
    """Signs whose mean falls with the size of the coalition: 0.8 at two members, down to -0.8 at n."""

    @property
    def size_shift(self) -> Any:
        n = self.n_agents
        return np.tile(np.interp(np.arange(n + 1), [2, n], [0.6, -0.6]), (self.n_coalitions, 1))

    def utilities(self, noise: Any, coalition: Any, agent: Any, partner: Any, size: Any) -> Any:
        mean = self.mu[coalition, agent, partner] + self.size_shift[coalition, size]
        return np.where(noise < (1 + mean) / 2, 1.0, -1.0)


def crowding(rng: np.random.Generator, n: int, k: int) -> UtilityModel:
    return Crowding(random_mu(rng, k, n, 0.2))


# --- Logs in memory --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Setting:
    name: str
    n: int
    k: int
    samples: int
    model: Callable[[np.random.Generator, int, int], UtilityModel]
    feedback: str = "semi-bandit"
    sizes: str = "ignore"
    noise: str = "pairs"
    """What the certificate allows for; the log's noise is shared exactly where this is "samples"."""
    policy: str = "random"
    pool: bool = False
    expected_to_fail: bool = False


def simulation(setting: Setting, rng: np.random.Generator) -> Simulation:
    model = setting.model(rng, setting.n, setting.k)
    if setting.pool:
        space = ExplicitSets(exactly_one(setting.k).enumerate())
    else:
        space = ExplicitSets(draw_sets(rng, setting.k, min(4, 2**setting.k - 1)))
    spaces = ActionSpaces.shared(space, setting.n)
    game = model.game(spaces, numbered("p", setting.n), numbered("c", setting.k))
    if setting.policy == "rare":
        # Two agents meet only by chance of one in fifty, and one pair never.
        common = spaces.sample(rng, 50)
        common[1:, 0] = ~common[1:, 1] & space.sets[0]
        policy: Any = UniformOver(common)
    elif setting.pool:
        # Everybody is logged in several coalitions at once, so pairs meet several times in a sample.
        policy = Independent(ActionSpaces.shared(ExplicitSets(draw_sets(rng, setting.k, 4)), setting.n))
    else:
        policy = exploration_policy(setting.policy, spaces, None)
    return Simulation(model, policy, game, rng, "samples" if setting.noise == "samples" else None)


@dataclass(frozen=True, eq=False)
class Rows:
    """Everything that a part of a log shows, as arrays over pair rows."""

    batch: Batch
    kept: Any
    """Which samples belong to this part."""

    def selected(self) -> tuple[Any, ...]:
        chosen = self.kept[self.batch.sample]
        sizes = self.batch.joined.sum(axis=1)
        b = self.batch
        size = sizes[b.sample, b.coalition]
        return tuple(values[chosen] for values in (b.sample, b.coalition, b.agent, b.partner, size, b.utility))


def evidence(setting: Setting, rows: Rows, method: str = "best") -> Evidence:
    if setting.feedback == "bandit":
        return total_evidence(setting, rows, joint=method == "joint")
    n, k = setting.n, setting.k
    sample, coalition, agent, partner, size, utility = rows.selected()
    aware = setting.sizes == "aware"
    tables = 1 if setting.pool else k
    table_of = np.zeros_like(coalition) if setting.pool else coalition
    shape = (tables, n, n, n + 1) if aware else (tables, n, n)
    size_key = (size,) if aware else ()

    def summed(values: Any) -> Any:
        array = np.zeros(shape)
        np.add.at(array, (table_of, agent, partner, *size_key), values)
        np.add.at(array, (table_of, partner, agent, *size_key), values)
        return array

    count, total, squares = summed(np.ones_like(utility)), summed(utility), summed(utility**2)
    noise = repeats = None
    if setting.noise == "samples":
        present = np.zeros((len(rows.kept), *shape))
        np.add.at(present, (sample, table_of, agent, partner, *size_key), 1)
        np.add.at(present, (sample, table_of, partner, agent, *size_key), 1)
        together = []
        for i in range(n):
            x = own_unknowns(present[:, :, i], i)
            together.append(x.T @ x)
        noise = SampleNoise(together.__getitem__)
        repeats = (present**2).sum(axis=0) if setting.pool else None
    bounds = Bounds(-1.0, 1.0)
    if aware:
        return PairEvidence(size_aware(count, total, squares, bounds, noise=noise), method)  # type: ignore[arg-type]
    estimate = size_free(
        count, total, squares, bounds, n_coalitions=k if setting.pool else None, noise=noise, repeats=repeats
    )
    return PairEvidence(estimate, method)  # type: ignore[arg-type]


def total_evidence(setting: Setting, rows: Rows, *, joint: bool) -> TotalEvidence:
    n, k = setting.n, setting.k
    aware = setting.sizes == "aware"
    totals, joined = rows.batch.totals()[rows.kept], rows.batch.joined[rows.kept]
    sizes = joined.sum(axis=1)
    pairs = list(zip(*np.triu_indices(n, 1), strict=True))
    if joint:
        edges = {(l, i, j): l * len(pairs) + t for l in range(k) for t, (i, j) in enumerate(pairs)}
        count = len(edges)
        projections, moment = np.zeros((count, count)), np.zeros(count)
        flat = joined.reshape(len(joined), -1)
        unique, inverse = np.unique(flat, axis=0, return_inverse=True)
        for t, row in enumerate(unique):
            a = row.reshape(n, k)
            z = np.zeros((n, count))
            for (l, i, j), e in edges.items():
                if a[i, l] and a[j, l]:
                    z[i, e] = z[j, e] = 1.0
            plus = np.linalg.pinv(z)
            here = inverse.ravel() == t
            projections += here.sum() * plus @ z
            moment += plus @ totals[here].sum(axis=0)
        own = tuple(
            np.array([edges[l, min(i, j), max(i, j)] for l in range(k) for j in range(n) if j != i]) for i in range(n)
        )
        return TotalEvidence(JointRidge(projections, moment, own, Bounds(-1.0, 1.0)))
    grams, moments = [], []
    for i in range(n):
        both = (joined & joined[:, i : i + 1]).astype(float)
        both[:, i] = 0
        x = np.delete(both, i, axis=1).transpose(0, 2, 1)  # samples, k, n - 1
        if aware:
            hot = (sizes[:, :, None] == np.arange(2, n + 1)).astype(float)
            x = x[:, :, :, None] * hot[:, :, None, :]
        x = x.reshape(len(x), -1)
        c = np.maximum(x.sum(axis=1), 1.0)
        w = 1 / c**2 if setting.noise == "samples" else 1 / c
        grams.append((x * w[:, None]).T @ x)
        moments.append(x.T @ (w * totals[:, i]))
    estimate = AgentRidge(tuple(grams), tuple(moments), Bounds(-1.0, 1.0))
    return TotalEvidence(estimate, "aware" if aware else "size-free", setting.noise == "samples")


# --- Search and certificates -----------------------------------------------------------------------


def candidates(found: Evidence, game: Game, rng: np.random.Generator) -> list[Strategy]:
    """Profiles that look stable: best-response dynamics on estimated room values, and random ones."""
    kept: dict[bytes, Strategy] = {}
    for start in game.actions.sample(rng, STARTS):
        profile = Strategy.pure(start, game.agents, game.coalitions)
        for _ in range(30):
            rooms = found.rooms(found.design(profile))
            value, action = game.actions.best_responses(rooms)
            gains = value - (profile.marginals * rooms).sum(axis=1)
            worst = int(gains.argmax())
            if gains[worst] <= 1e-9:
                break
            sets = profile.sets.copy()
            sets[worst] = action[worst]
            profile = Strategy.pure(sets, game.agents, game.coalitions)
        kept[profile.sets.tobytes()] = profile
    return list(kept.values())


def mixtures(pure: list[Strategy], game: Game, rng: np.random.Generator) -> list[Strategy]:
    """Mixed profiles between pairs of candidates."""
    mixed = []
    for _ in range(3):
        one, two = (pure[int(rng.integers(len(pure)))] for _ in range(2))
        supports = []
        for i in range(game.n_agents):
            sets = np.unique(np.stack([one.sets[i], two.sets[i]]), axis=0)
            supports.append((sets, rng.dirichlet(np.ones(len(sets)))))
        mixed.append(Strategy.mixed(supports, game.agents, game.coalitions))
    return mixed


def run(setting: Setting, seed: int) -> list[tuple[str, float, float, float]]:
    """Return (certificate, delta, certified gap, true gap) for one log."""
    rng = np.random.default_rng([seed, setting.n, setting.samples])
    source = simulation(setting, rng)
    game, spaces = source.game, source.game.actions
    (batch,) = source.batches(setting.samples)
    learns = rng.random(setting.samples) < LEARNING_SHARE
    parts = [Rows(batch, kept) for kept in (np.ones(setting.samples, dtype=bool), learns, ~learns)]
    records = []

    def note(name: str, delta: float, certified: float, strategy: Strategy) -> None:
        records.append((name, delta, certified, game.gap(strategy)))

    for method in ["best"] + (["joint"] if _joint_fits(setting) else []):
        suffix = " joint" if method == "joint" else ""
        full, learnt, held = (evidence(setting, part, method) for part in parts)
        pure, chosen = candidates(full, game, rng), candidates(learnt, game, rng)
        mixed = mixtures(pure, game, rng)
        mixed_from_learning = mixtures(chosen, game, rng)
        for delta in DELTAS:
            # The profile is the one that certifies best: the luckiest choice that data allow.
            gap, best = min(((paired(full, s, spaces, delta).gap, s) for s in pure), key=lambda pair: pair[0])
            note(f"paired{suffix}", delta, gap, best)
            for form in ("box", "union"):
                note(f"paired {form}{suffix}", delta, paired(full, best, spaces, delta, form).gap, best)  # type: ignore[arg-type]
            gap, best = min(((paired(full, s, spaces, delta).gap, s) for s in mixed), key=lambda pair: pair[0])
            note(f"paired mixed{suffix}", delta, gap, best)
            if isinstance(full, PairEvidence):
                gap, best = min(((paper(full, s, spaces, delta).gap, s) for s in pure), key=lambda pair: pair[0])
                note("paper (as printed)", delta, gap, best)
            best, found = hold_out(learnt, held, lambda *_: chosen, spaces, delta)  # noqa: B023
            note(f"holdout{suffix}", delta, found.gap, best)
            if isinstance(full, PairEvidence) and setting.noise == "pairs":
                for form in ("hoeffding", "bernstein"):
                    best, found = hold_out(learnt, held, lambda *_: chosen[:1], spaces, delta, form)  # type: ignore[arg-type]  # noqa: B023
                    note(f"holdout {form}", delta, found.gap, best)
            best, found = hold_out(learnt, held, lambda *_: mixed_from_learning, spaces, delta)  # noqa: B023
            note(f"holdout mixed{suffix}", delta, found.gap, best)
    return records


def _joint_fits(setting: Setting) -> bool:
    return setting.feedback == "bandit" and setting.sizes == "ignore" and setting.noise == "pairs" and setting.n <= 6


def settings() -> Iterator[Setting]:
    for n, samples in ((3, 60), (6, 150), (12, 400)):
        k = 3
        base = Setting("", n, k, samples, gaussian)
        yield replace(base, name="gaussian")
        yield replace(base, name="signs", model=signs)
        yield replace(base, name="ties", model=ties)
        yield replace(base, name="narrow", model=narrow)
        yield replace(base, name="rare jackpot", model=rare_jackpot)
        yield replace(base, name="rare and unseen pairs", model=signs, policy="rare")
        yield replace(base, name="pooled, met several times", model=pooled, pool=True)
        yield replace(base, name="pooled, shared noise", model=pooled, pool=True, noise="samples")
        yield replace(base, name="shared noise", model=signs, noise="samples")
        yield replace(base, name="sizes", model=size_gaussian, sizes="aware", samples=2 * samples)
        yield replace(base, name="crowding", model=crowding, sizes="aware", samples=2 * samples)
        yield replace(
            base, name="sizes, shared noise", model=crowding, sizes="aware", noise="samples", samples=2 * samples
        )
        yield replace(base, name="crowding, sizes ignored", model=crowding, samples=20 * samples, expected_to_fail=True)
        bandit = replace(base, feedback="bandit", samples=2 * samples)
        yield replace(bandit, name="bandit gaussian")
        yield replace(bandit, name="bandit signs", model=signs)
        yield replace(bandit, name="bandit shared noise", model=signs, noise="samples")
        yield replace(bandit, name="bandit sizes", model=crowding, sizes="aware")
        yield replace(bandit, name="bandit sizes, shared noise", model=crowding, sizes="aware", noise="samples")


def interval(failures: int, runs: int) -> tuple[float, float]:
    """Return the exact (Clopper and Pearson) 99 % interval for a share."""
    low = float(beta.ppf(0.005, failures, runs - failures + 1)) if failures else 0.0
    high = float(beta.ppf(0.995, failures + 1, runs - failures)) if failures < runs else 1.0
    return low, high


def summarise(setting: Setting, records: list[list[tuple[str, float, float, float]]]) -> list[list[Any]]:
    grouped: dict[tuple[str, float], list[tuple[float, float]]] = defaultdict(list)
    for one in records:
        for name, delta, certified, true in one:
            grouped[name, delta].append((certified, true))
    rows = []
    for (name, delta), pairs in grouped.items():
        failures = sum(true > certified + 1e-9 for certified, true in pairs)
        low, high = interval(failures, len(pairs))
        slack = np.mean([certified - true for certified, true in pairs])
        verdict = "fails" if low > delta else "holds"
        share = f"{failures}/{len(pairs)}"
        rows.append([setting.name, setting.n, name, delta, share, f"{low:.4f} to {high:.4f}", f"{slack:.3f}", verdict])
    return rows


HEADER = ["game", "n", "certificate", "delta", "violations", "99 % interval", "mean slack", "verdict"]


def report(results: dict[str, list[list[Any]]], logs: int) -> str:
    """Return the page: a summary, what was expected to fail, and every cell."""
    expected = {f"{setting.name} {setting.n}" for setting in settings() if setting.expected_to_fail}
    sound = [row for key, rows in results.items() if key not in expected for row in rows]
    printed = [row for row in sound if row[2].startswith("paper")]
    ours = [row for row in sound if not row[2].startswith("paper")]
    failing = [row for row in ours if row[-1] == "fails"]
    worst = {}
    for delta in DELTAS:
        shares = [int(row[4].split("/")[0]) / int(row[4].split("/")[1]) for row in ours if row[3] == delta]
        worst[delta] = max(shares, default=0.0)
    about = (
        "A certificate g promises that the true gap is at most g with probability 1 - delta. Each cell counts, over "
        f"{logs} simulated logs with known truth, how often it was not, for the profile that the search found to "
        "certify best: the luckiest choice that the data allow. The interval is exact (Clopper and Pearson). Slack "
        "is the certificate minus the true gap."
    )
    as_printed = (
        f"- The paper's certificate as printed, where sizes do not matter or are told apart: {len(printed)} cells, "
        f"{sum(row[-1] == 'fails' for row in printed)} failing."
    )
    ignored = (
        '- Where utilities depend on size and sizes are ignored ("crowding, sizes ignored"), every certificate is '
        "expected to fail, and the test for dependence on size to warn; see the last table."
    )
    lines = [
        "# Calibration",
        "",
        f"Made by `python benchmarks/calibration.py --logs {logs}`.",
        "",
        about,
        "",
        f"- {len(ours)} cells whose assumptions hold: {len(failing)} with significantly more violations than delta.",
        *(f"- Largest share of violations at delta = {delta}: {share:.4f}." for delta, share in worst.items()),
        as_printed,
        ignored,
        "",
        "## Where assumptions hold",
        "",
        table(HEADER, sound),
        "",
        "## Where sizes matter and are ignored",
        "",
        table(HEADER, [row for key, rows in results.items() if key in expected for row in rows]),
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logs", type=int, default=1000, help="logs per setting")
    parser.add_argument("--only", default="", help="settings whose name contains this")
    parser.add_argument("--agents", type=int, default=0, help="only this number of agents")
    parser.add_argument("--kept", type=Path, default=Path("calibration.json"), help="finished settings, for resuming")
    options = parser.parse_args()
    kept: dict[str, list[list[Any]]] = json.loads(options.kept.read_text()) if options.kept.exists() else {}
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for setting in settings():
            key = f"{setting.name} {setting.n}"
            if options.only not in setting.name or options.agents not in {0, setting.n} or key in kept:
                continue
            start = time.perf_counter()
            kept[key] = summarise(setting, list(pool.map(partial(run, setting), range(options.logs), chunksize=20)))
            options.kept.write_text(json.dumps(kept))
            failed = [row[2:5] for row in kept[key] if row[-1] == "fails"]
            print(key, f"{time.perf_counter() - start:.0f} s", failed or "holds", flush=True)
    ordered = {key: kept[key] for key in (f"{s.name} {s.n}" for s in settings()) if key in kept}
    if len(ordered) == len(list(settings())):
        RESULT.write_text(report(ordered, options.logs), encoding="utf-8")
        print(f"wrote {RESULT}")


if __name__ == "__main__":
    main()
