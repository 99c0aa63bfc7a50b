"""Protocols whose reports support values: what their estimates, errors and servers share.

A report *supports* some of the values. It supports the value of its sender with one chance, and any
other value with a smaller one; these two chances decide about estimates and about their errors.

Reference: Wang, Blocki, Li & Jha 2017, "Locally Differentially Private Protocols for Frequency
Estimation" (pure protocols).
"""

from __future__ import annotations

import hashlib
import json
from abc import abstractmethod
from collections.abc import Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.collect.coins import WHOLE, Coin
from celosia.collect.protocol import FORM, Protocol, Server
from celosia.collect.reports import Packed, malformed, unpack
from celosia.collect.state import State
from celosia.core.errors import InputError
from celosia.core.methods import Method, Parameter
from celosia.core.numbers import exactly
from celosia.mechanisms.additive.directed_rounding import exp_below
from celosia.sketches.hashing import digests

MOST_VALUES = 2**22
_UNKNOWN = -1


@dataclass(frozen=True)
class Domain:
    """Different texts or whole numbers, each with its place.

    Raises:
        InputError: CEL-R050 they are not 2 to 4,194,304 different texts or whole numbers.

    >>> Domain(("car", "bus", "bike")).places(["bus", "car"]).tolist()
    [1, 0]
    """

    values: tuple[Hashable, ...]

    def __post_init__(self) -> None:
        listed = self.values
        plain = isinstance(listed, tuple) and all(
            isinstance(each, (str, bytes, int)) and not isinstance(each, bool) for each in listed
        )
        if not plain or not 2 <= len(listed) <= MOST_VALUES or len(set(listed)) < len(listed):
            raise InputError("CEL-R050", most_values=MOST_VALUES)

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def fingerprint(self) -> str:
        """The domain in 32 digits: BLAKE2b of the digests of its values, in their order."""
        listed = np.ascontiguousarray(digests(list(self.values)), dtype="<u8")
        return hashlib.blake2b(listed.tobytes(), digest_size=16).hexdigest()

    def places(self, values: Any) -> NDArray[np.int64]:
        """The places of values, one for each.

        Raises:
            InputError: CEL-R051 a value is not in the domain; which one is not told.
        """
        array = values.to_numpy() if hasattr(values, "to_numpy") else values
        if isinstance(array, np.ndarray) and array.dtype.kind in "iuUS" and array.ndim == 1:
            different, where = np.unique(array, return_inverse=True)
            found = self._looked_up(different.tolist())[where.reshape(-1)]
        else:
            found = self._looked_up(array.tolist() if isinstance(array, np.ndarray) else array)
        if np.any(found == _UNKNOWN):
            raise InputError("CEL-R051")
        return found

    def _looked_up(self, values: Any) -> NDArray[np.int64]:
        found = [_UNKNOWN]
        with suppress(TypeError):  # not a list, or of values that cannot be looked up
            found = [self._places.get(each, _UNKNOWN) for each in values]
        return np.array(found, dtype=np.int64)

    @cached_property
    def _places(self) -> dict[Hashable, int]:
        return {value: place for place, value in enumerate(self.values)}


Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Support:
    """The chances that a report supports the value of its sender, and any one other value.

    >>> Support(Fraction(3, 4), Fraction(1, 4)).variance(100, 0.0)
    75.0
    """

    own: Fraction
    other: Fraction

    @cached_property
    def _floats(self) -> tuple[float, float, float]:
        slope = self.own - self.other
        return (
            float(self.own * (1 - self.own) / slope**2),
            float(self.other * (1 - self.other) / slope**2),
            float(slope),
        )

    def unbiased(self, supports: NDArray[np.int64], users: int) -> Floats:
        """Counts of values from how many reports support them."""
        # With n of the users having the value, own n + other (users - n) supports are expected.
        above = supports.astype(np.float64) - users * float(self.other)
        found: Floats = above / self._floats[2]
        return found

    def variance(self, users: int, count: Any) -> Any:
        """Of a count; exact, given how many reports have the value."""
        own, other, _ = self._floats
        return count * own + (users - count) * other


def ratio_below(epsilon: float | Fraction) -> Fraction:
    """e^epsilon or a hair below; from an epsilon of 64 on, e^64, which no coin can tell apart."""
    price = exactly(epsilon)
    return exp_below(min(price, Fraction(64)))


def set_coin(epsilon: float | Fraction, outside: Fraction | int) -> Coin:
    """The coin of a report from a set of outcomes that its value makes likelier.

    All outcomes inside have one chance, and all outcomes outside have another one. With a ratio
    of e^epsilon between them the set has the chance e^epsilon / (e^epsilon + outside). It is
    rounded down, so the realised ratio is never above e^epsilon.

    Args:
        epsilon: of the report.
        outside: how many outcomes are outside, for each one inside.
    """
    ratio = ratio_below(epsilon)
    coin = Coin(floor(WHOLE * ratio / (ratio + outside)))
    if coin.heads * (1 + Fraction(outside)) <= WHOLE:
        raise InputError("CEL-R052")
    return coin


@dataclass(frozen=True, kw_only=True)
class PureProtocol(Protocol):
    """A protocol with two chances of support."""

    @property
    @abstractmethod
    def support(self) -> Support:
        """The chances as they are realised."""

    def variance(self, users: int, *, count: float = 0, squares: float = 0) -> float:
        """Of the raw estimate of one value; nothing collides, so `squares` does not matter."""
        return float(self.support.variance(users, count))


def fingerprint_of(parameters: dict[str, Any]) -> bytes:
    """8 bytes of parameters, as every protocol makes them."""
    text = json.dumps([FORM, parameters], sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=8).digest()


def as_domain(domain: Any) -> tuple[Any, ...]:
    """A list of values as a tuple; TypeError where it is none."""
    if not isinstance(domain, (list, range, tuple)):
        raise TypeError
    return tuple(domain)


@dataclass(frozen=True, kw_only=True)
class DomainMethod(Method):
    """A method over a public domain."""

    domain: Sequence[Hashable] = field(
        repr=False,  # it may be very long
        metadata={
            "parameter": Parameter(kind="values", check=as_domain, allowed="collect.allowed.domain")
        },
    )

    def check(self) -> None:
        """Refuse a domain of values that are not different, or too many."""
        _ = self.values

    @cached_property
    def values(self) -> Domain:
        """The domain, checked, with the place of each value."""
        return Domain(tuple(self.domain))


@dataclass(frozen=True, kw_only=True)
class DomainProtocol(DomainMethod, Protocol):
    """A protocol over a public domain.

    Args:
        epsilon: of one report, for any two values of one person.
        key: the name of the collection.
        domain: all possible values, in an order that all devices share.
    """

    @cached_property
    def fingerprint(self) -> bytes:
        """8 bytes that tell protocols apart; of the domain its own fingerprint goes in."""
        return fingerprint_of(self.parameters() | {"domain": self.values.fingerprint})


class DomainServer(Server):
    """Counts outcomes of reports over a public domain."""

    protocol: DomainProtocol

    def __init__(self, protocol: DomainProtocol, outcomes: int) -> None:
        super().__init__(protocol)
        self.counts = np.zeros(outcomes, dtype=np.int64)

    def _state(self) -> State:
        return {"counts": self.counts}

    def _supports(self) -> NDArray[np.int64]:
        """How many reports support each value of the domain."""
        return self.counts

    def _estimate(self, candidates: tuple[Hashable, ...]) -> tuple[Floats, Floats]:
        places = self.protocol.values.places(candidates)
        assert isinstance(self.protocol, PureProtocol)
        return unbiased_estimates(self.protocol.support, self._supports()[places], self.users)


class PlaceServer(DomainServer):
    """Counts reports that each tell one outcome."""

    def _count(self, packed: Packed) -> None:
        (reported,) = unpack(packed, [self.protocol.report_bits])
        if reported.size and reported.max() >= self.counts.size:
            raise malformed()
        self.counts += np.bincount(reported, minlength=self.counts.size)


def unbiased_estimates(
    support: Support, supports: NDArray[np.int64], users: int
) -> tuple[Floats, Floats]:
    """Unbiased counts and standard errors, with each count put in for the true one."""
    counts = support.unbiased(supports, users)
    # The variance is linear in the true count, which an estimate below 0 or above all users is not.
    return counts, np.sqrt(support.variance(users, np.clip(counts, 0, users)))
