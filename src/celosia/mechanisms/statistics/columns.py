"""One column of a table as arrays, checked before any noise is drawn.

What cannot be used is refused with the number of bad rows, never with a value. A refusal is an
answer too: it tells that the column has such rows, so clean columns before they are asked about.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import Decimal
from enum import StrEnum
from math import nan
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.numbers import real, whole

if TYPE_CHECKING:
    import polars as pl
    from typing_extensions import TypeIs

Rows: TypeAlias = "Sequence[Any] | NDArray[Any] | pl.Series"
"""One column: a list or tuple, an array of one dimension, or a Polars series."""

Key = str | int | bool
"""What rows are grouped by."""


class KeyKind(StrEnum):
    """What keys are: keys of two kinds have no order, and 1 would be the same key as true."""

    TEXT = "texts"
    WHOLE = "whole numbers"
    TRUTH = "truth values"

    @property
    def named(self) -> Message:
        """What keys of this kind are called."""
        if self is KeyKind.TEXT:
            return Message("mechanisms.kind.texts")
        if self is KeyKind.WHOLE:
            return Message("mechanisms.kind.whole_numbers")
        return Message("mechanisms.kind.truth_values")


def numbers(rows: Rows) -> NDArray[np.float64]:
    """The column as finite floats; truth values count as 0 and 1.

    >>> numbers([1, 2.5, True]).tolist()
    [1.0, 2.5, 1.0]

    Raises:
        InputError: CEL-M080 not one column; CEL-M081 rows without a finite number.
    """
    column = _column(rows)
    if _is_series(column):
        import polars as pl  # loaded already, for there is a series

        usable = column.dtype.is_numeric() or column.dtype == pl.Boolean
        values = column.cast(pl.Float64).to_numpy() if usable else np.full(len(column), nan)
    elif isinstance(column, np.ndarray):
        with np.errstate(over="ignore"):  # an extended float too large for a float is infinite
            values = (
                column.astype(np.float64)
                if column.dtype.kind in "biuf"
                else np.full(column.size, nan)
            )
    else:
        values = _listed_numbers(column)
    bad = int(np.count_nonzero(~np.isfinite(values)))
    if bad:
        raise InputError("CEL-M081.not_finite", bad=bad, rows=len(values))
    return values


def tally(rows: Rows) -> tuple[int, int]:
    """How many rows there are, and how many of them count: the true ones of a column of flags.

    >>> tally(["a", None, "b"]), tally([True, False, True])
    ((3, 3), (3, 2))

    Raises:
        InputError: CEL-M080 not one column; CEL-M081 a flag is missing.
    """
    column = _column(rows)
    size = len(column)
    if _is_series(column):
        import polars as pl

        if column.dtype != pl.Boolean:
            return size, size
        missing, true = column.null_count(), int(column.sum())
    elif isinstance(column, np.ndarray):
        return size, int(np.count_nonzero(column)) if column.dtype.kind == "b" else size
    else:
        flags = [bool(row) for row in column if isinstance(row, bool | np.bool_)]
        # One flag makes it a column of flags. Were a column of flags with one other row counted by
        # rows instead, that row would move the count by more than one.
        if not flags:
            return size, size
        missing, true = size - len(flags), sum(flags)
    if missing:
        raise InputError("CEL-M081.not_truth_values", bad=missing, rows=size)
    return size, true


def key_counts(rows: Rows) -> tuple[dict[Key, int], KeyKind | None]:
    """How many rows each key has, in the order of the keys, and what the keys are.

    >>> key_counts(["b", "a", "b"])
    ({'a': 1, 'b': 2}, <KeyKind.TEXT: 'texts'>)

    Raises:
        InputError: CEL-M080 not one column; CEL-M083 missing keys, or keys of two kinds.
    """
    column, kind = _as_keys(rows)
    found: Iterable[tuple[Any, int]]
    if _is_series(column):
        table = column.alias("key").value_counts(name="rows")
        found = zip(table["key"].to_list(), table["rows"].to_list(), strict=True)
    elif isinstance(column, np.ndarray):
        keys, sizes = np.unique(column, return_counts=True)
        found = zip(keys.tolist(), sizes.tolist(), strict=True)
    else:
        found = Counter(column).items()
    return dict(sorted((plain_key(key), size) for key, size in found)), kind


def key_codes(rows: Rows) -> NDArray[np.int64]:
    """A whole number from 0 for each row, the same for rows of the same key and for no others.

    >>> key_codes(["b", "a", "b"]).tolist()
    [0, 1, 0]

    Raises:
        InputError: as in `key_counts`.
    """
    column, _ = _as_keys(rows)
    if _is_series(column):
        from celosia.frames.codes import encode  # loads Polars

        return encode(column).codes.astype(np.int64)
    if isinstance(column, np.ndarray):
        return np.unique(column, return_inverse=True)[1].astype(np.int64)
    seen: dict[Any, int] = {}
    codes = (seen.setdefault(row, len(seen)) for row in column)
    return np.fromiter(codes, dtype=np.int64, count=len(column))


def kind_of(key: object) -> KeyKind | None:
    """What a key is; None where it cannot be one (missing, a float, a list ...)."""
    if isinstance(key, str):
        return KeyKind.TEXT
    if isinstance(key, bool | np.bool_):
        return KeyKind.TRUTH
    return None if whole(key) is None else KeyKind.WHOLE


def plain_key(key: Any) -> Key:
    """The same key as a plain Python value."""
    if isinstance(key, bool | np.bool_):
        return bool(key)
    # A text that is also something else (a member of an enumeration) may print as another text than
    # the one it equals, and one such row would rename the key of all others.
    return str.__str__(key) if isinstance(key, str) else int(key)


def _is_series(rows: object) -> TypeIs[pl.Series]:
    return isinstance(rows, _polars("Series"))


def _polars(name: str) -> tuple[type[Any], ...]:
    """A class of Polars, for `isinstance`; where Polars was never loaded, nothing is of it."""
    found = getattr(sys.modules.get("polars"), name, None)
    return () if found is None else (found,)


def _column(rows: object) -> pl.Series | NDArray[Any] | list[Any]:
    """A series, an array of one dimension that does not hold objects, or a list."""
    if _is_series(rows):
        return rows
    if isinstance(rows, np.ma.MaskedArray):
        return _column(rows.tolist())  # a masked row is a missing one
    if hasattr(rows, "__array__") and not isinstance(rows, (np.generic, *_polars("DataFrame"))):
        array = np.asarray(rows)
        if array.ndim == 1:
            return array.tolist() if array.dtype.kind == "O" else array
    elif isinstance(rows, list | tuple):
        return list(rows)
    raise InputError("CEL-M080")


def _listed_numbers(column: list[Any]) -> NDArray[np.float64]:
    if set(map(type, column)) <= {int, float, bool}:
        try:
            return np.array(column, dtype=np.float64)
        except OverflowError:  # a whole number beyond all floats: found below, and counted
            pass
    return np.array([_number(row) for row in column], dtype=np.float64)


def _number(row: object) -> float:
    if isinstance(row, bool | np.bool_):
        return float(row)
    if isinstance(row, Decimal):
        return float(row) if row.is_finite() else nan  # one too large becomes infinite
    number = real(row)
    return nan if number is None else number


def _as_keys(rows: Rows) -> tuple[pl.Series | NDArray[Any] | list[Any], KeyKind | None]:
    """The column with the kind of its keys; None where it is empty."""
    column = _column(rows)
    if _is_series(column):
        import polars as pl

        if isinstance(column.dtype, pl.Categorical | pl.Enum):
            column = column.cast(pl.String)
        kind = _kind_of_series(column)
        if len(column) and (kind is None or column.null_count()):
            raise _bad_keys(len(column) if kind is None else column.null_count(), len(column))
        return column, kind
    if isinstance(column, np.ndarray):
        kind = {"b": KeyKind.TRUTH, "i": KeyKind.WHOLE, "u": KeyKind.WHOLE, "U": KeyKind.TEXT}.get(
            column.dtype.kind
        )
        if column.size and kind is None:
            raise _bad_keys(column.size, column.size)
        # Python counts texts faster than NumPy sorts them.
        return (column.tolist() if kind is KeyKind.TEXT else column), kind
    types = Counter(map(type, column))
    kinds = Counter[KeyKind | None]()
    examples = {type(row): row for row in column}
    for each, size in types.items():
        kinds[kind_of(examples[each])] += size
    if kinds[None]:
        raise _bad_keys(kinds[None], len(column))
    found = [kind for kind, size in kinds.items() if kind is not None and size]
    if len(found) > 1:
        named = [kind.named for kind in sorted(found)]
        raise InputError("CEL-M083.several_kinds", count=len(found), kinds=named)
    return column, found[0] if found else None


def _kind_of_series(column: pl.Series) -> KeyKind | None:
    import polars as pl

    if column.dtype == pl.String:
        return KeyKind.TEXT
    if column.dtype == pl.Boolean:
        return KeyKind.TRUTH
    return KeyKind.WHOLE if column.dtype.is_integer() else None


def _bad_keys(bad: int, size: int) -> InputError:
    return InputError("CEL-M083.no_key", bad=bad, rows=size)
