"""What may be asked of a database, of whom it speaks, and how much of it may be told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celosia.core.lazy import on_first_use

if TYPE_CHECKING:
    from celosia.queries.policy.checking import check_policy
    from celosia.queries.policy.drafting import draft_policy
    from celosia.queries.policy.hashing import policy_facts, policy_hash
    from celosia.queries.policy.matching import check_against, type_in_policy
    from celosia.queries.policy.places import database_url
    from celosia.queries.policy.problems import Problem
    from celosia.queries.policy.reading import load_policy, policy_from_table, read_policy
    from celosia.queries.policy.values import (
        ColumnPolicy,
        ColumnType,
        Database,
        Policy,
        Spending,
        TablePolicy,
        Unit,
    )
    from celosia.queries.policy.writing import policy_text

__all__ = [
    "ColumnPolicy",
    "ColumnType",
    "Database",
    "Policy",
    "Problem",
    "Spending",
    "TablePolicy",
    "Unit",
    "check_against",
    "check_policy",
    "database_url",
    "draft_policy",
    "load_policy",
    "policy_facts",
    "policy_from_table",
    "policy_hash",
    "policy_text",
    "read_policy",
    "type_in_policy",
]

__getattr__, __dir__ = on_first_use(
    __name__,
    {
        "checking": ("check_policy",),
        "drafting": ("draft_policy",),
        "hashing": ("policy_facts", "policy_hash"),
        "matching": ("check_against", "type_in_policy"),
        "places": ("database_url",),
        "problems": ("Problem",),
        "reading": ("load_policy", "policy_from_table", "read_policy"),
        "values": (
            "ColumnPolicy",
            "ColumnType",
            "Database",
            "Policy",
            "Spending",
            "TablePolicy",
            "Unit",
        ),
        "writing": ("policy_text",),
    },
)
