"""What one person may contribute: a ladder of public caps, and exact totals under each of them.

A total under a cap c is the sum over people of what each contributes, cut off at c. Adding or
removing a person moves it by at most c: that is the only fact that the mechanisms beside this
module rest on. The engine computes the totals; the functions here do the same for arrays.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.core.errors import InputError, PrivacyError
from celosia.core.messages import Message
from celosia.core.neighbours import Neighbours, Relation
from celosia.core.numbers import exact, whole
from celosia.mechanisms.parameters import check_whole


def check_share(share: object, *, name: str) -> Fraction:
    """A share of a whole as an exact number.

    >>> check_share(0.25, name="share")
    Fraction(1, 4)
    """
    number = exact(share)
    if number is None or not Fraction(1, 10**9) <= number <= Fraction(99, 100):
        raise InputError("CEL-Q081.share", name=name, share=share)
    return number


def split_failure(chance: float, size: int) -> tuple[float, ...]:
    """A chance shared out over the rungs of a ladder, each part the root of 2 below the one before.

    A false alarm costs in proportion to the cap of its rung, so that high rungs must be rarer; a
    part that falls with the cap itself would make true alarms there too rare. The last rung may be
    less than twice the one before, which does not matter.

    >>> [round(part, 4) for part in split_failure(0.05, 3)]
    [0.0227, 0.016, 0.0113]
    """
    weights = [2.0 ** (-rung / 2) for rung in range(size)]
    return tuple(chance * weight / sum(weights) for weight in weights)


FARTHEST = 2**50
"""How far from zero a total may lie; Laplace noise of any scale that is drawn fits beside it."""

MOST = 2**40
"""The largest bound on one person's contribution that may be declared."""


def ladder(most: int) -> tuple[int, ...]:
    """The caps 1, 2, 4, ... below `most`, and `most` itself.

    >>> ladder(1), ladder(5), ladder(8)
    ((1,), (1, 2, 4, 5), (1, 2, 4, 8))

    Raises:
        InputError: CEL-I060 not a whole number from 1 to 2^40.
    """
    last = check_most(most)
    return (*(2**power for power in range((last - 1).bit_length())), last)


def check_most(most: object) -> int:
    """A declared bound on what one person contributes, as a whole number.

    Raises:
        InputError: CEL-I060 not a whole number from 1 to 2^40.
    """
    return check_whole(most, name=Message("queries.bounds.contribution"), most=MOST)


def check_add_remove(neighbours: Neighbours) -> None:
    """Refuse a relation that the proofs here do not cover."""
    if neighbours.relation is not Relation.ADD_REMOVE:
        raise PrivacyError("CEL-Q080")


def capped_totals(contributions: ArrayLike, caps: tuple[int, ...]) -> tuple[int, ...]:
    """The sum over people of their contributions, each cut off at plus and minus every cap.

    >>> capped_totals([3, 0, 9, -5], (1, 4, 16))
    (1, 3, 7)

    Raises:
        InputError: CEL-Q081 not whole numbers within 2^50.
    """
    values = read_contributions(contributions)
    return tuple(_sum(np.clip(values, -cap, cap)) for cap in caps)


def people_by_level(contributions: ArrayLike, caps: tuple[int, ...]) -> tuple[int, ...]:
    """How many people contribute more (in size) than the cap before, up to this cap.

    People above the last cap are counted at the last; people who contribute nothing are not
    counted.

    >>> people_by_level([3, 0, 9, -5, 1, 100], (1, 2, 4, 8, 16))
    (1, 0, 1, 1, 2)

    Raises:
        InputError: CEL-Q081 not whole numbers within 2^50.
    """
    sizes = np.abs(read_contributions(contributions))
    places = np.minimum(np.searchsorted(caps, sizes[sizes > 0]), len(caps) - 1)
    return tuple(np.bincount(places, minlength=len(caps)).tolist())


def grouped_totals(
    people: ArrayLike, groups: ArrayLike, amounts: ArrayLike, *, caps: tuple[int, ...], size: int
) -> NDArray[np.int64]:
    """Totals of each group (columns) under each cap (rows), a person being cut off over all groups.

    The entries of a person are taken in the order of the groups; once they reach the cap in sum of
    sizes, the rest is left out. What is left of a person is at most the cap in sum over all groups,
    and depends on the entries of this person only: one person moves a row of the table by at most
    its cap in sum. In SQL, with `before` and `upto` the running sums of the person's sizes: the
    sign of the entry times LEAST(upto, cap) - LEAST(before, cap).

    >>> grouped_totals([0, 0, 1], [0, 1, 1], [3, 2, 5], caps=(1, 4, 8), size=2).tolist()
    [[1, 1], [3, 5], [3, 7]]

    Raises:
        InputError: CEL-Q081 not whole numbers within 2^50, one of each for every entry.
    """
    who, where, values = map(read_contributions, (people, groups, amounts))
    if not who.size == where.size == values.size or (
        where.size and not 0 <= where.min() <= where.max() < size
    ):
        raise _not_contributions()
    order = np.lexsort((where, who))
    who, where, values = who[order], where[order], values[order]
    last = caps[-1]
    sizes = np.minimum(np.abs(values), last)
    if sizes.size * last > 2**62:  # the running sum below could leave 64 bits
        raise _not_contributions()
    running = np.cumsum(sizes)
    first = np.r_[True, who[1:] != who[:-1]] if who.size else np.zeros(0, dtype=bool)
    start = (running - sizes)[first][np.cumsum(first) - 1] if who.size else running
    upto = running - start
    # min(upto, cap) - min(before, cap) telescopes over the entries of a person: min(all, cap) in
    # sum.
    table = np.zeros((len(caps), size), dtype=np.int64)
    for place, cap in enumerate(caps):
        kept = np.minimum(upto, cap) - np.minimum(upto - sizes, cap)
        np.add.at(table[place], where, np.sign(values) * kept)
    return table


def read_contributions(contributions: Any) -> NDArray[np.int64]:
    """Whole numbers within 2^50 in one dimension.

    Raises:
        InputError: CEL-Q081 they are not.
    """
    values = np.asarray(contributions)
    if values.size == 0:
        return np.zeros(0, dtype=np.int64)
    if values.ndim != 1 or values.dtype.kind not in "iu" or np.ma.is_masked(contributions):
        raise _not_contributions()
    if int(values.min()) < -FARTHEST or int(values.max()) > FARTHEST:
        raise _not_contributions()
    return values.astype(np.int64)


def read_totals(totals: Any, length: int) -> list[int]:
    """Exact totals, one for each cap, refused before any noise is drawn."""
    numbers = read_whole(totals, length)
    if numbers is None or not all(-FARTHEST <= number <= FARTHEST for number in numbers):
        raise InputError("CEL-Q081.totals", length=length)
    return numbers


def read_levels(levels: Any, length: int) -> list[int]:
    """Numbers of people, one for each cap."""
    numbers = read_whole(levels, length)
    if numbers is None or not all(0 <= number <= FARTHEST for number in numbers):
        raise InputError("CEL-Q081.people", length=length)
    return numbers


def read_whole(values: Any, length: int) -> list[int] | None:
    """So many whole numbers, or None."""
    items = values.tolist() if isinstance(values, np.ndarray) else values
    if not isinstance(items, (list, tuple)) or len(items) != length:
        return None
    numbers = [whole(item) for item in items]
    return None if None in numbers else [number for number in numbers if number is not None]


def _sum(values: NDArray[np.int64]) -> int:
    # In two halves, so that the sum itself cannot overflow.
    return (int((values >> 32).sum()) << 32) + int((values & 0xFFFFFFFF).sum())


def _not_contributions() -> InputError:
    return InputError("CEL-Q081.contributions")
