"""Where a delimited text file is broken: a slow pass, made only when there is reason to.

Python's own reader is strict about quotes and tells lines; the fast one is neither.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator

import numpy as np

from celosia.core.errors import InputError
from celosia.frames.dialect import Layout, cells_of_any_length, place_of
from celosia.frames.encoding import codec, open_text, pieces

_QUOTE = ord('"')


def find_fault(layout: Layout) -> InputError | None:
    """The first broken row of a file as an error to raise; None if all is well."""
    expected = len(layout.names)
    row = -1 if layout.dialect.header else 0
    problem = None
    with open_text(layout.path, layout.dialect.encoding) as lines, cells_of_any_length():
        reader = csv.reader(lines, delimiter=layout.dialect.delimiter, strict=True)
        try:
            for record in reader:
                if not record and (expected > 1 or row < 0):
                    continue
                row += 1
                if len(record or [""]) != expected:
                    return _wrong_width(layout, row, reader.line_num, len(record))
        except csv.Error as error:
            problem = str(error)
    return None if problem is None else _bad_quote(layout, row + 1, problem)


def quotes_are_tidy(layout: Layout) -> bool:
    """Whether each quotation mark opens a whole cell, closes one, or is one of a pair inside.

    In such a file the marks alternate: the first of each two stands at the start of a cell and the
    second at its end, where a doubled mark counts as an end and a start. Two cells left open in
    one file would otherwise swallow the rows between them without anyone noticing.
    """
    if not layout.quoted:
        return True
    is_edge = np.zeros(256, dtype=np.bool_)
    is_edge[list(f'{layout.dialect.delimiter}\r\n"'.encode())] = True
    inside, last = 0, np.frombuffer(b"\n", dtype=np.uint8)
    for piece in _utf8_pieces(layout):
        block = np.concatenate([last, np.frombuffer(piece, dtype=np.uint8)])
        # The last byte waits for the next piece, which says what follows it.
        marks = np.flatnonzero(block[1:-1] == _QUOTE) + 1
        opening, closing = marks[inside::2], marks[1 - inside :: 2]
        if not (is_edge[block[opening - 1]].all() and is_edge[block[closing + 1]].all()):
            return False
        inside = (inside + len(marks)) % 2
        last = block[-2:]
    return inside == 0


def _utf8_pieces(layout: Layout) -> Iterator[bytes]:
    """The file as UTF-8 without a byte order mark, with a line end after its last line."""
    name = codec(layout.dialect.encoding)
    if name == "utf-8-sig":
        first = True
        for piece in pieces(layout.path):
            yield piece.removeprefix(b"\xef\xbb\xbf") if first else piece
            first = False
    else:
        with open_text(layout.path, layout.dialect.encoding) as stream:
            while text := stream.read(1 << 20):
                yield text.encode()
    yield b"\n\n"


def _wrong_width(layout: Layout, row: int, line: int, found: int) -> InputError:
    expected = len(layout.names)
    return InputError(
        "CEL-F016",
        path=layout.path,
        place=place_of(row),
        row=row,
        line=line,
        expected=expected,
        found=found,
    )


def _bad_quote(layout: Layout, row: int, problem: str) -> InputError:
    key = "CEL-F017.open" if "end of data" in problem else "CEL-F017.followed"
    return InputError(key, path=layout.path, place=place_of(row), row=row)
