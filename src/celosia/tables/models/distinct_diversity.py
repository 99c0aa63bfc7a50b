"""Distinct l-diversity: every class has at least l different sensitive values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from celosia.core.wording import counted
from celosia.tables.models.classes import Classes
from celosia.tables.models.gaps import BACKGROUND, HOMOGENEITY, IDENTITY, SIMILARITY, SKEWNESS
from celosia.tables.models.model import Verdict, all_or_none
from celosia.tables.models.parameters import column_name, plain, put, whole_parameter
from celosia.tables.models.sensitive_model import SensitiveModel


def diversity(value: object) -> int:
    """The whole `l` of a model that counts values."""
    return whole_parameter(
        "CEL-P020",
        "l",
        value,
        2,
        why="A class with one sensitive value tells it.",
        fix="Try l = 3, the usual choice.",
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

    l: int  # noqa: E741 - the name in every paper
    column: str | None = None

    def __post_init__(self) -> None:
        put(self, l=diversity(self.l), column=column_name(self.column))

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
        return (
            f"'{self.column}' has only {counted(found, 'value', 'different values')} in the whole "
            f"table, and l = {self.l} are asked of every class."
        )

    def promise(self) -> str:
        """The model in words."""
        return self.named(f"distinct {self.l}-diversity")

    def protects(self) -> str:
        """What an attacker cannot do."""
        return (
            f"an attacker who finds a person's class sees at least {self.l} different sensitive "
            "values there, and cannot tell the person's value for certain"
        )

    def leaves_open(self) -> tuple[str, ...]:
        """What the model does not protect against."""
        dominance = "one value may fill almost a whole class, and then it is a safe guess"
        return (dominance, BACKGROUND, SKEWNESS, SIMILARITY, IDENTITY)

    def closes(self) -> tuple[str, ...]:
        """A class has several sensitive values."""
        return (HOMOGENEITY,)

    def as_dict(self) -> dict[str, Any]:
        """Name and parameters as plain values."""
        return plain(self, "distinct-diversity")
