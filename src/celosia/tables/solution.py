"""What was done to a table: the levels chosen, the records suppressed, and the loss."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from celosia.tables.recoding.certificate import Certificate


@dataclass(frozen=True, slots=True)
class ColumnOutcome:
    """How far one quasi-identifier was generalised, and what that and suppression cost it."""

    name: str
    level: int | None
    """None where records have levels or ranges of their own."""
    height: int
    loss: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """How the table was recoded, as facts about the release."""

    rows: int
    suppressed: int
    loss: float
    """Information lost, in [0, 1]: 0 is the raw table, 1 tells nothing."""
    method: str
    """`lattice`, `mondrian` or `mondrian-relaxed`."""
    metric: str
    score: float
    """By the metric that was kept least, from 0 to 1; the loss by default. Records that an empty
    cell suppresses before the search count in `loss` only."""
    rounds: int
    """1 for one node; more where suppressed records were recoded again by themselves."""
    columns: tuple[ColumnOutcome, ...]
    smallest_allowed: int
    """The fewest records that the models allow a class to have."""
    class_sizes: dict[int, int]
    """How many kept classes have each size."""
    search: Certificate | None
    """The account of the lattice search; Mondrian and local recoding have none."""

    @property
    def levels(self) -> tuple[int | None, ...]:
        """The node: a level for each quasi-identifier, where all records share one."""
        return tuple(column.level for column in self.columns)

    @property
    def suppressed_share(self) -> float:
        """Share of the records that were suppressed."""
        return self.suppressed / self.rows

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; `from_dict` takes them back."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Solution:
        """The inverse of `as_dict`; JSON has made the sizes into texts."""
        return cls(
            **values
            | {
                "columns": tuple(ColumnOutcome(**column) for column in values["columns"]),
                "class_sizes": {int(k): v for k, v in values["class_sizes"].items()},
                "search": values["search"] and Certificate(**values["search"]),
            }
        )
