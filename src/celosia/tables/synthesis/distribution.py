"""Data distortion by probability distribution: draws of a fitted density in place of values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.progress import Step
from celosia.core.randomness import Source
from celosia.frames import pick
from celosia.tables.masking.draws import uniforms
from celosia.tables.masking.method import (
    MaskingMethod,
    MethodResult,
    Work,
    check_texts,
    numbers,
    with_numbers,
)
from celosia.tables.synthesis.checks import (
    NEW_ROWS,
    NO_PROMISE,
    check_filled,
    check_whole_table,
)

Numbers = NDArray[np.float64]

AIC: Final = "aic"
KS: Final = "ks"
LARGEST = 1e100
"""Squares of numbers up to it, and of differences down to one over it, are within the floats."""


@dataclass(frozen=True, slots=True, eq=False)
class FittedDistribution:
    """A family with its parameters, and how well it fits."""

    family: str
    parameters: tuple[float, ...]
    """As the law of this name in scipy.stats takes them."""
    aic: float
    """2 p - 2 log L: less is better."""
    distance: float
    """The Kolmogorov-Smirnov distance from the values."""
    law: Any

    def quantiles(self, uniform: Numbers, within: tuple[float, float] | None = None) -> Numbers:
        """The values at levels in (0, 1), of the whole law or of its part within a range."""
        if within is not None:
            low, high = self.law.cdf(within[0]), self.law.cdf(within[1])
            return np.asarray(np.clip(self.law.ppf(low + uniform * (high - low)), *within))
        return np.asarray(self.law.ppf(uniform), dtype=np.float64)

    def as_dict(self) -> dict[str, Any]:
        """The family and how well it fits; its parameters tell of the data and are left out."""
        return {"family": self.family, "aic": self.aic, "ks": self.distance}


def _normal(x: Numbers) -> tuple[float, ...]:
    return float(x.mean()), float(x.std())


def _lognormal(x: Numbers) -> tuple[float, ...]:
    logs = np.log(x)
    return float(logs.std()), 0.0, float(np.exp(logs.mean()))


def _exponential(x: Numbers) -> tuple[float, ...]:
    return 0.0, float(x.mean())


def _gamma(x: Numbers) -> tuple[float, ...]:
    """Newton steps in 1/shape from a near start (Minka 2002, Estimating a Gamma distribution)."""
    from scipy.special import digamma, polygamma

    gap = float(np.log(x.mean()) - np.log(x).mean())
    shape = (3 - gap + np.sqrt((gap - 3) ** 2 + 24 * gap)) / (12 * gap)
    for _ in range(8):
        slope = shape**2 * (1 / shape - polygamma(1, shape))
        shape = 1 / (1 / shape + (-gap + np.log(shape) - digamma(shape)) / slope)
    return float(shape), 0.0, float(x.mean() / shape)


_MOST_SHAPE = 1e15
"""Values that need more are equal to all digits of a float."""


def _weibull(x: Numbers) -> tuple[float, ...]:
    """The root in the shape of sum(x^c log x) / sum(x^c) - 1/c - mean(log x), which rises in c."""
    from scipy.optimize import brentq

    logs = np.log(x)
    logs = logs - logs.max()  # powers of numbers up to 1 cannot overflow

    def rising(shape: float) -> float:
        weights = np.exp(shape * logs)
        return float((weights * logs).sum() / weights.sum() - 1 / shape - logs.mean())

    low, high = 1e-3, 1e4
    while rising(low) >= 0:  # -1/c has the last word
        low /= 10
    while rising(high) <= 0 and high < _MOST_SHAPE:  # far from 0 and close together, as times are
        high *= 10
    shape = float(brentq(rising, low, high)) if rising(high) > 0 else high
    return shape, 0.0, float(x.max() * np.exp(shape * logs).mean() ** (1 / shape))


def _laplace(x: Numbers) -> tuple[float, ...]:
    middle = float(np.median(x))
    return middle, float(np.abs(x - middle).mean())


def _uniform(x: Numbers) -> tuple[float, ...]:
    return float(x.min()), float(x.max() - x.min())


@dataclass(frozen=True, slots=True)
class _Family:
    scipy: str
    estimate: Callable[[Numbers], tuple[float, ...]]
    free: int
    positive: bool = False


_FAMILIES = {
    "normal": _Family("norm", _normal, 2),
    "lognormal": _Family("lognorm", _lognormal, 2, True),
    "gamma": _Family("gamma", _gamma, 2, True),
    "weibull": _Family("weibull_min", _weibull, 2, True),
    "exponential": _Family("expon", _exponential, 1, True),
    "laplace": _Family("laplace", _laplace, 2),
    "uniform": _Family("uniform", _uniform, 2),
}
FAMILIES = tuple(_FAMILIES)
"""The names of the families."""


def best_family(
    values: Numbers, *, column: str, families: Sequence[str] = FAMILIES, by: str = AIC
) -> FittedDistribution:
    """The family that fits best, by Akaike's criterion or the Kolmogorov-Smirnov distance.

    Families of positive numbers are tried only where all values are above 0.

    Raises:
        InputError: CEL-Y008 fewer than two distinct values, or only families that do not apply;
            CEL-V203 numbers whose squares leave the floats.
    """
    if values.size < 2 or values.min() == values.max():
        raise InputError("CEL-Y008.one_value", column=column)
    if np.abs(values).max() > LARGEST or values.max() - values.min() < 1 / LARGEST:
        raise InputError("CEL-V203.no_fit", column=column)
    tried = [fit(values, name) for name in families if _applies(values, name)]
    if not tried:
        raise InputError("CEL-Y008.not_positive", column=column)
    return min(tried, key=lambda found: found.aic if by == AIC else found.distance)


def fit(values: Numbers, family: str) -> FittedDistribution:
    """One family, fitted by maximum likelihood."""
    from scipy import stats

    definition = _FAMILIES[family]
    parameters = definition.estimate(values)
    law = getattr(stats, definition.scipy)(*parameters)
    ordered = np.sort(values)
    levels = np.asarray(law.cdf(ordered))
    steps = np.arange(values.size + 1) / values.size
    distance = max(np.max(steps[1:] - levels), np.max(levels - steps[:-1]))
    aic = 2 * definition.free - 2 * float(np.sum(law.logpdf(ordered)))
    return FittedDistribution(family, parameters, aic, float(distance), law)


def _applies(values: Numbers, family: str) -> bool:
    return bool(values.min() > 0) or not _FAMILIES[family].positive


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
