"""Blocs in the General Assembly of the United Nations, learnt on one period and judged by the next.

    python examples/case_studies/un_votes.py DATA [--only QUESTION] [--out FOLDER]

DATA holds votes.csv, a row for each roll call (rcid, date, issues with | between them, and a column for every state:
1 yes, 0 abstention, -1 no, empty for absent), and agents.csv (agent, bloc_1974_1989).
"""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import coterie
from coterie import Log, PairStatistics, StableLearner, Statistics, Strategy
from study import (
    Found,
    Study,
    by_averages,
    columns,
    draw_changes,
    groups,
    judged,
    members,
    rows,
    sentence,
    table,
    who_gains,
)

COLD_WAR, AFTER, RECENT = (1974, 1989), (1992, 2009), (2010, 2019)
NEUTRAL = 0.6
"""How often two states must vote alike for that to be worth as much as being alone: about as often as any two do."""

ISSUES = {"co": "colonialism", "di": "disarmament", "ec": "economic development", "hr": "human rights",
          "me": "Palestinian conflict", "nu": "nuclear weapons"}  # fmt: skip


def choices(folder: Path, period: tuple[int, int]) -> dict[str, list[str]]:
    """Return the votes of some years: who chose what, in which roll call, on which issues."""
    first, last = period
    calls = [row for row in rows(folder / "votes.csv") if first <= int(row["date"][:4]) <= last]
    states = [row["agent"] for row in rows(folder / "agents.csv")]
    listed = [
        (f"{call['date']} {call['rcid']}", issue, state, call[state])
        for call in calls
        for issue in call["issues"].split("|")
        for state in states
        if call[state]
    ]
    return columns(("sample", "coalition", "agent", "choice"), listed)


def bloc_log(folder: Path, period: tuple[int, int], neutral: float) -> Log:
    """Return votes as a log in which every state is in one of three blocs, whatever the issue."""
    return Log.from_frames(
        choices=choices(folder, period), utility_range=(0, 1), neutral=neutral, pool_coalitions=True, coalitions=3,
        actions="one",
    )  # fmt: skip


def blocs(folder: Path, earlier: tuple[int, int], later: tuple[int, int]) -> Found:
    """Learn three blocs on one period, and judge them, the blocs of the Cold War and one for all, by both."""
    before = Statistics.for_learning(bloc_log(folder, earlier, NEUTRAL))
    after = Statistics.for_learning(bloc_log(folder, later, NEUTRAL), parts=(1.0,))
    result = StableLearner().fit(before).result_
    kinds = {row["agent"]: row["bloc_1974_1989"] for row in rows(folder / "agents.csv")}
    known = groups([[s for s in kinds if kinds[s] == kind] for kind in ("west", "east", "south")], result.strategy)
    everybody = groups([list(kinds)], result.strategy)
    compared = coterie.compare(after, known, result.strategy, fresh=True)
    return {
        "periods": [list(earlier), list(later)],
        "samples": [before.n_samples, after.n_samples],
        "agreement": [_agreement(before), _agreement(after)],
        "blocs": members(result.strategy),
        "learnt": [by_averages(result, before), judged(after, result.strategy)],
        "known": [judged(before, known)["value"], judged(after, known)["value"]],
        "everybody": [judged(before, everybody)["value"], judged(after, everybody)["value"]],
        "against_known": {
            "low": compared.per_person.low, "high": compared.per_person.high,
            "gain": len(compared.gain), "lose": len(compared.lose),
        },
    }  # fmt: skip


def _agreement(statistics: Statistics) -> float:
    """Return how often two states voted alike."""
    whole = statistics.whole
    assert isinstance(whole, PairStatistics)
    return float((whole.counts * whole.means).sum() / whole.counts.sum()) + NEUTRAL


def cold_war(folder: Path) -> Found:
    """Learn blocs on the last years of the Cold War, and judge them by the time after it."""
    return blocs(folder, COLD_WAR, AFTER)


def since_then(folder: Path) -> Found:
    """Learn blocs on the time after the Cold War, and judge them by what came next."""
    return blocs(folder, AFTER, RECENT)


def told_blocs(found: Found) -> str:
    """Word what blocs came to."""
    first, last = ("-".join(map(str, period)) for period in found["periods"])
    (before, after), versus = found["learnt"], found["against_known"]
    lines = [
        f"Three blocs learnt on {first}, judged by {last}:",
        sentence(f"{found['samples'][0]:,} roll calls, in which {found['agreement'][0]:.0%} of pairs voted alike; then "
                 f"{found['samples'][1]:,}, in which {found['agreement'][1]:.0%} did."),
        *(sentence(f"{len(some)} states: {', '.join(some)}") for some in found["blocs"]),
        sentence(f"Promised with 99 % confidence: no state gains more than {before['certificate']:.2f} by moving."),
        sentence(f"Contradicted by the log: {', '.join(before['contradicted']) or 'nothing'}."),
        table(("", first, last), [
            ("value per state of the learnt blocs", f"{before['value']:.2f}", f"{after['value']:.2f}"),
            ("of west, east and south", *(f"{value:.2f}" for value in found["known"])),
            ("of one bloc for all", *(f"{value:.2f}" for value in found["everybody"])),
            ("most that a state gains by moving", f"{before['gap']:.2f}", f"{after['gap']:.2f}"),
            ("surely at most", f"{before['certificate']:.2f}", f"{after['certificate']:.2f}"),
        ]),
        sentence(f"Who would gain by moving in {last}: {who_gains(after)}."),
        sentence(f"Learnt blocs against west, east and south in {last}, per state: surely {versus['low']:+.2f} to "
                 f"{versus['high']:+.2f}; {versus['gain']} surely better off, {versus['lose']} surely worse."),
    ]  # fmt: skip
    return "\n".join(lines)


def neutral_point(folder: Path) -> Found:
    """Learn blocs with the midpoint as neutral: two states that vote alike half of the time are worth being alone."""
    result = StableLearner().fit(bloc_log(folder, AFTER, 0.5)).result_
    return {"blocs": members(result.strategy), "certificate": result.certificate.gap}


def told_neutral(found: Found) -> str:
    """Word what another neutral point does."""
    sizes = " and ".join(str(len(some)) for some in found["blocs"])
    outside = "; ".join(", ".join(some) for some in found["blocs"][1:])
    return "\n".join([
        f"The same on {AFTER[0]}-{AFTER[1]} with the midpoint 0.5 as neutral instead of {NEUTRAL}:",
        sentence(f"Blocs of {sizes} states (all but the largest: {outside or 'none'}); surely no gain above "
                 f"{found['certificate']:.2f}."),
    ])  # fmt: skip


def issues(folder: Path) -> Found:
    """Learn who joins which issue's caucus, staying out allowed, and judge that by the next period."""

    def log(period: tuple[int, int]) -> Log:
        return Log.from_frames(choices=choices(folder, period), utility_range=(-1, 1), actions="any", may_stay_out=True)

    before = Statistics.for_learning(log(AFTER))
    after = Statistics.for_learning(log(RECENT), parts=(1.0,))
    result = StableLearner().fit(before).result_
    everybody = Strategy.from_members(dict.fromkeys(before.coalitions, before.agents))
    there = result.strategy.members()
    now = judged(after, result.strategy)
    return {
        "samples": [before.n_samples, after.n_samples],
        "outside": {issue: [s for s in before.agents if s not in there[issue]] for issue in before.coalitions},
        "learnt": [by_averages(result, before), now],
        "turned": _turned(folder, next(iter(now["best_alternative"]))),
        "everybody": [judged(before, everybody), judged(after, everybody)],
        "options": [{"label": one.label, "expected": one.expected_value, "certificate": one.gap}
                    for one in result.options],
    }  # fmt: skip


def _turned(folder: Path, state: str) -> Found:
    """Return the issue on which a state's votes left those of the others most, and how often they were alike."""
    shares = []
    for period in (AFTER, RECENT):
        calls: dict[tuple[str, str], dict[str, str]] = {}
        for sample, issue, agent, choice in zip(*choices(folder, period).values(), strict=True):
            calls.setdefault((sample, issue), {})[agent] = choice
        alike, count = Counter[str](), Counter[str]()
        for (_, issue), votes in calls.items():
            if state in votes:
                count[issue] += len(votes) - 1
                alike[issue] += sum(vote == votes[state] for vote in votes.values()) - 1
        shares.append({issue: alike[issue] / count[issue] for issue in count})
    before, after = shares
    issue = max(before, key=lambda issue: before[issue] - after[issue])
    return {"state": state, "issue": issue, "alike": [before[issue], after[issue]]}


def told_issues(found: Found) -> str:
    """Word who is outside of which issue."""
    first, last = ("-".join(map(str, period)) for period in (AFTER, RECENT))
    (before, after), (all_before, all_after), turned = found["learnt"], found["everybody"], found["turned"]
    lines = [
        f"Who joins which issue, learnt on {first}, judged by {last}; staying out of everything is allowed:",
        *(sentence(f"{ISSUES[issue]}: all but {', '.join(out)}") for issue, out in found["outside"].items()),
        *(sentence(f"{one['label']}: expected {one['expected']:.2f} per state, surely no gain above "
                   f"{one['certificate']:.2f}") for one in found["options"]),
        sentence(f"Contradicted by the log: {', '.join(before['contradicted']) or 'nothing'}."),
        table(("", first, last), [
            ("value per state of what was learnt", f"{before['value']:.2f}", f"{after['value']:.2f}"),
            ("of everybody in every issue", f"{all_before['value']:.2f}", f"{all_after['value']:.2f}"),
            ("most that a state gains by moving", f"{before['gap']:.2f}", f"{after['gap']:.2f}"),
            ("surely at most", f"{before['certificate']:.2f}", f"{after['certificate']:.2f}"),
            ("most, with everybody in every issue", f"{all_before['gap']:.2f}", f"{all_after['gap']:.2f}"),
        ]),
        sentence(f"Who would gain by moving in {last}: {who_gains(after)}. On the {ISSUES[turned['issue']]}, "
                 f"{turned['state']} voted like another state in {turned['alike'][0]:.0%} of cases, and then in "
                 f"{turned['alike'][1]:.0%}."),
    ]  # fmt: skip
    return "\n".join(lines)


def draw(results: Mapping[str, Found], path: Path) -> None:
    """Draw what moving would change for every state, in the period that was learnt from and in the next."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 5), sharex=True, layout="constrained")
    found = results["cold-war"]
    for ax, judgement, (since, until) in zip(axes, found["learnt"], found["periods"], strict=True):
        draw_changes(ax, judgement, f"{since} to {until}")
        ax.set_xlabel("what the best move to another bloc would change")
    figure.suptitle("Three blocs learnt on 1974 to 1989: by the averages (dots), surely (lines); orange surely gains")
    figure.savefig(path, dpi=100)
    plt.close(figure)


STUDY = Study(
    "un-votes",
    ("votes.csv", "agents.csv"),
    {
        "cold-war": (cold_war, told_blocs),
        "since-then": (since_then, told_blocs),
        "neutral": (neutral_point, told_neutral),
        "issues": (issues, told_issues),
    },
    draw,
)

if __name__ == "__main__":
    STUDY.main(__doc__)
