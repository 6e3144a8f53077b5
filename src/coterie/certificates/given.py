"""Every certificate that a given strategy can have: the one list of them."""

from typing import Literal

from coterie.certificates.against import Against, fixed_against, paired_against
from coterie.certificates.certificate import Certificate, among_known
from coterie.certificates.evidence import Evidence
from coterie.certificates.holdout import fixed
from coterie.certificates.paired import paired
from coterie.certificates.paper import paper_from
from coterie.game.actions import ActionSpaces
from coterie.game.strategy import Strategy
from coterie.statistics.statistics import PartStatistics

CertificateName = Literal["holdout", "paired", "paper"]


def certificates_of(
    part: PartStatistics,
    evidence: Evidence,
    strategy: Strategy,
    against: Against,
    delta: float,
    *,
    declared: ActionSpaces,
    fresh: bool,
) -> dict[CertificateName, Certificate | None]:
    """Return each certificate alone at delta, None where it would not be valid.

    `declared` are the action spaces before those of the strategy were added to them; `fresh` is the caller's word that
    the strategy was fixed without looking at these utilities.
    """
    if not against.is_plain:
        held = fresh and not evidence.allows_adaptivity
        return {
            "paper": None,
            "paired": paired_against(evidence, strategy, against, delta, declared=declared),
            "holdout": fixed_against(evidence, strategy, against, delta) if held else None,
        }
    spaces = against.own_spaces
    found: dict[CertificateName, Certificate | None] = {
        "paper": paper_from(part, strategy, spaces, delta),
        "paired": paired(evidence, strategy, spaces, delta, declared=declared),
        "holdout": fixed(evidence, strategy, spaces, delta) if fresh and not evidence.allows_adaptivity else None,
    }
    return {name: None if one is None else among_known(one, against.newcomers) for name, one in found.items()}
