"""The policy of a database: its tables, the unit of protection, and the budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celosia.core.lazy_imports import on_first_use

if TYPE_CHECKING:
    from celosia.accounting.amounts import Spending
    from celosia.queries.policy.checks import check_policy
    from celosia.queries.policy.database import check_against_database, database_url, policy_type
    from celosia.queries.policy.reader import load_policy, policy_from_table, read_policy
    from celosia.queries.policy.values import (
        ColumnPolicy,
        ColumnType,
        Database,
        Policy,
        TablePolicy,
        Unit,
        policy_facts,
        policy_hash,
    )
    from celosia.queries.policy.writer import draft_policy, policy_text

__all__ = [
    "ColumnPolicy",
    "ColumnType",
    "Database",
    "Policy",
    "Spending",
    "TablePolicy",
    "Unit",
    "check_against_database",
    "check_policy",
    "database_url",
    "draft_policy",
    "load_policy",
    "policy_facts",
    "policy_from_table",
    "policy_hash",
    "policy_text",
    "policy_type",
    "read_policy",
]

__getattr__, __dir__ = on_first_use(__name__)
