"""How delimited text is written: its encoding, delimiter, quotes, header and decimal mark."""

from __future__ import annotations

import codecs
import csv
import io
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TextIO

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.frames.columns import distinct_names, marks_for
from celosia.frames.formats import Mark, ReadOptions, empty, open_bytes, unreadable

_PIECE = 1 << 22
"""Bytes looked at in one go; bounds the memory needed for a file of any size."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks, which say the encoding outright."""

_FALLBACK = "windows-1252"
"""What a file is taken for that is not in UTF-8."""


@dataclass(frozen=True, slots=True)
class EncodingSurvey:
    """What one pass over the bytes of a text file has shown."""

    encoding: str
    quoted: bool
    """Whether there is a quotation mark anywhere."""


def survey(path: Path, encoding: str | None) -> EncodingSurvey | None:
    """What a file shows in the encoding given, or in the one that fits; None if the given does not.

    Tried are what a byte order mark says, UTF-8, and windows-1252, each over the whole file.
    """
    for candidate in (encoding,) if encoding else _candidates(path):
        found = _try(path, candidate, allow_zero=encoding is not None)
        if found is not None:
            return found
    if encoding is not None:
        return None
    raise InputError("CEL-F019", path=str(path))


def pieces(path: Path) -> Iterator[bytes]:
    """The bytes of a file, decompressed, a few megabytes at a time."""
    damaged = False
    with open_bytes(path) as stream:
        while not damaged:
            try:
                piece = stream.read(_PIECE)
            except (OSError, EOFError, zlib.error):
                damaged, piece = True, b""
            if not piece:
                break
            yield piece
    if damaged:
        raise unreadable("CEL-F014.gzip", path)


def open_text(path: Path, encoding: str, *, errors: str = "strict") -> TextIO:
    """The characters of a file with its line ends as they are."""
    return io.TextIOWrapper(open_bytes(path), encoding=codec(encoding), errors=errors, newline="")


def codec(encoding: str) -> str:
    """The Python codec for an encoding: a byte order mark before UTF-8 is never data.

    >>> codec("UTF8"), codec("windows-1252")
    ('utf-8-sig', 'cp1252')
    """
    name = codecs.lookup(encoding).name
    return "utf-8-sig" if name == "utf-8" else name


def _candidates(path: Path) -> tuple[str, ...]:
    start = next(pieces(path), b"")
    marked = next((name for mark, name in _MARKS if start.startswith(mark)), None)
    return (marked,) if marked else ("utf-8", _FALLBACK)


def _try(path: Path, encoding: str, *, allow_zero: bool) -> EncodingSurvey | None:
    """What a pass with one encoding shows; None if the bytes are not in it."""
    decoder = codecs.getincrementaldecoder(codec(encoding))()
    plain = codec(encoding) in {"utf-8-sig", "cp1252", "ascii", "iso8859-1"}
    quoted, blank = False, True
    try:
        for piece in pieces(path):
            # ASCII is the same in all of these, and much faster to recognise than to decode.
            skip = plain and piece.isascii() and not decoder.getstate()[0]
            text = "" if skip else decoder.decode(piece)
            if not allow_zero and (b"\0" in piece if skip else "\0" in text):
                return None
            quoted = quoted or (b'"' in piece if skip else '"' in text)
            blank = blank and not (piece.strip() if skip else text.strip())
        decoder.decode(b"", final=True)
    except UnicodeError:
        return None
    if blank:
        raise empty(path)
    return EncodingSurvey(encoding, quoted)


_DELIMITERS = "\t|;,"
"""Tried in this order: a comma is often a decimal sign inside a cell, the others hardly ever."""

_HEAD, _LARGEST_HEAD = 1 << 16, 1 << 25
"""Characters at the start of a file from which its shape is told; more if its rows are long."""

_RECORDS = 200

_NUMBER_OR_DATE = re.compile(
    r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?"
    r"|[+-]?\d{1,3}(\.\d{3})+,\d+|\d{4}-\d{2}-\d{2}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How a delimited text file is written."""

    delimiter: str
    encoding: str
    header: bool
    quote: str = '"'
    decimal: Mark | None = "."
    """The decimal mark; None if every comma may be one or stand between thousands: such columns
    are read as text until it is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A dialect together with what else must be known before the rows can be read."""

    path: Path
    dialect: Dialect
    names: list[str]
    quoted: bool
    """Whether a quotation mark occurs anywhere in the file."""
    blank_lines: int
    """How many empty lines come before the first that is not."""
    marks: tuple[Mark, ...]
    """The decimal marks that columns may have; more than one where none was given."""


def lay_out(
    path: Path, options: ReadOptions, *, delimiter: str | None, naming: bool = True
) -> Layout:
    """The layout of a file; what the options say is taken, what they leave open is found out."""
    characters = survey(path, options.encoding)
    if characters is None:
        place, row = _first_escaped(path, options.encoding or "", options, delimiter)
        encoding = options.encoding
        raise InputError("CEL-F018", place=place, path=str(path), encoding=encoding, row=row)
    if options.encoding is None and characters.encoding == _FALLBACK and _has_utf8_lines(path):
        place, row = _first_escaped(path, "utf-8", options, delimiter)
        raise InputError("CEL-F018.mixed", place=place, path=str(path), row=row)
    size = _HEAD
    while True:
        with open_text(path, characters.encoding) as stream:
            head = stream.read(size)
        chosen = options.delimiter or delimiter or _best_delimiter(head, options.decimal)
        records = _records(head, chosen)
        if len(records) > 2 or len(head) < size or size >= _LARGEST_HEAD:
            break
        size *= 8
    if len(head) == size and len(records) > 1:
        records = records[:-1]  # it may be cut
    header = _header(records, options.header, path)
    names = [f"column_{place}" for place in range(1, len(records[0]) + 1)]
    if header and naming:
        names = distinct_names(records[0], path=path)
    dialect = Dialect(
        delimiter=chosen,
        encoding=characters.encoding,
        header=header,
        decimal=options.decimal or ".",
    )
    return Layout(
        path=path,
        dialect=dialect,
        names=names,
        quoted=characters.quoted,
        blank_lines=_blank_lines(head),
        marks=marks_for(chosen, options.decimal),
    )


def _records(head: str, delimiter: str) -> list[list[str]]:
    """The first records that are not blank."""
    with cells_of_any_length():
        reader = csv.reader(io.StringIO(head, newline=""), delimiter=delimiter)
        return list(islice((record for record in reader if record), _RECORDS))


@contextmanager
def cells_of_any_length() -> Iterator[None]:
    """Python's reader stops at 131 072 characters, which a document in a cell may exceed."""
    before = csv.field_size_limit(2**31 - 1)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _best_delimiter(head: str, decimal: Mark | None) -> str:
    """The delimiter that splits the most records as it splits the first."""
    # With a decimal comma no comma is a delimiter: a single column is then split at none.
    tried = _DELIMITERS.replace(",", "") if decimal == "," else _DELIMITERS
    best, best_share = tried[-1], 0.0
    for delimiter in tried:
        records = _records(head, delimiter)
        width = len(records[0])
        share = sum(len(record) == width for record in records) / len(records)
        if width > 1 and share > best_share:
            best, best_share = delimiter, share
    return best


def _header(records: list[list[str]], given: bool | None, path: Path) -> bool:
    if given is not None:
        return given
    first, rest = records[0], records[1:]
    numeric = [_is_number_or_date(cell) for cell in first]
    if rest:
        votes = (_all_numbers(rest, place) and not numeric[place] for place in range(len(first)))
        return any(votes) or not any(numeric)
    if any(numeric):
        return False
    raise InputError("CEL-F015", path=str(path))


def _blank_lines(head: str) -> int:
    lines = io.StringIO(head, newline="")
    return next((place for place, line in enumerate(lines) if line.strip("\r\n")), 0)


def _has_utf8_lines(path: Path) -> bool:
    """Whether some lines have letters in UTF-8: a file that is not all in it mixes encodings.

    In windows-1252 such a line would need a capital with an accent before a sign each time.
    """
    with open_bytes(path) as lines:
        for line in lines:
            if not line.isascii():
                with suppress(UnicodeError):
                    line.decode()
                    return True
    return False


def _first_escaped(
    path: Path, encoding: str, options: ReadOptions, delimiter: str | None
) -> tuple[str, int | None]:
    """The first row with bytes that are not in an encoding, in words and as a number."""
    row = None
    with suppress(UnicodeError), open_text(path, encoding, errors="surrogateescape") as lines:
        head = lines.read(_HEAD)
        chosen = options.delimiter or delimiter or _best_delimiter(head, options.decimal)
        header = options.header is not False
        lines.seek(0)
        with cells_of_any_length():
            records = (record for record in csv.reader(lines, delimiter=chosen) if record)
            row = next(place for place, cells in enumerate(records, not header) if _escaped(cells))
    place = "" if row is None else Message("frames.first_at", place=place_of(row))
    return place, row


def place_of(row: int) -> Message:
    """Where a fault is: in a row, or for 0 in the header."""
    return Message("frames.row", row=row) if row else Message("frames.header")


def _escaped(cells: list[str]) -> bool:
    return any("\udc80" <= letter <= "\udcff" for cell in cells for letter in cell)


def _all_numbers(records: Sequence[list[str]], place: int) -> bool:
    cells = [record[place] for record in records if len(record) > place and record[place]]
    return bool(cells) and all(_is_number_or_date(cell) for cell in cells)


def _is_number_or_date(cell: str) -> bool:
    return _NUMBER_OR_DATE.fullmatch(cell) is not None
