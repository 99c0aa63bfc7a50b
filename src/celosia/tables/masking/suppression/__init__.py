"""Local suppression: blank single cells so that every combination of key values is frequent."""

from celosia.tables.masking.method import Method
from celosia.tables.masking.suppression.method import LocalSuppression

METHODS: tuple[type[Method], ...] = (LocalSuppression,)

__all__ = ["METHODS", "LocalSuppression"]
