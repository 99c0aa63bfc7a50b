"""Files as logs: tables, access logs, JSON lines; and basket lines as transactions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl

from celosia import frames
from celosia.core.errors import InputError
from celosia.frames import ColumnType
from celosia.frames.formats import SUFFIXES, check_readable, open_bytes
from celosia.logs.damage import Damage
from celosia.logs.declaration import Layout, LogDeclaration
from celosia.logs.formats.access_log import looks_like_access_log, read_blocks
from celosia.logs.formats.baskets import read_baskets
from celosia.logs.log import Log, log_of
from celosia.logs.sets.transactions import Transactions

_HEAD = 1 << 14

ACCESS_LOG = LogDeclaration(
    person="ip",
    time="time",
    url="url",
    ip="ip",
    agent="agent",
    referrer="referrer",
    bytes="bytes",
    keep=("method", "status"),
    layout="combined",
)
"""What the columns of an access log are, where nothing else is declared."""


def declaration_of(given: LogDeclaration | str | Path | None, path: Path) -> LogDeclaration:
    """What was declared; of an access log, what its columns are by themselves.

    Raises:
        InputError: CEL-U005 nothing is declared of another file.
    """
    if isinstance(given, LogDeclaration):
        return given
    if given is not None:
        return LogDeclaration.load(given)
    if layout_of(path, None) in ("common", "combined"):
        return ACCESS_LOG
    raise InputError("CEL-U005", path=str(path))


def layout_of(path: Path, given: Layout | None) -> Layout:
    """How a file is laid out: as declared, by its name, or by its first lines.

    Raises:
        InputError: CEL-U003 none of it says.
    """
    check_readable(path)
    if given is not None:
        return given
    name = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    known = SUFFIXES.get(name.suffix.lower())
    if known == "jsonl":
        return "jsonl"
    if known is not None and name.suffix.lower() != ".txt":
        return "table"
    with open_bytes(path) as stream:
        head = stream.read(_HEAD).decode("utf-8", "replace")
    if looks_like_access_log(head):
        return "combined"
    if known is not None:
        return "table"
    raise InputError("CEL-U003", path=str(path))


def read(path: str | Path, declare: LogDeclaration | str | Path | None = None) -> Log:
    """The log in a file.

    Args:
        path: a table (CSV, Parquet ...), JSON lines, or an access log in the common or combined
            format; also packed (.gz).
        declare: what the columns are; an access log needs none.

    Raises:
        InputError: CEL-U003 unknown layout; CEL-U005 nothing is declared; CEL-U011 to CEL-U014 as
            `log_of` says; CEL-F... as `frames.read` says.
    """
    file = Path(path)
    check_readable(file)
    declaration = declaration_of(declare, file)
    layout = layout_of(file, declaration.layout)
    if layout in ("common", "combined"):
        lines = Damage()
        parts = list(read_blocks(file, lines))
        frame = pl.concat(parts) if parts else pl.DataFrame()
        if frame.height == 0:
            raise InputError("CEL-U012")
        lines.check(declaration.damaged)
        return log_of(frame, declaration, lines=lines)
    if layout == "baskets":
        raise InputError("CEL-U006", path=str(file))
    if layout == "jsonl":
        return log_of(frames.read(file, format="jsonl"), declaration)
    return log_of(frames.read(file, types=text_columns(declaration)), declaration)


def text_columns(declaration: LogDeclaration) -> dict[str, ColumnType]:
    """The columns that are read as texts, however they look."""
    roles = declaration.columns.items()
    return {column: "string" for role, column in roles if role not in ("time", "bytes")}


def read_sets(
    path: str | Path,
    declare: LogDeclaration | str | Path | None = None,
    *,
    delimiter: str | None = None,
) -> Transactions:
    """The transactions in a file: basket lines, or the sets of items of each person of a log.

    Args:
        path: basket lines (.txt, .dat, .baskets), or a log with `person` and `text`.
        declare: what the columns of a log are; basket lines need none.
        delimiter: between the items of a basket line; found out if left open.

    Raises:
        InputError: as `read` says; CEL-U012 there is no transaction; CEL-U014 a line is damaged.
    """
    file = Path(path)
    check_readable(file)
    given = LogDeclaration.load(declare) if isinstance(declare, str | Path) else declare
    is_log = given is not None and (given.person is not None and given.text is not None)
    if is_log and given is not None and given.layout != "baskets":
        return transactions_of(read(file, given))
    baskets, lines = read_baskets(file, delimiter=delimiter)
    if not baskets:
        raise InputError("CEL-U012")
    lines.check("refuse" if given is None else given.damaged)
    return replace(Transactions.of(baskets), unread=lines.counts)


def transactions_of(log: Log) -> Transactions:
    """The set of distinct items of each person."""
    codes, labels = log.queries
    found = Transactions.from_pairs(log.people, codes, tuple(labels.to_list()))
    return replace(found, unread=log.unread)
