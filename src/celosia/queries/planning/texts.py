"""Keys as texts, to compare what an engine returns with what a policy declares."""

from __future__ import annotations

from typing import Any


def key_text(value: Any) -> str:
    """A key as one text: dates in ISO form, whatever the engine returns them as.

    >>> from datetime import date
    >>> key_text(date(2026, 11, 16)), key_text(3), key_text("a")
    ('2026-11-16', '3', 'a')
    """
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def plain_key(value: Any) -> str | int | bool:
    """A key as a plain value for JSON, which can be written into a query again."""
    return value if isinstance(value, bool | int | str) else key_text(value)
