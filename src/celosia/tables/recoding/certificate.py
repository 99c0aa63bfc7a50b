"""What a search found, and why nothing better can be."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from math import floor

from celosia.core.errors import InputError
from celosia.core.numbers import real
from celosia.tables.recoding.lattice import Outcome


@dataclass(frozen=True, slots=True)
class Certificate:
    """Why the solution is the optimum, or how far from it at most: every node is accounted for."""

    nodes: int
    evaluated: int = 0
    closed_by_bound: int = 0
    closed_as_infeasible: int = 0
    closed_by_forced_suppression: int = 0
    still_open: int = 0
    """Nodes about which nothing was decided when the time was over; 0 proves the optimum."""
    at_least: float = 0.0
    """No node scores below this, on the metric's scale from 0 to 1."""

    @property
    def is_optimal(self) -> bool:
        """Whether the solution is proven to be the best."""
        return self.still_open == 0


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The best node and the account of the search."""

    best: Outcome
    score: float
    """On the metric's scale from 0 to 1."""
    certificate: Certificate

    @property
    def gap(self) -> float:
        """How much better than the best found a node could be at most."""
        return max(0.0, self.score - self.certificate.at_least)


def allowance(suppression: float, rows: int) -> int:
    """How many records a suppression limit allows: floor of limit times rows, in exact decimals.

    >>> allowance(0.29, 100), allowance(0.05, 30162)
    (29, 1508)
    """
    limit = real(suppression)
    if limit is None or not 0 <= limit <= 1:
        raise InputError("CEL-P011", suppression=suppression)
    return floor(Decimal(repr(limit)) * rows)
