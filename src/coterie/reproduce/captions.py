"""What is seen in each figure, and what is degenerate in it."""

READING = (
    "Means over {seeds} games, shaded standard deviations, delta = 0.01. Certificates of the paper (dashed, squares) and ours "
    "(solid, circles). The vertical axis is linear below 0.05, so that 0 has a place: a certificate of 0 says that the "
    "profile is exactly stable."
)

DEGENERATE = (
    "In the uniform models every mean utility is 0, so every strategy is stable, the true gap is 0 whatever is "
    "recommended, and a curve shows the width of a certificate and nothing else."
)

GAPS = "Crosses and open circles are true gaps of what is recommended, known here because the game was drawn."

SIZES = (
    "In the size-dependent models ours lets means depend on coalition size (which is true), the paper's does not "
    "(which its certificate assumes)."
)

CAPTIONS: dict[str, str] = {}


def _caption(name: str, seeds: int, *sentences: str) -> None:
    CAPTIONS[name] = " ".join([READING.format(seeds=seeds), *sentences])


_caption(
    "1",
    3,
    "Left: 5 to 25 agents, 5 coalitions. Right: 10 agents, 5 to 25 coalitions. Rows 1 and 2: uniformly random policy. "
    "Rows 3 and 4: 1Rand, where only the first agent explores; the paper's text and caption name different uniform "
    "models for it, so both are shown.",
    SIZES,
    DEGENERATE,
    GAPS,
)
_caption("S1", 3, "All four models under the uniformly random policy.", SIZES, DEGENERATE, GAPS)
_caption(
    "S2",
    3,
    "All four models under 1Rand. The others never leave their second action, so pairs of them are seen in its "
    "coalitions only, and no number of samples says anything about the rest.",
    SIZES,
    DEGENERATE,
    GAPS,
)
_MIXED = (
    "Utilities are normal and unbounded, as printed, with scale 1 declared. All pairs of a coalition share one draw "
    "per sample: ours allows for that and for sizes, the paper's certificate assumes neither, so it is narrower than "
    "it may be and not always valid. These games have true means, so nothing is degenerate."
)
_caption("S3", 5, "Semi-bandit feedback, uniformly random policy, 3 to 6 agents.", _MIXED, GAPS)
_caption("S4", 5, "Semi-bandit feedback, coalition-size policy (1Rand), 3 to 6 agents.", _MIXED, GAPS)
_caption("S5", 5, "Bandit feedback, uniformly random policy, 3 to 6 agents.", _MIXED, GAPS)
_caption("S6", 5, "Bandit feedback, coalition-size policy (1Rand), 3 to 6 agents.", _MIXED, GAPS)
_caption(
    "clipped",
    5,
    "The mixed-effects games with utilities clipped to [-1, 1], as the released programs have them, for 4 agents: "
    "semi-bandit above, bandit below, uniformly random policy on the left, coalition-size policy on the right.",
    GAPS,
)
_caption(
    "redrawn",
    3,
    "Left: the Gaussian model with one mean per pair, coalition and game. Right: the mean is drawn anew for every "
    "observation, as in the released programs. Then every mean is 0, every strategy is stable, and the curve shows the "
    "width of a certificate alone.",
    GAPS,
)
_caption(
    "actions",
    3,
    "Three shared actions (left), as in the released programs, and eight (right); the paper says at least three.",
    DEGENERATE,
    GAPS,
)
_caption(
    "mixed",
    3,
    "Ours over pure profiles (solid) and over mixed strategies (dotted): a mixed strategy pays for all its "
    "deviations and has no union form, so it rarely helps.",
    GAPS,
)
CAPTIONS["ablation"] = (
    "Means and standard deviations over 5 games of the Gaussian model, uniformly random policy, delta = 0.01. From the number "
    "that the paper plots (top) to ours (bottom), one change at a time on the same logs. The second to fifth "
    "step certify the same strategy; from the sixth on each step searches for its own profile. The third step is "
    "a correction and costs a little; all others gain. The horizontal axis is linear below 0.05."
)
