"""Assess: the risk that a table leaves."""
