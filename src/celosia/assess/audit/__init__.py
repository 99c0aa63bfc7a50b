"""Audits: try to disprove the privacy claim of a mechanism from its outputs alone."""

from celosia.assess.audit.bounds import Estimate
from celosia.assess.audit.cases import SHIPPED, Case, audit_all, search
from celosia.assess.audit.pairs import Pair, pairs_for
from celosia.assess.audit.report import document
from celosia.assess.audit.result import Audit, Claim
from celosia.assess.audit.trial import Sampler, audit

__all__ = [
    "SHIPPED",
    "Audit",
    "Case",
    "Claim",
    "Estimate",
    "Pair",
    "Sampler",
    "audit",
    "audit_all",
    "document",
    "pairs_for",
    "search",
]
