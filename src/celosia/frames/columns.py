"""Columns: chosen, named, and as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import polars as pl

from celosia.core.errors import InputError
from celosia.core.messages import Message

_WHOLE_LIMIT = 2.0**63
"""Whole floats below this bound are written through an integer; beyond it they do not fit one."""


def as_text(series: pl.Series) -> pl.Series:
    """The canonical text of each value; missing values stay missing.

    Numbers lose a fraction of zero, so that a column of whole numbers has the same text whether it
    came as integers or as floats. Dates and times are ISO 8601, booleans `true` and `false`, and
    text is kept as it is.

    >>> as_text(pl.Series("age", [39.0, 0.5, None])).to_list()
    ['39', '0.5', None]
    """
    dtype = series.dtype
    if dtype == pl.String:
        return series
    if dtype.is_float():
        return _float_text(series)
    if dtype.is_decimal():
        text = series.cast(pl.String)
        return text.str.replace(r"(\.[0-9]*?)0+$", "$1").str.strip_suffix(".")
    if isinstance(dtype, pl.Datetime):
        zone = "%:z" if dtype.time_zone else ""
        return series.dt.strftime(f"%Y-%m-%dT%H:%M:%S%.f{zone}")
    if isinstance(dtype, pl.Duration | pl.Time):
        return series.dt.to_string("iso")
    return series.cast(pl.String)


def _float_text(series: pl.Series) -> pl.Series:
    value = pl.col("value")  # not its own name, which could be a pattern
    whole = value.is_finite() & (value == value.floor()) & (value.abs() < _WHOLE_LIMIT)
    text = (
        pl.when(whole)
        .then(value.cast(pl.Int64, strict=False).cast(pl.String))
        .otherwise(value.cast(pl.String))
    )
    return series.to_frame("value").select(text.alias(series.name)).to_series()


_REFUSED = (pl.List, pl.Array, pl.Struct, pl.Object, pl.Binary, pl.BaseExtension)


def check_names(names: Sequence[object], *, path: Path | None = None) -> list[str]:
    """The same names, refused if one is not text, is empty, comes twice, or is a pattern.

    >>> check_names(["age", "zip"])
    ['age', 'zip']
    >>> check_names(["age", "zip", "age"])
    Traceback (most recent call last):
        ...
    celosia.core.errors.InputError: column 'age' comes more than once (positions 1, 3). ...
    """
    error = _fault_of(names)
    if error is not None:
        raise error if path is None else error.within(str(path))
    return [str(name) for name in names]


def _fault_of(names: Sequence[object]) -> InputError | None:
    nameless = [
        position
        for position, name in enumerate(names, 1)
        if not isinstance(name, str) or not name.strip()
    ]
    if nameless:
        return InputError("CEL-F003", places=_positions(nameless), positions=nameless)
    texts = [str(name) for name in names]
    patterns = [name for name in texts if name.startswith("^") and name.endswith("$")]
    if patterns:
        return InputError("CEL-F028", column=patterns[0])
    twice = [name for name, count in Counter(texts).items() if count > 1]
    if twice:
        return _duplicates(texts, twice)
    return None


def check_flat(frame: pl.DataFrame) -> pl.DataFrame:
    """The same frame, refused if a cell can hold more than one value."""
    nested = [name for name, dtype in frame.schema.items() if isinstance(dtype, _REFUSED)]
    if nested:
        raise nested_columns(nested)
    return frame


def nested_columns(names: Sequence[str]) -> InputError:
    """The error for columns of lists, records, bytes, intervals or arbitrary objects."""
    return InputError("CEL-F006", names=", ".join(map(repr, names)), columns=list(names))


def mixed_column(column: str, row: int, before: str, after: str) -> InputError:
    """The error for a column whose values change their kind at a row."""
    return InputError("CEL-F005", before=before, after=after, column=column, row=row)


def unfit_columns(names: Sequence[str]) -> InputError:
    """The error for columns whose values fit no type that we have."""
    return InputError("CEL-F008.columns", names=", ".join(map(repr, names)), columns=list(names))


def _duplicates(names: list[str], twice: list[str]) -> InputError:
    found = [
        Message(
            "frames.duplicate",
            column=name,
            places=_positions([i for i, other in enumerate(names, 1) if other == name]),
        )
        for name in twice
    ]
    return InputError("CEL-F002", found=found, columns=twice)


def _positions(numbers: Sequence[int]) -> Message:
    return Message("frames.positions", count=len(numbers), numbers=numbers)


def pick(frame: pl.DataFrame, names: Iterable[str]) -> pl.DataFrame:
    """These columns in this order, by their very names: `select` would read "*" as all of them.

    >>> pick(pl.DataFrame({"*": [1], "age": [39]}), ["*"]).columns
    ['*']
    """
    return pl.DataFrame([frame.get_column(name) for name in names])


def unused_name(wanted: str, taken: Collection[str]) -> str:
    """A column name for our own use that hides no column of the user's.

    >>> unused_name("size", ["size", "age"])
    "size'"
    """
    while wanted in taken:
        wanted += "'"
    return wanted
