"""Post-processing that makes estimates worse than they were."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi, sqrt

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.randomness import Source
from celosia.lab.collect.broken.example import BrokenProtocol
from celosia.lab.collect.law import rmse
from celosia.lab.collect.publication import generator

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class BrokenRescaling(BrokenProtocol):
    """Counts below 0 raised to 0, and all counts then multiplied so that they add up to the users.

    Raising leaves half of the noise of every value that nobody has, and multiplying takes it from
    those that many have. Norm-Sub subtracts instead.
    """

    citation = "The threshold cut of pure-ldp 1.2.0, and other packages that normalise so"
    flaw = Message("lab.collect.the_noise_of_thousands_of_absent")
    figure = Message("lab.collect.error_of_common_values_over_their")

    users: int = 100_000
    different: int = 10_000
    common: int = 10
    noise: float = 300.0
    """The standard deviation of a raw estimate."""

    @property
    def real(self) -> NDArray[np.int64]:
        """A few values that all users have, and many that nobody has."""
        counts = np.zeros(self.different, dtype=np.int64)
        counts[: self.common] = self.users // self.common
        return counts

    @staticmethod
    def clipped_and_rescaled(counts: Floats, users: int) -> Floats:
        """The fault."""
        above = np.maximum(counts, 0)
        return np.asarray(above * (users / above.sum()))

    @property
    def claimed(self) -> float:
        """At most that of the raw estimates."""
        return 1.0

    @property
    def true(self) -> float:
        """A common count shrinks by n / (n + (D - c) s / sqrt(2 pi)), which is all of its error."""
        extra = (self.different - self.common) * self.noise / sqrt(2 * pi)
        shrink = self.users / (self.users + extra)
        lost = (1 - shrink) * self.users / self.common
        return sqrt(lost**2 + (shrink * self.noise) ** 2) / self.noise

    def raw(self, rng: Source) -> Floats:
        """Estimates with normal errors."""
        return self.real + generator(rng).normal(0, self.noise, self.different)

    def measure(self, *, rng: Source, runs: int) -> float:
        real, few = self.real, slice(0, self.common)
        found = []
        for _ in range(runs):
            shown = self.clipped_and_rescaled(self.raw(rng), self.users)
            found.append(rmse(shown[few], real[few]) / self.noise)
        return float(np.mean(found))
