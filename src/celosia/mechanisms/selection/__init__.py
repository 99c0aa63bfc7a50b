"""Choosing the best candidate, or the best few, by a private score."""
