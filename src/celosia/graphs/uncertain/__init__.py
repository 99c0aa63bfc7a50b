"""Uncertain graphs: a probability for each edge, so that a known degree fits k vertices."""
