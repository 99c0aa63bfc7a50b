"""The base of trace methods: declared parameters, and one function of traces."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from celosia.core.errors import InputError, PrivacyError
from celosia.core.messages import Message
from celosia.core.methods import Method
from celosia.core.progress import Progress, silent
from celosia.core.randomness import Source
from celosia.traces.points import PERIODS, Traces
from celosia.traces.samples import Samples


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MethodResult:
    """What a method made of traces."""

    samples: Samples
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Counts and sizes for the report; never a place or a person."""
    kept: str
    """What is the same as before, in words."""
    promise: str
    """What is promised of this result."""


class TraceMethod(Method, ABC):
    """A way to protect traces; a frozen dataclass whose fields are its parameters."""

    default_period: ClassVar[str] = "whole"
    """How long a pseudonym lasts unless the caller says otherwise."""
    periods: ClassVar[tuple[str, ...]] = PERIODS
    """How long it may last."""

    @abstractmethod
    def apply(
        self, traces: Traces, period: str, *, rng: Source, progress: Progress = silent
    ) -> MethodResult:
        """Protect traces of pseudonyms that last for a period; the given ones stay as they are.

        Raises:
            InputError: a parameter does not fit the traces.
            PrivacyError: what is asked cannot be reached on these traces.
        """

    @abstractmethod
    def protects(self) -> str:
        """What an attacker cannot do, as a sentence."""

    def leaves_open(self, period: str) -> tuple[str, ...]:
        """What the method does not protect against."""
        return ()

    def assumes(self) -> tuple[str, ...]:
        """What must be true for the promise to hold."""
        return (Message("traces.assumes.region"),)

    def check_period(self, period: str) -> None:
        """Refuse a period of pseudonyms that the method cannot keep its promise for.

        Raises:
            InputError: CEL-J012 it is one.
        """
        if period not in self.periods:
            raise InputError("CEL-J012", method=self.method_name, periods=list(self.periods))


def check_people(people: int, k: int) -> None:
    """Refuse fewer people than a crowd needs.

    Raises:
        PrivacyError: CEL-J020 there are fewer than k.
    """
    if people < k:
        raise PrivacyError("CEL-J020", people=people, k=k)
