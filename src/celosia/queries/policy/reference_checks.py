"""Checks of foreign keys: every private row leads to its person, and none leads in a circle."""

from __future__ import annotations

from collections.abc import Iterable
from graphlib import CycleError, TopologicalSorter

from celosia.core.wording import did_you_mean
from celosia.queries.policy.problems import Problems
from celosia.queries.policy.values import ColumnPolicy, Policy, TablePolicy


def check_references(policy: Policy, problems: Problems) -> None:
    """Note references that point nowhere, turn in a circle, or leave a private table unowned."""
    sound = True
    for table in policy.tables:
        for reference in table.references:
            sound = _check_reference(policy, table, reference, problems) and sound
        columns = [column.lower() for column, _, _ in table.references]
        if len(set(columns)) < len(columns):
            sound = False
            problems.add("CEL-Q009.two_targets", table_name=table.name)
    if sound and _check_circles(policy, problems):
        _check_paths(policy, problems)


def _check_reference(
    policy: Policy, table: TablePolicy, reference: tuple[str, str, str], problems: Problems
) -> bool:
    name, target_name, key_name = reference
    target = policy.table(target_name)
    column, key = table.column(name), None if target is None else target.column(key_name)
    fields: dict[str, object] = {}
    if column is None:
        problem = "CEL-Q009.from_unknown_column"
        fields["hint"] = _near(name, table.columns)
    elif target is None:
        problem = "CEL-Q009.to_unknown_table"
        fields["hint"] = _near(target_name, policy.tables)
    elif key is None:
        problem = "CEL-Q009.to_unknown_column"
        fields["hint"] = _near(key_name, target.columns)
    elif not key.unique:
        problem = "CEL-Q009.not_unique"
    elif column.type != key.type:
        problem = "CEL-Q009.other_type"
        fields |= {"type": column.type, "key_type": key.type}
    elif table.public and not target.public:
        problem = "CEL-Q009.public_to_private"
    else:
        return True
    problems.add(problem, table=table.name, column=name, target=target_name, key=key_name, **fields)
    return False


def _near(name: str, known: Iterable[TablePolicy | ColumnPolicy]) -> str:
    return did_you_mean(name, [each.name for each in known])


def _check_circles(policy: Policy, problems: Problems) -> bool:
    graph = {
        table.name.lower(): {target.lower() for _, target, _ in table.references}
        for table in policy.tables
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle = " -> ".join(reversed(error.args[1]))
        problems.add("CEL-Q012", circle=circle)
        return False
    return True


def _check_paths(policy: Policy, problems: Problems) -> None:
    unit = policy.unit
    if unit.table is None or policy.table(unit.table) is None:
        return
    owned = {unit.table.lower()}
    grown = True
    while grown:  # at most once for each table
        more = {
            table.name.lower()
            for table in policy.tables
            if any(target.lower() in owned for _, target, _ in table.references)
        }
        grown = not more <= owned
        owned |= more
    for table in policy.tables:
        if not table.public and table.name.lower() not in owned:
            problems.add(
                "CEL-Q011",
                table_name=table.name,
                table=unit.table,
                unit_name=unit.name,
                key=unit.key,
            )
