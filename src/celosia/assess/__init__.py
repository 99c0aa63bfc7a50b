"""Assess: the risk that a table leaves."""

from celosia.assess import risk

__all__ = ["risk"]
