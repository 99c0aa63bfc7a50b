"""Assess: the risk that a table leaves, attacks on it, the use that is left, audits of promises."""

from celosia.assess import attacks, audit, risk, utility
from celosia.assess.meaning import Exact, Meaning

__all__ = ["Exact", "Meaning", "attacks", "audit", "risk", "utility"]
