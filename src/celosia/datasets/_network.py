"""A chain of conditional tables, and rows drawn from it.

Every column depends on a few earlier ones, so a row is drawn one column at a time (ancestral
sampling). The table of a column is a product of small factors (a log-linear model): shares first,
then lifts, each on one or two earlier columns. That keeps the file small, and about groups rather
than people. A draw is one look-up in an alias table (Walker 1977): constant time however many
values there are, which is what makes ten million rows a matter of seconds.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

CHUNK = 1 << 16
"""Rows drawn at a time: the scratch arrays of one chunk stay in the processor's cache."""

Codes = dict[str, NDArray[np.uint8]]


@dataclass(frozen=True, slots=True)
class Column:
    """The values of a column, and the alias tables of all its cases, end to end."""

    name: str
    values: tuple[str | int, ...]
    offsets: dict[str, NDArray[np.int32]]
    """For each earlier column it depends on, how far each code moves the look-up."""
    threshold: NDArray[np.float64]
    alias: NDArray[np.uint8]

    def draw(self, known: Codes, uniform: NDArray[np.float64]) -> NDArray[np.uint8]:
        """One code per row, given the codes of earlier columns and a uniform number in [0, 1)."""
        scaled = uniform * len(self.values)
        slot = scaled.astype(np.uint8)
        scaled -= slot
        place = slot.astype(np.int32)
        for name, offset in self.offsets.items():
            place += offset[known[name]]
        return np.where(scaled < self.threshold[place], slot, self.alias[place])


@dataclass(frozen=True, slots=True)
class Network:
    """Columns in the order in which they are drawn."""

    columns: tuple[Column, ...]

    def draw(self, rows: int, seed: int) -> Codes:
        """The codes of `rows` rows, one array per column.

        Only `random()` of a named bit generator is used, whose stream NumPy promises to keep, so a
        seed gives the same rows on every machine.
        """
        generator = np.random.Generator(np.random.PCG64(seed))
        codes: Codes = {column.name: np.empty(rows, dtype=np.uint8) for column in self.columns}
        for start in range(0, rows, CHUNK):
            stop = min(start + CHUNK, rows)
            chunk: Codes = {}
            for column in self.columns:
                chunk[column.name] = column.draw(chunk, generator.random(stop - start))
                codes[column.name][start:stop] = chunk[column.name]
        return codes


def parse_network(text: str) -> Network:
    """The network written as JSON: see the head of `census_weights.json` for its words."""
    columns: dict[str, Column] = {}
    for entry in json.loads(text)["columns"]:
        columns[entry["name"]] = _column(entry, columns)
    return Network(tuple(columns.values()))


def _column(entry: Mapping[str, Any], earlier: Mapping[str, Column]) -> Column:
    values, given = tuple(entry["values"]), entry["given"]
    offsets: dict[str, NDArray[np.int32]] = {}
    stride = len(values)
    # The last column of `given` varies fastest, as in a nested loop.
    for name, groups in reversed(given.items()):
        offsets[name] = np.array(_group_of(earlier[name].values, groups), dtype=np.int32) * stride
        stride *= len(groups)
    threshold, alias = alias_tables(_weights(entry))
    return Column(entry["name"], values, offsets, threshold.ravel(), alias.ravel())


def _group_of(values: Sequence[str | int], groups: Sequence[Any]) -> list[int]:
    """The group of each value: numbers by the first number of each group, texts by their list."""
    if isinstance(values[0], int):
        return [bisect_right(groups, value) - 1 for value in values]
    place = {name: number for number, group in enumerate(groups) for name in group}
    return [place[str(value)] for value in values]


def _weights(entry: Mapping[str, Any]) -> NDArray[np.float64]:
    """One row of weights per case: the product of the factors."""
    sizes = {name: len(groups) for name, groups in entry["given"].items()}
    product = np.ones((*sizes.values(), len(entry["values"])))
    for factor in entry["factors"]:
        shape = [size if name in factor["on"] else 1 for name, size in sizes.items()]
        product *= np.array(factor["weights"], dtype=np.float64).reshape(*shape, -1)
    return product.reshape(-1, len(entry["values"]))


def alias_tables(weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
    """Thresholds and aliases that turn one uniform number into a value, a table for each row.

    A slot is chosen evenly; it keeps its own value with chance `threshold` and gives `alias`
    otherwise. The poorest slot is filled by the richest, once per slot (Robin Hood).

    >>> threshold, alias = alias_tables(np.array([[1.0, 3.0]]))
    >>> threshold.tolist(), alias.tolist()
    ([[0.5, 1.0]], [[1, 1]])
    """
    cases, size = weights.shape
    # A running sum adds from left to right on every machine; `sum` may regroup its terms.
    left = weights * size / np.cumsum(weights, axis=1)[:, -1:]
    threshold, alias = np.ones_like(left), np.tile(np.arange(size, dtype=np.uint8), (cases, 1))
    case, is_open = np.arange(cases), np.ones(left.shape, dtype=bool)
    for _ in range(size - 1):
        poor = np.where(is_open, left, np.inf).argmin(axis=1)
        rich = np.where(is_open, left, -np.inf).argmax(axis=1)
        threshold[case, poor] = left[case, poor]
        alias[case, poor] = rich
        left[case, rich] -= 1 - left[case, poor]
        is_open[case, poor] = False
    return threshold, alias
