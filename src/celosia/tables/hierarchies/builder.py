"""What a hierarchy builder is: a small value that makes a hierarchy from a column's values."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import polars as pl

from celosia.core.errors import InputError
from celosia.core.methods import Method, check_list, parameter
from celosia.tables.hierarchies.hierarchy import Hierarchy


class Builder(Method, ABC):
    """A rule that turns the distinct values of a column into a hierarchy.

    Its `as_dict()` is what stands under `[columns.NAME.hierarchy]` in a schema file.
    """

    __slots__ = ()

    @abstractmethod
    def build(self, values: pl.Series) -> Hierarchy:
        """The hierarchy whose leaves are the texts of `values` (distinct, none missing).

        Raises:
            InputError: a value has no place under the rule; the message counts such values.
        """


def rising_parameter(default: Any, *, least: int, **declared: Any) -> Any:
    """A list of increasing whole numbers."""

    def check(value: Any) -> tuple[int, ...]:
        numbers = check_list(value)
        if not all(is_whole(number) and number >= least for number in numbers):
            raise ValueError
        if any(low >= high for low, high in pairwise(numbers)):
            raise ValueError
        return numbers

    return parameter(
        default,
        least=least,
        check=check,
        allowed="tables.must_be.rising_whole_numbers",
        **declared,
    )


def is_number(value: object) -> bool:
    """True for a finite number, within what a float can hold, that is not a truth value."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) < 10**300 and math.isfinite(value)


def is_whole(value: object) -> bool:
    """True for a whole number that is not a truth value."""
    return isinstance(value, int) and not isinstance(value, bool)


def check_multiples(method: str, key: str, numbers: Sequence[int]) -> None:
    """Refuse levels that do not nest: each number must be a multiple of the one before."""
    for level in range(1, len(numbers)):
        if numbers[level] <= numbers[level - 1] or numbers[level] % numbers[level - 1]:
            raise InputError("CEL-H021.not_a_multiple", method=method, key=key, level=level + 1)
