"""The normal variables behind the columns of a table, with categories in an order that fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from celosia.tables.synthesis.normal_scores import latent_correlation, normal_scores
from celosia.tables.synthesis.variables import Variable

Matrix = NDArray[np.float64]
Name = tuple[int, bool]
"""The place of a column, and whether the normal variable tells which of its cells are empty."""

ORDERINGS = 4
"""Rounds of ordering the values of columns that have no order."""


@dataclass(frozen=True, slots=True, eq=False)
class Latents:
    """Normal scores of the rows, one column for each normal variable."""

    names: list[Name]
    scores: Matrix
    variances: Matrix

    def correlation(self) -> Matrix:
        """The correlation of the normal variables."""
        return latent_correlation(self.scores, self.variances)


def latents_of(found: Sequence[Variable]) -> Latents:
    """A normal variable for the values of each column that vary, one for its gaps if there are."""
    names, columns, variances = [], [], []
    for place, each in enumerate(found):
        empty = np.isnan(each.values)
        known = each.present
        parts = [(False, each.values)] if known.size and known.min() < known.max() else []
        parts += [(True, empty.astype(np.float64))] if 0 < empty.sum() < empty.size else []
        for of_gaps, values in parts:
            scores, variance = normal_scores(values, coded=of_gaps or each.labels is not None)
            names.append((place, of_gaps))
            columns.append(scores)
            variances.append(variance)
    rows = found[0].values.size
    scores = np.empty((rows, len(names)), order="F")
    for place, column in enumerate(columns):
        scores[:, place] = column
    return Latents(names, scores, np.array(variances))


def order_categories(found: Sequence[Variable]) -> tuple[list[Variable], Latents]:
    """The variables, those without an order numbered in one that goes well with the others.

    In each round the values of such a column are ordered by the mean, over their rows, of the
    first principal component of the other columns.
    """
    ordered, latents = list(found), latents_of(found)
    free = [
        (place, latents.names.index((place, False)))
        for place, each in enumerate(ordered)
        if each.nominal and (place, False) in latents.names
    ]
    if len(latents.names) < 2:
        return ordered, latents
    for _ in range(ORDERINGS if free else 0):
        vector = np.linalg.eigh(latents.correlation())[1][:, -1]
        filled = np.nan_to_num(latents.scores, nan=0.0)
        component = filled @ vector
        for place, column in free:
            others = component - filled[:, column] * vector[column]
            ordered[place] = _numbered_anew(ordered[place], others)
            scores, variance = normal_scores(ordered[place].values, coded=True)
            latents.scores[:, column], latents.variances[column] = scores, variance
    return ordered, latents


def _numbered_anew(each: Variable, component: Matrix) -> Variable:
    """A variable whose values are numbered by the mean of the component over their rows."""
    known = ~np.isnan(each.values)
    codes = each.values[known].astype(np.int64)
    sizes = np.bincount(codes)
    order = np.argsort(np.bincount(codes, weights=component[known]) / sizes, kind="stable")
    ranks = np.empty(order.size)
    ranks[order] = np.arange(order.size)
    values = np.full(each.values.size, np.nan)
    values[known] = ranks[codes]
    labels = None if each.labels is None else each.labels.gather(order)
    return replace(each, values=values, labels=labels)
