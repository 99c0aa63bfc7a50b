"""What every broken protocol offers, so that one test can try them all."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar

from celosia.core.messages import Message
from celosia.core.randomness import Source


@dataclass(frozen=True, kw_only=True)
class BrokenProtocol(ABC):
    """A protocol, or a part of one, that does not do what it says; with a figure that shows it."""

    citation: ClassVar[str]
    """Where it was seen."""
    flaw: ClassVar[str]
    """Why it fails, in one sentence."""
    figure: ClassVar[str]
    """What is measured."""

    @property
    @abstractmethod
    def claimed(self) -> float:
        """What the figure should be."""

    @property
    @abstractmethod
    def true(self) -> float:
        """What it is in truth, in closed form; infinite where nothing bounds it."""

    @abstractmethod
    def measure(self, *, rng: Source, runs: int) -> float:
        """The figure, measured on the broken code."""

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; a figure without limit is None."""
        return {
            "name": type(self).__name__,
            "figure": self.figure,
            "claimed": self.claimed,
            "true": None if self.true == inf else self.true,
            "flaw": self.flaw,
            "citation": self.citation,
        }

    def __str__(self) -> str:
        true = Message("lab.collect.without_limit") if self.true == inf else f"{self.true:.4g}"
        return Message.of("lab.collect.should_be_is", self, name=type(self).__name__, true=true)
