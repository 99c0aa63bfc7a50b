"""k-anonymity: every combination of quasi-identifier values is shared by at least k records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from celosia.tables.models.classes import Classes
from celosia.tables.models.gaps import HOMOGENEITY, IDENTITY
from celosia.tables.models.model import Model, Verdict, all_or_none
from celosia.tables.models.parameters import group_size, put


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

    k: int

    def __post_init__(self) -> None:
        put(self, k=group_size(self.k))

    @property
    def smallest(self) -> int:
        """No class with fewer than `k` records can meet the model."""
        return self.k

    def judge(self, classes: Classes) -> Verdict:
        """A class needs `k` records, and a part of one that has fewer has fewer still."""
        return all_or_none(classes.sizes >= self.k, classes.sizes)

    def promise(self) -> str:
        """The model in words."""
        return f"{self.k}-anonymity"

    def protects(self) -> str:
        """What an attacker cannot do."""
        return (
            f"an attacker who knows a person's quasi-identifiers finds at least {self.k} records "
            f"that fit, so the chance of picking the person's record is at most 1/{self.k}"
        )

    def leaves_open(self) -> tuple[str, ...]:
        """What the model does not protect against."""
        return (
            HOMOGENEITY,
            "an attacker who can rule out some sensitive values narrows the rest "
            "(background knowledge)",
            "two releases of the same people can be joined (complementary release)",
        )

    def closes(self) -> tuple[str, ...]:
        """No person is picked out among `k`."""
        return (IDENTITY,)

    def as_dict(self) -> dict[str, Any]:
        """Name and parameters as plain values."""
        return {"model": "k-anonymity", "k": self.k}
