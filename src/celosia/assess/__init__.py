"""Assess: the risk that a table leaves, attacks on it, the use that is left, audits of promises."""

from celosia.assess import attacks, audit, linkage, risk, utility
from celosia.assess.masked import (
    MaskedAccount,
    SyntheticAccount,
    masked_account,
    synthetic_account,
)
from celosia.assess.meaning import Exact, Meaning
from celosia.assess.risk_utility import MapPoint, RiskUtilityMap, risk_utility_map

__all__ = [
    "Exact",
    "MapPoint",
    "MaskedAccount",
    "Meaning",
    "RiskUtilityMap",
    "SyntheticAccount",
    "attacks",
    "audit",
    "linkage",
    "masked_account",
    "risk",
    "risk_utility_map",
    "synthetic_account",
    "utility",
]
