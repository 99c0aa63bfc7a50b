"""1BitMean: the mean of counters or measurements from one bit of each device."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf, log, sqrt
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.collect.coins import Coin
from celosia.collect.numbers.buckets import numbers_of
from celosia.collect.protocol import BlanketShares, Estimated, Protocol, RememberingClient, Server
from celosia.collect.reports import Packed, pack, unpack
from celosia.core.errors import InputError
from celosia.core.messages import say_of
from celosia.core.methods import parameter
from celosia.core.numbers import exactly
from celosia.core.randomness import Source
from celosia.mechanisms.additive.directed_rounding import float_above
from celosia.mechanisms.parameters import check_bounds, check_confidence

if TYPE_CHECKING:
    from celosia.collect.estimates import Estimates
    from celosia.collect.memory import Memory
    from celosia.collect.state import State

GRID = 2**32
"""A value is a whole number of these parts of the range: all draws compare whole numbers."""


@dataclass(frozen=True, slots=True)
class MeanEstimate:
    """An estimated mean with its standard error."""

    mean: float
    error: float
    users: int
    """How many reports it is from."""

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Below and above the mean, by the normal law."""
        from scipy.stats import norm

        check_confidence(confidence)
        reach = float(norm.isf((1 - confidence) / 2)) * self.error
        return self.mean - reach, self.mean + reach

    def as_dict(self, confidence: float = 0.95) -> dict[str, Any]:
        """Plain values for JSON; None where there are no reports."""
        if not self.users:
            return {"users": 0, "mean": None, "error": None, "low": None, "high": None}
        low, high = self.interval(confidence)
        return {
            "users": self.users,
            "mean": self.mean,
            "error": self.error,
            "confidence": confidence,
            "low": low,
            "high": high,
        }

    def __str__(self) -> str:
        return say_of("collect.summary.mean", self)


@dataclass(frozen=True, kw_only=True)
class OneBitMean(Protocol):
    """Each device sends one bit that is 1 the more likely, the larger its value is.

    Values beyond the public range from `lower` to `upper` count as its nearest end. For repeated
    collection a device with a memory draws once how it rounds (the alpha of alpha-point rounding),
    rounds each value to one of `levels` + 1 levels, and keeps one bit for each level. So a value
    that moves a little mostly gives the very same bit, and the mean stays unbiased.

    Guarantee: for any two values of one person one report is `epsilon`-private. With a memory all
    reports of values that are rounded to one level cost no more than one, and the answers of all
    levels together at most `lasting_epsilon`. That the level has changed can be seen where two
    levels have different bits, in reports that are known to be from one device.

    Reference: Ding, Kulkarni, Yekhanin 2017, "Collecting Telemetry Data Privately".

    >>> OneBitMean(epsilon=1, lower=0, upper=24).lasting_epsilon
    2.0
    """

    method_name: ClassVar[str] = "one-bit-mean"

    lower: float | Fraction = parameter(0, kind="exact")
    upper: float | Fraction = parameter(1, kind="exact")
    levels: int = parameter(1, least=1, most=2**16)

    def check(self) -> None:
        """Refuse a range that is none."""
        check_bounds(self.lower, self.upper)

    @cached_property
    def coin(self) -> Coin:
        """Of a true bit."""
        return Coin.truthful(self.epsilon)

    @property
    def lasting_epsilon(self) -> float:
        """What the kept answers of all levels cost together, whatever the values were."""
        return float_above((self.levels + 1) * self._price)

    @property
    def _price(self) -> Fraction:
        return exactly(self.epsilon)

    @property
    def blanket(self) -> BlanketShares:
        """One of two bits; values between the ends are mixtures of both."""
        return Fraction(1, 2), Fraction(0)

    @property
    def report_bits(self) -> int:
        return 1

    def variance(self, users: int, *, count: float = 0, squares: float = 0) -> float:
        """Of the estimated mean, at most: reached where half of the bits are 1."""
        if not users:
            return inf
        return self._range**2 / (4 * users * (2 * self.coin.chance - 1) ** 2)

    def largest_error(self, users: int, *, confidence: float = 0.95) -> float:
        """What the error of the mean stays below, by Hoeffding's inequality (the paper's bound)."""
        check_confidence(confidence)
        scale = self._range / (2 * self.coin.chance - 1)
        return scale * sqrt(log(2 / (1 - confidence)) / (2 * users))

    @property
    def _range(self) -> float:
        return float(self.upper) - float(self.lower)

    def client(
        self, *, rng: Source | None = None, memory: Memory | None = None
    ) -> OneBitMeanClient:
        return OneBitMeanClient(self, rng=rng, memory=memory)

    def server(self) -> OneBitMeanServer:
        return OneBitMeanServer(self)

    def on_grid(self, values: Any) -> NDArray[np.int64]:
        """Values as whole numbers from 0 to 2^32 parts of the range."""
        low, high = float(self.lower), float(self.upper)
        inside = (np.clip(numbers_of(values), low, high) - low) / (high - low)
        return np.rint(inside * GRID).astype(np.int64)

    def draw_bits(self, parts: NDArray[np.int64], of: int, rng: Source) -> NDArray[np.bool_]:
        """Bits: one end of the range is drawn by the share parts / of, then told, mostly truly.

        P(1) = share * truth + (1 - share) * (1 - truth), with whole numbers only.
        """
        upper_end = rng.integers(of, parts.size) < parts
        bits: NDArray[np.bool_] = upper_end == self.coin.toss(parts.size, rng)
        return bits


class OneBitMeanClient(RememberingClient):
    """The side of the device of 1BitMean."""

    protocol: OneBitMean

    def _encode(self, values: Any) -> Packed:
        parts = self.protocol.on_grid(values)
        if self.memory is None:  # rounding first and drawing then is the same as drawing at once
            bits = self.protocol.draw_bits(parts, GRID, self.rng)
        else:
            listed = [self._remembered(each, self.memory) for each in parts.tolist()]
            bits = np.array(listed, dtype=np.bool_)
        return pack([(bits.view(np.uint8), 1)])

    def _remembered(self, part: int, memory: Memory) -> bool:
        protocol = self.protocol
        kept = memory.recall(
            protocol, b"alpha", lambda rng: int(rng.integers(GRID, 1)[0]).to_bytes(8, "little")
        )
        # Up with the chance of the part of a step that the value is above the level below it.
        level = (part * protocol.levels + int.from_bytes(kept, "little")) // GRID
        answer = memory.recall(
            protocol,
            b"level" + level.to_bytes(4, "little"),
            lambda rng: protocol.draw_bits(np.array([level]), protocol.levels, rng).tobytes(),
            price=protocol._price,
        )
        return answer != b"\0"


class OneBitMeanServer(Server):
    """The side of the collector of 1BitMean: how many bits were 1."""

    protocol: OneBitMean

    def __init__(self, protocol: OneBitMean) -> None:
        super().__init__(protocol)
        self.ones = np.zeros(1, dtype=np.int64)

    def _count(self, packed: Packed) -> None:
        self.ones += int(unpack(packed, [1])[0].sum())

    def _state(self) -> State:
        return {"ones": self.ones}

    def mean(self) -> MeanEstimate:
        """The mean of all values, without bias.

        The error takes values as drawn from one law; for the mean of just these devices it is
        at most that.
        """
        if not self.users:
            return MeanEstimate(float("nan"), inf, 0)
        truth = self.protocol.coin.chance
        seen = int(self.ones[0]) / self.users
        scale = self.protocol._range / (2 * truth - 1)
        # Whatever the values are, a bit is 1 with a chance within these two: a handful of equal
        # bits is no certainty.
        likely = min(max(seen, 1 - truth), truth)
        error = scale * sqrt(likely * (1 - likely) / self.users)
        found = float(self.protocol.lower) + scale * (seen - (1 - truth))
        return MeanEstimate(found, error, self.users)

    def summary(self) -> MeanEstimate:
        """As `mean`."""
        return self.mean()

    def estimate(self, candidates: Sequence[Hashable], *, post: str = "raw") -> Estimates:
        """There are no counts of values here; `mean` has what there is.

        Raises:
            InputError: CEL-R041 always.
        """
        raise _no_counts()

    def _estimate(self, candidates: tuple[Hashable, ...]) -> Estimated:
        raise _no_counts()


def _no_counts() -> InputError:
    return InputError("CEL-R041")
