"""Basket lines: one transaction a line, its items separated by one character."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from celosia.core.errors import InputError
from celosia.frames.formats import check_readable, open_bytes
from celosia.logs.damage import Damage

DELIMITERS = ("\t", ";", ",", " ")
"""What is tried, in this order: the first that a line has."""


def read_baskets(path: Path, *, delimiter: str | None = None) -> tuple[list[list[str]], Damage]:
    """The items of each line, and the lines that could not be read.

    Raises:
        InputError: CEL-U004 the delimiter is not one character.
    """
    check_readable(path)
    if delimiter is not None and (len(delimiter) != 1 or delimiter in "\r\n\0"):
        raise InputError("CEL-U004")
    baskets: list[list[str]] = []
    is_damaged = []
    with open_bytes(path) as stream:
        lines = stream.read().split(b"\n")
    mark = delimiter or _delimiter(lines)
    for line in lines:
        try:
            text = line.decode("utf-8-sig").strip("\r\n")
        except UnicodeDecodeError:
            text = "\0"
        is_damaged.append("\0" in text)
        if is_damaged[-1]:
            continue
        items = [item for each in text.split(mark) if (item := each.strip())]
        if items:
            baskets.append(items)
    damage = Damage()
    damage.add("bad_encoding", pl.Series(is_damaged, dtype=pl.Boolean))
    return baskets, damage


def _delimiter(lines: list[bytes]) -> str:
    head = b"\n".join(lines[:100])
    return next((mark for mark in DELIMITERS if mark.encode() in head), " ")
