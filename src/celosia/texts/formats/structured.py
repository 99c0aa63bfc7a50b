"""JSON, JSON lines and delimited tables: every value is a piece, labelled by its key or column."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

from celosia.core.errors import InputError
from celosia.texts.formats import FileContent, Piece, Texts, decode

DEEPEST = 100
"""Levels of lists and objects inside each other."""

_LONGEST_CELL = 1 << 27


def parse(content: bytes, suffix: str) -> FileContent:
    """Pieces of a table or of JSON; each row, line or element of a list is a document."""
    text = decode(content)
    if suffix in (".csv", ".tsv"):
        return _table(text, "\t" if suffix == ".tsv" else None)
    if suffix == ".json":
        value = _read_json(text, 1)
        records = value if isinstance(value, list) and value else [value]
        return _records(records, as_list=isinstance(value, list) and bool(value))
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    return _records([_read_json(line, number) for number, line in lines], as_list=None)


def _records(records: list[Any], *, as_list: bool | None) -> FileContent:
    """Documents of values of JSON, written as a list, as one value, or as lines (None)."""
    documents = tuple(tuple(_pieces(record, "")) for record in records)
    names = tuple(sorted({key for record in records for key in _keys(record)}))

    def rebuild(texts: Texts) -> bytes:
        made = [
            _filled(record, iter(zip(pieces, values, strict=True)))
            for record, pieces, values in zip(records, documents, texts, strict=True)
        ]
        if as_list is None:
            return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in made).encode()
        shown = made if as_list else made[0]
        return (json.dumps(shown, ensure_ascii=False, indent=1) + "\n").encode()

    return FileContent(documents, rebuild, names=names)


def _read_json(text: str, line: int) -> Any:
    depth = deepest = 0
    quoted = escaped = False
    for mark in text:
        if quoted:
            quoted = escaped or mark != '"'
            escaped = mark == "\\" and not escaped
        elif mark == '"':
            quoted, escaped = True, False
        elif mark in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif mark in "]}":
            depth -= 1
    if deepest > DEEPEST:
        raise InputError("CEL-N003.deep", most=DEEPEST)
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_constant)
    except ValueError:
        raise InputError("CEL-N003.json", line=line) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise InputError("CEL-N003.keys")
    return found


def _constant(name: str) -> Any:
    raise ValueError(name)


def _pieces(value: Any, label: str) -> Iterator[Piece]:
    """Texts and numbers of a value, in order; a number may be a telephone or an identity."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _pieces(each, key)
    elif isinstance(value, list):
        for each in value:
            yield from _pieces(each, label)
    elif isinstance(value, str):
        yield Piece(value, label=label)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield Piece(json.dumps(value), label=label)


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _keys(each)


def _filled(value: Any, texts: Iterator[tuple[Piece, str]]) -> Any:
    """The value with other texts; a number that was not changed stays a number."""
    if isinstance(value, dict):
        return {key: _filled(each, texts) for key, each in value.items()}
    if isinstance(value, list):
        return [_filled(each, texts) for each in value]
    if isinstance(value, str):
        return next(texts)[1]
    if isinstance(value, int | float) and not isinstance(value, bool):
        piece, text = next(texts)
        return value if text == piece.text else text
    return value


def _table(text: str, separator: str | None) -> FileContent:
    if separator is None:
        header = text.partition("\n")[0]
        separator = max(",;\t|", key=header.count)
    csv.field_size_limit(_LONGEST_CELL)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
    except csv.Error:
        raise InputError("CEL-N003.table", line=0) from None
    names, *records = [row for row in rows if row] or [[]]
    for number, row in enumerate(records, 2):
        if len(row) != len(names):
            raise InputError("CEL-N003.table", line=number)
    if not names or len(set(names)) != len(names) or not records:
        raise InputError("CEL-N003.header")
    documents = tuple(
        tuple(Piece(cell, label=name) for name, cell in zip(names, row, strict=True))
        for row in records
    )

    def rebuild(texts: Texts) -> bytes:
        made = io.StringIO(newline="")
        writer = csv.writer(made, delimiter=separator or ",", lineterminator="\n")
        writer.writerow(names)
        writer.writerows(texts)
        return made.getvalue().encode("utf-8")

    return FileContent(documents, rebuild, names=tuple(names))
