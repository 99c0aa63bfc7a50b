"""Read a table so that no cell decides what a private column holds.

The type of a column of text is found out from its cells: a single "x" among ages makes all of them
text, and a differentially private step would then refuse the table, or release decimals in place of
whole numbers. Either tells that a record has such a cell. So these columns are read as text, and
turned into what their declaration says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from celosia import frames
from celosia.tables.masking.method import MaskingMethod

DIALECT = ("delimiter", "encoding", "header", "decimal")
"""What `frames.read` can be told of how a file of text is written."""
LARGEST = 2.0**53
"""Of a whole number: bounds are within it, so that to clip there changes nothing."""


def read_for_methods(
    path: str | Path,
    methods: Iterable[MaskingMethod],
    *,
    types: Mapping[str, frames.ColumnType] | None = None,
    **reading: Any,
) -> pl.DataFrame:
    """The table in a file; columns that a private method declares by their declarations alone.

    In a file of text, a column with whole `bounds` such as [0, 100] holds whole numbers (decimals
    are rounded), one with bounds such as [0.0, 100.0] decimals, and one with a domain what its
    values are. A cell that is none of these is empty. Files that have types of their own keep them.
    Where semicolons or tabulators are between the cells, a comma in a number is a decimal comma,
    also in 1,234: no other cell may be asked whether it stands between thousands.

    Args:
        path: the file.
        methods: what is to be done; only differentially private ones matter here.
        types: what certain columns must hold, by a schema.
        reading: how else to read it, as for `frames.read`.
    """
    wanted: dict[str, frames.ColumnType] = dict(types or {})
    if frames.source_format_of(path) not in ("csv", "tsv"):
        return frames.read(path, types=wanted, **reading)
    declared = _declared(methods)
    texts: dict[str, frames.ColumnType] = dict.fromkeys(declared, "string")
    frame = frames.read(path, types=wanted | texts, **reading)
    dialect = {key: reading[key] for key in DIALECT if key in reading}
    marks = frames.possible_marks(path, **dialect)
    return frame.with_columns(
        _typed(frame.get_column(name), values, marks).alias(name)
        for name, values in declared.items()
    )


def _declared(methods: Iterable[MaskingMethod]) -> dict[str, tuple[Any, ...]]:
    """The values or bounds that the first private method declares of each column."""
    found: dict[str, tuple[Any, ...]] = {}
    for method in methods:
        for name, values in method.declared_values().items():
            found.setdefault(name, values)
    return found


def _typed(texts: pl.Series, declared: tuple[Any, ...], marks: Sequence[frames.Mark]) -> pl.Series:
    """Text as declared; what cannot be read so is empty."""
    cells = texts.alias("")
    if any(isinstance(value, str | bool) for value in declared):
        return cells
    written = frames.with_points(cells.str.strip_chars(), marks)
    numbers = written.cast(pl.Float64, strict=False)
    if all(isinstance(value, int) for value in declared):
        return numbers.fill_nan(None).clip(-LARGEST, LARGEST).round(0).cast(pl.Int64)
    return numbers
