"""How a text file is written, for a user who wants to see it before it is read."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from celosia.core.errors import InputError
from celosia.frames.csv_columns import decimal_mark
from celosia.frames.csv_text import text_chunks
from celosia.frames.decimal_marks import Mark
from celosia.frames.dialect import Dialect, Layout, lay_out
from celosia.frames.encoding import pieces
from celosia.frames.formats import check_readable
from celosia.frames.options import ReadOptions


def sniff(
    path: str | Path,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    decimal: Mark | None = None,
) -> Dialect:
    """How a delimited text file is written, told from its content; what is given is taken.

    The header is a guess when no column tells its first cell from the others: it is then taken to
    be there unless that line holds a number, a date or nothing at all. The decimal mark is that by
    which `read` goes; if the delimiter is a semicolon or a tabulator it takes a look at all rows.
    """
    layout = _layout(path, delimiter, encoding, header, decimal)
    if len(layout.marks) == 1 or not any(b"," in piece for piece in pieces(layout.path)):
        return layout.dialect
    found: Mark | None = "."
    with suppress(InputError):  # a broken row is for `read` to refuse
        found = decimal_mark(text_chunks(layout, ReadOptions()))
    return replace(layout.dialect, decimal=found)


def possible_marks(
    path: str | Path,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    decimal: Mark | None = None,
) -> tuple[Mark, ...]:
    """The decimal marks that a delimited text file may have, whatever its numbers are.

    They follow from the delimiter alone: where no cell may decide how others are read, as under
    differential privacy, `with_points` reads each of them by itself.
    """
    return _layout(path, delimiter, encoding, header, decimal).marks


def _layout(
    path: str | Path,
    delimiter: str | None,
    encoding: str | None,
    header: bool | None,
    decimal: Mark | None,
) -> Layout:
    file = Path(path)
    check_readable(file)
    options = ReadOptions(delimiter=delimiter, encoding=encoding, header=header, decimal=decimal)
    ending = (file.with_suffix("") if file.suffix.lower() == ".gz" else file).suffix.lower()
    return lay_out(file, options, delimiter="\t" if ending == ".tsv" else None, naming=False)
