"""Re-identification risk of an attacker who knows that the person is in the table (prosecutor)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.numbers import real

THRESHOLD = 0.1
"""Above this chance of re-identification a record is at risk: its class has fewer than 10."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskProfile:
    """How exposed the records of a table are; suppressed ones are counted apart.

    Risks are chances in [0, 1] for the kept records; an empty table has none, so they are 0.

    >>> profile = RiskProfile.of_sizes(np.array([5, 20]), suppressed=3)
    >>> profile.average, profile.maximum, profile.at_risk
    (0.08, 0.2, 0.2)

    Reference: El Emam, Dankar 2008.
    """

    records: int
    """Kept records."""
    suppressed: int
    classes: int
    smallest: int
    largest: int
    average_size: float
    unique: int
    """Records that are alone in their class."""
    average: float
    """Chance that a random kept record is picked rightly: classes / records."""
    maximum: float
    """The same for the most exposed record: 1 / smallest class."""
    at_risk: float
    """Share of the kept records whose own risk is above the threshold."""
    threshold: float

    @classmethod
    def of_sizes(
        cls, sizes: NDArray[np.int64], *, suppressed: int = 0, threshold: float = THRESHOLD
    ) -> RiskProfile:
        """The profile of a table whose kept classes have these sizes."""
        check_threshold(threshold)
        records = int(sizes.sum())
        return cls(
            records=records,
            suppressed=suppressed,
            classes=int(sizes.size),
            smallest=int(sizes.min(initial=records)),
            largest=int(sizes.max(initial=0)),
            average_size=records / sizes.size if sizes.size else 0.0,
            unique=int((sizes == 1).sum()),
            average=sizes.size / records if records else 0.0,
            maximum=1 / int(sizes.min()) if records else 0.0,
            at_risk=int(sizes[1 / sizes > threshold].sum()) / records if records else 0.0,
            threshold=threshold,
        )

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def check_threshold(threshold: float) -> None:
    """Refuse what is not a chance above 0."""
    chance = real(threshold)
    if chance is None or not 0 < chance <= 1:
        raise InputError("CEL-A001", threshold=threshold)
