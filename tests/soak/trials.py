"""One random log with known truth through the whole pipeline: what was promised, and what is true.

Games, rules and ways to read a log are those of `coterie.reproduce.team_calibration`. Unlike there, logs have any
length, go through files or data frames and are read again, and commands and learners make all choices themselves.
"""

import contextlib
import json
import re
import warnings
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

import coterie
from coterie.coverage import coverage
from coterie.files import to_json, whole_folder
from coterie.game.rules import as_rules
from coterie.game.strategy import Strategy
from coterie.game.truth import truth_of
from coterie.learn.result import Result
from coterie.learn.worth import Worth, worth
from coterie.report import report_html
from coterie.reproduce.calibration import ROUNDING, Truth, compared, drawn
from coterie.reproduce.team_calibration import FACTORS, StepTruth, TeamSetting, is_possible, starts
from coterie.simulate import hostile
from coterie.simulate.logs import log_of
from coterie.simulate.writing import table_writer
from fuzz.readers import run
from patience import at_most

DELTAS = (0.5, 0.2, 0.1, 0.05, 0.01)
PEOPLE = {"semi-bandit": (4, 4, 4, 6, 6, 8), "bandit": (4, 4, 6)}
"""How many there are, small games more often than large ones: totals of eight people by size take a minute."""

SECONDS = 300
"""How long one log may take to compute, until it counts as a run without an answer."""

MODES = {
    "pooled coalitions": {"pool_coalitions": True},
    "sizes aware": {"sizes": "aware"},
    "shared noise": {"noise": "samples"},
}
"""What has to be said about a log for promises to hold."""

RARE = 0.3
"""In which share of the samples somebody takes part whom the promise leaves out."""

CLASSIC = {"rules": "no rules", "stability": "nash", "value": "total", "mode": "size-free"}
"""What the paper is about; a fifth of the logs are so."""

JUDGED = ("delta", "sizes", "noise", "min_samples")
"""What `certify` is asked like `learn`."""

OF_LOGS = ("pool_coalitions", "coalitions", "adaptive", "missing", "actions", "may_stay_out")


class Defect(Exception):  # noqa: N818  (it reads so)
    """What should not have happened."""


@dataclass(frozen=True)
class Trial:
    """A random game, how its log comes about, and what is asked of it."""

    setting: TeamSetting
    log: object
    """A `coterie.reproduce.calibration.Setting`."""
    seed: int
    way: str
    """"frames", "csv" or "parquet"."""
    options: dict = field(default_factory=dict)
    """What is said about the log and asked of the learner, by the names of Python."""
    max_moves: int | None = None
    """How many people may be elsewhere than today; None where today is not known."""

    @property
    def levels(self):
        """What it is counted by."""
        said = {name: self.options.get(name, "by default") for name in ("delta", "goal", "strategy", "certificate")}
        found = {factor: getattr(self.setting, factor) for factor in FACTORS} | said | {"read from": self.way}
        how = {"adaptive": self.log.adaptive, "some unrecorded": self.log.unrecorded is not None}
        found["leaves somebody out"] = "min_samples" in self.options
        found["most moves"] = "any" if self.max_moves is None else self.max_moves
        found["written"] = " and ".join(name for name, is_so in how.items() if is_so) or "in full"
        return {name: str(level) for name, level in found.items()}


def trial(seed, number):
    """Return trial `number` of a seed."""
    rng = np.random.default_rng([seed, number])

    def one(*options):
        return options[int(rng.integers(len(options)))]

    setting, always = None, CLASSIC if rng.random() < 0.2 else {}
    while setting is None or not _makes_sense(setting):
        levels = {factor: one(*levels) for factor, levels in FACTORS.items()} | always
        setting = TeamSetting(**levels | {"n": one(*PEOPLE[levels["feedback"]])})
    options = {
        "delta": one(*DELTAS),
        "stability": setting.stability,
        "value": setting.value,
        "random_state": int(rng.integers(1000)),
        **_sometimes(rng, "goal", "value", "stability", "fairness"),
        **_sometimes(rng, "certificate", "holdout", "paired"),
        **_sometimes(rng, "sizes", "aware", often=0.2),
        **_sometimes(rng, "noise", "samples", "pairs", often=0.3),
        **_sometimes(rng, "any_size", True, often=0.3),
        **MODES.get(setting.mode, {}),
    }
    if setting.stability == "nash" and setting.rules == "no rules":
        options |= _sometimes(rng, "strategy", "mixed", often=0.3)
        if setting.value == "total" and setting.mode not in MODES and rng.random() < 0.5:
            options |= {"certificate": "paper", "goal": "stability", "sizes": "ignore", "noise": "pairs"}
            options |= {"solver": "paper"} if "strategy" in options else {}
    log = replace(setting.log, samples=10 * max(1, round(np.exp(rng.uniform(0, np.log(60))))))
    if rng.random() < 0.15:
        log, options = replace(log, adaptive=True), {**options, "adaptive": True}
    elif setting.feedback == "semi-bandit" and rng.random() < 0.2:
        lost = one(hostile.absent, hostile.hushed_up)
        log = replace(log, unrecorded=lost)
        options |= {"missing": "worst"} if lost is hostile.hushed_up or rng.random() < 0.5 else {}
    is_classic = options.get("strategy") == "mixed" or options.get("certificate") == "paper"
    max_moves = int(rng.integers(setting.n + 1)) if rng.random() < 0.25 and not is_classic else None
    if max_moves is not None:
        options |= {"any_size": True}  # today's teams may have sizes that were never seen
    # Whoever is away changes sizes, and what is added up to totals.
    if setting.feedback == "semi-bandit" and setting.mode != "sizes aware" and not log.adaptive and rng.random() < 0.25:
        options |= {"min_samples": max(1, log.samples // 2)}
    if setting.mode == "pooled coalitions":
        options |= {"coalitions": setting.k}
        options |= {"actions": "one"} if setting.actions == "one" else {"actions": "up-to:2", "may_stay_out": True}
    return Trial(setting, log, int(rng.integers(2**31)), one("frames", "csv", "parquet"), options, max_moves)


def _makes_sense(setting):
    levels = [(factor, getattr(setting, factor)) for factor in FACTORS]
    return all(is_possible(one, two) for one in levels for two in levels if one[0] != two[0])


def _sometimes(rng, name, *values, often=0.5):
    return {name: values[int(rng.integers(len(values)))]} if rng.random() < often else {}


@dataclass(frozen=True)
class Kept:
    """Which promises a trial made, and whether they were kept; in what words it was refused."""

    promises: dict = field(default_factory=dict)
    refused: tuple = ()


def carry_out(chosen, folder):
    """Return what became of a trial; a `Defect` is raised where there was no answer, or one that cannot be."""
    try:
        with at_most(SECONDS), warnings.catch_warnings():
            warnings.simplefilter("error")
            return _Pipeline(chosen, folder).kept()
    except (Defect, KeyboardInterrupt):
        raise
    except BaseException as problem:
        raise Defect(f"{type(problem).__name__}: {problem}") from problem


class _Pipeline:
    """The way of one log."""

    def __init__(self, chosen, folder):
        self.chosen, self.folder = chosen, folder
        self.source, self.batch, self.rng = drawn(chosen.log, chosen.seed)
        self.rules, self.game = chosen.setting.what_rules(), self.source.game
        self.is_pooled = chosen.setting.mode == "pooled coalitions"
        self.of_log = {name: chosen.options[name] for name in OF_LOGS if name in chosen.options}
        self.asked = {name: value for name, value in chosen.options.items() if name not in OF_LOGS}
        if "min_samples" in chosen.options:
            self.batch = seldom(self.batch, int(self.rng.integers(self.game.n_agents)), self.rng)
            often = self.batch.joined.any(axis=2).sum(axis=0) >= chosen.options["min_samples"]
            self.game = copy(self.game)
            self.game.actions = self.game.actions.leaving_out(np.flatnonzero(~often).tolist())
        self.against = chosen.setting.against(self.game.actions)

    def kept(self):
        promises, refused = {}, []
        steps = self._in_python() if self.chosen.way == "frames" else self._by_commands()
        while True:
            try:
                name, found, strategy = next(steps)
            except StopIteration:
                return Kept(promises, tuple(refused))
            except coterie.InputError as problem:
                return Kept(promises, (*refused, wording(str(problem))))
            promises |= {(f"{name}: {what}", delta): is_so for what, delta, is_so in self._compared(found, strategy)}

    def _compared(self, found, strategy):
        """Yield for every promise what it is, its delta, and whether it was kept."""
        if isinstance(found, Worth):
            true = self.game.valued(self.chosen.setting.value).values(strategy)
            held = _within(true.sum(), found.everybody)
            held &= all(_within(value, found.people[name]) for name, value in zip(strategy.agents, true, strict=True))
            yield "all values in their intervals", found.delta, held
            return
        truth = StepTruth(self.game, self.against) if strategy.is_pure else Truth(self.game.valued(self.against.value))
        counted = self.game.actions.counted
        away = {name for name, here in zip(strategy.agents, counted, strict=True) if not here}
        away |= set() if self.rules.staff is None else set(strategy.agents) - set(self.rules.staff)
        if set(found.certificate.left_out) != away:
            raise Defect(f"left out of the promise: {found.certificate.left_out}, expected {away}")
        record = compared("", found.certificate, _Among(truth, counted), strategy)
        if not found.certificate.gap >= 0:  # also what is no number
            raise Defect(f"a certificate of {found.certificate.gap}")
        yield "the gap", record.delta, not record.wrong
        # The agents of a log are not independent: one of them is asked.
        yield "one agent's own bound", record.delta, not record.agents[self.rng.choice(np.flatnonzero(counted))]
        yield "who surely stays", record.delta, not record.staying_wrong

    def _known(self, strategy):
        """Return a strategy in the names of the truth: interchangeable coalitions are called 1, 2, ..."""
        names = self.game.agents, self.game.coalitions
        if strategy.is_pure:
            return Strategy.pure(strategy.sets, *names)
        return Strategy.from_json(json.loads(self._in_words(strategy.to_json(), back=True)), *names)

    def _in_words(self, content, *, back=False):
        """Return JSON in the names that coalitions have in results."""
        text = json.dumps(json.loads(to_json(content)))
        if self.is_pooled:
            text = re.sub(r'"(\d+)"', r'"c\1"', text) if back else re.sub(r'"c(\d+)"', r'"\1"', text)
        return text

    @property
    def _ruled(self):
        return as_rules(json.loads(self._in_words(self.rules.to_json()))) if self.rules else None

    def _described(self):
        """Return what is declared about the log; of interchangeable coalitions, sets are said by other words."""
        said = self.source.description(self.chosen.setting.feedback)
        return {name: value for name, value in said.items() if name != "actions" or not self.is_pooled}

    def _fresh(self):
        """Return an assignment that keeps the rules, drawn without a look at the log; None where there is none."""
        known = starts(self.chosen.setting)
        return None if len(known) == 0 else known[int(self.rng.integers(len(known)))]

    def _refuse_many_moves(self, result, most):
        """What was asked about today is kept."""
        if most is not None and not result.today.moves <= most:
            raise Defect(f"{result.today.moves} moves, asked for {most} at most")

    # --- In Python ----------------------------------------------------------------------------------------------------

    def _in_python(self):
        feedback = self.chosen.setting.feedback
        log = log_of([self.batch], self._described(), feedback, **self.of_log)
        fresh = self._fresh()
        names = log.agents, log.coalitions
        most = None if fresh is None else self.chosen.max_moves
        knows_today = fresh is not None and (most is not None or self.rng.random() < 0.3)
        today = Strategy.pure(fresh, *names) if knows_today else None
        rules = self._ruled if most is None else replace(self._ruled or coterie.Rules(), max_moves=most)
        learner = coterie.StableLearner(rules=rules, today=today, **self.asked).fit(log)
        self._refuse_many_moves(learner.result_, most)
        yield "learn", learner.result_, self._known(learner.strategy_)
        judged = {name: value for name, value in self.asked.items() if name in JUDGED}
        teams = {"rules": self._ruled, "value": self.chosen.setting.value, "stability": self.chosen.setting.stability}
        again = coterie.certify(log, learner.strategy_, **judged, **teams)
        yield "certify", again, self._known(learner.strategy_)
        if fresh is not None:
            given = Strategy.pure(fresh, *names)
            method = "paired" if self.chosen.log.adaptive else "holdout"
            found = coterie.certify(log, given, certificate=method, fresh=True, **judged, **teams)
            yield "certify, fresh", found, self._known(given)
        if learner.strategy_.is_pure:
            valued = {name: value for name, value in judged.items() if name != "min_samples"}
            found = worth(log, learner.strategy_, **valued, value=self.chosen.setting.value)
            yield "worth", found, self._known(learner.strategy_)
        coverage(log, learner.strategy_, sizes=self.asked.get("sizes", "ignore"))
        page = report_html(learner.result_, learner.statistics_)
        if not page.rstrip().endswith("</html>"):
            raise Defect("a report that does not end")

    # --- By the command line ------------------------------------------------------------------------------------------

    def _by_commands(self):
        with contextlib.chdir(self.folder):
            yield from self._commands()

    def _commands(self):
        feedback = self.chosen.setting.feedback
        said = self._described()
        with whole_folder("log") as made:
            with table_writer(made, self.chosen.way) as write:
                for name, table in self.source.tables(self.batch, feedback).items():
                    write(name, table)
            (made / "log.json").write_text(to_json(said), encoding="utf-8")
            truth = self._in_words(truth_of(self.game.valued(self.chosen.setting.value)))
            (made / "truth.json").write_text(truth, encoding="utf-8")
        asked = dict(self.asked)
        wide = ["--team-size", "any"] if asked.pop("any_size", False) and not self.rules.team_size else []
        if self.rules:
            Path("rules.json").write_text(to_json(self._ruled.to_json()), encoding="utf-8")
        ruled = ["--rules", "rules.json"] if self.rules else []
        fresh = self._fresh()
        most = None if fresh is None else self.chosen.max_moves
        if most is not None:
            self._write_today(fresh)
        moves = [] if most is None else ["--today", "today.csv", "--max-moves", most]
        words = ["learn", "log", *_words(asked | self.of_log), *wide, *ruled, *moves]
        self._run(*words, "--out", "result.json", "--out", "teams.xlsx", "--out", "teams.csv", "--report", "page.html")
        learnt = Result.load("result.json")
        self._refuse_many_moves(learnt, most)
        strategy = self._known(learnt.strategy)
        yield "learn", learnt, strategy
        self._agrees("result.json", learnt, strategy)
        judged = {name: value for name, value in asked.items() if name in JUDGED} | self.of_log
        if strategy.is_pure:
            words = _words({name: asked[name] for name in ("value", "stability")} | judged)
            self._run("certify", "log", "teams.csv", *words, *ruled, "--out", "certified.json")
        else:
            self._run("certify", "log", "result.json", *_words(judged), "--out", "certified.json")
        yield "certify", Result.load("certified.json"), strategy
        sizes = {"sizes": asked["sizes"]} if "sizes" in asked else {}
        self._run("coverage", "log", "--strategy", "result.json", "--json", *_words(self.of_log | sizes))
        self._run("report", "result.json", "--out", "again.html", "--out", "again.xlsx")

    def _write_today(self, profile):
        names = [name.removeprefix("c") if self.is_pooled else name for name in self.game.coalitions]
        rows = [f"{self.game.agents[i]},{names[l]}\n" for i, l in np.argwhere(profile)]
        Path("today.csv").write_text("agent,coalition\n" + "".join(rows), encoding="utf-8")

    def _agrees(self, file, learnt, strategy):
        """The command `evaluate` comes to the same conclusion as whoever knows the game."""
        said = json.loads(self._run("evaluate", file, "--truth", "log/truth.json", "--json"))
        game = self.game.valued(self.chosen.setting.value)
        gap = game.gap(strategy, self.chosen.setting.stability, self.against.admissible)
        held = gap <= learnt.certificate.gap + game.rounding
        told = said.get("counted_gap", said["gap"])
        if abs(told - gap) > ROUNDING * max(1, gap) or said["certificate_held"] != held:
            raise Defect(f"evaluate says {said}, and the gap is {gap}, certified {learnt.certificate.gap}")

    def _run(self, *words):
        code, out, err = run([str(word) for word in words], self.folder)
        if code in {130, 143}:
            raise KeyboardInterrupt
        if code == 2:
            raise coterie.InputError(f"{words[0]}: {err}")
        if code != 0:
            raise Defect(f"{' '.join(map(str, words))}: exit code {code}: {err}")
        return out


class _Among:
    """What is true of those whom a promise is about."""

    def __init__(self, truth, counted):
        self.truth, self.counted = truth, counted

    def of(self, strategy):
        gains, gap = self.truth.of(strategy)
        return np.where(self.counted, gains, -np.inf), gap


def seldom(batch, agent, rng):
    """Return a log in which somebody takes part in few samples."""
    away = rng.random(len(batch.joined)) > RARE
    joined = batch.joined.copy()
    joined[away, agent] = False
    gone = away[batch.sample] & ((batch.agent == agent) | (batch.partner == agent))
    return replace(hostile.without(batch, gone), joined=joined)


def _words(options):
    """Return options as words of the command line."""
    found = []
    for name, value in options.items():
        word = "--seed" if name == "random_state" else f"--{name.replace('_', '-')}"
        found += [] if value is False else [word] if value is True else [word, str(value)]
    return found


def _within(value, amount):
    return amount.low - ROUNDING <= value <= amount.high + ROUNDING


def wording(message):
    """Return a refusal without what differs from log to log."""
    message = re.sub(r"\berror: ", "", re.sub(r"\s+", " ", message)).strip()
    return re.sub(r"\d+(\.\d+)?", "#", re.sub(r"\b[pc]\d\b", "NAME", message))[:300]
