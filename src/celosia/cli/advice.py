"""What commands advise where a hierarchy of the user's own would keep more detail."""

from __future__ import annotations

from collections.abc import Sequence

from celosia.core.messages import Message


def own_groups() -> Message:
    """Say how to write groups of one's own."""
    return Message("cli.advice.own_groups")


def no_groups(columns: Sequence[str]) -> Message:
    """Say that the values of columns are kept or hidden, and what would keep more of them."""
    return Message(
        "cli.advice.no_groups", count=len(columns), columns=columns, own_groups=own_groups()
    )
