"""Hierarchies in CSV files as ARX writes them: a row per leaf, a column per level, no header."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from celosia.core.errors import InputError
from celosia.core.files import replacing
from celosia.core.messages import Message
from celosia.tables.hierarchies.hierarchy import Hierarchy

DELIMITERS = (";", ",", "\t")
"""What is tried, in this order, when the delimiter is not given; the first is ARX's."""

Rows = list[tuple[int, list[str]]]
"""Records with the line of the file where they begin."""


def read_hierarchy(
    path: str | Path, *, delimiter: str | None = None, encoding: str | None = None
) -> Hierarchy:
    r"""The hierarchy in a CSV file; messages name the row of the file.

    Blank lines are skipped, and so are rows whose cells are all blank. A row that repeats an
    earlier one in every cell is left out, and listed in `Hierarchy.repeated`.

    Args:
        path: the file.
        delimiter: by default the first of ';', ',' and tab that gives all rows the same number of
            columns, at least two.
        encoding: by default UTF-8 (with or without a byte-order mark), else windows-1252.

    Raises:
        InputError: CEL-H011 no such file, CEL-H012 encoding, CEL-H013 broken quotes, CEL-H014
            delimiter, CEL-H001 to CEL-H005 a table that is no hierarchy.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "sex.csv"
    >>> _ = path.write_text("Male;*\nFemale;*\n")
    >>> read_hierarchy(path)
    Hierarchy(2 leaves, 2 levels)
    """
    path = Path(path)
    if delimiter is not None:
        _check_delimiter(delimiter)
    text = _decode(path, encoding)
    rows, repeated = _once(_parse(path, text, delimiter or _sniff(text)))
    try:
        found = Hierarchy.from_paths([row for _, row in rows], rows=[number for number, _ in rows])
        return replace(found, repeated=repeated)
    except InputError as error:  # the same error, with the file it is about
        error.details = {**error.details, "path": str(path)}
        raise error.within(str(path)) from None


def write_hierarchy(hierarchy: Hierarchy, path: str | Path, *, delimiter: str = ";") -> Path:
    """Write a hierarchy so that `read_hierarchy` gives it back, whole or not at all."""
    _check_delimiter(delimiter)
    # Between quotes nothing inside a label can be taken for a delimiter or the end of a line.
    risky = delimiter != DELIMITERS[0] or any(
        "\r" in label for level in hierarchy.labels for label in level
    )
    with (
        replacing(Path(path)) as draft,
        draft.open("w", encoding="utf-8", newline="") as stream,
    ):
        writer = csv.writer(
            stream,
            delimiter=delimiter,
            quoting=csv.QUOTE_ALL if risky else csv.QUOTE_MINIMAL,
            lineterminator="\n",
        )
        writer.writerows(hierarchy.paths())
    return Path(path)


def _decode(path: Path, encoding: str | None) -> str:
    try:
        content = path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        reason = getattr(error, "strerror", None) or Message("tables.not_a_file_name")
        raise InputError("CEL-H011", path=str(path), reason=reason) from error
    for guess in (encoding,) if encoding else ("utf-8-sig", "windows-1252"):
        try:
            return content.decode(guess)
        except (ValueError, LookupError):  # not this encoding; no such encoding
            continue
    if encoding is None:
        raise InputError("CEL-H012.guessed", path=str(path))
    raise InputError("CEL-H012.given", path=str(path), encoding=encoding)


def _records(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    # Strict: an open quote would otherwise swallow the rest of the file without a word.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    begin = 1
    for row in reader:
        if any(cell.strip() for cell in row):
            yield begin, row
        begin = reader.line_num + 1


def _sniff(text: str) -> str:
    widths: dict[str, int] = {}
    for delimiter in DELIMITERS:
        try:
            found = {len(row) for _, row in _records(text, delimiter)}
        except csv.Error:
            continue
        if len(found) == 1 and found != {1}:
            return delimiter
        widths[delimiter] = max(found, default=0)
    # Ragged whatever we do: the delimiter that cuts most gives the most helpful message.
    return max(widths, key=widths.__getitem__, default=DELIMITERS[0])


def _parse(path: Path, text: str, delimiter: str) -> Rows:
    rows: Rows = []
    try:
        for record in _records(text, delimiter):
            rows.append(record)  # one by one: what was read stays known when a quote breaks
    except csv.Error as error:
        if not rows:
            raise InputError("CEL-H013.at_beginning", path=str(path)) from error
        raise InputError("CEL-H013.after_row", path=str(path), row=rows[-1][0]) from error
    return rows


def _once(rows: Rows) -> tuple[Rows, tuple[int, ...]]:
    """Each record once, and the lines of those that say the same again."""
    seen: set[tuple[str, ...]] = set()
    kept: Rows = []
    repeated = []
    for number, row in rows:
        if tuple(row) in seen:
            repeated.append(number)
        else:
            seen.add(tuple(row))
            kept.append((number, row))
    return kept, tuple(repeated)


def _check_delimiter(delimiter: object) -> None:
    if not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '"\r\n':
        raise InputError("CEL-H014")
