"""When a cell gives away too much about one contributor, and how far it must be blurred then.

The amount of protection is how far above (and below) its value the cell must at least seem possible
so that the largest contributor cannot be estimated more closely than the rule allows.

Reference: Hundepool et al. 2012, Statistical Disclosure Control, 4.2 (rules) and 4.4.2 (levels).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import say
from celosia.core.methods import Method, Parameter, by_name, parameter
from celosia.core.notation import method_from_text
from celosia.tables.magnitude.table import MagnitudeTable

PERCENT = Parameter(above=0, most=100, unit="%")
"""A percentage."""


class Rule(Method, ABC):
    """Which cells are unsafe; a frozen dataclass of its parameters."""

    @abstractmethod
    def unsafe(self, table: MagnitudeTable) -> NDArray[np.bool_]:
        """The cells that must not be published."""

    @abstractmethod
    def protection(self, table: MagnitudeTable) -> NDArray[np.float64]:
        """How far from its value each unsafe cell must seem possible; 0 for the others."""


@dataclass(frozen=True, slots=True)
class MinimumFrequency(Rule):
    """Unsafe with fewer than `n` contributors; it must be blurred by `margin` percent of its value.

    >>> str(MinimumFrequency(3))
    'at least 3 contributors'
    """

    method_name: ClassVar[str] = "minimum-frequency"

    n: int = parameter(least=2, start=3)
    margin: float = parameter(10.0, like=PERCENT)

    def unsafe(self, table: MagnitudeTable) -> NDArray[np.bool_]:
        return (table.counts > 0) & (table.counts < self.n)

    def protection(self, table: MagnitudeTable) -> NDArray[np.float64]:
        return np.where(self.unsafe(table), table.values * (self.margin / 100), 0.0)

    def __str__(self) -> str:
        return say("tables.rule.minimum_frequency", n=self.n)


@dataclass(frozen=True, slots=True)
class Dominance(Rule):
    """The (n, k) rule: unsafe if the n largest contribute more than k percent.

    >>> str(Dominance(1, 80))
    'the largest contributes at most 80 %'
    """

    method_name: ClassVar[str] = "dominance"

    n: int = parameter(least=1, start=2)
    k: float = parameter(like=PERCENT, start=85)

    def _sum(self, table: MagnitudeTable) -> NDArray[np.float64]:
        if table.largest.shape[-1] < self.n:
            raise InputError("CEL-V322", n=self.n, kept=table.largest.shape[-1])
        largest: NDArray[np.float64] = table.largest[..., : self.n].sum(axis=-1)
        return largest

    def unsafe(self, table: MagnitudeTable) -> NDArray[np.bool_]:
        return self._sum(table) * 100 > table.values * self.k

    def protection(self, table: MagnitudeTable) -> NDArray[np.float64]:
        needed = self._sum(table) * (100 / self.k) - table.values
        return np.where(self.unsafe(table), needed, 0.0)

    def __str__(self) -> str:
        key = "tables.rule.dominance_one" if self.n == 1 else "tables.rule.dominance"
        return say(key, n=self.n, k=self.k)


@dataclass(frozen=True, slots=True)
class PriorPosterior(Rule):
    """The (p, q) rule: a contributor is known beforehand to q percent, and may be known to p after.

    >>> str(PriorPosterior(10, 50))
    'no contributor known to 50 % can be estimated to 10 %'
    """

    method_name: ClassVar[str] = "prior-posterior"

    p: float = parameter(like=PERCENT, most=1000, start=10)
    q: float = parameter(like=PERCENT, most=1000, start=50)

    def check(self) -> None:
        """Refuse prior knowledge that is too much already."""
        if self.p >= self.q:
            raise InputError("CEL-V320", p=self.p, q=self.q)

    def protection(self, table: MagnitudeTable) -> NDArray[np.float64]:
        return _lacking(table, self.p / self.q)

    def unsafe(self, table: MagnitudeTable) -> NDArray[np.bool_]:
        return self.protection(table) > 0

    def __str__(self) -> str:
        return say("tables.rule.prior_posterior", p=self.p, q=self.q)


@dataclass(frozen=True, slots=True)
class PPercent(Rule):
    """The p% rule: unsafe if the second largest can tell the largest to within p percent.

    That is, if value - largest - second largest < p/100 largest.

    >>> str(PPercent(10))
    'no contributor can be estimated to 10 % by another contributor'
    """

    method_name: ClassVar[str] = "p-percent"

    p: float = parameter(like=PERCENT, most=1000, start=10)

    def protection(self, table: MagnitudeTable) -> NDArray[np.float64]:
        return _lacking(table, self.p / 100)

    def unsafe(self, table: MagnitudeTable) -> NDArray[np.bool_]:
        return self.protection(table) > 0

    def __str__(self) -> str:
        return say("tables.rule.p_percent", p=self.p)


RULES: dict[str, type[Rule]] = by_name(PPercent, PriorPosterior, Dominance, MinimumFrequency)
"""The rules by their names."""


def rule_from_text(text: str) -> Rule:
    """A rule in the notation of the command line: NAME:VALUE,...,KEY=VALUE,...

    >>> rule_from_text("dominance:2,85")
    Dominance(n=2, k=85.0)

    Raises:
        InputError: as `core.notation.method_from_text` says.
    """
    return method_from_text(RULES, text, what="rule")


def primary_cells(
    table: MagnitudeTable, rules: Sequence[Rule]
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """The cells that some rule finds unsafe, and the most protection that a rule asks for them."""
    if not rules:
        raise InputError("CEL-V321.in_python")
    unsafe = np.zeros(table.shape, dtype=np.bool_)
    protection = np.zeros(table.shape)
    for rule in rules:
        unsafe |= rule.unsafe(table)
        protection = np.maximum(protection, rule.protection(table))
    # A cell of value 0 needs some blur too, or its contributors' zeros are known.
    positive = table.values[table.values > 0]
    least = 0.01 * float(positive.min()) if positive.size else 1.0
    return unsafe, np.where(unsafe, np.maximum(protection, least), 0.0)


def _lacking(table: MagnitudeTable, ratio: float) -> NDArray[np.float64]:
    """What the small contributions of a cell lack to hide the given part of its largest."""
    first, second = table.largest[..., 0], table.largest[..., 1]
    rest = np.maximum(table.values - first - second, 0.0)
    needed = first * ratio - rest
    # A sum of floats may miss a tie by its last digits; the rules call a tie safe.
    return np.where(needed > table.values * 1e-12, needed, 0.0)
