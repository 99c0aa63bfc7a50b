"""The study `traces`: facts about published traces that are provable, or were measured by others.

`traces/noise` has constants of planar Laplace noise and of small maps; `traces/attacks` what few
known points and averaging find in an invented city; `traces/groups` which groups of traces are
alike, and that a tube of traces is not; `traces/audits` audits private statistics and variants of
them that are broken.
"""

from __future__ import annotations

from celosia.lab.study import Part, family

STUDIES = family("traces", Part("noise"), Part("attacks"), Part("groups"), Part("audits"))
"""The whole and its parts."""
