"""p-sensitive k-anonymity: at least k records and p different sensitive values in each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from celosia.core.wording import counted
from celosia.tables.models.classes import Classes
from celosia.tables.models.gaps import BACKGROUND, HOMOGENEITY, IDENTITY, SIMILARITY, SKEWNESS
from celosia.tables.models.model import Verdict, all_or_none
from celosia.tables.models.parameters import column_name, group_size, plain, put, whole_parameter
from celosia.tables.models.sensitive_model import SensitiveModel


@dataclass(frozen=True, slots=True)
class PSensitive(SensitiveModel):
    """Each class has at least `k` records and at least `p` different sensitive values.

    Guarantee: that of k-anonymity, and besides that no class tells a sensitive value for certain.

    Reference: Truta & Vinay 2006.
    """

    p: int
    k: int
    column: str | None = None

    def __post_init__(self) -> None:
        p = whole_parameter(
            "CEL-P025",
            "p",
            self.p,
            2,
            why="A class with one sensitive value tells it.",
            fix="Try p = 2 or more; p = 1 is k-anonymity alone.",
        )
        put(self, p=p, k=group_size(self.k), column=column_name(self.column))

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
            return f"The table has fewer than k = {self.k} records."
        found = int(np.diff(self.histogram(one_class).starts).max())
        return (
            f"'{self.column}' has only {counted(found, 'value', 'different values')} in the whole "
            f"table, and p = {self.p} are asked of every class."
        )

    def promise(self) -> str:
        """The model in words."""
        return self.named(f"{self.p}-sensitive {self.k}-anonymity")

    def protects(self) -> str:
        """What an attacker cannot do."""
        return (
            f"an attacker who knows a person's quasi-identifiers finds at least {self.k} records "
            f"that fit, with at least {self.p} different sensitive values"
        )

    def leaves_open(self) -> tuple[str, ...]:
        """What the model does not protect against."""
        dominance = "one value may fill almost a whole class, and then it is a safe guess"
        return (dominance, BACKGROUND, SKEWNESS, SIMILARITY)

    def closes(self) -> tuple[str, ...]:
        """No person is picked out among `k`, and a class has several sensitive values."""
        return (IDENTITY, HOMOGENEITY)

    def as_dict(self) -> dict[str, Any]:
        """Name and parameters as plain values."""
        return plain(self, "p-sensitive")
