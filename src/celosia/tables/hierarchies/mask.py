"""Codes hidden character by character."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import polars as pl

from celosia.core.errors import InputError
from celosia.core.methods import parameter
from celosia.tables.hierarchies.hierarchy import (
    Builder,
    Hierarchy,
    check_rising,
    distinct_texts,
)

MOST_LEVELS = 64
"""Longer texts are no codes: one level per character would be a hierarchy too long to read."""


def _check_character(value: Any) -> str:
    if not isinstance(value, str) or len(value) != 1:
        raise ValueError
    return value


@dataclass(frozen=True, slots=True)
class Mask(Builder):
    """More and more characters replaced by a mark, until nothing is left.

    Shorter values are filled with the mark on the masked side up to the longest value, so that
    level i hides the same positions everywhere: beside '47677', the value '476' is '476**' from
    level 1 on. The root is the mark repeated to the length of the longest value ('*****' for postal
    codes of five digits), one label for all values; a suppressed record shows a single '*' instead.

    Args:
        direction: the side from which characters are replaced.
        character: the mark.
        levels: how many characters are hidden at each level below the root; None hides one more at
            each level. Levels that would hide everything fall together with the root.

    >>> zip_code = Mask().build(pl.Series(["47677"]))
    >>> zip_code.paths()
    [('47677', '4767*', '476**', '47***', '4****', '*****')]
    >>> Mask(levels=(2,)).build(pl.Series(["47677", "476"])).paths()
    [('476', '476**', '*****'), ('47677', '476**', '*****')]
    """

    method_name: ClassVar[str] = "mask"

    direction: Literal["right", "left"] = "right"
    character: str = parameter(
        "*", kind="text", check=_check_character, allowed="tables.must_be.one_character"
    )
    levels: Sequence[int] | None = parameter(
        None,
        least=1,
        check=partial(check_rising, 1),
        allowed="tables.must_be.rising_whole_numbers",
    )

    def build(self, values: pl.Series) -> Hierarchy:
        """The values in alphabetical order, one level per number of hidden characters.

        Raises:
            InputError: CEL-H031 the longest value would need too many levels.
        """
        texts = sorted(distinct_texts(values))
        longest = max(map(len, texts), default=0)
        depths = self._depths(longest)
        root = self.character * max(longest, 1)
        return Hierarchy.from_paths(
            (text, *(self._masked(text, depth, longest) for depth in depths), root)
            for text in texts
        )

    def _depths(self, longest: int) -> list[int]:
        if self.levels is not None:
            return [depth for depth in self.levels if depth < longest]
        if longest > MOST_LEVELS:
            raise InputError("CEL-H031", most_levels=MOST_LEVELS, longest=longest)
        return list(range(1, longest))

    def _masked(self, text: str, depth: int, longest: int) -> str:
        hidden = self.character * depth
        if self.direction == "right":
            return text.ljust(longest, self.character)[: longest - depth] + hidden
        return hidden + text.rjust(longest, self.character)[depth:]
