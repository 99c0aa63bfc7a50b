"""Information loss of single values: IL1s, and the lost sum of squares."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from celosia.assess.alignment import AlignedTables
from celosia.core.messages import say


@dataclass(frozen=True, slots=True)
class Loss:
    """The information lost in amounts, record by record."""

    il1s: float
    """Mean of |x - x'| / (sqrt(2) s), with the standard deviation s (n - 1) of each column."""
    squares: float
    """Sum of squares of the changes over that around the means (SSE/SST), columns standardised."""
    cells: int
    """Cells with a value in both tables; the others, and columns without spread, are left out."""

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return say("assess.line.loss", il1s=self.il1s, squares=self.squares)


def information_loss(tables: AlignedTables) -> Loss:
    """Measure how far the amounts of each masked record are from those of its original.

    Raises:
        InputError: CEL-A206 a synthetic table, CEL-A207 no column holds amounts.

    >>> from celosia.assess.alignment import align
    >>> print(information_loss(align({"age": [21, 22, 25, 29]}, {"age": [21.5, 21.5, 27, 27]})))
    IL1s 0.2459, 21.935% of the sum of squares lost

    Reference: Yancey, Winkler & Creecy 2002; Domingo-Ferrer & Mateo-Sanz 2002.
    """
    before, after = tables.numbers()
    true = before[tables.origins()]
    known = [column[~np.isnan(column)] for column in before.T]
    spread = np.array([cells.std(ddof=1) if cells.size > 1 else 0.0 for cells in known])
    centre = np.array([cells.mean() if cells.size else 0.0 for cells in known])
    counts = spread > 0
    moved = (after - true)[:, counts] / spread[counts]
    around = (true - centre)[:, counts] / spread[counts]
    compared = ~np.isnan(moved)
    cells = int(compared.sum())
    if not cells:
        return Loss(0.0, 0.0, 0)
    total = float((around[compared] ** 2).sum())
    return Loss(
        il1s=float(np.abs(moved[compared]).sum() / (np.sqrt(2) * cells)),
        squares=float((moved[compared] ** 2).sum()) / total if total else 0.0,
        cells=cells,
    )
