"""p-sensitive k-anonymity: at least k records and p different sensitive values in each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.tables.models.classes import Classes
from celosia.tables.models.model import (
    BACKGROUND,
    DOMINANCE,
    GROUP_SIZE,
    HOMOGENEITY,
    IDENTITY,
    MOST,
    SENSITIVE_COLUMN,
    SIMILARITY,
    SKEWNESS,
    SensitiveModel,
    Verdict,
    all_or_none,
)


@dataclass(frozen=True, slots=True)
class PSensitive(SensitiveModel):
    """Each class has at least `k` records and at least `p` different sensitive values.

    Guarantee: that of k-anonymity, and besides that no class tells a sensitive value for certain.

    Reference: Truta & Vinay 2006.
    """

    method_name: ClassVar[str] = "p-sensitive"

    p: int = parameter(least=2, most=MOST, start=2)
    k: int = parameter(like=GROUP_SIZE)
    column: str | None = parameter(None, like=SENSITIVE_COLUMN)

    @property
    def smallest(self) -> int:
        """Records are asked for, and different values need different records."""
        return max(self.p, self.k)

    def judge(self, classes: Classes) -> Verdict:
        """A part of a class with too few records or values has fewer still."""
        values = np.diff(self.histogram(classes).starts)
        return all_or_none((values >= self.p) & (classes.sizes >= self.k), classes.sizes)

    def why_infeasible(self, one_class: Classes) -> str | None:
        """The table may have too few records, or the column too few values."""
        if self.holds(one_class).all():
            return None
        if (one_class.sizes < self.k).any():
            return Message("models.shared.too_few_records", k=self.k)
        found = int(np.diff(self.histogram(one_class).starts).max())
        return Message(
            "models.p_sensitive.too_few_values", column=self.column, found=found, p=self.p
        )

    def promise(self) -> str:
        return self.named(Message("models.p_sensitive.promise", p=self.p, k=self.k))

    def protects(self) -> str:
        return Message("models.p_sensitive.protects", k=self.k, p=self.p)

    def leaves_open(self) -> tuple[str, ...]:
        return (DOMINANCE, BACKGROUND, SKEWNESS, SIMILARITY)

    def closes(self) -> tuple[str, ...]:
        """No person is picked out among `k`, and a class has several sensitive values."""
        return (IDENTITY, HOMOGENEITY)
