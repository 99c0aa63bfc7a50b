"""Risk of masked and synthetic tables: record linkage, and what the links disclose.

Put the two tables side by side with `align`, and give that to the single measures; or ask for all
of them at once with `celosia.assess.accounts`.
"""

from celosia.assess.alignment import AlignedTables, align, rows_by
from celosia.assess.linkage.disclosure import (
    AttributeDisclosure,
    ColumnInterval,
    IntervalDisclosure,
    attribute_disclosure,
    interval_disclosure,
)
from celosia.assess.linkage.distance import Linkage, distance_linkage, rank_linkage
from celosia.assess.linkage.membership import (
    Membership,
    Synthesiser,
    membership,
    membership_of,
)
from celosia.assess.linkage.probabilistic import (
    AgreementModel,
    ProbabilisticLinkage,
    fit_agreement,
    probabilistic_linkage,
)
from celosia.assess.linkage.replicas import Replicas, replicated_uniques

__all__ = [
    "AgreementModel",
    "AlignedTables",
    "AttributeDisclosure",
    "ColumnInterval",
    "IntervalDisclosure",
    "Linkage",
    "Membership",
    "ProbabilisticLinkage",
    "Replicas",
    "Synthesiser",
    "align",
    "attribute_disclosure",
    "distance_linkage",
    "fit_agreement",
    "interval_disclosure",
    "membership",
    "membership_of",
    "probabilistic_linkage",
    "rank_linkage",
    "replicated_uniques",
    "rows_by",
]
