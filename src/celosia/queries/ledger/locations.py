"""Locations of a ledger: a file of SQLite, or a database of PostgreSQL."""

from __future__ import annotations

from pathlib import Path

from celosia.core.errors import InputError


def parse_location(location: str | Path) -> Path | str:
    """The file of a ledger, or the address of the server that keeps it.

    Raises:
        InputError: CEL-Q116 not a location that keeps anything.
    """
    if isinstance(location, str) and "://" in location:
        from sqlalchemy import exc, make_url  # 0.2 s, only where there is a URL

        try:
            url = make_url(location)
        except (exc.ArgumentError, ValueError):
            raise InputError("CEL-Q116.unreadable_url") from None
        if url.get_backend_name() in {"postgres", "postgresql"}:
            return location
        if url.get_backend_name() != "sqlite" or url.query:
            raise InputError("CEL-Q116.other_database")
        location = url.database or ""
    if not str(location) or str(location) == ":memory:" or str(location).startswith("file:"):
        raise InputError("CEL-Q116.memory")
    path = Path(location).absolute()
    if path.is_dir() or not path.parent.is_dir():
        raise InputError("CEL-Q116.folder", path=str(path))
    return path


def file_exists(location: str | Path) -> bool:
    """Whether the file of a location exists; True for a server, which only a connection can ask."""
    found = parse_location(location)
    return isinstance(found, str) or found.is_file()
