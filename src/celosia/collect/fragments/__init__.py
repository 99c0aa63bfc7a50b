"""Texts that nobody has listed, put together from fragments."""
