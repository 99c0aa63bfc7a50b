"""Risk of re-identification, from class sizes or from a table or file."""

from celosia.assess.risk.measure import measure
from celosia.assess.risk.profile import THRESHOLD, RiskProfile

__all__ = ["THRESHOLD", "RiskProfile", "measure"]
