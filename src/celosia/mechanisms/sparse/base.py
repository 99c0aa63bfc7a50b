"""The base of all sparse vector mechanisms: thresholds on a grid, streams, batches, accuracy.

Why the proofs hold on whole numbers. Let answers, thresholds and noises be counted in steps, let a
neighbour move every answer by at most d whole steps, and let rho and nu be discrete Laplace with
scales s1 and s2. An outcome with the set B of answers below and A of answers above has the chance

    sum over whole z of  P(rho = z) * prod_B P(nu < t_i + z - f_i) * prod_A P(nu >= t_i + z - f_i).

Replace z by z + d on the neighbour, which maps the whole numbers onto themselves because d is
whole. Then P(rho = z) <= e^(d/s1) P(rho = z + d); each factor of B can only grow, as the limit
rises by d and the answer by at most d; and each factor of A falls at most by e^(2d/s2), as its
limit rises by at most 2d and P(nu >= x) <= e^(k/s2) P(nu >= x + k) term by term for whole k >= 0.
With c positives the loss is at most d/s1 + 2cd/s2. If all answers move in one direction, either z
need not be replaced or the limits in A rise by at most d: the loss is at most d/s1 + cd/s2. This is
the argument of Lyu, Su & Li 2017 (Thms 4 and 5). The answers below are free in every case.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from celosia.accounting.losses import ApproximateLoss, Loss, PureLoss
from celosia.core.errors import InputError
from celosia.core.randomness import Source, System
from celosia.mechanisms import parameters
from celosia.mechanisms.grid import WHOLE, Grid, check_grid
from celosia.mechanisms.mechanism import Measurement, Mechanism
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.mechanisms.sparse.placement import place_all, place_threshold, steps_moved
from celosia.mechanisms.sparse.scales import MOST_POSITIVES, WIDEST, Scales
from celosia.mechanisms.sparse.stream import (
    ABOVE,
    BELOW,
    Reply,
    SpendableBudget,
    Stream,
)

Answers = Sequence[float] | NDArray[np.integer[Any]] | NDArray[np.floating[Any]]
"""Exact answers in the order of the questions."""

WINDOW = 256
"""Answers looked at first when the next positive is searched; doubled as long as there is none."""


@dataclass(frozen=True)
class SparseMechanism(Mechanism[Answers, tuple[Reply, ...]]):
    """Answers to threshold questions, of which only the positive ones cost.

    The input of `release` is the list of exact answers in the order of the questions; the output
    ends with the last positive answer that is allowed, or with the list.
    """

    epsilon: float = parameters.field_of(parameters.EPSILON)
    _: KW_ONLY
    threshold: float | Sequence[float]
    """What answers are compared with: one number, or one for each question."""
    sensitivity: float = parameters.field_of(parameters.SENSITIVITY, 1)
    """The most by which one neighbour step moves any one answer."""
    grid: Grid = WHOLE
    rounded: bool = False
    """Whether answers may lie between the points of the grid; costs one step of sensitivity."""

    def check(self) -> None:
        """Refuse what cannot be placed on the grid or drawn."""
        if isinstance(self.threshold, list | tuple | np.ndarray):
            object.__setattr__(self, "threshold", tuple(np.asarray(self.threshold).tolist()))
        check_grid(self.grid, optional=False)
        _ = self._limits, self.scales

    @property
    @abstractmethod
    def limit(self) -> int:
        """How many positive answers are given before it halts."""

    @abstractmethod
    def _scales(self, epsilon: Fraction, moved: int) -> Scales:
        """The scales for an exact epsilon and answers that move by so many steps."""

    @cached_property
    def scales(self) -> Scales:
        """The scales of the noise in steps of the grid; public."""
        moved = steps_moved(
            parameters.check_sensitivity(self.sensitivity), grid=self.grid, rounded=self.rounded
        )
        return self._scales(parameters.check_epsilon(self.epsilon), moved)

    def privacy_loss(self) -> Loss:
        return PureLoss(parameters.check_epsilon(self.epsilon))

    def stream(self, *, rng: Source | None = None, budget: SpendableBudget | None = None) -> Stream:
        """Open a stream of questions; the whole price is due now.

        Args:
            rng: the operating system's entropy unless given.
            budget: charged with `privacy_loss()` before any noise is drawn; it refuses by raising.
        """
        if budget is not None:
            budget.spend(self.privacy_loss(), neighbours=self.neighbours)
        return Stream(self, System() if rng is None else rng)

    def measure(self, x: Answers, *, rng: Source) -> Measurement[tuple[Reply, ...]]:
        """Answer a list of questions at once: in law the same as one stream over it.

        Raises:
            InputError: CEL-M009, CEL-M103, CEL-M111 the answers are not a list of numbers on the
                grid; CEL-M105 there are fewer thresholds than answers.
        """
        answers = place_all(x, grid=self.grid, rounded=self.rounded)
        size = answers.size
        if size:
            self.limit_at(size - 1)  # refuses too short a list
        limits = self._limits[:size]
        scales = self.scales
        # Answers and thresholds are within 2^50 and noise within 2^60 (see WIDEST): no overflow.
        noisy = answers - limits + DiscreteLaplace(scales.query).draw(size, rng)
        secrets = DiscreteLaplace(scales.threshold).draw(
            min(self.limit, max(size, 1)) if scales.redraw else 1, rng
        )
        if scales.redraw:
            above = _successive(noisy, secrets)
        else:
            above = np.flatnonzero(noisy >= secrets[0])[: self.limit]
        end = int(above[-1]) + 1 if above.size == self.limit else size
        replies: list[Reply] = [BELOW] * end
        positives: list[Reply] = [ABOVE] * above.size
        if scales.release is not None:
            fresh = DiscreteLaplace(scales.release).draw(above.size, rng)
            positives = [self.grid.value(index) for index in (answers[above] + fresh).tolist()]
        for position, reply in zip(above.tolist(), positives, strict=True):
            replies[position] = reply
        return Measurement(tuple(replies), {"positions": tuple(above.tolist())})

    def accuracy(self, confidence: float = 0.95, *, size: int = 1) -> float:
        """How far from its threshold an answer may be and still be told wrong.

        With this confidence, over `size` questions: what is said to be above is at least the
        threshold less this error, what is said to be below is at most the threshold plus it, and
        released numbers are off by no more. It assumes that at most `limit` of the exact answers
        come within the error of their threshold or above it. From the exact tails of the noise,
        the failure shared out as in `tight_error`.
        """
        failure = 1 - parameters.check_confidence(confidence)
        parameters.check_whole(size, name="size")
        scales = self.scales
        if scales.release is not None:
            failure /= 2
        share = failure * float(scales.threshold / (scales.threshold + scales.query))
        secrets = min(self.limit, size) if scales.redraw else 1
        error = DiscreteLaplace(scales.threshold).bound(1 - share, size=secrets)
        error += DiscreteLaplace(scales.query).bound(1 - (failure - share), size=size)
        if scales.release is not None:
            released = DiscreteLaplace(scales.release)
            error = max(error, released.bound(1 - failure, size=min(self.limit, size)))
        return float(self.grid.step * (error + (Fraction(1, 2) if self.rounded else 0)))

    def limit_at(self, position: int) -> int:
        """The threshold of a question, counted from 0, in steps.

        Raises:
            InputError: CEL-M105 there are not so many.
        """
        if not isinstance(self.threshold, tuple):
            return int(self._limits[0])
        if position >= self._limits.size:
            raise InputError("CEL-M105", thresholds=self._limits.size, position=position + 1)
        return int(self._limits[position])

    def _with_price(self, price: Fraction) -> Self:
        # Scales fall as epsilon rises, so twice this epsilon is never too wide to be drawn.
        scales = self.scales
        widest = max(scales.threshold, scales.query, scales.release or 0)
        drawn = 2 * parameters.check_epsilon(self.epsilon) * widest / WIDEST
        return super()._with_price(max(price, drawn))

    @cached_property
    def _limits(self) -> NDArray[np.int64]:
        """The thresholds in steps; a single one serves all questions."""
        own = self.threshold if isinstance(self.threshold, tuple) else (self.threshold,)
        return np.array([place_threshold(one, grid=self.grid) for one in own], dtype=np.int64)


def _successive(noisy: NDArray[np.int64], secrets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each secret in turn is first reached, counting on from the place of the last one."""
    found: list[int] = []
    start = 0
    for secret in secrets.tolist():
        width = WINDOW
        while start < noisy.size:
            reached = noisy[start : start + width] >= secret
            first = int(reached.argmax())
            if reached[first]:
                found.append(start + first)
                start += first + 1
                break
            start += width
            width *= 2
        else:
            break
    return np.array(found, dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class RestartedSparseMechanism(SparseMechanism):
    """AboveThreshold with a new threshold after each positive answer, each at its own price.

    A delta may lower the sum of the prices.
    """

    positives: int = parameters.field_of(parameters.whole_number(most=MOST_POSITIVES), 1)
    delta: float = parameters.field_of(parameters.DELTA_OR_ZERO, 0.0)

    @property
    def limit(self) -> int:
        return self.positives

    @abstractmethod
    def _needs_delta(self, epsilon: Fraction) -> bool:
        """Whether the noise is that of a composition which fails with the chance delta."""

    def privacy_loss(self) -> Loss:
        epsilon = parameters.check_epsilon(self.epsilon)
        if self._needs_delta(epsilon):
            return ApproximateLoss(epsilon, float(self.delta))
        return PureLoss(epsilon)
