"""k-neighbourhood anonymity."""

from celosia.graphs.neighbourhood.method import KNeighbourhood

METHODS = (KNeighbourhood,)
"""The methods of this folder."""

__all__ = ["METHODS", "KNeighbourhood"]
