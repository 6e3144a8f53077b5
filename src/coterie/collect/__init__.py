"""What to observe next, and the certificate that it is expected to give."""

from coterie.collect.aim import Aim, what_to_collect
from coterie.collect.allowed import Allowed
from coterie.collect.forming import Forming, Wanted
from coterie.collect.outlook import Outlook
from coterie.collect.plan import Collection, Need, Planned, plan_collection, predict, samples_needed
from coterie.collect.total_plan import noise_variance, plan_totals

__all__ = [
    "Aim",
    "Allowed",
    "Collection",
    "Forming",
    "Need",
    "Outlook",
    "Planned",
    "Wanted",
    "noise_variance",
    "plan_collection",
    "plan_totals",
    "predict",
    "samples_needed",
    "what_to_collect",
]
