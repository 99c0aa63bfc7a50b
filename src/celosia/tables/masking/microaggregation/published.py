"""What the literature reports for MDAV on its two reference tables, and the same of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType

from numpy.typing import ArrayLike

from celosia.tables.masking.microaggregation.multivariate import mdav_groups
from celosia.tables.masking.microaggregation.refined import refined_groups
from celosia.tables.masking.microaggregation.scale import information_loss

PUBLISHED: Mapping[str, Mapping[int, float]] = MappingProxyType(
    {
        "census": MappingProxyType({3: 5.692, 4: 7.495, 5: 9.088, 10: 14.156}),
        "tarragona": MappingProxyType({3: 16.933, 4: 19.546, 5: 22.461, 10: 33.192}),
    }
)
"""100 SSE/SST of MDAV by k on standardised columns: 1,080 x 13 and 834 x 13 records."""


@dataclass(frozen=True, slots=True)
class Losses:
    """The information loss of MDAV and of its refinement for one k, in percent."""

    k: int
    mdav: float
    refined: float

    @property
    def gain(self) -> float:
        """The percentage of the squared error of MDAV that the refinement saves."""
        return 100.0 * (1.0 - self.refined / self.mdav) if self.mdav > 0 else 0.0

    def as_dict(self) -> dict[str, float]:
        """The losses and the gain as plain values."""
        return {**asdict(self), "gain": self.gain}

    def __str__(self) -> str:
        """One line for a person."""
        return f"k = {self.k}: {self.mdav:.3f} %, refined {self.refined:.3f} % (-{self.gain:.1f} %)"


def losses(matrix: ArrayLike, sizes: Sequence[int] = (3, 4, 5, 10)) -> tuple[Losses, ...]:
    """The losses of a table, one row a record, for each group size.

    >>> ages = [[29], [48], [21], [36], [45], [58], [72], [22], [25], [43]]
    >>> print(*losses(ages, [3]))
    k = 3: 18.376 %, refined 15.006 % (-18.3 %)
    """
    return tuple(
        Losses(
            k,
            information_loss(matrix, mdav_groups(matrix, k)),
            information_loss(matrix, refined_groups(matrix, k)),
        )
        for k in sizes
    )
