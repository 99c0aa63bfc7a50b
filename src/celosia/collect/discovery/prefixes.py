"""Prefixes of whole numbers and of texts: the levels of a tree that grows by steps."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError

MOST_BITS = 62
MOST_LETTERS = 256


@dataclass(frozen=True)
class PrefixLevels:
    """Prefixes of numbers of `bits` bits (from the highest on), or of texts over an `alphabet`.

    A text shorter than its level is its own prefix, and does not grow any more.

    >>> tree = PrefixLevels(8, 0, 4, 2, "", False)
    >>> tree.lengths, tree.cut(np.array([0b10110001]), 1).tolist(), tree.longer((0b1011,), 0)
    ((4, 6, 8), [44], (44, 45, 46, 47))
    """

    bits: int
    length: int
    first: int
    step: int
    alphabet: str
    slow: bool
    """Whether the tree grows by single bits or letters where no step is given."""

    def __post_init__(self) -> None:
        texts = isinstance(self.alphabet, str) and len(self.alphabet) > 1
        fits = (
            2 <= len(set(self.alphabet)) == len(self.alphabet)
            and 1 <= self.length <= MOST_LETTERS
            and not self.bits
            if texts
            else 1 <= self.bits <= MOST_BITS and not self.length and not self.alphabet
        )
        if not fits or self.first < 0 or self.step < 0:
            raise InputError(
                "CEL-R057.neither_bits_nor_letters", most_bits=MOST_BITS, most_letters=MOST_LETTERS
            )
        few = texts and len(self.alphabet) > 40  # then two letters at once are too many
        first, step = ((1 if few else 2), (1 if few else 2)) if texts else (12, 8)
        if self.slow:
            first, step = (1, 1) if texts else (4, 1)
        object.__setattr__(self, "first", min(self.first or first, self.whole))
        object.__setattr__(self, "step", self.step or step)

    @property
    def whole(self) -> int:
        """The bits or letters of whole values."""
        return self.bits or self.length

    @property
    def lengths(self) -> tuple[int, ...]:
        """The bits or letters of each level."""
        return (*range(self.first, self.whole, self.step), self.whole)

    @property
    def levels(self) -> int:
        """How many there are."""
        return len(self.lengths)

    @property
    def starts(self) -> int:
        """The prefixes of the first level."""
        return self._options(self.first)

    @property
    def branches(self) -> int:
        """What one prefix grows into."""
        return self._options(self.step)

    def _options(self, step: int) -> int:
        if self.bits:
            return int(2**step)
        return sum(len(self.alphabet) ** letters for letters in range(step + 1))

    def start(self) -> tuple[Hashable, ...]:
        """All prefixes of the first level."""
        return tuple(range(self.starts)) if self.bits else tuple(self._texts(self.first))

    def longer(self, prefixes: tuple[Any, ...], level: int) -> tuple[Hashable, ...]:
        """All that prefixes of a level can be in the next one."""
        here, there = self.lengths[level], self.lengths[level + 1]
        if self.bits:
            more = there - here
            return tuple((each << more) + low for each in prefixes for low in range(2**more))
        ends = self._texts(there - here)
        return tuple(
            each + end for each in prefixes for end in (ends if len(each) == here else [""])
        )

    def _texts(self, most: int) -> list[str]:
        return [
            "".join(letters)
            for size in range(most + 1)
            for letters in product(self.alphabet, repeat=size)
        ]

    def cut(self, values: NDArray[Any], level: int) -> NDArray[Any]:
        """The prefixes of values that belong to a level."""
        length = self.lengths[level]
        if self.bits:
            return values >> (self.bits - length)
        return np.array([each[:length] for each in values.tolist()], dtype=object)

    def check_values(self, values: Any) -> NDArray[Any]:
        """Values as an array, all of the kind that the tree is for.

        Raises:
            InputError: CEL-R058 a value is not; which one is not told.
        """
        listed = values.to_numpy() if hasattr(values, "to_numpy") else values
        if self.bits and isinstance(listed, np.ndarray) and listed.dtype.kind in "iu":
            fits = not listed.size or (int(listed.min()) >= 0 and int(listed.max()) < 2**self.bits)
            if fits:
                return listed.astype(np.int64)
            raise _foreign()
        listed = listed.tolist() if isinstance(listed, np.ndarray) else list(listed)
        if self.bits:
            if all(type(each) is int and 0 <= each < 2**self.bits for each in listed):
                return np.array(listed, dtype=np.int64)
            raise _foreign()
        letters = set(self.alphabet)
        if not all(
            isinstance(each, str) and len(each) <= self.length and letters.issuperset(each)
            for each in listed
        ):
            raise _foreign()
        made = np.empty(len(listed), dtype=object)
        made[:] = listed
        return made


def _foreign() -> InputError:
    return InputError("CEL-R058")
