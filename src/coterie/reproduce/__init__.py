"""The paper's experiments, again: every figure from fixed seeds, with ours beside the paper's."""

from coterie.reproduce.experiments import FIGURES, Figure, figures
from coterie.reproduce.run import reproduce
from coterie.reproduce.summary import Summary, summarise

__all__ = ["FIGURES", "Figure", "Summary", "figures", "reproduce", "summarise"]
