"""What the gap likely is at most: a normal approximation beside the certificate, and no promise.

For a fixed profile the gap is the gain of the truly worst deviation. Each gain is estimated by a sum of many small
independent terms, so it is about normal, and

    likely = max over agents and deviations of  estimated gain + z standard error,      Pr[Z > z] = delta,

with what was never observed at its worst, as in a certificate, is below the gap in about delta of all logs. The
standard error comes from the data:

    pairs independent     sum of c_e^2 s_e^2 / N_e, variances of rarely seen pairs drawn to those of the others
    samples independent   from sums over 32 groups of samples, whatever happens within a sample, with Student's t in
                          place of z: `PairEvidence.likely_bound`
    totals                sigma^2 (c' G^-1 c - lambda |G^-1 c|^2) with sigma^2 from residuals, as if all noise had one
                          variance after weighting, plus the most that the ridge's bias can be

It is not a bound: with few data estimates are not normal, and a profile that was chosen on these very data looks
better than it is. None where sums are missing, and where actions may have depended on earlier outcomes.
"""

import math

from coterie.certificates.evidence import Evidence
from coterie.certificates.gains import SmallerOf, worst_deviations
from coterie.game.actions import ActionSpaces
from coterie.game.strategy import Strategy


def likely_gap(evidence: Evidence, strategy: Strategy, spaces: ActionSpaces, delta: float) -> float | None:
    """Return the figure above; None where it is not known, or where nothing bounds pairs that were never seen."""
    design = evidence.design(strategy)
    bound = evidence.likely_bound(design, delta)
    if bound is None:
        return None
    found = worst_deviations(SmallerOf((evidence.range_bound(design), bound)), spaces).largest
    return None if math.isinf(found) and found > 0 else max(0.0, found)
