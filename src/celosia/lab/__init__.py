"""The lab: published results computed again with Celosía, cell by cell.

A study knows the cells that were published, computes them again on the same rows, and says of each
whether the two agree: `find("tables").run()`.
"""

from celosia.lab.findings import Findings, Row
from celosia.lab.registry import find, register, studies
from celosia.lab.report import document
from celosia.lab.study import Study
from celosia.lab.tolerance import EXACT, Cell, Tolerance

__all__ = [
    "EXACT",
    "Cell",
    "Findings",
    "Row",
    "Study",
    "Tolerance",
    "document",
    "find",
    "register",
    "studies",
]
