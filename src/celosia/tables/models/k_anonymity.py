"""k-anonymity: every combination of quasi-identifier values is shared by at least k records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from celosia.core.errors import InputError
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


@dataclass(frozen=True, slots=True, repr=False)
class KAnonymity(Model):
    """Each record is one of at least `k` that look alike on the quasi-identifiers.

    Guarantee: an attacker who knows a person's quasi-identifiers, and that the person is in the
    table, finds at least `k` candidate records, so the chance of naming the right one is at most
    1/k.

    Where a schema names whose record each is, `k` counts people. `per="person"` insists on it: the
    model refuses classes of records, in which ten records of one person would look like a crowd.

    >>> import numpy as np
    >>> KAnonymity(5)
    KAnonymity(k=5)
    >>> KAnonymity(5).holds(Classes(np.array([4, 5, 9]))).tolist()
    [False, True, True]

    Reference: Samarati & Sweeney 1998; Sweeney 2002.
    """

    method_name: ClassVar[str] = "k-anonymity"

    k: int = parameter(like=GROUP_SIZE)
    per: Literal["person"] | None = parameter(None)

    def __repr__(self) -> str:
        insists = "" if self.per is None else f", per={self.per!r}"
        return f"KAnonymity(k={self.k}{insists})"

    @property
    def smallest(self) -> int:
        """No class with fewer than `k` records can meet the model."""
        return self.k

    @property
    def asks_size_alone(self) -> bool:
        return not self.counts_people_only

    def judge(self, classes: Classes) -> Verdict:
        """A class needs `k` records, and a part of one that has fewer has fewer still.

        Raises:
            InputError: CEL-P062 people are to be counted, and the classes are of records.
        """
        if self.counts_people_only and classes.units is None:
            raise InputError("CEL-P062.needs_people", promise=self.promise())
        return all_or_none(classes.sizes >= self.k, classes.sizes)

    @property
    def counts_people_only(self) -> bool:
        return self.per == "person"

    def promise(self) -> str:
        if self.per == "person":
            return Message("models.k_anonymity.promise_by_person", k=self.k)
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
