"""Logs of past outcomes: reading, checking, and reducing them to statistics.

tables -> read, engine -> checking -> Log -> reduce -> Statistics
"""

from coterie.log.log import Log, read_log
from coterie.log.pair_statistics import PairStatistics
from coterie.log.setting import Setting
from coterie.log.statistics import Statistics
from coterie.log.total_statistics import JointSums, TotalStatistics, WeightedSums

__all__ = [
    "JointSums",
    "Log",
    "PairStatistics",
    "Setting",
    "Statistics",
    "TotalStatistics",
    "WeightedSums",
    "read_log",
]
