"""Distance-based record linkage: is the nearest original record the one that was masked?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from celosia.assess.alignment import AlignedTables
from celosia.assess.labels import label
from celosia.assess.linkage.nearest import is_as_near, nearest, squared_distances, standardise
from celosia.core.messages import Message, say
from celosia.core.progress import Progress, silent

Measure = Literal["distance", "rank"]


@dataclass(frozen=True, slots=True, eq=False)
class Linkage:
    """The masked records that an attacker with the original links correctly."""

    measure: Measure
    columns: tuple[str, ...]
    chances: NDArray[np.float64]
    """For each masked record, the chance that the link is right: 1/t where t original records are
    nearest and the true one is among them, else 0."""
    candidates: NDArray[np.int64]
    """For each masked record, how many original records are nearest."""
    nearest: NDArray[np.int64]
    """For each masked record, the first of them."""

    @property
    def share(self) -> float:
        """The expected share of masked records that are linked correctly (DLD)."""
        return float(self.chances.mean())

    @property
    def certain(self) -> int:
        """Masked records whose only nearest original record is the true one."""
        return int((self.chances == 1).sum())

    @property
    def tied(self) -> int:
        """Masked records whose true record is one of several nearest ones."""
        return int(((self.chances > 0) & (self.chances < 1)).sum())

    def exposed(self, most: int = 10) -> tuple[int, ...]:
        """The rows of the masked table (from 0) with the surest links, at most `most`."""
        order = np.argsort(-self.chances, kind="stable")[:most]
        return tuple(order[self.chances[order] > 0].tolist())

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; the records are counted, not listed."""
        return {
            "measure": self.measure,
            "columns": list(self.columns),
            "records": int(self.chances.size),
            "share": self.share,
            "certain": self.certain,
            "tied": self.tied,
        }

    def __str__(self) -> str:
        return say(
            "assess.line.linkage",
            measure=label(self.measure),
            share=self.share,
            records=self.chances.size,
            certain=self.certain,
        )

    def __repr__(self) -> str:
        return f"Linkage({self.measure!r}, records={self.chances.size}, share={self.share:.4f})"


def distance_linkage(tables: AlignedTables, *, progress: Progress = silent) -> Linkage:
    """Link each masked record to the nearest original one.

    Amounts are in standard deviations of the original column and the distance is Euclidean;
    categories count 0 where they agree and 1 where not. A pair of records is compared on the
    columns that both have, its squared distance scaled up to all columns; a masked record without
    any value is as near to all of them.

    Raises:
        InputError: CEL-A206 the table is synthetic.

    >>> from celosia.assess.alignment import align
    >>> tables = align({"pay": [10, 20, 30]}, {"pay": [11, 25, 29]})
    >>> print(distance_linkage(tables))
    distance linkage: 83.33% of 3 masked records, 2 of them certain

    Reference: Pagliuca & Seri 1999; Domingo-Ferrer & Torra 2001.
    """
    scaled = standardise(tables.before, tables.after, tables.nominal)
    return _link(tables, "distance", *scaled, progress)


def rank_linkage(tables: AlignedTables, *, progress: Progress = silent) -> Linkage:
    """Link each masked record to the original one whose ranks are most like its own.

    Each amount is replaced by its rank within its own table, ties by their mean rank, in parts of
    the table, so that tables of different lengths compare. Ranks see through every masking that
    keeps the order, whatever it does to the scale. Categories and gaps count as in
    `distance_linkage`.

    Raises:
        InputError: CEL-A206 the table is synthetic.

    >>> from celosia.assess.alignment import align
    >>> tables = align({"pay": [10, 20, 30]}, {"pay": [100, 400, 900]})
    >>> distance_linkage(tables).share < rank_linkage(tables).share == 1
    True

    Reference: Nin, Herranz & Torra 2008.
    """
    return _link(
        tables,
        "rank",
        ranks(tables.before, tables.nominal),
        ranks(tables.after, tables.nominal),
        progress,
    )


def ranks(matrix: NDArray[np.float64], nominal: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Amounts as mean ranks between 0 and 1; codes and gaps stay as they are.

    >>> ranks(np.array([[5.0], [7.0], [5.0], [9.0]]), np.array([False])).ravel().tolist()
    [0.25, 0.625, 0.25, 0.875]
    """
    ranked = matrix.copy()
    for column in np.flatnonzero(~nominal):
        known = ~np.isnan(matrix[:, column])
        if known.any():
            _, place, counts = np.unique(
                matrix[known, column], return_inverse=True, return_counts=True
            )
            middle = np.cumsum(counts) - counts / 2
            ranked[known, column] = middle[place] / known.sum()
    return ranked


def _link(
    tables: AlignedTables,
    measure: Measure,
    before: NDArray[np.float64],
    after: NDArray[np.float64],
    progress: Progress,
) -> Linkage:
    origins = tables.origins()
    found = nearest(
        after,
        before,
        tables.nominal,
        progress=progress,
        stage=Message("assess.stage.linkage", measure=label(measure)),
    )
    true = squared_distances(after, before[origins], tables.nominal)
    right = is_as_near(true, found.squared)
    return Linkage(
        measure=measure,
        columns=tables.columns,
        chances=np.where(right, 1.0 / found.ties, 0.0),
        candidates=found.ties,
        nearest=found.first,
    )
