"""Released values as plain Python, and on one line."""

from __future__ import annotations

from typing import Any

import numpy as np

from celosia.core.messages import say


def plain(value: Any) -> Any:
    """A released value as plain Python numbers, lists and mappings."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {plain(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, (bool, int, float, str)) or value is None:
        return value
    return str(value)


def short(value: Any) -> str:
    """A released value on one line.

    >>> short(54321.125), short([1, 2, 3]), short({"a": 1, "b": 2})
    ('54,321.1', '1, 2, 3', 'a 1, b 2')
    """
    if isinstance(value, dict):
        return ", ".join(f"{key} {short(each)}" for key, each in value.items())
    if isinstance(value, list):
        return ", ".join(short(each) for each in value)
    if isinstance(value, float):
        return say("mechanisms.number", value=value, form=",.6g")
    return say("mechanisms.number", value=value, form=",") if isinstance(value, int) else str(value)
