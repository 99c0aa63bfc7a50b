"""The base of all mechanisms: a small value that randomises one answer and knows its price."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from fractions import Fraction
from math import floor, log10
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

from celosia.accounting.losses import Loss
from celosia.core.errors import InputError, PrivacyError
from celosia.core.methods import Method, Parameter, checked, plain
from celosia.core.neighbours import ADD_REMOVE, Neighbours
from celosia.core.randomness import Source, System
from celosia.mechanisms.grid import Grid
from celosia.mechanisms.parameters import (
    LEAST_EPSILON,
    MOST_EPSILON,
    check_confidence,
    check_epsilon,
    field_of,
)

Input = TypeVar("Input")
Output = TypeVar("Output")

Interval = tuple[float, float]
"""A lower and an upper bound."""

NOTHING: Mapping[str, Any] = MappingProxyType({})
TARGET_ERROR = Parameter(name="error", kind="number", above=0)
DIGITS = 4
"""Significant digits of an epsilon that is found: enough to print, few enough to stay exact."""


@dataclass(frozen=True, slots=True)
class Measurement(Generic[Output]):
    """A released value, and the other numbers that were released on the way to it.

    Everything in it has been paid for, so intervals may be computed from all of it.
    """

    value: Output
    parts: Mapping[str, Any] = field(default_factory=lambda: NOTHING)


def _neighbours(neighbours: Any) -> Neighbours:
    if not isinstance(neighbours, Neighbours):
        raise TypeError
    return neighbours


NEIGHBOURS = Parameter(
    name="neighbours", check=_neighbours, allowed="mechanisms.allowed.neighbours", is_asked=False
)


class ExactEpsilon:
    """What has an epsilon, and pays just that."""

    epsilon: float

    @property
    def price(self) -> Fraction:
        """Epsilon as the exact number that it is written as."""
        return check_epsilon(self.epsilon)


@dataclass(frozen=True, kw_only=True)
class Mechanism(Method, ABC, Generic[Input, Output]):
    """A central differentially private randomiser of one answer.

    Subclasses are frozen dataclasses that check their parameters on creation, print as one would
    write them, and never draw noise for an input that they refuse.
    """

    parameter: ClassVar[str] = "epsilon"
    """The field that buys accuracy: what `with_accuracy` looks for."""

    is_count: ClassVar[bool] = False
    """Whether the exact answer cannot be below 0, while noise may take the released one there."""

    neighbours: Neighbours = field_of(NEIGHBOURS, ADD_REMOVE)

    def __post_init__(self) -> None:
        if "method_name" in vars(type(self)):
            super().__post_init__()
        else:  # it declares no parameters and checks them itself
            checked(type(self).__name__, NEIGHBOURS, self.neighbours)

    if TYPE_CHECKING:
        # A field of some mechanisms and a property of others: at run time an inherited property
        # would be taken for the default of the field.
        @property
        def sensitivity(self) -> float:
            """The most by which one neighbour step moves the exact answer, in its own unit."""

    @abstractmethod
    def privacy_loss(self) -> Loss:
        """What one release costs under `neighbours`."""

    @abstractmethod
    def measure(self, x: Input, *, rng: Source) -> Measurement[Output]:
        """Randomise one answer, keeping the numbers that an interval can be computed from."""

    def release(self, x: Input, *, rng: Source | None = None) -> Output:
        """Randomise one answer; without a source, by the operating system's entropy."""
        return self.measure(x, rng=System() if rng is None else rng).value

    @abstractmethod
    def accuracy(self, confidence: float = 0.95, *, size: int = 1) -> float:
        """An error that is not exceeded with this confidence.

        Args:
            confidence: between 0 and 1.
            size: how many coordinates, candidates, queries or rows there are, where it matters.
        """

    def interval(
        self, measurement: Measurement[Output], confidence: float = 0.95
    ) -> tuple[Any, Any] | None:
        """Bounds that hold the exact answer with this confidence, from released numbers only.

        None where the mechanism gives no such bounds.
        """
        return None

    def with_accuracy(self, error: float, *, confidence: float = 0.95, size: int = 1) -> Self:
        """This mechanism with the least epsilon whose error stays within `error`.

        Args:
            error: in the unit of `accuracy`.
            confidence: how often the error must stay within it.
            size: as in `accuracy`.

        Raises:
            InputError: CEL-I060 the error is not a number above 0.
            PrivacyError: CEL-M011 no epsilon up to 100 is enough.
        """
        check_confidence(confidence)
        wanted = float(checked(type(self).__name__, TARGET_ERROR, error))

        def holds(price: Fraction) -> bool:
            try:
                return self._with_price(price).accuracy(confidence, size=size) <= wanted
            except InputError as refusal:
                if refusal.code != "CEL-M020":
                    raise
                return False  # noise that is too wide to be drawn is not accurate

        if not holds(MOST_EPSILON):
            raise PrivacyError(
                "CEL-M011", parameter=self.parameter, most_epsilon=MOST_EPSILON, error=error
            )
        return self._with_price(least(holds, LEAST_EPSILON, MOST_EPSILON))

    def _with_price(self, price: Fraction) -> Self:
        changed: dict[str, Any] = {self.parameter: float(price)}
        return replace(self, **changed)

    def as_dict(self) -> dict[str, Any]:
        values = super().as_dict()
        for name, value in values.items():
            if isinstance(value, Grid):
                values[name] = plain(value.step)
            elif isinstance(value, Neighbours):
                values[name] = {"relation": str(value.relation.value), "unit": value.unit}
        return values

    def __str__(self) -> str:
        given = [item for item in fields(self) if item.init]
        shown = [item for item in given if getattr(self, item.name) != item.default]
        shown.sort(key=lambda item: item.default is not MISSING)
        written = ", ".join(f"{item.name}={_plain(getattr(self, item.name))}" for item in shown)
        return f"{type(self).__name__}({written})"


def _plain(value: object) -> str:
    """A parameter as it is written down, which does not depend on the language."""
    if isinstance(value, Neighbours):
        return str.__str__(value.message)
    return str(plain(value)) if isinstance(value, Fraction) else str(value)


def least(holds: Any, low: Fraction, high: Fraction) -> Fraction:
    """The least number of a few digits from `low` to `high` at which a rising condition holds.

    >>> least(lambda price: price >= Fraction(2995732, 10**7), Fraction(1, 1000), Fraction(100))
    Fraction(749, 2500)
    """
    if holds(low):
        return low
    while high / low > 1 + Fraction(1, 10 ** (DIGITS + 2)):
        middle = Fraction(float(low * high) ** 0.5).limit_denominator(10**15)
        low, high = (low, middle) if holds(middle) else (middle, high)
    step = Fraction(10) ** (floor(log10(high)) + 1 - DIGITS)
    rounded = -((-high) // step) * step
    return min(rounded, MOST_EPSILON)
