"""Two sources of randomness with one interface: the operating system's entropy, and a seed.

Real releases draw from `System`. `Seeded` makes a run repeatable, and therefore a simulation:
a person who knows the seed can undo the randomness, so a release made with it must say so.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.numbers import whole


class Source(ABC):
    """Uniform random bytes, and what follows exactly from them."""

    simulation: ClassVar[bool]
    """True when the draws can be repeated by anyone who knows the seed."""

    seed: int | None = None

    @abstractmethod
    def raw(self, count: int) -> bytes:
        """`count` uniform random bytes."""

    def words(self, count: int) -> NDArray[np.uint64]:
        """`count` uniform 64-bit words."""
        return np.frombuffer(self.raw(8 * count), dtype=np.uint64)

    def integers(self, bound: int, size: int) -> NDArray[np.int64]:
        """`size` exactly uniform integers in [0, bound).

        Words beyond the largest multiple of `bound` are drawn again: a plain remainder would favour
        small numbers.

        >>> Seeded(7).integers(6, 5).tolist()
        [3, 5, 2, 0, 1]
        """
        if not 0 < bound <= 2**63:
            raise InputError("CEL-I001", bound=bound)
        if not bound & (bound - 1):  # a power of two: a mask is the remainder, no word is beyond
            return (self.words(size) & np.uint64(bound - 1)).view(np.int64)
        limit = np.uint64(2**64 - 1 - (2**64 % bound))
        found = np.empty(0, dtype=np.uint64)
        while found.size < size:
            words = self.words(size - found.size)
            found = np.concatenate([found, words[words <= limit]])
        return (found % np.uint64(bound)).astype(np.int64)

    def permutation(self, size: int) -> NDArray[np.int64]:
        """An exactly uniform order of `size` things: sorts random words, drawn again on a tie.

        >>> sorted(Seeded(7).permutation(4).tolist())
        [0, 1, 2, 3]
        """
        order = None
        while order is None:
            order = _order_of(self.words(size))
        return order


def _order_of(words: NDArray[np.uint64]) -> NDArray[np.int64] | None:
    """The order that sorts words; None if two are equal.

    Sorted are their upper bits with the place of each word in the lower ones, which is four times
    as fast as to sort places by words. The few words that share their upper bits are sorted again.
    """
    places = np.uint64((1 << words.size.bit_length()) - 1)
    mixed = (words & ~places) | np.arange(words.size, dtype=np.uint64)
    mixed.sort()
    alike = (mixed[1:] ^ mixed[:-1]) <= places
    order = (mixed & places).view(np.int64)
    unclear = np.flatnonzero(np.append(alike, False) | np.append(False, alike))
    again = order[unclear]
    keys = words[again]
    order[unclear] = again[np.argsort(keys)]
    keys.sort()
    return None if (keys[1:] == keys[:-1]).any() else order


BLOCK = 2**16
"""Bytes that one key is expanded to."""
_ZEROS = bytes(BLOCK)


class System(Source):
    """The operating system's entropy: the only source of a real release.

    Draws of 64 KiB and more are expanded by ChaCha20 from keys of 256 bits that the operating
    system gives, a new one for every 64 KiB, none of which is kept (decision 014). The operating
    system expands its own entropy in the same way, an eighth as fast.
    """

    simulation = False

    def raw(self, count: int) -> bytes:
        if count < BLOCK or (expand := _expansion()) is None:
            return os.urandom(count)
        sizes = [BLOCK] * (count // BLOCK) + ([count % BLOCK] if count % BLOCK else [])
        parts = [expand(os.urandom(32), size) for size in sizes]
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def __repr__(self) -> str:
        return "System()"


@cache
def _expansion() -> Callable[[bytes, int], bytes] | None:
    """The first bytes of the ChaCha20 stream of a key; None where there is no such library."""
    try:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
    except ImportError:
        return None

    def expand(key: bytes, size: int) -> bytes:
        # The nonce may be fixed because no key is used twice.
        stream = Cipher(algorithms.ChaCha20(key, bytes(16)), None).encryptor()
        return stream.update(_ZEROS[:size])

    try:
        expand(bytes(32), 1)
    except UnsupportedAlgorithm:  # such as a library that is cut down to approved ciphers
        return None
    return expand


class Seeded(Source):
    """A repeatable source for simulations, tests and the lab; never for a real release."""

    simulation = True

    def __init__(self, seed: int):
        number = whole(seed)
        if number is None or number < 0:
            raise InputError("CEL-I002", seed=seed)
        self.seed = number
        self._generator = np.random.Generator(np.random.PCG64(number))

    def raw(self, count: int) -> bytes:
        return self._generator.bytes(count)

    def __repr__(self) -> str:
        return f"Seeded({self.seed})"


def source(seed: int | None = None) -> Source:
    """`System()` without a seed, `Seeded(seed)` with one."""
    return System() if seed is None else Seeded(seed)
