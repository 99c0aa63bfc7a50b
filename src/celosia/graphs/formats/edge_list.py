"""Edge lists: one edge per line, two names and its attributes."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import IO

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.frames.codes import encode
from celosia.frames.columns import check_names, infer, narrow, parse
from celosia.graphs.formats.parsed_graph import ParsedGraph, describe_counts, malformed
from celosia.graphs.formats.records import plain
from celosia.graphs.graph import Graph

_COMMENT = re.compile(rb"^[ \t]*[#%].*\n?", re.MULTILINE)
_BLANK = re.compile(rb"^[ \t\r]*\n", re.MULTILINE)
_MARKS = (b"\n#", b"\n%", b"\n\n", b"\n\r", b"\n ", b"\n\t")
"""Without any of these no line but the first is a comment or blank."""
_ISOLATED = b"#isolated "
"""The beginning of a line with the name of a vertex without an edge; to others it is a comment."""
_EDGES_OF_LINES = re.compile(rb"^[ \t]+|[ \t]+$", re.MULTILINE)
_RUN = re.compile(rb"[ \t]+")
_NUMBER = re.compile(r"-?\d+")
_VALUE = re.compile(
    r"[-+]?(\d+([.,]\d*)?|[.,]\d+)([eE][-+]?\d+)?|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}.*"
)
"""A number or a date, such as a column of edges holds below its name."""
_ENDS = 2
_HEADS = frozenset(
    {"source", "target", "from", "to", "src", "dst", "node1", "node2", "u", "v", "i", "j"}
    | {"id1", "id2", "fromnodeid", "tonodeid", "source_id", "target_id", "vertex1", "vertex2"}
    | {"caller", "callee", "sender", "receiver", "recipient", "follower", "followee"}
    | {"ego", "alter", "origin", "destination"}
)
_SPAN = frozenset({"from", "to"})
"""Behind two other columns these are the beginning and the end of a time."""


@dataclass(frozen=True, slots=True)
class _Layout:
    separator: str | None
    """None is any run of spaces and tabs."""
    width: int
    header: list[str] | None
    ends: tuple[int, int] = (0, 1)
    """The columns of the two vertices of an edge."""


def read_edge_list(
    data: bytes,
    path: Path,
    *,
    header: bool | None = None,
    ends: Sequence[str | int] | None = None,
    arcs: bool = False,
) -> ParsedGraph:
    """The edges of a list separated by commas, semicolons, tabs or spaces.

    Lines that begin with # or % are comments, but for `#isolated NAME`: a vertex without an edge. A
    first line with names in it is distinguished from edges by its words, or because only the others
    have numbers (or dates, in further columns); `header` says so for certain. The vertices are in
    the first two columns, or in those that the first line calls so, such as source and target;
    `ends` says so for certain, by names or by numbers from 1. `arcs` takes the first vertex of each
    line as where an arc begins.
    """
    body = data.removeprefix(b"\xef\xbb\xbf")
    isolated = _isolated(body, path)
    layout = _lay_out(body, path, header, ends, may_be_empty=len(isolated) > 0)
    comments, blanks = _count_skipped(body)
    frame = _fast(body, layout, skips=bool(comments or blanks))
    if frame is None:
        frame = _by_line(body, layout, path)
    frame = frame.select(frame.columns[place] for place in _ends_first(layout))
    given_names = [*(frame.to_series(place) for place in range(_ENDS)), isolated]
    numbers = [parse(series, "integer") for series in given_names]
    whole = [series.to_numpy() for series in numbers if series is not None]
    if len(whole) == len(numbers):
        given = np.concatenate(whole)
        if given.min(initial=0) < 0:
            row = int(np.flatnonzero(given < 0)[0]) % len(frame)
            raise _negative(path, _line_of(body, layout, path, row))
        codes, names = _compact(given)
    else:
        found = encode(pl.concat([series.alias("vertex") for series in given_names]))
        codes, names = found.codes.astype(np.int64), found.values.alias("vertex")
    sources, targets = codes[: _ENDS * len(frame)].reshape(_ENDS, -1)
    types = narrow((".",))
    further = [frame.to_series(place) for place in range(_ENDS, frame.width)]
    if len(further) == 1 and layout.header is None and (further[0] == "{}").all():
        further = []  # NetworkX writes {} for an edge without attributes
    extra = [infer(series, types)[1] for series in further]
    return ParsedGraph(
        names=names,
        sources=sources,
        targets=targets,
        directed=np.full(len(frame), arcs, dtype=np.bool_),
        edge_attributes=pl.DataFrame(extra) if extra else None,
        ignored=describe_counts(
            {
                Message("graphs.ignored.comments"): comments - len(isolated),
                Message("graphs.ignored.blank"): blanks,
            }
        ),
        columns=tuple(layout.header[place] for place in _ends_first(layout))
        if layout.header
        else (),
    )


def _isolated(body: bytes, path: Path) -> pl.Series:
    """The names of vertices without an edge."""
    if _ISOLATED not in body:
        return pl.Series([], dtype=pl.String)
    names = []
    for number, raw in enumerate(BytesIO(body), 1):
        if raw.startswith(_ISOLATED):
            try:
                name = raw.removeprefix(_ISOLATED).decode().strip()
            except UnicodeDecodeError:
                raise malformed(path, number, "CEL-G003.not_utf8") from None
            if not name:
                raise malformed(path, number, "CEL-G003.missing_vertex")
            names.append(name)
    return pl.Series(names, dtype=pl.String)


def _count_skipped(body: bytes) -> tuple[int, int]:
    """How many lines are comments, and how many are blank."""
    if body[:1] not in (b"#", b"%", b"\r", b"\n", b" ", b"\t") and not any(
        mark in body for mark in _MARKS
    ):
        return 0, 0
    return len(_COMMENT.findall(body)), len(_BLANK.findall(body))


def _compact(given: NDArray[np.int64]) -> tuple[NDArray[np.int64], pl.Series]:
    """Places among the distinct numbers, which may be huge and far apart."""
    top = int(given.max(initial=0))
    if top <= 4 * len(given) + 1024:  # a table of marks is small beside the data
        there = np.zeros(top + 1, dtype=np.bool_)
        there[given] = True
        names = np.flatnonzero(there)
        codes = given if names.size == top + 1 else (np.cumsum(there) - 1)[given]
        return codes, pl.Series("vertex", names)
    names, codes = np.unique(given, return_inverse=True)
    return codes.astype(np.int64), pl.Series("vertex", names)


def _lay_out(
    body: bytes,
    path: Path,
    header: bool | None,
    asked: Sequence[str | int] | None,
    *,
    may_be_empty: bool,
) -> _Layout:
    heads = []
    for found in _lines(body, path):
        heads.append(found)
        if len(heads) == 2:  # the first and the one to compare it with
            break
    if not heads:
        if may_be_empty:
            return _Layout(None, _ENDS, None)
        raise InputError("CEL-G009.no_edge", path=path)
    separator = next((each for each in "\t;," if each in heads[0][1]), None)
    rows = [[cell.strip() for cell in _cells(text, separator, path, n)] for n, text in heads]
    ends = _called_ends(rows[0]) if asked is None else _asked_ends(asked, rows[0], header)
    if header is None and any(not _NUMBER.fullmatch(str(each)) for each in asked or ()):
        header = True  # columns are asked for by their names
    if header is None:
        texts = not any(_NUMBER.fullmatch(cell) for cell in rows[0][:_ENDS])
        digits = len(rows) > 1 and all(_NUMBER.fullmatch(cell) for cell in rows[1][:_ENDS])
        named = all(cell.lower() in _HEADS for cell in _of(rows[0], ends))
        named = named and not _same_names([_of(row, ends) for row in rows])
        header = named or (texts and (digits or _names_values(rows)))
    width = len(rows[0])
    if not header:
        return _Layout(separator, width, None, ends if asked is not None else (0, 1))
    check_names(rows[0], path=path)
    return _Layout(separator, width, rows[0], ends)


def _called_ends(names: list[str]) -> tuple[int, int]:
    """The two columns that are called as the ends of an edge are; else the first two."""
    found = [place for place, name in enumerate(names) if name.lower() in _HEADS]
    words = {names[place].lower() for place in found}
    if len(found) != _ENDS or (words == _SPAN and found[0] >= _ENDS):
        return 0, 1
    return found[0], found[1]


def _asked_ends(
    asked: Sequence[str | int], names: list[str], header: bool | None
) -> tuple[int, int]:
    """The columns that were asked for as ends, by name or by number from 1."""
    known = {name: place for place, name in enumerate(names)} if header is not False else {}
    numbers = {str(place + 1): place for place in range(len(names))}
    found = [numbers.get(str(each), known.get(str(each), -1)) for each in asked]
    if len(found) != _ENDS or len(set(found)) != _ENDS or min(found) < 0:
        raise InputError("CEL-G002.ends", ends=list(asked), columns=[*known, *numbers])
    return found[0], found[1]


def _of(row: list[str], ends: tuple[int, int]) -> list[str]:
    """The cells of a row that are the ends of its edge."""
    return [row[place] for place in ends if place < len(row)]


def _ends_first(layout: _Layout) -> list[int]:
    """The places of all columns, those of the two vertices first."""
    return [*layout.ends, *(place for place in range(layout.width) if place not in layout.ends)]


def _same_names(rows: list[list[str]]) -> bool:
    """Whether a vertex of the second line is called as one of the first, but for digits."""
    first, *others = ({re.sub(r"\d", "", cell.lower()) for cell in row[:_ENDS]} for row in rows)
    return any(first & other for other in others)


def _names_values(rows: list[list[str]]) -> bool:
    """Whether a further cell of the first line is no value, and the one below it is."""
    below = rows[1] if len(rows) > 1 else []
    return any(
        bool(top) and not _VALUE.fullmatch(top) and _VALUE.fullmatch(value) is not None
        for top, value in zip(rows[0][_ENDS:], below[_ENDS:], strict=False)
    )


def _titles(layout: _Layout) -> list[str]:
    if layout.header is not None:
        return layout.header
    titles = [f"column {n}" for n in range(1, layout.width + 1)]
    if layout.width == _ENDS + 1 and layout.ends == (0, 1):
        titles[-1] = "weight"
    for place, word in zip(layout.ends, ("source", "target"), strict=True):
        titles[place : place + 1] = [word] if place < layout.width else []
    return titles


def _fast(body: bytes, layout: _Layout, *, skips: bool) -> pl.DataFrame | None:
    """All columns as text by a compiled reader; None where the lines are not all alike."""
    if b'"' in body or layout.width < _ENDS:
        return None
    if skips:
        body = _BLANK.sub(b"", _COMMENT.sub(b"", body))
    separator = layout.separator or " "
    if layout.separator is None and any(mark in body for mark in (b"\t", b"  ", b" \n", b"\n ")):
        body = _RUN.sub(b" ", _EDGES_OF_LINES.sub(b"", body))
    try:
        frame = pl.read_csv(
            body,
            has_header=layout.header is not None,
            separator=separator,
            quote_char=None,
            infer_schema=False,
            new_columns=_titles(layout),
        )
    except pl.exceptions.PolarsError:
        return None
    if frame.width != layout.width or any(series.null_count() for series in frame.iter_columns()):
        return None
    if layout.separator is not None and b" " in body:
        frame = frame.with_columns(pl.all().str.strip_chars())
        if any((series == "").any() for series in frame.iter_columns()):
            return None
    return frame


def _by_line(body: bytes, layout: _Layout, path: Path) -> pl.DataFrame:
    """The same with care: quotes, empty cells, and the number of the first line that is wrong."""
    columns: list[list[str | None]] = [[] for _ in range(layout.width)]
    for line, cells in _rows(body, layout, path):
        if len(cells) != layout.width or len(cells) < _ENDS:
            expected = max(layout.width, _ENDS)
            raise malformed(path, line, "CEL-G003.cells", cells=len(cells), expected=expected)
        if not all(_of(cells, layout.ends)):
            raise malformed(path, line, "CEL-G003.missing_vertex")
        for column, cell in zip(columns, cells, strict=True):
            column.append(cell or None)
    return pl.DataFrame(
        [
            pl.Series(title, column, dtype=pl.String)
            for title, column in zip(_titles(layout), columns, strict=True)
        ]
    )


def _rows(body: bytes, layout: _Layout, path: Path) -> Iterator[tuple[int, list[str]]]:
    waiting = layout.header is not None
    for line, text in _lines(body, path):
        cells = [cell.strip() for cell in _cells(text, layout.separator, path, line)]
        if not waiting:
            yield line, cells
        waiting = False


def _cells(text: str, separator: str | None, path: Path, line: int) -> list[str]:
    if separator is None:
        return text.split()
    if '"' not in text:
        return text.split(separator)
    try:
        return next(csv.reader([text], delimiter=separator, strict=True))
    except csv.Error:
        raise malformed(path, line, "CEL-G003.open_quote") from None


def _lines(body: bytes, path: Path) -> Iterator[tuple[int, str]]:
    """The lines that are neither blank nor comments, with their numbers."""
    for number, raw in enumerate(BytesIO(body), 1):
        try:
            text = raw.decode().rstrip("\r\n")
        except UnicodeDecodeError:
            raise malformed(path, number, "CEL-G003.not_utf8") from None
        if text.strip() and text.lstrip()[0] not in "#%":
            yield number, text


def _line_of(body: bytes, layout: _Layout, path: Path, row: int) -> int:
    rows = _rows(body, layout, path)
    return next(line for place, (line, _) in enumerate(rows) if place == row)


def _negative(path: Path, line: int) -> InputError:
    return InputError("CEL-G004.negative_line", path=path, line=line)


def write_edge_list(
    graph: Graph, stream: IO[bytes], *, separator: str, with_isolated: bool
) -> None:
    """The edges with their attributes; a header except where spaces separate.

    Vertices without an edge follow, if wanted, each in a line of its own that others skip.
    """
    ends = pl.DataFrame(graph.edges, schema=["source", "target"])
    if graph.labels is not None:
        ends = ends.select(graph.labels.gather(column).alias(column.name) for column in ends)
    if graph.edge_attributes is not None:
        ends = ends.hstack(plain(graph.edge_attributes))
    ends.write_csv(stream, include_header=separator != " ", separator=separator)
    if with_isolated:
        alone = np.flatnonzero(graph.degrees == 0)
        names = alone.tolist() if graph.labels is None else graph.labels.gather(alone).to_list()
        stream.write(b"".join(_ISOLATED + str(name).encode() + b"\n" for name in names))


def check_edge_list(graph: Graph, separator: str) -> None:
    """Names must not look like comments, nor have spaces where these separate."""
    bad = r"[\r\n]|^\s*[#%]|^\s|\s$|^$" + (r'|\s|"' if separator == " " else "")
    texts = [graph.labels] if graph.labels is not None and graph.labels.dtype == pl.String else []
    if separator == " " and graph.edge_attributes is not None:
        texts += [each.cast(pl.String).fill_null("") for each in graph.edge_attributes]
    if any(series.str.contains(bad).any() for series in texts):
        raise InputError("CEL-G013.separators")
