"""Probabilistic record linkage: link records by weighted agreement of their columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.assess.alignment import AlignedTables
from celosia.assess.linkage.distance import LinkedRecords
from celosia.core.errors import InputError
from celosia.core.messages import Message, say_of
from celosia.core.methods import PlainValues, derived
from celosia.core.numbers import real
from celosia.core.progress import Progress, Step, silent

_ROUNDS = 2_000
_STILL = 1e-9
"""Changes of every probability below this end the fit."""
_EDGE = 1e-9
"""Probabilities stay this far from 0 and 1, where a weight would be infinite."""


@dataclass(frozen=True, slots=True)
class AgreementModel(PlainValues):
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


MOST_PAIRS = 2_000_000_000
"""Pairs of records that are compared; beyond this blocking is asked for."""
MOST_ASSIGNED = 4_000
"""Records of a block up to which they are assigned one to one: the work grows with the cube."""
MOST_COLUMNS = 10
_PIECE = 20_000_000
"""Pairs compared between two steps of progress."""


@dataclass(frozen=True, slots=True, eq=False)
class ProbabilisticLinkage(LinkedRecords):
    """What linkage by agreement finds."""

    model: AgreementModel
    pairs: int
    threshold: float
    one_to_one: bool
    chances: NDArray[np.float64] = field(repr=False)
    """For each masked record, the chance that its best pair is right: 1/t for t equally good ones
    of which one is true."""
    claimed: NDArray[np.bool_] = field(repr=False)
    """For each masked record, whether its best pair reaches the threshold: a link, to the
    attacker."""

    @property
    @derived
    def linked(self) -> int:
        """Masked records with a link."""
        return int(self.claimed.sum())

    @property
    @derived
    def precision(self) -> float:
        """The expected share of the links that are right."""
        return float(self.chances[self.claimed].mean()) if self.linked else 0.0

    def __str__(self) -> str:
        return say_of("assess.line.probabilistic", self)

    def __repr__(self) -> str:
        return f"ProbabilisticLinkage(records={self.records}, share={self.share:.4f})"


class _Blocks(NamedTuple):
    """Originals sorted by block, and where the block of each masked record begins and ends."""

    order: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]

    @property
    def pairs(self) -> int:
        return int((self.high - self.low).sum())


class _Pairs(NamedTuple):
    """What is compared: a line for each column before, and a line for each record after."""

    before: NDArray[np.float64]
    after: NDArray[np.float64]
    blocks: _Blocks
    reach: NDArray[np.float64]


class _Scale(NamedTuple):
    """The patterns by weight, as whole numbers: equal weights are equal exactly."""

    standing: NDArray[np.int64]
    """The place of each pattern's weight among the weights."""
    weights: NDArray[np.float64]
    """The weight at each place."""
    links: NDArray[np.bool_]
    """Whether a pair of that weight is a link."""

    @classmethod
    def of(cls, model: AgreementModel, threshold: float) -> _Scale:
        weights, standing = np.unique(np.round(model.weights(), 9), return_inverse=True)
        standing = standing.reshape(-1).astype(np.int64)
        chance = np.zeros(weights.size)
        chance[standing] = model.posterior()
        return cls(standing, weights, chance >= threshold)


def probabilistic_linkage(
    tables: AlignedTables,
    *,
    tolerance: float = 0.1,
    blocking: Sequence[str] = (),
    matches: int | None = None,
    threshold: float = 0.5,
    one_to_one: bool = False,
    progress: Progress = silent,
) -> ProbabilisticLinkage:
    """Link each masked record to the original record whose agreement weighs most.

    Each pair of records agrees in a column or not; how much an agreement tells is learnt from the
    pairs themselves, without knowing which match. A pair with an empty cell says nothing about
    that column. Pairs whose blocking columns differ, or are empty, are never compared.

    Args:
        tables: both tables; at least three columns besides the blocking ones.
        tolerance: amounts agree up to so many standard deviations of the original column.
        blocking: columns in which records must agree to be compared at all.
        matches: how many pairs match, if the attacker knows it; else it is estimated.
        threshold: the least chance to match at which a pair is linked.
        one_to_one: link each original record once at most, so that the sum of weights is greatest
            (of equally good assignments an arbitrary one is taken).
        progress: called as the work proceeds; may raise `Cancelled`.

    Raises:
        InputError: CEL-A201 unknown column, CEL-A206 a synthetic table, CEL-A211 too few or too
            many columns, CEL-A212 a parameter out of range, CEL-A213 too many pairs or none.

    Reference: Fellegi & Sunter 1969; Jaro 1989; Torra & Domingo-Ferrer 2003.
    """
    origins = tables.origins()
    _check(tolerance, threshold, matches)
    compared = [name for name in tables.columns if name not in blocking]
    _check_columns(compared)
    blocks = _blocks(tables, blocking)
    _check_pairs(blocks.pairs)
    part = tables.only(compared)
    before = np.ascontiguousarray(part.before[blocks.order].T)
    after = np.ascontiguousarray(part.after)
    reach = _reach(part, tolerance)
    pairs = _Pairs(before, after, blocks, reach)
    counts = _count_patterns(pairs, progress)
    known = after.shape[0] if matches is None else matches
    model = fit_agreement(
        counts,
        part.columns,
        share=known / blocks.pairs,
        share_is_known=matches is not None,
        progress=progress,
    )
    scale = _Scale.of(model, threshold)
    found = _assign(pairs, scale, origins) if one_to_one else _best(pairs, scale, origins)
    return ProbabilisticLinkage(model, blocks.pairs, float(threshold), one_to_one, *found)


def _reach(tables: AlignedTables, tolerance: float) -> NDArray[np.float64]:
    """How far two cells of each column may be apart to agree; codes differ by 1 at least."""
    spread = np.zeros(len(tables.columns))
    for column in np.flatnonzero(~tables.nominal):
        known = tables.before[:, column][~np.isnan(tables.before[:, column])]
        spread[column] = known.std() if known.size else 0.0
    return np.where(tables.nominal, 0.5, tolerance * spread)


def _blocks(tables: AlignedTables, blocking: Sequence[str]) -> _Blocks:
    total, count = len(tables.before), len(tables.after)
    if not blocking:
        whole = np.zeros(count, np.int64), np.full(count, total, dtype=np.int64)
        return _Blocks(np.arange(total), *whole)
    places = [tables.place(name) for name in blocking]
    both = np.concatenate([tables.before[:, places], tables.after[:, places]])
    empty = np.isnan(both).any(axis=1)
    _, block = np.unique(np.nan_to_num(both), axis=0, return_inverse=True)
    block = np.where(empty, -1, block.reshape(-1))
    order = np.argsort(block[:total], kind="stable")
    line, mine = block[:total][order], block[total:]
    low = np.searchsorted(line, mine)
    high = np.where(mine < 0, low, np.searchsorted(line, mine, side="right"))
    return _Blocks(order, low.astype(np.int64), high.astype(np.int64))


def _count_patterns(pairs: _Pairs, progress: Progress) -> NDArray[np.int64]:
    from celosia.assess.linkage._kernels import count_patterns

    before, after, blocks, reach = pairs
    counts = np.zeros(3 ** after.shape[1], dtype=np.int64)
    done = np.cumsum(blocks.high - blocks.low)
    start = 0
    while start < len(after):
        so_far = int(done[start - 1]) if start else 0
        end = max(start + 1, int(np.searchsorted(done, so_far + _PIECE)))
        piece = slice(start, end)
        count_patterns(before, after[piece], blocks.low[piece], blocks.high[piece], reach, counts)
        start = end
        progress(
            Step(
                Message("assess.stage.agreement"), int(done[min(end, len(done)) - 1]), int(done[-1])
            )
        )
    return counts


def _best(
    pairs: _Pairs, scale: _Scale, origins: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The best pair of each masked record, whichever other record has the same."""
    from celosia.assess.linkage._kernels import best_patterns

    before, after, blocks, reach = pairs
    best, ties = best_patterns(before, after, blocks.low, blocks.high, reach, scale.standing)
    place = np.empty(blocks.order.size, dtype=np.int64)
    place[blocks.order] = np.arange(blocks.order.size)
    true = place[origins]
    own, _ = best_patterns(before, after, true, true + 1, reach, scale.standing)
    right = (true >= blocks.low) & (true < blocks.high) & (own == best)
    claimed = (best >= 0) & scale.links[np.maximum(best, 0)]
    return np.where(right, 1.0 / np.maximum(ties, 1), 0.0), claimed


def _assign(
    pairs: _Pairs, scale: _Scale, origins: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """A one-to-one assignment of records with the greatest total weight; links only."""
    from scipy.optimize import linear_sum_assignment

    from celosia.assess.linkage._kernels import fill_patterns

    before, after, blocks, reach = pairs
    chances, claimed = np.zeros(len(after)), np.zeros(len(after), dtype=bool)
    for low in np.unique(blocks.low[blocks.high > blocks.low]).tolist():
        mine = np.flatnonzero((blocks.low == low) & (blocks.high > low))
        high = int(blocks.high[mine[0]])
        _check_assigned(mine.size, high - low)
        patterns = np.empty((mine.size, high - low), dtype=np.int32)
        for line, record in enumerate(mine.tolist()):
            fill_patterns(before, after, record, low, high, reach, patterns[line])
        found = scale.standing[patterns]
        # A pair that is no link weighs nothing: it must not push another out.
        weight = np.where(scale.links[found], np.maximum(scale.weights[found], 0.0), 0.0)
        picked, taken = linear_sum_assignment(weight, maximize=True)
        claimed[mine[picked]] = scale.links[found[picked, taken]]
        true = blocks.order[low:high][taken] == origins[mine[picked]]
        chances[mine[picked]] = claimed[mine[picked]] & true
    return chances, claimed


def _check_assigned(masked: int, original: int) -> None:
    if max(masked, original) > MOST_ASSIGNED:
        raise InputError(
            "CEL-A213.block", masked=masked, original=original, most_assigned=MOST_ASSIGNED
        )


def _check(tolerance: float, threshold: float, matches: int | None) -> None:
    number = real(tolerance)
    if number is None or not 0 <= number < np.inf:
        raise InputError("CEL-A212.tolerance", value=tolerance)
    number = real(threshold)
    if number is None or not 0 < number <= 1:
        raise InputError("CEL-A212.threshold", value=threshold)
    if matches is not None and (isinstance(matches, bool) or matches < 1):
        raise InputError("CEL-A212.matches", matches=matches)


def _check_columns(compared: Sequence[str]) -> None:
    if not 3 <= len(compared) <= MOST_COLUMNS:
        raise InputError("CEL-A211", most_columns=MOST_COLUMNS, compared=len(compared))


def _check_pairs(pairs: int) -> None:
    if not 0 < pairs <= MOST_PAIRS:
        raise InputError("CEL-A213.pairs", pairs=pairs, most_pairs=MOST_PAIRS)
