"""Random queries of the supported grammar, as texts.

A scope is a mapping from aliases to tables; expressions of a kind draw from columns of that kind.
No divisor may be zero, because DuckDB says infinity where the compiled question says NULL; and
DuckDB's COUNT_IF of nothing but NULL is NULL, where the compiled question says 0.
"""

from __future__ import annotations

import re
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
    asked = draw(st.lists(outputs(scope), min_size=1, max_size=3))
    shown = [f"{key} AS k{place}" for place, key in enumerate(keys)]
    shown += [f"{each} AS a{place}" for place, each in enumerate(asked)]
    head = draw(st.permutations(shown))
    group = f" GROUP BY {', '.join(keys)}" if keys else ""
    if keys:
        group = draw(st.sampled_from([group, " GROUP BY ALL"]))
    havings = ["", " HAVING a0 > 1", f" HAVING {asked[0]} > 1", " HAVING COUNT(*) BETWEEN 1 AND 3"]
    having = draw(st.sampled_from(havings))
    first = draw(st.sampled_from(["", "a0 DESC, ", f"{asked[0]} * 2 - 1, "]))
    order = f" ORDER BY {first}" + ", ".join(str(place + 1) for place in range(len(head)))
    limit = draw(st.sampled_from(["", " LIMIT 2", " LIMIT 2 OFFSET 1", " OFFSET 1"]))
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
    names = draw(st.sampled_from([names, "s.*", "*"]))
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
        "power({a}, 2) - {b}",
        "CAST({a} > {b} AS INTEGER)",
    ]
    forms += [f"strpos({text}, 'o') + {{a}}" for text in columns_of(scope, "text")[:1]]
    for unit, date in zip(["day", "month", "quarter"], columns_of(scope, "date"), strict=False):
        forms.append(f"date_diff('{unit}', {date}, DATE '2020-02-29')")
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
            "contains({a}, 'o')",
            "ends_with({a}, 'en')",
            "(suffix({a}, 'th') OR prefix({a}, 'o'))",
            "replace({a}, 'o', '') < {b}",
            "{a} ILIKE '%O%'",
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
            "date_part('month', {a}) = 1",
            "monthname({a}) IN ('January', 'June')",
            "dayname({a}) <= 'Monday'",
            "date_add({a}, INTERVAL 1 DAY) <> {b}",
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
def outputs(draw: st.DrawFn, scope: Scope) -> str:
    """An aggregate, one over rows that meet a condition, or what is computed from some."""
    ways = [
        "{a}",
        "{a}",
        "{a} FILTER (WHERE {c})",
        "COALESCE(COUNT_IF({c}), 0) + {b}",
        "COALESCE({a}, 0) + {b} + 1",
    ]
    ways += ["100.0 * {a} / NULLIF({b}, 0)", "ROUND({a} / {b}, 2)", "{a} - {b} FILTER (WHERE {c})"]
    ways += ["CASE WHEN {a} > {b} THEN {a} END"]
    way = draw(st.sampled_from(ways))
    condition = ""
    if "{c}" in way:  # a condition without a column would keep all rows or none, and is refused
        condition = draw(booleans(scope).filter(lambda text: re.search(r"[a-z]\.[a-z]", text)))
    one = draw(aggregates(scope)) if "{a}" in way else "COUNT_IF(*)"
    other = draw(aggregates(scope)) if "{b}" in way else ""
    if other and _word(one) == _word(other):  # numbers of one aggregate alone are refused
        columns = columns_of(scope, "integer", "number")
        if not columns:
            return "COUNT(*)"
        other = f"{'MIN' if _word(one) == 'MAX' else 'MAX'}({columns[0]})"
    return way.format(a=one, b=other, c=condition)


def _word(aggregate: str) -> str:
    """The function of an aggregate; the same for two names of one function."""
    word = aggregate.split("(", maxsplit=1)[0]
    return {"VARIANCE": "VAR_SAMP", "COUNT_IF": "COUNT"}.get(word, word)


@st.composite
def aggregates(draw: st.DrawFn, scope: Scope) -> str:
    columns = columns_of(scope, "integer", "number")
    words = ["COUNT", "COUNT(DISTINCT", "MIN", "MEDIAN", "VAR_POP", "STDDEV_POP", "SUM", "AVG"]
    words += ["MAX", "VAR_SAMP", "STDDEV", "VARIANCE", "COUNT(DISTINCT (", "rows"]
    word = draw(st.sampled_from(words if columns else ["rows"]))
    if word == "rows":
        return draw(st.sampled_from(["COUNT(*)", "COUNT(1)"]))
    column = draw(st.sampled_from(columns))
    if word == "COUNT(DISTINCT (":
        second = draw(st.sampled_from([column, *columns_of(scope, "text", "date", "boolean")]))
        return f"COUNT(DISTINCT ({column}, {second}))"
    has_form = word in ("SUM", "AVG", "MAX", "COUNT(DISTINCT")
    inner = draw(numbers(scope)) if has_form else column
    if "." not in inner.replace("2.5", ""):
        inner = column
    return f"COUNT(DISTINCT {inner})" if word == "COUNT(DISTINCT" else f"{word}({inner})"
