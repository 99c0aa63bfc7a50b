"""Fellegi and Sunter's model: how pairs of records agree if they match, and if they do not.

Fitted by expectation and maximisation on the counts of agreement patterns, so that the work does
not grow with the number of pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent

_ROUNDS = 2_000
_STILL = 1e-9
"""Changes of every probability below this end the fit."""
_EDGE = 1e-9
"""Probabilities stay this far from 0 and 1, where a weight would be infinite."""


@dataclass(frozen=True, slots=True)
class AgreementModel:
    """Chances of agreement, column by column, and the weights that follow from them."""

    columns: tuple[str, ...]
    matched: tuple[float, ...]
    """The m-probabilities: how often each column agrees in pairs that match."""
    unmatched: tuple[float, ...]
    """The u-probabilities: how often it agrees in pairs that do not."""
    share: float
    """The share of the pairs that match."""
    rounds: int
    converged: bool

    def weights(self) -> NDArray[np.float64]:
        """The weight of each pattern: log2 of how much likelier it is if the pair matches.

        Columns count as independent, and an empty cell adds nothing.
        """
        m, u = np.array(self.matched), np.array(self.unmatched)
        gains = np.stack([np.log2((1 - m) / (1 - u)), np.log2(m / u), np.zeros(m.size)])
        digits = patterns(m.size)
        return np.asarray(gains[digits, np.arange(m.size)].sum(axis=1))

    def posterior(self) -> NDArray[np.float64]:
        """The chance of each pattern that the pair matches."""
        odds = np.exp2(self.weights()) * self.share / (1 - self.share)
        return np.asarray(odds / (1 + odds))

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "columns": list(self.columns),
            "matched": list(self.matched),
            "unmatched": list(self.unmatched),
            "share": self.share,
            "rounds": self.rounds,
            "converged": self.converged,
        }


def patterns(columns: int) -> NDArray[np.int64]:
    """The digits of each pattern: 0 the cells differ, 1 they agree, 2 one of them is empty.

    >>> patterns(2)[:4].tolist()
    [[0, 0], [1, 0], [2, 0], [0, 1]]
    """
    return np.arange(3**columns)[:, None] // 3 ** np.arange(columns) % 3


def fit_agreement(
    counts: NDArray[np.int64],
    columns: tuple[str, ...],
    *,
    share: float,
    share_is_known: bool = False,
    progress: Progress = silent,
) -> AgreementModel:
    """The model under which the counts of the patterns are most likely.

    Starts from columns that agree in nine of ten matches, and in other pairs as often as in all of
    them. At least three columns are needed: with fewer, different models fit equally well.

    Args:
        counts: how many pairs have each pattern, in the order of `patterns`.
        columns: their names.
        share: the share of pairs that match, to begin with or, if known, to keep.
        share_is_known: whether to keep it.
        progress: called as the work proceeds; may raise `Cancelled`.

    Reference: Fellegi & Sunter 1969; Jaro 1989.
    """
    digits = patterns(len(columns))
    seen = counts > 0
    weight, digits = counts[seen].astype(np.float64), digits[seen]
    agree, compared_cells = (digits == 1).astype(np.float64), (digits != 2).astype(np.float64)
    compared = np.maximum(weight @ compared_cells, 1.0)
    u = np.clip(weight @ agree / compared, _EDGE, 1 - _EDGE)
    m = np.maximum(np.full(len(columns), 0.9), np.sqrt(u))
    pi, done, converged = min(max(share, _EDGE), 1 - _EDGE), 0, False
    while done < _ROUNDS and not converged:
        chance = _matching(agree, compared_cells, m, u, pi)
        if not share_is_known:
            new_pi = float(np.clip(weight @ chance / weight.sum(), _EDGE, 1 - _EDGE))
        else:
            new_pi = pi
        new_m = _rates(weight * chance, agree, compared_cells, m)
        new_u = _rates(weight * (1 - chance), agree, compared_cells, u)
        moved = max(np.abs(new_m - m).max(), np.abs(new_u - u).max(), abs(new_pi - pi) / pi)
        m, u, pi, done = new_m, new_u, new_pi, done + 1
        converged = bool(moved < _STILL)
        if done % 100 == 0:
            progress(Step(Message("assess.stage.agreement"), done, _ROUNDS))
    if np.log(m / u).sum() < 0 and not share_is_known:
        m, u, pi = u, m, 1 - pi  # the two kinds of pairs changed their names
    return AgreementModel(columns, tuple(m.tolist()), tuple(u.tolist()), float(pi), done, converged)


def _matching(
    agree: NDArray[np.float64],
    compared_cells: NDArray[np.float64],
    m: NDArray[np.float64],
    u: NDArray[np.float64],
    pi: float,
) -> NDArray[np.float64]:
    """The chance of each pattern that the pair matches."""
    differ = compared_cells - agree
    log_odds = agree @ np.log(m / u) + differ @ np.log((1 - m) / (1 - u)) + np.log(pi / (1 - pi))
    return np.asarray(1 / (1 + np.exp(-np.clip(log_odds, -700, 700))))


def _rates(
    weight: NDArray[np.float64],
    agree: NDArray[np.float64],
    compared_cells: NDArray[np.float64],
    before: NDArray[np.float64],
) -> NDArray[np.float64]:
    compared = weight @ compared_cells
    rate = np.divide(weight @ agree, compared, out=before.copy(), where=compared > 0)
    return np.clip(rate, _EDGE, 1 - _EDGE)
