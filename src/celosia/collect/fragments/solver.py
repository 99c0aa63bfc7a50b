"""Texts from their pieces: how pieces become numbers, and how common ones become common texts.

A text is cut to its length, or padded with the last character of the alphabet. The number of a
piece has the places of its characters in the alphabet as digits, the first character the highest.
The digest of a text mixes its pieces in order, as many at a time as fit into 63 bits: the digest of
the first number (see `celosia.sketches.hashing`), then that of digest XOR the next number.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.collect.estimates import Estimates
from celosia.core.errors import InputError
from celosia.core.methods import Method, parameter
from celosia.core.progress import Progress, Step
from celosia.sketches.hashing import Digests, HashFamily, digests

if TYPE_CHECKING:
    from celosia.collect.fragments.fragment_puzzle import FragmentPuzzleServer

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
        """The pieces of texts, one row for each text."""
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


CONTROLS = ("bonferroni", "fdr")
MOST_TEXTS = 2**22
"""Texts that are put together at most, before any of them is dropped."""
_STAGE = "dictionary"


@dataclass(frozen=True, slots=True)
class SolverOptions(Method):
    """How a dictionary is searched for; see `FragmentPuzzleServer.dictionary`."""

    method_name: ClassVar[str] = "dictionary"

    top: int | None = parameter(None, least=1)
    significance: float | None = parameter(0.05, above=0, below=1)
    control: str = parameter("bonferroni", kind="choice", choices=CONTROLS)
    check_tags: bool = True


def solve(server: FragmentPuzzleServer, search: SolverOptions, progress: Progress) -> Estimates:
    """The dictionary of a server."""
    protocol, spelling = server.protocol, server.protocol.spelling
    progress(Step(_STAGE, 0, 3))
    kept = common_pieces(server, top=search.top)
    progress(Step(_STAGE, 1, 3))
    pieces, tags = combine_pieces(kept, spelling.base)
    texts = spelling.digests(pieces)
    if search.check_tags:
        fitting = spelling.tags(texts) == tags
        pieces, texts = pieces[fitting], texts[fitting]
    else:  # a text may then be put together under several tags
        texts, first = np.unique(texts, return_index=True)
        pieces = pieces[first]
    progress(Step(_STAGE, 2, 3))
    words, _ = server.sketches()
    counts, errors = words.estimated_digests(texts)
    if search.significance is not None and counts.size:
        scores = counts / max(words.error_of_none(), np.finfo(np.float64).tiny)
        stays = select_significant(scores, search.significance, control=search.control)
        pieces, counts, errors = pieces[stays], counts[stays], errors[stays]
    order = np.argsort(-counts, kind="stable")
    found = tuple(spelling.texts(pieces[order]))
    progress(Step(_STAGE, 3, 3))
    counts, errors = counts[order], errors[order]
    return Estimates(protocol.method_name, found, counts, errors, server.users, "raw", counts)


def common_pieces(server: FragmentPuzzleServer, *, top: int | None) -> list[Numbers]:
    """The tagged pieces to keep at each position: the `top` most common, or those that stand out.

    All sketches of pieces share their hash functions, so each piece is hashed once for all
    positions; each is freed of bias with the number of reports of its own position.
    """
    from scipy.stats import norm

    from celosia.collect.count_mean import _kernels

    protocol, spelling = server.protocol, server.protocol.spelling
    _, sketches = server.sketches()
    family = protocol.fragments.family
    tables = np.ascontiguousarray(np.stack([each.ones for each in sketches], axis=-1))
    keys = protocol.tags * spelling.base
    sums = _kernels.gathered_together(
        tables, digests(np.arange(keys)), family.coefficients, np.int64(family.width)
    )
    kept = []
    for place, each in enumerate(sketches):
        counts = each.counts_from(sums[:, place])
        if top is None:
            # Chance lets one key in 4 * base through: one false piece for every four tags.
            reach = norm.isf(1 / (4 * spelling.base)) * each.error_of_none()
            kept.append(np.flatnonzero(counts > reach))
        else:
            kept.append(np.argpartition(-counts, min(top, keys) - 1)[:top])
    return kept


def combine_pieces(kept: list[Numbers], base: int) -> tuple[Numbers, Numbers]:
    """All texts whose pieces are kept under one tag at every position, and these tags.

    The Cartesian product, tag by tag: with T pieces kept at each of p positions and g tags, chance
    alone makes about g (T / g)^p texts.
    """
    by_tag = []
    for keys in kept:
        lists: dict[int, list[int]] = {}
        for key in np.sort(keys).tolist():
            lists.setdefault(key // base, []).append(key % base)
        by_tag.append(lists)
    shared = sorted(set(by_tag[0]).intersection(*by_tag[1:]))
    sizes = [prod(len(lists[tag]) for lists in by_tag) for tag in shared]
    if sum(sizes) > MOST_TEXTS:
        raise InputError("CEL-R014", most_texts=MOST_TEXTS)
    rows = [
        np.stack(np.meshgrid(*(lists[tag] for lists in by_tag), indexing="ij"), axis=-1)
        for tag in shared
    ]
    empty = np.empty((0, len(kept)), dtype=np.int64)
    made = np.concatenate([empty, *(each.reshape(-1, len(kept)) for each in rows)])
    return made, np.repeat(np.array(shared, dtype=np.int64), sizes)


def select_significant(
    scores: NDArray[np.float64], significance: float, *, control: str
) -> NDArray[np.bool_]:
    """Which scores (estimates in standard errors of an absent text) are beyond chance.

    Reference: Benjamini & Hochberg 1995, "Controlling the False Discovery Rate", for `fdr`.
    """
    from scipy.stats import norm

    chances = norm.sf(scores)
    if control == "bonferroni":
        found: NDArray[np.bool_] = chances <= significance / scores.size
        return found
    rising = np.sort(chances)
    under = rising <= significance * np.arange(1, scores.size + 1) / scores.size
    last = rising[np.flatnonzero(under)[-1]] if under.any() else -1.0
    return np.asarray(chances <= last)
