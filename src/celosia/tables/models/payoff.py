"""The game between a publisher and an attacker: publish what pays, or what no attacker would try.

A record that keeps the share `i` of its information earns the publisher `benefit * i`. An attacker
who tries to identify it is right with some chance `r`: he wins `gain * r`, and pays `cost`; the
publisher then loses `loss * r`. A rational attacker tries if that pays him, gain * r > cost.

The information of a record is one less its loss in digits: the logarithms of the leaves that its
labels stand for, over those of all leaves. The chance is one over the size of its class for an
attacker who knows that the person is in the table (prosecutor), and one over the people of the
population who fit the class for one who does not (journalist).

Reference: Wan, Vorobeychik, Xia, Clayton, Kantarcioglu, Ganta, Heatherly, Malin 2015 (a game
theoretic framework for analyzing re-identification risk); Prasser et al. 2017 (its use in ARX).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from celosia.assess.risk.attackers import expected_risk
from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import Parameter, parameter
from celosia.tables.models.classes import Classes
from celosia.tables.models.model import (
    ANOTHER_RELEASE,
    HOMOGENEITY,
    KNOWN_MEMBER,
    LEAST,
    MOST,
    OTHER_POPULATION,
    RANDOM_SAMPLE,
    TIE,
    Model,
    Verdict,
    all_or_none,
    population_of,
)

Attacker = Literal["prosecutor", "journalist"]
Floats = NDArray[np.float64]

BENEFIT = Parameter(least=LEAST, most=MOST, start=1200.0)
"""What the publisher earns by a record that is released as it is."""
LOSS = Parameter(least=0, most=MOST, start=300.0)
"""What the publisher loses by a record that is identified."""
GAIN = Parameter(least=LEAST, most=MOST, start=300.0)
"""What the attacker wins by a record that is identified."""
COST = Parameter(least=LEAST, most=MOST, start=4.0)
"""What an attempt on one record costs the attacker."""
FRACTION = Parameter(least=LEAST, most=1, start=0.1)


class Game(Model):
    """What the two models of the game share: the attacker, and his chance."""

    attacker: Attacker
    sampling_fraction: float | None
    gain: float
    cost: float

    def check(self) -> None:
        """Refuse a sampling fraction for an attacker who has no use for it."""
        if self.attacker == "prosecutor" and self.sampling_fraction is not None:
            raise InputError("CEL-P070")

    @property
    def needs_population(self) -> bool:
        """The journalist's chance is counted in the population, unless it is estimated."""
        return self.attacker == "journalist" and self.sampling_fraction is None

    def success(self, classes: Classes) -> Floats:
        """For each class the chance that an attempt on one of its records is right."""
        if self.attacker == "prosecutor":
            return 1 / classes.sizes
        if self.sampling_fraction is None:
            return 1 / population_of(classes, self)
        return expected_risk(classes.sizes, self.sampling_fraction)

    def attacked(self, chance: Floats) -> NDArray[np.bool_]:
        """Whether an attempt pays; where it comes out even, a rational attacker does not try."""
        return self.gain * chance > self.cost * (1 + TIE)

    def leaves_open(self) -> tuple[str, ...]:
        basis: tuple[str, ...] = ()
        if self.attacker == "journalist":
            estimated = self.sampling_fraction is not None
            basis = (KNOWN_MEMBER, RANDOM_SAMPLE if estimated else OTHER_POPULATION)
        return (Message("models.payoff.irrational"), HOMOGENEITY, *basis, ANOTHER_RELEASE)


@dataclass(frozen=True, slots=True)
class NoAttack(Game):
    """No attempt to identify a record pays a rational attacker.

    Guarantee: an attacker who wins `gain` by identifying a record, and pays `cost` for each
    attempt, expects to win nothing by any of them. A part of a class has no more records, and fits
    no more people, so that its records pay him no less: all records of a class that fails must go.

    >>> NoAttack(gain=300.0, cost=4.0).smallest
    75

    Reference: Wan et al. 2015.
    """

    method_name: ClassVar[str] = "no-attack"

    gain: float = parameter(300.0, like=GAIN)
    cost: float = parameter(4.0, like=COST)
    attacker: Attacker = parameter("prosecutor")
    sampling_fraction: float | None = parameter(None, like=FRACTION)

    @property
    def smallest(self) -> int:
        """For the prosecutor it is a matter of size."""
        if self.attacker != "prosecutor":
            return 1
        return max(1, math.ceil(self.gain / self.cost * (1 - TIE)))

    def judge(self, classes: Classes) -> Verdict:
        """A class fails if an attempt on its records pays."""
        return all_or_none(~self.attacked(self.success(classes)), classes.sizes)

    def promise(self) -> str:
        return Message("models.no_attack.promise", gain=self.gain, cost=self.cost)

    def protects(self) -> str:
        return Message("models.no_attack.protects", gain=self.gain, cost=self.cost)


@dataclass(frozen=True, slots=True)
class Profitable(Game):
    """The publisher expects to lose by no record: its benefit covers what an attack may cost.

    A class is kept if `benefit` times the information of its records is at least `loss` times the
    chance that an attempt is right, or if no attempt pays the attacker. In a table that is only
    checked, or on a file or an engine, the information is not known, and is taken to be whole.

    All records of a class must go where even whole information would not cover the loss: parts of
    the class have no lower chance, and no more than whole information. Otherwise nothing is proven
    of its parts, which have more information.

    >>> game = Profitable(benefit=10.0, loss=30.0, gain=1.0, cost=0.1)
    >>> game.holds(Classes(np.array([2, 3, 10]))).tolist()
    [False, True, True]

    Reference: Wan et al. 2015; Prasser et al. 2017.
    """

    method_name: ClassVar[str] = "profitable"

    benefit: float = parameter(1200.0, like=BENEFIT)
    loss: float = parameter(300.0, like=LOSS)
    gain: float = parameter(300.0, like=GAIN)
    cost: float = parameter(4.0, like=COST)
    attacker: Attacker = parameter("prosecutor")
    sampling_fraction: float | None = parameter(None, like=FRACTION)

    @property
    def needs_information(self) -> bool:
        """What a record earns depends on what is left of it."""
        return True

    def judge(self, classes: Classes) -> Verdict:
        """A class fails if its records earn less than an attack on them is expected to cost."""
        chance = self.success(classes)
        expected = np.where(self.attacked(chance), self.loss * chance, 0.0)
        information = 1.0 if classes.information is None else classes.information
        earns = self.benefit * np.asarray(information) * (1 + TIE)
        hopeless = expected > self.benefit * (1 + TIE)
        return Verdict(
            np.broadcast_to(earns >= expected, chance.shape),
            np.where(hopeless, classes.sizes, 0),
        )

    def promise(self) -> str:
        return Message("models.profitable.promise", benefit=self.benefit, loss=self.loss)

    def protects(self) -> str:
        return Message.of("models.profitable.protects", self)
