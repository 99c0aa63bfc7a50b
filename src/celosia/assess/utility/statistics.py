"""The usual statistics of a numeric column whose cells may be intervals, by their midpoints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from math import exp, inf, isfinite

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.assess.meaning import SUPPRESSED
from celosia.assess.utility.aggregates import limits_of
from celosia.core.errors import InputError
from celosia.core.messages import say, say_of
from celosia.core.methods import PlainValues
from celosia.frames import as_text

Amounts = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics(PlainValues):
    """What a column of numbers is like; None where too few cells hold a number to say it.

    An interval counts as its midpoint everywhere but in the minimum, the maximum and the range,
    which are of its limits.
    """

    cells: int
    count: int
    """Cells that hold a number or an interval; the others are `*` or empty."""
    mean: float | None
    median: float | None
    mode: str | None
    """The label of the most cells, `*` included; of several, the first in the order of text."""
    mode_count: int
    standard_deviation: float | None
    variance: float | None
    """With n - 1; None for fewer than two numbers."""
    skewness: float | None
    """Third standardised moment; None where all numbers are the same."""
    kurtosis: float | None
    """Fourth standardised moment less 3, so that it is 0 for a normal distribution."""
    minimum: float | None
    maximum: float | None
    range: float | None
    first_quartile: float | None
    third_quartile: float | None
    """Between two numbers, quartiles and median lie on the line through them."""
    geometric_mean: float | None
    harmonic_mean: float | None
    """Only where all numbers are above 0."""
    entropy: float | None
    """Of the labels of all cells that are not empty, `*` included, in bits."""

    def __str__(self) -> str:
        if self.mean is None:
            return say("assess.line.no_numbers", cells=self.cells)
        spread = ""
        if self.variance is not None:
            spread = say("assess.line.spread", deviation=self.variance**0.5)
        return say_of("assess.line.numbers", self, spread=spread)


def statistics(column: pl.Series | Iterable[object]) -> Statistics:
    """Describe a numeric column, raw or generalised; labels are read as `aggregates` reads them.

    Raises:
        InputError: CEL-A079 labels that name no number.

    >>> print(statistics(["20-39", "20-39", "40-59", "*"]))
    3 numbers from 20 to 59, mean 36.1667, median 29.5, standard deviation 11.547
    """
    series = column if isinstance(column, pl.Series) else pl.Series("column", list(column))
    if series.dtype.is_integer() or (series.dtype.is_float() and series.is_finite().all()):
        return _of_numbers(series)
    cells: Counter[str] = Counter(as_text(series).drop_nulls().to_list())
    limits = {label: limits_of(label) for label in cells if label != SUPPRESSED}
    strange = sum(1 for found in limits.values() if found is None)
    if strange:
        raise InputError("CEL-A079.statistics", strange=strange, column=series.name)
    known = [
        (float((found[0] + found[1]) / 2), float(found[0]), float(found[1]), cells[label])
        for label, found in limits.items()
        if found is not None
    ]
    known.sort()
    middles = np.array([each[0] for each in known], dtype=np.float64)
    weights = np.array([each[3] for each in known], dtype=np.int64)
    low = min((each[1] for each in known), default=None)
    high = max((each[2] for each in known), default=None)
    mode = min(cells.items(), key=lambda item: (-item[1], item[0]), default=(None, 0))
    counts = np.array(list(cells.values()), dtype=np.int64)
    return _summary(len(series), middles, weights, (low, high), (*mode, counts))


def _of_numbers(series: pl.Series) -> Statistics:
    """The same of numbers as they are, whose texts need not be read."""
    found = series.drop_nulls().alias("value").value_counts(name="count").sort("value")
    middles = found["value"].cast(pl.Float64).to_numpy()
    weights = found["count"].cast(pl.Int64).to_numpy()
    ends = (float(middles[0]), float(middles[-1])) if middles.size else (None, None)
    top = int(weights.max(initial=0))
    labels = as_text(found.filter(pl.col("count") == top)["value"])
    mode: tuple[str | None, int] = (min(labels.to_list(), default=None), top)
    return _summary(len(series), middles, weights, ends, (*mode, weights))


def _summary(
    cells: int,
    middles: Amounts,
    weights: NDArray[np.int64],
    ends: tuple[float | None, float | None],
    labels: tuple[str | None, int, NDArray[np.int64]],
) -> Statistics:
    """From the numbers in order and how often each is, their outer limits, and the labels.

    Of the labels: the most frequent one, how often it is, and how often each is.
    """
    low, high = ends
    mode, mode_count, counts = labels
    quartiles = [_quantile(middles, weights, quarter) for quarter in (1, 2, 3)]
    mean, variance, skewness, kurtosis = _moments(middles, weights)
    return Statistics(
        cells=cells,
        count=int(weights.sum()),
        mean=mean,
        median=quartiles[1],
        mode=mode,
        mode_count=mode_count,
        standard_deviation=None if variance is None else variance**0.5,
        variance=variance,
        skewness=skewness,
        kurtosis=kurtosis,
        minimum=low,
        maximum=high,
        range=None if low is None or high is None else _finite(high - low),
        first_quartile=quartiles[0],
        third_quartile=quartiles[2],
        geometric_mean=_geometric(middles, weights),
        harmonic_mean=_harmonic(middles, weights),
        entropy=_entropy(counts),
    )


def _moments(
    middles: Amounts, weights: NDArray[np.int64]
) -> tuple[float | None, float | None, float | None, float | None]:
    """Mean, variance, skewness and excess kurtosis."""
    count = int(weights.sum())
    if not count:
        return None, None, None, None
    # Divided by the largest first: powers of huge amounts would overflow.
    scale = float(np.abs(middles).max()) or 1.0
    small = middles / scale
    mean = float(weights @ small) / count
    apart = small - mean
    second, third, fourth = (float(weights @ apart**power) / count for power in (2, 3, 4))
    variance = None if count < 2 else _finite(second * count / (count - 1) * scale * scale)
    # A spread of rounding errors alone has no shape.
    if second <= (1e-14 * max(1.0, abs(mean))) ** 2 * count or middles.size < 2:
        return mean * scale, variance, None, None
    return mean * scale, variance, third / second**1.5, fourth / second**2 - 3


def _quantile(middles: Amounts, weights: NDArray[np.int64], quarter: int) -> float | None:
    """The quartile on the line between its two neighbours, from numbers and how often each is."""
    count = int(weights.sum())
    if not count:
        return None
    ends = np.cumsum(weights)
    whole, quarters = divmod((count - 1) * quarter, 4)
    below, above = np.searchsorted(ends, [whole, min(whole + 1, count - 1)], side="right")
    low, high = float(middles[below]), float(middles[above])
    return low * (1 - quarters / 4) + high * (quarters / 4)


def _geometric(middles: Amounts, weights: NDArray[np.int64]) -> float | None:
    if not middles.size or middles[0] <= 0:
        return None
    return exp(float(weights @ np.log(middles)) / int(weights.sum()))


def _harmonic(middles: Amounts, weights: NDArray[np.int64]) -> float | None:
    if not middles.size or middles[0] <= 0:
        return None
    return int(weights.sum()) / float((weights / middles).sum())


def _entropy(counts: NDArray[np.int64]) -> float | None:
    if not counts.size:
        return None
    shares = counts / int(counts.sum())
    return abs(float(-(shares @ np.log2(shares))))


def _finite(value: float) -> float | None:
    """None for what a float cannot hold."""
    return value if isfinite(value) and value != inf else None
