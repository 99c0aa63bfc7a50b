"""Assess: risk of a table, attacks on it, its utility, and audits of mechanisms.

Each part is loaded when it is used: who publishes a table need not wait for attacks and audits.
"""

from typing import TYPE_CHECKING

from celosia.core.lazy_imports import on_first_use

if TYPE_CHECKING:
    from celosia.assess import attacks, audit, linkage, risk, utility
    from celosia.assess.accounts import (
        MaskedAccount,
        SyntheticAccount,
        masked_account,
        synthetic_account,
    )
    from celosia.assess.meaning import ExactMeaning, Meaning
    from celosia.assess.risk_utility import MapPoint, RiskUtilityMap, risk_utility_map

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


__getattr__, __dir__ = on_first_use(__name__)
