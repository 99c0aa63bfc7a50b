"""One way to bound what a composition costs."""

from __future__ import annotations

from dataclasses import dataclass
from math import isinf
from typing import Any


@dataclass(frozen=True, slots=True)
class Bound:
    """The epsilon that one theorem gives for a composition at a delta."""

    name: str
    epsilon: float
    adaptive: bool
    """Whether it still holds when each next loss is chosen by the answers so far, against a total
    that is fixed in advance (Feldman & Zrnic 2021; Whitehouse, Ramdas, Rogers & Wu 2023)."""
    reason: str = ""
    """Why it is infinite, where it is."""

    def as_dict(self) -> dict[str, Any]:
        """Plain values; None for an infinite epsilon, which JSON does not know."""
        return {
            "name": self.name,
            "epsilon": None if isinf(self.epsilon) else self.epsilon,
            "adaptive": self.adaptive,
            "reason": self.reason,
        }
