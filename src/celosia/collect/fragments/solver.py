"""The solver of the fragment puzzle: from common pieces to common texts."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.collect.estimates import Estimates
from celosia.core.errors import InputError
from celosia.core.methods import Method, parameter
from celosia.core.progress import Progress, Step
from celosia.sketches.hashing import digests

if TYPE_CHECKING:
    from celosia.collect.fragments.fragment_puzzle import FragmentPuzzleServer

CONTROLS = ("bonferroni", "fdr")
MOST_TEXTS = 2**22
"""Texts that are put together at most, before any of them is dropped."""
_STAGE = "dictionary"

Numbers = NDArray[np.int64]


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

    Raises:
        InputError: CEL-R014 there are too many of them.
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
