"""The masking method `local-suppression`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl

from celosia.core.errors import InputError, PrivacyError
from celosia.core.messages import Message, did_you_mean
from celosia.core.methods import parameter
from celosia.core.numbers import real
from celosia.core.progress import Progress
from celosia.frames import as_text, encode
from celosia.tables.masking.method import MaskingMethod, MethodResult, Work, cells, check_columns
from celosia.tables.masking.suppression import minimum, own_value, wildcard
from celosia.tables.masking.suppression.costs import (
    BLANK,
    Codes,
    class_sizes,
    cost_of,
    matching,
)

MOST_COLUMNS = 12
"""Each set of columns is looked at, and their number doubles with every column."""


def _check_weights(value: Any) -> dict[str, float]:
    weights = {name: real(weight) or 0.0 for name, weight in value.items()}
    if not all(1e-6 <= weight <= 1e6 for weight in weights.values()):
        raise ValueError
    return weights


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalSuppression(MaskingMethod):
    """Blanks as few cells as it can so that every combination of the columns occurs k times.

    Args:
        k: how often each combination of key values must occur.
        reading: what a blank cell is to an attacker: "own", a value of its own, so that records
            blank in the same columns are alike; or "any", something that matches every value, as
            mu-Argus and sdcMicro count. "any" blanks far fewer cells and hides less: k - 1
            records that are blank throughout would satisfy it for a whole table.
        weights: the importance of columns, 1 where none is given; cells of important columns are
            blanked last.
        subsets: if given, only every combination of this number of columns must occur k times.
        marker: what stands in a blanked cell, such as "*"; its column becomes text. By default the
            cell is empty.

    Cells that are empty already stay so. Without a marker they cannot be told from blanked ones and
    count as those; with one, and read as "own", emptiness is a value like others.

    Guarantee: every combination of the released columns occurs k times at least, counted as
    `reading` says; checked on the released cells. It says nothing of differential privacy.

    Reference: Samarati 2001; Hundepool et al. 2012, Statistical Disclosure Control, 3.4.3.
    """

    method_name: ClassVar[str] = "local-suppression"
    randomised: ClassVar[bool] = False
    truthful: ClassVar[bool] = True

    k: int = parameter(least=2, start=3)
    reading: Literal["own", "any"] = "own"
    weights: Mapping[str, float] | None = parameter(
        None, check=_check_weights, allowed="tables.must_be.weights", example="{ age = 3 }"
    )
    subsets: int | None = parameter(None, least=1)
    marker: str | None = None

    def _apply(self, frame: pl.DataFrame, columns: Sequence[str], work: Work) -> MethodResult:
        self._check(frame, columns)
        if not frame.height:
            raise InputError("CEL-V303.no_rows", k=self.k)
        codes = self._codes(frame, columns)
        costs = [float((self.weights or {}).get(name, 1.0)) for name in columns]
        if self.subsets is None or self.subsets == len(columns):
            start = self._greedy(codes, costs, work.progress)
            best = minimum.minimum_suppression(codes, self.k, costs, start, self.reading)
        else:
            start = self._by_subsets(codes, costs, work.progress)
            bound = 0.0 if (start == codes).all() else min(costs)
            best = minimum.Minimum(start, bound, cost_of(codes, start, costs) <= bound)
        released = self._write(frame, columns, (best.released == BLANK) & (codes != BLANK))
        self._verify(released, columns)
        return MethodResult(frame=released, facts=self._facts(columns, codes, start, best, costs))

    def promise(self, columns: Sequence[str]) -> str | None:
        names, own = list(columns), self.reading == "own"
        if self.subsets is None:
            key = "masking.promise.combinations" if own else "masking.promise.combinations_any"
            return Message(key, columns=names, k=self.k)
        key = "masking.promise.subsets" if own else "masking.promise.subsets_any"
        return Message(key, columns=names, k=self.k, subsets=self.subsets)

    def leaves_open(self, columns: Sequence[str]) -> tuple[str, ...]:
        gaps: tuple[str, ...] = (Message("masking.gap.homogeneous_class"),)
        if self.reading == "any":
            gaps += (Message("masking.gap.blank_as_any"),)
        if self.subsets is not None:
            gaps += (Message("masking.gap.larger_combinations", subsets=self.subsets),)
        return gaps

    def _check(self, frame: pl.DataFrame, columns: Sequence[str]) -> None:
        check_columns(frame, columns, self.method_name)
        unknown = [name for name in self.weights or {} if name not in columns]
        if unknown:
            raise InputError(
                "CEL-V302.unknown_column",
                unknown=unknown[0],
                hint=did_you_mean(unknown[0], columns),
            )
        if len(columns) > MOST_COLUMNS:
            raise InputError(
                "CEL-V306", kind=self.method_name, most_columns=MOST_COLUMNS, columns=len(columns)
            )
        if self.subsets is not None and self.subsets > len(columns):
            raise InputError("CEL-V305.too_many", subsets=self.subsets, columns=len(columns))
        if frame.height and frame.height < self.k:
            raise InputError("CEL-V303.too_few_rows", rows=frame.height, k=self.k)

    def _codes(self, frame: pl.DataFrame, columns: Sequence[str]) -> Codes:
        codes = np.empty((frame.height, len(columns)), dtype=np.int64)
        for place, name in enumerate(columns):
            coded = encode(cells(frame, name))
            codes[:, place] = coded.codes
            if self.marker is not None and self.reading == "own":
                codes[codes[:, place] < 0, place] = len(coded.values)
        return codes

    def _greedy(self, codes: Codes, costs: Sequence[float], progress: Progress) -> Codes:
        solve = own_value.greedy if self.reading == "own" else wildcard.greedy
        return solve(codes, self.k, costs, progress=progress)

    def _by_subsets(self, codes: Codes, costs: Sequence[float], progress: Progress) -> Codes:
        """Each subset in turn, until none changes: cells are only ever blanked, so it ends."""
        assert self.subsets is not None
        released = codes.copy()
        while True:
            before = released.copy()
            for chosen in map(list, combinations(range(len(costs)), self.subsets)):
                part = released[:, chosen]
                released[:, chosen] = self._greedy(part, [costs[c] for c in chosen], progress)
            if (before == released).all():
                return released

    def _write(self, frame: pl.DataFrame, columns: Sequence[str], blank: Codes) -> pl.DataFrame:
        written = []
        for place, name in enumerate(columns):
            gone = pl.Series(blank[:, place])
            if not gone.any():
                continue
            series = cells(frame, name)
            series = series if self.marker is None else as_text(series)
            filler = pl.Series([self.marker], dtype=series.dtype).new_from_index(0, frame.height)
            written.append(series.zip_with(~gone, filler).alias(name))
        return frame.with_columns(written)

    def _verify(self, released: pl.DataFrame, columns: Sequence[str]) -> None:
        """Count again, from the cells that are released and not from the codes."""
        size = len(columns) if self.subsets is None else self.subsets
        # Numbered anew: Polars reads some names as patterns.
        shown = pl.DataFrame([cells(released, c).alias(str(n)) for n, c in enumerate(columns)])
        for chosen in combinations(shown.columns, size):
            if self.reading == "own":
                rarest = shown.group_by(list(chosen)).len("count")["count"].min()
            else:
                codes = np.column_stack([self._read_as_any(shown[name]) for name in chosen])
                rarest = matching(codes, codes).min()
            if rarest is None or int(str(rarest)) < self.k:
                raise PrivacyError("CEL-V307")

    def _read_as_any(self, series: pl.Series) -> Codes:
        codes = encode(series).codes.astype(np.int64)
        if self.marker is not None and series.dtype == pl.String:
            codes[(series == self.marker).fill_null(value=False).to_numpy()] = BLANK
        return codes

    def _facts(
        self,
        columns: Sequence[str],
        codes: Codes,
        start: Codes,
        best: minimum.Minimum,
        costs: Sequence[float],
    ) -> dict[str, Any]:
        blank = (best.released == BLANK) & (codes != BLANK)
        rare = class_sizes(codes) if self.reading == "own" else matching(codes, codes)
        return {
            "k": self.k,
            "reading": self.reading,
            "rare_before": int((rare < self.k).sum()),
            "cells": int(blank.sum()),
            "cells_by_column": {
                name: int(blank[:, place].sum()) for place, name in enumerate(columns)
            },
            "records_touched": int(blank.any(axis=1).sum()),
            "records_fully_blank": int((best.released == BLANK).all(axis=1).sum()),
            "cost": round(cost_of(codes, best.released, costs), 9),
            "cost_of_greedy": round(cost_of(codes, start, costs), 9),
            "lower_bound": round(best.lower_bound, 9),
            "proved_minimal": bool(best.proved),
        }
