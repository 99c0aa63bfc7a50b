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
    classes are suppressed, all of a size together: they add most to it.

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
        """Keep the classes from some size on: the least size at which the average holds."""
        sizes, counts = np.unique(classes.sizes, return_counts=True)
        kept_classes = np.cumsum(counts[::-1])[::-1]
        kept_records = np.cumsum((sizes * counts)[::-1])[::-1]
        # The average size of the classes from a size on grows with that size.
        enough = sizes[kept_classes <= self.most * kept_records * (1 + TIE)]
        satisfied = classes.sizes >= (enough[0] if enough.size else np.iinfo(np.int64).max)
        return Verdict(satisfied, np.zeros(satisfied.size, dtype=np.int64))

    def why_infeasible(self, one_class: Classes) -> str | None:
        """The table may be too small."""
        if self.holds(one_class).all():
            return None
        least = math.ceil(1 / self.most * (1 - TIE))
        return Message("models.average_risk.too_few_records", most=self.most, least=least)

    def promise(self) -> str:
        """The model in words."""
        return Message("models.average_risk.promise", most=self.most)

    def protects(self) -> str:
        """What an attacker cannot do."""
        return Message("models.average_risk.protects", most=self.most)

    def leaves_open(self) -> tuple[str, ...]:
        """What the model does not protect against."""
        return (
            Message("models.average_risk.single_people"),
            HOMOGENEITY,
            ANOTHER_RELEASE,
        )
