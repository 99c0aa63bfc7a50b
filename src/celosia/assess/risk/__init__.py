"""Re-identification risk: of classes, tables, attackers, records and sets of columns."""

from celosia.assess.risk.attackers import (
    AttackerRisk,
    AttackerRisks,
    attacker_risks,
    expected_risk,
)
from celosia.assess.risk.detection import Finding, detect
from celosia.assess.risk.individual import IndividualRisk, individual_risk
from celosia.assess.risk.profile import THRESHOLD, RiskProfile, measure
from celosia.assess.risk.subsets import ColumnRisks, SubsetRisk, column_risks, suda_weight
from celosia.assess.risk.uniqueness import (
    PopulationUniqueness,
    population_unique_share,
    population_uniques,
)

__all__ = [
    "THRESHOLD",
    "AttackerRisk",
    "AttackerRisks",
    "ColumnRisks",
    "Finding",
    "IndividualRisk",
    "PopulationUniqueness",
    "RiskProfile",
    "SubsetRisk",
    "attacker_risks",
    "column_risks",
    "detect",
    "expected_risk",
    "individual_risk",
    "measure",
    "population_unique_share",
    "population_uniques",
    "suda_weight",
]
