"""Probabilistic k-anonymity: values change places at random within groups of at least k."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.progress import Step
from celosia.core.randomness import Source
from celosia.tables.masking.method import (
    MaskingMethod,
    MethodResult,
    Work,
    categories,
    cells,
    check_columns,
    numbers,
)
from celosia.tables.masking.microaggregation.scale import SMALLEST, check_records
from celosia.tables.masking.perturbation.moments import check_varied

Labels = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbabilisticK(MaskingMethod):
    """Groups of at least k alike records; in each, every column is permuted uniformly on its own.

    Values stay true as a whole, and near to where they were. Records that lack different cells are
    never in one group, so empty cells stay empty and the promise holds for what is filled.

    Args:
        k: the least size of a group.
        grouping: 'mdav' makes groups of near records, of numbers only; 'sort' cuts the records,
            sorted by the columns in the order given, every k records.

    Guarantee: an attacker who knows all values of the columns and the groups links a record to its
    released row with a chance of at most 1/k: within a group all rows are equally likely. It is no
    k-anonymity, and says nothing of columns outside the step.

    Reference: Soria-Comas & Domingo-Ferrer 2012.

    >>> from celosia.core.randomness import Seeded
    >>> frame = pl.DataFrame({"age": [21, 22, 25, 72, 58, 48]})
    >>> swapped = ProbabilisticK(k=3).apply(frame, ["age"], rng=Seeded(7)).frame["age"].to_list()
    >>> sorted(swapped[:3]), sorted(swapped[3:])
    ([21, 22, 25], [48, 58, 72])
    """

    method_name: ClassVar[str] = "probabilistic-k"
    randomised: ClassVar[bool] = True
    truthful: ClassVar[bool] = False

    k: int = parameter(least=SMALLEST, start=5)
    grouping: Literal["mdav", "sort"] = "mdav"

    def _apply(self, frame: pl.DataFrame, columns: Sequence[str], work: Work) -> MethodResult:
        check_columns(frame, columns, self.method_name)
        check_records(frame.height, self.k)
        matrix = self._matrix(frame, columns)
        for place, name in enumerate(columns):
            values = matrix[:, place]
            check_varied(values[~np.isnan(values)], name, self.method_name)
        work.progress(Step(Message("masking.stage.grouping"), 0, 1))
        labels = self._groups(matrix, columns)
        swapped = [
            cells(frame, name).gather(permute_within(labels, work.rng)).alias(name)
            for name in columns
        ]
        sizes = np.bincount(labels)
        facts = {
            "groups": int(sizes.size),
            "smallest_group": int(sizes.min()),
            "largest_group": int(sizes.max()),
        }
        return MethodResult(frame=frame.with_columns(swapped), facts=facts)

    def promise(self, columns: Sequence[str]) -> str:
        return Message("masking.promise.linked", columns=list(columns), k=self.k)

    def leaves_open(self, columns: Sequence[str]) -> tuple[str, ...]:
        return (Message("masking.gap.permuted_values"),)

    def _matrix(self, frame: pl.DataFrame, columns: Sequence[str]) -> NDArray[np.float64]:
        """The columns as numbers; to sort, the places of their values are enough."""
        if self.grouping == "mdav":
            return numbers(frame, columns, self.method_name)
        coded = np.stack([categories(frame, name)[0] for name in columns], axis=1)
        return np.where(coded < 0, np.nan, coded.astype(np.float64))

    def _groups(self, matrix: NDArray[np.float64], columns: Sequence[str]) -> Labels:
        """Groups of records that have the same cells filled."""
        patterns = _patterns(np.isnan(matrix))
        sizes = np.bincount(patterns)
        if sizes.min() < self.k:
            raise InputError(
                "CEL-V240",
                patterns=int((sizes < self.k).sum()),
                columns=", ".join(columns),
                k=self.k,
            )
        labels = np.empty(len(matrix), dtype=np.int64)
        made = 0
        for pattern in range(sizes.size):
            rows = np.flatnonzero(patterns == pattern)
            part = matrix[rows]
            groups = self._group_records(part[:, ~np.isnan(part[0])])
            labels[rows] = groups + made
            made += int(groups.max()) + 1
        return labels

    def _group_records(self, matrix: NDArray[np.float64]) -> Labels:
        if self.grouping == "mdav" and matrix.shape[1]:
            from celosia.tables.masking.microaggregation.multivariate import (
                mdav_groups,
            )

            return mdav_groups(matrix, self.k)
        if not matrix.shape[1]:  # nothing is filled: any group will do
            return np.zeros(len(matrix), dtype=np.int64)
        order = np.lexsort(matrix.T[::-1])
        labels = np.empty(len(matrix), dtype=np.int64)
        # The last group takes what is left, so that none has fewer than k.
        labels[order] = np.minimum(np.arange(len(matrix)) // self.k, len(matrix) // self.k - 1)
        return labels


def permute_within(labels: Labels, rng: Source) -> Labels:
    """For each row another of its group, each permutation of a group being equally likely.

    A uniform order of all rows, sorted stably by group, is a uniform order within each.

    >>> from celosia.core.randomness import Seeded
    >>> permute_within(np.array([0, 1, 0, 1, 1]), Seeded(7)).tolist()
    [0, 3, 2, 4, 1]
    """
    shuffled = rng.permutation(labels.size)
    found = np.empty(labels.size, dtype=np.int64)
    found[np.argsort(labels, kind="stable")] = shuffled[np.argsort(labels[shuffled], kind="stable")]
    return found


def _patterns(empty: NDArray[np.bool_]) -> Labels:
    """A number for each way of having empty cells."""
    if not empty.any():
        return np.zeros(len(empty), dtype=np.int64)
    _, found = np.unique(empty, axis=0, return_inverse=True)
    return found.reshape(-1).astype(np.int64)
