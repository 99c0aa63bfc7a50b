"""Distinct l-diversity: every class has at least l different sensitive values."""

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
class DistinctDiversity(SensitiveModel):
    """Each class has at least `l` different values of a sensitive column.

    Guarantee: an attacker who finds a person's class cannot tell the person's sensitive value for
    certain, unless the attacker can rule out `l` - 1 values from elsewhere.

    >>> from celosia.tables.models import Histogram, SensitiveColumn
    >>> rows = Histogram.of_rows(SensitiveColumn("disease", np.array([3, 1])),
    ...                          np.array([0, 0, 1, 1]), np.array([0, 1, 0, 0], np.int32), 2)
    >>> DistinctDiversity(2, "disease").holds(
    ...     Classes(np.array([2, 2]), {"disease": rows})).tolist()
    [True, False]

    Reference: Machanavajjhala et al. 2006; Truta & Vinay 2006.
    """

    method_name: ClassVar[str] = "distinct-diversity"

    l: int = parameter(least=2, most=MOST, start=3)  # noqa: E741 - the name in every paper
    column: str | None = parameter(None, like=SENSITIVE_COLUMN)

    @property
    def smallest(self) -> int:
        """Different values need different records."""
        return self.l

    def judge(self, classes: Classes) -> Verdict:
        """A class needs `l` values, and a part of one that has fewer has fewer still."""
        return all_or_none(np.diff(self.histogram(classes).starts) >= self.l, classes.sizes)

    def why_infeasible(self, one_class: Classes) -> str | None:
        """The column may have too few values altogether."""
        if self.holds(one_class).all():
            return None
        found = int(np.diff(self.histogram(one_class).starts).max())
        return Message(
            "models.distinct_diversity.too_few_values", column=self.column, found=found, l=self.l
        )

    def promise(self) -> str:
        return self.named(Message("models.distinct_diversity.promise", l=self.l))

    def protects(self) -> str:
        return Message("models.distinct_diversity.protects", l=self.l)

    def leaves_open(self) -> tuple[str, ...]:
        return (DOMINANCE, BACKGROUND, SKEWNESS, SIMILARITY, IDENTITY)

    def closes(self) -> tuple[str, ...]:
        return (HOMOGENEITY,)
