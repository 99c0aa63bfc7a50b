"""k-anonymity: every combination of quasi-identifier values is shared by at least k records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.tables.models.classes import Classes
from celosia.tables.models.model import (
    ANOTHER_RELEASE,
    GROUP_SIZE,
    HOMOGENEITY,
    IDENTITY,
    Model,
    Verdict,
    all_or_none,
)


@dataclass(frozen=True, slots=True)
class KAnonymity(Model):
    """Each record is one of at least `k` that look alike on the quasi-identifiers.

    Guarantee: an attacker who knows a person's quasi-identifiers, and that the person is in the
    table, finds at least `k` candidate records, so the chance of naming the right one is at most
    1/k.

    >>> import numpy as np
    >>> KAnonymity(5)
    KAnonymity(k=5)
    >>> KAnonymity(5).holds(Classes(np.array([4, 5, 9]))).tolist()
    [False, True, True]

    Reference: Samarati & Sweeney 1998; Sweeney 2002.
    """

    method_name: ClassVar[str] = "k-anonymity"

    k: int = parameter(like=GROUP_SIZE)

    @property
    def smallest(self) -> int:
        """No class with fewer than `k` records can meet the model."""
        return self.k

    def judge(self, classes: Classes) -> Verdict:
        """A class needs `k` records, and a part of one that has fewer has fewer still."""
        return all_or_none(classes.sizes >= self.k, classes.sizes)

    def promise(self) -> str:
        return Message("models.k_anonymity.promise", k=self.k)

    def protects(self) -> str:
        return Message("models.k_anonymity.protects", k=self.k)

    def leaves_open(self) -> tuple[str, ...]:
        return (
            HOMOGENEITY,
            Message("models.k_anonymity.background"),
            ANOTHER_RELEASE,
        )

    def closes(self) -> tuple[str, ...]:
        return (IDENTITY,)
