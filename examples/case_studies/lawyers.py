"""Lawyers of a firm: teams learnt from whom they ask and whom they like, judged by with whom they work.

    python examples/case_studies/lawyers.py DATA [--only QUESTION] [--out FOLDER]

DATA holds ties.csv (domain: advice, friendship or cowork; from, to) and agents.csv (agent, office, practice).
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from coterie import Game, Log, StableLearner, Strategy
from study import Found, Study, alike, columns, members, rows, sentence, table

DOMAINS = {"advice": "ask for advice", "friendship": "see as a friend", "cowork": "work with"}
LEARNT_ON = ("advice", "friendship")
TEAMS = 5
DRAWS = 200
"""How often people are put into teams of the same sizes at random."""


def ties(folder: Path, domain: str) -> np.ndarray:
    """Return who named whom in one relation: 1 or 0 for every two lawyers."""
    place = {row["agent"]: i for i, row in enumerate(rows(folder / "agents.csv"))}
    named = np.zeros((len(place), len(place)))
    for row in rows(folder / "ties.csv"):
        if row["domain"] == domain:
            named[place[row["from"]], place[row["to"]]] = 1.0
    return named


def log_of(folder: Path) -> Log:
    """Return advice and friendship as a log, each as one sample; two lawyers get the average of both directions."""
    lawyers = [row["agent"] for row in rows(folder / "agents.csv")]
    pairs = [
        (domain, "firm", lawyers[i], lawyers[j], named[i, j])
        for domain in LEARNT_ON
        for named in [ties(folder, domain)]
        for i in range(len(lawyers))
        for j in range(len(lawyers))
        if i != j
    ]
    return Log.from_frames(
        pairs=columns(("sample", "coalition", "agent", "partner", "utility"), pairs), utility_range=(0, 1),
        symmetrize=True, pool_coalitions=True, coalitions=TEAMS, actions="one",
    )  # fmt: skip


def real_teams(folder: Path) -> list[list[str]]:
    """Return who is in the same office and practice; the four lawyers of the smallest office are one team."""
    teams: dict[str, list[str]] = {}
    for row in rows(folder / "agents.csv"):
        small = row["office"] == "Providence"
        teams.setdefault(row["office"] if small else f"{row['office']} {row['practice']}", []).append(row["agent"])
    return sorted(teams.values(), key=len, reverse=True)


def teams(folder: Path) -> Found:
    """Learn teams of today's sizes on two relations, and judge them by the third, beside the real ones."""
    before = log_of(folder)
    real = real_teams(folder)
    today = Strategy.from_members(real, before.agents, before.coalitions)
    result = StableLearner(value="average", today=today, keep_sizes=True).fit(before).result_
    assert result.today is not None
    return {
        "sizes": [len(team) for team in real],
        "moves": result.today.moves,
        "improvement": [result.today.expected_improvement, *result.today.range],
        "certificate": result.certificate.gap,
        "range_gap": result.range_gap,
        "alike": alike(members(result.strategy), real),
        "named": {domain: _named(folder, domain, result.strategy, real) for domain in DOMAINS},
    }


def _named(folder: Path, domain: str, learnt: Strategy, real: list[list[str]]) -> Found:
    """Return which share of their teammates people name, on average, in learnt, real and random teams."""
    lawyers = [row["agent"] for row in rows(folder / "agents.csv")]
    named = ties(folder, domain)
    game = Game(named, "one", agents=lawyers, coalitions=learnt.coalitions, symmetric=False).valued("average")

    def share(groups: Sequence[Sequence[str]]) -> float:
        return float(game.values(Strategy.from_members(groups, lawyers, learnt.coalitions)).mean())

    rng = np.random.default_rng(0)
    starts = np.cumsum([len(team) for team in real])[:-1]
    drawn = [share([list(team) for team in np.split(rng.permutation(lawyers), starts)]) for _ in range(DRAWS)]
    return {"learnt": share(members(learnt)), "real": share(real), "random": float(np.mean(drawn))}


def told_teams(found: Found) -> str:
    """Word what the teams came to."""
    expected, low, high = found["improvement"]
    lines = [
        f"Five teams of {', '.join(map(str, found['sizes']))} learnt from advice and friendship, judged by co-work:",
        sentence(f"{found['moves']} of {sum(found['sizes'])} lawyers are elsewhere than in the real teams (office and "
                 f"practice); adjusted Rand index {found['alike']:.2f} (1 is the same)."),
        sentence(f"Expected against the real teams: {expected:+.3f} per lawyer, with 80 % probability {low:+.3f} to "
                 f"{high:+.3f}."),
        sentence(f"Promised with 99 % confidence: nobody gains more than {found['certificate']:.2f} by changing "
                 f"places; without any data that is {found['range_gap']:.2f}."),
        table(("share of teammates whom people", "learnt", "real", "random"), [
            (f"{words}{'' if domain in LEARNT_ON else ' (not learnt from)'}",
             *(f"{found['named'][domain][kind]:.3f}" for kind in ("learnt", "real", "random")))
            for domain, words in DOMAINS.items()
        ]),
    ]  # fmt: skip
    return "\n".join(lines)


def draw(results: Mapping[str, Found], path: Path) -> None:
    """Draw the share of teammates that people name, in three kinds of teams."""
    import matplotlib.pyplot as plt

    named = results["teams"]["named"]
    figure, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
    colours = {"learnt": "#2457c5", "real": "#1d2127", "random": "#b9bec7"}
    for place, (kind, colour) in enumerate(colours.items()):
        across = np.arange(len(named)) + 0.27 * (place - 1)
        drawn = ax.bar(across, [named[domain][kind] for domain in DOMAINS], 0.25, color=colour, label=f"{kind} teams")
        ax.bar_label(drawn, fmt="%.2f", fontsize=8)
    ax.set_xticks(range(len(named)), ["advice (learnt from)", "friendship (learnt from)", "co-work (held out)"])
    ax.set_ylabel("share of teammates named")
    ax.set_title("Whom lawyers name among their teammates")
    ax.legend(frameon=False)
    figure.savefig(path, dpi=100)
    plt.close(figure)


STUDY = Study("lawyers", ("ties.csv", "agents.csv"), {"teams": (teams, told_teams)}, draw)

if __name__ == "__main__":
    STUDY.main(__doc__)
