"""A graphical model of a table: marginals that agree by a junction tree, and rows drawn from it.

All of it works on released numbers only, so it costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.randomness import Source
from celosia.tables.masking.draws import draw_codes, even_uniforms

Codes = NDArray[np.int64]
Numbers = NDArray[np.float64]
Axes = tuple[int, ...]
"""Places of columns, rising."""


def cliques_of(sizes: Sequence[int], sets: Iterable[Axes]) -> list[Axes]:
    """The maximal cliques of a triangulated graph in which each set of columns is connected.

    Columns are eliminated one after the other, always the one whose neighbours make the smallest
    table with it; what is joined then is a clique.

    >>> cliques_of([2, 2, 2, 9], [(0, 1), (1, 2), (2, 3), (0, 3)])
    [(0, 1, 2), (0, 2, 3)]
    """
    near = [1 << place for place in range(len(sizes))]  # sets of columns as the bits of a number
    for axes in sets:
        every = sum(1 << axis for axis in axes)
        for axis in axes:
            near[axis] |= every
    left, found = list(range(len(sizes))), list[int]()
    while left:
        weights = [prod(sizes[each] for each in _places(near[place])) for place in left]
        gone = left.pop(int(np.argmin(np.array(weights, dtype=np.float64))))
        clique = near[gone]
        if not any(clique & other == clique for other in found):
            found.append(clique)
        for place in left:
            if near[place] >> gone & 1:
                near[place] = (near[place] | clique) & ~(1 << gone)
    return sorted(_places(clique) for clique in found)


def _places(bits: int) -> Axes:
    return tuple(place for place in range(bits.bit_length()) if bits >> place & 1)


def cells_of(sizes: Sequence[int], sets: Iterable[Axes]) -> int:
    """How many numbers a model with these sets of columns holds: the cells of its cliques."""
    return sum(prod(sizes[axis] for axis in clique) for clique in cliques_of(sizes, sets))


@dataclass(frozen=True, slots=True)
class Clique:
    """A node of a junction tree."""

    axes: Axes
    parent: int
    """The place of the clique before it that it hangs on; -1 for the root."""
    separator: Axes
    """The columns that it has in common with its parent, and so with all cliques beyond."""


def junction_tree(
    sizes: Sequence[int], sets: Iterable[Axes], root: Axes = ()
) -> tuple[Clique, ...]:
    """The cliques as a tree, parents first: a column is in the cliques of one connected part.

    The columns of `root` are a set of their own, and the first clique has all of them.

    A tree of cliques whose separators have as many columns as can be has this property (Jensen &
    Jensen 1994). Parts of the table without connection hang together by an empty separator.
    """
    cliques = cliques_of(sizes, [*sets, root] if root else sets)
    cliques.sort(key=lambda clique: not {*root} <= {*clique})  # those that have it come first
    tree, left = [Clique(cliques[0], -1, ())], set(range(1, len(cliques)))
    while left:
        best: tuple[int, int, int] = max(
            (len(set(cliques[one]) & set(node.axes)), -one, -place)
            for one in left
            for place, node in enumerate(tree)
        )
        one, parent = -best[1], -best[2]
        common = tuple(axis for axis in cliques[one] if axis in tree[parent].axes)
        tree.append(Clique(cliques[one], parent, common))
        left.remove(one)
    return tuple(tree)


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """Noisy counts of a marginal."""

    counts: Numbers
    precision: Numbers
    """One over the variance of the noise of each."""

    @classmethod
    def of(cls, counts: NDArray[Any], variance: float | Numbers) -> Measured:
        """Counts with noise of a variance: one for all, or one each."""
        return cls(counts.astype(np.float64), np.broadcast_to(1 / variance, counts.shape))

    def and_also(self, other: Measured) -> Measured:
        """Both measurements as one: their mean, weighted by precision."""
        precision = self.precision + other.precision
        counts = (self.counts * self.precision + other.counts * other.precision) / precision
        return Measured(counts, precision)


@dataclass(frozen=True, eq=False)
class GraphicalModel:
    """A distribution of `total` rows: the product of one table of potentials a set of columns.

    Among all distributions with the same marginals of these sets it has the greatest entropy.

    Reference: Lauritzen & Spiegelhalter 1988 (junction trees); McKenna, Sheldon & Miklau 2019,
    Graphical-model based estimation and inference for differential privacy, ICML.

    >>> potentials = {(0, 1): np.log([[3.0, 1.0], [1.0, 3.0]]), (1, 2): np.log([[1.0, 3.0]] * 2)}
    >>> model = GraphicalModel.of((2, 2, 2), 16.0, potentials)
    >>> model.marginal((0, 2)).round(9).tolist()
    [[2.0, 6.0], [2.0, 6.0]]
    """

    sizes: tuple[int, ...]
    total: float
    potentials: Mapping[Axes, Numbers]
    """Their logarithms."""
    tree: tuple[Clique, ...]
    beliefs: tuple[Numbers, ...]
    """The marginal of each clique of the tree."""

    @classmethod
    def of(
        cls,
        sizes: tuple[int, ...],
        total: float,
        potentials: Mapping[Axes, Numbers],
        tree: tuple[Clique, ...] | None = None,
    ) -> GraphicalModel:
        """The model with its marginals computed; the tree is found if it is not given."""
        tree = junction_tree(sizes, potentials) if tree is None else tree
        return cls(sizes, total, potentials, tree, _beliefs(sizes, total, potentials, tree))

    def holds(self, axes: Axes) -> bool:
        """Whether one clique has all of some columns."""
        return any(set(axes) <= set(clique.axes) for clique in self.tree)

    def marginal(self, axes: Axes) -> Numbers:
        """The expected counts of some columns.

        Where no clique has all of them, the cliques between are summed up one after the other:
        a table given its separator does not depend on what is beyond.
        """
        if self.holds(axes):
            place = _home(self.tree, self.sizes, axes)
            return _summed(self.tree[place].axes, self.beliefs[place], axes)
        needed = self._needed(set(axes))
        found = {place: (self.tree[place].axes, self._conditionals[place]) for place in needed}
        found[needed[0]] = (self.tree[needed[0]].axes, self.beliefs[needed[0]])
        for position in range(len(needed) - 1, 0, -1):
            clique = self.tree[needed[position]]
            # What is asked for at the parent after this: by the answer, by its own parent, and by
            # those of its children that are still to come.
            still = {*axes, *self.tree[clique.parent].separator}
            for place in needed[1:position]:
                if self.tree[place].parent == clique.parent:
                    still |= {*self.tree[place].separator}
            found[clique.parent] = _contract(
                found[clique.parent], found.pop(needed[position]), still
            )
        return _summed(*found[needed[0]], axes)

    def _needed(self, axes: set[int]) -> list[int]:
        """The places of the cliques that connect some columns, parents first."""
        left = list(range(len(self.tree)))
        for place in reversed(range(1, len(self.tree))):
            clique = self.tree[place]
            is_leaf = all(self.tree[other].parent != place for other in left)
            if is_leaf and axes & {*clique.axes} <= {*clique.separator}:
                left.remove(place)
        while True:
            below = [place for place in left[1:] if self.tree[place].parent == left[0]]
            top = axes & {*self.tree[left[0]].axes}
            if len(below) != 1 or not top <= {*self.tree[below[0]].separator}:
                return left
            left.remove(left[0])

    @cached_property
    def _conditionals(self) -> list[Numbers]:
        """The chances of each clique given its separator."""
        found = []
        for clique, belief in zip(self.tree, self.beliefs, strict=True):
            shared = _summed(clique.axes, belief, clique.separator)
            found.append(belief * _spread(_inverse(shared), clique.separator, clique.axes))
        return found

    def draw(
        self, count: int, rng: Source, known: Mapping[int, Codes] | None = None
    ) -> list[Codes]:
        """Codes of new rows: those of the root first, then each clique given its separator.

        Args:
            count: how many.
            rng: where they are drawn from.
            known: the codes of some columns of the root, which the others are drawn given.
        """
        given = {} if known is None else known
        assert {*given} <= {*self.tree[0].axes}, "rows are drawn from the root on"
        drawn = [
            given.get(axis, np.zeros(count, dtype=np.int64)) for axis in range(len(self.sizes))
        ]
        for clique, belief in zip(self.tree, self.beliefs, strict=True):
            fixed = clique.separator if clique.parent >= 0 else tuple(sorted(given))
            new = tuple(axis for axis in clique.axes if axis not in fixed)
            order = [clique.axes.index(axis) for axis in (*fixed, *new)]
            shape = tuple(self.sizes[axis] for axis in fixed)
            table = belief.transpose(order).reshape(prod(shape), -1)
            cases = np.zeros(count, dtype=np.int64)
            for axis in fixed:
                cases = cases * self.sizes[axis] + drawn[axis]
            # Only the cases that were drawn are looked at, as many as there are rows at most.
            occur, places = np.unique(cases, return_inverse=True)
            codes = draw_codes(table[occur], places, even_uniforms(places, rng))
            for axis in reversed(new):
                codes, drawn[axis] = np.divmod(codes, self.sizes[axis])
        return drawn


def _beliefs(
    sizes: tuple[int, ...],
    total: float,
    potentials: Mapping[Axes, Numbers],
    tree: tuple[Clique, ...],
) -> tuple[Numbers, ...]:
    """The marginals of the cliques, by one pass to the root and one back."""
    logs = [np.zeros(tuple(sizes[axis] for axis in clique.axes)) for clique in tree]
    for axes, table in potentials.items():
        place = _home(tree, sizes, axes)
        logs[place] += _spread(table, axes, tree[place].axes)
    found = [np.exp(each - each.max()) for each in logs]
    messages: dict[int, Numbers] = {}
    for place in reversed(range(1, len(tree))):
        clique = tree[place]
        message = _summed(clique.axes, found[place], clique.separator)
        messages[place] = message / message.max()
        found[clique.parent] *= _spread(messages[place], clique.separator, tree[clique.parent].axes)
    found[0] *= total / found[0].sum()
    for place in range(1, len(tree)):
        clique = tree[place]
        shared = _summed(tree[clique.parent].axes, found[clique.parent], clique.separator)
        scale = _summed(clique.axes, found[place], clique.separator)
        found[place] *= _spread(shared * _inverse(scale), clique.separator, clique.axes)
    return tuple(found)


def _home(tree: Sequence[Clique], sizes: Sequence[int], axes: Axes) -> int:
    """The place of the smallest clique that has some columns; any would do."""
    return min(
        (place for place, clique in enumerate(tree) if set(axes) <= set(clique.axes)),
        key=lambda place: prod(sizes[axis] for axis in tree[place].axes),
    )


def _inverse(table: Numbers) -> Numbers:
    """One over each number; 0 for 0."""
    return np.divide(1.0, table, out=np.zeros_like(table), where=table > 0)


def _summed(axes: Axes, table: Numbers, kept: Iterable[int]) -> Numbers:
    """The sums over the axes that are not kept."""
    wanted = set(kept)
    return np.asarray(table.sum(axis=tuple(i for i, axis in enumerate(axes) if axis not in wanted)))


def _spread(table: Numbers, axes: Axes, over: Axes) -> Numbers:
    """A table with axes of length 1 for the columns that it lacks."""
    lengths = iter(table.shape)
    return table.reshape([next(lengths) if axis in axes else 1 for axis in over])


Table = tuple[Axes, Numbers]


def _contract(one: Table, two: Table, kept: set[int]) -> Table:
    """The product of two tables, summed over the columns that are not kept."""
    first, second = (
        (tuple(axis for axis in axes if axis in wanted), _summed(axes, table, wanted))
        for (axes, table), wanted in ((one, {*kept, *two[0]}), (two, {*kept, *one[0]}))
    )
    shared = [axis for axis in first[0] if axis in second[0]]
    both = [axis for axis in shared if axis in kept]
    gone = [axis for axis in shared if axis not in kept]
    left = [axis for axis in first[0] if axis not in shared]
    right = [axis for axis in second[0] if axis not in shared]
    lengths = dict(zip(first[0] + second[0], first[1].shape + second[1].shape, strict=True))
    cases, inner, rows, columns = (
        prod(lengths[axis] for axis in axes) for axes in (both, gone, left, right)
    )
    # One product of matrices for each case of the columns that both have and that are kept.
    product = np.matmul(
        _in_order(first, both + left + gone).reshape(cases, rows, inner),
        _in_order(second, both + gone + right).reshape(cases, inner, columns),
    )
    axes = (*both, *left, *right)
    found = product.reshape([lengths[axis] for axis in axes])
    return tuple(sorted(axes)), _in_order((axes, found), sorted(axes))


def _in_order(table: Table, order: Sequence[int]) -> Numbers:
    return table[1].transpose([table[0].index(axis) for axis in order])


FASTER, SLOWER = 1.2, 0.5
"""How much longer or shorter the next step is."""
CLOSE = 1e-9
"""Of the loss: a step that takes off less is the last."""


def fit(
    model: GraphicalModel,
    measured: Mapping[Axes, Measured],
    *,
    steps: int,
    together: Axes = (),
) -> GraphicalModel:
    """The model whose marginals are nearest to the measured ones, by mirror descent.

    The loss is the sum of squared distances, each weighted by the precision of its noise. A step
    subtracts the gradient from the potentials; it is taken if the loss falls by half of what its
    slope says, and the next one is longer then, or else shorter.

    Args:
        model: where to begin.
        measured: the noisy marginals.
        steps: how many are tried at most.
        together: columns that the root of the tree must have.

    Reference: Beck & Teboulle 2003; McKenna, Sheldon & Miklau 2019, Alg. 1.
    """
    start = {
        axes: model.potentials.get(axes, np.zeros_like(each.counts))
        for axes, each in measured.items()
    }
    tree = junction_tree(model.sizes, start, together)
    best = GraphicalModel.of(model.sizes, model.total, start, tree)
    loss, slopes = _loss(best, measured)
    length = 2.0 / (model.total * sum(float(each.precision.max()) for each in measured.values()))
    for _ in range(steps):
        tried = GraphicalModel.of(
            model.sizes,
            model.total,
            {axes: table - length * slopes[axes] for axes, table in best.potentials.items()},
            best.tree,
        )
        new, new_slopes = _loss(tried, measured)
        promised = sum(
            float((slopes[axes] * (slopes[axes] - new_slopes[axes]) / each.precision).sum())
            for axes, each in measured.items()
        )
        if loss - new >= promised / 2:
            gained = loss - new
            best, loss, slopes = tried, new, new_slopes
            length *= FASTER
            if gained <= CLOSE * loss:
                break
        else:
            length *= SLOWER
    return best


def _loss(
    model: GraphicalModel, measured: Mapping[Axes, Measured]
) -> tuple[float, dict[Axes, Numbers]]:
    """The loss, and its gradient by the marginals."""
    loss, slopes = 0.0, {}
    for axes, each in measured.items():
        off = model.marginal(axes) - each.counts
        slopes[axes] = each.precision * off
        loss += 0.5 * float((slopes[axes] * off).sum())
    return loss, slopes
