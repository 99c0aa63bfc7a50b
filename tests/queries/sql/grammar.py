"""Random queries of the supported grammar, as texts.

A scope is a mapping from aliases to tables; expressions of a kind draw from columns of that kind.
No divisor may be zero, because DuckDB says infinity where the compiled question says NULL.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hypothesis import strategies as st
from tests.queries.sql.shop import COLUMNS

Draw = Callable[..., object]
Scope = Mapping[str, Mapping[str, str]]

LITERALS = {
    "number": ["0", "1", "2", "2.5", "-1", "7"],
    "text": ["'open'", "'north'", "''", "'A'", "'it''s'"],
    "date": ["DATE '2020-01-01'", "'2020-02-29'", "DATE '1990-06-15'"],
    "boolean": ["TRUE", "FALSE"],
}


@st.composite
def queries(draw: st.DrawFn) -> str:
    """A query, from one table to sub-queries, joins and matches."""
    source, scope, conditions = draw(sources())
    conditions += draw(st.lists(booleans(scope), max_size=2))
    conditions += draw(st.lists(matches(scope), max_size=1))
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    keys = draw(st.lists(keys_of(scope), max_size=2, unique=True))
    asked = draw(st.lists(aggregates(scope), min_size=1, max_size=3))
    shown = [f"{key} AS k{place}" for place, key in enumerate(keys)]
    shown += [f"{each} AS a{place}" for place, each in enumerate(asked)]
    head = draw(st.permutations(shown))
    group = f" GROUP BY {', '.join(keys)}" if keys else ""
    having = draw(
        st.sampled_from(["", f" HAVING {asked[0]} > 1", " HAVING COUNT(*) BETWEEN 1 AND 3"])
    )
    order = " ORDER BY " + ", ".join(str(place + 1) for place in range(len(head)))
    limit = draw(st.sampled_from(["", " LIMIT 2"]))
    return f"SELECT {', '.join(head)} FROM {source}{where}{group}{having}{order}{limit}"


@st.composite
def sources(draw: st.DrawFn) -> tuple[str, Scope, list[str]]:
    """FROM: one to three relations, joined by ON, by commas with WHERE, or by USING."""
    joins = [
        ("customer", "orders", "custkey", "custkey"),
        ("orders", "orders", "custkey", "custkey"),
        ("orders", "orders", "placed", "placed"),
        ("customer", "nation", "region", "region"),
        ("customer", "customer", "born", "born"),
    ]
    if draw(st.booleans()):
        table = draw(st.sampled_from(sorted(COLUMNS)))
        text, columns = draw(relations(table, "t"))
        return text, {"t": columns}, []
    left, right, one, other = draw(st.sampled_from(joins))
    (first, mine), (second, others) = draw(relations(left, "l")), draw(relations(right, "r"))
    scope = {"l": mine, "r": others}
    tie = f"l.{one} = r.{other}"
    extra = draw(st.lists(booleans(scope), max_size=1))
    way = draw(st.sampled_from(["on", "comma", "using"]))
    if way == "using" and one == other:
        return f"{first} JOIN {second} USING ({one})", scope, extra
    if way == "comma":
        return f"{first}, {second}", scope, [*extra, tie]
    text = f"{first} JOIN {second} ON {' AND '.join([tie, *extra])}"
    if left == "customer" and right == "orders" and draw(st.booleans()):
        text += " JOIN nation AS n ON n.region = l.region"
        return text, {**scope, "n": COLUMNS["nation"]}, []
    return text, scope, []


@st.composite
def relations(draw: st.DrawFn, table: str, alias: str) -> tuple[str, Mapping[str, str]]:
    """A table, a sub-query over it, or two of them with UNION ALL."""
    columns = COLUMNS[table]
    way = draw(st.sampled_from(["table", "table", "rows", "stack"]))
    if way == "table":
        return f"{table} AS {alias}", columns
    parts = [draw(selects(table, alias)) for _ in range(2 if way == "stack" else 1)]
    return f"({' UNION ALL '.join(parts)}) AS {alias}", {**columns, "extra": "number"}


@st.composite
def selects(draw: st.DrawFn, table: str, alias: str) -> str:
    """Rows of a table with a computed column."""
    scope = {"s": COLUMNS[table]}
    names = ", ".join(f"s.{name}" for name in COLUMNS[table])
    where = draw(booleans(scope))
    return f"SELECT {names}, {draw(numbers(scope))} AS extra FROM {table} AS s WHERE {where}"


def columns_of(scope: Scope, *kinds: str) -> list[str]:
    return [
        f"{alias}.{name}"
        for alias, columns in scope.items()
        for name, kind in columns.items()
        if kind in kinds
    ]


@st.composite
def numbers(draw: st.DrawFn, scope: Scope) -> str:
    leaves = columns_of(scope, "integer", "number") or LITERALS["number"]
    one = draw(st.sampled_from(leaves))
    other = draw(st.sampled_from([*leaves, *LITERALS["number"]]))
    forms = [
        "{a}",
        "({a} + {b}) * 2",
        "{a} - ({b} - 1)",
        "{a} / 4",
        "-({a})",
        "abs({a})",
        "coalesce({a}, 3)",
        "nullif({a}, {b})",
        "greatest({a}, {b})",
        "CASE WHEN {a} > {b} THEN {a} ELSE 0 END",
        "round({a} / 2)",
        "CAST({a} AS BIGINT) % 3",
    ]
    return draw(st.sampled_from(forms)).format(a=one, b=other)


@st.composite
def booleans(draw: st.DrawFn, scope: Scope) -> str:
    kind = draw(st.sampled_from(["number", "text", "date", "both", "truth"]))
    if kind == "both":
        word, one = draw(st.sampled_from([("AND", 1), ("OR", 2)]))
        left, right = draw(booleans(scope)), draw(booleans(scope))
        return f"{'NOT ' if one == 1 else ''}({left} {word} {right})"
    if kind == "text" and (texts := columns_of(scope, "text")):
        forms = [
            "{a} = {b}",
            "lower({a}) LIKE '%o%'",
            "{a} NOT LIKE '_or%'",
            "length({a}) > 3",
            "upper(substring({a}, 1, 2)) <> {b}",
            "{a} IN ('open', 'north', NULL)",
            "{a} IS NULL",
            "concat({a}, '!') <= {b}",
            "{a} || 'x' > {b}",
            "trim({a}) = {b}",
            "TRY_CAST({a} AS INTEGER) IS NULL",
        ]
        other = draw(st.sampled_from([*texts, *LITERALS["text"]]))
        return draw(st.sampled_from(forms)).format(a=draw(st.sampled_from(texts)), b=other)
    if kind == "date" and (dates := columns_of(scope, "date")):
        forms = [
            "{a} >= {b}",
            "EXTRACT(year FROM {a}) = 2020",
            "month({a}) < 6",
            "date_trunc('month', {a}) = DATE '2020-01-01'",
            "{a} + INTERVAL '1' MONTH > {b}",
            "{a} - 7 < DATE '2020-01-01'",
            "{a} BETWEEN '1990-01-01' AND {b}",
        ]
        other = draw(st.sampled_from([*dates, *LITERALS["date"]]))
        return draw(st.sampled_from(forms)).format(a=draw(st.sampled_from(dates)), b=other)
    if kind == "truth" and (truths := columns_of(scope, "boolean")):
        form = draw(
            st.sampled_from(["{a}", "NOT {a}", "{a} IS TRUE", "{a} = FALSE", "{a} IS NOT NULL"])
        )
        return form.format(a=draw(st.sampled_from(truths)))
    left, right = draw(numbers(scope)), draw(numbers(scope))
    forms = ["{a} < {b}", "{a} <> {b}", "{a} >= 1", "{a} NOT BETWEEN 1 AND 3", "{a} IN (1, 2, 5)"]
    forms += ["{a} IS DISTINCT FROM {b}", "NOT {a} = {b}", "({a} > 1) = ({b} > 1)"]
    return draw(st.sampled_from(forms)).format(a=left, b=right)


@st.composite
def matches(draw: st.DrawFn, scope: Scope) -> str:
    """A condition with a sub-query, tied by the keys of customers."""
    outer = next((f"{alias}.custkey" for alias in scope if "custkey" in scope[alias]), None)
    if outer is None:
        return "TRUE"
    inner = draw(booleans({"m": COLUMNS["orders"]}))
    tie = draw(st.sampled_from(["", " AND m.price > 1"]))
    word = draw(st.sampled_from(["", "NOT "]))
    forms = [
        f"{word}EXISTS (SELECT 1 FROM orders AS m WHERE m.custkey = {outer} AND {inner}{tie})",
        f"{outer} IN (SELECT custkey FROM orders AS m WHERE {inner}{tie})",
        f"({outer} IS NOT NULL AND {outer} NOT IN "
        f"(SELECT m.custkey FROM orders AS m WHERE m.custkey IS NOT NULL AND {inner}))",
    ]
    return draw(st.sampled_from(forms))


@st.composite
def keys_of(draw: st.DrawFn, scope: Scope) -> str:
    texts = columns_of(scope, "text", "boolean")
    dates = [f"EXTRACT(year FROM {column})" for column in columns_of(scope, "date")]
    return draw(st.sampled_from([*texts, *dates]))


@st.composite
def aggregates(draw: st.DrawFn, scope: Scope) -> str:
    forms = ["COUNT(*)", "COUNT(1)"]
    if columns := columns_of(scope, "integer", "number"):
        column = draw(st.sampled_from(columns))
        forms += [f"COUNT({column})", f"COUNT(DISTINCT {column})", f"MIN({column})"]
        forms += [f"MEDIAN({column})", f"VAR_POP({column})", f"STDDEV_POP({column})"]
        forms += [f"{word}({draw(numbers(scope))})" for word in ("SUM", "AVG", "MAX")]
    chosen = draw(st.sampled_from(forms))
    return chosen if "." in chosen else draw(st.sampled_from(forms[:2]))
