"""Sketches that are exchanged with Apache DataSketches: the same hashes, the same bytes.

A sketch of Celosía hashes values by its own recipe, so its registers mean other values than those
of DataSketches: it is refused rather than written, because a union of both would count every value
twice. The classes here hash as DataSketches does (MurmurHash3 of 128 bits), so a sketch that was
read may be updated, merged, asked and written again, and a sketch that was made here is read there.

Whole numbers are hashed as 64 bits with the lowest byte first, texts as UTF-8, bytes as they are.
An empty text is left out, as it is there. What is read: HLL of all three types in every mode,
compact Theta sketches of the versions 3 and 4 (compressed), and Count-Min. What is written: HLL_8,
ordered compact Theta of version 3, and Count-Min of 64-bit floating-point weights.

The rows of Count-Min have seeds that the C++ library draws by its own generator. These are the ones
of the GNU library, with which the Python package for Linux is built. The bytes do not tell which
library drew them, so sketches of a build with another C++ library, or of Java, must not be read.

Reference: https://datasketches.apache.org, version 5.2 of the Python package.
"""

from __future__ import annotations

import struct
from functools import cached_property
from itertools import accumulate
from typing import Any, Self, TypeGuard

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.numbers import whole
from celosia.sketches._murmur_kernels import murmur
from celosia.sketches.count_min import CountMin
from celosia.sketches.counters import FULL
from celosia.sketches.hashing import Digests, plain_value, value_array, whole_word, words_of
from celosia.sketches.hyperloglog import HyperLogLog
from celosia.sketches.sketch import Sketch
from celosia.sketches.theta import WHOLE, ThetaSketch

SEED = 9001
"""The seed of DataSketches where none is chosen; HLL sketches have no other."""
HLL, THETA, COUNT_MIN = 7, 3, 18
"""The families of sketches, as their third byte tells them."""
_EXACT = 2**53
"""Up to here a 64-bit floating-point number holds every whole number."""


def read_datasketches(data: bytes, *, seed: int = SEED, most: int | None = None) -> Sketch:
    """A sketch that DataSketches has written.

    Args:
        data: its bytes.
        seed: of its hash functions, which the bytes of Theta and Count-Min only confirm.
        most: how many hashes a Theta sketch keeps from here on, which the bytes do not tell.
            Without it: the next power of two from those it has, and at least 4,096.

    Raises:
        InputError: CEL-K010 the bytes are none of these sketches, are damaged, or are of a kind
            that cannot be exchanged.
    """
    family = data[2] if len(data) >= 8 else None
    try:
        if family == HLL:
            return DataSketchesHyperLogLog.from_datasketches(data)
        if family == THETA:
            return DataSketchesTheta.from_datasketches(data, seed=seed, most=most)
        if family == COUNT_MIN:
            return DataSketchesCountMin.from_datasketches(data, seed=seed)
    except (struct.error, ValueError, IndexError):
        raise InputError("CEL-K010.damaged") from None
    raise InputError("CEL-K010.family")


def write_datasketches(sketch: Sketch) -> bytes:
    """A sketch as DataSketches reads it.

    Raises:
        InputError: CEL-K010 its hash functions are others, or its numbers are too large.
    """
    if not is_of_datasketches(sketch):
        raise InputError("CEL-K010.other_hash")
    return sketch.to_datasketches()


def is_of_datasketches(
    sketch: Sketch,
) -> TypeGuard[DataSketchesHyperLogLog | DataSketchesTheta | DataSketchesCountMin]:
    """Whether a sketch has the hash functions of DataSketches."""
    kinds = (DataSketchesHyperLogLog, DataSketchesTheta, DataSketchesCountMin)
    return isinstance(sketch, kinds)


def hashes_of(values: Any, seed: int) -> Digests:
    """Both 64-bit words of the hash of each value, also of empty texts."""
    data, ends = _encoded(values)
    return murmur(data, ends, np.uint64(seed))


def _encoded(values: Any) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The bytes of all values, one after the other, and where each begins and ends."""
    array = value_array(values)
    if array.dtype.kind in "iu":
        words = words_of(array).astype("<u8")
        return words.view(np.uint8), np.arange(words.size + 1, dtype=np.int64) * 8
    listed = [_bytes_of(plain_value(each)) for each in array.tolist()]
    ends = np.array([0, *accumulate(map(len, listed))], dtype=np.int64)
    return np.frombuffer(b"".join(listed), dtype=np.uint8), ends


def _bytes_of(value: str | bytes | int) -> bytes:
    if isinstance(value, int):
        return whole_word(value).to_bytes(8, "little")
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value


def _filled(values: Any) -> NDArray[np.bool_]:
    """Which values are no empty text."""
    return np.diff(_encoded(values)[1]) > 0


def _check_seed(seed: object) -> int:
    number = whole(seed)
    if number is None or not 0 <= number < 2**64 or not _seed_mark(number):
        raise InputError("CEL-K010.seed")
    return number


def _seed_mark(seed: int) -> int:
    """The 16 bits by which a sketch tells its seed; a seed whose mark is 0 is not allowed."""
    words = np.array([seed], dtype="<u8").view(np.uint8)
    return int(murmur(words, np.array([0, 8]), np.uint64(0))[0, 0]) & 0xFFFF


def _check_mark(found: int, seed: int) -> None:
    if found != _seed_mark(_check_seed(seed)):
        raise InputError("CEL-K010.other_seed")


def _check(condition: bool) -> None:
    if not condition:
        raise InputError("CEL-K010.damaged")


class DataSketchesHyperLogLog(HyperLogLog):
    """A HyperLogLog with the registers of DataSketches; see `HyperLogLog`.

    >>> users = DataSketchesHyperLogLog(precision=12).update(["ana", "bo", "ana"])
    >>> read_datasketches(users.to_datasketches()) == users
    True
    """

    name = "datasketches-hyperloglog"

    def __init__(self, *, precision: int) -> None:
        super().__init__(precision=precision)

    def parameters(self) -> dict[str, Any]:
        """All that decides about the state, as plain values."""
        return self._sizes()

    def _hashes(self, values: Any) -> Digests:
        # A coupon: the low 26 bits choose the register, and the zeros that the second word begins
        # with are counted up to 62. An empty text has the coupon 0, which says nothing.
        found = hashes_of(values, SEED)
        zeros = np.minimum(63 - _top_bits(found[:, 1]), 62)
        coupons = (found[:, 0] & np.uint64(2**26 - 1)) | ((zeros + 1).astype(np.uint64) << 26)
        return np.where(_filled(values), coupons, np.uint64(0))

    def _absorb(self, found: Digests) -> None:
        places = (found & np.uint64(self.registers - 1)).astype(np.int64)
        np.maximum.at(self._state["registers"], places, (found >> np.uint64(26)).astype(np.uint8))

    def _sound(self) -> bool:
        return int(self._state["registers"].max()) <= 63

    def to_datasketches(self) -> bytes:
        """As HLL_8, in the form of a sketch that was merged: its estimate is that of a union."""
        registers = self._state["registers"]
        if not registers.any():
            return struct.pack("<8B", 2, 1, HLL, self.precision, 3, 0b1100, 0, 0b1000)
        small = registers < 32  # both sums are exact in 64-bit floating point then
        powers = np.exp2(-registers.astype(np.float64))
        head = struct.pack("<8B", 10, 1, HLL, self.precision, 0, 0b11000, 0, 0b1010)
        sums = (0.0, float(powers[small].sum()), float(powers[~small].sum()))
        empty = int(np.count_nonzero(registers == 0))
        return head + struct.pack("<3d2i", *sums, empty, 0) + registers.tobytes()

    @classmethod
    def from_datasketches(cls, data: bytes) -> Self:
        """See `read_datasketches`."""
        size, version, family, precision, _, _, low, mode = data[:8]
        _check(version == 1 and family == HLL and mode & 3 < 3 and mode >> 2 & 3 < 3)
        if not 4 <= precision <= 18:
            raise InputError("CEL-K010.precision")
        made = cls(precision=precision)
        if mode & 3 < 2:
            _check(size == 2 + (mode & 3))
            count, body = (low, data[8:]) if size == 2 else (int(_number(data, 8)), data[12:])
            _check(len(body) % 4 == 0)
            coupons = np.frombuffer(body, dtype="<u4").astype(np.uint64)
            coupons = coupons[coupons != 0]
            _check(coupons.size == count)
            made._absorb(coupons)
            return made
        _check(size == 10)
        made._state["registers"][:] = _registers(data, made.registers, mode >> 2 & 3, low)
        _check(made._sound())
        return made


def _top_bits(words: Digests) -> NDArray[np.int64]:
    """The place of the highest bit that is set, from 0; -1 where there is none."""
    high, low = words >> np.uint64(32), words & np.uint64(2**32 - 1)
    # Floating point is exact for 32 bits, and tells the place as its exponent.
    upper = np.frexp(high.astype(np.float64))[1].astype(np.int64) - 1
    lower = np.frexp(low.astype(np.float64))[1].astype(np.int64) - 1
    return np.where(high > 0, upper + 32, lower)


def _number(data: bytes, at: int) -> int:
    return int(struct.unpack_from("<I", data, at)[0])


def _registers(data: bytes, count: int, kind: int, low: int) -> NDArray[np.uint8]:
    """The registers of a full sketch: four bits above the lowest one, six bits, or a byte each."""
    body = np.frombuffer(data, dtype=np.uint8, offset=40)
    if kind == 2:
        _check(body.size == count)
        return body
    if kind == 1:
        _check(body.size == count * 3 // 4 + 1)
        bits = np.unpackbits(body, bitorder="little")[: 6 * count].reshape(count, 6)
        six: NDArray[np.uint8] = (bits << np.arange(6)).sum(axis=1).astype(np.uint8)
        return six
    pairs = body[: count // 2]
    _check(pairs.size == count // 2)
    found = np.stack([pairs & 15, pairs >> 4], axis=1).reshape(-1)
    _check(low < 48)
    registers = found + np.uint8(low)
    _check((body.size - count // 2) % 4 == 0)
    rest = np.frombuffer(body[count // 2 :].tobytes(), dtype="<u4")
    coupons = rest[rest != 0]  # registers that four bits do not hold
    _check(coupons.size == _number(data, 36) == np.count_nonzero(found == 15))
    places = coupons & np.uint32(count - 1)
    _check(bool(np.all(found[places] == 15)) and np.unique(places).size == places.size)
    registers[places] = (coupons >> np.uint32(26)).astype(np.uint8)
    return registers


class DataSketchesTheta(ThetaSketch):
    """A Theta sketch with the hashes of DataSketches; see `ThetaSketch`.

    >>> monday = DataSketchesTheta(most=4096).update(["ana", "bo"])
    >>> tuesday = read_datasketches(DataSketchesTheta(most=4096).update(["bo"]).to_datasketches())
    >>> (monday & tuesday).estimate()
    1.0
    """

    name = "datasketches-theta"

    def __init__(self, *, most: int, seed: int = SEED) -> None:
        super().__init__(most=most)
        self.seed = _check_seed(seed)

    def parameters(self) -> dict[str, Any]:
        """All that decides about the state, as plain values."""
        return {**self._sizes(), "seed": self.seed}

    def _hashes(self, values: Any) -> Digests:
        found = hashes_of(values, self.seed)[:, 0] >> np.uint64(1)
        return np.where(_filled(values), found, np.uint64(0))  # 0 stands for no hash

    def _absorb(self, found: Digests) -> None:
        small = found[(found > 0) & (found < np.uint64(self._limit))]
        self._keep(np.union1d(self._state["hashes"], small), self._limit)

    def to_datasketches(self) -> bytes:
        """As a compact sketch in order, of version 3."""
        flags = 0b11010 | (0b100 if not self.kept and self._limit == WHOLE else 0)
        exact = self._limit == WHOLE
        longs = 3 if not exact else 1 if self.kept < 2 else 2
        head = struct.pack("<6BH", longs, 3, THETA, 0, 0, flags, _seed_mark(self.seed))
        if longs > 1:
            head += struct.pack("<If", self.kept, 0.0)
        if longs > 2:
            head += struct.pack("<Q", self._limit)
        return head + self._state["hashes"].astype("<u8").tobytes()

    @classmethod
    def from_datasketches(cls, data: bytes, *, seed: int = SEED, most: int | None = None) -> Self:
        """See `read_datasketches`."""
        longs, version, family, bits, count_bytes, flags, mark = struct.unpack_from("<6BH", data)
        _check(family == THETA and not flags & 1 and bool(flags & 0b1000))
        if version not in (3, 4):
            raise InputError("CEL-K010.version")
        limit, hashes = WHOLE - 1, np.empty(0, dtype=np.uint64)
        if not flags & 0b100:
            _check_mark(mark, seed)
            if version == 3:
                limit, hashes = _plain_entries(data, longs)
            else:
                limit, hashes = _packed_entries(data, longs, bits, count_bytes)
        made = cls(most=most or max(4096, 1 << max(0, hashes.size - 1).bit_length()), seed=seed)
        hashes = np.sort(hashes)
        edges = np.concatenate([[np.uint64(0)], hashes, [np.uint64(limit)]])
        _check(bool((edges[1:] > edges[:-1]).all()) and limit < WHOLE)
        made._keep(hashes, WHOLE if limit == WHOLE - 1 else limit)
        return made


def _plain_entries(data: bytes, longs: int) -> tuple[int, Digests]:
    """Theta and the hashes of version 3."""
    _check(1 <= longs <= 3)
    limit = struct.unpack_from("<Q", data, 16)[0] if longs == 3 else WHOLE - 1
    count = 1 if longs == 1 else _number(data, 8)
    hashes = np.frombuffer(data, dtype="<u8", offset=8 * longs).astype(np.uint64)
    _check(hashes.size == count)
    return limit, hashes


def _packed_entries(data: bytes, longs: int, bits: int, count_bytes: int) -> tuple[int, Digests]:
    """Theta and the hashes of version 4: steps from one to the next, in as few bits as hold all."""
    _check(longs in (1, 2) and 1 <= bits <= 63 and 1 <= count_bytes <= 4)
    limit = struct.unpack_from("<Q", data, 8)[0] if longs == 2 else WHOLE - 1
    at = 8 * longs + count_bytes
    count = int.from_bytes(data[8 * longs : at], "little")
    body = np.frombuffer(data, dtype=np.uint8, offset=at)
    _check(body.size == -(-count * bits // 8))
    packed = np.unpackbits(body)[: count * bits].reshape(count, bits).astype(np.uint64)
    places = np.arange(bits - 1, -1, -1, dtype=np.uint64)
    return limit, np.cumsum((packed << places).sum(axis=1, dtype=np.uint64), dtype=np.uint64)


class DataSketchesCountMin(CountMin):
    """A Count-Min with the rows of DataSketches for C++ and Python on Linux; see `CountMin`.

    >>> counts = DataSketchesCountMin(width=272, depth=5).update(["smile", "cry", "smile"])
    >>> read_datasketches(counts.to_datasketches()).estimate(["smile", "laugh"]).tolist()
    [2, 0]
    """

    name = "datasketches-count-min"
    least_width = 3

    def __init__(self, *, width: int, depth: int, seed: int = SEED) -> None:
        super().__init__(width=width, depth=depth)
        if self.depth > 255:
            raise InputError("CEL-K010.depth")
        self.seed = _check_seed(seed)

    def parameters(self) -> dict[str, Any]:
        """All that decides about the state, as plain values."""
        return {**self._sizes(), "seed": self.seed}

    def update(self, values: Any, counts: Any = None) -> Self:
        """Count values; see `CountMin.update`. Empty texts are left out."""
        filled = _filled(values)
        columns = self._columns(values)[:, filled]
        often = None if counts is None else np.asarray(counts)
        if often is not None and often.shape == filled.shape:
            often = often[filled]
        added = self._weighed(often, columns.shape[1])
        for row, places in enumerate(columns):
            np.add.at(self._state["cells"][row], places, added if added.size else 1)
        return self

    def estimate(self, values: Any, *, method: str = "min") -> NDArray[Any]:
        """How often each value was seen; see `CountMin.estimate`."""
        found = super().estimate(values, method=method)
        return np.where(_filled(values), found, 0)

    def _columns(self, values: Any) -> NDArray[np.int64]:
        data, ends = _encoded(values)
        width = np.uint64(self.width)
        rows = [murmur(data, ends, np.uint64(each))[:, 0] % width for each in self._row_seeds]
        return np.stack(rows).astype(np.int64)

    @cached_property
    def _row_seeds(self) -> list[int]:
        """One seed for each row, as the GNU library draws them from the seed of the sketch."""
        engine = _MinimalStandard(self.seed)
        return [(engine.below_or_equal(2**64 - 1) + self.seed) % 2**64 for _ in range(self.depth)]

    def to_datasketches(self) -> bytes:
        """With weights of 64 bits in floating point."""
        cells, moved = self._state["cells"], int(self._state["sums"][1])
        if moved > _EXACT:
            raise InputError("CEL-K010.too_large")
        empty = not moved
        head = struct.pack("<4BI", 2, 1, COUNT_MIN, empty, 0)
        head += struct.pack("<IBHB", self.width, self.depth, _seed_mark(self.seed), 0)
        if empty:
            return head
        return head + struct.pack("<d", moved) + cells.astype("<f8").tobytes()

    @classmethod
    def from_datasketches(cls, data: bytes, *, seed: int = SEED) -> Self:
        """See `read_datasketches`."""
        longs, version, family, flags, _ = struct.unpack_from("<4BI", data)
        _check((longs, version, family) == (2, 1, COUNT_MIN))
        width, depth, mark, _ = struct.unpack_from("<IBHB", data, 8)
        _check_mark(mark, seed)
        _check(width >= cls.least_width and depth >= 1)
        _check(len(data) == 16 + (0 if flags & 1 else 8 + 8 * width * depth))
        made = cls(width=width, depth=depth, seed=seed)
        if flags & 1:
            return made
        weights = np.frombuffer(data, dtype="<f8", offset=16)
        if not np.all(np.isfinite(weights)) or np.any(weights != np.rint(weights)):
            raise InputError("CEL-K010.weights")
        _check(bool(np.all(np.abs(weights) <= min(_EXACT, FULL))))
        cells = weights[1:].astype(np.int64).reshape(depth, width)
        made._state["cells"][:] = cells
        made._state["sums"][:] = (int(cells[0].sum()), int(weights[0]))
        _check(made._sound())
        return made


class _MinimalStandard:
    """The default generator of the GNU C++ library, x <- 16807 x mod 2^31 - 1, and its uniform law.

    A copy of its arithmetic is what makes the rows agree; it is not used for anything else.
    """

    _PRIME, _SPAN = 2**31 - 1, 2**31 - 3

    def __init__(self, seed: int) -> None:
        self._state = seed % self._PRIME or 1

    def _next(self) -> int:
        """From 0 to `_SPAN`."""
        self._state = self._state * 16807 % self._PRIME
        return self._state - 1

    def below_or_equal(self, largest: int) -> int:
        """A number from 0 to `largest`, which is far from `_SPAN`."""
        if largest < self._SPAN:
            scale = self._SPAN // (largest + 1)
            while (found := self._next()) >= scale * (largest + 1):
                pass
            return found // scale
        span = self._SPAN + 1
        while True:
            high = span * self.below_or_equal(largest // span) % 2**64
            found = (high + self._next()) % 2**64
            if high <= found <= largest:
                return found
