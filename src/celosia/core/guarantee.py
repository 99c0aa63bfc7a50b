"""What a release promises, to whom, and what it does not."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarantee:
    """A promise in words that can be checked, printed and kept beside the data.

    >>> guarantee = Guarantee(promise="5-anonymity over age, zip", unit="record",
    ...     protects="no person can be tied to fewer than 5 records by age, zip",
    ...     assumes=("an attacker knows nothing but age and zip",),
    ...     leaves_open=("a class that shares its sensitive value tells it",))
    >>> print(guarantee)
    5-anonymity over age, zip (unit: record)
    """

    promise: str
    """The model and its parameters, as one would write them."""
    unit: str
    """The privacy unit: what one neighbour step changes, or who is hidden in the crowd."""
    protects: str
    """What an attacker cannot do."""
    neighbours: str | None = None
    """The neighbour relation of a differentially private promise; None for syntactic models."""
    assumes: tuple[str, ...] = ()
    """What must be true for the promise to hold."""
    leaves_open: tuple[str, ...] = ()
    """What the promise does not protect against."""
    simulation: bool = False
    """True when the randomness came from a seed: nothing is promised then."""

    def __str__(self) -> str:
        mark = " [simulation: made with a seed, not for release]" if self.simulation else ""
        return f"{self.promise} (unit: {self.unit}){mark}"

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Guarantee:
        """The inverse of `as_dict`."""
        lists: dict[str, Any] = {name: tuple(values[name]) for name in ("assumes", "leaves_open")}
        return cls(**(values | lists))
