"""What a privacy model is: a condition that each equivalence class must meet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Classes:
    """The equivalence classes of a candidate release, one entry each."""

    sizes: NDArray[np.int64]


@runtime_checkable
class Model(Protocol):
    """A condition on equivalence classes; records of a class that fails it are suppressed."""

    @property
    def is_monotone(self) -> bool:
        """Whether a class that meets the model meets it with any further records added."""
        ...

    @property
    def smallest(self) -> int:
        """No class with fewer records can meet the model."""
        ...

    def holds(self, classes: Classes) -> NDArray[np.bool_]:
        """For each class, whether it meets the model."""
        ...

    def promise(self) -> str:
        """The model and its parameters in words: '5-anonymity'."""
        ...

    def protects(self) -> str:
        """What an attacker cannot do, as a sentence."""
        ...

    def leaves_open(self) -> tuple[str, ...]:
        """What the model does not protect against."""
        ...

    def as_dict(self) -> dict[str, Any]:
        """Name and parameters as plain values."""
        ...


def hold_all(classes: Classes, models: Sequence[Model]) -> NDArray[np.bool_]:
    """For each class, whether it meets every model."""
    held = np.ones(classes.sizes.size, dtype=np.bool_)
    for model in models:
        held &= model.holds(classes)
    return held
