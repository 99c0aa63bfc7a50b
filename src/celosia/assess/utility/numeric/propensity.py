"""The propensity score: how well a model distinguishes original from masked records."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from celosia.assess.alignment import AlignedTables
from celosia.assess.linkage.distance import standardise
from celosia.core.messages import say
from celosia.core.methods import PlainValues, derived

MOST_CATEGORIES = 50
"""Of a column, the categories with a term of their own; rarer ones share one."""
_ROUNDS = 50
_RIDGE = 1e-8
"""Keeps the fit finite where a term tells the tables apart without fail."""

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Propensity(PlainValues):
    """How well a logistic regression tells the two tables apart."""

    pmse: float
    """Mean squared difference of the scores from the share of masked records."""
    expected: float
    """What it would be on average for a synthetic table drawn from the right model, fitted to the
    original. (For a second sample of the same people it would be 1 / (1 - c) times that.)"""
    parameters: int
    """Terms of the model, the constant included."""

    @property
    @derived
    def ratio(self) -> float:
        """The pMSE over what chance gives.

        About 1 for a faithful synthetic table, less for a masked one that is still close to each
        record, more where the tables differ.
        """
        return self.pmse / self.expected if self.expected else 0.0

    def __str__(self) -> str:
        return say("assess.line.propensity", pmse=self.pmse, ratio=self.ratio)


def propensity(tables: AlignedTables, *, order: Literal[1, 2] = 2) -> Propensity:
    """Fit a logistic regression of which table a record is from, and see how far it gets.

    Terms are the amounts, with `order` 2 also their squares and products, and the categories. A
    gap counts as the mean, with a term of its own. Terms that follow from others are left out.

    The expectation for a table drawn from the right model, fitted to the original, is
    (k - 1) (1 - c)^2 c / N for k parameters, N records in all and the share c of masked ones.

    Reference: Woo, Reiter, Oganian & Karr 2009; Snoke, Raab, Nowok, Dibben & Slavkovic 2018.
    """
    design = _design(tables, order)
    total, masked = len(design), len(tables.after)
    labels = np.zeros(total)
    labels[len(tables.before) :] = 1.0
    scores = _scores(design, labels)
    share = masked / total
    parameters = design.shape[1]
    return Propensity(
        pmse=float(((scores - share) ** 2).mean()),
        expected=(parameters - 1) * (1 - share) ** 2 * share / total,
        parameters=parameters,
    )


def _design(tables: AlignedTables, order: int) -> Matrix:
    """A line for each record of both tables, the constant first."""
    both = np.concatenate([tables.before, tables.after])
    terms = [np.ones(len(both))]
    if not tables.nominal.all():
        amounts = both[:, ~tables.nominal]
        amounts, _ = standardise(amounts, amounts, np.zeros(amounts.shape[1], dtype=bool))
        terms += [gap.astype(float) for gap in np.isnan(amounts).T if gap.any()]
        amounts = np.nan_to_num(amounts)
        terms += list(amounts.T)
        if order == 2:
            pairs = combinations_with_replacement(range(amounts.shape[1]), 2)
            terms += [amounts[:, i] * amounts[:, j] for i, j in pairs]
    for column in np.flatnonzero(tables.nominal):
        terms += _categories(both[:, column])
    return _independent(np.column_stack(terms))


def _categories(codes: Matrix) -> list[Matrix]:
    filled = np.where(np.isnan(codes), -1.0, codes)
    values, counts = np.unique(filled, return_counts=True)
    frequent = values[np.argsort(-counts, kind="stable")][:MOST_CATEGORIES]
    rest = ~np.isin(filled, frequent)
    # The most frequent one is what the others are compared with.
    terms = [(filled == value).astype(float) for value in frequent[1:]]
    return [*terms, rest.astype(float)] if rest.any() else terms


def _independent(design: Matrix) -> Matrix:
    """The columns that do not follow from those before them."""
    # The diagonal of R is what each column adds to those before it, by its own length.
    lengths = np.linalg.norm(design, axis=0)
    added = np.abs(np.diag(np.linalg.qr(design / np.where(lengths > 0, lengths, 1.0), mode="r")))
    kept = np.zeros(design.shape[1], dtype=bool)
    kept[: added.size] = added > 1e-9
    return design[:, kept]


def _scores(design: Matrix, labels: Matrix) -> Matrix:
    """The fitted chances of a logistic regression, by Newton's method."""
    found = np.zeros(design.shape[1])
    share = labels.mean()
    found[0] = np.log(share / (1 - share))
    ridge = _RIDGE * len(design) * np.eye(design.shape[1])
    ridge[0, 0] = 0.0
    chance = np.full(len(design), share)
    for _ in range(_ROUNDS):
        weight = np.maximum(chance * (1 - chance), 1e-12)
        slope = design.T @ (labels - chance) - ridge @ found
        step = np.linalg.solve((design * weight[:, None]).T @ design + ridge, slope)
        # Long steps overshoot where the tables can be told apart without fail.
        step *= min(1.0, 5.0 / max(float(np.abs(step).max()), 1e-300))
        found = found + step
        chance = 1 / (1 + np.exp(-np.clip(design @ found, -35, 35)))
        if np.abs(step).max() < 1e-10:
            break
    return np.asarray(chance)
