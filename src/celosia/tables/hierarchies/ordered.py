"""Values in an order, grouped by neighbours."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import polars as pl

from celosia.core.methods import check_list, parameter
from celosia.tables.hierarchies.hierarchy import (
    ROOT,
    Builder,
    Hierarchy,
    check_multiples,
    check_rising,
    distinct_texts,
    misplaced,
)
from celosia.tables.hierarchies.intervals import decimal_places, parse_number


def _check_order(value: Any) -> tuple[str, ...]:
    texts = check_list(value)
    if (
        not texts
        or not all(isinstance(text, str) for text in texts)
        or len(set(texts)) < len(texts)
    ):
        raise ValueError
    return texts


@dataclass(frozen=True, slots=True)
class Ordered(Builder):
    """Groups of neighbours in an order, labelled 'first - last'.

    Args:
        order: all values from first to last; they are the leaves, seen or not. None sorts the
            values of the data: numbers by size, texts with their numbers in order ('item 2' before
            'item 10').
        sizes: how many values a group holds at each level, each a multiple of the one before. The
            last group of a level may be shorter. Without sizes there is nothing but the root.

    >>> rule = Ordered(order=("low", "medium", "high", "extreme", "unknown"), sizes=(2, 4))
    >>> for path in rule.build(pl.Series(["low"])).paths():
    ...     print(path)
    ('low', 'low - medium', 'low - extreme', '*')
    ('medium', 'low - medium', 'low - extreme', '*')
    ('high', 'high - extreme', 'low - extreme', '*')
    ('extreme', 'high - extreme', 'low - extreme', '*')
    ('unknown', 'unknown', 'unknown', '*')
    """

    method_name: ClassVar[str] = "ordered"

    order: Sequence[str] | None = parameter(
        None, kind="values", check=_check_order, allowed="tables.must_be.different_texts"
    )
    sizes: Sequence[int] = parameter(
        (),
        least=2,
        check=partial(check_rising, 2),
        allowed="tables.must_be.rising_whole_numbers",
        start=(2, 4),
    )

    def check(self) -> None:
        """Refuse sizes that do not nest."""
        check_multiples(self.method_name, "sizes", self.sizes)

    def build(self, values: pl.Series) -> Hierarchy:
        """The values in order, one level per size.

        Raises:
            InputError: CEL-H030 a value is not in the order.
        """
        texts = distinct_texts(values)
        leaves = natural_order(texts) if self.order is None else list(self.order)
        known = set(leaves)
        if unknown := [at for at, text in enumerate(texts) if text not in known]:
            raise misplaced("CEL-H030", unknown)
        columns = [_group_labels(leaves, size) for size in self.sizes]
        roots = [ROOT] * len(leaves)
        return Hierarchy.from_paths(zip(leaves, *columns, roots, strict=True))


def natural_order(texts: Sequence[str]) -> list[str]:
    """The texts in the order a person would give them.

    >>> natural_order(["10", "9", "2.5"]), natural_order(["item 10", "Item 2", "apple"])
    (['2.5', '9', '10'], ['apple', 'Item 2', 'item 10'])
    """
    parsed = [parse_number(text) for text in texts]
    numbers = [number for number in parsed if number is not None]
    if len(numbers) < len(texts):
        return sorted(texts, key=lambda text: (_chunks(text), text))
    places = decimal_places(numbers)
    size = {text: n.on_grid(places) for text, n in zip(texts, numbers, strict=True)}
    return sorted(texts, key=lambda text: (size[text], text))


def _chunks(text: str) -> list[tuple[int, int, str]]:
    # Digits are compared by length, then as text: the same as by size, for any number of them.
    return [
        (0, len(chunk.lstrip("0")), chunk.lstrip("0")) if at % 2 else (1, 0, chunk.casefold())
        for at, chunk in enumerate(re.split(r"([0-9]+)", text))
        if chunk
    ]


def _group_labels(leaves: Sequence[str], size: int) -> list[str]:
    labels: list[str] = []
    taken: set[str] = set()
    for begin in range(0, len(leaves), size):
        group = leaves[begin : begin + size]
        label = group[0] if len(group) == 1 else f"{group[0]} - {group[-1]}"
        while label in taken:  # values that hold ' - ' themselves can make two labels alike
            label += "'"
        taken.add(label)
        labels += [label] * len(group)
    return labels
