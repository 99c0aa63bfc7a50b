"""What a column seems to hold, and the role that this suggests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from celosia.core.methods import PlainValues

Role = Literal["identifier", "quasi-identifier", "sensitive", "insensitive"]

IN_DOUBT = frozenset(("amount", "category", "coded category", "number"))
"""Kinds that do not say whether they identify: such a column is a quasi-identifier."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(PlainValues):
    """What a column seems to hold, and the role that this suggests."""

    column: str
    kind: str
    """Such as `e-mail address`, `birth date`, `free text`; `category` or `number` if nothing."""
    role: Role
    share: float
    """Share of the filled cells that look so; 0 if only the name of the column tells."""
    distinctness: float
    """Distinct values / filled cells: 1 if no two records share one."""
    why: str
    empty: int = 0
    """Cells without a value."""

    def __str__(self) -> str:
        return f"{self.column}: {self.kind} ({self.role}): {self.why}"
