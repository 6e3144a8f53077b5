"""How stable is this profile, surely? Certificates, each with its witness."""

from coterie.certificates.certificate import Certificate, Doubt, Witness
from coterie.certificates.evidence import Evidence
from coterie.certificates.from_statistics import evidence_from
from coterie.certificates.holdout import Sealed, fixed, hold_out
from coterie.certificates.paired import paired
from coterie.certificates.paper import paper, paper_totals

__all__ = [
    "Certificate",
    "Doubt",
    "Evidence",
    "Sealed",
    "Witness",
    "evidence_from",
    "fixed",
    "hold_out",
    "paired",
    "paper",
    "paper_totals",
]
