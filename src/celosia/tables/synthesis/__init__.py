"""Synthetic tables without noise: models fitted to a table, and new rows drawn from them.

None of them promises anything: what is drawn can repeat real people. The differentially private
ones are in `celosia.tables.private`.
"""

from celosia.tables.masking.method import MaskingMethod
from celosia.tables.synthesis.bayesian_network import BayesianNetwork
from celosia.tables.synthesis.copula import Copula
from celosia.tables.synthesis.distribution import Distribution
from celosia.tables.synthesis.trees import Trees

METHODS: tuple[type[MaskingMethod], ...] = (BayesianNetwork, Copula, Distribution, Trees)
"""The methods of this package, for recipes."""

__all__ = ["METHODS", "BayesianNetwork", "Copula", "Distribution", "Trees"]
