"""Privacy models: one module per condition on equivalence classes."""

from celosia.tables.models.k_anonymity import KAnonymity
from celosia.tables.models.model import Classes, Model, hold_all

__all__ = ["Classes", "KAnonymity", "Model", "hold_all"]
