"""Assess: the risk that a table leaves, attacks on it, and the use that is left."""

from celosia.assess import attacks, risk, utility
from celosia.assess.meaning import Exact, Meaning

__all__ = ["Exact", "Meaning", "attacks", "risk", "utility"]
