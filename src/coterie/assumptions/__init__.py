"""What certificates assume of a log, tested on it; each test says how often it raises a false alarm.

The tests need nothing but statistics and the clues that they carry (`coterie.statistics.clues`); a warning names the
option that does without the assumption.
"""

from coterie.assumptions.all_checks import checks_of
from coterie.assumptions.check import Check
from coterie.assumptions.sample_dependence import within_sample_dependence
from coterie.assumptions.size_dependence import size_dependence

__all__ = ["Check", "checks_of", "size_dependence", "within_sample_dependence"]
