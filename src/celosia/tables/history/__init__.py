"""A history of releases: which records were in which class of which release, without any value.

`ReleaseHistory` keeps, for each release of one source, keyed fingerprints of its records and of
their people, and the number of the class that each was in. `JointClasses` of all releases are what
an attacker is left with who knows a person and joins the releases perfectly. `joint_models` make
the search find a release that keeps joint classes large.
"""

from celosia.tables.history.joint import JointClasses, JointOutcome, joint_models
from celosia.tables.history.store import Entry, HistoryCheck, ReleaseHistory, StoredRelease

__all__ = [
    "Entry",
    "HistoryCheck",
    "JointClasses",
    "JointOutcome",
    "ReleaseHistory",
    "StoredRelease",
    "joint_models",
]
