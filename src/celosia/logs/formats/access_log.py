"""Access logs of web servers, in the common and the combined format, block by block.

Lines that do not fit are counted by the reason and never repeated in a message.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO

import polars as pl

from celosia.frames.formats import open_bytes
from celosia.logs.damage import Damage

COLUMNS = ("ip", "identity", "user", "time", "method", "url", "protocol", "status", "bytes",
           "referrer", "agent")  # fmt: skip
"""The columns of an access log; the last two only in the combined format."""

_QUOTED = r'"((?:[^"\\]|\\.)*)"'
LINE = rf"^(\S+) (\S+) (\S+) \[([^\]]+)\] {_QUOTED} (\d{{3}}) (\d+|-)(?: {_QUOTED} {_QUOTED})?\s*$"
_REQUEST = r"^([A-Z]+) (\S+)(?: (\S+))?$"
_TIME = "%d/%b/%Y:%H:%M:%S %z"
BLOCK = 1 << 26
"""Bytes that are parsed at a time."""
_END = "\x1f"
"""A separator that no line has; one that has it is damaged, and counted."""


def looks_like_access_log(head: str) -> bool:
    """Whether most of the first lines are those of an access log."""
    lines = pl.Series([line for line in head.splitlines()[:20] if line.strip()], dtype=pl.String)
    return bool(len(lines)) and int(lines.str.contains(LINE).sum()) * 2 > len(lines)


def read_blocks(path: Path, damage: Damage, *, block: int = BLOCK) -> Iterator[pl.DataFrame]:
    """The records of an access log in frames, in memory that does not grow with the file."""
    with open_bytes(path) as stream:
        for part in _whole_lines(stream, block):
            yield parse_lines(_lines(part), damage)


def _whole_lines(stream: IO[bytes], block: int) -> Iterator[bytes]:
    rest = b""
    while part := stream.read(block):
        part = rest + part
        end = part.rfind(b"\n") + 1
        rest = part[end:]
        if end:
            yield part[:end]
    if rest:
        yield rest


def _lines(part: bytes) -> pl.Series:
    frame = pl.read_csv(
        part,
        has_header=False,
        separator=_END,
        quote_char=None,
        encoding="utf8-lossy",
        truncate_ragged_lines=True,
        schema={"line": pl.String},
    )
    return frame.get_column("line")


def parse_lines(lines: pl.Series, damage: Damage) -> pl.DataFrame:
    """The records of some lines."""
    is_damaged = lines.str.contains("[\x00�]").fill_null(value=False)
    damage.add("bad_encoding", is_damaged)
    damage.before += len(lines)
    lines = lines.filter(lines.is_not_null() & (lines.str.len_bytes() > 0) & ~is_damaged)
    found = lines.str.extract_groups(LINE).struct.unnest()
    found.columns = ["ip", "identity", "user", "time", "request", "status", "bytes", "referrer",
                     "agent"]  # fmt: skip
    is_parsed = found.get_column("ip").is_not_null()
    damage.add("no_access_log_line", ~is_parsed)
    found = found.filter(is_parsed)
    request = found.get_column("request").str.extract_groups(_REQUEST).struct.unnest()
    request.columns = ["method", "url", "protocol"]
    times = found.get_column("time").str.to_datetime(_TIME, strict=False, time_zone="UTC")
    empty = pl.col("referrer", "agent", "identity", "user").replace("-", None)
    found = (
        found.drop("request")
        .with_columns(
            empty,
            times.alias("time"),
            pl.col("status").cast(pl.Int64),
            pl.col("bytes").cast(pl.Int64, strict=False),
        )
        .with_columns(request)
    )
    is_sound = found.get_column("url").is_not_null()
    damage.add("bad_request", ~is_sound)
    has_time = found.get_column("time").is_not_null()
    damage.add("bad_time", is_sound & ~has_time)
    return found.filter(is_sound & has_time).select(COLUMNS)
