"""Steps of a recipe that are ready for batches of rows, on this machine or on others."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from celosia.core.randomness import Seeded, Source, System
from celosia.frames import pick
from celosia.tables.masking.method import Cells
from celosia.tables.masking.steps import at_step
from celosia.tables.run import without_minus_zero


@dataclass(frozen=True, slots=True, eq=False)
class PreparedStep:
    """One step, made ready."""

    number: int
    """Its place in the recipe, from 1."""
    masks: Mapping[str, Cells] = field(repr=False)
    """What becomes of each column that it masks."""
    draws: bool


@dataclass(frozen=True, slots=True, eq=False)
class Masker:
    """All steps of a recipe, as a function of a batch; it is pickled for other machines.

    It has no source of randomness of its own. Where it is called each batch draws from the
    operating system there, so that no machine shares or is sent what another draws from.
    """

    names: tuple[str, ...]
    """The columns that are released, in order; others are left out."""
    steps: tuple[PreparedStep, ...]
    seed: int | None
    """Makes a simulation: each batch draws from this seed and its own rows."""

    def with_step(self, step: PreparedStep) -> Masker:
        """The same with one step more."""
        return replace(self, steps=(*self.steps, step))

    def for_columns(self, names: Sequence[str]) -> Masker:
        """What becomes of some columns: each is masked whatever the others are."""
        kept = [
            replace(step, masks={name: step.masks[name] for name in names if name in step.masks})
            for step in self.steps
        ]
        return Masker(tuple(names), tuple(kept), self.seed)

    def __call__(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows as they are released."""
        masked = without_minus_zero(pick(rows, self.names))
        rng = self._source(masked)
        for step in self.steps:
            with at_step(step.number):
                cells = [
                    mask(masked.get_column(name), rng).alias(name)
                    for name, mask in step.masks.items()
                ]
            masked = masked.with_columns(cells)
        named = (pl.Categorical, pl.Enum)
        texts = [each.cast(pl.String) for each in masked if isinstance(each.dtype, named)]
        return without_minus_zero(masked.with_columns(texts))

    def _source(self, rows: pl.DataFrame) -> Source:
        if self.seed is None:
            return System()
        # Not one stream for all batches, which would draw the same for the first row of each.
        mixed = int(np.bitwise_xor.reduce(rows.hash_rows().to_numpy())) if rows.height else 0
        text = f"{self.seed} {rows.height} {mixed}".encode()
        return Seeded(int.from_bytes(hashlib.sha256(text).digest()[:8], "big"))
