"""The raw values that a released label may stand for, as attacks and utility need them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

SUPPRESSED = "*"
"""The label that may stand for any value; what a suppressed record has in every column."""


@runtime_checkable
class Meaning(Protocol):
    """The raw values of one column, and which of them each released label may stand for."""

    @property
    def values(self) -> Sequence[str]:
        """Every raw value that the column may have, as text."""
        ...

    def stands_for(self, label: str) -> NDArray[np.int64]:
        """Positions in `values` of what the label may be; empty if the label means nothing."""
        ...


@dataclass(frozen=True, eq=False)
class ExactMeaning:
    """A column released as it is: each value stands for itself, and `*` for any.

    >>> meaning = ExactMeaning(("flu", "cold"))
    >>> meaning.stands_for("cold").tolist(), meaning.stands_for("*").tolist()
    ([1], [0, 1])
    """

    values: tuple[str, ...]

    @cached_property
    def _index(self) -> dict[str, int]:
        return {value: position for position, value in enumerate(self.values)}

    def stands_for(self, label: str) -> NDArray[np.int64]:
        """The value itself; all values for `*`."""
        if label in self._index:
            return np.array([self._index[label]], dtype=np.int64)
        every = len(self.values) if label == SUPPRESSED else 0
        return np.arange(every, dtype=np.int64)
