"""Synthetic records that repeat a unique original record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from celosia.assess.alignment import align
from celosia.core.messages import say_of
from celosia.core.methods import PlainValues, derived
from celosia.frames import TableLike


@dataclass(frozen=True, slots=True)
class Replicas(PlainValues):
    """How many unique people a synthetic table shows as they are."""

    uniques: int
    """Real records that no other is equal to."""
    repeated: int
    """Those of them that a synthetic record is equal to."""
    synthetic_rows: int
    """Synthetic records that repeat one."""

    @property
    @derived
    def share(self) -> float:
        """The share of the unique records that are repeated."""
        return self.repeated / self.uniques if self.uniques else 0.0

    def __str__(self) -> str:
        return say_of("assess.line.replicas", self)


def replicated_uniques(
    original: TableLike, synthetic: TableLike, columns: Sequence[str] | None = None
) -> Replicas:
    """Count the unique real records that a synthetic table repeats in the given columns.

    Values are compared as they are, an empty cell being equal to an empty one. Where the columns
    have few values, repeats by chance are to be expected; compare with a holdout.

    Raises:
        InputError: those of `align`.

    >>> print(replicated_uniques({"age": [20, 20, 31]}, {"age": [31, 31, 20]}))
    1 of 1 unique records repeated, by 2 synthetic records

    Reference: Raab, Nowok & Dibben 2016 (synthpop).
    """
    tables = align(original, synthetic, columns, synthetic=True)
    both = np.concatenate([tables.before, tables.after])
    # NaN is not even equal to itself; no code and no amount is infinite.
    _, look = np.unique(np.where(np.isnan(both), np.inf, both), axis=0, return_inverse=True)
    look = look.reshape(-1)
    real, made = look[: len(tables.before)], look[len(tables.before) :]
    counts_real = np.bincount(real, minlength=int(look.max()) + 1)
    counts_made = np.bincount(made, minlength=counts_real.size)
    unique = counts_real == 1
    return Replicas(
        uniques=int(unique.sum()),
        repeated=int((unique & (counts_made > 0)).sum()),
        synthetic_rows=int(counts_made[unique].sum()),
    )
