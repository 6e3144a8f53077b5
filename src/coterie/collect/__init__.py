"""What to observe next, and the certificate that it is expected to give."""

from coterie.collect.outlook import Outlook
from coterie.collect.plan import Collection, Need, Planned, plan_collection, predict, samples_needed
from coterie.collect.total_plan import noise_variance, plan_totals
from coterie.collect.totals import predict_totals
from coterie.collect.worth import observations

__all__ = [
    "Collection",
    "Need",
    "Outlook",
    "Planned",
    "noise_variance",
    "observations",
    "plan_collection",
    "plan_totals",
    "predict",
    "predict_totals",
    "samples_needed",
]
