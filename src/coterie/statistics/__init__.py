"""From a log to sums: all that later rooms need of it, the same on every engine, and addable."""

from coterie.statistics.clues import Clues
from coterie.statistics.pair_statistics import PairStatistics
from coterie.statistics.setting import Setting
from coterie.statistics.statistics import Statistics
from coterie.statistics.total_statistics import JointSums, TotalStatistics, WeightedSums

__all__ = ["Clues", "JointSums", "PairStatistics", "Setting", "Statistics", "TotalStatistics", "WeightedSums"]
