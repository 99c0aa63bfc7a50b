"""Where ledgers are, and secrets that no command may hold."""

from __future__ import annotations

import os

from celosia.core.errors import InputError


def resolve_address(written: str) -> str:
    """Where a ledger is: what a variable says, or the place itself.

    Raises:
        InputError: CEL-Q204 the variable is not set, CEL-Q205 an address with a password.
    """
    if written.startswith("$"):
        return read_variable(written)
    return check_address(written) if "://" in written else written


def read_variable(written: str) -> str:
    """The value of a variable that is written as `$NAME`.

    Raises:
        InputError: CEL-Q204 it is not set.
    """
    name = written.removeprefix("$").strip("{}")
    value = os.environ.get(name, "").strip()
    if not value:
        raise InputError(
            "CEL-Q204",
            f"the variable {name} is not set.",
            why="What is secret is not written into a command, which others may see.",
            fix=f"Set it: export {name}=...",
        )
    return value


def check_address(written: str) -> str:
    """An address without a password in it.

    Raises:
        InputError: CEL-Q205 it has one.
    """
    from urllib.parse import parse_qs, urlsplit

    try:
        parts = urlsplit(written)
        secret = parts.password is not None or "password" in parse_qs(parts.query)
    except ValueError:
        secret = False  # whoever opens it says what is wrong with it
    if secret:
        raise InputError(
            "CEL-Q205",
            "the address holds a password.",
            why="Who lists the commands that run would see it.",
            fix="Put the address into a variable, and give its name: '$LEDGER'.",
        )
    return written
