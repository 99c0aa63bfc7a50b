"""Texts as numbers: their pieces, digests and tags, the same on every device.

A text is cut to its length, or padded with the last character of the alphabet. The number of a
piece has the places of its characters in the alphabet as digits, the first character the highest.
The digest of a text mixes its pieces in order, as many at a time as fit into 63 bits: the digest of
the first number (see `celosia.sketches.hashing`), then that of digest XOR the next number.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.sketches.hashing import Digests, HashFamily, digests

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class TextEncoding:
    """How texts are written as numbers.

    >>> spelling = TextEncoding("abc ", 4, 2, HashFamily(key=b"tags", rows=1, width=16))
    >>> spelling.pieces(["cab", "a"]).tolist(), spelling.texts(np.array([[8, 7]]))
    ([[8, 7], [3, 15]], ['cab'])
    """

    alphabet: str
    length: int
    piece: int
    tagging: HashFamily

    @property
    def base(self) -> int:
        """How many pieces there are."""
        return int(len(self.alphabet) ** self.piece)

    @cached_property
    def _points(self) -> tuple[NDArray[np.uint32], Numbers]:
        """The code points of the alphabet in order, and the places of their characters."""
        points = np.array([ord(each) for each in self.alphabet], dtype=np.uint32)
        order = np.argsort(points)
        return points[order], order

    def pieces(self, values: Any) -> Numbers:
        """The pieces of texts, one row for each text.

        Raises:
            InputError: CEL-R013 a value is no text, or has characters beyond the alphabet.
        """
        points = _points_of(values, self.length)
        points[points == 0] = ord(self.alphabet[-1])  # NumPy ends short texts with zeros
        known, places = self._points
        at = np.minimum(np.searchsorted(known, points), known.size - 1)
        if np.any(known[at] != points):
            raise InputError("CEL-R013.other_characters")
        letters = places[at].reshape(points.shape[0], self.length // self.piece, self.piece)
        return _number(letters, len(self.alphabet))

    def digests(self, pieces: Numbers) -> Digests:
        """The digests of texts, given as rows of pieces."""
        group = max(1, 63 // (self.base - 1).bit_length())
        found = np.zeros(pieces.shape[0], dtype=np.uint64)
        for start in range(0, pieces.shape[1], group):
            number = _number(pieces[:, start : start + group], self.base)
            found = digests(found ^ number.view(np.uint64))
        return found

    def tags(self, texts: Digests) -> Numbers:
        """The tags of texts, given as digests."""
        return self.tagging.columns(texts, 0)

    def tagged(self, texts: Digests, pieces: Numbers) -> Numbers:
        """The numbers of tagged pieces, for one piece of each text."""
        return self.tags(texts) * self.base + pieces

    def texts(self, pieces: Numbers) -> list[str]:
        """Rows of pieces as texts, without their padding."""
        letters = np.empty((*pieces.shape, self.piece), dtype=np.int64)
        rest = pieces.copy()
        for place in range(self.piece - 1, -1, -1):
            rest, letters[..., place] = np.divmod(rest, len(self.alphabet))
        rows = letters.reshape(pieces.shape[0], self.length).tolist()
        joined = ("".join(map(self.alphabet.__getitem__, row)) for row in rows)
        return [text.rstrip(self.alphabet[-1]) for text in joined]


def _number(digits: Numbers, base: int) -> Numbers:
    """Numbers from their digits along the last axis, the highest first; all are below 2^63."""
    found = np.zeros(digits.shape[:-1], dtype=np.int64)
    for place in range(digits.shape[-1]):
        found = found * base + digits[..., place]
    return found


def _points_of(values: Any, length: int) -> NDArray[np.uint32]:
    """The code points of texts, cut to a length and filled up with zeros."""
    array = values if isinstance(values, np.ndarray) else None
    if array is None or array.dtype.kind != "U":
        listed = values.to_list() if hasattr(values, "to_list") else list(values)
        if not all(isinstance(each, str) for each in listed):
            raise InputError("CEL-R013.not_text")
        array = np.array(listed, dtype=f"=U{length}")
    cut = np.ascontiguousarray(array.reshape(-1).astype(f"=U{length}"))
    return cut.view(np.uint32).reshape(cut.size, length).copy()
