"""What every broken mechanism offers, so that one audit can try them all."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import inf, log
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.randomness import Source

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class BrokenMechanism(ABC):
    """A mechanism that claims `epsilon` and costs more, with a pair of neighbours that proves it.

    All examples are of the add-or-remove relation, sensitivity 1 where there are queries.
    """

    citation: ClassVar[str]
    """Where it was published, or what it is a slip of."""
    flaw: ClassVar[str]
    """Why it fails, in one sentence."""

    epsilon: float = 1.0

    @property
    def claimed_epsilon(self) -> float:
        """What it says that it costs."""
        return self.epsilon

    @property
    @abstractmethod
    def true_epsilon(self) -> float:
        """What it costs in truth; infinite where nothing is promised at all."""

    @property
    @abstractmethod
    def neighbours(self) -> tuple[Floats, Floats]:
        """Two neighbouring inputs; the event is likelier on the first."""

    @abstractmethod
    def run(self, data: Floats, *, rng: Source, size: int) -> NDArray[Any]:
        """`size` independent outputs for one input, one for each row."""

    @abstractmethod
    def event(self, outputs: NDArray[Any]) -> Flags:
        """Which outputs give the neighbours away."""

    @property
    @abstractmethod
    def chances(self) -> tuple[float, float]:
        """The exact chance of the event on each of the neighbours."""

    @property
    def shown_epsilon(self) -> float:
        """The loss that the event alone shows: the log of the ratio of its chances."""
        first, second = self.chances
        return inf if second == 0 else log(first / second)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; an unlimited loss is None."""
        true = self.true_epsilon
        return {
            "name": type(self).__name__,
            "claimed_epsilon": self.claimed_epsilon,
            "true_epsilon": None if true == inf else true,
            "chances": list(self.chances),
            "flaw": self.flaw,
            "citation": self.citation,
        }

    def __str__(self) -> str:
        true = self.true_epsilon
        cost = (
            Message("lab.mechanisms.costs_without_limit")
            if true == inf
            else Message("lab.mechanisms.costs", true=true)
        )
        return Message(
            "lab.mechanisms.claims_epsilon",
            name=type(self).__name__,
            claimed_epsilon=self.claimed_epsilon,
            cost=cost,
        )


def uniform(size: int, rng: Source) -> Floats:
    """Floats strictly between 0 and 1, on the middles of 2^52 equal parts."""
    return ((rng.words(size) >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52


def laplace(scale: float, size: int, rng: Source) -> Floats:
    """Laplace noise by the logarithm of a uniform float: the textbook way that leaks.

    The sign comes from a bit of the same word that the uniform float does not use.
    """
    words = rng.words(size)
    found = ((words >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
    found = np.log(found, out=found)
    found *= -scale
    return np.negative(found, out=found, where=(words & np.uint64(1)).astype(bool))
