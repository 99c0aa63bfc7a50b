"""Attacks on published traces: known points, home and work, averaging, linking two releases."""

from celosia.traces.attacks.home import ByAveraging, ByHome, averaged_homes, home_errors
from celosia.traces.attacks.linkage import ByLinking, link
from celosia.traces.attacks.method import AttackedTraces, TraceAttackMethod
from celosia.traces.attacks.registry import ATTACKS, attack_from_text
from celosia.traces.attacks.result import TraceAttack
from celosia.traces.attacks.unicity import (
    ByKnownPoints,
    ByWorstCells,
    unicity,
    unicity_curve,
    worst_case,
)

__all__ = [
    "ATTACKS",
    "AttackedTraces",
    "ByAveraging",
    "ByHome",
    "ByKnownPoints",
    "ByLinking",
    "ByWorstCells",
    "TraceAttack",
    "TraceAttackMethod",
    "attack_from_text",
    "averaged_homes",
    "home_errors",
    "link",
    "unicity",
    "unicity_curve",
    "worst_case",
]
