"""Sixteen sub-tribes with alliances and enmities: who belongs together, proven, and what hidden relations say of it.

    python examples/case_studies/tribes.py DATA [--only QUESTION] [--out FOLDER]

DATA holds pairs.csv (i, j, sign: 1 for an alliance, -1 for an enmity) and agents.csv (agent, name).
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from coterie import Game, Log, StableLearner, Strategy
from study import Found, Study, columns, members, rows, sentence

FOLDS = 5

Relation = tuple[str, str, float]
"""Two tribes, and 1 or -1."""


def relations(folder: Path) -> list[Relation]:
    """Return alliances and enmities by names."""
    names = {row["agent"]: row["name"] for row in rows(folder / "agents.csv")}
    return [(names[row["i"]], names[row["j"]], float(row["sign"])) for row in rows(folder / "pairs.csv")]


def known_game(folder: Path, coalitions: int) -> Game:
    """Return the game in which an ally is worth 1, an enemy -1 and anybody else nothing, as if that were all."""
    names = [row["name"] for row in rows(folder / "agents.csv")]
    values = np.zeros((len(names), len(names)))
    for one, other, sign in relations(folder):
        i, j = names.index(one), names.index(other)
        values[i, j] = values[j, i] = sign
    return Game(values, "one", agents=names, coalitions=coalitions)


def log_of(some: Sequence[Relation], names: Sequence[str]) -> Log:
    """Return relations as a log of one sample."""
    pairs = [("1954", "highlands", *relation) for relation in some]
    return Log.from_frames(
        pairs=columns(("sample", "coalition", "agent", "partner", "utility"), pairs), utility_range=(-1, 1),
        agents=names, pool_coalitions=True, coalitions=4, actions="one",
    )  # fmt: skip


def frustrated(groups: Sequence[Sequence[str]], some: Sequence[Relation]) -> int:
    """Return how many relations a division is at odds with: enemies together, allies apart."""
    home = {name: place for place, group in enumerate(groups) for name in group}
    return sum((home[one] == home[other]) != (sign > 0) for one, other, sign in some)


def _counts(name: str, groups: Sequence[Sequence[str]], some: Sequence[Relation]) -> list[int]:
    """Return how many allies and enemies a tribe has in its group, and how many elsewhere."""
    mine = next(group for group in groups if name in group)
    others = [(other if name == one else one, sign) for one, other, sign in some if name in {one, other}]
    kinds = [(inside, sign) for inside in (True, False) for sign in (1.0, -1.0)]
    return [sum((other in mine) == inside and sign == kind for other, sign in others) for inside, kind in kinds]


def rooms(folder: Path) -> Found:
    """Find the best division of the game as it is known, and what the same table says as a log."""
    some, four, three = relations(folder), known_game(folder, 4), known_game(folder, 3)
    stable = four.equilibrium().strategy
    best = three.best_welfare()
    result = StableLearner().fit(log_of(some, four.agents)).result_
    assert isinstance(stable, Strategy)
    return {
        "relations": [len(some), sum(sign > 0 for *_, sign in some)],
        "groups": members(stable),
        "gap": four.gap(stable),
        "welfare": [four.welfare(stable), best.welfare, best.bound],
        "frustrated": frustrated(members(stable), some),
        "as_a_log": {
            "same": members(result.strategy) == members(stable),
            "certificate": result.certificate.gap,
            "range_gap": result.range_gap,
        },
        "counts": {name: _counts(name, members(stable), some) for group in members(stable) for name in group},
    }


def hidden(folder: Path) -> Found:
    """Hide every fifth relation in turn, learn from the others, and see whether allies were put together."""
    some, names = relations(folder), known_game(folder, 4).agents
    folds = []
    for fold in range(FOLDS):
        kept = [relation for place, relation in enumerate(some) if place % FOLDS != fold]
        held = [relation for place, relation in enumerate(some) if place % FOLDS == fold]
        groups = members(StableLearner().fit(log_of(kept, names)).strategy_)
        folds.append([len(held), frustrated(groups, held)])
    allies = sum(sign > 0 for *_, sign in some)
    return {"folds": folds, "always_the_same": max(allies, len(some) - allies)}


def told_rooms(found: Found) -> str:
    """Word the best division."""
    (count, allies), (welfare, best, bound), log = found["relations"], found["welfare"], found["as_a_log"]
    lines = [
        f"{count} relations, {allies} alliances and {count - allies} enmities, taken as they are; up to four groups:",
        *(sentence(f"{len(group)}: {', '.join(group)}") for group in found["groups"]),
        sentence(f"Most that a tribe gains by moving: {found['gap']:.0f}. At odds with this: {found['frustrated']} of "
                 f"{count} relations."),
        sentence(f"Everybody together gets {welfare:.0f}; no division into three groups gets more than {bound:.0f} "
                 f"(proven), and {best:.0f} can be had."),
        sentence(f"As a log of one sample: {'the same' if log['same'] else 'other'} groups. Promised with 99 % "
                 f"confidence: no gain above {log['certificate']:.0f}; without any data that is "
                 f"{log['range_gap']:.0f}."),
    ]  # fmt: skip
    return "\n".join(lines)


def told_hidden(found: Found) -> str:
    """Word how hidden relations were foretold."""
    held, wrong = (sum(fold[place] for fold in found["folds"]) for place in (0, 1))
    right = [f"{count - missed} of {count}" for count, missed in found["folds"]]
    return "\n".join([
        "Every fifth relation hidden in turn, groups learnt from the others, allies expected together, enemies apart:",
        sentence(f"{held - wrong} of {held} hidden relations are as expected ({', '.join(right)}); calling all of them "
                 f"enmities is right for {found['always_the_same']}."),
    ])  # fmt: skip


def draw(results: Mapping[str, Found], path: Path) -> None:
    """Draw for every tribe how many allies and enemies it has in its group and elsewhere."""
    import matplotlib.pyplot as plt

    found = results["rooms"]
    figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
    kinds = ("allies in the group", "enemies in the group", "allies elsewhere", "enemies elsewhere")
    colours = ("#2457c5", "#a24a00", "#a9bfec", "#e3c3a8")
    drawn = np.array(list(found["counts"].values()))
    places = np.arange(len(drawn)) + np.repeat(range(len(found["groups"])), [len(group) for group in found["groups"]])
    for kind in (0, 1, 2, 3):
        ax.barh(places, drawn[:, kind], left=drawn[:, :kind].sum(axis=1), color=colours[kind], label=kinds[kind])
    ax.set_yticks(places, list(found["counts"]), fontsize=8)
    ax.invert_yaxis()
    ax.set_xlabel("relations")
    ax.set_title("Three groups of tribes")
    ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    figure.savefig(path, dpi=100)
    plt.close(figure)


STUDY = Study(
    "tribes", ("pairs.csv", "agents.csv"), {"rooms": (rooms, told_rooms), "hidden": (hidden, told_hidden)}, draw
)

if __name__ == "__main__":
    STUDY.main(__doc__)
