"""Where columns come from."""

from __future__ import annotations

from tests.queries.bounds.trees import parsed

from celosia.queries.algebra import (
    Column,
    DerivedTable,
    Filter,
    Join,
    NamedExpression,
    Scan,
    SemiJoin,
    UnionAll,
)
from celosia.queries.bounds.lineage import Origin, find_origin, find_origins

A, B = Scan("A", "a"), Scan("B", "b")
KEYS = ((Column("a", "x"), Column("b", "x")),)


def renamed(source: Filter | Scan | Join | SemiJoin, alias: str, **columns: str) -> DerivedTable:
    named = tuple(NamedExpression(name, parsed(text)) for name, text in columns.items())
    return DerivedTable(source, alias, named)


def test_plain_columns_are_followed_through_everything() -> None:
    filtered = Filter(Join(A, B, KEYS), parsed("a.x > 1"))
    inner = renamed(filtered, "d", u="b.y", v="(a.x)", w="a.x + 1")
    assert find_origin(Column("d", "u"), inner) == Origin("B", "b", "y")
    assert find_origin(Column("d", "v"), inner) == Origin("A", "a", "x")
    outer = renamed(SemiJoin(inner, Scan("C", "c"), ()), "e", z="d.u")
    assert find_origin(Column("e", "z"), outer) == Origin("B", "b", "y")


def test_computed_and_unknown_columns_come_from_nowhere() -> None:
    inner = renamed(A, "d", w="a.x + 1", c="CAST(a.x AS TEXT)")
    for column in (Column("d", "w"), Column("d", "c"), Column("d", "q"), Column("a", "x")):
        assert find_origin(column, inner) is None
    outer = renamed(Filter(inner, parsed("TRUE")), "e", z="d.w")
    assert find_origin(Column("e", "z"), outer) is None


def test_the_right_side_of_a_match_does_not_go_on() -> None:
    assert find_origin(Column("b", "x"), SemiJoin(A, B, KEYS)) is None


def test_a_union_has_an_origin_for_each_part() -> None:
    union = UnionAll((renamed(A, "p", k="a.x"), renamed(B, "q", k="b.y")), "u")
    assert find_origins(Column("u", "k"), union) == (Origin("A", "a", "x"), Origin("B", "b", "y"))
    assert find_origin(Column("u", "k"), union) is None
    assert find_origins(Column("p", "k"), union) is None
    computed = UnionAll((renamed(A, "p", k="a.x"), renamed(B, "q", k="b.y * 2")), "u")
    assert find_origins(Column("u", "k"), computed) is None
