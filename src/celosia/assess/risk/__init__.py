"""Re-identification risk: of classes, tables, attackers, records and sets of columns.

Each part is loaded when it is used.
"""

from typing import TYPE_CHECKING

from celosia.assess.risk.suda import SudaScores, suda  # its module has the same name
from celosia.core.lazy_imports import on_first_use

if TYPE_CHECKING:
    from celosia.assess.risk.attackers import (
        AttackerRisk,
        AttackerRisks,
        attacker_risks,
        expected_risk,
    )
    from celosia.assess.risk.attribute import AttributeRisk, attribute_risk
    from celosia.assess.risk.detection import detect
    from celosia.assess.risk.finding import Finding
    from celosia.assess.risk.individual import IndividualRisk, individual_risk
    from celosia.assess.risk.log_linear import LogLinearRisk, log_linear_risk
    from celosia.assess.risk.profile import THRESHOLD, RiskProfile, measure, separation
    from celosia.assess.risk.records import RecordRisks, record_risks
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
    "AttributeRisk",
    "ColumnRisks",
    "Finding",
    "IndividualRisk",
    "LogLinearRisk",
    "PopulationUniqueness",
    "RecordRisks",
    "RiskProfile",
    "SubsetRisk",
    "SudaScores",
    "attacker_risks",
    "attribute_risk",
    "column_risks",
    "detect",
    "expected_risk",
    "individual_risk",
    "log_linear_risk",
    "measure",
    "population_unique_share",
    "population_uniques",
    "record_risks",
    "separation",
    "suda",
    "suda_weight",
]

__getattr__, __dir__ = on_first_use(__name__)
