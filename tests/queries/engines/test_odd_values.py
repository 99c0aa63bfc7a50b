"""Values that provoke engines: each counts and adds up to the whole number that plain Python says."""

from __future__ import annotations

import datetime as dt
import math
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

from celosia.queries.algebra import Aggregate, Filter, Key, Question, Scan
from celosia.queries.emission import FixedPoint, count_query, grouped_query, sum_query
from celosia.queries.policy.values import ColumnPolicy, Policy, Spending, TablePolicy
from celosia.queries.sql.total import total

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
    return total(tree(text))


def summed(place: Place, text: str, fixed: FixedPoint = CENTS) -> int:
    [(found,)] = place.ask(sum_query(SCAN, of(text), fixed=fixed, target=place.target(POLICY)))
    assert type(found) is int
    return found


def counted(place: Place, condition: str) -> int:
    query = count_query(Filter(SCAN, of(condition)), target=place.target(POLICY))
    [(found,)] = place.ask(query)
    assert type(found) is int
    return found


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
    assert summed(place, "o.n") == steps(values)
    assert counted(place, "o.n > 1000") == 3  # NaN above all numbers, as all three say
    assert counted(place, "o.n = o.n") == len(values) - 1
    assert counted(place, "o.n IS NULL") == 1
    assert counted(place, "o.n = 0") == 2
    # Infinity less itself, and what is no number, is left out; doubles do not fail.
    assert summed(place, "o.n - o.n") == 0
    assert summed(place, "o.n * o.n * o.n") == steps([-0.125, math.inf, -math.inf, 1000, 1e9][:1])


def test_whole_numbers_beyond_64_bits_are_added_up_in_full(place: Place) -> None:
    values = [2**63 - 1, 2**63 - 1, -(2**63), 2**61, 5, None, -7] + [2**62] * 20
    place.open({TABLE: [{"i": value} for value in values]}, POLICY)
    assert summed(place, "o.i", LARGE) == steps(values, LARGE)
    assert summed(place, "o.i", LARGE) > 2**63
    # What leaves 64 bits on the way is wide in PostgreSQL and NULL elsewhere; it never wraps.
    doubled = summed(place, "o.i + o.i", LARGE)
    fits = [2 * each for each in values if each is not None and abs(2 * each) < 2**63]
    wide = [2 * each for each in values if each is not None]
    assert doubled == steps(wide if place.kind == "postgres" else fits, LARGE)
    lost = 0 if place.kind == "postgres" else 1
    assert counted(place, "o.i // -1 IS NULL") == 1 + lost
    assert counted(place, "ABS(o.i) IS NULL") == 1 + lost
    assert counted(place, "CAST(o.i AS SMALLINT) IS NULL") == len(values) - 2


def test_decimals_are_exact(place: Place) -> None:
    prices = [
        Decimal("0.01"),
        Decimal("90071992547409.93"),
        Decimal("-1.15"),
        Decimal("1.15"),
        None,
    ]
    types = {"n": pl.Decimal(18, 2), "m": pl.Decimal(4, 2)}
    rows = [{"n": each, "m": Decimal("0.90")} for each in prices]
    place.open({TABLE: rows}, POLICY, **types)
    assert summed(place, "o.n") == steps(prices)
    assert counted(place, "o.n = 1.15") == 1
    assert counted(place, "o.n * (1 - o.m) = 0.115") == 1
    assert summed(place, "o.m * 10") == 5 * 900


def test_neither_order_nor_cutting_of_rows_matters(place: Place) -> None:
    random = Random(11)
    values = [random.choice([0.1, 0.2, 0.30000000000000004, 1e-9, 123.456]) for _ in range(200)]
    found = set()
    for _ in range(2):
        random.shuffle(values)
        place.open({TABLE: [{"n": value, "x": "k"} for value in values]}, POLICY)
        found.add(summed(place, "o.n"))
    assert found == {steps(values)}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1 / o.i", lambda i: None if i == 0 else 1 / i),
        ("7 // o.i", lambda i: None if i == 0 else math.trunc(7 / i)),
        ("o.i // 2", lambda i: math.trunc(i / 2)),
        ("7 % o.i", lambda i: None if i == 0 else int(math.fmod(7, i))),
        ("o.i / 4 + CEIL(o.i / 4) - FLOOR(o.i / 4)", lambda i: i / 4 + (i % 4 != 0)),
        (
            "ROUND(o.i / 2) * 10 - ABS(o.i)",
            lambda i: 10 * math.copysign((abs(i) + 1) // 2, i) - abs(i),
        ),
    ],
)
def test_division_by_zero_is_null(
    place: Place, text: str, wanted: Callable[[int], float | None]
) -> None:
    values = [-3, -2, 0, 1, 2, 5, 7]
    place.open({TABLE: [{"i": value} for value in values]}, POLICY)
    assert summed(place, text) == steps([wanted(each) for each in values])


def test_a_cast_that_cannot_be_is_null(place: Place) -> None:
    texts = ["12", " -3 ", "2.6", "abc", "", "1e2", "9" * 30, "true", "No", "x5", "5x", None, "1d"]
    place.open({TABLE: [{"x": each} for each in texts]}, POLICY)
    assert summed(place, "CAST(o.x AS INT)") == steps([12, -3, 3, 100])
    assert summed(place, "CAST(o.x AS DOUBLE)") == steps([12, -3, 2.6, 100, math.inf])
    assert summed(place, "CAST(o.x AS DECIMAL(4, 1))") == steps([12, -3, 2.6, 100])
    assert counted(place, "CAST(o.x AS BOOLEAN)") == 1
    assert counted(place, "NOT CAST(o.x AS BOOLEAN)") == 1


def test_texts_are_told_apart_letter_by_letter(place: Place) -> None:
    rows = [{"x": each} for number, each in enumerate(TEXTS, 1) for _ in range(number)]
    place.open({TABLE: rows}, POLICY)
    question = Question(SCAN, (Aggregate("rows", "c"),), (Key("k", tree("o.x")),))
    query = grouped_query(question, target=place.target(POLICY), known=[TEXTS])
    assert place.ask(query) == [(each, number) for number, each in enumerate(TEXTS, 1)]
    assert counted(place, "o.x LIKE 'a_b'") == sum(
        number
        for number, each in enumerate(TEXTS, 1)
        if len(each) == 3 and each[0] + each[2] == "ab"
    )
    assert counted(place, "STRPOS(o.x, '${env') > 0") == 1 + TEXTS.index("${env:HOME}")
    assert counted(place, "LENGTH(o.x) = 1") == sum(
        number for number, each in enumerate(TEXTS, 1) if len(each) == 1
    )


def test_moments_have_no_zone(place: Place) -> None:
    rows: list[dict[str, Any]] = [{"t": each, "d": each.date()} for each in MOMENTS]
    place.open({TABLE: [*rows, {}]}, POLICY)
    parts: dict[str, Callable[[dt.datetime], int]] = {
        "HOUR": lambda each: each.hour,
        "MINUTE": lambda each: each.minute,
        "DAY": lambda each: each.day,
        "YEAR": lambda each: min(each.year, 1000),
        "WEEK": lambda each: each.isocalendar().week,
        "DOW": lambda each: each.isoweekday() % 7,
        "ISODOW": lambda each: each.isoweekday(),
        "DOY": lambda each: each.timetuple().tm_yday,
        "QUARTER": lambda each: (each.month + 2) // 3,
    }
    text = " + ".join(
        f"{10**place_} * EXTRACT({part} FROM o.t)" for place_, part in enumerate(parts)
    )
    weighed = FixedPoint(lower=Fraction(0), upper=Fraction(10**13))
    expected = [
        sum(
            10**number * (each.year if part == "YEAR" else value(each))
            for number, (part, value) in enumerate(parts.items())
        )
        for each in MOMENTS
    ]
    assert summed(place, text, weighed) == sum(expected)
    assert counted(place, "DATE_TRUNC('week', o.t) = TIMESTAMP '2024-12-30 00:00:00'") == 1
    assert counted(place, "o.t >= TIMESTAMP '2024-03-31 02:30:00'") == 3
    assert counted(place, "CAST(o.t AS DATE) = o.d") == len(MOMENTS)
    assert (
        counted(place, "o.t - INTERVAL '1' MONTH < o.d") == len(MOMENTS) - 1
    )  # none before year 1
    assert counted(place, "o.d + 1 > o.t") == len(MOMENTS)
    days = steps([(each - dt.datetime(2024, 1, 1)).days for each in MOMENTS], LARGE)
    assert summed(place, "o.d - DATE '2024-01-01'", LARGE) == days


def test_an_empty_table_is_zero(place: Place) -> None:
    place.open({TABLE: []}, POLICY)
    assert counted(place, "o.i > 0") == 0
    assert summed(place, "o.n") == 0
    question = Question(
        SCAN,
        (Aggregate("rows", "c"), Aggregate("distinct", "e", tree("o.i"))),
        (Key("k", tree("o.x")),),
    )
    query = grouped_query(question, target=place.target(POLICY), known=[["a", "b"]])
    assert place.ask(query) == [("a", 0, 0), ("b", 0, 0)]


def test_names_are_found_in_any_case_and_may_be_words_of_sql(place: Place) -> None:
    engine = place.open({TABLE: [{"Order By": 3}, {"Order By": 4}]}, POLICY)
    assert summed(place, 'o."Order By" + 1') == 900
    nowhere = Filter(SCAN, of("o.nothing > 1"))
    assert not engine.understands(count_query(nowhere, target=place.target(POLICY)), timeout=10)
