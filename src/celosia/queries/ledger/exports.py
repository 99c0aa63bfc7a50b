"""A ledger as JSON lines, which can be checked without the database."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from celosia.core.files import replacing
from celosia.queries.ledger.chain import Entry, Head, broken_chain_error, canonical, check_chain


def write_export(entries: Iterable[Entry], path: Path, *, overwrite: bool) -> None:
    """Write one line for each entry: its number, its text, its hash and the one before."""
    with replacing(path, overwrite=overwrite) as draft, draft.open("w", encoding="ascii") as lines:
        for entry in entries:
            lines.write(f"{canonical(entry.as_dict())}\n")


def verify_export(path: str | Path, *, anchor: Head | str | None = None) -> Head:
    """Check each link of an exported ledger; returns its head.

    Args:
        path: the file.
        anchor: a head from a release, which the ledger must hold.

    Raises:
        PrivacyError: CEL-Q104 a line was edited, removed or moved; CEL-Q106 the anchor is missing.
    """
    wanted = Head.parse(anchor) if isinstance(anchor, str) else anchor
    head = check_chain(_read(Path(path)), anchor=wanted)
    if head is None:
        raise broken_chain_error(0)
    return head


def _read(path: Path) -> Iterator[Entry]:
    with path.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines):
            try:
                yield Entry(**json.loads(line))
            except (TypeError, ValueError):
                raise broken_chain_error(number) from None
