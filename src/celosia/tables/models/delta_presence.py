"""delta-presence: whether a person of the population is in the table stays uncertain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.tables.models.classes import Classes
from celosia.tables.models.model import (
    ANOTHER_RELEASE,
    LEAST,
    OTHER_POPULATION,
    SLACK,
    TIE,
    Model,
    Verdict,
    population_of,
)


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

    method_name: ClassVar[str] = "delta-presence"
    needs_population = True
    """Shares are of the people who fit."""

    lower: float = parameter(least=0, most=1, start=0)
    upper: float = parameter(least=LEAST, most=1, start=0.5)

    def check(self) -> None:
        """Refuse bounds in the wrong order."""
        if self.lower > self.upper:
            raise InputError("CEL-P027", lower=self.lower, upper=self.upper)

    @property
    def judges_table(self) -> bool:
        """A lower bound holds for all people or for none."""
        return self.lower > 0

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
            return Message("models.delta_presence.above_upper", upper=self.upper)
        return Message("models.delta_presence.below_lower", lower=self.lower)

    def promise(self) -> str:
        return Message("models.delta_presence.promise", lower=self.lower, upper=self.upper)

    def protects(self) -> str:
        return Message("models.delta_presence.protects", lower=self.lower, upper=self.upper)

    def leaves_open(self) -> tuple[str, ...]:
        return (
            Message("models.delta_presence.known_members"),
            OTHER_POPULATION,
            ANOTHER_RELEASE,
        )
