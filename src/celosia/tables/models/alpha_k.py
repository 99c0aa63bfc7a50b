"""(alpha, k)-anonymity: at least k records in each class, no sensitive value above a share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.tables.models.classes import Classes
from celosia.tables.models.model import (
    BACKGROUND,
    GROUP_SIZE,
    IDENTITY,
    LEAST,
    SENSITIVE_COLUMN,
    SIMILARITY,
    SKEWNESS,
    SLACK,
    TIE,
    SensitiveModel,
    Verdict,
)


@dataclass(frozen=True, slots=True)
class AlphaK(SensitiveModel):
    """Each class has at least `k` records, and no sensitive value more than a share `alpha` of it.

    Guarantee: that of k-anonymity, and besides that an attacker's belief in any sensitive value of
    a person is at most `alpha`.

    Reference: Wong, Li, Fu & Wang 2006, with every value of the column protected.
    """

    method_name: ClassVar[str] = "alpha-k"

    alpha: float = parameter(least=LEAST, below=1, start=0.5)
    k: int = parameter(like=GROUP_SIZE)
    column: str | None = parameter(None, like=SENSITIVE_COLUMN)

    @property
    def smallest(self) -> int:
        """One record must not be more than the share either."""
        return max(self.k, math.ceil((1 - SLACK) / self.alpha))

    def judge(self, classes: Classes) -> Verdict:
        """Shares per class; what must go is proven: kept parts within alpha are so together."""
        rows = self.histogram(classes)
        caps = np.full(rows.column.totals.size, self.alpha)
        least = max(self.smallest, classes.least)
        satisfied, must_go = rows.within_caps(classes.sizes, caps, 1 + TIE, least)
        return Verdict(satisfied, must_go)

    def why_infeasible(self, one_class: Classes) -> str | None:
        """The table may have too few records, or one value too many of them."""
        if self.holds(one_class).all():
            return None
        if (one_class.sizes < self.k).any():
            return Message("models.shared.too_few_records", k=self.k)
        return Message(
            "models.alpha_k.one_value_too_frequent", column=self.column, alpha=self.alpha
        )

    def promise(self) -> str:
        return self.named(Message("models.alpha_k.promise", alpha=self.alpha, k=self.k))

    def protects(self) -> str:
        return Message("models.alpha_k.protects", k=self.k, alpha=self.alpha)

    def leaves_open(self) -> tuple[str, ...]:
        return (BACKGROUND, SKEWNESS, SIMILARITY)

    def closes(self) -> tuple[str, ...]:
        return (IDENTITY,)
