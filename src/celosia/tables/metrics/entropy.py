"""Non-uniform entropy: how many bits it would take to tell the original values from the released.

A cell whose value is common among those of its label loses little, a rare one much. All suppressed
cells of a column share the label `*`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.tables.metrics.metric import Measure, Metric, over_all_nodes

if TYPE_CHECKING:
    from celosia.tables.recoding.lattice import Lattice, Outcome

Counts = NDArray[np.float64]
"""Numbers of records; floating-point because their logarithms are wanted."""


class EntropyMeasure(Measure):
    """The bits lost at each node.

    To suppress a record may lower the entropy of its column: who is left under the label can be
    more alike, and so can those under `*`. Taking one record out of n takes away at most
    log2(n) + log2(e) bits in each column, since x log x grows by no more there, so the floor is
    what generalisation alone costs, less that much for each record that may go.
    """

    def __init__(self, lattice: Lattice):
        self._lattice = lattice
        codes, sizes = lattice.combination_codes()
        self._codes, self._sizes = codes, sizes.astype(np.float64)
        self._whole = 0.0
        for code in codes:
            self._whole += _bits(
                _count(code, self._sizes), np.zeros(code.max() + 1, dtype=np.int64)
            )
        per_level = [
            np.array([_bits(_count(code, self._sizes), nodes) for nodes in steps])
            for code, steps in zip(codes, lattice.codes_by_level(), strict=True)
        ]
        self._plain = over_all_nodes(per_level, np.add)
        self._per_record = len(codes) * (log2(max(2, lattice.rows)) + 1.4427)
        self.floors = np.zeros(lattice.shape)

    def allow(self, suppressed: int) -> None:
        """Sharpen the floors, knowing how many records may be suppressed at most."""
        self.floors = np.maximum(0.0, self._plain - suppressed * self._per_record)

    def floor(self, node: Sequence[int], must_go: int) -> float:
        """What must go can make a column's rest more alike, so nothing can be added."""
        return float(self.floors[tuple(node)])

    def score(self, outcome: Outcome) -> float:
        """The bits lost at an evaluated node."""
        kept = outcome.kept[self._lattice.class_of_combinations(outcome.node)]
        bits = 0.0
        for code, level, steps in zip(
            self._codes, outcome.node, self._lattice.codes_by_level(), strict=True
        ):
            stay = _count(code, self._sizes * kept, steps[0].size)
            gone = _count(code, self._sizes * ~kept, steps[0].size)
            if level == len(steps) - 1:  # `*` already: suppressed cells join it
                bits += _bits(stay + gone, steps[level])
            else:
                bits += _bits(stay, steps[level]) + _bits(gone, np.zeros_like(steps[level]))
        return bits

    def share(self, score: float) -> float:
        """Over the bits of a table of nothing but `*`."""
        return score / self._whole if self._whole else 0.0


@dataclass(frozen=True)
class Entropy(Metric):
    """Non-uniform entropy (Gionis, Tassa 2009), in bits over all cells."""

    method_name: ClassVar[str] = "entropy"
    measure = EntropyMeasure


def _bits(counts: Counts, label_of: NDArray[np.int64]) -> float:
    """Sum over records of -log2(records of its value / records of its label)."""
    return float(_x_log_x(_count(label_of, counts)).sum() - _x_log_x(counts).sum())


def _count(codes: NDArray[np.int64], sizes: NDArray[np.float64], least: int = 0) -> Counts:
    """Records of each code."""
    return np.bincount(codes, weights=sizes, minlength=least).astype(np.float64)


def _x_log_x(counts: Counts) -> Counts:
    return np.asarray(counts * np.log2(np.where(counts > 0, counts, 1.0)))
