"""What a policy declares of its columns and predicates, as `celosia policy show` prints it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from celosia.cli import console
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.queries.policy.values import Graph, Policy, TablePolicy


def describe_column(table: Any, column: Any) -> Iterator[str]:
    """Describe the declarations of a column beyond its type."""
    from celosia.accounting.amounts import format_amount

    if column.unique:
        yield say("cli.policy.unique")
    if column.lower is not None and column.upper is not None:
        lower, upper = format_amount(column.lower), format_amount(column.upper)
        if column.grid is None:
            yield say("cli.policy.range", lower=lower, upper=upper)
        else:
            step = format_amount(column.grid)
            yield say("cli.policy.grid", lower=lower, upper=upper, step=step)
    if column.keys is not None:
        yield say("cli.policy.keys", keys=len(column.keys))
    if column.most is not None:
        yield say("cli.policy.most", most=column.most)
    for name, other, key in table.references:
        if name.lower() == column.name.lower():
            yield say("cli.policy.references", table=other, column=key)


def show_graph(policy: Policy, graph: Graph) -> None:
    """Predicates, one a line, in the words of the policy file."""
    rows = []
    for address, name in graph.predicates:
        table = policy.table(name)
        assert table is not None, "each predicate is a table"
        classes = ", ".join(each for each, members in graph.classes if name in members)
        whose = say("cli.word.public") if table.public else classes or say("cli.word.private")
        rows.append([name, address, whose, "; ".join(_describe_predicate(table))])
    console.show_table(
        say("cli.policy.predicates"),
        [
            say("cli.column.name"),
            say("cli.column.address"),
            say("cli.column.class"),
            say("cli.column.declared"),
        ],
        rows,
        numbers=False,
    )


def _describe_predicate(table: TablePolicy) -> Iterator[str]:
    from celosia.accounting.amounts import format_amount

    for column in table.columns:
        if column.most is not None:
            yield say("cli.policy.most_each", most=column.most, name=column.name)
        if column.lower is not None and column.upper is not None:
            lower, upper = format_amount(column.lower), format_amount(column.upper)
            yield say("cli.policy.range", lower=lower, upper=upper)
        if column.keys is not None:
            yield say("cli.policy.predicate_keys", keys=len(column.keys), name=column.name)
