"""Neighbouring inputs on which mechanisms tend to show their privacy loss."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.neighbours import ADD_REMOVE, Neighbours, Relation
from celosia.mechanisms.mechanism import Mechanism

LENGTHS = (0, 1, 2, 5, 20)
"""Rows beside the one that differs: small tables are hurt most."""
GAPS = (0, 2, 8)
"""By how much the best score leads: some violations show only where one candidate is far ahead."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two neighbouring inputs, and what they are in words."""

    first: Any
    second: Any
    words: str


def numbers(sensitivity: float = 1.0, *, at: Sequence[float] = (0.0,)) -> Iterator[Pair]:
    """A number and the farthest one that a neighbour step moves it to, upwards and downwards.

    >>> [pair.words for pair in numbers(2.0)]
    ['0.0 against 2.0', '0.0 against -2.0']
    """
    for start in at:
        for moved in (start + sensitivity, start - sensitivity):
            yield Pair(start, moved, Message("assess.pair.against", first=start, second=moved))


def vectors(size: int, sensitivity: float = 1, *, one_coordinate: bool = False) -> Iterator[Pair]:
    """Numbers that move by `sensitivity` in sum: in one coordinate, or spread over all of them."""
    zeros = [sensitivity * 0] * size
    yield Pair(zeros, [sensitivity, *zeros[1:]], Message("assess.pair.one_moved"))
    if size > 1 and not one_coordinate:
        half = sensitivity // 2 if isinstance(sensitivity, int) else sensitivity / 2
        if half:
            opposed = [half, -half, *zeros[2:]]
            yield Pair(zeros, opposed, Message("assess.pair.two_moved"))
        if not isinstance(sensitivity, int):
            yield Pair(zeros, [sensitivity / size] * size, Message("assess.pair.all_moved"))


def rows(lower: Any, upper: Any, *, neighbours: Neighbours = ADD_REMOVE) -> Iterator[Pair]:
    """Columns of equal values at a bound, with one row at the other bound added or changed."""
    for many in LENGTHS:
        for value, other in ((lower, upper), (upper, lower)):
            same = [value] * many
            if neighbours.relation is Relation.ADD_REMOVE:
                for more in (other, value):
                    words = Message("assess.pair.row_more", many=many, value=value, other=more)
                    yield Pair(same, [*same, more], words)
            else:
                whole = [*same, value]
                changed = Message(
                    "assess.pair.row_changed", many=many + 1, value=value, other=other
                )
                yield Pair(whole, [*same, other], changed)


def scores(size: int, sensitivity: float = 1, *, monotone: bool = False) -> Iterator[Pair]:
    """Scores of candidates of which one leads or not, moved by signs: all alike, or one against.

    With `monotone` a neighbour moves no two scores in opposite directions.
    """
    for gap in GAPS:
        start = [gap * sensitivity, *[sensitivity * 0] * (size - 1)]
        moves = {
            Message("assess.pair.first_raised"): [1, *[0] * (size - 1)],
            Message("assess.pair.others_raised"): [0, *[1] * (size - 1)],
        }
        if not monotone:
            moves[Message("assess.pair.first_others")] = [1, *[-1] * (size - 1)]
            moves[Message("assess.pair.others_first")] = [-1, *[1] * (size - 1)]
        for words, signs in moves.items():
            moved = [score + sensitivity * sign for score, sign in zip(start, signs, strict=True)]
            leads = Message("assess.pair.leads", size=size, gap=gap, move=words)
            yield Pair(start, moved, leads)


def streams(
    positives: int = 1,
    *,
    threshold: float = 0,
    sensitivity: float = 1,
    monotone: bool = False,
    lengths: Sequence[int] = (1, 3, 10),
) -> Iterator[Pair]:
    """Answers at the threshold, moved up first and down then: many below, then some above.

    That is where the privacy of sparse vectors is used up (Lyu, Su & Li 2017, section 3).
    """
    for length in lengths:
        start = [threshold] * (length + positives)
        raised = [threshold + sensitivity] * length
        counts = {"length": length, "positives": positives}
        if not monotone:
            moved = [*raised, *[threshold - sensitivity] * positives]
            yield Pair(start, moved, Message("assess.pair.both_moved", **counts))
        level = [*raised, *[threshold] * positives]
        yield Pair(start, level, Message("assess.pair.raised", **counts))
        lowered = [*[threshold] * length, *[threshold - sensitivity] * positives]
        yield Pair(start, lowered, Message("assess.pair.lowered", **counts))


def categories(items: Sequence[Any]) -> Iterator[Pair]:
    """Each category against each other one."""
    for first, second in combinations(items, 2):
        yield Pair(first, second, Message("assess.pair.against", first=first, second=second))


def key_rows(
    key: Any = "new", *, most: int = 1, neighbours: Neighbours = ADD_REMOVE
) -> Iterator[Pair]:
    """Rows of keys, with one key that only one unit has: does the release show that key?

    Args:
        key: the key that is at stake.
        most: how many rows one unit may have.
        neighbours: whether the unit is added, or changed from another key.
    """
    more = [key] * most
    for many in (0, 5):
        others = ["old"] * many
        if neighbours.relation is Relation.ADD_REMOVE:
            yield Pair(others, [*others, *more], Message("assess.pair.new_key", many=many))
        else:
            before = [*others, *["old"] * most]
            yield Pair(
                before, [*others, *more], Message("assess.pair.key_changed", many=many + most)
            )


def pairs_for(mechanism: Mechanism[Any, Any]) -> tuple[Pair, ...]:
    """Pairs for a mechanism of ours, derived from its fields.

    Raises:
        InputError: CEL-A105 its kind of input is not known here.
    """
    has = {name: _usual(getattr(mechanism, name)) for name in _TELLING if hasattr(mechanism, name)}
    if "threshold" in has and "limit" in has:
        declared = has["threshold"]
        threshold = declared[0] if isinstance(declared, tuple) else declared
        return tuple(
            streams(
                has["limit"],
                threshold=threshold,
                sensitivity=has["sensitivity"],
                monotone=has.get("monotone", False),
            )
        )
    if "monotone" in has:
        return tuple(scores(3, has["sensitivity"], monotone=has["monotone"]))
    if "lower" in has and "upper" in has:
        found = rows(has["lower"], has["upper"], neighbours=mechanism.neighbours)
        filled = has.get("may_be_empty", True)
        return tuple(pair for pair in found if filled or (pair.first and pair.second))
    if "categories" in has:
        return tuple(categories(tuple(has["categories"])))
    if "dimension" in has and "law" in has:
        if has["dimension"] in (None, 1):
            return tuple(numbers(has["sensitivity"], at=(has["sensitivity"] * 0,)))
        return tuple(
            vectors(
                has["dimension"],
                has["sensitivity"],
                one_coordinate=has.get("one_coordinate", False),
            )
        )
    raise InputError("CEL-A105", name=type(mechanism).__name__)


def _usual(value: Any) -> Any:
    """An exact number as one that tables have."""
    if not isinstance(value, Fraction):
        return value
    return int(value) if value.denominator == 1 else float(value)


_TELLING = (
    "categories",
    "dimension",
    "law",
    "limit",
    "lower",
    "may_be_empty",
    "monotone",
    "one_coordinate",
    "sensitivity",
    "threshold",
    "upper",
)
