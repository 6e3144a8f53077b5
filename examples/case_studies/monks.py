"""Novices of a monastery: groups learnt from whom they liked in two waves, judged by the next, and by what happened.

    python examples/case_studies/monks.py DATA [--only QUESTION] [--out FOLDER]

DATA holds ratings.csv (domain, wave, rater, ratee, score: 1 for who is liked best, 2/3 and 1/3 for the next two) and
agents.csv (agent, name, outcome: who left, stayed or was expelled).
"""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from coterie import Log, StableLearner, Statistics
from study import (
    Found,
    Study,
    alike,
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

NEUTRAL = 0.12
"""Everybody names three of seventeen, with 1, 2/3 and 1/3: on average 2 / 17 of a point for each of the others."""

SAMPSON = {
    "Young Turks": ["Albert", "Boniface", "Gregory", "Hugh", "John Bosco", "Mark", "Winfrid"],
    "Loyal Opposition": ["Ambrose", "Berthold", "Bonaventure", "Louis", "Peter", "Romuald", "Victor"],
    "Outcasts": ["Amand", "Basil", "Elias", "Simplicius"],
}
"""The groups that Sampson described; Amand, who stood between two of them, is where later studies put him."""

OUTCOMES = {"stayed": "stayed", "left_later": "left later", "left_first": "left first", "expelled": "expelled"}


def liking(folder: Path, waves: tuple[str, ...]) -> Log:
    """Return whom everybody liked in some waves; who is not named gets 0, and a pair the average of both directions."""
    names = {row["agent"]: row["name"] for row in rows(folder / "agents.csv")}
    given = {
        (row["wave"], names[row["rater"]], names[row["ratee"]]): float(row["score"])
        for row in rows(folder / "ratings.csv")
        if row["domain"] == "liking"
    }
    pairs = [
        (wave, "monastery", one, other, given.get((wave, one, other), 0.0))
        for wave in waves
        for one in names.values()
        for other in names.values()
        if one != other
    ]
    return Log.from_frames(
        pairs=columns(("sample", "coalition", "agent", "partner", "utility"), pairs), utility_range=(0, 1),
        neutral=NEUTRAL, symmetrize=True, pool_coalitions=True, coalitions=3, actions="one",
    )  # fmt: skip


def third_wave(folder: Path) -> Found:
    """Learn three groups on the waves before the crisis but one, and judge them by the last."""
    before = Statistics.for_learning(liking(folder, ("2", "3")))
    after = Statistics.for_learning(liking(folder, ("4",)), parts=(1.0,))
    result = StableLearner().fit(before).result_
    known = groups(SAMPSON.values(), result.strategy)
    everybody = groups([result.strategy.agents], result.strategy)
    outcomes = {row["name"]: row["outcome"] for row in rows(folder / "agents.csv")}
    return {
        "groups": members(result.strategy),
        "expected": result.options[0].expected_value,
        "range_gap": result.range_gap,
        "learnt": [by_averages(result, before), judged(after, result.strategy)],
        "known": [judged(before, known), judged(after, known)],
        "everybody": [judged(before, everybody)["value"], judged(after, everybody)["value"]],
        "alike": alike(members(result.strategy), members(known)),
        "outcomes": [dict(Counter(OUTCOMES[outcomes[name]] for name in some)) for some in members(result.strategy)],
    }


def told_waves(found: Found) -> str:
    """Word what the groups came to."""
    (before, after), (known_before, known_after) = found["learnt"], found["known"]
    lines = [
        "Three groups learnt on the second and third wave, judged by the fourth:",
        *(
            sentence(f"{len(some)}: {', '.join(some)} ({_outcomes(became)})")
            for some, became in zip(found["groups"], found["outcomes"], strict=True)
        ),
        sentence(f"Against the groups that Sampson described: adjusted Rand index {found['alike']:.2f} (1 is the "
                 "same)."),
        sentence(f"Promised with 99 % confidence: nobody gains more than {before['certificate']:.2f} by moving; "
                 f"without any data that is {found['range_gap']:.2f}."),
        sentence(f"Expected per person: {found['expected']:.2f}."),
        table(("", "waves 2, 3", "wave 4"), [
            ("value per person of the learnt groups", f"{before['value']:.2f}", f"{after['value']:.2f}"),
            ("of the groups that Sampson described", f"{known_before['value']:.2f}", f"{known_after['value']:.2f}"),
            ("of one group for all", *(f"{value:.2f}" for value in found["everybody"])),
            ("most that anybody gains by moving", f"{before['gap']:.2f}", f"{after['gap']:.2f}"),
            ("surely at most", f"{before['certificate']:.2f}", f"{after['certificate']:.2f}"),
        ]),
        sentence(f"Who would gain by moving in wave 4: {who_gains(after)}."),
    ]  # fmt: skip
    return "\n".join(lines)


def _outcomes(counted: Mapping[str, int]) -> str:
    return ", ".join(f"{counted[word]} {word}" for word in OUTCOMES.values() if word in counted)


def draw(results: Mapping[str, Found], path: Path) -> None:
    """Draw what moving would change for everybody by the last wave."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 4), sharex=True, layout="constrained")
    for ax, judgement, title in zip(axes, results["waves"]["learnt"], ("waves 2 and 3", "wave 4"), strict=True):
        draw_changes(ax, judgement, title)
        ax.set_xlabel("what the best move to another group would change")
    figure.suptitle("Three groups learnt on waves 2 and 3: by the averages (dots), surely (lines)")
    figure.savefig(path, dpi=100)
    plt.close(figure)


STUDY = Study("monks", ("ratings.csv", "agents.csv"), {"waves": (third_wave, told_waves)}, draw)

if __name__ == "__main__":
    STUDY.main(__doc__)
