"""dBitFlip: a histogram over few buckets from a few bits of each device."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import log, sqrt
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.accounting.blankets import Blanket
from celosia.accounting.losses import Loss, PureLoss
from celosia.collect.coins import WHOLE, Coin
from celosia.collect.protocol import Estimated, Protocol, RememberingClient, Server
from celosia.collect.reports import Packed, bits_for, pack, unpack
from celosia.core.errors import InputError
from celosia.core.methods import parameter
from celosia.core.numbers import exactly
from celosia.core.randomness import Source
from celosia.mechanisms.additive.directed_rounding import float_above
from celosia.mechanisms.parameters import check_confidence

if TYPE_CHECKING:
    from celosia.collect.memory import Memory
    from celosia.collect.state import State

_AT_ONCE = 2**19
"""Places of decks that are shuffled at once: memory stays the same for all reports."""


@dataclass(frozen=True, kw_only=True)
class DBitFlip(Protocol):
    """Each device draws `bits` of the buckets, and says of each, not always truly, if it is there.

    Values are bucket numbers from 0; `Buckets` makes them from counters and measurements. With a
    memory the buckets of a device are drawn once and kept, and so is what it says in each of the
    cases that they tell apart: the value is in the first of them, ..., in the last, in none.

    Guarantee: for any two values of one person one report is `epsilon`-private, with `bits` = 1
    even `epsilon` / 2 (`loss` and `report_epsilon` say so): two values change at most two bits, or
    the only one. With a memory, all reports on one unchanged value together cost no more than one
    report, and the answers of all cases together at most `lasting_epsilon`. That the case has
    changed can be seen in reports that are known to be from one device.

    Reference: Ding, Kulkarni, Yekhanin 2017, "Collecting Telemetry Data Privately".

    Raises:
        InputError: CEL-R045 more bits than buckets.

    >>> DBitFlip(epsilon=1, buckets=26, bits=4).lasting_epsilon
    5.0
    """

    method_name: ClassVar[str] = "dbitflip"

    buckets: int = parameter(32, least=2, most=2**20)
    bits: int = parameter(4, least=1, most=1024)

    def check(self) -> None:
        """Refuse more bits than there are buckets."""
        if self.bits > self.buckets:
            raise InputError("CEL-R045", bits=self.bits, buckets=self.buckets)

    @cached_property
    def coin(self) -> Coin:
        """Of a true bit."""
        return Coin.truthful(exactly(self.epsilon) / 2)

    @property
    def report_epsilon(self) -> Fraction:
        """What one report costs: with one bit, half of `epsilon`."""
        price = exactly(self.epsilon)
        return price / 2 if self.bits == 1 else price

    @property
    def loss(self) -> Loss:
        return PureLoss(self.report_epsilon)

    @property
    def blanket(self) -> Blanket:
        """Two values differ only in those of their buckets that the device has drawn."""
        truth = Fraction(self.coin.heads, WHOLE)
        return Blanket.of_drawn_bits(truth=truth, bits=self.bits, buckets=self.buckets)

    @property
    def lasting_epsilon(self) -> float:
        """What the kept answers of all cases cost together, whatever the values were."""
        return float_above(min(self.bits + 1, self.buckets) * self.report_epsilon)

    @property
    def report_bits(self) -> int:
        return self.bits * (1 + bits_for(self.buckets))

    def variance(self, users: int, *, count: float = 0, squares: float = 0) -> float:
        """Of the estimate of one bucket; there are no collisions."""
        share = self.buckets / self.bits
        truth = self.coin.chance
        return share * users * truth * (1 - truth) / (2 * truth - 1) ** 2 + (share - 1) * count

    def largest_error(self, users: int, *, confidence: float = 0.95) -> float:
        """A share that the errors of all buckets together stay below, by the paper's bound.

        >>> round(DBitFlip(epsilon=1, buckets=26, bits=4).largest_error(500_000), 4)
        0.0934
        """
        check_confidence(confidence)
        scale = 1 / (2 * self.coin.chance - 1)
        spread = sqrt(5 * self.buckets / (users * self.bits))
        return spread * scale * sqrt(log(6 * self.buckets / (1 - confidence)))

    def client(self, *, rng: Source | None = None, memory: Memory | None = None) -> DBitFlipClient:
        return DBitFlipClient(self, rng=rng, memory=memory)

    def server(self) -> DBitFlipServer:
        return DBitFlipServer(self)

    def draw_buckets(self, devices: int, rng: Source) -> NDArray[np.int64]:
        """Different buckets for each device, in order; every choice is equally likely."""
        rows = np.arange(devices)
        deck = np.tile(np.arange(self.buckets), (devices, 1))
        for at in range(self.bits):  # the beginning of a Fisher-Yates shuffle
            other = at + rng.integers(self.buckets - at, devices)
            picked = deck[rows, other]
            deck[rows, other] = deck[:, at]
            deck[:, at] = picked
        return np.sort(deck[:, : self.bits], axis=1)

    def draw_bits(self, there: NDArray[np.bool_], rng: Source) -> NDArray[np.bool_]:
        """Bits, each true with the chance of the coin."""
        truly = self.coin.toss(there.size, rng).reshape(there.shape)
        answers: NDArray[np.bool_] = there == truly
        return answers

    def pack_reports(self, queried: NDArray[np.int64], answers: NDArray[np.bool_]) -> Packed:
        """Reports: bucket, bit, bucket, bit, ..."""
        width = bits_for(self.buckets)
        pairs = [
            ((queried[:, at], width), (answers[:, at].view(np.uint8), 1)) for at in range(self.bits)
        ]
        return pack([each for pair in pairs for each in pair])

    def unpack_reports(self, reports: Packed) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Buckets and bits.

        Raises:
            InputError: CEL-R001 of another form, CEL-R032 a bucket that is none, or comes twice.
        """
        fields = unpack(reports, [bits_for(self.buckets), 1] * self.bits)
        queried, answers = np.stack(fields[::2], axis=1), np.stack(fields[1::2], axis=1)
        if np.any(queried >= self.buckets) or np.any(queried[:, 1:] <= queried[:, :-1]):
            raise InputError("CEL-R032")
        return queried, answers

    def check_values(self, values: Any) -> NDArray[np.int64]:
        """Bucket numbers.

        Raises:
            InputError: CEL-R040 a value is none; which one is not told.
        """
        numbers = np.atleast_1d(np.asarray(values)).reshape(-1)
        wrong = numbers.size and numbers.dtype.kind not in "iu"
        if wrong or np.any(numbers < 0) or np.any(numbers >= self.buckets):
            raise InputError("CEL-R040", buckets=self.buckets - 1)
        return numbers.astype(np.int64)


class DBitFlipClient(RememberingClient):
    """The side of the device of dBitFlip."""

    protocol: DBitFlip

    def _encode(self, values: Any) -> Packed:
        protocol = self.protocol
        found = protocol.check_values(values)
        made = np.empty((found.size, -(-protocol.report_bits // 8)), dtype=np.uint8)
        if self.memory is not None:
            for at, value in enumerate(found.tolist()):
                made[at] = self._remembered(value, self.memory)
            return made
        step = max(1, _AT_ONCE // protocol.buckets)
        for start in range(0, found.size, step):
            part = found[start : start + step]
            queried = protocol.draw_buckets(part.size, self.rng)
            answers = protocol.draw_bits(queried == part[:, None], self.rng)
            made[start : start + step] = protocol.pack_reports(queried, answers)
        return made

    def _remembered(self, value: int, memory: Memory) -> Packed:
        protocol = self.protocol
        kept = memory.recall(
            protocol, b"buckets", lambda rng: protocol.draw_buckets(1, rng).astype("<i4").tobytes()
        )
        queried = np.frombuffer(kept, dtype="<i4").astype(np.int64)[None, :]
        there = queried == value
        case = int(np.argmax(there)) if there.any() else protocol.bits
        answer = memory.recall(
            protocol,
            b"case" + case.to_bytes(4, "little"),
            lambda rng: np.packbits(protocol.draw_bits(there, rng)).tobytes(),
            price=protocol.report_epsilon,
        )
        bits = np.unpackbits(np.frombuffer(answer, dtype=np.uint8), count=protocol.bits)
        return protocol.pack_reports(queried, bits.astype(np.bool_)[None, :])


class DBitFlipServer(Server):
    """The side of the collector of dBitFlip: how often each bucket was asked about, and was 1."""

    protocol: DBitFlip

    def __init__(self, protocol: DBitFlip) -> None:
        super().__init__(protocol)
        self.queried = np.zeros(protocol.buckets, dtype=np.int64)
        self.ones = np.zeros(protocol.buckets, dtype=np.int64)

    def _count(self, packed: Packed) -> None:
        queried, answers = self.protocol.unpack_reports(packed)
        size = self.protocol.buckets
        self.queried += np.bincount(queried.reshape(-1), minlength=size)
        self.ones += np.bincount(queried[answers == 1], minlength=size)

    def _state(self) -> State:
        return {"asked": self.queried, "ones": self.ones}

    def _estimate(self, candidates: tuple[Hashable, ...]) -> Estimated:
        protocol = self.protocol
        places = protocol.check_values(list(candidates))
        truth = protocol.coin.chance
        share = protocol.buckets / protocol.bits
        counts = share * (self.ones - (1 - truth) * self.queried)[places] / (2 * truth - 1)
        likely = np.clip(counts, 0, self.users)
        errors = [sqrt(protocol.variance(self.users, count=each)) for each in likely.tolist()]
        return counts, np.array(errors, dtype=np.float64)
