"""Addresses of ledgers and engines; secrets come from variables, never from a command."""

from __future__ import annotations

import os

from celosia.core.errors import InputError


def resolve_address(written: str) -> str:
    """The address of a ledger or engine: the value of a variable (`$NAME`), or the text itself.

    Raises:
        InputError: CEL-Q204 the variable is not set, CEL-Q200 an address with a password.
    """
    if written.startswith("$"):
        return read_variable(written)
    return check_address(written) if "://" in written else written


def read_variable(written: str) -> str:
    """The value of a variable that is written as `$NAME`."""
    name = written.removeprefix("$").strip("{}")
    value = os.environ.get(name, "").strip()
    if not value:
        raise InputError("CEL-Q204", name=name)
    return value


def check_address(written: str) -> str:
    """An address without a password in it."""
    from urllib.parse import parse_qs, urlsplit

    try:
        parts = urlsplit(written)
        secret = parts.password is not None or "password" in parse_qs(parts.query)
    except ValueError:
        secret = False  # opening it will say what is wrong with it
    if secret:
        raise InputError("CEL-Q200.password")
    return written
