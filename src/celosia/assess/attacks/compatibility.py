"""Which cells of two tables may belong to one person, given the meaning of their labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.assess.attacks.classes import number_combinations
from celosia.assess.meaning import SUPPRESSED, ExactMeaning, Meaning
from celosia.core.errors import InputError
from celosia.frames import encode

Meanings = Mapping[str, Meaning]
"""What the labels of columns stand for; a column without one was released as it is."""


@dataclass(frozen=True, slots=True, eq=False)
class CodedColumn:
    """A column as the places of its cells among its distinct ones; empty cells have place 0."""

    codes: NDArray[np.int64]
    cells: list[str | None]

    @classmethod
    def of(cls, column: pl.Series) -> CodedColumn:
        """Code a column of text."""
        coded = encode(column)
        return cls(coded.codes.astype(np.int64) + 1, [None, *coded.values.to_list()])


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """The pairs of cells of two columns that fit, and how many raw values fit both."""

    pairs: pl.DataFrame
    """`left` and `right` (places of cells), `shared` (raw values), `key` of both; by key."""
    reading: pl.DataFrame
    """The raw values themselves: `left`, `right` and `value`."""
    width: int

    def shared(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many raw values fit both cells, for pairs of places; 0 if they cannot be one's."""
        keys, shared = self.pairs["key"].to_numpy(), self.pairs["shared"].to_numpy()
        wanted = left * self.width + right
        at = np.minimum(np.searchsorted(keys, wanted), max(keys.size - 1, 0))
        return np.where(keys[at] == wanted, shared[at], 0) if keys.size else np.zeros_like(wanted)


def fit(
    left: CodedColumn,
    right: CodedColumn,
    meaning: Meaning | None,
    column: str,
    *,
    raw: bool = False,
) -> Fit:
    """Match the distinct cells of two columns.

    An empty cell stands for an empty one only; `*`, and a label that stands for every raw value,
    for these as well. With `raw`, the left cells are raw values and not labels.

    Raises:
        InputError: CEL-A052 labels that stand for nothing.
    """
    texts = [
        cell for side in (left, right) for cell in side.cells if cell not in (None, SUPPRESSED)
    ]
    meant = ExactMeaning(tuple(dict.fromkeys(map(str, texts)))) if meaning is None else meaning
    place = {text: number for number, text in enumerate(meant.values)}
    if raw:  # people whose values are not in the hierarchy fit `*` alone
        for cell in left.cells:
            if cell is not None and cell != SUPPRESSED:
                place.setdefault(cell, len(place))
    # The last value stands for an empty cell.
    sides = (
        _readings(left, place, None if raw else meant, column).rename({"cell": "left"}),
        _readings(right, place, meant, column).rename({"cell": "right"}),
    )
    width = len(right.cells)
    reading = sides[0].join(sides[1], on="value").select("left", "right", "value")
    pairs = (
        reading.group_by("left", "right")
        .agg(pl.len().cast(pl.Int64).alias("shared"))
        .with_columns((pl.col("left") * width + pl.col("right")).alias("key"))
        .sort("key")
    )
    return Fit(pairs, reading, width)


def _readings(
    side: CodedColumn, place: Mapping[str, int], meaning: Meaning | None, column: str
) -> pl.DataFrame:
    """One row for each cell and raw value that it may stand for; without a meaning, itself."""
    every = np.arange(len(place) + 1, dtype=np.int64)
    found: list[NDArray[np.int64]] = []
    for cell in side.cells:
        if cell is None:
            found.append(every[-1:])
        elif cell == SUPPRESSED:
            found.append(every)
        elif meaning is None:
            found.append(every[place[cell] : place[cell] + 1])
        else:
            stands = meaning.stands_for(cell)
            is_root = stands.size == len(meaning.values) and cell not in place
            found.append(every if is_root else stands)
    unknown = sum(values.size == 0 for values in found)
    if unknown:
        raise InputError("CEL-A052", column=column, labels=unknown)
    sizes = [values.size for values in found]
    cells = np.repeat(np.arange(len(found), dtype=np.int64), sizes)
    return pl.DataFrame({"cell": cells, "value": np.concatenate(found)})


def fitting_pairs(
    left: Sequence[NDArray[np.int64]], right: Sequence[NDArray[np.int64]], fits: Sequence[Fit]
) -> pl.DataFrame:
    """Every `left` and `right` row that fit in all columns; the rows of each side are distinct.

    Column by column, only beginnings that fit so far are carried on, each of them once, so the
    work follows the number of pairs that fit and not that of all pairs.
    """
    pairs = pl.DataFrame(
        {"left": [0], "right": [0]}, schema=dict.fromkeys(("left", "right"), pl.Int64)
    )
    begun = [np.zeros(side[0].size, dtype=np.int64) for side in (left, right)]
    for ours, theirs, matching in zip(left, right, fits, strict=True):
        steps = []
        for number, codes in enumerate((ours, theirs)):
            before = begun[number]
            begun[number] = number_combinations([before, codes])
            step = {"before": before, "cell": codes, "after": begun[number]}
            steps.append(pl.DataFrame(step).unique())
        pairs = (
            pairs.join(steps[0], left_on="left", right_on="before")
            .join(
                matching.pairs.select("left", "right"),
                left_on="cell",
                right_on="left",
                suffix="_cell",
            )
            .join(
                steps[1],
                left_on=["right", "right_cell"],
                right_on=["before", "cell"],
                suffix="_right",
            )
            .select(pl.col("after").alias("left"), pl.col("after_right").alias("right"))
        )
    rows = [np.argsort(number, kind="stable") for number in begun]
    return pl.DataFrame(
        {
            "left": rows[0][pairs["left"].to_numpy()],
            "right": rows[1][pairs["right"].to_numpy()],
        }
    )
