"""Coding: fewer records or more general values, all of them true.

`Sampling`, `Recoding` and `TopBottom` are methods of a recipe.
"""

from celosia.tables.masking.coding.recoding import Recoding
from celosia.tables.masking.coding.sampling import Sampling
from celosia.tables.masking.coding.top_bottom import TopBottom
from celosia.tables.masking.method import MaskingMethod

METHODS: tuple[type[MaskingMethod], ...] = (Recoding, Sampling, TopBottom)
"""The methods of this family, for the registry of recipes."""

__all__ = ["METHODS", "Recoding", "Sampling", "TopBottom"]
