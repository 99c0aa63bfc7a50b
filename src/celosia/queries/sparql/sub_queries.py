"""Sub-SELECTs: rows with fewer variables, different rows, or groups with aggregates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlglot import exp

from celosia.queries.algebra import (
    Aggregate,
    Column,
    DerivedTable,
    Filter,
    GroupedTable,
    NamedExpression,
    Relation,
)
from celosia.queries.sparql.outputs import Outputs, has_aggregate
from celosia.queries.sparql.patterns import Variable
from celosia.queries.sparql.refusals import refusal
from celosia.queries.sparql.relations import column_tree
from celosia.queries.sparql.solutions import Solver
from celosia.queries.sparql.stacks import derive_all
from celosia.queries.sparql.trees import part_of
from celosia.queries.sparql.values import (
    OBJECT_WORDS,
    BoundVariable,
    Deferred,
    Solutions,
    TypedValue,
    Value,
)


def read_sub_query(tree: Any, around: Solver) -> Solutions:
    """The rows of a sub-SELECT, with the variables that it shows.

    Raises:
        QueryRefused: CEL-Q247 a limit; all that WHERE, keys and aggregates may be refused for.
    """
    if part_of(tree, "limitoffset") is not None:
        raise refusal("CEL-Q247.sub_select_limit")
    projection = part_of(tree, "projection") or ()
    is_grouped = part_of(tree, "groupby") is not None or any(
        part_of(each, "expr") is not None and has_aggregate(each["expr"]) for each in projection
    )
    is_distinct = str(part_of(tree, "modifier") or "").upper() == "DISTINCT"
    values = part_of(tree, "valuesClause")
    if is_grouped and values is not None:
        raise refusal("CEL-Q260.after_where")
    solver = replace(around, counts_once=is_distinct and not is_grouped)
    solver.names = around.names
    found = solver.solve(tree["where"], values)
    made = _grouped(tree, found, solver) if is_grouped else _shown(projection, found)
    return _different(made, solver) if is_distinct else made


def _shown(projection: Any, found: Solutions) -> Solutions:
    """The same rows: what is not selected is out of sight."""
    if not projection:
        seen = {each: value for each, value in found.scope.items() if not each.is_hidden}
        return replace(found, scope=seen, is_set=False)
    scope: dict[Variable, Value] = {}
    known = dict(found.scope)
    for each in projection:
        name = part_of(each, "var")
        if name is not None:
            if Variable(str(name)) in known:
                scope[Variable(str(name))] = known[Variable(str(name))]
            continue
        variable = Variable(str(each["evar"]))
        if variable in known:
            raise refusal("CEL-Q269", name=variable.name)
        scope[variable] = known[variable] = Deferred(each["expr"], dict(known))
    return replace(found, scope=scope, is_set=False)


def _different(made: Solutions, solver: Solver) -> Solutions:
    """Each list of values once: groups without aggregates."""
    named = derive_all(made, solver)
    derived = named.relation
    assert isinstance(derived, DerivedTable)
    alias = next(solver.names)
    keys = tuple(
        NamedExpression(f"key_{number}", each.expression)
        for number, each in enumerate(derived.columns, start=1)
    )
    groups = GroupedTable(derived.source, alias, keys, key_count=len(keys))
    shown = solver.wording.columns
    for each, key in zip(derived.columns, keys, strict=True):
        shown[Column(alias, key.name)] = shown.get(Column(derived.alias, each.name), each.name)
    columns = tuple(
        replace(each, expression=exp.column(key.name, table=alias, quoted=True))
        for each, key in zip(derived.columns, keys, strict=True)
    )
    return replace(named, relation=replace(derived, source=groups, columns=columns))


def _grouped(tree: Any, found: Solutions, solver: Solver) -> Solutions:
    from celosia.queries.sparql.compiler import read_having  # it reads sub-SELECTs in turn

    outputs = Outputs(found, solver.policy, solver.reading(found.scope), is_inner=True)
    outputs.read(tree)
    kept = read_having(tree, outputs, solver.reader)
    alias = next(solver.names)
    words = {name: f"value_{place}" for place, name in enumerate(outputs.aggregates, start=1)}
    extra: list[NamedExpression] = []
    scope: dict[Variable, Value] = {}
    for place, (name, value) in enumerate(outputs.values.items(), start=1):
        words[name] = f"{place}{_suffix(name, value, solver.described)}"
        column = Column(alias, words[name])
        if isinstance(value, BoundVariable):
            scope[Variable(name)] = BoundVariable(name, (column,), is_nullable=value.is_nullable)
        else:
            kind = value.kind if isinstance(value, TypedValue) else "text"
            scope[Variable(name)] = TypedValue(kind, column_tree(column))
        if words[name].endswith("object") and isinstance(value, BoundVariable):
            extra += [
                NamedExpression(f"{place}{each}", value.column(each)) for each in OBJECT_WORDS
            ]
    aggregates, keys = outputs.parts()
    grouped = GroupedTable(
        found.relation,
        alias,
        (*(NamedExpression(words[key.name], key.expression) for key in keys), *extra),
        tuple(
            Aggregate(each.kind, words[each.name], each.argument, each.share, label=each.label)
            for each in aggregates
        ),
        key_count=len(keys) + len(extra),
    )

    for name, word in words.items():
        solver.wording.columns[Column(alias, word)] = f"?{name}"
    for each in extra:
        place = int(each.name.rstrip("abcdefghijklmnopqrstuvwxyz")) - 1
        solver.wording.columns[Column(alias, each.name)] = f"?{list(outputs.values)[place]}"

    def inline(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column) or node.table:
            return node
        if node.name in outputs.computed:
            return exp.Paren(this=outputs.computed[node.name].copy().transform(inline))
        return exp.column(words[node.name], table=alias, quoted=True)

    def inlined(tree_of: exp.Expression) -> exp.Expression:
        done = tree_of.transform(inline)
        assert isinstance(done, exp.Expression)
        return done

    relation: Relation = grouped if kept is None else Filter(grouped, inlined(kept))
    for name in (*outputs.aggregates, *outputs.computed):
        scope[Variable(name)] = TypedValue("number", inlined(exp.column(name, quoted=True)))
    shown = {Variable(name): scope[Variable(name)] for name in outputs.shown}
    return Solutions(relation, shown, is_set=False)


def _suffix(name: str, value: Value, described: frozenset[str]) -> str:
    """The end of a column's name, which tells what is known of the term in it."""
    if not isinstance(value, BoundVariable):
        return "key"
    if value.facts is not None and name in described:
        return "object"
    return "subject" if value.is_resource else "term"
