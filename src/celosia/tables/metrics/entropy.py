"""Non-uniform entropy: how many bits it would take to tell the original values from the released.

A cell whose value is common among those of its label loses little, a rare one much. All suppressed
cells of a column share the label `*`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.tables.metrics.metric import Measure, Metric, over_all_nodes

if TYPE_CHECKING:
    from celosia.tables.recoding.lattice import Lattice, Outcome

Counts = NDArray[np.float64]
"""Numbers of records; floating-point because their logarithms are wanted."""


STEPS = 24
"""Into how many steps the numbers of suppressed records are cut to find the floors."""

MANY_NODES = 1_000_000
"""In larger lattices a third of the steps must do."""


class EntropyMeasure(Measure):
    """The bits lost at each node.

    Write f(n) for n log2 n. Under one label, n records with n_v of each value v lose f(n) - sum
    f(n_v) bits: n times the entropy of the value. Suppression can lower that, for who is left under
    a label can be more alike. Three facts bound by how much, if g of N records are suppressed:

    - The records under a label are those who stay and those who go. To be told which of them a
      record is lowers the entropy of its value by no more than what is told, and over all labels
      that is at most f(N) - f(g) - f(N - g) bits, by concavity. That those who go share one label
      only adds. So a column loses at least what generalisation alone costs, less that many bits.
    - Those who go lose the fewest bits if they have the most frequent values, since f is convex.
      More of them never lose fewer bits.
    - At the root suppression changes nothing: those who go join the others.

    A floor is the least over all g. It is enough to try g in steps, each fact at its lower end of
    the step.
    """

    def __init__(self, lattice: Lattice):
        self._lattice = lattice
        codes, sizes = lattice.combination_codes()
        self._codes, self._sizes = np.array(codes, dtype=np.int32), sizes
        self._steps = lattice.codes_by_level()
        self._totals = [_count(code, sizes.astype(np.float64)) for code in self._codes]
        self._plain = [
            np.array([_bits(totals, labels) for labels in levels])
            for totals, levels in zip(self._totals, self._steps, strict=True)
        ]
        """For each column and level, the bits lost with nobody suppressed."""
        self._whole = sum(float(levels[-1]) for levels in self._plain)
        self._rows = lattice.rows
        self.allow(lattice.rows)

    def allow(self, suppressed: int) -> None:
        """Sharpen the floors, knowing how many records may be suppressed at most."""
        count = STEPS if self._lattice.nodes <= MANY_NODES else STEPS // 3
        edges = np.unique(np.linspace(0, suppressed + 1, count + 1).astype(np.int64)).tolist()
        self._last = np.array(edges[1:]) - 1
        self._parts = [
            np.array([self._part(column, *step) for step in zip(edges, self._last, strict=False)])
            for column in range(len(self._plain))
        ]
        """For each column, by step and level, the fewest bits it loses."""
        floors = np.full(self._lattice.shape, np.inf)
        for step in range(self._last.size):
            parts = over_all_nodes([levels[step] for levels in self._parts], np.add)
            np.minimum(floors, parts, out=floors)
        self.floors = floors * (1 - 1e-9)  # rounding never lifts a floor above its node

    def _part(self, column: int, first: int, last: int) -> NDArray[np.float64]:
        """For each level, what the column loses at least if `first` to `last` records go."""
        rows = self._rows
        middle = min(max(first, rows // 2), last)  # where telling who goes may say most
        told = _f(rows) - _f(middle) - _f(rows - middle)
        part = np.maximum(self._plain[column] - told, self._least_of_gone(column, first))
        part[-1] = self._plain[column][-1]
        return np.asarray(np.maximum(part, 0.0))

    def _least_of_gone(self, column: int, gone: int) -> float:
        """The fewest bits that so many suppressed cells lose: those of the most frequent values."""
        counts = np.sort(self._totals[column])[::-1]
        whole = np.minimum(counts, np.maximum(0, gone - (np.cumsum(counts) - counts)))
        return float(_f(gone) - _x_log_x(whole).sum())

    def floor(self, node: Sequence[int], must_go: int) -> float:
        """As `floors`, over the steps in which so many go."""
        first = int(np.searchsorted(self._last, must_go))
        bits = np.add.reduce(
            [levels[first:, level] for levels, level in zip(self._parts, node, strict=True)]
        )
        return max(float(self.floors[tuple(node)]), float(bits.min(initial=np.inf)) * (1 - 1e-9))

    def score(self, outcome: Outcome) -> float:
        """The bits lost at an evaluated node."""
        class_of = self._lattice.class_of_combinations(outcome.node)
        lost = np.flatnonzero(~outcome.kept[class_of])
        sizes = self._sizes[lost].astype(np.float64)
        bits = 0.0
        for column, level in enumerate(outcome.node):
            labels, totals = self._steps[column][level], self._totals[column]
            if level == len(self._steps[column]) - 1:  # `*` already: suppressed cells join it
                bits += float(self._plain[column][level])
                continue
            gone = _count(self._codes[column][lost], sizes, totals.size)
            bits += _bits(totals - gone, labels) + _f(outcome.suppressed) - _x_log_x(gone).sum()
        return float(bits)

    def share(self, score: float) -> float:
        """Over the bits of a table of nothing but `*`."""
        return score / self._whole if self._whole else 0.0


@dataclass(frozen=True)
class Entropy(Metric):
    """Non-uniform entropy (Gionis, Tassa 2009), in bits over all cells."""

    method_name: ClassVar[str] = "entropy"
    measure = EntropyMeasure


def _f(number: int) -> float:
    return number * log2(number) if number else 0.0


def _bits(counts: Counts, label_of: NDArray[np.int64]) -> float:
    """Sum over records of -log2(records of its value / records of its label)."""
    return float(_x_log_x(_count(label_of, counts)).sum() - _x_log_x(counts).sum())


def _count(codes: NDArray[Any], sizes: NDArray[np.float64], least: int = 0) -> Counts:
    """Records of each code."""
    return np.bincount(codes, weights=sizes, minlength=least).astype(np.float64)


def _x_log_x(counts: Counts) -> Counts:
    return np.asarray(counts * np.log2(np.where(counts > 0, counts, 1.0)))
