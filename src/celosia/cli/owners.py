"""The privacy unit of a policy, and rows without an owner: exact counts, for the curator only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from celosia.cli import console
from celosia.core.messages import Message, say

if TYPE_CHECKING:
    from celosia.queries.declaration_checks import OwnerCounts
    from celosia.queries.policy import Policy


def describe_unit(policy: Policy) -> str:
    """Describe whom the guarantee of a policy protects."""
    unit = policy.unit
    if policy.graph is not None:
        whom = Message("cli.unit.fact" if unit.is_row else "cli.unit.subject", name=unit.name)
        return say("cli.unit.predicates", whom=whom, relation=policy.relation)
    if unit.is_row:
        whom = Message("cli.unit.row")
    elif unit.columns:
        columns = ", ".join(".".join(each) for each in unit.columns)
        whom = Message("cli.unit.person_by_columns", name=unit.name, columns=columns)
    else:
        whom = Message("cli.unit.person", name=unit.name, table=unit.table, key_column=unit.key)
    return say("cli.unit.tables", whom=whom, relation=policy.relation)


def describe_rule(policy: Policy) -> str:
    """Describe how a policy treats rows without an owner."""
    words = {"leave-out": "cli.owners.left_out", "refuse": "cli.owners.refused"}
    others = [
        say("cli.owners.rule_in", rule=Message(words[table.ownerless]), table=table.name)
        for table in policy.tables
        if table.ownerless not in {None, policy.ownerless}
    ]
    return "; ".join([say(words[policy.ownerless]), *others])


def show(policy: Policy, counts: Sequence[OwnerCounts]) -> None:
    """Show the rows that lead to no person, and those whose person is missing, if there are any."""
    incomplete = [each for each in counts if not each.is_complete]
    if not incomplete:
        return
    unit = policy.unit
    columns = [
        say("cli.column.table"),
        say("cli.column.by"),
        say("cli.column.rows"),
        say("cli.column.lead_no_left_out", name=unit.name),
    ]
    rows = [
        [
            each.table,
            each.column,
            console.number(each.rows, ","),
            _share(each.without_owner, each.rows),
            _share(each.owner_missing, each.rows),
        ]
        for each in incomplete
    ]
    if unit.table is None:  # no table lists the people, so nobody is missing in it
        rows = [row[:-1] for row in rows]
        final = say("cli.owners.rows_lead_no_left_by_columns", name=unit.name)
    else:
        columns.append(say("cli.column.kept_2", table=unit.table))
        final = say("cli.owners.rows_lead_no_left", name=unit.name, table=unit.table)
    title = say("cli.owners.rows_without_owner_private")
    console.show_table(title, columns, rows, numbers=False)
    console.note(final)


def note(policy: Policy, counts: Sequence[OwnerCounts]) -> None:
    """Note the counts beside a refusal."""
    unit = policy.unit
    for each in counts:
        if each.is_complete:
            continue
        facts = {
            "table": each.table,
            "column": each.column,
            "rows": each.rows,
            "share": _share(each.without_owner, each.rows),
            "name": unit.name,
        }
        if unit.table is None:
            console.note(say("cli.owners.rows_lead_no_one_by_columns", **facts))
        else:
            missing = _share(each.owner_missing, each.rows)
            console.note(
                say("cli.owners.rows_lead_no_one", share_2=missing, table_2=unit.table, **facts)
            )


def _share(part: int, whole: int) -> str:
    if not part:
        return "0"
    return f"{console.number(part)} ({console.number(part / whole, '.2%')})"
