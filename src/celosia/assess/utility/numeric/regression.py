"""Regressions before and after: overlap of the confidence intervals of coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.assess.alignment import AlignedTables
from celosia.core.errors import InputError
from celosia.core.messages import Message, say
from celosia.core.methods import PlainValues, derived
from celosia.core.numbers import real

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Regression:
    """A linear regression that users of the table are known to run."""

    outcome: str
    predictors: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "predictors", tuple(self.predictors))
        if not self.predictors or self.outcome in self.predictors:
            raise InputError("CEL-A231.no_predictor", outcome=self.outcome)

    def __str__(self) -> str:
        return f"{self.outcome} ~ {' + '.join(self.predictors)}"


@dataclass(frozen=True, slots=True)
class Coefficient(PlainValues):
    """One coefficient with its intervals, before and after."""

    term: str
    """The column; of a category, its place among the values: values are not shown."""
    before: float
    low_before: float
    high_before: float
    after: float
    low_after: float
    high_after: float

    @property
    @derived
    def overlap(self) -> float:
        """Mean of the shares of both intervals that they have in common; below 0 if they are apart.

        1 where the intervals are the same. Two intervals without length overlap by 1 or not at all.
        """
        common = min(self.high_before, self.high_after) - max(self.low_before, self.low_after)
        lengths = (self.high_before - self.low_before, self.high_after - self.low_after)
        if min(lengths) <= 0:
            return 1.0 if common >= 0 else 0.0
        return (common / lengths[0] + common / lengths[1]) / 2


@dataclass(frozen=True, slots=True)
class RegressionOverlap(PlainValues):
    """A regression before and after."""

    regression: Regression
    coefficients: tuple[Coefficient, ...]
    confidence: float

    @property
    def overlap(self) -> float:
        """Mean overlap of the intervals of the coefficients."""
        return float(np.mean([each.overlap for each in self.coefficients]))

    def as_dict(self) -> dict[str, Any]:
        return {
            "regression": str(self.regression),
            "confidence": self.confidence,
            "overlap": self.overlap,
            "coefficients": [each.as_dict() for each in self.coefficients],
        }

    def __str__(self) -> str:
        return say("assess.line.regression", name=self.regression, overlap=self.overlap)


def regression_overlap(
    tables: AlignedTables, regression: Regression, *, confidence: float = 0.95
) -> RegressionOverlap:
    """Run an ordinary least-squares regression on both tables and compare the coefficients.

    Records with a gap in one of its columns are left out. Categories are compared with the first
    one that occurs in both tables; those that occur in one table only have no coefficient.

    Raises:
        InputError: CEL-A201 unknown column, CEL-A221 a confidence out of range, CEL-A231 an outcome
            that is a category, CEL-A232 too few records, or columns that follow from others.

    >>> from celosia.assess.alignment import align
    >>> people = {"pay": [10, 21, 29, 42, 48], "age": [1, 2, 3, 4, 5]}
    >>> line = Regression("pay", ("age",))
    >>> print(regression_overlap(align(people, people), line))
    pay ~ age: confidence intervals overlap by 100.0%

    Reference: Karr, Kohnen, Oganian, Reiter & Sanil 2006.
    """
    level = real(confidence)
    if level is None or not 0 < level < 1:
        raise InputError("CEL-A221", confidence=confidence)
    part = tables.only([regression.outcome, *regression.predictors])
    if part.nominal[0]:
        raise InputError("CEL-A231.no_numbers", column=regression.outcome)
    sides = [side[~np.isnan(side).any(axis=1)] for side in (part.before, part.after)]
    coded = [
        sorted(set(sides[0][:, place].tolist()) & set(sides[1][:, place].tolist()))[1:]
        if part.nominal[place]
        else None
        for place in range(1, len(part.columns))
    ]
    terms = _terms(regression.predictors, coded)
    fits = [_fit(side, coded, level, str(regression)) for side in sides]
    return RegressionOverlap(
        regression,
        tuple(
            Coefficient(term, *map(float, one), *map(float, other))
            for term, one, other in zip(terms, *fits, strict=True)
        ),
        level,
    )


def _terms(names: Sequence[str], coded: Sequence[list[float] | None]) -> list[str]:
    terms: list[str] = [Message("assess.term.constant")]
    for name, codes in zip(names, coded, strict=True):
        terms += (
            [name]
            if codes is None
            else [
                Message("assess.term.category", column=name, number=n)
                for n in range(2, len(codes) + 2)
            ]
        )
    return terms


def _fit(side: Matrix, coded: Sequence[list[float] | None], level: float, name: str) -> Matrix:
    """A line for each coefficient: estimate, lower and upper limit."""
    from scipy.special import stdtrit

    parts = [np.ones(len(side))]
    for place, codes in enumerate(coded, 1):
        values = side[:, place]
        parts += [values] if codes is None else [(values == code).astype(float) for code in codes]
    design, outcome = np.column_stack(parts), side[:, 0]
    freedom = len(design) - design.shape[1]
    scale = np.abs(design).max(axis=0, initial=0.0)
    if freedom < 1 or (scale == 0).any() or np.linalg.matrix_rank(design / scale) < len(scale):
        raise InputError("CEL-A232", name=name)
    orthogonal, upper = np.linalg.qr(design / scale)
    inverse = np.linalg.inv(upper)
    estimate = inverse @ (orthogonal.T @ outcome)
    rest = outcome - design / scale @ estimate
    errors = np.sqrt((inverse**2).sum(axis=1) * (rest @ rest) / freedom)
    reach = float(stdtrit(freedom, (1 + level) / 2)) * errors
    found = np.column_stack([estimate, estimate - reach, estimate + reach])
    return np.asarray(found / scale[:, None])
