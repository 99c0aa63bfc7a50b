"""Differentially private histograms of single columns, as counts or as rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.accounting.losses import ComposedLoss, Loss
from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.progress import Step
from celosia.core.randomness import Source
from celosia.frames import pick
from celosia.mechanisms import GaussianCounts, Geometric
from celosia.tables.masking.draws import draw_codes, even_uniforms
from celosia.tables.masking.method import MethodResult, Work
from celosia.tables.private.consistency import project_onto_simplex, whole_numbers
from celosia.tables.private.declarations import (
    LISTS,
    DomainDeclarations,
)
from celosia.tables.private.marginals import total_of
from celosia.tables.private.method import (
    DeclaredMethod,
    PrivateMethod,
    check_astray,
)
from celosia.tables.synthesis.checks import MOST_ROWS, NEW_ROWS, check_whole_table

ROWS: Final = "rows"
COUNTS: Final = "counts"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyHistogram(DeclaredMethod):
    """A noisy histogram of each column over declared bins, or rows drawn from them.

    Every bin gets noise, empty ones too: discrete Laplace noise, or discrete Gaussian noise where
    delta is above 0. Counts are then made the nearest ones that are not below 0 and have the noisy
    total. As `counts` the table has one row a bin (column, value, count); as `rows` it looks like
    the table that was given, each column drawn from its histogram on its own.

    Columns are declared by `domains`, by `bounds` cut into `bins`, or by `edges`. A number beyond
    the ends is clamped; a value that is not listed and an empty cell go to one more bin.

    Guarantee: epsilon-DP, or (epsilon, delta)-DP, when neighbours add or remove one row, which
    moves one bin of each column by 1; columns have equal shares of the budget. Declarations must
    not depend on the data.

    Reference: Dwork et al. 2006; Dwork & Roth 2014, section 3.3.
    """

    method_name: ClassVar[str] = "noisy-histogram"

    edges: Mapping[str, tuple[float, ...]] | None = parameter(None, like=LISTS)
    output: Literal["rows", "counts"] = ROWS
    rows: int | None = parameter(None, like=NEW_ROWS)

    def declared_values(self) -> Mapping[str, tuple[Any, ...]]:
        """The domain of a column, or else its bounds or the edges of its bins."""
        return {**(self.edges or {}), **DeclaredMethod.declared_values(self)}

    def _declared(self) -> DomainDeclarations:
        return DomainDeclarations(self.domains or {}, self.bounds or {}, self.bins, self.edges)

    def _noise(self, columns: int) -> Geometric | GaussianCounts:
        return self.budget.count_noise(Fraction(1, columns))

    def privacy_loss(self, columns: Sequence[str]) -> Loss:
        """The losses of the histograms of all columns together."""
        return ComposedLoss((self._noise(len(columns)).privacy_loss(),) * len(columns))

    def _apply(self, frame: pl.DataFrame, columns: Sequence[str], work: Work) -> MethodResult:
        check_whole_table(frame, columns, self.method_name)
        public = self._declared().columns(frame.schema, columns)
        noise = self._noise(len(columns))
        loss = self.privacy_loss(columns)  # refuses what cannot be drawn, before anything is
        if self.output == ROWS:
            least = min(column.size for column in public)
            check_astray(self.rows, variance=noise.variance, cells=least)
        noisy = []
        for place, column in enumerate(public):
            work.progress(Step(Message("masking.stage.counting_noise"), place, len(columns)))
            counts = column.counts(frame[column.name])
            noisy.append(noise.release(counts, rng=work.rng).astype(np.float64))
        # From here on only released numbers are used.
        total = round(total_of(noisy))
        best = [
            whole_numbers(project_onto_simplex(each[None], np.array([total]))[0]) for each in noisy
        ]
        if self.output == COUNTS:
            released = pl.concat(
                pl.DataFrame(
                    {
                        "column": pl.Series([column.name] * column.size),
                        "value": column.labels().cast(pl.String),
                        "count": counts,
                    }
                )
                for column, counts in zip(public, best, strict=True)
            )
        else:
            count = min(total, MOST_ROWS) if self.rows is None else self.rows
            made = [
                column.series(draw_rows(counts, count, work.rng), work.rng)
                for column, counts in zip(public, best, strict=True)
            ]
            released = pick(pl.DataFrame(made), frame.columns)
        return MethodResult(
            frame=released,
            facts={
                "rows": released.height,
                "deviation of counts": noise.variance**0.5,
                "loss": loss.as_dict(),
            },
            synthetic=True,
        )

    def leaves_open(self, columns: Sequence[str]) -> tuple[str, ...]:
        gaps = PrivateMethod.leaves_open(self, columns)
        lost = (Message("masking.gap.drawn_apart"),)
        return gaps + lost if len(columns) > 1 else gaps


def draw_rows(counts: NDArray[np.int64], rows: int, rng: Source) -> NDArray[np.int64]:
    """Codes of rows with these counts, in random order; in proportion where `rows` differs."""
    nowhere = np.zeros(rows, dtype=np.int64)
    return draw_codes(counts[None].astype(np.float64), nowhere, even_uniforms(nowhere, rng))
