"""delta-presence: whether a person of the population is in the table stays uncertain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from celosia.core.errors import InputError
from celosia.core.numbers import real
from celosia.tables.models.classes import Classes
from celosia.tables.models.gaps import ANOTHER_RELEASE
from celosia.tables.models.model import Model, Verdict
from celosia.tables.models.parameters import SLACK, TIE, plain, put
from celosia.tables.models.population import population_of


@dataclass(frozen=True, slots=True)
class DeltaPresence(Model):
    """Of the people who fit a class, a share from `lower` to `upper` is in the table.

    Guarantee: an attacker who knows the population believes that a person is in the table with a
    chance from `lower` to `upper`.

    A lower bound above 0 is about all people of the population, also of those whose class has no
    record in the release. Suppressing a class takes its people's chance to 0, which makes it worse:
    so either the whole table meets the model as it is, or nothing of it can be kept.

    >>> model = DeltaPresence(0, 0.5)
    >>> model.holds(Classes(np.array([1, 3]), population=np.array([2, 4]))).tolist()
    [True, False]

    Reference: Nergiz, Atzori & Clifton 2007.
    """

    lower: float
    upper: float

    def __post_init__(self) -> None:
        lower, upper = real(self.lower), real(self.upper)
        if lower is None or upper is None or not 0 <= lower <= upper <= 1 or upper == 0:
            raise InputError("CEL-P027", lower=self.lower, upper=self.upper)
        put(self, lower=lower, upper=upper)

    @property
    def judges_table(self) -> bool:
        """A lower bound holds for all people or for none."""
        return self.lower > 0

    @property
    def needs_population(self) -> bool:
        """Shares are of the people who fit."""
        return True

    @property
    def smallest(self) -> int:
        """One record may do, among enough people."""
        return 1

    def judge(self, classes: Classes) -> Verdict:
        """Shares per class, and with a lower bound all of them together.

        Kept parts have at most upper times their people, who are at most those of the class: the
        records above that must go. With a lower bound nothing is said of a single class.
        """
        people = population_of(classes, self)
        none = np.zeros(classes.sizes.size, dtype=np.int64)
        satisfied = classes.sizes <= self.upper * people * (1 + TIE)
        if self.lower > 0:
            satisfied &= classes.sizes >= self.lower * people * (1 - TIE)
            whole = bool(satisfied.all()) and classes.unmatched == 0
            return Verdict(np.full(satisfied.size, whole), none)
        most = np.floor(self.upper * people * (1 + SLACK)).astype(np.int64)
        return Verdict(satisfied, np.where(satisfied, 0, np.maximum(1, classes.sizes - most)))

    def why_infeasible(self, one_class: Classes) -> str | None:
        """The table may hold too much or too little of the population."""
        if self.holds(one_class).all():
            return None
        if (one_class.sizes > self.upper * population_of(one_class, self) * (1 + TIE)).any():
            side = f"more than the upper bound of {self.upper:g}"
        else:
            side = f"less than the lower bound of {self.lower:g}"
        return f"The share of the population that is in the table is {side}, so some class's is."

    def promise(self) -> str:
        """The model in words."""
        return f"({self.lower:g}, {self.upper:g})-presence"

    def protects(self) -> str:
        """What an attacker cannot do."""
        return (
            "an attacker who knows the population believes that a person is in the table with a "
            f"chance from {self.lower:g} to {self.upper:g}"
        )

    def leaves_open(self) -> tuple[str, ...]:
        """What the model does not protect against."""
        return (
            "what the table tells about a person who is known to be in it: the person's record may "
            "be alone in its class, or the person's sensitive value may be the only one there",
            "the population table may be out of date, or not the one that the attacker has",
            ANOTHER_RELEASE,
        )

    def as_dict(self) -> dict[str, Any]:
        """Name and parameters as plain values."""
        return plain(self, "delta-presence")
