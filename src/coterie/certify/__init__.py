"""How stable is this profile, surely? Certificates, each with its witness."""

from coterie.certify.certificate import Certificate, Doubt, Witness
from coterie.certify.diagnose import size_dependence, within_sample_dependence
from coterie.certify.evidence import Evidence
from coterie.certify.from_statistics import evidence_from
from coterie.certify.holdout import Sealed, fixed, hold_out
from coterie.certify.paired import paired
from coterie.certify.paper import paper, paper_totals

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
    "size_dependence",
    "within_sample_dependence",
]
