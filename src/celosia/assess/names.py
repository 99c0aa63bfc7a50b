"""Names of columns that a table does not have, for messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from celosia.core.messages import Message
from celosia.core.wording import did_you_mean


def quoted_names(names: Iterable[str], known: Sequence[str]) -> list[Message]:
    """Unknown names for a message, each with the nearest known one."""
    return [
        Message("assess.name.quoted", name=name, hint=did_you_mean(name, known)) for name in names
    ]
