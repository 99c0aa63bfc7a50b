"""Local suppression: blank single cells so that every combination of key values is frequent."""

from celosia.tables.masking.method import MaskingMethod
from celosia.tables.masking.suppression.method import LocalSuppression

METHODS: tuple[type[MaskingMethod], ...] = (LocalSuppression,)

__all__ = ["METHODS", "LocalSuppression"]
