"""Magnitude tables: sums over dimensions, cell suppression with an audit, controlled rounding."""

from celosia.tables.magnitude.audit import CellAudit, Interval, feasible
from celosia.tables.magnitude.protection import ProtectedTable, audit, protect
from celosia.tables.magnitude.rounding import RoundedTable, controlled_rounding
from celosia.tables.magnitude.rules import (
    RULES,
    Dominance,
    MinimumFrequency,
    PPercent,
    PriorPosterior,
    Rule,
    rule_from_text,
)
from celosia.tables.magnitude.table import MagnitudeTable, magnitude_table

__all__ = [
    "RULES",
    "CellAudit",
    "Dominance",
    "Interval",
    "MagnitudeTable",
    "MinimumFrequency",
    "PPercent",
    "PriorPosterior",
    "ProtectedTable",
    "RoundedTable",
    "Rule",
    "audit",
    "controlled_rounding",
    "feasible",
    "magnitude_table",
    "protect",
    "rule_from_text",
]
