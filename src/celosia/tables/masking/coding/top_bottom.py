"""Top and bottom coding: the ends of a column are released as 'beyond a threshold'."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError, PrivacyError
from celosia.core.progress import Progress, silent
from celosia.core.randomness import Source
from celosia.frames import as_text
from celosia.tables.masking.coding.labels import written
from celosia.tables.masking.columns import cells, numbers, with_numbers
from celosia.tables.masking.method import Masked, Method
from celosia.tables.masking.parameters import choice, flag, not_together, number, put, wrong

Matrix = NDArray[np.float64]

FEWEST = 3
"""Fewer cells than this are nearly told by their mean or median; one is told exactly."""

Ends = Literal["top", "bottom"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TopBottom(Method):
    """Values above one threshold and below another become labels, or one number for each end.

    With labels the column becomes text. Empty cells stay empty.

    Args:
        top: values above it are coded.
        bottom: values below it are coded.
        top_quantile: instead of `top`, the quantile at which the threshold lies, such as 0.95.
        bottom_quantile: instead of `bottom`, such as 0.05.
        inclusive: values equal to a threshold are coded too: '≥10' and '≤0' in place of '>10' and
            '<0'.
        replace: 'label' writes the threshold; 'mean' and 'median' put that of the coded values,
            which keeps the column numeric ('mean' also its total) and is true of none of them.

    Guarantee: none. It takes away the values that stand out alone in this column.

    Reference: Willenborg & de Waal 2001.

    >>> from celosia.core.randomness import Seeded
    >>> frame = pl.DataFrame({"children": [0, 2, 15, None]})
    >>> TopBottom(top=10).apply(frame, ["children"], rng=Seeded(7)).frame["children"].to_list()
    ['0', '2', '>10', None]
    """

    kind = "top-bottom"
    summary = "releases the ends of a column as beyond a threshold"
    randomised = False
    truthful = True

    top: float | None = None
    bottom: float | None = None
    top_quantile: float | None = None
    bottom_quantile: float | None = None
    inclusive: bool = False
    replace: Literal["label", "mean", "median"] = "label"

    def __post_init__(self) -> None:
        for end in ("top", "bottom"):
            share = f"{end}_quantile"
            if getattr(self, end) is not None and getattr(self, share) is not None:
                raise not_together(self.kind, end, share, "An end has one threshold.")
            for name, rule in ((end, "a number"), (share, "a number above 0 and below 1")):
                if getattr(self, name) is not None:
                    inside = (lambda x: 0 < x < 1) if name == share else (lambda _: True)
                    value = number(self.kind, name, getattr(self, name), inside, rule)
                    put(self, **{name: value})
        flag(self.kind, "inclusive", self.inclusive)
        choice(self.kind, "replace", self.replace, ("label", "mean", "median"))
        if not any(
            each is not None
            for each in (self.top, self.bottom, self.top_quantile, self.bottom_quantile)
        ):
            raise wrong(self.kind, "top", "given, or 'bottom', or one of the quantiles")
        self._check_ends(self.bottom, self.top)
        self._check_ends(self.bottom_quantile, self.top_quantile)

    def apply(  # noqa: D102 - as in Method
        self,
        frame: pl.DataFrame,
        columns: Sequence[str],
        *,
        rng: Source,
        progress: Progress = silent,
    ) -> Masked:
        matrix = numbers(frame, columns, self.kind)
        masked = frame
        facts = {}
        for place, name in enumerate(columns):
            values = matrix[:, place]
            coded = self._coded(values, name)
            if self.replace == "label":
                texts = as_text(cells(frame, name)).scatter(np.flatnonzero(np.isnan(values)), None)
                for label, rows in coded.values():
                    texts = texts.scatter(rows, label)
                masked = masked.with_columns(texts.alias(name))
            else:
                masked = with_numbers(masked, [name], self._averaged(values, coded, name))
            facts[name] = {end: int(rows.size) for end, (_, rows) in coded.items()}
        return Masked(frame=masked, facts=facts)

    def leaves_open(self, columns: Sequence[str]) -> tuple[str, ...]:  # noqa: D102
        gaps = ["who is beyond a threshold is still told, and the values between are as they were"]
        if self.replace != "label":
            gaps.append(f"the {self.replace} of coded values is true of none of them")
        if self.top_quantile is not None or self.bottom_quantile is not None:
            gaps.append(
                "a threshold at a quantile is a value of the column, or between two of them"
            )
        return tuple(gaps)

    def _check_ends(self, low: float | None, high: float | None) -> None:
        if low is not None and high is not None and low >= high:
            raise wrong(self.kind, "bottom", "smaller than 'top'")

    def _coded(self, values: Matrix, name: str) -> dict[str, tuple[str, NDArray[np.int64]]]:
        """The label and the rows of each end."""
        filled = values[~np.isnan(values)]
        low = self._threshold(filled, self.bottom, self.bottom_quantile, name)
        high = self._threshold(filled, self.top, self.top_quantile, name)
        self._check_ends(low, high)
        found = {}
        if high is not None:
            beyond = values >= high if self.inclusive else values > high
            label = f"{'≥' if self.inclusive else '>'}{written(high)}"
            found["top"] = (label, np.flatnonzero(beyond))
        if low is not None:
            beyond = values <= low if self.inclusive else values < low
            label = f"{'≤' if self.inclusive else '<'}{written(low)}"
            found["bottom"] = (label, np.flatnonzero(beyond))
        return found

    def _threshold(
        self, filled: Matrix, given: float | None, share: float | None, name: str
    ) -> float | None:
        if share is None:
            return given
        if filled.size == 0:
            raise InputError(
                "CEL-V281",
                f"column '{name}' has no values, so it has no quantiles.",
                fix="Give the thresholds themselves, or leave the column out.",
                column=name,
            )
        return float(np.quantile(filled, share))

    def _averaged(
        self, values: Matrix, coded: dict[str, tuple[str, NDArray[np.int64]]], name: str
    ) -> Matrix:
        averaged = values.copy()
        average = np.mean if self.replace == "mean" else np.median
        for end, (_, rows) in coded.items():
            if 0 < rows.size < FEWEST:
                raise PrivacyError(
                    "CEL-V280",
                    f"column '{name}': {rows.size} cells lie beyond the {end} threshold, and their "
                    f"{self.replace} would nearly tell them.",
                    why=f"It takes at least {FEWEST}.",
                    fix="Move the threshold inwards, or use replace = 'label'.",
                    column=name,
                )
            averaged[rows] = average(values[rows]) if rows.size else 0.0
        return averaged[:, np.newaxis]
