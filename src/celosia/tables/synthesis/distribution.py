"""Data distortion by probability distribution: draws of a fitted density in place of values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.progress import Step
from celosia.core.randomness import Source
from celosia.frames import pick
from celosia.tables.masking.columns import numbers, with_numbers
from celosia.tables.masking.draws import uniforms
from celosia.tables.masking.method import MaskingMethod, MethodResult, Work, check_texts
from celosia.tables.synthesis.checks import (
    NEW_ROWS,
    NO_PROMISE,
    check_filled,
    check_whole_table,
)
from celosia.tables.synthesis.families import (
    AIC,
    FAMILIES,
    FittedDistribution,
    best_family,
)


def _check_families(value: Any) -> tuple[str, ...]:
    families = check_texts(value)
    if not families or not set(families) <= set(FAMILIES):
        raise ValueError
    return families


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution(MaskingMethod):
    """Numbers replaced by draws from the parametric family that fits each column best.

    With `keep_ranks` the draws take the places of the values by rank (a greater value never gets a
    smaller draw; equal values get draws in random order), so the rows stay the same people and how
    columns go together is kept. Without, each column is drawn on its own and nothing of that is
    kept; where all columns are given the rows are then new, and `rows` may say how many.

    Missing cells stay missing where rows stay; in new rows each cell is empty with the share of
    empty cells of its column.

    Reference: Liew, Choi & Liew 1985, A data distortion by probability distribution, ACM TODS 10.

    >>> from celosia.core.randomness import Seeded
    >>> ages = pl.DataFrame({"age": [20, 31, 47, 52]})
    >>> Distribution().apply(ages, ["age"], rng=Seeded(7)).frame["age"].is_sorted()
    True
    """

    method_name: ClassVar[str] = "distribution"
    randomised: ClassVar[bool] = True
    truthful: ClassVar[bool] = False
    confidential: ClassVar[tuple[str, ...]] = ("aic",)  # it tells the parameters, one for one

    keep_ranks: bool = parameter(True, is_main=True)
    families: tuple[str, ...] = parameter(
        FAMILIES,
        kind="several",
        choices=FAMILIES,
        check=_check_families,
    )
    fit: Literal["aic", "ks"] = AIC
    within_range: bool = False
    integer: bool = parameter(False, is_main=True)
    rows: int | None = parameter(None, like=NEW_ROWS)

    def check(self) -> None:
        """Refuse a number of rows where ranks are kept, which only the given rows have."""
        if self.rows is not None and self.keep_ranks:
            raise InputError("CEL-Y009.keep_ranks")

    def _apply(self, frame: pl.DataFrame, columns: Sequence[str], work: Work) -> MethodResult:
        matrix = numbers(frame, columns, self.method_name)
        check_filled(frame, self.method_name)
        if self.rows is not None:
            check_whole_table(frame, columns, self.method_name)
        anew = not self.keep_ranks and set(columns) == set(frame.columns)
        fits = []
        for place, name in enumerate(columns):
            work.progress(Step(Message("masking.stage.fitting_distributions"), place, len(columns)))
            column = matrix[:, place]
            known = column[~np.isnan(column)]
            fits.append(best_family(known, column=name, families=self.families, by=self.fit))
        count = self.rows if self.rows is not None and anew else frame.height
        drawn = np.full((count, len(columns)), np.nan, order="F")
        for place, found in enumerate(fits):
            drawn[:, place] = self._column(matrix[:, place], found, anew, count, work.rng)
        base = frame if count == frame.height else frame.clear(count)
        return MethodResult(
            frame=pick(with_numbers(base, columns, drawn, integer=self.integer), frame.columns),
            facts={name: found.as_dict() for name, found in zip(columns, fits, strict=True)},
            synthetic=anew,
        )

    def _column(
        self,
        values: NDArray[np.float64],
        found: FittedDistribution,
        anew: bool,
        count: int,
        rng: Source,
    ) -> NDArray[np.float64]:
        missing = np.isnan(values)
        if anew:
            missing = uniforms(rng, count) < missing.mean()
        size = int((~missing).sum())
        known = values[~np.isnan(values)]
        within = (float(known.min()), float(known.max())) if self.within_range else None
        draws = found.quantiles(uniforms(rng, size), within)
        if self.keep_ranks:
            order = np.lexsort((rng.words(size), known))
            draws[order] = np.sort(draws)
        placed = np.full(count, np.nan)
        placed[~missing] = draws
        return placed

    def leaves_open(self, columns: Sequence[str]) -> tuple[str, ...]:
        gaps = [Message(NO_PROMISE), Message("masking.gap.fitted_parameters")]
        if self.keep_ranks:
            gaps.append(Message("masking.gap.order_kept"))
        else:
            gaps.append(Message("masking.gap.apart"))
        if self.within_range:
            gaps.append(Message("masking.gap.range"))
        return tuple(gaps)
