"""How stable a given strategy surely is, such as today's teams."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from coterie import checks
from coterie.certificates.against import likely_against
from coterie.certificates.from_statistics import evidence_from
from coterie.certificates.given import CertificateName, certificates_of
from coterie.certificates.holdout import NOT_ADAPTIVE
from coterie.certificates.likely import likely_gap
from coterie.certificates.paper import no_paper
from coterie.certificates.widened import widened
from coterie.errors import InputError
from coterie.files import naming
from coterie.game.game import Value
from coterie.game.rules import Rules, as_rules
from coterie.game.steps import Stability
from coterie.game.strategy import Strategy, StrategyLike, as_strategy, read_strategy_content
from coterie.learn.assemble import Judged, assembled
from coterie.learn.beliefs import beliefs_from
from coterie.learn.result import NAMED, Result, Search
from coterie.learn.warnings import chosen_before
from coterie.learn.wishes import default_stability, names_of_teams, numbered, wishes_about
from coterie.log.log import Log, as_log
from coterie.log.names import about_known, as_known
from coterie.statistics.fresh import share_samples
from coterie.statistics.setting import NoiseChoice, Sizes
from coterie.statistics.statistics import Statistics
from coterie.threads import one_thread
from coterie.words import counted, said, some

GIVEN = Search("given", "given", 0, 0, 0.0)


@one_thread()
def certify(
    log: Log | str | PathLike[str] | Statistics,
    strategy: StrategyLike | Result,
    *,
    certificate: CertificateName = "paired",
    fresh: bool = False,
    delta: float = 0.01,
    sizes: Sizes = "ignore",
    noise: NoiseChoice = "auto",
    min_samples: int = 0,
    rules: Any = None,
    value: Value | None = None,
    stability: Stability | None = None,
) -> Result:
    """Return how stable a given strategy surely is, such as today's teams.

    Parameters
    ----------
    log
        Past outcomes, the folder or file that they are in, or their statistics; the whole log certifies.
    strategy
        Over the log's agents and coalitions: a `Strategy`, a dictionary agent -> coalitions, a matrix of 0 and 1, the
        path of a CSV or result file, or a `Result`. A set that its agent could not choose is taken as one of her
        actions.
    certificate
        "paired", "paper", or "holdout", which needs `fresh`.
    fresh
        Your word that the strategy was fixed without looking at the utilities of this log. It is refused for a result
        that was learnt from this log or a part of it, however they were read.
    delta, sizes, noise, min_samples, rules, value, stability
        As for `StableLearner`. A strategy that breaks rules can be certified too; the result says which. Where a result
        or its file is given, what is not said here is as it was there, and rules are added to those that it has. Where
        rules say who is on the staff, those who are not may be missing in the strategy.
    """
    min_samples = checks.whole(min_samples, said("min_samples"), 0)
    parameters = {
        "certificate": certificate, "fresh": fresh, "delta": delta, "sizes": sizes, "noise": noise,
        "min_samples": min_samples,
    }  # fmt: skip
    checks.one_of(certificate, CertificateName, said("certificate"))
    checks.boolean(fresh, said("fresh"))
    delta = checks.probability(delta, said("delta"))
    if certificate == "holdout" and not fresh:
        raise InputError(
            "holdout certifies a strategy that was fixed without looking at these outcomes; if that is so, say "
            f"{said(fresh=True)}"
        )
    known = log if isinstance(log, Statistics) else as_log(log)
    content = Given.read(strategy, known)
    source, teams = as_many_teams(known, [content])
    paper = certificate == "paper"
    statistics = Statistics.for_learning(source, sizes=sizes, noise=noise, paper=paper, parts=(1.0,))
    taken, notes = taken_over(
        [content], replace(as_rules(rules), max_moves=None), value, stability, usual_value(statistics)
    )
    if paper:
        taken["value"] = taken["value"] or "total"
    statistics, wishes = wishes_about(statistics, **taken)
    given, called, remarks = content.strategy(statistics, wishes.rules, "the assignment")
    if not given.is_pure and taken["value"] is None and wishes.value != "total":
        statistics, wishes = wishes_about(statistics, **{**taken, "value": "total"})
        notes.append(BY_TOTALS)
    notes += [*teams, *wishes.notes]
    if fresh:
        refuse_known(content.learnt_from, statistics, "this strategy")
    evidence = evidence_from(statistics.whole)
    declared = statistics.setting.actions.leaving_out(statistics.seen_less(min_samples))
    spaces, added = widened(declared, given)
    notes += [*remarks, *added]
    against = wishes.against(spaces)
    found = certificates_of(statistics.whole, evidence, given, against, delta, declared=declared, fresh=fresh)
    chosen = found[certificate]
    if chosen is None:
        raise InputError(no_paper() if certificate == "paper" else NOT_ADAPTIVE)
    if fresh:
        notes.append(f"{said('fresh')}: the strategy is taken to have been fixed without looking at these outcomes")
        if certificate != "holdout" and found["holdout"] is not None:
            notes.append(
                f"a fresh strategy may have the holdout certificate, as a rule tighter: {said(certificate='holdout')}"
            )
    notes += chosen_before(statistics, noise, paper=paper)
    alone: dict[str, float | None] = {name: None if one is None else one.gap for name, one in found.items()}
    if against.is_plain:
        likely = likely_gap(evidence, given, spaces, delta)
    else:
        likely = likely_against(evidence, given, against, delta)
    expected = beliefs_from(evidence, symmetric=statistics.setting.symmetric).middle
    judged = Judged(given, chosen, alone, evidence, against.own_spaces, likely, expected)
    result = assembled(judged, statistics, GIVEN, parameters, notes, against)
    violations = tuple(wishes.admissible.violations(given.sets)) if given.is_pure else ()
    return replace(
        result, value=wishes.value, stability=wishes.stability, rules=wishes.rules, violations=violations,
        unit=result.unit or content.unit, team_names={number: name for name, number in called.items()},
    )  # fmt: skip


def refuse_known(learnt_from: Mapping[str, Any], statistics: Statistics, what: str) -> None:
    """Refuse to call a strategy fresh that was learnt from this log, or from samples that are in it too."""
    if learnt_from.get("log_sha256") == statistics.log_sha256:
        raise InputError(f"{said('fresh')}: {what} was learnt from this very log, so it is not fresh")
    if not isinstance(marks := learnt_from.get("marks") or (), (list, tuple)):
        raise InputError(f"{what}: data.marks: expected a list, got {checks.shown(marks)}")
    if share_samples(marks, statistics.clues.marks):
        raise InputError(
            f"{said('fresh')}: {what} was learnt from rounds that are in this log too, so it is not fresh; "
            "give rounds that are others other names"
        )


BY_TOTALS = "chances of several teams are judged by totals over teammates: averages are about fixed teams alone"
"""What is told where a log is one of averages, and a strategy is mixed."""


def usual_value(source: Log | Statistics) -> Value:
    """Return what a team is worth to a member where nobody says so."""
    return source.setting.value if isinstance(source, Statistics) else source.value


def called_by(source: Log | Statistics) -> Mapping[str, str]:
    """Return what the tables of a log call who and in which team."""
    return source.called if isinstance(source, Log) else source.clues.called


def _content_of(path: Path, source: Log | Statistics | None) -> Any:
    """Return what a strategy file holds, read with what a log knows."""
    if source is None:
        return read_strategy_content(path)
    return read_strategy_content(path, called_by(source), source.agents)


def as_many_teams(source: Log | Statistics, given: "Sequence[Given]") -> tuple[Log | Statistics, list[str]]:
    """Return a log with as many interchangeable coalitions as results were made with, if nobody says how many."""
    if not isinstance(source, Log) or not source.pool_coalitions or "coalitions" in source.said:
        return source, []
    counts = {len(one.came_with["coalitions"]) for one in given if isinstance(one.came_with.get("coalitions"), list)}
    if len(counts) != 1 or counts == {len(source.coalitions)} or 0 in counts:
        return source, []
    (count,) = counts
    told = f"there may be {counted(count, 'team')}, as in the result; {said('coalitions')} says otherwise"
    return source.with_coalitions(count), [told]


def taken_over(
    given: "Sequence[Given]", rules: Rules, value: Value | None, stability: Stability | None, usual_value: Value
) -> tuple[dict[str, Any], list[str]]:
    """Return what assignments are to be judged by: what is said, else what the results were made with.

    And a sentence about what was taken over from there, if that is not what would have been so anyway. Results that
    were made with different rules have none in common; where their value or notion differ, that has to be said. What
    nobody said stays None; `usual_value` is what the log makes of that.
    """
    made = [one for one in (each.made_with() for each in given) if one is not None]
    same_rules = all(one.to_json() == made[0][0].to_json() for one, *_ in made)
    before = made[0][0] if made and same_rules else Rules()
    both, words = before + rules, []
    found: dict[str, Any] = {"rules": both, "value": value, "stability": stability}
    usual = {"value": usual_value, "stability": default_stability(both)}
    for place, name in enumerate(usual, start=1):
        before_this = list(dict.fromkeys(one[place] for one in made if one[place] is not None))
        if found[name] is not None or not before_this:
            continue
        if len(before_this) > 1:
            raise InputError(
                f"one result was made with {name} {before_this[0]}, the other with {before_this[1]}; say by which both "
                f"are to be judged: {said(name)}"
            )
        found[name] = before_this[0]
        words += [] if found[name] == usual[name] else [f"{name} {found[name]}"]
    about = [name.replace("_", " ") for name in before.to_json() if name not in {"format", "labels"}]
    words += [f"rules about {', '.join(about)}"] if about else []
    notes = [f"taken over from the result: {'; '.join(words)}; whatever is said here wins"] if words else []
    if not same_rules:
        notes.append("the two results were made with different rules; both are judged by the rules said here alone")
    return found, notes


@dataclass(frozen=True, eq=False)
class Given:
    """An assignment as it was given, and what came with it."""

    content: Any
    """A strategy, or whatever stands for one; of a file what it holds."""
    path: Path | None
    came_with: Mapping[str, Any]
    """The content of the result that it is from; empty where it is from none."""

    @classmethod
    def read(cls, given: Any, source: Log | Statistics | None = None) -> "Given":
        """Return what was given: a strategy in any of its forms, a result, or the path of either.

        A table may have the words of a log for its columns, and list people whom that knows in one cell.
        """
        if isinstance(given, Result):
            about: dict[str, Any] = {"value": given.value, "stability": given.stability, "rules": given.rules.to_json()}
            about |= {"coalitions": list(given.strategy.coalitions), "unit": given.unit}
            about |= {"team_names": dict(given.team_names)}
            return cls(given.strategy, None, {**about, "data": given.data.to_json()})
        path = Path(checks.path(given, "strategy")) if isinstance(given, (str, PathLike)) else None
        content = given if path is None else _content_of(path, source)
        is_result = isinstance(content, Mapping) and isinstance(content.get("data"), Mapping)
        return cls(content, path, content if is_result else {})

    @property
    def learnt_from(self) -> Mapping[str, Any]:
        """What is known of the log that it was learnt from."""
        found: Mapping[str, Any] = self.came_with.get("data", {})
        return found

    @property
    def unit(self) -> str:
        """What the result that it is from counts in; "" where it is from none, or did not say."""
        found = self.came_with.get("unit")
        return found if isinstance(found, str) else ""

    def made_with(self) -> tuple[Rules, Value, Stability | None] | None:
        """Return the rules, value and notion of the result that it is from; None where it is from none."""
        if not self.came_with:
            return None
        with self._naming():
            # A limit on moves was about moves from where people were then.
            rules = replace(as_rules(self.came_with.get("rules")), max_moves=None)
            value = checks.one_of(self.came_with.get("value", "total"), Value, "value")
            stability = self.came_with.get("stability")
            return rules, value, None if stability is None else checks.one_of(stability, Stability, "stability")

    def strategy(
        self,
        statistics: Statistics,
        rules: Rules,
        label: str,
        *,
        may_lack: bool = False,
        before: Mapping[str, str] | None = None,
    ) -> tuple[Strategy, dict[str, str], list[str]]:
        """Return the strategy in the names of a log, which other names of teams stand for which, and remarks.

        Where it is known who is on the staff, those who are not may be missing, and so may people of whom nothing is
        known, or, if it `may_lack` them, anybody, who is nowhere then; whoever neither the log nor the staff knows is
        left out. Interchangeable coalitions may have other names, which keep the numbers that they had `before`.
        """
        agents, notes = statistics.agents, []
        called: dict[str, str] = {}
        with self._naming():
            content, actions = self.content, self._actions(agents)
            if actions is not None:
                if renamed := as_known((name for name in actions if isinstance(name, str)), agents):
                    actions = checks.rekeyed(actions, renamed, "the assignment")
                    content = {"actions": actions}
                    notes += about_known(renamed)
                placed = actions
                new = () if statistics.attendance is None else np.flatnonzero(statistics.attendance == 0).tolist()
                unknown = {agents[i] for i in new}
                missing = [name for name in agents if name not in actions]
                if rules.staff is not None:
                    absent = [name for name in missing if may_lack or name not in rules.staff or name in unknown]
                    if nowhere := [name for name in absent if name in rules.staff]:
                        who = "newcomers" if unknown.issuperset(nowhere) else "people"
                        notes.append(f"in {label} these {who} are nowhere: {some(nowhere, NAMED)}")
                    if strangers := [name for name in actions if name not in agents]:
                        notes.append(
                            f"{label} holds people whom neither the log nor the staff knows: {some(strangers, NAMED)}"
                        )
                    kept = {name: where for name, where in actions.items() if name in agents}
                    placed = kept | {name: [] for name in absent}
                    content = {"actions": placed}
                    missing = [name for name in missing if name not in absent]
                else:
                    _refuse_strangers(actions, agents)
                if missing and not set(actions) - set(agents):
                    raise InputError(f"{label}: {missing[0]!r} is nowhere in it; {_what_helps(rules)}")
                if statistics.setting.pool_coalitions:
                    placed, called, told = numbered(placed, statistics.coalitions, label, before)
                    content = content if placed is actions else {"actions": placed}
                    named = names_of_teams(self.came_with)
                    called = {name: one for one, name in named.items() if one in statistics.coalitions} | called
                    notes += told
            if self.path is not None:
                return Strategy.from_json(content, agents, statistics.coalitions), called, notes
            return as_strategy(content, agents, statistics.coalitions, "the log's"), called, notes

    def _actions(self, agents: Sequence[str]) -> Mapping[str, Any] | None:
        """Return agent -> what she does; None where it is given in another form."""
        actions = self.content.actions if isinstance(self.content, Strategy) else self.content
        for key in ("strategy", "actions"):
            if isinstance(actions, Mapping) and isinstance(actions.get(key), Mapping) and key not in agents:
                actions = actions[key]
        is_known = isinstance(actions, Mapping) and (self.path is None or actions is not self.content)
        return actions if is_known else None

    def _naming(self) -> AbstractContextManager[None]:
        return nullcontext() if self.path is None else naming(self.path)


def _refuse_strangers(actions: Iterable[Any], agents: Sequence[str]) -> None:
    """Refuse people whom the log does not know where nobody said who is on the staff."""
    known = set(agents)
    for name in actions:
        if isinstance(name, str) and name not in known:
            try:
                checks.index_of(name, agents, "agent in strategy")
            except InputError as problem:
                raise InputError(f"{problem}; whoever is new is named by {said('staff')}") from None


def _what_helps(rules: Rules) -> str:
    """Return what to do about somebody whom an assignment leaves out."""
    if rules.staff is None:
        return f"to say who is to be assigned at all, without whoever left, there is {said('staff')}"
    return "they are on the staff: give them a row, with an empty team if they are in none"
