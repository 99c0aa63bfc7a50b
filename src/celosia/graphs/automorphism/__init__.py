"""k-automorphism, for small graphs."""

from celosia.graphs.automorphism.method import KAutomorphism

METHODS = (KAutomorphism,)
"""The methods of this folder."""

__all__ = ["METHODS", "KAutomorphism"]
