"""Traces of a lost ledger: files of the service that record charges.

A ledger that is deleted would begin anew with nothing spent, and so would all budgets. The service
notes charges in two other files: its audit log has the entry of each answer, and the file of tokens
keeps that something was charged at all.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

from celosia.core.errors import PrivacyError
from celosia.core.numbers import exact
from celosia.queries.ledger.ledger import Ledger

CHARGED = "celosia_charged"
"""The table in the file of tokens that has a row once something was charged."""
_HEADER = b"SQLite format 3\x00"


def check_not_lost(location: str | Path, files: Iterable[Path]) -> None:
    """Refuse a location without a ledger where other files record that there was one.

    Raises:
        PrivacyError: CEL-Q306.
    """
    standing = Ledger.open_view(location)
    if standing is None:
        check_no_traces(files)
    else:
        standing.close()


def check_no_traces(files: Iterable[Path]) -> None:
    """Refuse to begin a ledger where other files record that there was one.

    A file that cannot be read counts as a trace: it may record a charge.

    Args:
        files: audit logs and files of tokens; one that does not exist tells nothing.

    Raises:
        PrivacyError: CEL-Q306.
    """
    for path in files:
        if _has_charges(path):
            raise PrivacyError("CEL-Q306", file=path.name, path=str(path))


def known_charges(log: Path) -> tuple[int, Fraction]:
    """The number of charges in an audit log, and the sum of their epsilon."""
    charges: dict[int, Fraction] = {}
    try:
        for line in _lines(log):
            entry, epsilon = line.get("entry"), exact(line.get("epsilon"))
            if isinstance(entry, int) and epsilon is not None:
                charges[entry] = epsilon
    except OSError:
        pass
    return len(charges), sum(charges.values(), Fraction(0))


def _has_charges(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            is_database = file.read(len(_HEADER)) == _HEADER
        if is_database:
            return _was_charged(path)
        return any(map(_is_charge, _lines(path)))
    except FileNotFoundError:
        return False
    except (OSError, sqlite3.Error):
        return True


def _is_charge(line: dict[str, Any]) -> bool:
    # A question that failed while data was read stays charged, and its line has no entry.
    return line.get("entry") is not None or line.get("outcome") == "CEL-Q140"


def _lines(log: Path) -> Iterator[dict[str, Any]]:
    """The lines of an audit log; one that a crash has cut off is no line."""
    with log.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            try:
                found = json.loads(line)
            except ValueError:
                continue
            if isinstance(found, dict):
                yield found


def _was_charged(tokens: Path) -> bool:
    with closing(sqlite3.connect(f"{tokens.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        wanted = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
        if connection.execute(wanted, (CHARGED,)).fetchone() is None:
            return False  # a file of tokens from before
        return connection.execute(f"SELECT 1 FROM {CHARGED}").fetchone() is not None  # noqa: S608 - our own name
