"""What is seen in each figure, and what is degenerate in it."""

from coterie.reproduce.experiments import ABLATION, Figure

READING = (
    "Certificates of the paper (dashed, squares) and ours (solid, circles) at delta = 0.01; shaded: standard "
    "deviations. Crosses and open circles are the true gaps of what is recommended, known here because the game "
    "was drawn. The axis is linear below 0.05, so that 0 has a place: a certificate of 0 says that the profile "
    "is exactly stable."
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
        "Left: different numbers of agents, 5 coalitions. Right: different numbers of coalitions. Rows 1 and 2: "
        "uniformly random policy. Rows 3 and 4: 1Rand, where only the first agent explores; the paper's text and "
        f"caption name different uniform models for it, so both are shown. {SIZES} {DEGENERATE}"
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
        "Left: the Gaussian model with one mean per pair, coalition and game. Right: the mean is drawn anew for "
        "every observation, as in the released programs. Then every mean is 0, every strategy is stable, and the "
        "curve shows the width of a certificate alone."
    ),
    "actions": (
        "Three shared actions (left), as in the released programs, and eight (right); the paper says at least "
        f"three. {DEGENERATE}"
    ),
    "mixed": (
        "Ours over pure profiles (solid) and over mixed strategies (dotted, plus signs). Where everything was seen, a "
        "pure profile is certified as well as a mixed strategy; where pairs were never seen, mixing spreads the "
        "risk and can certify a smaller gap."
    ),
    "ablation": (
        "From the number that the paper plots (top) to ours (bottom), one change at a time on the same logs; "
        "Gaussian model, uniformly random policy. Steps 2 to 5 certify the same strategy; from step 6 on each "
        "step searches for a profile of its own. Step 3 is a correction; it need not gain. The axis is linear "
        "below 0.05."
    ),
}


def caption(figure: Figure) -> str:
    """Return what is seen in a figure, without how to read its lines."""
    games = f"Means over {figure.seeds} games." if figure.seeds > 1 else "One game for each point."
    return f"{games} {CAPTIONS[figure.name]}"


def text_beside(figure: Figure) -> str:
    """Return what lies as a text beside a picture: title, caption, and how to read it."""
    reading = "" if figure.methods == ABLATION else f" {READING}"
    return f"{figure.title}. {caption(figure)}{reading}\n"
