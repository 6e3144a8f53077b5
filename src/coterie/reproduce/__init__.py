"""The paper's experiments, again: every figure from fixed seeds, with ours beside the paper's; and your own."""

from coterie.reproduce.experiments import FIGURES, Cell, Figure, Panel, figures
from coterie.reproduce.methods import METHODS, Outcome, Task
from coterie.reproduce.run import reproduce
from coterie.reproduce.summary import Summary, summarise

__all__ = [
    "FIGURES",
    "METHODS",
    "Cell",
    "Figure",
    "Outcome",
    "Panel",
    "Summary",
    "Task",
    "figures",
    "reproduce",
    "summarise",
]
