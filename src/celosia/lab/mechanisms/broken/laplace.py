"""Laplace noise gone wrong: half of it, drawn in floats, or too little for a noisy maximum."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.randomness import Source
from celosia.lab.mechanisms.broken.example import BrokenMechanism, Flags, Floats, laplace
from celosia.mechanisms.sparse.analysis import difference_tail

LATTICE = 2.0**-53
"""The distance of the floats from 1/2 to 1."""


@dataclass(frozen=True, kw_only=True)
class BrokenHalfScaleLaplace(BrokenMechanism):
    """Laplace noise of half the scale, as when a sensitivity of 2 is taken for 1.

    True level: 2 epsilon. The input is one exact answer of sensitivity 1.
    """

    citation = "A slip: the sensitivity of a histogram when one row is changed is 2"
    flaw = Message("lab.mechanisms.the_noise_is_half_as_wide")

    @property
    def true_epsilon(self) -> float:
        return 2 * self.epsilon

    @property
    def neighbours(self) -> tuple[Floats, Floats]:
        """A count of 1, or of 0."""
        return np.array([1.0]), np.array([0.0])

    def run(self, data: Floats, *, rng: Source, size: int) -> Floats:
        return float(data[0]) + laplace(1 / (2 * self.epsilon), size, rng)

    def event(self, outputs: NDArray[Any]) -> Flags:
        """At least 1."""
        return np.asarray(outputs >= 1)

    @property
    def chances(self) -> tuple[float, float]:
        """One half, and its e^(2 epsilon)-th part."""
        return 0.5, exp(-2 * self.epsilon) / 2


@dataclass(frozen=True, kw_only=True)
class BrokenFloatLaplace(BrokenMechanism):
    """Laplace noise of the right scale, drawn and added in floats.

    True level: none. From the exact answer 1, outputs between 0 and 1/4 are all multiples of 2^-53,
    as 1 plus a float between -1 and -3/4 is; from 0 most of them are not.
    """

    citation = "Mironov, On significance of the least significant bits for differential privacy, "
    citation += "CCS 2012"
    flaw = Message("lab.mechanisms.the_last_bits_of_the_output")

    @property
    def true_epsilon(self) -> float:
        return inf

    @property
    def neighbours(self) -> tuple[Floats, Floats]:
        """A count of 0, or of 1."""
        return np.array([0.0]), np.array([1.0])

    def run(self, data: Floats, *, rng: Source, size: int) -> Floats:
        return float(data[0]) + laplace(1 / self.epsilon, size, rng)

    def event(self, outputs: NDArray[Any]) -> Flags:
        """Between 0 and 1/4, and off the lattice of the floats below 1."""
        near = (outputs > 0) & (outputs < 0.25)
        # Division by a power of two is exact.
        return np.asarray(near & (outputs / LATTICE != np.rint(outputs / LATTICE)))

    @property
    def chances(self) -> tuple[float, float]:
        """Of the floats from 2^-j to 2^(1-j), one in 2^(j-1) is on the lattice; and none at all.

        The first is to within the granularity of the noise, some 2^-26.
        """
        off = sum(
            (exp(-self.epsilon * 2.0**-j) - exp(-self.epsilon * 2.0 ** (1 - j)))
            * (1 - 2.0 ** (1 - j))
            for j in range(3, 54)
        )
        return off / 2, 0.0


@dataclass(frozen=True, kw_only=True)
class BrokenNoisyMax(BrokenMechanism):
    """Report noisy max with noise 1/epsilon on scores that can move in opposite directions.

    True level: 2 epsilon in the limit of a large gap. Right for counts when one row is added; other
    scores need 2/epsilon. The output is the index of the winner.
    """

    citation = "Dwork & Roth 2014, Claim 3.9, applied to scores that are not monotone"
    flaw = Message("lab.mechanisms.one_score_rises_while_the_other")

    gap: float = 4.0
    """How far the first score leads."""

    @property
    def true_epsilon(self) -> float:
        return 2 * self.epsilon

    @property
    def neighbours(self) -> tuple[Floats, Floats]:
        """The second score one step nearer and the first one step lower, or as they are."""
        return np.array([self.gap - 1, 1.0]), np.array([self.gap, 0.0])

    def run(self, data: Floats, *, rng: Source, size: int) -> NDArray[np.int64]:
        """`size` indices."""
        noise = laplace(1 / self.epsilon, size * data.size, rng).reshape(size, data.size)
        return np.asarray((data + noise).argmax(axis=1))

    def event(self, outputs: NDArray[Any]) -> Flags:
        """The second score wins."""
        return np.asarray(outputs == 1)

    @property
    def chances(self) -> tuple[float, float]:
        """The closed form of the difference of two Laplace laws."""
        scale = 1 / self.epsilon
        return difference_tail(self.gap - 2, scale, scale), difference_tail(self.gap, scale, scale)
