"""Resampling: each value becomes the average, over bootstrap samples, of the value at its rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.progress import Step
from celosia.core.randomness import Source
from celosia.tables.masking.method import (
    WHOLE,
    MaskingMethod,
    MethodResult,
    Work,
    numbers,
    with_numbers,
)
from celosia.tables.masking.perturbation.moments import check_varied, filled_cells, too_large

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resampling(MaskingMethod):
    """Samples with replacement, each sorted; their averages by rank, at the ranks of the original.

    Ranks are kept (equal values may become different ones), means and quantiles nearly. Columns are
    resampled independently of each other. Empty cells stay empty.

    Args:
        samples: how many samples are averaged: more of them bring the masked values nearer to the
            original ones in the middle of the column.
        integer: round to whole numbers.

    Guarantee: none. Few samples release original values as they are: with one sample every
    released value is the value of some record.

    Reference: Heer 1993; Domingo-Ferrer & Mateo-Sanz 1999.

    >>> from celosia.core.randomness import Seeded
    >>> frame = pl.DataFrame({"age": [29, 48, None, 21]})
    >>> masked = Resampling(samples=4).apply(frame, ["age"], rng=Seeded(7))
    >>> masked.frame["age"].rank().to_list()
    [2.0, 3.0, None, 1.0]
    """

    method_name: ClassVar[str] = "resampling"
    randomised: ClassVar[bool] = True
    truthful: ClassVar[bool] = False

    samples: int = parameter(10, like=WHOLE, least=1)
    integer: bool = parameter(False, is_main=True)

    def _apply(self, frame: pl.DataFrame, columns: Sequence[str], work: Work) -> MethodResult:
        matrix = numbers(frame, columns, self.method_name)
        for place, name in enumerate(columns):
            values = matrix[filled_cells(matrix, place), place]
            check_varied(values, name, self.method_name)
            if np.abs(values).max() >= (2.0**53 if self.integer else np.finfo(float).max / 2**40):
                raise too_large(name, self.method_name)
        masked = matrix.copy()
        for place in range(len(columns)):
            work.progress(Step(Message("masking.stage.resampling"), place, len(columns)))
            rows = filled_cells(matrix, place)
            by_rank = np.argsort(matrix[rows, place], kind="stable")
            averages = rank_averages(matrix[rows[by_rank], place], self.samples, work.rng)
            masked[rows[by_rank], place] = averages
        return MethodResult(
            frame=with_numbers(frame, columns, masked, integer=self.integer),
            facts={"samples": self.samples},
        )

    def leaves_open(self, columns: Sequence[str]) -> tuple[str, ...]:
        return (Message("masking.gap.ranks_kept"),)


def rank_averages(placed: Matrix, samples: int, rng: Source) -> Matrix:
    """The averages by rank of sorted samples with replacement from values in rising order.

    A sorted sample needs no sorting: it is how often each value was drawn.

    >>> from celosia.core.randomness import Seeded
    >>> rank_averages(np.array([1.0, 2.0, 6.0]), 2, Seeded(7)).tolist()
    [1.0, 3.5, 4.0]
    """
    total = np.zeros(placed.size)
    for _ in range(samples):
        drawn = np.bincount(rng.integers(placed.size, placed.size), minlength=placed.size)
        total += np.repeat(placed, drawn)
    return total / samples
