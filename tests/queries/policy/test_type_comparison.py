"""Types that may be compared, against what DuckDB really does."""

from __future__ import annotations

from itertools import product

import duckdb
import pytest

from celosia.queries.policy.database import are_comparable

EXTREMES = {
    "TINYINT": ["-128", "127"],
    "BIGINT": ["-9223372036854775808", "9223372036854775807", "9007199254740993"],
    "UBIGINT": ["0", "18446744073709551615"],
    "HUGEINT": ["170141183460469231731687303715884105727"],
    "DECIMAL(18,0)": ["999999999999999999"],
    "DECIMAL(15,2)": ["9999999999999.99"],
    "DECIMAL(38,0)": ["9" * 38],
    "DECIMAL(38,10)": [f"{'9' * 28}.5"],
    "FLOAT": ["1e30"],
    "DOUBLE": ["1e300", "9007199254740992"],
    "VARCHAR": ["no uuid", ""],
    "UUID": ["6f1c2f5e-0000-4000-8000-000000000000"],
    "ENUM('a', 'b')": ["a"],
    "ENUM('b', 'c')": ["b"],
    "DATE": ["2026-01-01"],
    "TIMESTAMP": ["2026-01-01", "9999-12-31"],
    "TIMESTAMP_NS": ["2026-01-01"],
    "TIMESTAMP_S": ["2026-01-01", "290000-01-01"],
    "BOOLEAN": ["true"],
}


@pytest.mark.parametrize(("one", "other"), list(product(EXTREMES, repeat=2)))
def test_what_is_allowed_never_fails_and_holds_no_two_values_for_one(one: str, other: str) -> None:
    if not are_comparable(one, other, dialect="duckdb"):
        assert one != other
        assert not are_comparable(other, one, dialect="duckdb")
        return
    with duckdb.connect() as engine:
        for table, kind in (("a", one), ("b", other)):
            engine.execute(f"CREATE TABLE {table} (x {kind})")
            for value in EXTREMES[kind]:
                engine.execute(f"INSERT INTO {table} VALUES ('{value}')")
        pairs = engine.execute("SELECT a.x, b.x FROM a JOIN b ON a.x = b.x").fetchall()
    # A value has one partner at most, or a unique column would not be unique in the join.
    assert len({left for left, _ in pairs}) == len(pairs) == len({right for _, right in pairs})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("UUID", "VARCHAR"),
        ("DECIMAL(38,0)", "DECIMAL(38,10)"),
        ("HUGEINT", "DECIMAL(18,0)"),
        ("TIMESTAMP", "TIMESTAMP_NS"),
        ("BIGINT", "DOUBLE"),
        ("TIMESTAMP", "TIMESTAMP WITH TIME ZONE"),
    ],
)
def test_pairs_that_fail_on_rows_or_merge_values_are_not_allowed(one: str, other: str) -> None:
    assert not are_comparable(one, other, dialect="duckdb")


def test_a_whole_number_and_a_fraction_hold_two_values_for_one() -> None:
    with duckdb.connect() as engine:
        ((found,),) = engine.execute(
            "SELECT COUNT(*) FROM (VALUES (9007199254740992::BIGINT), (9007199254740993)) a(x) "
            "JOIN (VALUES (9007199254740992::DOUBLE)) b(x) ON a.x = b.x"
        ).fetchall()
    assert found == 2  # which is why BIGINT and DOUBLE are kept apart


@pytest.mark.parametrize(
    ("one", "other", "allowed"),
    [
        ("integer", "bigint", True),
        ("bigint", "numeric(15,0)", True),
        ("numeric", "numeric(38,10)", True),
        ("character varying(10)", "text", True),
        ("character(3)", "text", False),
        ("uuid", "text", False),
        ("enum(mood)", "text", False),
        ("enum(mood)", "enum(mood)", True),
        ("enum(mood)", "enum(colour)", False),
        ("timestamp without time zone", "timestamp with time zone", False),
        ("double precision", "real", True),
        ("double precision", "numeric", False),
    ],
)
def test_postgres_has_an_operator_for_what_is_allowed(one: str, other: str, allowed: bool) -> None:
    assert are_comparable(one, other, dialect="postgres") is allowed
