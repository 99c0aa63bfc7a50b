"""The algebra written back as SQL, node by node, to be run beside the query it came from."""

from __future__ import annotations

from sqlglot import exp

from celosia.queries.algebra import (
    Aggregate,
    DerivedTable,
    Filter,
    GroupedTable,
    Join,
    Keys,
    LeftJoin,
    Question,
    Relation,
    Scan,
    SemiJoin,
    UnionAll,
)

FUNCTIONS = {
    "count": "COUNT({})",
    "distinct": "COUNT(DISTINCT {})",
    "sum": "SUM({})",
    "mean": "AVG({})",
    "variance": "VAR_POP({})",
    "deviation": "STDDEV_POP({})",
    "minimum": "MIN({})",
    "maximum": "MAX({})",
    "covariance": "COVAR_POP({0}, {1})",
    "correlation": "CORR({0}, {1})",
    "slope": "REGR_SLOPE({0}, {1})",
    "intercept": "REGR_INTERCEPT({0}, {1})",
    "determination": "REGR_R2({0}, {1})",
    "first": "FIRST({0} ORDER BY {1}, {0}) FILTER (WHERE {0} IS NOT NULL AND {1} IS NOT NULL)",
    "last": "LAST({0} ORDER BY {1}, {0}) FILTER (WHERE {0} IS NOT NULL AND {1} IS NOT NULL)",
}


def written(question: Question) -> str:
    """A question as SQL of DuckDB."""
    source, conditions = rows(question.source)
    keys = [f"{_sql(key.expression)} AS {_name(key.name)}" for key in question.keys]
    aggregates = [f"{_aggregate(each)} AS {_name(each.name)}" for each in question.aggregates]
    inner = f"SELECT {', '.join(keys + aggregates)} FROM {source}{_where(conditions)}"
    if question.keys:
        inner += " GROUP BY " + ", ".join(str(place + 1) for place in range(len(keys)))
    steps = question.post_processing
    having = steps.having
    for each in steps.computed:
        if having is not None and each.expression.find(exp.Window):
            inner = f"SELECT * FROM ({inner}) AS answers WHERE {_sql(having)}"
            having = None
        inner = f"SELECT *, {_sql(each.expression)} AS {_name(each.name)} FROM ({inner}) AS answers"
    outer = f"SELECT {', '.join(_name(name) for name in steps.columns)} FROM ({inner}) AS answers"
    if having is not None:
        outer += f" WHERE {_sql(having)}"
    if steps.order:
        outer += " ORDER BY " + ", ".join(
            f"{_name(name)} {'DESC' if descending else 'ASC'}" for name, descending in steps.order
        )
    outer = outer if steps.limit is None else f"{outer} LIMIT {steps.limit}"
    return f"{outer} OFFSET {steps.offset}" if steps.offset else outer


def rows(relation: Relation) -> tuple[str, list[str]]:  # noqa: PLR0911 - one for each kind
    """What goes into FROM, and the conditions for WHERE."""
    match relation:
        case Scan(table=table, alias=alias):
            return f"{_name(table)} AS {_name(alias)}", []
        case Filter(source=source, condition=condition):
            inner, conditions = rows(source)
            return inner, [*conditions, _sql(condition)]
        case Join(left=left, right=right, keys=keys, condition=condition):
            (one, first), (other, second) = rows(left), rows(right)
            return f"{one} CROSS JOIN {other}", [*first, *second, *_partners(keys, condition)]
        case LeftJoin(left=left, right=right, keys=keys, condition=condition):
            (one, first), (other, second) = rows(left), rows(right)
            on = " AND ".join(f"({each})" for each in [*second, *_partners(keys, condition)])
            return f"{one} LEFT JOIN {other} ON {on}", first
        case SemiJoin(left=left, right=right, keys=keys, condition=condition, negated=negated):
            (one, first), (other, second) = rows(left), rows(right)
            inner = f"SELECT 1 FROM {other}{_where([*second, *_partners(keys, condition)])}"
            return one, [*first, f"{'NOT ' if negated else ''}EXISTS ({inner})"]
        case DerivedTable(alias=alias):
            return f"({_select(relation)}) AS {_name(alias)}", []
        case GroupedTable(alias=alias):
            return f"({_groups(relation)}) AS {_name(alias)}", []
        case UnionAll(parts=parts, alias=alias):
            return f"({' UNION ALL '.join(map(_select, parts))}) AS {_name(alias)}", []


def _select(part: DerivedTable) -> str:
    source, conditions = rows(part.source)
    shown = ", ".join(f"{_sql(each.expression)} AS {_name(each.name)}" for each in part.columns)
    return f"SELECT {shown} FROM {source}{_where(conditions)}"


def _groups(part: GroupedTable) -> str:
    source, conditions = rows(part.source)
    keys = [f"{_sql(each.expression)} AS {_name(each.name)}" for each in part.keys]
    values = [f"{_aggregate(each)} AS {_name(each.name)}" for each in part.aggregates]
    by = ", ".join(str(place + 1) for place in range(len(keys)))
    text = f"SELECT {', '.join(keys + values)} FROM {source}{_where(conditions)}"
    return f"{text} GROUP BY {by}" if keys else text


def _partners(keys: Keys, condition: exp.Expression | None) -> list[str]:
    equal = [
        " = ".join(f"{_name(side.relation)}.{_name(side.name)}" for side in pair) for pair in keys
    ]
    return equal if condition is None else [*equal, _sql(condition)]


def _where(conditions: list[str]) -> str:
    return f" WHERE {' AND '.join(f'({each})' for each in conditions)}" if conditions else ""


def _aggregate(each: Aggregate) -> str:
    if each.kind == "rows":
        return "COUNT(*)"
    assert each.argument is not None
    if each.kind == "quantile":
        return f"QUANTILE_CONT({_sql(each.argument)}, {each.share})"
    function = FUNCTIONS[each.kind]
    other = each.order or each.second
    return (function.replace("_POP", "_SAMP") if each.sample else function).format(
        _sql(each.argument), "" if other is None else _sql(other)
    )


def _sql(tree: exp.Expression) -> str:
    return tree.sql(dialect="duckdb")


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
