"""How tight certificates are: on the settings of the table that they set out to beat, and compared with earlier code.

    python benchmarks/certificates.py [--compared] [--only 0] [--seeds 5]

Clipped Gaussian utilities with a fixed mean per pair and coalition, uniform exploration, delta = 0.01,
mean over seeds. Logs go the whole way: written to Parquet, read, reduced, estimated, certified.
"""

import argparse
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

import coterie
from coterie import Strategy
from coterie.certificates.evidence import Evidence
from coterie.certificates.from_statistics import evidence_from
from coterie.certificates.holdout import Sealed, fixed, hold_out
from coterie.certificates.pair_evidence import PairEvidence
from coterie.certificates.paired import paired
from coterie.certificates.paper import paper, paper_totals
from coterie.certificates.total_evidence import TotalEvidence
from coterie.estimate.ridge import paper_ridge
from coterie.learn import auto
from coterie.reproduce.calibration import candidates
from coterie.simulate import Simulation
from coterie.solve.control import Control
from coterie.statistics import parts
from coterie.statistics.second_pass import SecondPass
from coterie.statistics.statistics import Statistics
from harness import record, table

DELTA = 0.01
PARTS = (0.2, 0.3, 0.5)
KEPT = 2


@dataclass(frozen=True)
class Setting:
    feedback: str
    n: int
    k: int
    samples: int
    actions: int
    prototype: tuple[str, str, str] = ("-", "-", "-")
    """The figures to beat: the paper's scheme, `paired`, `holdout`."""


SETTINGS = (
    Setting("semi-bandit", 5, 5, 30_000, 8, ("1.41", "0.041", "0.020")),
    Setting("semi-bandit", 10, 5, 5_000, 8, ("8.68", "0.93", "0.18")),
    Setting("semi-bandit", 10, 5, 30_000, 8, ("2.80", "0.25", "0.014")),
    Setting("semi-bandit", 25, 5, 30_000, 8, ("8.99", "1.41", "0.097")),
    Setting("semi-bandit", 10, 25, 30_000, 8, ("10.27", "1.80", "0")),
    Setting("bandit", 6, 5, 30_000, 3, ("3.63", "-", "0.31")),
    Setting("bandit", 10, 5, 30_000, 8, ("11.1", "-", "0.69")),
)


@dataclass(frozen=True)
class Compared:
    """A setting of which the mean certificate of `auto` was measured with earlier code."""

    setting: Setting
    games: int
    before: str
    """The earlier figure, and where it is from."""
    same: str
    """What the earlier code gives for our games (commit 0d4fcaf), and for how many."""
    aim: str


OTHER = "30 other games"

COMPARED = (
    Compared(Setting("semi-bandit", 10, 5, 2_000, 8), 30, f"0.227 ({OTHER})", "0.139 (30)", "0.11"),
    Compared(Setting("semi-bandit", 10, 5, 5_000, 8), 30, f"0.068 ({OTHER})", "0.017 (30)", "0.035"),
    Compared(Setting("bandit", 10, 5, 30_000, 8), 5, "0.044 (this file)", "0.044 (5)", "-"),
    Compared(Setting("bandit", 25, 5, 30_000, 3), 5, "1.84 (`learn.py`)", "1.84 (seed 0)", "0.6"),
)


def simulated(setting: Setting, rng: np.random.Generator) -> Simulation:
    return Simulation.draw(setting.n, setting.k, rng, actions_per_agent=setting.actions)


def run(setting: Setting, seed: int, starts: int) -> dict[str, float]:
    rng = np.random.default_rng([seed, setting.n, setting.k, setting.samples])
    source = simulated(setting, rng)
    game, spaces = source.game, source.game.actions
    bandit = setting.feedback == "bandit"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        source.write_log(path, setting.samples, feedback=setting.feedback, table_format="parquet")  # type: ignore[arg-type]
        log = coterie.read_log(path)
        statistics = Statistics.of(log, parts=PARTS, seed=seed, joint=bandit, unweighted=bandit)
        for_auto = Statistics.of(log, parts=parts.PARTS, seed=seed, joint=bandit)
        again = SecondPass.of_log(log, for_auto)
        found = auto.recommend(for_auto, DELTA, Control(seed), again=again)
    first, second, third = statistics.parts
    whole = statistics.whole
    merged: Any = statistics.setting
    full = evidence_from(whole)
    profiles = candidates(full, game, rng, starts)
    result: dict[str, float] = {}
    if isinstance(full, PairEvidence):
        result["paper"] = min(paper(full, s, spaces, DELTA).gap for s in profiles)
    else:
        ridge = paper_ridge(whole)
        result["paper"] = min(
            paper_totals(TotalEvidence(ridge), s, spaces, DELTA, setting.samples).gap for s in profiles
        )
    gap, chosen = min(((paired(full, s, spaces, DELTA).gap, s) for s in profiles), key=lambda pair: pair[0])
    result["paired"], result["paired true"] = gap, game.gap(chosen)
    splits = {
        "20/80": (first, second.merged(third, merged)),
        "50/50": (first.merged(second, merged), third),
    }
    for name, (learning, certifying) in splits.items():
        learnt, held = evidence_from(learning), evidence_from(certifying)

        def learn(part: Evidence, sealed: Sealed) -> list[Strategy]:
            ahead = sealed.preview(part)
            ranked = sorted(
                candidates(part, game, rng, starts),
                key=lambda s: fixed(ahead, s, spaces, DELTA).worst.bound,  # type: ignore[union-attr]
            )
            return ranked[:KEPT]

        chosen, certificate = hold_out(learnt, held, learn, spaces, DELTA)
        result[f"holdout {name}"], result[f"{name} true"] = certificate.gap, game.gap(chosen)
        assert result[f"{name} true"] <= certificate.gap + 1e-9
    result["auto"], result["auto true"] = found.certificate.gap, game.gap(found.strategy)
    assert result["auto true"] <= result["auto"] + 1e-9
    return result


def learnt(setting: Setting, seed: int) -> tuple[float, float]:
    """Return the certificate that `coterie learn` gives by default, with pairs taken for independent, and the gap."""
    source = simulated(setting, np.random.default_rng([seed, setting.n, setting.k, setting.samples]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        source.write_log(path, setting.samples, feedback=setting.feedback, table_format="parquet")  # type: ignore[arg-type]
        log = coterie.read_log(path)
        statistics = Statistics.for_learning(log, noise="pairs", seed=seed)
        again = SecondPass.of_log(log, statistics)
        found = auto.recommend(statistics, DELTA, Control(seed), again=again)
    return found.certificate.gap, source.game.gap(found.strategy)


def exactly_zero(found: list[dict[str, float]], name: str) -> str:
    """Return the mean of a certificate, and how many of them say that the profile is surely stable."""
    gaps = [one[name] for one in found]
    return f"{np.mean(gaps):.3f}, {gaps.count(0)} of {len(gaps)} exactly 0"


def titled(setting: Setting) -> str:
    return f"{setting.feedback} {setting.n}, {setting.k}, {setting.samples}"


def compared(chosen: tuple[Compared, ...], seeds: int | None) -> str:
    """Return the table of certificates before and now."""
    rows = []
    for one in chosen:
        games = seeds or one.games
        found = []
        for seed in range(games):
            found.append(learnt(one.setting, seed))
            print(titled(one.setting), f"{seed + 1} of {games}: certificate {found[-1][0]:.4f}", flush=True)
        gaps = np.array([gap for gap, _ in found])
        error = f" +- {gaps.std(ddof=1) / np.sqrt(games):.3f}" if games > 1 else ""
        violated = sum(true > gap + 1e-9 for gap, true in found)
        rows.append(
            [
                titled(one.setting), one.setting.actions, one.before, one.same,
                f"{gaps.mean():.3f}{error}", one.aim, games, f"{(gaps == 0).mean():.2f}", violated,
            ]
        )  # fmt: skip
        print(rows[-1], flush=True)
    header = ["n, k, M", "actions", "before", "before, same games", "now", "aim", "games", "exactly 0", "violated"]
    return table(header, rows) + (
        "\n\nMean certificate of `auto`, what `coterie learn --goal stability --team-size any` does, with `--noise "
        f"pairs`; delta = {DELTA}, +- one standard error over games. Before: the code before certificates paid for one "
        "event, as it was measured then, and on the same games as now. Violated: games whose true gap is larger "
        "than the certificate."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=None, help="games per setting; by default what its table says")
    parser.add_argument("--starts", type=int, default=30)
    parser.add_argument("--only", type=int, default=None, help="one setting, by its number in the table; not recorded")
    parser.add_argument("--compared", action="store_true", help="only the table of figures before and now")
    options = parser.parse_args()
    seeds = "" if options.seeds is None else f" --seeds {options.seeds}"
    if not options.compared:
        tight = tightness(chosen(SETTINGS, options.only), options.seeds or 5, options.starts)
        show("Certificates", f"--seeds {options.seeds or 5} --starts {options.starts}", tight, options.only)
    if options.compared or options.only is None:
        figures = compared(chosen(COMPARED, options.only), options.seeds)
        show("Certificates before and now", f"--compared{seeds}", figures, options.only)


T = TypeVar("T")


def chosen(listed: tuple[T, ...], only: int | None) -> tuple[T, ...]:
    return listed if only is None else (listed[only],)


def show(title: str, words: str, text: str, only: int | None) -> None:
    """Put a whole table into RESULTS.md, and print a part of one."""
    if only is None:
        record(title, f"python benchmarks/certificates.py {words}", text)
    else:
        print(text)


def tightness(settings: tuple[Setting, ...], seeds: int, starts: int) -> str:
    """Return the table of every certificate beside the figures to beat."""
    rows = []
    for setting in settings:
        found = [run(setting, seed, starts) for seed in range(seeds)]
        mean = {key: float(np.mean([one[key] for one in found])) for key in found[0]}
        rows.append(
            [
                titled(setting),
                f"{mean['paper']:.2f} ({setting.prototype[0]})",
                f"{mean['paired']:.3f} ({setting.prototype[1]})",
                exactly_zero(found, "holdout 50/50"),
                f"{exactly_zero(found, 'holdout 20/80')} ({setting.prototype[2]})",
                f"{exactly_zero(found, 'auto')} ({setting.prototype[2]})",
                f"{mean['20/80 true']:.3f}",
                f"{mean['auto true']:.3f}",
            ]
        )
        print(rows[-1], flush=True)
    held_out = ["holdout 50/50", "holdout 20/80"]
    header = ["n, k, M", "paper", "paired", *held_out, "auto", "true gap (20/80)", "true gap (auto)"]
    return table(header, rows) + (
        f"\n\nMean of {seeds} seeds, delta = {DELTA}; in brackets the figures of an earlier prototype (its own "
        "search and seeds; its `holdout` learnt on one half, and is its best figure). Columns before `auto` take the "
        f"profile that certifies best among those found from {starts} starts, the held-out ones among {KEPT} "
        "candidates that the learning part expects to certify best. `auto` is what `coterie learn "
        "--goal stability --team-size any` does, "
        "with its own search; it weighs the gap to expect against the certificate."
    )


if __name__ == "__main__":
    main()
