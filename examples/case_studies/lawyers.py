"""Lawyers of a firm: teams learnt from whom they ask and whom they like, judged by with whom they work.

    python examples/case_studies/lawyers.py DATA [--only QUESTION] [--out FOLDER]

DATA holds ties.csv (domain: advice, friendship or cowork; from, to) and agents.csv (agent, status, office,
practice).
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from coterie import Game, Log, StableLearner, Strategy
from study import Found, Study, alike, columns, members, rows, sentence, table

DOMAINS = {"advice": "ask for advice", "friendship": "see as a friend", "cowork": "work with"}
LEARNT_ON = ("advice", "friendship")
DRAWS = 200
"""How often people are put into teams of the same sizes at random."""


def ties(folder: Path, domain: str, lawyers: Sequence[str]) -> np.ndarray:
    """Return who named whom in one relation: 1 or 0 for every two lawyers."""
    named = {(row["from"], row["to"]) for row in rows(folder / "ties.csv") if row["domain"] == domain}
    return np.array([[float((one, other) in named) for other in lawyers] for one in lawyers])


def log_of(folder: Path, lawyers: Sequence[str], n_teams: int) -> Log:
    """Return advice and friendship as a log, each as one sample; two lawyers get the average of both directions."""
    pairs = [
        (domain, "firm", lawyers[i], lawyers[j], named[i, j])
        for domain in LEARNT_ON
        for named in [ties(folder, domain, lawyers)]
        for i in range(len(lawyers))
        for j in range(len(lawyers))
        if i != j
    ]
    return Log.from_frames(
        pairs=columns(("sample", "coalition", "agent", "partner", "utility"), pairs), utility_range=(0, 1),
        symmetrize=True, pool_coalitions=True, coalitions=n_teams, actions="one",
    )  # fmt: skip


def real_teams(some: Sequence[Mapping[str, str]]) -> list[list[str]]:
    """Return who is in the same office and practice; the few lawyers of the smallest office are one team."""
    teams: dict[str, list[str]] = {}
    for row in some:
        small = row["office"] == "Providence"
        teams.setdefault(row["office"] if small else f"{row['office']} {row['practice']}", []).append(row["agent"])
    return sorted(teams.values(), key=len, reverse=True)


def teams(folder: Path, status: Sequence[str]) -> Found:
    """Learn teams of today's sizes on two relations, and judge them by the third, beside the real ones."""
    some = [row for row in rows(folder / "agents.csv") if row["status"] in status]
    lawyers, real = [row["agent"] for row in some], real_teams(some)
    before = log_of(folder, lawyers, len(real))
    today = Strategy.from_members(real, before.agents, before.coalitions)
    result = StableLearner(value="average", today=today, keep_sizes=True).fit(before).result_
    assert result.today is not None
    shares = {}
    for domain in DOMAINS:
        named = ties(folder, domain, lawyers)
        game = Game(named, "one", agents=lawyers, coalitions=len(real), symmetric=False).valued("average")
        shares[domain] = _shares(game, members(result.strategy), real)
    return {
        "who": " and ".join(f"{one}s" for one in status),
        "sizes": [len(team) for team in real],
        "moves": result.today.moves,
        "improvement": [result.today.expected_improvement, *result.today.range],
        "certificate": result.certificate.gap,
        "range_gap": result.range_gap,
        "alike": alike(members(result.strategy), real),
        "named": shares,
    }


def _shares(game: Game, learnt: list[list[str]], real: list[list[str]]) -> Found:
    """Return which share of their teammates people name, on average, in learnt, real and random teams."""

    def share(some: Sequence[Sequence[str]]) -> float:
        return float(game.values(Strategy.from_members(some, game.agents, game.coalitions)).mean())

    rng = np.random.default_rng(0)
    ends = np.cumsum([len(team) for team in real])[:-1]
    drawn = [share([list(team) for team in np.split(rng.permutation(game.agents), ends)]) for _ in range(DRAWS)]
    return {"learnt": share(learnt), "real": share(real), "random": float(np.mean(drawn))}


def everybody(folder: Path) -> Found:
    """Ask about the whole firm."""
    return teams(folder, ("partner", "associate"))


def partners(folder: Path) -> Found:
    """Ask about the partners alone."""
    return teams(folder, ("partner",))


def told_teams(found: Found) -> str:
    """Word what the teams came to."""
    expected, low, high = found["improvement"]
    lines = [
        f"Teams of {found['who']} learnt from advice and friendship, judged by co-work:",
        sentence(f"As many and as large as the real ones, office by practice: {', '.join(map(str, found['sizes']))}."),
        sentence(f"{found['moves']} of {sum(found['sizes'])} lawyers are elsewhere than in the real teams; "
                 f"adjusted Rand index {found['alike']:.2f} (1 is the same)."),
        sentence(f"Expected against the real teams: {expected:+.3f} per lawyer, with 80 % probability {low:+.3f} to "
                 f"{high:+.3f}."),
        sentence(f"Promised with 99 % confidence: nobody gains more than {found['certificate']:.2f} by swapping; "
                 f"without any data that is {found['range_gap']:.2f}."),
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

    named = results["firm"]["named"]
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


STUDY = Study(
    "lawyers", ("ties.csv", "agents.csv"), {"firm": (everybody, told_teams), "partners": (partners, told_teams)}, draw
)

if __name__ == "__main__":
    STUDY.main(__doc__)
