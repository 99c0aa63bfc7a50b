"""The columns a table may have: named once each, and flat."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import polars as pl

from celosia.core.errors import InputError

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
    place = "" if path is None else f"{path}: "
    nameless = [
        position
        for position, name in enumerate(names, 1)
        if not isinstance(name, str) or not name.strip()
    ]
    if nameless:
        raise InputError(
            "CEL-F003",
            f"{place}the column names at {_positions(nameless)} are empty or not text.",
            why="A column is spoken of by its name.",
            fix="Give every column a name.",
            positions=nameless,
        )
    texts = [str(name) for name in names]
    patterns = [name for name in texts if name.startswith("^") and name.endswith("$")]
    if patterns:
        raise InputError(
            "CEL-F028",
            f"{place}column {patterns[0]!r} has a name that looks like a search pattern.",
            why="It could be taken for other columns, and these be released in its place.",
            fix="Rename the column: leave out the ^ in front or the $ at the end.",
            column=patterns[0],
        )
    twice = [name for name, count in Counter(texts).items() if count > 1]
    if twice:
        raise _duplicates(texts, twice, place)
    return texts


def check_flat(frame: pl.DataFrame) -> pl.DataFrame:
    """The same frame, refused if a cell can hold more than one value."""
    nested = [name for name, dtype in frame.schema.items() if isinstance(dtype, _REFUSED)]
    if nested:
        raise nested_columns(nested)
    return frame


def nested_columns(names: Sequence[str]) -> InputError:
    """The error for columns of lists, records, bytes, intervals or arbitrary objects."""
    return InputError(
        "CEL-F006",
        f"column {', '.join(map(repr, names))}: the cells hold lists, records, bytes or objects.",
        why="Privacy models are about columns with one plain value in each cell.",
        fix="Unnest the column, make it text, or drop it first.",
        columns=list(names),
    )


def mixed_column(column: str, row: int, before: str, after: str) -> InputError:
    """The error for a column whose values change their kind at a row."""
    return InputError(
        "CEL-F005",
        f"column {column!r} mixes kinds of values: {before} first, {after} at row {row}.",
        why="Values of different kinds cannot be compared, sorted or generalised together.",
        fix="Make the column all text, or clean that row and those like it.",
        column=column,
        row=row,
    )


def unfit_columns(names: Sequence[str]) -> InputError:
    """The error for columns whose values fit no type that we have."""
    return InputError(
        "CEL-F008",
        f"column {', '.join(map(repr, names))} cannot be taken in: its values fit no plain type.",
        why="Values would be lost or changed in silence.",
        fix="Make the column text, ordinary numbers, dates or true and false first.",
        columns=list(names),
    )


def _duplicates(names: list[str], twice: list[str], place: str) -> InputError:
    found = [
        f"column {name!r} comes more than once "
        f"({_positions([i for i, other in enumerate(names, 1) if other == name])})"
        for name in twice
    ]
    return InputError(
        "CEL-F002",
        f"{place}{'; '.join(found)}.",
        why="A column is spoken of by its name.",
        fix="Rename all but one of them.",
        columns=twice,
    )


def _positions(numbers: Sequence[int]) -> str:
    return ("position " if len(numbers) == 1 else "positions ") + ", ".join(map(str, numbers))


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
