"""Complementary release: two releases of the same people, joined on their shared columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.assess.attacks.classes import number_combinations, texts_of
from celosia.assess.attacks.compatibility import CodedColumn, Fit, Meanings, fit, fitting_pairs
from celosia.assess.attacks.result import Attack, Members, lists
from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent


def complementary(
    first: Any,
    second: Any,
    quasi_identifiers: str | Sequence[str],
    *,
    on: str | Sequence[str],
    meanings: Meanings | None = None,
    progress: Progress = silent,
) -> Attack:
    """Join two releases on shared columns, keep the pairs that fit, and look for people alone.

    Args:
        first: a release.
        second: another release of the same people, in any order.
        quasi_identifiers: the generalised columns, which both have.
        on: columns that both released as they are, such as the sensitive one.
        meanings: what the labels of columns stand for; labels of others are compared as text.
        progress: called as the work proceeds; may raise `Cancelled`.

    Where two records fit, the quasi-identifiers of the person lie in what both labels stand for.
    Groups are these combinations, and with n pairs in one the attacker is right with chance 1/n at
    most. A person is exposed who is the only pair of a combination, if the pair is certain: one of
    its two records fits no other. Rows are those of the first release.

    >>> one = pl.DataFrame({"sex": ["F", "M"], "zip": ["*", "*"], "ill": ["flu", "cold"]})
    >>> other = pl.DataFrame({"sex": ["*", "*"], "zip": ["2", "1"], "ill": ["cold", "flu"]})
    >>> complementary(one, other, ["sex", "zip"], on="ill").exposed_people
    2

    Reference: Sweeney 2002.
    """
    names, shared = _roles(quasi_identifiers, on)
    progress(Step(Message("assess.stage.read"), 0))
    sides = [_Side(texts_of(table, [*shared, *names])) for table in (first, second)]
    meant = {name: meaning for name, meaning in (meanings or {}).items() if name in names}
    fits = [
        fit(ours, theirs, meant.get(name), name)
        for name, ours, theirs in zip(
            [*shared, *names], sides[0].columns, sides[1].columns, strict=True
        )
    ]
    progress(Step(Message("assess.stage.join"), 0))
    pairs = fitting_pairs(sides[0].codes(), sides[1].codes(), fits)
    left, right = pairs["left"].to_numpy(), pairs["right"].to_numpy()
    weight = sides[0].sizes[left] * sides[1].sizes[right]
    combined = [
        _number_raw_values(codes[left], others[right], matching)
        for codes, others, matching in zip(
            sides[0].codes()[len(shared) :],
            sides[1].codes()[len(shared) :],
            fits[len(shared) :],
            strict=True,
        )
    ]
    chance = 1 / np.minimum(
        _partners(left, sides[1].sizes[right], sides[0].sizes.size)[left],
        _partners(right, sides[0].sizes[left], sides[1].sizes.size)[right],
    )
    shared_pairs = sides[0].shared_with(sides[1], len(shared), fits)
    return _attack(sides[0], number_combinations(combined), left, weight, chance, shared_pairs)


class _Side:
    """A release as its different rows, with how often each occurs."""

    def __init__(self, texts: pl.DataFrame) -> None:
        coded = [CodedColumn.of(column) for column in texts]
        self.rows = texts.height
        self.of_row = number_combinations([column.codes for column in coded])
        _, self.first_row, sizes = np.unique(self.of_row, return_index=True, return_counts=True)
        self.sizes = sizes.astype(np.int64)
        self.columns = [CodedColumn(column.codes[self.first_row], column.cells) for column in coded]

    def codes(self) -> list[NDArray[np.int64]]:
        return [column.codes for column in self.columns]

    def shared_with(self, other: _Side, columns: int, fits: Sequence[Fit]) -> int:
        """Pairs of rows that agree in the shared columns, whatever their quasi-identifiers."""
        distinct = [_Side._distinct(side, columns) for side in (self, other)]
        pairs = fitting_pairs(distinct[0][0], distinct[1][0], fits[:columns])
        ours, theirs = pairs["left"].to_numpy(), pairs["right"].to_numpy()
        return int((distinct[0][1][ours] * distinct[1][1][theirs]).sum())

    @staticmethod
    def _distinct(side: _Side, columns: int) -> tuple[list[NDArray[np.int64]], NDArray[np.int64]]:
        codes = side.codes()[:columns]
        number = number_combinations(codes)
        _, first = np.unique(number, return_index=True)
        sizes = np.zeros(first.size, dtype=np.int64)
        np.add.at(sizes, number, side.sizes)
        return [column[first] for column in codes], sizes


def _partners(rows: NDArray[np.int64], sizes: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """How many records of the other release each row fits."""
    found = np.zeros(count, dtype=np.int64)
    np.add.at(found, rows, sizes)
    return found


def _attack(  # noqa: PLR0917 - one entry for each pair that the join found
    side: _Side,
    group: NDArray[np.int64],
    left: NDArray[np.int64],
    weight: NDArray[np.int64],
    chance: NDArray[np.float64],
    shared_pairs: int,
) -> Attack:
    groups = int(group.max(initial=-1)) + 1
    sizes = np.zeros(groups, dtype=np.int64)
    np.add.at(sizes, group, weight)
    surest = np.zeros(groups)
    np.maximum.at(surest, group, chance)
    lone = sizes == 1
    certain = lone & (surest == 1)
    # A lone pair is one row on either side, so the row of the first release is known.
    row_of = np.full(side.rows, -1, dtype=np.int64)
    single = certain[group]
    row_of[side.first_row[left[single]]] = group[single]
    return Attack(
        name=Message("assess.attack.complementary"),
        assumption=Message("assess.knows.complementary"),
        mitigation=Message("assess.prevent.complementary"),
        column=None,
        people=side.rows,
        sizes=sizes,
        confidence=surest / np.maximum(sizes, 1),
        hit=certain,
        learnt=lists(np.empty(0, dtype=np.int64), pl.Series([], dtype=pl.String), groups),
        members=Members.of(row_of, groups),
        facts={
            "pairs": shared_pairs,
            "compatible_pairs": int(weight.sum()),
            "combinations": groups,
            "singletons": int(certain.sum()),
            "doubtful_singletons": int((lone & ~certain).sum()),
        },
    )


def _number_raw_values(
    left: NDArray[np.int64], right: NDArray[np.int64], matching: Fit
) -> NDArray[np.int64]:
    """A number for each pair of cells; the same where both leave the same raw values."""
    sets = (
        matching.reading.sort("value")
        .group_by("left", "right", maintain_order=True)
        .agg(pl.col("value"))
        .sort("left", "right")
    )
    ids: dict[tuple[int, ...], int] = {}
    numbers = np.array([ids.setdefault(tuple(v), len(ids)) for v in sets["value"].to_list()])
    keys = sets["left"].to_numpy() * matching.width + sets["right"].to_numpy()
    found: NDArray[np.int64] = numbers[np.searchsorted(keys, left * matching.width + right)]
    return found


def _roles(
    quasi_identifiers: str | Sequence[str], on: str | Sequence[str]
) -> tuple[list[str], list[str]]:
    names = list(
        dict.fromkeys(
            [quasi_identifiers] if isinstance(quasi_identifiers, str) else quasi_identifiers
        )
    )
    shared = list(dict.fromkeys([on] if isinstance(on, str) else on))
    both = [name for name in shared if name in names]
    if not names or not shared or both:
        raise InputError("CEL-A059", columns=both)
    return names, shared
