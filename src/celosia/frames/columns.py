"""Columns: chosen, named, as text, and the types that their texts have.

The type of a column of text is judged over all its rows. `3,14` can only be a decimal. `1,234` may
be one, or a thousand as it is written in English; and so may `1.234`, for that is how thousands are
written where decimals have a comma. Columns with such cells alone are in doubt, and the rest of the
file decides: one column with a comma that can only be decimal is enough.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Literal

import polars as pl

from celosia.core.errors import DataWarning, InputError
from celosia.core.messages import Message
from celosia.frames.formats import ColumnType, Mark

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


def distinct_names(names: Sequence[object], *, path: Path) -> list[str]:
    """The names in the head of a file; one that comes again gets a number, with a warning.

    Raises:
        InputError: CEL-F003 a name is missing, CEL-F028 one is a pattern.

    >>> with warnings.catch_warnings(action="ignore"):
    ...     distinct_names(["age", "zip", "age"], path=Path("people.csv"))
    ['age', 'zip', 'age (2)']
    """
    taken, found = set(map(str, names)), list(names)
    seen: set[str] = set()
    renamed = []
    for place, name in enumerate(names):
        if isinstance(name, str) and name in seen and name.strip():
            number = 2
            while (new := f"{name} ({number})") in taken:
                number += 1
            taken.add(new)
            found[place] = new
            renamed.append(new)
        seen.add(str(name))
    checked = check_names(found, path=path)
    if renamed:
        text = Message("frames.renamed", path=str(path), columns=renamed)
        warnings.warn(text, DataWarning, stacklevel=2)
    return checked


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


EXPONENT = "[eE][+-]?[0-9]+"
WHOLE = "(?:0|[1-9][0-9]*)"
SHORT_WHOLE = "(?:0|[1-9][0-9]{0,14})"
"""A whole number of 16 digits or more would lose digits as a float: it is a name, not a number."""

_GROUPED = r"[1-9][0-9]{0,2}(?:\.[0-9]{3})+"
"""Points between thousands, which are read only where a decimal comma follows them."""

WITH_COMMA = (
    f"^-?(?:{SHORT_WHOLE}|{WHOLE}?,[0-9]+(?:{EXPONENT})?|{_GROUPED},[0-9]+|{WHOLE}{EXPONENT})$"
)
"""A number with a decimal comma, or without decimals."""

_THOUSANDS: dict[Mark, str] = {
    mark: f"^-?[1-9][0-9]{{0,2}}[{mark}][0-9]{{3}}$" for mark in (".", ",")
}
"""What may be a number with three decimals, or a whole number of thousands."""


_SAMPLE = 200
"""Rows looked at first: nearly every column of decimals is told by them."""


def marks_for(delimiter: str, given: Mark | None) -> tuple[Mark, ...]:
    """The decimal marks that the columns of a file may have, by its delimiter alone.

    >>> marks_for(";", None), marks_for(",", None), marks_for("|", ",")
    (('.', ','), ('.',), (',',))
    """
    if given is not None:
        return (given,)
    return (".", ",") if delimiter in {";", "\t"} else (".",)


def pointed(text: pl.Series) -> pl.Series:
    """Numbers that match `WITH_COMMA` as they are written with a decimal point."""
    plain = text.str.replace_all(".", "", literal=True)
    return plain.str.replace(",", ".", literal=True)


def with_points(cells: pl.Series, marks: Sequence[Mark]) -> pl.Series:
    """Cells with decimal points in place of commas, each judged by itself and by no other.

    This is for columns whose cells must not decide about one another, as differential privacy
    demands. So there is no doubt here: where a file may have decimal commas, `1,234` has one.

    >>> with_points(pl.Series(["3,14", "1.234,5", "2.5", "x,y"]), (".", ",")).to_list()
    ['3.14', '1234.5', '2.5', 'x,y']
    >>> with_points(pl.Series(["3,14", "2.5"]), (",",)).to_list()
    ['3.14', None]
    """
    if "," not in marks:
        return cells
    fits = cells.str.contains(WITH_COMMA)
    other = cells if "." in marks else cells.set(cells.str.contains(".", literal=True), None)
    return pointed(cells).zip_with(fits.fill_null(False), other)


def has_mark(text: pl.Series, mark: Mark) -> bool:
    """Whether a column of numbers has the mark anywhere."""
    return bool(text.str.contains(mark, literal=True).any())


def is_certain(text: pl.Series, mark: Mark) -> bool:
    """Whether a column of numbers has the mark where it cannot stand between thousands.

    >>> is_certain(pl.Series(["1,234", "5"]), ","), is_certain(pl.Series(["0,234"]), ",")
    (False, True)
    """
    for part in (text.head(_SAMPLE), text):
        marked = part.str.contains(mark, literal=True)
        if (marked & ~part.str.contains(_THOUSANDS[mark])).any():
            return True
    return False


def in_doubt(column: str, mark: Mark) -> InputError:
    """The error for a column declared as decimal whose marks may stand between thousands."""
    return InputError("CEL-F060.commas" if mark == "," else "CEL-F060.points", column=column)


Narrow = Literal["integer", "decimal", "decimal comma", "date"]
"""The types narrower than text; decimals are told apart by how they are written."""

_DTYPES: dict[Narrow, type[pl.DataType]] = {
    "integer": pl.Int64,
    "decimal": pl.Float64,
    "decimal comma": pl.Float64,
    "date": pl.Date,
}

_PATTERNS: dict[Narrow, str] = {
    # No leading zero and no plus sign: 05345 is a postcode, not the number 5345.
    "integer": "^(?:0|-?[1-9][0-9]{0,18})$",
    "decimal": f"^-?(?:{SHORT_WHOLE}"
    rf"|(?:{WHOLE}\.[0-9]*|\.[0-9]+)(?:{EXPONENT})?|{WHOLE}{EXPONENT})$",
    "decimal comma": WITH_COMMA,
    "date": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
}

_SAMPLE = 200
"""Rows tried first: nearly every column of words is told from numbers by them."""


def narrow(marks: Sequence[Mark]) -> tuple[Narrow, ...]:
    """The types narrower than text in the order in which they are tried.

    >>> narrow((",",)), narrow((".", ","))
    (('integer', 'decimal comma', 'date'), ('integer', 'decimal', 'date', 'decimal comma'))
    """
    if "." not in marks:
        return ("integer", "decimal comma", "date")
    pointed_first: tuple[Narrow, ...] = ("integer", "decimal", "date")
    return (*pointed_first, "decimal comma") if "," in marks else pointed_first


def mark_of(wanted: Narrow) -> Mark | None:
    """The decimal mark of a type, if it has one."""
    marks: dict[Narrow, Mark] = {"decimal": ".", "decimal comma": ","}
    return marks.get(wanted)


def parse(text: pl.Series, wanted: Narrow) -> pl.Series | None:
    """A column of text as values of the type; None if there is one that cannot be read so.

    >>> parse(pl.Series(["0", "-3", None]), "integer").to_list()
    [0, -3, None]
    >>> parse(pl.Series(["7", "05345"]), "integer") is None
    True
    >>> parse(pl.Series(["3,14", "1.234,5"]), "decimal comma").to_list()
    [3.14, 1234.5]
    """
    pattern = _PATTERNS[wanted]
    for part in (text.head(_SAMPLE), text):
        if not part.str.contains(pattern).all():
            return None
    values = _values(text, wanted)
    return values if values.null_count() == text.null_count() else None


def infer(text: pl.Series, tried: Sequence[Narrow]) -> tuple[Narrow | None, pl.Series]:
    """A column of text in the narrowest type that all its values have, and which that is.

    A column without values stays text.

    >>> columns = (["1", "2.5"], ["2020-02-29"], ["1", "*"])
    >>> [infer(pl.Series(values), narrow("."))[0] for values in columns]
    ['decimal', 'date', None]
    """
    if text.null_count() == len(text):
        return None, text
    for wanted in tried:
        values = parse(text, wanted)
        if values is not None:
            return wanted, values
    return None, text


def _values(text: pl.Series, wanted: Narrow) -> pl.Series:
    """Text that matches the pattern of the type as values; missing where it is out of range."""
    if wanted == "date":
        return text.str.to_date("%Y-%m-%d", strict=False)
    written = pointed(text) if wanted == "decimal comma" else text
    values = written.cast(_DTYPES[wanted], strict=False)
    if mark_of(wanted) is not None and not values.is_finite().all():
        return values.set(~values.is_finite(), None)
    return values


def misfits(text: pl.Series, wanted: Narrow) -> int:
    """How many values of a column of text are not of the type."""
    return 0 if parse(text, wanted) is not None else len(_converted(text, wanted)[1])


def convert(series: pl.Series, wanted: ColumnType | Narrow, *, rows_before: int = 0) -> pl.Series:
    """The column as the declared type.

    Raises:
        InputError: CEL-F020, with the first row whose value is not of the type.
    """
    if wanted == "string":
        return as_text(series)
    values, bad = _converted(series, wanted)
    if len(bad):
        raise _not_of_type(series.name, wanted, rows_before + int(bad[0]) + 1, len(bad))
    return values


def _converted(series: pl.Series, wanted: Narrow) -> tuple[pl.Series, pl.Series]:
    """The values, missing where they are not of the type, and the places where that is so."""
    if series.dtype.is_numeric() and wanted == "decimal":
        values = series.cast(pl.Float64)
        values = values.set(~values.is_finite(), None)
    else:
        text = as_text(series)
        matching = text.set(~text.str.contains(_PATTERNS[wanted]), None)
        values = _values(matching, wanted)
    return values, (values.is_null() & series.is_not_null()).arg_true()


def _not_of_type(column: str, wanted: Narrow, row: int, count: int) -> InputError:
    key = {
        "integer": "CEL-F020.integer",
        "decimal": "CEL-F020.decimal",
        "decimal comma": "CEL-F020.comma",
        "date": "CEL-F020.date",
    }[wanted]
    declared = wanted.partition(" ")[0]
    return InputError(key, declared=declared, column=column, row=row, count=count)


def without_minus_zero(table: pl.DataFrame) -> pl.DataFrame:
    """The same numbers with one zero: -0.0 equals 0.0, and is another text in a file.

    A class of equal values would fall apart when it is written.

    >>> without_minus_zero(pl.DataFrame({"x": [-0.0, 1.5]}))["x"].to_list()
    [0.0, 1.5]
    """
    return table.with_columns(
        column.set((column == 0).fill_null(value=False), 0.0)
        for column in table
        if column.dtype.is_float()
    )
