"""What a release promises, to whom, and what it does not."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from celosia.core.kept_messages import KeptMessages, kept
from celosia.core.messages import say


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
        key = "reports.guarantee_simulation" if self.simulation else "reports.guarantee"
        return say(key, promise=self.promise, unit=self.unit)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON: the English, and as `messages` what it is made of."""
        texts = (self.promise, self.unit, self.protects, self.neighbours)
        messages = kept((*texts, *self.assumes, *self.leaves_open))
        return asdict(self) | ({"messages": messages} if messages else {})

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Guarantee:
        """The inverse of `as_dict`; texts without a message stay English."""
        given = dict(values)
        known = KeptMessages(given.pop("messages", ()))
        for name in ("promise", "unit", "protects", "neighbours"):
            if name in given:
                given[name] = known.message(given[name])
        for name in ("assumes", "leaves_open"):
            given[name] = tuple(known.message(each) for each in given[name])
        return cls(**given)
