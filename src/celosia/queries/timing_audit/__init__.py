"""An attack on the time, the failures and the sizes of answers: does any tell of one person?

Two databases differ by one property of one person. Questions that try to make the engine slow, or
to make it fail, because of that person are asked of both, many times, through the three doors:
Python, HTTP and the command line (for a check also with a new process for each question). A
classifier then guesses from status, text, size and time which database gave an answer. Where it
does no better than chance, nothing was told.
"""

from celosia.queries.timing_audit.attacks import ATTACKS, Attack, attacks_named
from celosia.queries.timing_audit.doors import DOORS
from celosia.queries.timing_audit.run import REFUSED_RUNS, Finding, TimingAudit, audit_timing

__all__ = [
    "ATTACKS",
    "DOORS",
    "REFUSED_RUNS",
    "Attack",
    "Finding",
    "TimingAudit",
    "attacks_named",
    "audit_timing",
]
