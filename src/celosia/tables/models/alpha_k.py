"""(alpha, k)-anonymity: at least k records in each class, no sensitive value above a share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from celosia.tables.models import _kernels
from celosia.tables.models.classes import Classes
from celosia.tables.models.gaps import BACKGROUND, IDENTITY, SIMILARITY, SKEWNESS
from celosia.tables.models.model import Verdict
from celosia.tables.models.parameters import (
    SLACK,
    TIE,
    column_name,
    group_size,
    plain,
    put,
    real_parameter,
)
from celosia.tables.models.sensitive_model import SensitiveModel


@dataclass(frozen=True, slots=True)
class AlphaK(SensitiveModel):
    """Each class has at least `k` records, and no sensitive value more than a share `alpha` of it.

    Guarantee: that of k-anonymity, and besides that an attacker's belief in any sensitive value of
    a person is at most `alpha`.

    Reference: Wong, Li, Fu & Wang 2006, with every value of the column protected.
    """

    alpha: float
    k: int
    column: str | None = None

    def __post_init__(self) -> None:
        alpha = real_parameter(
            "CEL-P028",
            "alpha",
            self.alpha,
            lambda found: 0 < found < 1,
            "a number between 0 and 1",
            why="It is the largest share of a class that one sensitive value may have.",
            fix="Try alpha = 0.5: no value fills more than half of a class.",
        )
        put(self, alpha=alpha, k=group_size(self.k), column=column_name(self.column))

    @property
    def smallest(self) -> int:
        """One record must not be more than the share either."""
        return max(self.k, math.ceil((1 - SLACK) / self.alpha))

    def judge(self, classes: Classes) -> Verdict:
        """Shares per class; what must go is proven: kept parts within alpha are so together."""
        rows = self.histogram(classes)
        caps = np.full(rows.column.totals.size, self.alpha)
        satisfied, must_go = _kernels.within_caps(
            rows.starts, rows.values, rows.counts, classes.sizes, caps, 1 + TIE, self.smallest
        )
        return Verdict(satisfied, must_go)

    def why_infeasible(self, one_class: Classes) -> str | None:
        """The table may have too few records, or one value too many of them."""
        if self.holds(one_class).all():
            return None
        if (one_class.sizes < self.k).any():
            return f"The table has fewer than k = {self.k} records."
        return (
            f"In the whole table one value of '{self.column}' has more than a share of "
            f"{self.alpha:g}, so some class has too."
        )

    def promise(self) -> str:
        """The model in words."""
        return self.named(f"({self.alpha:g}, {self.k})-anonymity")

    def protects(self) -> str:
        """What an attacker cannot do."""
        return (
            f"an attacker who knows a person's quasi-identifiers finds at least {self.k} records "
            "that fit, and can guess the person's sensitive value with a chance of at most "
            f"{self.alpha:g}"
        )

    def leaves_open(self) -> tuple[str, ...]:
        """What the model does not protect against."""
        return (BACKGROUND, SKEWNESS, SIMILARITY)

    def closes(self) -> tuple[str, ...]:
        """No person is picked out among `k`."""
        return (IDENTITY,)

    def as_dict(self) -> dict[str, Any]:
        """Name and parameters as plain values."""
        return plain(self, "alpha-k")
