"""A Bayesian network: conditional tables of each column given a few others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.progress import Step
from celosia.core.randomness import Source
from celosia.frames import pick
from celosia.tables.masking.draws import draw_codes, even_uniforms
from celosia.tables.masking.method import NUMBER, MaskingMethod, MethodResult, Work
from celosia.tables.synthesis.checks import (
    NEW_ROWS,
    NO_PROMISE,
    check_filled,
    check_whole_table,
)
from celosia.tables.synthesis.variables import Variable, variables

Codes = NDArray[np.int64]

MOST_CELLS = 2**22
"""Of a conditional table."""
NEAREST = 8
"""Parents are sought among this number of columns, those that tell most about the child."""


@dataclass(frozen=True, slots=True)
class Node:
    """A column and the columns it depends on, by their places."""

    child: int
    parents: tuple[int, ...]


def cases(columns: Sequence[Codes], sizes: Sequence[int], places: Sequence[int]) -> Codes:
    """The codes of several columns as one, the last varying fastest; 0 for no columns."""
    found = np.zeros(len(columns[0]), dtype=np.int64)
    for place in places:
        found = found * sizes[place] + columns[place]  # below MOST_CELLS, see `learn`
    return found


def information(columns: Sequence[Codes], sizes: Sequence[int], node: Node) -> float:
    """The mutual information of a column and its parents, in nats.

    >>> coin = np.array([0, 1, 0, 1])
    >>> round(information([coin, coin], [2, 2], Node(0, (1,))), 4)
    0.6931
    """
    case = cases(columns, sizes, node.parents)
    width = sizes[node.child]
    joint = np.bincount(case * width + columns[node.child])
    joint = np.pad(joint, (0, -joint.size % width)).reshape(-1, width)
    total = joint.sum()
    return (
        _entropy(joint.sum(axis=0), total)
        + _entropy(joint.sum(axis=1), total)
        - _entropy(joint.ravel(), total)
    )


def _entropy(counts: Codes, total: int) -> float:
    shares = counts[counts > 0] / total
    return float(-(shares * np.log(shares)).sum())


def learn(
    columns: Sequence[Codes],
    sizes: Sequence[int],
    *,
    degree: int,
    on_node: Callable[[int], None] = lambda _: None,
) -> list[Node]:
    """Columns in an order in which each depends on earlier ones only, on `degree` at most.

    Beginning with the column that tells most about the others, the next is always the column and
    the set of earlier ones with most information about it, less what a table of its size gains by
    chance (Akaike: one nat a free number). A set of columns that tells less is no parent.

    Reference: Chow & Liu 1968 (trees); Zhang et al. 2017, PrivBayes, Alg. 2 (the greedy order).
    """
    rows = len(columns[0])

    @cache
    def gain(child: int, parents: tuple[int, ...]) -> float:
        width = int(np.prod([sizes[each] for each in parents], dtype=object))
        if width * sizes[child] > MOST_CELLS:
            return -np.inf
        free = (sizes[child] - 1) * (width - 1)
        return rows * information(columns, sizes, Node(child, parents)) - free

    def told_of(one: int) -> float:
        return sum(max(gain(one, (other,)), 0.0) for other in every if other != one)

    every = range(len(columns))
    first = max(every, key=told_of)
    nodes, left = [Node(first, ())], [place for place in every if place != first]
    while left:
        on_node(len(nodes))
        earlier = [node.child for node in nodes]
        best, most = Node(left[0], ()), 0.0
        for child in left:
            ranked = sorted((-gain(child, (one,)), one) for one in earlier)
            near = [one for _, one in ranked[:NEAREST]]
            for count in range(1, degree + 1):
                for parents in combinations(sorted(near), count):
                    if gain(child, parents) > most:
                        best, most = Node(child, parents), gain(child, parents)
        nodes.append(best)
        left.remove(best.child)
    return nodes


@dataclass(frozen=True, slots=True, eq=False)
class BinnedVariable:
    """A variable as codes from 0 on; the last code stands for empty cells where there are any."""

    variable: Variable
    codes: NDArray[np.int64]
    size: int
    """How many codes there are."""
    low: NDArray[np.float64]
    """The least value of each code, without the one of empty cells."""
    high: NDArray[np.float64]
    """The greatest value of each code."""

    def series(self, codes: NDArray[np.int64], rng: Source) -> pl.Series:
        """Cells for codes, by the quantiles of the values of each bin.

        Whole numbers and dates are drawn as often as they are in the bin; decimals lie on straight
        lines between neighbouring values.
        """
        empty = codes >= self.low.size
        if not self.low.size:
            return self.variable.series(np.full(codes.size, np.nan))
        places = np.where(empty, 0, codes)
        # The values of a bin follow each other when all are sorted.
        ordered = np.sort(self.variable.present)
        starts = np.searchsorted(ordered, self.low, side="left")[places]
        counts = np.searchsorted(ordered, self.high, side="right")[places] - starts
        levels = even_uniforms(places, rng)
        if self.variable.dtype.is_float() and self.variable.labels is None:
            values = np.interp(starts + levels * (counts - 1), np.arange(ordered.size), ordered)
        else:
            values = ordered[starts + (levels * counts).astype(np.int64)]
        return self.variable.series(np.where(empty, np.nan, values))


def bin_variable(variable: Variable, bins: int) -> BinnedVariable:
    """A variable in at most `bins` bins by quantiles; categories and few numbers stay."""
    known = ~np.isnan(variable.values)
    found = variable.values[known]
    distinct = np.unique(found)
    if variable.labels is not None or distinct.size <= bins:
        codes = np.searchsorted(distinct, found)
        low = high = distinct
    else:
        levels = np.quantile(found, np.arange(1, bins) / bins, method="lower")
        places = np.searchsorted(np.unique(levels), found, side="left")
        _, codes = np.unique(places, return_inverse=True)
        low = np.full(int(codes.max()) + 1, np.inf)
        high = np.full(low.size, -np.inf)
        np.minimum.at(low, codes, found)
        np.maximum.at(high, codes, found)
    every = np.full(variable.values.size, low.size, dtype=np.int64)
    every[known] = codes
    return BinnedVariable(variable, every, low.size + int(not known.all()), low, high)


@dataclass(frozen=True, slots=True, kw_only=True)
class BayesianNetwork(MaskingMethod):
    """New rows from a Bayesian network, each column drawn given a few earlier ones.

    Numbers and dates are put in bins of about as many rows each and drawn within their bin by its
    quantiles, so that each column by itself is as it was; a column of at most `bins` distinct
    numbers keeps them. Empty cells are a value of their own.

    It promises nothing. All columns of the table must be given, because the rows are new.

    Reference: Pearl 1988, Probabilistic Reasoning in Intelligent Systems; Young, Graham & Penny
    2009, Using Bayesian networks to create synthetic data, Journal of Official Statistics 25.
    """

    method_name: ClassVar[str] = "bayesian-network"
    randomised: ClassVar[bool] = True
    truthful: ClassVar[bool] = False
    picks_rows: ClassVar[bool] = True

    rows: int | None = parameter(None, like=NEW_ROWS)
    degree: int = parameter(2, least=0, most=4)
    bins: int = parameter(20, least=2, most=1000)
    prior: float = parameter(1.0, like=NUMBER, least=0)

    def _apply(self, frame: pl.DataFrame, columns: Sequence[str], work: Work) -> MethodResult:
        check_whole_table(frame, columns, self.method_name)
        check_filled(frame, self.method_name)
        found = [bin_variable(each, self.bins) for each in variables(frame, columns)]
        nodes = learn(
            [each.codes for each in found],
            [each.size for each in found],
            degree=self.degree,
            on_node=lambda done: work.progress(
                Step(Message("masking.stage.learning_network"), done, len(columns))
            ),
        )
        count = frame.height if self.rows is None else self.rows
        drawn = self._drawn(found, nodes, count, work.rng)
        cells = [each.series(codes, work.rng) for each, codes in zip(found, drawn, strict=True)]
        parents = {columns[each.child]: [columns[one] for one in each.parents] for each in nodes}
        return MethodResult(
            frame=pick(pl.DataFrame(cells), frame.columns),
            facts={"rows": count, "parents": parents},
            synthetic=True,
        )

    def _drawn(
        self, found: Sequence[BinnedVariable], nodes: Sequence[Node], count: int, rng: Source
    ) -> list[NDArray[np.int64]]:
        given, sizes = [each.codes for each in found], [each.size for each in found]
        drawn = [np.zeros(count, dtype=np.int64) for _ in found]
        for node in nodes:
            width = sizes[node.child]
            here = cases(given, sizes, node.parents)
            wanted = cases(drawn, sizes, node.parents)
            # Only the cases that occur in the new rows are tabulated.
            occurs = np.bincount(wanted, minlength=int(here.max()) + 1) > 0
            places = np.cumsum(occurs) - 1
            seen = occurs[here]
            cells = places[here[seen]] * width + given[node.child][seen]
            table = np.bincount(cells, minlength=int(occurs.sum()) * width).reshape(-1, width)
            shares = np.bincount(given[node.child], minlength=width) / here.size
            # A case that no real row has (its parents were drawn apart) is drawn as the column is.
            weight = np.where(table.sum(axis=1, keepdims=True) > 0, self.prior, 1.0)
            place = places[wanted]
            drawn[node.child] = draw_codes(
                table + weight * shares, place, even_uniforms(place, rng)
            )
        return drawn

    def leaves_open(self, columns: Sequence[str]) -> tuple[str, ...]:
        return (
            Message(NO_PROMISE),
            Message("masking.gap.range_and_categories"),
            Message("masking.gap.network_cases", columns=self.degree + 1),
        )
