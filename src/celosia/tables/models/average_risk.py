"""A bound on the average risk: the chance that a random record of the table is re-identified."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from celosia.tables.models.classes import Classes
from celosia.tables.models.gaps import ANOTHER_RELEASE, HOMOGENEITY
from celosia.tables.models.model import Model, Verdict
from celosia.tables.models.parameters import TIE, plain, put, real_parameter


def largest_share(name: str, value: object, meaning: str) -> float:
    """The `most` of a model that bounds a share of the table or of the population."""
    return real_parameter(
        "CEL-P031",
        name,
        value,
        lambda share: 0 < share < 1,
        "a number between 0 and 1",
        why=f"It is the largest {meaning} that is allowed.",
        fix="Try 0.05 or less.",
    )


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

    most: float

    def __post_init__(self) -> None:
        put(self, most=largest_share("most", self.most, "average risk"))

    @property
    def judges_table(self) -> bool:
        """An average is of all classes together."""
        return True

    @property
    def smallest(self) -> int:
        """A small class may stay beside large ones."""
        return 1

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
        return f"An average risk of {self.most:g} needs a table of at least {least} records."

    def promise(self) -> str:
        """The model in words."""
        return f"average risk of at most {self.most:g}"

    def protects(self) -> str:
        """What an attacker cannot do."""
        return (
            "an attacker who knows the quasi-identifiers of all people and names a record for each "
            f"is right for at most {self.most:.3g} of them on average"
        )

    def leaves_open(self) -> tuple[str, ...]:
        """What the model does not protect against."""
        return (
            "single people: a record may be alone in its class as long as most are not",
            HOMOGENEITY,
            ANOTHER_RELEASE,
        )

    def as_dict(self) -> dict[str, Any]:
        """Name and parameters as plain values."""
        return plain(self, "average-risk")
