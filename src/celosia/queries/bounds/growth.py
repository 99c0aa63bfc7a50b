"""Whole numbers that grow with the distance from the data: frequencies, and what follows of them.

A frequency at distance k is min(f + k, cap). Stabilities are sums, products, maxima and minima of
such numbers. They are kept as that expression, not multiplied out: it is exact for every k, also
where caps bend it, and short where a set of polynomials would be long.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod
from typing import TYPE_CHECKING, Literal, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Kind = Literal["sum", "product", "largest", "least"]
T = TypeVar("T")
Rules = Mapping[Kind, Callable[[Sequence[T]], T]]


class Growth(ABC):
    """A non-decreasing function from distances 0, 1, 2, ... to whole numbers of at least 0."""

    __slots__ = ()

    @abstractmethod
    def at(self, distance: int) -> int:
        """The exact value at a distance."""

    @abstractmethod
    def logarithms(self, distances: NDArray[np.int64]) -> NDArray[np.float64]:
        """Natural logarithms at many distances, to float precision; they cannot overflow."""

    @property
    @abstractmethod
    def degree(self) -> int:
        """A d such that from k >= 1 to j > k the value grows by a factor of at most (j / k)^d.

        True of min(f + k, cap) with d = 1; products add degrees, and sums, maxima and minima have
        at most the largest of their parts.
        """

    @property
    @abstractmethod
    def limit(self) -> int | None:
        """The value at every distance beyond some; None if there is none.

        It is made of caps and of public numbers only, so it bounds every legal database.
        """


@dataclass(frozen=True, slots=True)
class Leaf(Growth):
    """min(start + k, cap) where it grows, else the same number at every distance.

    >>> orders = Leaf(44, grows=True, cap=50, name="orders.custkey")
    >>> orders.at(0), orders.at(5), orders.at(90), str(orders)
    (44, 49, 50, 'mf(orders.custkey)')
    """

    start: int
    grows: bool = False
    cap: int | None = None
    name: str | None = None

    def at(self, distance: int) -> int:
        # A changed row raises the largest frequency by at most one (Johnson, Near & Song 2018),
        # and no legal database exceeds a declared cap.
        value = self.start + distance if self.grows else self.start
        return value if self.cap is None else min(value, self.cap)

    def logarithms(self, distances: NDArray[np.int64]) -> NDArray[np.float64]:
        import numpy as np  # `celosia --help` does without it

        values = np.full(distances.shape, float(self.start))
        if self.grows:
            values += distances
        if self.cap is not None:
            values = np.minimum(values, float(self.cap))
        with np.errstate(divide="ignore"):  # ln 0 is minus infinity, as it should be
            found: NDArray[np.float64] = np.log(values)
        return found

    @property
    def degree(self) -> int:
        return int(self.grows)

    @property
    def limit(self) -> int | None:
        return self.cap if self.grows else self.at(0)

    def __str__(self) -> str:
        return str(self.at(0)) if self.name is None else f"mf({self.name})"


ZERO = Leaf(0)
ONE = Leaf(1)


@dataclass(frozen=True, slots=True, eq=False)
class CompositeGrowth(Growth):
    """Several growths put together.

    Parts are shared between many expressions, so each is worked out once a question (`_fold`), and
    two are compared by identity: an expression written out can be exponentially long.
    """

    kind: Kind
    parts: tuple[Growth, ...]

    def at(self, distance: int) -> int:
        return _fold(self, lambda leaf: leaf.at(distance), _WHOLE, {})

    def logarithms(self, distances: NDArray[np.int64]) -> NDArray[np.float64]:
        import numpy as np

        rules: Rules[NDArray[np.float64]] = {
            "sum": lambda parts: reduce(np.logaddexp, parts),
            "product": lambda parts: reduce(np.add, parts),
            "largest": lambda parts: reduce(np.maximum, parts),
            "least": lambda parts: reduce(np.minimum, parts),
        }
        return _fold(self, lambda leaf: leaf.logarithms(distances), rules, {})

    @property
    def degree(self) -> int:
        return _fold(self, lambda leaf: leaf.degree, _DEGREES, {})

    @property
    def limit(self) -> int | None:
        return _fold(self, lambda leaf: leaf.limit, _LIMITS, {})

    def __str__(self) -> str:
        """The formula, frequencies by their names: all of it public.

        >>> print(largest([product([Leaf(2, name="a.x"), ONE]), total([ONE, Leaf(3, name="b.y")])]))
        max(mf(a.x), (1 + mf(b.y)))
        """
        return _fold(self, str, _WORDS, {})


def total(parts: Iterable[Growth]) -> Growth:
    """The sum."""
    kept = [part for part in parts if part != ZERO]
    return _combined("sum", kept) if kept else ZERO


def product(parts: Iterable[Growth]) -> Growth:
    """The product."""
    kept = list(parts)
    if ZERO in kept:
        return ZERO
    flat = [
        each
        for part in kept
        for each in (
            part.parts if isinstance(part, CompositeGrowth) and part.kind == "product" else [part]
        )
        if each != ONE
    ]
    return _combined("product", flat) if flat else ONE


def largest(parts: Iterable[Growth]) -> Growth:
    """The larger one, distance by distance."""
    kept = _different(part for part in parts if part != ZERO)
    return _combined("largest", kept) if kept else ZERO


def least(parts: Iterable[Growth]) -> Growth:
    """The smaller one, distance by distance, of at least one."""
    kept = _different(parts)
    return ZERO if ZERO in kept else _combined("least", kept)


def _combined(kind: Kind, parts: Sequence[Growth]) -> Growth:
    return parts[0] if len(parts) == 1 else CompositeGrowth(kind, tuple(parts))


def _different(parts: Iterable[Growth]) -> list[Growth]:
    """Each once, as far as one level shows: products of the same frequencies are the same."""
    return list({_shape(part): part for part in parts}.values())


def _shape(growth: Growth) -> Hashable:
    if isinstance(growth, CompositeGrowth):
        return growth.kind, tuple(p if isinstance(p, Leaf) else id(p) for p in growth.parts)
    return growth


def _fold(growth: Growth, leaf: Callable[[Leaf], T], rules: Rules[T], done: dict[int, T]) -> T:
    if isinstance(growth, Leaf):
        return leaf(growth)
    assert isinstance(growth, CompositeGrowth)
    if id(growth) not in done:
        done[id(growth)] = rules[growth.kind](
            [_fold(part, leaf, rules, done) for part in growth.parts]
        )
    return done[id(growth)]


def _all_known(
    rule: Callable[[Sequence[int]], int],
) -> Callable[[Sequence[int | None]], int | None]:
    def apply(parts: Sequence[int | None]) -> int | None:
        known = [part for part in parts if part is not None]
        return rule(known) if len(known) == len(parts) else None

    return apply


_WHOLE: Rules[int] = {"sum": sum, "product": prod, "largest": max, "least": min}
_DEGREES: Rules[int] = {"sum": max, "product": sum, "largest": max, "least": max}
_LIMITS: Rules[int | None] = {
    "sum": _all_known(sum),
    "product": _all_known(prod),
    "largest": _all_known(max),
    "least": lambda parts: min((part for part in parts if part is not None), default=None),
}
_WORDS: Rules[str] = {
    "sum": lambda parts: _short(f"({' + '.join(parts)})"),
    "product": lambda parts: _short(" * ".join(parts)),
    "largest": lambda parts: _short(f"max({', '.join(parts)})"),
    "least": lambda parts: _short(f"min({', '.join(parts)})"),
}
LONGEST = 2000


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else "(...)"
