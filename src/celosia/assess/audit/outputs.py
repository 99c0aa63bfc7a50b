"""Outputs of any shape as a table: a pattern for other parts, columns for numbers."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from decimal import Decimal
from enum import Enum
from itertools import groupby
from math import inf, isnan
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

Path = tuple[Hashable, ...]
"""Where a number is in an output: () for the output itself, (2,) for its third entry."""

Values = NDArray[np.float64]


class _Number:
    """Stands in a pattern where a number is."""

    def __repr__(self) -> str:
        return "number"


NUMBER = _Number()


@dataclass(frozen=True, slots=True)
class SequencePattern:
    """The pattern of a tuple, a list or an array."""

    items: tuple[Hashable, ...]

    def __str__(self) -> str:
        runs = groupby(map(pattern_words, self.items))
        runs_of_words = [(word, len(list(run))) for word, run in runs]
        return f"({', '.join(w if times == 1 else f'{w} x{times}' for w, times in runs_of_words)})"


@dataclass(frozen=True, slots=True)
class MappingPattern:
    """The pattern of a dictionary, in the order in which it holds its keys."""

    items: tuple[tuple[Hashable, Hashable], ...]

    def __str__(self) -> str:
        return "{" + ", ".join(f"{key}: {pattern_words(item)}" for key, item in self.items) + "}"


def pattern_words(pattern: Hashable) -> str:
    """A pattern as a person would write it."""
    if isinstance(pattern, Enum):
        return str(pattern.value)
    return str(pattern)


def path_words(path: Path) -> str:
    """Where a number is, as one would write it in Python.

    >>> path_words(()), path_words((2,)), path_words(("red",))
    ('output', 'output[2]', "output['red']")
    """
    return "output" + "".join(f"[{step!r}]" for step in path)


@dataclass(frozen=True, slots=True, eq=False)
class Outputs:
    """Many outputs: for each the number of its pattern, and the numbers in it."""

    codes: NDArray[np.int64]
    patterns: list[Hashable]
    """By code; shared by all outputs of one audit, so that a code always means the same."""
    columns: Mapping[Path, Values]
    """NaN where an output has no number at that place."""

    def __len__(self) -> int:
        return int(self.codes.size)

    def column(self, path: Path) -> Values:
        """The numbers at one place."""
        found = self.columns.get(path)
        return np.full(len(self), np.nan) if found is None else found

    def part(self, start: int, stop: int) -> Outputs:
        """Some of them."""
        inside = {path: column[start:stop] for path, column in self.columns.items()}
        return Outputs(self.codes[start:stop], self.patterns, inside)


class Encoder:
    """Turns outputs into tables whose codes mean the same from batch to batch."""

    def __init__(self) -> None:
        self.patterns: list[Hashable] = []
        self._codes: dict[Hashable, int] = {}

    def encode(self, outputs: Any) -> Outputs:
        """A table of outputs: an array with one row for each, or a sequence of anything."""
        if isinstance(outputs, np.ndarray) and outputs.dtype.kind in "biuf" and outputs.ndim <= 2:
            return self._array(outputs.astype(np.float64))
        return self._objects(outputs)

    def _code(self, pattern: Hashable) -> int:
        code = self._codes.setdefault(pattern, len(self.patterns))
        if code == len(self.patterns):
            self.patterns.append(pattern)
        return code

    def _array(self, values: Values) -> Outputs:
        if values.ndim == 2:
            codes = np.full(len(values), self._code(SequencePattern((NUMBER,) * values.shape[1])))
            columns: dict[Path, Values] = {(j,): values[:, j] for j in range(values.shape[1])}
            return Outputs(codes, self.patterns, columns)
        codes = np.full(values.size, self._code(NUMBER))
        missing = np.isnan(values)
        if missing.any():
            codes[missing] = self._code("not a number")
        return Outputs(codes, self.patterns, {(): values})

    def _objects(self, outputs: Iterable[Any]) -> Outputs:
        codes: list[int] = []
        found: dict[Path, tuple[list[int], list[float]]] = {}
        for row, output in enumerate(outputs):
            numbers: list[tuple[Path, float]] = []
            codes.append(self._code(_pattern(output, (), numbers)))
            for path, number in numbers:
                rows, values = found.setdefault(path, ([], []))
                rows.append(row)
                values.append(number)
        columns: dict[Path, Values] = {}
        for path, (rows, values) in found.items():
            column = np.full(len(codes), np.nan)
            column[rows] = values
            columns[path] = column
        return Outputs(np.array(codes, dtype=np.int64), self.patterns, columns)


def _pattern(output: Any, path: Path, numbers: list[tuple[Path, float]]) -> Hashable:
    """What an output is apart from its numbers, which are appended to `numbers`."""
    kind = type(output)  # the two most frequent kinds are tested first: there are millions of them
    if kind is str or output is None or isinstance(output, str | bytes | bool | Enum):
        return output  # type: ignore[no-any-return]
    if kind is float or isinstance(output, Real | Decimal):
        return _number(output, path, numbers)
    if isinstance(output, np.ndarray | np.bool_):
        return _pattern(output.tolist(), path, numbers)
    if isinstance(output, list | tuple):
        return SequencePattern(
            tuple(_pattern(item, (*path, place), numbers) for place, item in enumerate(output))
        )
    if is_dataclass(output) and not isinstance(output, type):
        output = {item.name: getattr(output, item.name) for item in fields(output)}
    if isinstance(output, Mapping):
        # In their own order: a reader of the output sees that too, and it can disclose something.
        return MappingPattern(
            tuple((key, _pattern(value, (*path, key), numbers)) for key, value in output.items())
        )
    return output if _hashable(output) else repr(output)


def _number(output: Any, path: Path, numbers: list[tuple[Path, float]]) -> Hashable:
    try:
        value = float(output)
    except OverflowError:
        value = inf if output > 0 else -inf
    except ValueError:  # a decimal that signals that it is not a number
        return "not a number"
    if isnan(value):
        return "not a number"
    numbers.append((path, value))
    return NUMBER


def _hashable(thing: Any) -> bool:
    try:
        hash(thing)
    except TypeError:
        return False
    return True
