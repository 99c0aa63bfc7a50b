"""The sparse vectors that are not private, or less than they say (Lyu, Su & Li 2017, Figure 1).

An output is a row of codes, one for each query: `ABOVE` 1, `BELOW` 0, and `NOT_ASKED` -1 after the
halt. Thresholds are 0 and sensitivities 1; the input is the list of exact answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.randomness import Source
from celosia.lab.mechanisms.broken.example import BrokenMechanism, Flags, Floats, laplace
from celosia.mechanisms.sparse import analysis

Codes = NDArray[np.int8]

ABOVE, BELOW, NOT_ASKED = 1, 0, -1


@dataclass(frozen=True, kw_only=True)
class _BrokenPattern(BrokenMechanism):
    """A variant that says above and below, shown by `length` answers below and some above."""

    length: int = 2

    @property
    def scales(self) -> tuple[float, float]:
        """The scales of the noise of the threshold and of the answers."""
        raise NotImplementedError

    @property
    def above(self) -> int:
        """How many answers above the pattern ends with."""
        return self.length

    limit: ClassVar[bool] = False
    """Whether it halts after that many answers above."""

    @property
    def pattern(self) -> list[bool]:
        """The outcome that gives the neighbours away."""
        return [False] * self.length + [True] * self.above

    @property
    def neighbours(self) -> tuple[Floats, Floats]:
        """All answers 0, or raised where the outcome says below and lowered where it says above."""
        return (
            np.zeros(self.length + self.above),
            np.array([1.0] * self.length + [-1.0] * self.above),
        )

    def run(self, data: Floats, *, rng: Source, size: int) -> Codes:
        """`size` rows of codes."""
        threshold, query = self.scales
        secret = laplace(threshold, size, rng)[:, None]
        noisy = np.broadcast_to(data, (size, data.size))
        if query:
            noisy = noisy + laplace(query, size * data.size, rng).reshape(size, data.size)
        codes = (noisy >= secret).astype(np.int8)
        return _halted(codes, self.above) if self.limit else codes

    def event(self, outputs: NDArray[Any]) -> Flags:
        """Rows that equal the pattern."""
        return np.asarray((outputs == np.array(self.pattern, dtype=np.int8)).all(axis=1))

    @property
    def chances(self) -> tuple[float, float]:
        """By integration over the noise of the threshold."""
        threshold, query = self.scales
        first, second = (
            exp(
                analysis.log_pattern(
                    data.tolist(), self.pattern, threshold_scale=threshold, query_scale=query
                )
            )
            for data in self.neighbours
        )
        return first, second


@dataclass(frozen=True, kw_only=True)
class BrokenSparseLeeClifton(_BrokenPattern):
    """Variant A.4: the noise of the answers does not grow with the number of positives.

    True level: (1 + 6c)/4 times epsilon, and (1 + 3c)/4 for monotone queries.
    """

    citation = "Lee & Clifton, Top-k frequent itemsets via differentially private FP-trees, 2014"
    flaw = Message("lab.mechanisms.c_positives_share_one_comparisons_worth")
    limit = True

    length: int = 3
    positives: int = 1

    @property
    def scales(self) -> tuple[float, float]:
        """1/epsilon1 and 1/epsilon2 with epsilon1 a quarter."""
        return 4 / self.epsilon, 4 / (3 * self.epsilon)

    @property
    def above(self) -> int:
        """As many as it allows."""
        return self.positives

    @property
    def true_epsilon(self) -> float:
        """(1 + 6c)/4 epsilon."""
        return (1 + 6 * self.positives) / 4 * self.epsilon


@dataclass(frozen=True, kw_only=True)
class BrokenSparseStoddard(_BrokenPattern):
    """Variant A.5: no noise on the answers, and no halt.

    True level: none. The outcome (below, above) has chance (1 - e^(-epsilon/2))/2 on the answers
    (0, 1) and cannot happen on (1, 0).
    """

    citation = "Stoddard, Chen & Machanavajjhala, Differentially private algorithms for empirical "
    citation += "machine learning, 2014"
    flaw = Message("lab.mechanisms.exact_answers_are_compared_so_the")

    length: int = 1

    @property
    def scales(self) -> tuple[float, float]:
        """2/epsilon and none."""
        return 2 / self.epsilon, 0.0

    @property
    def neighbours(self) -> tuple[Floats, Floats]:
        """Answers in order, and out of order."""
        low, high = [0.0] * self.length, [1.0] * self.length
        return np.array(low + high), np.array(high + low)

    @property
    def true_epsilon(self) -> float:
        return inf


@dataclass(frozen=True, kw_only=True)
class BrokenSparseChen(_BrokenPattern):
    """Variant A.6: it never halts, so the positives cost without end.

    True level: none. `length` answers below and as many above have a loss of at least length times
    epsilon/2.
    """

    citation = "Chen, Xiao, Zhang & Xu, Differentially private high-dimensional data publication "
    citation += "via sampling-based inference, KDD 2015"
    flaw = Message("lab.mechanisms.the_number_of_positives_is_not")

    @property
    def scales(self) -> tuple[float, float]:
        """2/epsilon twice."""
        return 2 / self.epsilon, 2 / self.epsilon

    @property
    def true_epsilon(self) -> float:
        return inf


@dataclass(frozen=True, kw_only=True)
class BrokenSparseRoth(BrokenMechanism):
    """Variant A.3: the noisy answer that was compared is itself released.

    An output is a row of floats: minus infinity for below, NaN after the halt, else the number.
    True level: none. After `length` answers below, a released number z tells that the threshold is
    at most z; on `neighbours` the ratio of densities at 0 is e^((length - 1) epsilon/2). To draw
    the threshold anew does not help, fresh noise on the number does.
    """

    citation = "Roth, lecture notes on the sparse vector technique, 2011"
    flaw = Message("lab.mechanisms.the_released_number_bounds_the_secret")

    length: int = 5
    level: float = 2.0
    """The event: all below, then a number of at most this."""

    @property
    def scale(self) -> float:
        """Of both noises: half of epsilon each, one positive."""
        return 2 / self.epsilon

    @property
    def true_epsilon(self) -> float:
        return inf

    @property
    def neighbours(self) -> tuple[Floats, Floats]:
        """Zeros and a one, or ones and a zero."""
        return np.array([0.0] * self.length + [1.0]), np.array([1.0] * self.length + [0.0])

    def run(self, data: Floats, *, rng: Source, size: int) -> Floats:
        """`size` rows of floats."""
        secret = laplace(self.scale, size, rng)[:, None]
        noisy = data + laplace(self.scale, size * data.size, rng).reshape(size, data.size)
        codes = _halted((noisy >= secret).astype(np.int8), 1)
        return np.where(codes == ABOVE, noisy, np.where(codes == BELOW, -inf, np.nan))

    def event(self, outputs: NDArray[Any]) -> Flags:
        """All below but the last, which is a number of at most `level`."""
        last = outputs[:, -1]
        before = np.isneginf(outputs[:, :-1]).all(axis=1)
        return np.asarray(before & np.isfinite(last) & (last <= self.level))

    @property
    def chances(self) -> tuple[float, float]:
        """By integration over the noise of the threshold, up to the level."""
        first, second = (exp(self._log_chance(data)) for data in self.neighbours)
        return first, second

    def _log_chance(self, data: Floats) -> float:
        last = float(data[-1])
        most = float(analysis.log_above(np.array(self.level - last), self.scale))

        def integrand(z: Floats) -> Floats:
            reached = analysis.log_above(z - last, self.scale)
            return self._log_below_all(z, data) + reached + np.log(-np.expm1(most - reached))

        return self._integral(integrand, data, self.level)

    def log_output_density(self, data: Floats, value: float) -> float:
        """The log of the density of `length` answers below and then a number."""
        before = self._integral(lambda z: self._log_below_all(z, data), data, value)
        return before + float(analysis.log_density(np.array(value - data[-1]), self.scale))

    def _log_below_all(self, z: Floats, data: Floats) -> Floats:
        below = [analysis.log_below(z - answer, self.scale) for answer in data[:-1]]
        return np.asarray(analysis.log_density(z, self.scale) + np.sum(below, axis=0))

    def _integral(self, integrand: Any, data: Floats, upper: float) -> float:
        bends = [0.0, upper, *data.tolist()]
        reach = analysis.TAIL * self.scale
        return analysis.log_integral(
            integrand, bends=bends, width=self.scale, reach=reach, within=(-inf, upper)
        )


def _halted(codes: Codes, positives: int) -> Codes:
    """The codes with everything after the last allowed positive marked as not asked."""
    before = np.cumsum(codes, axis=1, dtype=np.int64) - codes
    return np.where(before < positives, codes, np.int8(NOT_ASKED))
