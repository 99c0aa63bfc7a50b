"""Lines of a text file cut at spaces, and the numbers in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isfinite
from pathlib import Path

from celosia.core.errors import InputError
from celosia.graphs.formats.parsed_graph import malformed, utf8


def lines(data: bytes, path: Path, *, comment: str, blank: bool) -> Iterator[tuple[int, list[str]]]:
    """The cells of each line that is no comment, with its number; blank lines if wanted."""
    text = utf8(data, path).replace("\r\n", "\n").removesuffix("\n")
    for number, line in enumerate(text.split("\n"), 1):
        cells = line.split()
        if not line.lstrip().startswith(comment) and (cells or blank):
            yield number, cells


def whole_number(
    cell: str, path: Path, line: int, *, least: int = 0, most: int | None = None
) -> int:
    """A whole number; with `most`, the number of one of so many vertices from 1.

    Raises:
        InputError: CEL-G003 it is none, CEL-G005 there is no such vertex.
    """
    if not re.fullmatch(r"\d{1,18}", cell, re.ASCII) or int(cell) < least:
        raise malformed(path, line, "CEL-G003.no_whole_number")
    number = int(cell)
    if most is not None and not 1 <= number <= most:
        raise InputError("CEL-G005.no_such_number", path=path, order=most, line=line)
    return number


def decimal(cell: str, path: Path, line: int) -> float:
    """A finite number.

    Raises:
        InputError: CEL-G003 it is none.
    """
    try:
        number = float(cell)
    except ValueError:
        number = float("nan")
    if not isfinite(number):
        raise malformed(path, line, "CEL-G003.wrong_type", type="number")
    return number
