"""Values that provoke engines: counts and sums are the whole numbers that plain Python says."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any

import polars as pl
import pytest
from sqlglot import exp
from tests.queries.emission.shop import tree
from tests.queries.engines.places import Place

from celosia.accounting.amounts import Spending
from celosia.core.errors import QueryRefused
from celosia.queries.algebra import (
    Aggregate,
    DerivedTable,
    Filter,
    Key,
    NamedExpression,
    Question,
    Scan,
    UnionAll,
)
from celosia.queries.emission import (
    FixedPoint,
    Target,
    count_query,
    grouped_query,
    people_by_key_query,
)
from celosia.queries.emission.relations import write_expression
from celosia.queries.policy.values import ColumnPolicy, Policy, TablePolicy
from celosia.queries.sql.conditions import make_total

TABLE = "Odd `Table"
COLUMNS = (
    ("i", "integer"),
    ("n", "number"),
    ("m", "number"),
    ("x", "text"),
    ("b", "boolean"),
    ("d", "date"),
    ("t", "timestamp"),
    ("Order By", "integer"),
)
POLICY = Policy(
    name="odd",
    tables=(
        TablePolicy(
            name=TABLE,
            columns=tuple(ColumnPolicy(name=name, type=kind) for name, kind in COLUMNS),  # type: ignore[arg-type]
        ),
    ),
    budget=Spending(epsilon=Fraction(1)),
)
SCAN = Scan(TABLE, "o")
CENTS = FixedPoint(lower=Fraction(-1000), upper=Fraction(1000), step=Fraction(1, 100))
LARGE = FixedPoint(lower=Fraction(-(2**62)), upper=Fraction(2**62))
TEXTS = [
    *("", " ", "a", "A", "ä", "a'b", 'a"b', "a\\b", "a\\", "a\nb", "a\tb", "${env:HOME}", "%"),
    *("_", "NULL", "null", "`", "--", "ﬁ", "\U0001f600", "a\u0301", ":x", "?", "$1", "{{x}}"),
]
MOMENTS = [
    dt.datetime(2024, 2, 29, 23, 59, 59, 999999),
    dt.datetime(2024, 3, 31, 2, 30),  # an hour that Europe's clocks leave out
    dt.datetime(1969, 12, 31, 23, 0),
    dt.datetime(1900, 1, 1),
    dt.datetime(2024, 12, 30, 1),  # of the first week of 2025
    dt.datetime(1, 1, 1),
    dt.datetime(9999, 12, 30),
]


def of(text: str) -> exp.Expression:
    return make_total(tree(text))


def asked(place: Place, **expressions: str | tuple[str, FixedPoint]) -> dict[str, int]:
    """The sum of each number, and the rows that meet each condition (names with `where`)."""
    aggregates, fixed = [], {}
    for name, written in expressions.items():
        text, grid = written if isinstance(written, tuple) else (written, CENTS)
        if name.startswith("where"):
            aggregates.append(Aggregate("count", name, of(f"CASE WHEN {text} THEN 1 END")))
        else:
            aggregates.append(Aggregate("sum", name, of(text)))
            fixed[name] = grid
    question = Question(SCAN, tuple(aggregates))
    [found] = place.ask(grouped_query(question, target=place.target(POLICY), fixed=fixed))
    assert {type(each) for each in found} == {int}
    return dict(zip(expressions, found, strict=True))


def steps(values: Sequence[Any], fixed: FixedPoint = CENTS) -> int:
    """The sum as a policy promises it: NULL and NaN left out, the rest clipped and rounded."""
    made = 0
    for value in values:
        if value is None or (isinstance(value, float) and math.isnan(value)):
            continue
        if isinstance(value, float) and math.isinf(value):
            made += fixed.high if value > 0 else fixed.low
            continue
        number = Fraction(repr(value) if isinstance(value, float) else value) / fixed.step
        nearest = math.floor(abs(number) + Fraction(1, 2)) * (1 if number >= 0 else -1)
        made += min(max(nearest, fixed.low), fixed.high)
    return made


def test_nulls_nans_and_infinities_are_left_out_or_clipped(place: Place) -> None:
    values = [None, 0.0, -0.0, -0.5, 1e308, -1e308, 5e-324, math.inf, -math.inf, math.nan, 12.34]
    place.open({TABLE: [{"n": value} for value in values]}, POLICY)
    found = asked(
        place,
        plain="o.n",
        gone="o.n - o.n",
        cubed="o.n * o.n * o.n",
        where_large="o.n > 1000",
        where_same="o.n = o.n",
        where_missing="o.n IS NULL",
        where_zero="o.n = 0",
    )
    assert found == {
        "plain": steps(values),
        "gone": 0,  # what is no number is left out
        "cubed": steps([-0.125, math.inf, -math.inf, math.inf, -math.inf, 12.34**3]),
        "where_large": 3,  # NaN is above all numbers, as all three say
        "where_same": len(values) - 1,
        "where_missing": 1,
        "where_zero": 2,
    }


def test_whole_numbers_beyond_64_bits_are_added_up_in_full(place: Place) -> None:
    values = [2**63 - 1, 2**63 - 1, -(2**63), 2**61, 5, None, -7] + [2**62] * 20
    place.open({TABLE: [{"i": value} for value in values]}, POLICY)
    found = asked(
        place,
        plain=("o.i", LARGE),
        doubled=("o.i + o.i", LARGE),
        where_turned="o.i // -1 IS NULL",
        where_size="ABS(o.i) IS NULL",
        where_narrow="CAST(o.i AS SMALLINT) IS NULL",
        # An engine that computes once what stands twice must not do so before TRY.
        where_twice="o.i * o.i + o.i * o.i > 60 AND (o.i + o.i) * 2 > o.i + o.i - 10000",
    )
    # What leaves 64 bits on the way is wide in PostgreSQL and NULL elsewhere; it never wraps.
    doubles = [2 * each for each in values if each is not None]
    is_wide = place.kind == "postgres"
    kept = doubles if is_wide else [each for each in doubles if abs(each) < 2**63]
    assert steps(values, LARGE) > 2**63
    assert found == {
        "plain": steps(values, LARGE),
        "doubled": steps(kept, LARGE),
        "where_turned": 1 if is_wide else 2,
        "where_size": 1 if is_wide else 2,
        "where_narrow": len(values) - 2,
        "where_twice": 24 if is_wide else 1,
    }


def test_decimals_are_exact(place: Place) -> None:
    written = ["0.01", "90071992547409.93", "-1.15", "1.15", None]
    prices = [None if each is None else Decimal(each) for each in written]
    types = {"n": pl.Decimal(18, 2), "m": pl.Decimal(4, 2)}
    rows = [{"n": each, "m": Decimal("0.90")} for each in prices]
    place.open({TABLE: rows}, POLICY, **types)
    found = asked(
        place,
        plain="o.n",
        times="o.m * 10",
        where_equal="o.n = 1.15",
        where_part="o.n * (1 - o.m) = 0.115",
    )
    assert found == {"plain": steps(prices), "times": 4500, "where_equal": 1, "where_part": 1}
    # Twenty places of a product, none of which is rounded away.
    small = Decimal("0.0000000001")
    long = pl.Decimal(20, 10)
    place.open({TABLE: [{"n": small, "m": small}]}, POLICY, n=long, m=long)
    assert asked(place, where_small="o.n * o.m > 0") == {"where_small": 1}


def test_neither_order_nor_cutting_of_rows_matters(place: Place) -> None:
    random = Random(11)
    values = [random.choice([0.1, 0.2, 0.30000000000000004, 1e-9, 123.456]) for _ in range(200)]
    found = []
    for _ in range(2):
        random.shuffle(values)
        place.open({TABLE: [{"n": value, "x": "k"} for value in values]}, POLICY)
        found.append(asked(place, plain="o.n"))
    assert found == [{"plain": steps(values)}] * 2


def test_division_by_zero_is_null(place: Place) -> None:
    wanted: dict[str, Callable[[int], float | None]] = {
        "1 / o.i": lambda i: None if i == 0 else 1 / i,
        "7 // o.i": lambda i: None if i == 0 else math.trunc(7 / i),
        "o.i // 2": lambda i: math.trunc(i / 2),
        "7 % o.i": lambda i: None if i == 0 else int(math.fmod(7, i)),
        "o.i / 4 + CEIL(o.i / 4) - FLOOR(o.i / 4)": lambda i: i / 4 + (i % 4 != 0),
        "ROUND(o.i / 2) - ABS(o.i)": lambda i: math.copysign((abs(i) + 1) // 2, i) - abs(i),
    }
    values = [-3, -2, 0, 1, 2, 5, 7]
    place.open({TABLE: [{"i": value} for value in values]}, POLICY)
    found = asked(place, **{f"v{number}": text for number, text in enumerate(wanted)})
    expected = [steps([rule(each) for each in values]) for rule in wanted.values()]
    assert dict(zip(wanted, found.values(), strict=True)) == dict(
        zip(wanted, expected, strict=True)
    )


def test_a_cast_that_cannot_be_is_null(place: Place) -> None:
    texts = ["12", " -3 ", "2.6", "abc", "", "1e2", "9" * 30, "true", "No", "x5", "5x", None, "1d"]
    place.open({TABLE: [{"x": each} for each in texts]}, POLICY)
    found = asked(
        place,
        whole="CAST(o.x AS INT)",
        real="CAST(o.x AS DOUBLE)",
        short="CAST(o.x AS DECIMAL(4, 1))",
        where_true="CAST(o.x AS BOOLEAN)",
        where_false="NOT CAST(o.x AS BOOLEAN)",
    )
    assert found == {
        "whole": steps([12, -3, 3, 100]),
        "real": steps([12, -3, 2.6, 100, math.inf]),
        "short": steps([12, -3, 2.6, 100]),
        "where_true": 1,
        "where_false": 1,
    }


def test_texts_are_told_apart_letter_by_letter(place: Place) -> None:
    numbered = list(enumerate(TEXTS, 1))
    rows = [{"x": each} for number, each in numbered for _ in range(number)]
    place.open({TABLE: rows}, POLICY)
    question = Question(SCAN, (Aggregate("rows", "c"),), (Key("k", tree("o.x")),))
    query = grouped_query(question, target=place.target(POLICY), group_keys=[TEXTS])
    assert place.ask(query) == [(each, number) for number, each in numbered]
    found = asked(
        place,
        where_like="o.x LIKE 'a_b'",
        where_inside="STRPOS(o.x, '${env') > 0",
        where_short="LENGTH(o.x) = 1",
    )
    assert found == {
        "where_like": sum(number for number, each in numbered if re.fullmatch("(?s)a.b", each)),
        "where_inside": 1 + TEXTS.index("${env:HOME}"),
        "where_short": sum(number for number, each in numbered if len(each) == 1),
    }


def test_patterns_mean_the_same_and_take_no_power_of_the_time(place: Place) -> None:
    # Of the last text each `a` could be tried from each letter: some 10^15 ways.
    texts = ["ab", "xayb", "ba", "a.b", "a(b)c", "AxB", "b", "a\nb\nc", "a%b", "a$b^c", "a" * 3000]
    patterns = ["%a%b", "a%b%", "%a%b%", "a%b", "%(%)%", "%a%a%a%a%a%b", "%$%^%", "%.%b", "x%a%y%b"]
    place.open({TABLE: [{"x": each} for each in [*texts, None]]}, POLICY)
    found = asked(
        place,
        **{f"where_{number}": f"o.x LIKE '{each}'" for number, each in enumerate(patterns)},
        where_any_case="LOWER(o.x) LIKE LOWER('%A%B')",
        where_not="NOT o.x LIKE '%a%b'",
    )
    forms = [".*".join(map(re.escape, each.split("%"))) for each in patterns]
    matching = [
        sum(re.fullmatch(form, each, re.DOTALL) is not None for each in texts[:-1])
        for form in forms
    ]
    assert [found[f"where_{number}"] for number, _ in enumerate(patterns)] == matching
    assert found["where_any_case"] == matching[0] + 1
    assert found["where_not"] == len(texts) - matching[0]


def test_blanks_are_trimmed_as_questions_are_read(place: Place) -> None:
    place.open({TABLE: [{"x": each + "a "} for each in (" ", "\u00a0", "\u3000", "\t")]}, POLICY)
    found = asked(place, where_both="TRIM(o.x) = 'a'", where_left="LTRIM(o.x) = 'a '")
    kept = 1 if place.kind == "postgres" else 3  # whose own SQL is asked
    assert found == {"where_both": kept, "where_left": kept}


def test_a_text_of_a_fraction_is_refused_on_spark() -> None:
    target = Target(policy=POLICY, dialect="spark")
    for text in ("CAST(o.n AS TEXT)", "CAST(o.i / 2 AS TEXT) LIKE '1%'"):
        with pytest.raises(QueryRefused) as caught:
            write_expression(of(text), SCAN, target=target)
        assert caught.value.code == "CEL-Q127"
    for text in ("CAST(o.i AS TEXT)", "CAST(o.i + 1 AS TEXT)", "CAST(LENGTH(o.x) AS TEXT)"):
        write_expression(of(text), SCAN, target=target)


def test_moments_beyond_all_calendars_fail_nowhere(place: Place) -> None:
    place.open_far(TABLE, POLICY)
    # Each is so of the one near row; what is far may count or not.
    tests = [
        *("EXTRACT(YEAR FROM o.d) = 2024", "EXTRACT(DOW FROM o.t) = 1", "o.d <= o.t", "o.t = o.d"),
        *("o.d BETWEEN o.t AND o.t", "o.d IN (o.t)", "COALESCE(o.d, o.t) = o.t"),
        *("GREATEST(o.t, o.d) = o.d", "CASE WHEN o.i = 0 THEN o.t ELSE o.d END = o.d"),
        *("DATE_TRUNC('year', o.d) <= o.t", "DATE_TRUNC('week', o.t) <= o.t"),
        *("o.d + 10000 > o.d", "o.d - 10000 < o.d", "o.d - DATE '2024-01-01' = 0"),
        *("o.d + INTERVAL '10000' DAY > o.t", "o.t - INTERVAL '4000' YEAR < o.d"),
        *("CAST(o.d AS TIMESTAMP) = o.t", "CAST(o.t AS DATE) = o.d", "NULLIF(o.d, o.t) IS NULL"),
    ]
    found = asked(place, **{f"where_{number}": f"TRY({each})" for number, each in enumerate(tests)})
    assert [text for text, rows in zip(tests, found.values(), strict=True) if rows < 1] == []
    near = [dt.date(2024, 1, 1), dt.datetime(2024, 1, 1)]
    for word, first in zip(("o.d", "o.t"), near, strict=True):
        question = Question(SCAN, (Aggregate("rows", "n"),), (Key("k", tree(word)),))
        rows = place.ask(people_by_key_query(question, None, groups=1, target=place.target(POLICY)))
        assert (first, 1) in rows
        assert place.kind == "duckdb" or len(rows) == 1
    parts = tuple(
        DerivedTable(SCAN, alias, (NamedExpression("k", tree(word)),))
        for alias, word in (("p", "o.d"), ("q", "o.t"))
    )
    both = count_query(UnionAll(parts, "s"), target=place.target(POLICY), argument=tree("s.k"))
    [(number,)] = place.ask(both)
    assert 2 <= number <= 6


def test_moments_have_no_zone(place: Place) -> None:
    rows: list[dict[str, Any]] = [{"t": each, "d": each.date()} for each in MOMENTS]
    place.open({TABLE: [*rows, {}]}, POLICY)
    parts: dict[str, Callable[[dt.datetime], int]] = {
        "HOUR": lambda each: each.hour,
        "MINUTE": lambda each: each.minute,
        "DAY": lambda each: each.day,
        "YEAR": lambda each: each.year,
        "WEEK": lambda each: each.isocalendar().week,
        "DOW": lambda each: each.isoweekday() % 7,
        "ISODOW": lambda each: each.isoweekday(),
        "DOY": lambda each: each.timetuple().tm_yday,
        "QUARTER": lambda each: (each.month + 2) // 3,
    }
    wide = FixedPoint(lower=Fraction(0), upper=Fraction(10**13))
    large = 10**9  # beyond 32 bits, which parts of moments have in Spark
    found = asked(
        place,
        **{part: (f"{large} * EXTRACT({part} FROM o.t)", wide) for part in parts},
        days=("o.d - DATE '2024-01-01'", LARGE),
        where_week="DATE_TRUNC('week', o.t) = DATE '2024-12-30'",
        where_later="o.t >= DATE '2024-03-31'",
        where_day="CAST(o.t AS DATE) = o.d",
        where_before="o.d - INTERVAL '1' MONTH < o.t",
        where_next="o.d + 1 > o.t",
    )
    assert found == {
        **{part: large * sum(map(value, MOMENTS)) for part, value in parts.items()},
        "days": sum((each - dt.datetime(2024, 1, 1)).days for each in MOMENTS),
        "where_week": 1,
        "where_later": 3,
        "where_day": len(MOMENTS),
        "where_before": len(MOMENTS),
        "where_next": len(MOMENTS),
    }


def test_an_empty_table_is_zero(place: Place) -> None:
    place.open({TABLE: []}, POLICY)
    assert asked(place, plain="o.n", where="o.i > 0") == {"plain": 0, "where": 0}
    counts = (Aggregate("rows", "c"), Aggregate("distinct", "e", tree("o.i")))
    question = Question(SCAN, counts, (Key("k", tree("o.x")),))
    query = grouped_query(question, target=place.target(POLICY), group_keys=[["a", "b"]])
    assert place.ask(query) == [("a", 0, 0), ("b", 0, 0)]


def test_fractions_may_be_keys_as_the_texts_they_were_found_as(place: Place) -> None:
    place.open({TABLE: [{"n": each} for each in (0.1, 0.1, 2.0, math.nan)]}, POLICY)
    question = Question(SCAN, (Aggregate("rows", "c"),), (Key("k", tree("o.n")),))
    known = [["0.1", "0.10000000000000002", "2.0", "nan"]]
    found = place.ask(grouped_query(question, target=place.target(POLICY), group_keys=known))
    assert [number for _, number in found] == [2, 0, 1, 1]


def test_names_may_be_anything(place: Place) -> None:
    engine = place.open({TABLE: [{"Order By": 3}, {"Order By": 4}]}, POLICY)
    assert asked(place, plain='o."Order By" + 1') == {"plain": 900}
    nowhere = Filter(SCAN, of("o.nothing > 1"))
    assert not engine.understands(count_query(nowhere, target=place.target(POLICY)), timeout=600)
