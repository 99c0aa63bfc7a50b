"""Risk of a sample by a Poisson log-linear model of its frequencies.

The frequency of each combination of keys is taken to be Poisson, with a mean that is a product of
main effects, and of effects of pairs of keys if wanted. The model is fitted to the sample (mean m),
which took each person with chance p. Given f people of the sample, the population has F = f + a
Poisson number with mean m (1 - p) / p, and the risk of a record is the expectation of 1 / F. Over
the unique records, the chances that F = 1 add up to how many of them are unique in the population.

References: Skinner, Holmes 1998; Elamir, Skinner 2006; Skinner, Shlomo 2008. The dispersion is the
score test of Dean, Lawless 1989: well above 0, the model is too simple for the table; well below,
it is too rich, and fits the sample instead of the population.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from math import prod
from typing import Any, Literal, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.assess.risk.attackers import check_fraction
from celosia.assess.risk.individual import check_weights, identify
from celosia.assess.risk.profile import check_known
from celosia.core.errors import InputError
from celosia.core.messages import say
from celosia.frames import as_frame, encode

Interactions = Literal["none", "two-way"]
"""Main effects alone, or with the effects of all pairs of keys."""
Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
MOST_CELLS = 4_000_000
"""The most combinations of values that a model with pairs of keys is fitted to."""
_ROUNDS, _CLOSE = 500, 1e-8
"""Of iterative proportional fitting: it ends when no margin is off by more than this share."""
_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostics:
    """How well the model fits."""

    cells: int
    """Combinations of values that could occur."""
    parameters: int
    degrees_of_freedom: int
    deviance: float
    """Likelihood ratio statistic G squared."""
    pearson: float
    """Pearson's X squared, over combinations that the model deems possible."""
    dispersion: float
    """About normal with mean 0 and deviation 1 if the model fits; above 2 it is too simple."""
    rounds: int
    """Rounds of iterative proportional fitting; 0 where a formula gives the fit."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LogLinearRisk:
    """The risk of each record, and of the file as a whole."""

    keys: tuple[str, ...]
    interactions: Interactions
    sampling_fraction: float
    risk: Floats = field(repr=False)
    """The expectation of 1 / F for each record."""
    expected_frequency: Floats = field(repr=False)
    """The fitted mean of the combination of each record, in the sample."""
    sample_uniques: int
    population_uniques: float
    """Sample uniques that are expected to be unique in the population (tau 1)."""
    correct_matches: float
    """Correct matches to expect among the sample uniques (tau 2)."""
    diagnostics: Diagnostics

    def frame(self) -> pl.DataFrame:
        """One row a record, in the order of the table."""
        return pl.DataFrame(
            {"log_linear_risk": self.risk, "expected_frequency": self.expected_frequency}
        )

    def as_dict(self) -> dict[str, Any]:
        """The figures of the file as plain values."""
        return {
            "keys": list(self.keys),
            "interactions": self.interactions,
            "sampling_fraction": self.sampling_fraction,
            "records": int(self.risk.size),
            "sample_uniques": self.sample_uniques,
            "population_uniques": self.population_uniques,
            "correct_matches": self.correct_matches,
            "expected_reidentifications": float(self.risk.sum()),
            "highest_risk": float(self.risk.max()),
            "diagnostics": asdict(self.diagnostics),
        }

    def __str__(self) -> str:
        return say(
            "assess.line.log_linear",
            uniques=self.sample_uniques,
            population=self.population_uniques,
            matches=self.correct_matches,
            dispersion=self.diagnostics.dispersion,
        )


def log_linear_risk(
    data: Any,
    *,
    keys: Sequence[str],
    sampling_fraction: float | None = None,
    weights: str | None = None,
    interactions: str = "two-way",
) -> LogLinearRisk:
    """The risk of each record of a sample by a log-linear model.

    Args:
        data: the sample.
        keys: what an attacker may know of a person.
        sampling_fraction: the share of the population that is in the sample.
        weights: a column of survey weights, instead: the fraction is records / sum of weights.
        interactions: `none` for main effects, `two-way` for the effects of all pairs of keys too.

    Raises:
        InputError: CEL-A003 no such column, CEL-A020 both or none of fraction and weights,
            CEL-A295 too many combinations, or an unknown kind of interactions.

    >>> sample = pl.DataFrame({"sex": list("FFMM"), "job": ["cook", "cook", "cook", "king"]})
    >>> found = log_linear_risk(sample, keys=["sex", "job"], sampling_fraction=0.5,
    ...     interactions="none")
    >>> found.expected_frequency.tolist(), round(found.correct_matches, 4)
    ([1.5, 1.5, 1.5, 0.5], 1.3049)
    """
    frame = as_frame(data)
    if isinstance(keys, str) or not keys:
        raise InputError("CEL-A290.individual_risk")
    check_known([*keys, *([] if weights is None else [weights])], frame.columns)
    if interactions not in get_args(Interactions):
        raise InputError("CEL-A295.interactions", interactions=interactions)
    if not frame.height:
        raise InputError("CEL-A292")
    fraction = _fraction(frame, sampling_fraction, weights)
    columns = [encode(frame.get_column(name).alias("cell")).codes.astype(np.int64) for name in keys]
    codes = np.column_stack([np.unique(each, return_inverse=True)[1] for each in columns])
    first, cell_of = np.unique(identify(codes), return_index=True, return_inverse=True)[1:]
    counts = np.bincount(cell_of)
    fit = _independent if interactions == "none" or len(keys) < 2 else _pairwise
    means, facts = fit(codes[first], counts)
    crowd = means * (1 - fraction) / fraction
    risks = _inverse_mean(counts, crowd)
    alone = counts == 1
    return LogLinearRisk(
        keys=tuple(keys),
        interactions="none" if interactions == "none" else "two-way",
        sampling_fraction=fraction,
        risk=risks[cell_of],
        expected_frequency=means[cell_of],
        sample_uniques=int(alone.sum()),
        population_uniques=float(np.exp(-crowd[alone]).sum()),
        correct_matches=float(risks[alone].sum()),
        diagnostics=facts,
    )


def _fraction(frame: pl.DataFrame, fraction: float | None, weights: str | None) -> float:
    if (fraction is None) == (weights is None):
        raise InputError("CEL-A020" if weights is not None else "CEL-A295.fraction")
    if weights is None:
        assert fraction is not None
        return check_fraction(fraction)
    return check_fraction(min(1.0, frame.height / float(check_weights(frame, weights).sum())))


def _inverse_mean(counts: Counts, crowd: Floats) -> Floats:
    """E[1 / (f + N)], N Poisson with mean m: the integral of x^(f-1) exp(-m (1 - x)) over [0, 1].

    The weight of the integral lies within some multiples of 1 / (m + f) of 1, so that it is taken
    over the part where it is not below exp(-45) of its greatest.
    """
    reach = np.minimum(1.0, 45.0 / np.maximum(crowd + counts - 1, 1e-300))
    total = np.zeros(counts.size)
    for node, weight in zip(_NODES, _NODE_WEIGHTS, strict=True):
        away = reach * (1 + node) / 2
        total += weight * np.exp((counts - 1) * np.log1p(-away) - crowd * away)
    return total * reach / 2


def _independent(cells: Counts, counts: Counts) -> tuple[Floats, Diagnostics]:
    """Main effects: the fitted mean is a product of shares, and no table is needed."""
    records = int(counts.sum())
    shares = [np.bincount(column, weights=counts) / records for column in cells.T]
    means = records * np.prod([s[c] for s, c in zip(shares, cells.T, strict=True)], axis=0)
    squares = records**2 * prod(float((each**2).sum()) for each in shares)
    width = [each.size for each in shares]
    free = 1 + sum(each - 1 for each in width)
    return means, _diagnose(counts, means, squares=squares, cells=prod(width), free=free, rounds=0)


def _pairwise(cells: Counts, counts: Counts) -> tuple[Floats, Diagnostics]:
    """Main effects and all pairs of keys, by iterative proportional fitting of the whole table."""
    width = tuple(int(column.max()) + 1 for column in cells.T)
    size = prod(width)
    if size > MOST_CELLS:
        raise InputError("CEL-A295.cells", cells=size, most=MOST_CELLS)
    table = np.zeros(width)
    table[tuple(cells.T)] = counts
    axes = range(len(width))
    pairs = list(combinations(axes, 2))
    others = [tuple(axis for axis in axes if axis not in pair) for pair in pairs]
    wanted = [table.sum(axis=rest, keepdims=True) for rest in others]
    fitted = np.full(width, counts.sum() / size)
    rounds, off = 0, 1.0
    while rounds < _ROUNDS and off > _CLOSE:
        off = 0.0
        for rest, margin in zip(others, wanted, strict=True):
            now = fitted.sum(axis=rest, keepdims=True)
            ratio = np.divide(margin, now, out=np.zeros_like(now), where=now > 0)
            off = max(off, float(np.abs(ratio[margin > 0] - 1).max(initial=0.0)))
            fitted *= ratio
        rounds += 1
    free = 1 + sum(each - 1 for each in width)
    free += sum((width[a] - 1) * (width[b] - 1) for a, b in pairs)
    means = fitted[tuple(cells.T)]
    squares = float((fitted**2).sum())
    return means, _diagnose(counts, means, squares=squares, cells=size, free=free, rounds=rounds)


def _diagnose(
    counts: Counts, means: Floats, *, squares: float, cells: int, free: int, rounds: int
) -> Diagnostics:
    """The fit, from the cells that occur: over all others the observed frequency is 0."""
    seen = counts.astype(np.float64)
    deviance = 2 * float((seen * np.log(seen / means)).sum())  # the margins agree: no other term
    empty = float(seen.sum() - means.sum())  # over cells that do not occur, (0 - m)^2 / m is m
    pearson = float(((seen - means) ** 2 / means).sum()) + empty
    spread = float((seen**2).sum() - 2 * (seen * means).sum()) + squares - float(seen.sum())
    return Diagnostics(
        cells=cells,
        parameters=free,
        degrees_of_freedom=max(0, cells - free),
        deviance=max(0.0, deviance),
        pearson=max(0.0, pearson),
        dispersion=spread / np.sqrt(2 * squares) if squares else 0.0,
        rounds=rounds,
    )
