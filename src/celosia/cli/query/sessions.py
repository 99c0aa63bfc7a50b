"""The vault of a policy file or of a service, with one interface for both."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from celosia.cli.paths import read_variable, resolve_address
from celosia.cli.policy import show_warnings
from celosia.core.errors import InputError

if TYPE_CHECKING:
    from celosia.queries import Vault
    from celosia.queries.service import Client

TOKEN = "CELOSIA_TOKEN"  # noqa: S105 - the name of a variable


@contextmanager
def open_vault(
    policy: str | None,
    server: str | None,
    *,
    ledger: str | None,
    token_file: Path | None,
    seed: int | None,
) -> Iterator[Vault | Client]:
    """The vault of a policy, or one behind a service."""
    if server is not None:
        from celosia.queries.service import Client

        with Client(server, _token(token_file)) as client:
            yield client
        return
    from celosia.core.randomness import source
    from celosia.queries import Vault

    place = None if ledger is None else resolve_address(ledger)
    with show_warnings():
        vault = Vault.open(str(policy), ledger=place, rng=source(seed))
    with vault:
        yield vault


def _token(file: Path | None) -> str:
    if file is None:
        return read_variable(f"${TOKEN}")
    try:
        found = file.read_text("ascii").strip()
    except (OSError, ValueError):
        found = ""
    if not found or len(found) > 1000:
        raise InputError("CEL-Q216.token", file=file, token=TOKEN)
    return found
