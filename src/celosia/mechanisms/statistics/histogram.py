"""How many rows fall into each of the declared bins."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import isfinite
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.accounting.losses import ComposedLoss, Loss
from celosia.accounting.noise_losses import LaplaceLoss
from celosia.core.errors import InputError
from celosia.core.numbers import real
from celosia.core.randomness import Source
from celosia.mechanisms.mechanism import Measurement
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.mechanisms.parameters import check_confidence
from celosia.mechanisms.statistics import columns
from celosia.mechanisms.statistics.statistic import Statistic, laplace_hiding
from celosia.mechanisms.values import from_zero

OTHER = "other"
"""The label of the bin for rows that belong to no other."""


@dataclass(frozen=True, kw_only=True)
class Histogram(Statistic[NDArray[np.int64]]):
    """The number of rows in each of some disjoint bins, in the order of `labels`.

    Bins are given by `edges`, each from one edge up to but not including the next (the last bin
    includes its upper edge), or by `categories`. Every bin gets noise, empty ones too. A row that
    belongs to no bin is never an error: it is not counted, or with `other=True` counted in a last
    bin of its own.

    Guarantee: epsilon-DP with delta 0. Adding or removing a row moves one bin by 1: the bins run in
    parallel, and all of them together cost what one costs. Changing a row moves two bins by 1
    each, for twice the noise. Edges and categories must not have been taken from the data.

    Reference: Dwork and Roth 2014, section 3.3; McSherry 2009, Thm 4 (parallel composition).

    >>> Histogram(epsilon=1, edges=[0, 18, 65, 120]).labels
    ('[0, 18)', '[18, 65)', '[65, 120]')
    >>> Histogram(epsilon=1, categories=["a", "b"], other=True).labels
    ('a', 'b', 'other')
    """

    method_name: ClassVar[str] = "histogram"

    edges: Sequence[float] | None = None
    categories: Sequence[columns.Key] | None = None
    other: bool = False

    def check(self) -> None:
        """Refuse bins that are none, or that are given twice."""
        if (self.edges is None) == (self.categories is None):
            raise InputError("CEL-M086.edges_or_categories")
        # Kept as tuples, so that nobody can change the bins of a histogram that was checked.
        if self.edges is not None:
            object.__setattr__(self, "edges", _checked_edges(self.edges))
        if self.categories is not None:
            object.__setattr__(self, "categories", _checked_categories(self.categories, self.other))

    @cached_property
    def labels(self) -> tuple[columns.Key, ...]:
        """What the counts are of, in their order."""
        labels: list[columns.Key] = list(self.categories or ())
        if self.edges is not None:
            labels = [f"[{low:g}, {high:g})" for low, high in pairwise(self.edges)]
            labels[-1] = f"{str(labels[-1])[:-1]}]"
        return (*labels, OTHER) if self.other else tuple(labels)

    @property
    def moved(self) -> int:
        """How many bins one neighbour step moves by 1."""
        return min(len(self.labels), 2) if self.counts_are_public else 1

    @property
    def sensitivity(self) -> float:
        """The most by which all bins together move."""
        return float(self.moved)

    @cached_property
    def noises(self) -> tuple[DiscreteLaplace]:
        """The law of the noise of each bin."""
        return (laplace_hiding(self.moved, self.price),)

    def privacy_loss(self) -> Loss:
        """Epsilon: of the one bin that moves, or in halves of the two that do."""
        part = LaplaceLoss(self.noise.scale, 1)
        return part if self.moved == 1 else ComposedLoss((part, part))

    def measure(self, x: columns.Rows, *, rng: Source) -> Measurement[NDArray[np.int64]]:
        """The counts with noise.

        Raises:
            InputError: CEL-M080 not one column; CEL-M081 rows that are not finite numbers;
                CEL-M082 no rows; CEL-M083 rows without a key, or keys of another kind than the
                categories.
        """
        counts = self.counts(x)
        # Draws are below 2**62 (a thousand times the largest scale), and so are counts.
        return Measurement(counts + self.noise.draw(counts.size, rng))

    def counts(self, rows: columns.Rows) -> NDArray[np.int64]:
        """The exact counts, which are private."""
        if self.edges is not None:
            return self._by_edges(columns.numbers(rows), np.array(self.edges))
        found, kind = columns.key_counts(rows)
        size = sum(found.values())
        self.check_filled(size)
        categories = tuple(self.categories or ())
        expected = columns.kind_of(categories[0])
        if kind is not None and expected is not None and kind is not expected:
            raise InputError(
                "CEL-M083.other_categories", rows=kind.named, categories=expected.named
            )
        counts = [found.get(category, 0) for category in categories]
        return np.array([*counts, size - sum(counts)][: len(self.labels)], dtype=np.int64)

    def _by_edges(
        self, values: NDArray[np.float64], edges: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        self.check_filled(values.size)
        bins = np.searchsorted(edges, values, side="right") - 1
        last = edges.size - 1  # also the place of what lies beyond the edges
        bins[values == edges[-1]] = last - 1
        bins[bins < 0] = last
        counts = np.bincount(bins, minlength=edges.size).astype(np.int64)
        return counts[: len(self.labels)]

    def accuracy(self, confidence: float = 0.95, *, size: int = 1) -> float:
        """An error that no bin exceeds with this confidence; all bins are meant, not `size`."""
        return float(self.noise.bound(check_confidence(confidence), size=len(self.labels)))

    def interval(
        self, measurement: Measurement[NDArray[np.int64]], confidence: float = 0.95
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        error = self.noise.bound(check_confidence(confidence), size=len(self.labels))
        value = measurement.value
        return from_zero(value - error, value, value + error)


def _checked_edges(edges: object) -> tuple[float, ...]:
    found = [real(edge) for edge in _listed(edges)]
    values = [edge for edge in found if edge is not None and isfinite(edge)]
    rising = all(low < high for low, high in pairwise(values))
    if len(values) < 2 or len(values) < len(found) or not rising:
        raise InputError("CEL-M086.edges")
    return tuple(values)


def _checked_categories(categories: object, other: bool) -> tuple[columns.Key, ...]:
    listed = _listed(categories)
    kinds = {columns.kind_of(category) for category in listed}
    if len(kinds) != 1 or None in kinds:
        raise InputError("CEL-M086.categories")
    values = tuple(columns.plain_key(category) for category in listed)
    if len(set(values)) < len(values):
        raise InputError("CEL-M086.repeated")
    if other and kinds == {columns.KeyKind.TEXT} and OTHER in values:
        raise InputError("CEL-M086.other", other=OTHER)
    return values


def _listed(bins: object) -> list[object]:
    if isinstance(bins, str) or not isinstance(bins, Iterable):
        raise InputError("CEL-M086.not_a_list")
    return list(bins)
