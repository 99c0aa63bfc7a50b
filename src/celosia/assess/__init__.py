"""Assess: risk of a table, attacks on it, its utility, and audits of mechanisms."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from celosia.assess import attacks, linkage, risk, utility
from celosia.assess.accounts import (
    MaskedAccount,
    SyntheticAccount,
    masked_account,
    synthetic_account,
)
from celosia.assess.meaning import ExactMeaning, Meaning
from celosia.assess.risk_utility import MapPoint, RiskUtilityMap, risk_utility_map

if TYPE_CHECKING:
    from celosia.assess import audit

__all__ = [
    "ExactMeaning",
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


def __getattr__(name: str) -> Any:
    # Audits know every mechanism; who publishes or measures a table need not wait for them.
    if name == "audit":
        return import_module("celosia.assess.audit")
    raise AttributeError(f"module 'celosia.assess' has no attribute {name!r}")
