"""t-closeness: sensitive values are spread in each class much as in the whole table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.tables.models import _kernels
from celosia.tables.models.classes import Classes, FullHistogram, Histogram
from celosia.tables.models.model import (
    IDENTITY,
    LEAST,
    PUBLIC_TABLE,
    SENSITIVE_COLUMN,
    SensitiveModel,
    Verdict,
)

Distance = Literal["equal", "ordered", "hierarchical"]
"""Ground distances: 1 between any two values; by rank; by the level of the common ancestor."""


@dataclass(frozen=True, slots=True)
class TCloseness(SensitiveModel):
    """The distance between the sensitive values of each class and those of the table is at most t.

    The distance is the earth mover's: how much of the class has to move how far to look like the
    whole original table, suppressed records included. How far two values are apart is 1 (`equal`),
    their difference in rank over that of the extremes (`ordered`), or the level of their lowest
    common ancestor over the height of the hierarchy (`hierarchical`).

    Guarantee: what a class tells about the sensitive value of a person in it differs from what the
    whole table tells by a distance of at most `t`.

    >>> from celosia.tables.models import Histogram, SensitiveColumn
    >>> salary = SensitiveColumn("salary", np.ones(9, np.int64), is_ordered=True)
    >>> rows = Histogram.of_rows(salary, np.zeros(3, np.int64), np.array([0, 1, 2], np.int32), 1)
    >>> low = Classes(np.array([3]), {"salary": rows})
    >>> TCloseness(0.2, "ordered", "salary").distances(low).tolist()
    [0.375]

    Reference: Li, Li & Venkatasubramanian 2007.
    """

    method_name: ClassVar[str] = "t-closeness"

    t: float = parameter(least=LEAST, most=1, start=0.2)
    distance: Distance = "equal"
    column: str | None = parameter(None, like=SENSITIVE_COLUMN)

    def judge(self, classes: Classes) -> Verdict:
        """Distances per class; what must go is proven, because the distance is convex.

        Kept parts within t are within t together.
        """
        rows = self.histogram(classes)
        if isinstance(rows, FullHistogram) and self.distance != "ordered":
            whole = (*self._tree(rows), float(rows.column.rows))
            found = _kernels.full_tree_distances(
                rows.full, classes.sizes, *whole, self.t, classes.least
            )
            return Verdict(*found)
        return Verdict(*self._measured(classes, classes.least)[1:])

    def distances(self, classes: Classes) -> NDArray[np.float64]:
        """The distance between each class and the table."""
        return self._measured(classes, 0)[0]

    def _measured(
        self, classes: Classes, least: int
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        rows = self.histogram(classes)
        column = rows.column
        inside = (rows.starts, rows.values, rows.counts, classes.sizes)
        found: tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
        if self.distance == "ordered":
            self._needs(column.is_ordered, Message("models.t_closeness.needs_order"))
            cumulated = np.cumsum(column.totals).astype(np.float64)
            sums = np.concatenate([[0.0], np.cumsum(cumulated[:-1])])
            found = _kernels.ordered_distances(*inside, cumulated, sums, self.t, least)
            return found
        whole = (*self._tree(rows), float(column.rows))
        found = _kernels.tree_distances(*inside, *whole, self.t, least)
        return found

    def _tree(self, rows: Histogram) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The nodes of each level below the root, and their records in the table."""
        column = rows.column
        if self.distance == "equal":
            return np.arange(column.totals.size)[None, :], column.totals.astype(np.float64)
        self._needs(column.nodes is not None, Message("models.t_closeness.needs_hierarchy"))
        # On a tree whose edges have length 1/(2H) the earth mover's distance is the sum over
        # edges of the mass that crosses them: the mean total variation of levels 0 to H - 1.
        return column.tree

    def _needs(self, there: bool, needed: str) -> None:
        if not there:
            raise InputError("CEL-P024", needed=needed, column=self.column, distance=self.distance)

    def promise(self) -> str:
        return self.named(Message("models.t_closeness.promise", t=self.t, distance=self.distance))

    def protects(self) -> str:
        return Message("models.t_closeness.protects", t=self.t)

    def leaves_open(self) -> tuple[str, ...]:
        rare = Message("models.t_closeness.rare_values")
        semantic = (Message("models.t_closeness.similarity"),)
        return (IDENTITY, rare, PUBLIC_TABLE, *(semantic if self.distance == "equal" else ()))
