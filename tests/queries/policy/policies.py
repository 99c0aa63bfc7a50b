"""Policies for tests: one that is written out, and any that Hypothesis can think of."""

from __future__ import annotations

from fractions import Fraction
from typing import get_args

from hypothesis import strategies as st

from celosia.core.neighbours import Relation
from celosia.queries.policy import (
    ColumnPolicy,
    ColumnType,
    Database,
    Policy,
    Spending,
    TablePolicy,
    Unit,
)
from celosia.queries.policy.settings import LONGEST_AMOUNT
from celosia.queries.policy.values import Ownerless

SHOP = """\
name = "shop"

[database.files]
customer = "customer.csv"
orders = "data/orders.parquet"
nation = "nation.csv"

[unit]
name = "customer"
table = "customer"
key = "custkey"

[budget]
epsilon = 2
delta = 1e-6

[analysts.ana]
epsilon = "1/3"

[analysts.ben]
epsilon = 0.1
delta = 0

[tables.nation]
public = true
rows = 25
[tables.nation.columns]
nationkey = { type = "integer", unique = true }

[tables.customer]
references = { nationkey = "nation.nationkey" }
[tables.customer.columns]
custkey = { type = "integer", unique = true }
nationkey = "integer"
segment = { type = "text", keys = ["BUILDING", "MACHINERY"] }
vip = { type = "boolean", keys = [true, false] }

[tables.orders]
rows = 2000000
references = { custkey = "customer.custkey" }
[tables.orders.columns]
orderkey = { type = "integer", unique = true }
custkey = { type = "integer", most = 50 }
orderdate = { type = "date", keys = [1998-01-01, "1998-01-02"] }
price = { type = "number", lower = -0.1, upper = 600000, grid = 0.01 }
shipped = "timestamp"
"""

_NAME = st.text(
    st.characters(exclude_categories=["C", "Z"], exclude_characters="\x7f"), min_size=1, max_size=8
)
_SPENDING = st.builds(
    Spending,
    epsilon=st.fractions(Fraction(1, 10**9), 20),
    delta=st.fractions(0, Fraction(1, 1001)),
)
_TEXT_KEY = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=9)


def _names(least: int, most: int) -> st.SearchStrategy[list[str]]:
    return st.lists(_NAME, min_size=least, max_size=most, unique_by=str.lower)


def _fits_a_file(spending: Spending) -> bool:
    """Whether both amounts, a product of two fractions each, are short enough to be written."""
    return max(len(str(spending.epsilon)), len(str(spending.delta))) <= LONGEST_AMOUNT


@st.composite
def _columns(draw: st.DrawFn, name: str) -> ColumnPolicy:
    type_: ColumnType = draw(
        st.sampled_from(["integer", "number", "text", "boolean", "date", "timestamp"])
    )
    lower = upper = grid = None
    if type_ in ("integer", "number") and draw(st.booleans()):
        step = 1 if type_ == "integer" else draw(st.fractions(Fraction(1, 10**6), 10))
        low = draw(st.integers(-(10**6), 10**6))
        high = draw(st.integers(low + 1, low + 10**6))
        lower, upper = Fraction(low * step), Fraction(high * step)
        grid = draw(st.sampled_from([None, Fraction(step)]))
    keys_of_type: dict[str, st.SearchStrategy[str | int | bool]] = {
        "integer": st.integers(-(2**63), 2**63 - 1),
        "text": _TEXT_KEY,
        "boolean": st.booleans(),
        "date": st.dates().map(lambda day: day.isoformat()),
    }
    keys = None
    if type_ in keys_of_type and draw(st.booleans()):
        drawn = st.lists(keys_of_type[type_], min_size=1, max_size=4, unique=True)
        keys = tuple(draw(drawn))
    return ColumnPolicy(
        name=name,
        type=type_,
        lower=lower,
        upper=upper,
        grid=grid,
        keys=keys,
        most=draw(st.none() | st.integers(1, 2**62)),
    )


_OWNERLESS = st.none() | st.sampled_from(get_args(Ownerless))


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """A policy that is right: tables in a tree below the unit's, each with a key and a parent."""
    names = draw(_names(1, 4))
    is_row = draw(st.booleans())
    tables: list[TablePolicy] = []
    for number, name in enumerate(names):
        key, parent_key, *others = draw(_names(2, 5))
        references: tuple[tuple[str, str, str], ...] = ()
        if number:
            parent = tables[draw(st.integers(0, number - 1))]
            references = ((parent_key, parent.name, parent.columns[0].name),)
        tables.append(
            TablePolicy(
                name=name,
                columns=(
                    ColumnPolicy(name=key, type="integer", unique=True),
                    ColumnPolicy(name=parent_key, type="integer"),
                    *(draw(_columns(each)) for each in others),
                ),
                references=references,
                rows=draw(st.none() | st.integers(0, 2**62)),
                ownerless=None if is_row else draw(_OWNERLESS),
            )
        )
    budget = draw(_SPENDING)
    shares = st.builds(
        lambda one, two: Spending(epsilon=budget.epsilon * one, delta=budget.delta * two),
        st.fractions(Fraction(1, 1000), 1),
        st.fractions(0, 1),
    ).filter(_fits_a_file)
    databases = st.sampled_from(
        [
            Database(path="shop.duckdb"),
            Database(files=tuple((name, "some.parquet") for name in names)),
            Database(kind="postgres", url="postgresql://reader:$SECRET@host:5432/shop"),
        ]
    )
    return Policy(
        name=draw(_NAME),
        tables=tuple(tables),
        budget=budget,
        database=draw(databases),
        unit=Unit()
        if is_row
        else Unit(name="person", table=names[0], key=tables[0].columns[0].name),
        relation=draw(st.sampled_from(list(Relation))),
        analysts=tuple((name, draw(shares)) for name in draw(_names(0, 3))),
        most_per_unit=draw(st.integers(1, 2**62)),
        elastic=draw(st.booleans()),
        ownerless="leave-out" if is_row else draw(st.sampled_from(get_args(Ownerless))),
    )
