"""A meaning by hand, for tests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Groups:
    """Label to the values it stands for; values stand for themselves, and a star for nothing."""

    values: tuple[str, ...]
    groups: dict[str, list[str]]

    def stands_for(self, label: str) -> NDArray[np.int64]:
        named = self.groups.get(label, [label] if label in self.values else [])
        return np.array([self.values.index(value) for value in named], dtype=np.int64)
