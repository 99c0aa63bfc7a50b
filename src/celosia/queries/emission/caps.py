"""Declared caps, kept: at most so many rows that share a value of a column.

Which rows stay? A row stays if, for each capped column, it is among the first `most` rows of its
value, in an order that follows from the contents of rows alone (a hash of them, then the contents).
All ranks are those in the whole table; no column is cut after another. NULL is no value, and no
cap concerns it; nor a unique column.

Let K(D) be the rows of D that stay, with j capped columns, and r a row that is added.

- For each capped column, r moves later rows of its value back by one place. So at most one row
  leaves the first `most`, and none comes in but r: K(D + r) is K(D), perhaps with r, without at
  most j others. One row changes at most 1 + j rows.
- No rule does better than one displaced row, j = 1: of `most` + 1 rows of one value, one must go.
  Without any of them all others stay, so the rule moves by two rows (one comes, one goes) for
  each of the `most` that it kept.
- To drop all rows of a value that has too many is worse: the row that is one too many takes
  `most` others away.
- A count, or a sum of values that are not negative, of K(D) itself moves by no more than one row
  can add, while j = 1: both K(D) and K(D + r) are one row more than what they share.

With a person as unit all this would fail for a capped column that does not determine the owner: a
person with a thousand rows makes place for a thousand rows of others, whatever their own
contribution is clipped to. Such a cap is refused (CEL-Q123). Where the column determines all owners
of a row, the rows of one value all belong to the same people, come and go with them, and displace
rows of no other person.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from sqlglot import exp

from celosia.queries.emission.target import (
    Dialect,
    Target,
    at_most,
    column,
    group_by,
    identifier,
    row_number,
    select_from,
)
from celosia.queries.policy.values import ColumnPolicy, TablePolicy

CAPPED = "celosia-capped-table"
"""Marks a sub-query with its table, for readers that know that all rows of the table stay."""


def table_source(table: str, *, alias: str, target: Target) -> exp.Expr:
    """A table under an alias, without the rows that are beyond its caps."""
    declared = target.table(table)
    if declared.name in target.views:
        query = target.views[declared.name].copy()
        return exp.Subquery(this=query, alias=exp.TableAlias(this=identifier(alias)))
    if not _caps(declared):
        return exp.Table(
            this=identifier(declared.name), alias=exp.TableAlias(this=identifier(alias))
        )
    rows = _kept_rows(_CappedTable(declared, target.dialect, target))
    made = exp.Subquery(this=rows, alias=exp.TableAlias(this=identifier(alias)))
    made.meta[CAPPED] = declared.name
    return made


@dataclass(frozen=True, slots=True)
class _CappedTable:
    """All that the rows within caps depend on."""

    table: TablePolicy
    dialect: Dialect
    target: Target = field(compare=False)


@lru_cache(maxsize=512)
def _kept_rows(capped: _CappedTable) -> exp.Union:
    """The rows of a table within its caps: one tree for all questions, which nothing may change.

    Queries are rewritten and written as copies, so all that they do to it is to point at it.
    """
    declared, target = capped.table, capped.target
    caps = _caps(declared)
    columns = [each.name for each in declared.columns]
    crowded = _is_crowded(declared.name, caps)
    few = _rows(declared.name, columns, exp.not_(crowded))
    many = _rows(declared.name, columns, crowded)
    # A unique column orders rows as well as all columns do, and faster.
    unique = [each.name for each in declared.columns if each.unique][:1] or columns
    order = [target.hash_values([column(each) for each in unique]), *map(column, unique)]
    for number, cap in enumerate(caps):
        place = row_number([column(cap.name)], [each.copy() for each in order])
        many.select(exp.Alias(this=place, alias=identifier(f"celosia_place_{number}")), copy=False)
    kept = select_from(many, [column(each) for each in columns])
    for number, cap in enumerate(caps):
        assert cap.most is not None
        place_fits = at_most(column(f"celosia_place_{number}"), cap.most)
        kept.where(exp.or_(_is_null(cap.name), place_fits), copy=False)
    return exp.Union(this=few, expression=kept, distinct=False)


def _caps(declared: TablePolicy) -> list[ColumnPolicy]:
    return [each for each in declared.columns if each.most is not None and not each.unique]


def _rows(table: str, columns: list[str], condition: exp.Expr) -> exp.Select:
    return exp.Select(
        expressions=[column(each) for each in columns],
        from_=exp.From(this=exp.Table(this=identifier(table))),
        where=exp.Where(this=condition),
    )


def _is_null(word: str) -> exp.Expr:
    return exp.Is(this=column(word), expression=exp.Null())


def _is_crowded(table: str, caps: list[ColumnPolicy]) -> exp.Expr:
    """Whether a row has a value that too many share; ranks matter to no other row.

    Of such a value all rows are crowded, so their ranks are those in the whole table.
    """
    tests = []
    for cap in caps:
        assert cap.most is not None
        crowd = group_by(_rows(table, [cap.name], exp.not_(_is_null(cap.name))), [cap.name])
        size = exp.Count(this=exp.Star())
        crowd.set("having", exp.Having(this=exp.not_(at_most(size, cap.most))))
        among = exp.In(this=column(cap.name), query=exp.Subquery(this=crowd))
        tests.append(exp.func("COALESCE", among, exp.false()))
    return exp.or_(*tests)
