"""Microaggregation: groups of at least k near records, each replaced by what represents it."""

from celosia.tables.masking.method import MaskingMethod
from celosia.tables.masking.microaggregation.joint import JointMicroaggregation
from celosia.tables.masking.microaggregation.multivariate import (
    Mdav,
    PrincipalComponent,
    RefinedMdav,
    VariableMdav,
    mdav_groups,
    principal_groups,
    refined_groups,
    v_mdav_groups,
)
from celosia.tables.masking.microaggregation.ranking import Microaggregation
from celosia.tables.masking.microaggregation.scale import information_loss, standard_scores
from celosia.tables.masking.microaggregation.univariate import fixed_groups, optimal_groups

METHODS: tuple[type[MaskingMethod], ...] = (
    Microaggregation,
    Mdav,
    RefinedMdav,
    VariableMdav,
    PrincipalComponent,
)
"""The methods of this family, for the registry."""

__all__ = [
    "METHODS",
    "JointMicroaggregation",
    "Mdav",
    "Microaggregation",
    "PrincipalComponent",
    "RefinedMdav",
    "VariableMdav",
    "fixed_groups",
    "information_loss",
    "mdav_groups",
    "optimal_groups",
    "principal_groups",
    "refined_groups",
    "standard_scores",
    "v_mdav_groups",
]
