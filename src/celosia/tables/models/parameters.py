"""Parameters that several models declare."""

from __future__ import annotations

from typing import Any

from celosia.core.methods import parameter

LEAST, MOST = 1e-12, 1_000_000_000
"""Parameters beyond these mean nothing for a table of people, and would overflow the arithmetic."""

TIE = 1e-12
"""Relative difference below which two sides of a condition count as equal."""

SLACK = 1e-9
"""How far the proven bounds stay on the safe side of rounding; larger than `TIE` on purpose."""


def group_size() -> Any:
    """The `k` of a model: the number of records or people that it asks for."""
    return parameter(least=2, most=MOST, start=5)


def sensitive_column() -> Any:
    """The column that a model is about; None stands for every sensitive one."""
    return parameter(None, kind="column")
