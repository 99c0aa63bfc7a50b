"""What a caller may ask for when traces are published, whatever the method."""

from __future__ import annotations

from dataclasses import dataclass

from celosia.core.errors import InputError
from celosia.core.methods import Parameter, PlainValues, checked
from celosia.traces.points import PERIODS

_TRIM = Parameter(name="trim", kind="number", least=0, most=100_000, start=200)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishOptions(PlainValues):
    """Options of `publish` besides the method.

    Raises:
        InputError: CEL-J011 no such period; CEL-I060 not a number of metres.
    """

    pseudonym: str | None = None
    """How long a pseudonym lasts: none, trip, day, week or whole; None for the method's own."""
    trim: float = 0.0
    """Metres around the first and the last point of each trip in which points are removed."""
    assess: bool = True
    """Attack the release and compare it with the original, for the report."""

    def __post_init__(self) -> None:
        if self.pseudonym is not None and self.pseudonym not in PERIODS:
            raise InputError("CEL-J011", periods=list(PERIODS))
        object.__setattr__(self, "trim", checked("traces", _TRIM, self.trim))
