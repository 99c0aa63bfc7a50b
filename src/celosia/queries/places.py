"""Where the files of a policy are, unless somebody says otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from celosia.core.errors import InputError

if TYPE_CHECKING:
    from celosia.queries.policy import Policy


def ledger_of(policy: str | Path | Policy) -> Path:
    """The file of a policy's ledger: beside the policy file, with its name.

    Raises:
        InputError: CEL-Q153 a policy that is no file has no place.

    >>> ledger_of("shop.toml").name
    'shop.ledger.sqlite'
    """
    if not isinstance(policy, str | Path):
        raise InputError(
            "CEL-Q153",
            "a policy that is no file has no place for its ledger.",
            why="What was spent must outlive the program.",
            fix="Give the file or the URL of a ledger: ledger=...",
        )
    path = Path(policy)
    return path.with_name(f"{path.stem}.ledger.sqlite")
