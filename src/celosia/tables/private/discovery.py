"""Domains of columns that are found privately, for a part of the budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.accounting.losses import Loss
from celosia.core.errors import InputError
from celosia.core.methods import Parameter
from celosia.core.neighbours import ADD_REMOVE
from celosia.core.numbers import exactly
from celosia.core.randomness import Source
from celosia.mechanisms import Geometric, KeyHistogram
from celosia.tables.private.budget import TableBudget, round_down
from celosia.tables.private.declarations import DomainDeclarations, ListedColumn, PublicColumn

Codes = NDArray[np.int64]

KINDS = ("text", "integer", "decimal")
"""What a column whose domain is to be found holds: declared too, so that no cell tells it."""
EMPTY_CELLS: Mapping[str, Any] = {"text": "", "integer": 0, "decimal": 0.0}
"""A value of each kind, by which files are read."""
MOST_EXPONENT = 52
LEAST_EXPONENTS = {"integer": 0, "decimal": -16}
"""Numbers nearer to 0 than two to this power count as 0."""
SURE = 0.99
"""How sure it is that no empty range of numbers is taken for a full one."""


def _check_discover(given: Any) -> dict[str, str]:
    found = dict(given.items())
    if not found or not {*found.values()} <= {*KINDS}:
        raise ValueError
    return found


DISCOVER = Parameter(
    check=_check_discover,
    allowed="tables.must_be.kinds_by_column",
    example='{city = "text", income = "integer"}',
)
"""Columns whose domains are found privately, and what they hold."""


@dataclass(frozen=True)
class DiscoveryPlan:
    """What finding the domains of some columns costs, and what is left for all else.

    Epsilon is divided by a declared share, and each column gets an equal part of it; half of delta
    is for the thresholds of columns of text, in equal parts too. What is left of epsilon and delta
    is the budget of the measurements: both add up (basic composition).

    Guarantee: (epsilon, delta)-DP in all, where one privacy unit has at most `most_rows` rows of a
    column. Values of text are released where the noisy number of units that have them is above a
    threshold (`KeyHistogram` has the proof); numbers are counted by sign and power of two in ranges
    that are fixed beforehand, with noise on all of them.
    """

    budget: TableBudget
    kinds: tuple[str, ...]
    """Of the columns."""
    share: float
    """Of epsilon."""
    most_rows: tuple[int, ...] = ()
    """Of one privacy unit, for each column; one if left out."""

    @property
    def rest(self) -> TableBudget:
        """What is left for the measurements."""
        if not self.kinds:
            return self.budget
        spent = sum((_meant(each.epsilon) for each in self.mechanisms), Fraction(0))
        epsilon = round_down(_meant(self.budget.epsilon) - spent)
        return TableBudget(epsilon, self.budget.delta / 2 if self._texts else self.budget.delta)

    @property
    def _texts(self) -> int:
        return self.kinds.count("text")

    @cached_property
    def mechanisms(self) -> tuple[KeyHistogram | Geometric, ...]:
        """One a column.

        Raises:
            InputError: CEL-Y029 values of text without a delta.
        """
        if not self.kinds:
            return ()
        if self._texts and not self.budget.delta:
            raise InputError("CEL-Y029")
        epsilon = round_down(_meant(self.budget.epsilon) * _meant(self.share) / len(self.kinds))
        delta = self.budget.delta / 2 / max(self._texts, 1) * (1 - 2**-50)
        caps = self.most_rows or (1,) * len(self.kinds)
        return tuple(
            KeyHistogram(epsilon=epsilon, delta=delta, keys_per_unit=most, neighbours=ADD_REMOVE)
            if kind == "text"
            else Geometric(epsilon=epsilon, sensitivity=most)
            for kind, most in zip(self.kinds, caps, strict=True)
        )

    def losses(self) -> tuple[Loss, ...]:
        """Of each column."""
        return tuple(each.privacy_loss() for each in self.mechanisms)

    def find(
        self,
        columns: Sequence[pl.Series],
        bins: int | Mapping[str, int],
        *,
        rng: Source,
        units: Sequence[Codes] | None = None,
    ) -> list[PublicColumn]:
        """The columns over the domains that were found.

        A column in which nothing is frequent enough has no value: it is released empty.

        Args:
            columns: the cells, in the order of `kinds`.
            bins: how many bins numbers are cut into.
            rng: of the noise.
            units: of each column, the privacy unit of each row, where one may have several.
        """
        found: list[PublicColumn] = []
        wanted = zip(columns, self.kinds, self.mechanisms, strict=True)
        for place, (series, kind, mechanism) in enumerate(wanted):
            _check_kind(series, kind)
            if isinstance(mechanism, KeyHistogram):
                mine = None if units is None else units[place]
                values = frequent_values(series, mechanism, rng, mine)
                found.append(ListedColumn(series.name, values))
                continue
            bounds = private_bounds(series, kind, mechanism, rng)
            if bounds is None:
                found.append(ListedColumn(series.name, pl.Series([], dtype=series.dtype)))
                continue
            declared = DomainDeclarations({}, {series.name: bounds}, bins)
            found += declared.columns(pl.Schema({series.name: series.dtype}), [series.name])
        return found


def frequent_values(
    series: pl.Series, mechanism: KeyHistogram, rng: Source, units: Codes | None
) -> pl.Series:
    """The values of text that enough privacy units have, sorted.

    A unit counts once for each of its values, of which it has as many as rows at most. Values that
    no unit has get no noise: that is what the threshold and its delta are for.
    """
    cells = series.cast(pl.String).alias("value").to_frame()
    if units is not None:
        cells = cells.with_columns(unit=pl.Series(units)).unique()
    counts = cells.drop_nulls("value").group_by("value").len().sort("value")
    noisy = counts["len"].to_numpy().astype(np.int64) + mechanism.noise.draw(counts.height, rng)
    return counts["value"].filter(pl.Series(noisy > mechanism.threshold))


def private_bounds(
    series: pl.Series, kind: str, mechanism: Geometric, rng: Source
) -> tuple[float, float] | None:
    """The ends of the ranges between powers of two that hold numbers; None where none seems to.

    Each number is in one of the ranges, which do not depend on the data; all of them get noise.
    """
    least = LEAST_EXPONENTS[kind]
    values = series.cast(pl.Float64).fill_nan(None).drop_nulls().to_numpy()
    # frexp is exact: a number is m 2^e with m from 1/2 to 1.
    exponents = np.clip(np.frexp(values)[1] - 1, least - 1, MOST_EXPONENT)
    exponents[np.isinf(values)] = MOST_EXPONENT
    places = np.where(np.abs(values) < 2.0**least, 0, exponents - least + 1)
    width = MOST_EXPONENT - least + 1
    signed = np.where(values < 0, -places, places) + width
    counts = np.bincount(signed.astype(np.int64), minlength=2 * width + 1).astype(np.int64)
    noisy = mechanism.release(counts, rng=rng)
    # From here on only released numbers are used.
    full = np.flatnonzero(noisy > mechanism.accuracy(SURE, size=counts.size)) - width
    if not full.size:
        return None
    low, high = (_ends(int(place), least, kind) for place in (full[0], full[-1]))
    if kind == "integer":
        return int(low[0]), max(int(high[1]), int(low[0]) + 1)
    return low[0], high[1]


def _ends(place: int, least: int, kind: str) -> tuple[float, float]:
    """The least and the greatest number of a range."""
    if place == 0:
        return (0.0, 0.0) if kind == "integer" else (-(2.0**least), 2.0**least)
    near = 2.0 ** (least + abs(place) - 1)
    far = 2 * near - 1 if kind == "integer" else 2 * near
    return (near, far) if place > 0 else (-far, -near)


def _check_kind(series: pl.Series, kind: str) -> None:
    dtype = series.dtype
    fits = {
        "text": dtype == pl.String or isinstance(dtype, pl.Enum | pl.Categorical),
        "integer": dtype.is_integer(),
        "decimal": dtype.is_numeric(),
    }
    if not fits[kind]:
        raise InputError("CEL-Y022.kind", dtype=dtype, kind=kind, column=series.name)


def _meant(number: float) -> Fraction:
    return exactly(number)
