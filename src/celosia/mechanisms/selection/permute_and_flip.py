"""Permute-and-flip: as private as the exponential mechanism, and never less useful."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.accounting.losses import PureLoss
from celosia.core.errors import InputError
from celosia.core.randomness import Source
from celosia.mechanisms.mechanism import Measurement
from celosia.mechanisms.noise.bernoulli import bernoulli_exp_rate
from celosia.mechanisms.parameters import check_epsilon
from celosia.mechanisms.selection.base import SelectionMechanism, shortfall

MOST_EXACT = 512
"""Candidates whose chances are computed: the work grows with their square."""


@dataclass(frozen=True, kw_only=True)
class PermuteAndFlip(SelectionMechanism[int]):
    """Goes through the candidates in random order and flips a coin for each until one wins.

    The coin of a candidate falls heads with the chance exp(-epsilon * gap / (2 sensitivity)), where
    the gap is its distance to the best score; with `monotone` the 2 falls away.

    Guarantee: epsilon-DP under `neighbours`, if no score moves by more than `sensitivity`; the
    candidates must not depend on the data. Its expected score is never below that of `Exponential`
    with the same epsilon, but it has no bounded range and so composes as any epsilon-DP answer.

    Reference: McKenna & Sheldon, Permute-and-flip: a new mechanism for differentially private
    selection, NeurIPS 2020.

    >>> PermuteAndFlip(epsilon=1).probabilities([0, 1, 2]).round(5).tolist()
    [0.14675, 0.26608, 0.58717]
    """

    method_name: ClassVar[str] = "permute-and-flip"

    def privacy_loss(self) -> PureLoss:
        """Epsilon-DP.

        The choice is that of the largest score after independent exponential noise (Ding et al.
        2021): a neighbour moves the threshold that a candidate's noise must pass by at most twice
        the shift, with monotone scores by at most once, and the noise is memoryless.
        """
        return PureLoss(check_epsilon(self.epsilon))

    def measure(self, x: ArrayLike, *, rng: Source) -> Measurement[int]:
        steps = self._steps(x)
        order = rng.permutation(steps.size)
        # The coins are independent, so flipping those after the winner as well changes nothing. The
        # best candidate always falls heads: there is a winner.
        heads = bernoulli_exp_rate(steps.max() - steps[order], rate=self._rate(), rng=rng)
        return Measurement(int(order[int(np.argmax(heads))]))

    def probabilities(self, scores: ArrayLike) -> NDArray[np.float64]:
        """The chance of each of at most 512 candidates. It tells the scores: not for release.

        Give every candidate a uniform arrival time u: it wins if its coin p falls heads and no
        earlier one does, p_i times the integral of the product of (1 - u p_j) over the others. That
        is a polynomial of degree m - 1, for which Gauss's rule with m / 2 nodes is exact.
        """
        steps = self._steps(scores)
        check_few(steps.size)
        chances = np.exp(-float(self._rate()) * (steps.max() - steps).astype(np.float64))
        nodes, shares = unit_nodes(steps.size)
        tails = np.log1p(-np.outer(nodes, chances))
        others = np.exp(tails.sum(axis=1, keepdims=True) - tails)
        return np.asarray(chances * (shares @ others))

    def accuracy(self, confidence: float = 0.95, *, size: int = 1) -> float:
        """A shortfall of the chosen score below the best that is not exceeded.

        The bound of the exponential mechanism, whose shortfall is stochastically at least as large
        (McKenna & Sheldon 2020).

        Args:
            confidence: between 0 and 1.
            size: how many candidates there are.
        """
        return self._in_score_units(shortfall(confidence, rate=self._rate(), size=size))


def unit_nodes(degree: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Gauss's nodes and shares on [0, 1] that integrate polynomials up to `degree` exactly."""
    nodes, shares = np.polynomial.legendre.leggauss(degree // 2 + 1)
    return (nodes + 1) / 2, shares / 2


def check_few(candidates: int) -> None:
    """Refuse to compute the chances of very many candidates."""
    if candidates > MOST_EXACT:
        raise InputError(
            "CEL-M071.too_many_candidates", most_exact=MOST_EXACT, candidates=candidates
        )
