"""A ledger of releases: which records were in which class of which release, without any value.

`ReleaseLedger` keeps, for each release of one source, keyed fingerprints of its records and of
their people, and the number of the class that each was in. `JointClasses` of all releases are what
an attacker is left with who knows a person and joins the releases perfectly. `joint_models` make
the search find a release that keeps joint classes large.
"""

from celosia.tables.releases.joint import JointClasses, JointOutcome, joint_models
from celosia.tables.releases.ledger import Entry, LedgerCheck, ReleaseLedger, StoredRelease

__all__ = [
    "Entry",
    "JointClasses",
    "JointOutcome",
    "LedgerCheck",
    "ReleaseLedger",
    "StoredRelease",
    "joint_models",
]
