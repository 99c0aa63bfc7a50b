"""A bound on the average risk: the chance that a random record of the table is re-identified."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.tables.models.classes import Classes
from celosia.tables.models.model import ANOTHER_RELEASE, HOMOGENEITY, LEAST, TIE, Model, Verdict


@dataclass(frozen=True, slots=True)
class AverageRisk(Model):
    """The average over all records of one over the size of their class is at most `most`.

    That is the number of classes over the number of records. Where it is too high the smallest
    classes are suppressed, which add most to it, one after the other and no more than it takes; of
    classes of one size, those that come first in the table.

    Guarantee: an attacker who knows the quasi-identifiers of all people in the table and names a
    record for each is right for a share of at most `most` on average.

    >>> AverageRisk(0.25).holds(Classes(np.array([1, 2, 6]))).tolist()
    [False, True, True]

    Reference: El Emam 2013 (marketer risk).
    """

    method_name: ClassVar[str] = "average-risk"
    judges_table = True
    """An average is of all classes together."""

    most: float = parameter(least=LEAST, below=1, start=0.05)

    def judge(self, classes: Classes) -> Verdict:
        """Suppress the smallest classes until the average holds for the others."""
        ascending = np.argsort(classes.sizes, kind="stable")
        kept_records = np.cumsum(classes.sizes[ascending][::-1])[::-1]
        kept_classes = np.arange(ascending.size, 0, -1)
        # The average size of those that are left grows with each of the smallest that goes.
        too_high = kept_classes > self.most * kept_records * (1 + TIE)
        satisfied = np.ones(ascending.size, dtype=np.bool_)
        satisfied[ascending[too_high]] = False
        return Verdict(satisfied, np.zeros(satisfied.size, dtype=np.int64))

    def why_infeasible(self, one_class: Classes) -> str | None:
        """The table may be too small."""
        if self.holds(one_class).all():
            return None
        least = math.ceil(1 / self.most * (1 - TIE))
        return Message("models.average_risk.too_few_records", most=self.most, least=least)

    def promise(self) -> str:
        return Message("models.average_risk.promise", most=self.most)

    def protects(self) -> str:
        return Message("models.average_risk.protects", most=self.most)

    def leaves_open(self) -> tuple[str, ...]:
        return (
            Message("models.average_risk.single_people"),
            HOMOGENEITY,
            ANOTHER_RELEASE,
        )
