"""What is seen in each figure, and what is degenerate in it."""

from coterie.reproduce.draw import LABELS, ZERO_MEANS, style
from coterie.reproduce.experiments import ABLATION, FIGURES, Figure

READING = (
    "Above: certificates at delta = 0.01. Below, where means "
    "are not all 0: the true gaps of what was recommended, in the same lines, known here because the game was drawn. "
    "Shaded: sample standard deviations over games, of true gaps where each method has one line. Axes are linear below "
    "0.05, so that 0 has a place: a certificate of 0 says that the profile is exactly stable. Tables also hold simpler "
    "ways: best responses to the estimates, "
    "pessimism alone, the largest estimated welfare, and a random profile, each with the certificate that holds for "
    "all strategies at once."
)
"""How to read all figures but the ablation."""

DEGENERATE = (
    "In the uniform models every mean utility is 0, so every strategy is stable, the true gap is 0 whatever is "
    "recommended, and a curve shows the width of a certificate and nothing else."
)

SIZES = (
    "In the size-dependent models ours lets means depend on coalition size, as they do; the paper's certificate "
    "assumes that they do not."
)

MIXED = (
    "Utilities are normal and unbounded, as printed, with scale 1 declared. All pairs of a coalition share one "
    "draw per sample: ours allows for that and for sizes, the paper's certificate for neither, so it is narrower "
    "than it may be. These games have means, so nothing is degenerate."
)

CAPTIONS = {
    "1": (
        "Left: different numbers of agents, 5 coalitions. Right: different numbers of coalitions. Rows 1 and "
        "2: size-dependent uniform and Gaussian models, uniformly random policy. Rows 3 and 4: 1Rand, where only the "
        "first agent explores, with the uniform model, of which the paper's text speaks there, and its size-dependent "
        f"twin, since its caption names no model. {SIZES} {DEGENERATE}"
    ),
    "S1": f"All four models under the uniformly random policy. {SIZES} {DEGENERATE}",
    "S2": (
        "All four models under 1Rand. All but the first agent always take the second action, so pairs of them "
        "are seen in its coalitions only, and no number of samples says anything about the other coalitions. "
        "Standard deviations are large because action sets differ: a game in which the second action holds all "
        f"others can be learnt. {SIZES} {DEGENERATE}"
    ),
    "S3": f"Semi-bandit feedback, uniformly random policy. {MIXED}",
    "S4": f"Semi-bandit feedback, coalition-size policy, which is 1Rand by another name. {MIXED}",
    "S5": f"Bandit feedback, uniformly random policy. {MIXED}",
    "S6": f"Bandit feedback, coalition-size policy, which is 1Rand by another name. {MIXED}",
    "clipped": (
        "The mixed-effects games with utilities clipped to [-1, 1], as the released programs have them: "
        "semi-bandit above, bandit below, uniformly random policy on the left, coalition-size policy on the "
        "right."
    ),
    "redrawn": (
        "The Gaussian model with one mean per pair, coalition and game; with one mean per pair and game, the same in "
        "all coalitions, as the paper's text has it; and with a mean drawn anew for every observation, as in the "
        "released programs. Then every mean is 0, every strategy is stable, and the curve shows the width of a "
        "certificate alone. All three have the same action sets."
    ),
    "actions": (
        "Three shared actions (left), as in the released programs, and eight (right); the paper says at least "
        f"three. {DEGENERATE}"
    ),
    "mixed": (
        "Ours over pure profiles and over mixed strategies. Where everything was seen often, a pure profile is "
        "certified as well as a mixed strategy; where pairs were seen seldom or never, mixing spreads the risk and "
        "can certify a smaller gap."
    ),
    "ablation": (
        "From the number that the paper plots (top) to ours (bottom), one change at a time on the same logs; "
        "Gaussian model, uniformly random policy. Steps 2 to 5 certify the same strategy; from step 6 on each "
        "step searches for a profile of its own. Step 3 is a correction; it need not gain. The axis is linear "
        "below 0.05."
    ),
}


def lines(figure: Figure) -> str:
    """Return which line is which, as the picture is drawn; nothing for the ablation, whose axis has names."""
    if figure.methods == ABLATION:
        return ""
    told = (f"{LABELS.get(one, one)} ({', '.join(style(one, figure.methods))})" for one in figure.methods)
    return f" Lines: {'; '.join(told)}."


def caption(figure: Figure, games: int) -> str:
    """Return what is seen in a figure whose points are means over so many games, without how to read its axes."""
    counted = f"Means over {games} games." if games > 1 else "One game for each point."
    return f"{counted} {_about(figure)}{lines(figure)}"


def _about(figure: Figure) -> str:
    """Return what is told of a figure; of one that draws other methods than planned, only what holds for any."""
    if figure.methods == FIGURES[figure.name].methods:
        return CAPTIONS[figure.name]
    others = "Other methods are drawn than those of the published figure."
    return f"{others} {DEGENERATE}" if any(panel.model in ZERO_MEANS for panel in figure.panels) else others


def text_beside(figure: Figure, games: int) -> str:
    """Return what lies as a text beside a picture: title, caption, and how to read it."""
    reading = "" if figure.methods == ABLATION else f" {READING}"
    return f"{figure.title}. {caption(figure, games)}{reading}\n"
