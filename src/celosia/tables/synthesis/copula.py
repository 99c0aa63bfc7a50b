"""A Gaussian copula with marginals of any kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.frames import pick
from celosia.tables.masking.draws import normals
from celosia.tables.masking.method import MaskingMethod, MethodResult, check_texts
from celosia.tables.synthesis.checks import (
    NO_PROMISE,
    check_filled,
    check_whole_table,
    rows_parameter,
)
from celosia.tables.synthesis.families import best_family
from celosia.tables.synthesis.latents import Name, order_categories
from celosia.tables.synthesis.variables import Variable, variables

Matrix = NDArray[np.float64]

EMPIRICAL: Final = "empirical"
PARAMETRIC: Final = "parametric"


def _check_orders(value: Any) -> dict[str, tuple[str, ...]]:
    return {name: check_texts(values) for name, values in value.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Copula(MaskingMethod):
    """New rows by a Gaussian copula: each column as it is, together by one correlation matrix.

    Behind each column stands a normal variable. Numbers and dates come from it by their empirical
    quantiles, with straight lines between (or by the quantiles of the best parametric family, cut
    to the range of the data); categories by thresholds. Text values without an order are first put
    in the order that goes best with the other columns: by the mean of the first principal
    component, a few rounds. Whether a cell is empty is a variable of its own.

    It promises nothing. All columns of the table must be given, because the rows are new.

    Reference: Nelsen 2006, An Introduction to Copulas; Higham 2002 for the correlation matrix.
    """

    method_name: ClassVar[str] = "copula"
    randomised: ClassVar[bool] = True
    truthful: ClassVar[bool] = False
    picks_rows: ClassVar[bool] = True

    rows: int | None = rows_parameter()
    marginals: Literal["empirical", "parametric"] = parameter(EMPIRICAL, is_main=True)
    order: Mapping[str, tuple[str, ...]] | None = parameter(
        None,
        check=_check_orders,
        allowed="tables.must_be.texts_by_column",
        example='{ size = ["S", "M", "L"] }',
    )

    def apply(
        self,
        frame: pl.DataFrame,
        columns: Sequence[str],
        *,
        rng: Source,
        progress: Progress = silent,
    ) -> MethodResult:
        check_whole_table(frame, columns, self.method_name)
        check_filled(frame, self.method_name)
        progress(Step(Message("masking.stage.fitting_copula"), 0, len(columns) + 1))
        fitted, found = order_categories(variables(frame, columns, self.order))
        latents, correlation = found.names, found.correlation()
        count = frame.height if self.rows is None else self.rows
        root = np.linalg.cholesky(correlation)
        drawn = normals(rng, count * len(latents)).reshape(count, len(latents)) @ root.T
        cells = []
        for place, variable in enumerate(fitted):
            progress(Step(Message("masking.stage.fitting_copula"), place + 1, len(columns) + 1))
            cells.append(variable.series(self._values(variable, place, latents, drawn)))
        facts = {
            "rows": count,
            "latent variables": len(latents),
            "least eigenvalue": float(np.linalg.eigvalsh(correlation)[0]) if latents else 1.0,
        }
        return MethodResult(
            frame=pick(pl.DataFrame(cells), frame.columns), facts=facts, synthetic=True
        )

    def _values(self, variable: Variable, place: int, latents: list[Name], drawn: Matrix) -> Matrix:
        """The values of one variable from the normal numbers of its latent variables."""
        from scipy.special import ndtr

        found = np.sort(variable.present)
        if not found.size:
            return np.full(len(drawn), np.nan)
        if (place, False) not in latents:
            values = np.full(len(drawn), found[0])
        else:
            levels = ndtr(drawn[:, latents.index((place, False))])
            values = self._quantiles(variable, found, levels)
        if (place, True) in latents:
            filled = found.size / variable.values.size
            values[ndtr(drawn[:, latents.index((place, True))]) >= filled] = np.nan
        return values

    def _quantiles(self, variable: Variable, found: Matrix, levels: Matrix) -> Matrix:
        if variable.labels is not None:
            return found[(levels * found.size).astype(np.int64)]
        if self.marginals == PARAMETRIC:
            law = best_family(found, column=variable.name)
            return law.quantiles(levels, (float(found[0]), float(found[-1])))
        return np.interp(levels * (found.size - 1), np.arange(found.size), found)

    def leaves_open(self, columns: Sequence[str]) -> tuple[str, ...]:
        return (
            Message(NO_PROMISE),
            Message("masking.gap.range_and_categories"),
            Message("masking.gap.pairs_only"),
        )
