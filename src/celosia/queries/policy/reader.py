"""The reader of policy files: the declarations of a database's owner, in TOML.

name = "shop"                        # of the data set; its ledger is kept under this name
neighbours = "add-remove"            # or "change-one", where the number of people is public
most_per_unit = 1048576              # the most that one unit may add to any answer
least_epsilon = 0.01                 # of one question: nothing is answered for less
questions_per_day = 1000             # of one analyst; stored answers do not count
exceeded_per_day = 3                 # of one analyst: questions that were too much for the rows
deadline = 2                         # seconds to every answer; left out: chosen by declared sizes
ownerless = "leave-out"              # rows that lead to no person; or "refuse", see below
elastic = false                      # noise scaled by what is measured on the data: for curators

[database]
kind = "duckdb"                      # or "postgres", "spark"
path = "shop.duckdb"                 # a DuckDB file, from the folder of this file
# url = "$SHOP_DATABASE"             # of PostgreSQL: $NAME is read from the environment

[database.files]                     # tables that are CSV or Parquet files, from the same folder
orders = "orders.parquet"

[unit]                               # the unit of protection; name = "row" alone for rows
name = "customer"
table = "customer"
key = "custkey"
# columns = ["orders.custkey"]       # instead of both, where no table lists each person once

[budget]                             # all answers together
epsilon = 10
delta = 1e-6

[analysts.ana]                       # only analysts listed here may ask; without any, all may
epsilon = "1/3"                      # not above the budget; left out: all of it

[tables.customer.columns]            # a table that is not named here cannot be asked at all
custkey = { type = "integer", unique = true }
segment = { type = "text", keys = ["BUILDING", "MACHINERY"] }

[tables.orders]
public = false                       # the default
rows = 2000000                       # a bound on the number of rows that is public
references = { custkey = "customer.custkey" }

[tables.orders.columns]
custkey = { type = "integer", most = 50 }
orderdate = "date"
price = { type = "number", lower = 0, upper = 600000, grid = 0.01 }

Numbers mean what is written: 0.1 is one tenth. Where that is no decimal, a text holds the fraction:
"1/3". Analysts' budgets may add up to more than the total, which is then spent by the first to ask;
no analyst's own may be above it. Nothing is read but the file: a policy holds no measured value.
A row belongs to the person whose key its references lead to. Rows that lead to none are left out of
every answer. With ownerless = "refuse", for all tables or under [tables.NAME], such rows, and rows
whose person the table of the unit does not hold, are refused when the vault is opened.
Answers can have prices in money under [market], see `policy.market`.
An RDF graph takes the place of [database] and [tables], see `policy.graphs`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast, get_args

from celosia.accounting.amounts import Spending
from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.neighbours import Relation
from celosia.queries.policy import values
from celosia.queries.policy.checks import MOST_EPSILON, collect_problems, warn_of_weak_budgets
from celosia.queries.policy.settings import Problems, Settings, describe_type

if TYPE_CHECKING:
    from celosia.queries.policy.market import Market

_TABLE = {"public", "rows", "references", "columns", "ownerless"}
_COLUMN = frozenset({"type", "lower", "upper", "grid", "keys", "unique", "most"})


def read_table(tables: Settings, name: str) -> values.TablePolicy:
    """The table of a name, as far as it can be read; what cannot is a problem."""
    table = tables.section(name, f"[tables.{name}]", _TABLE)
    columns = table.section("columns", f"[tables.{name}.columns]")
    if not columns.table:
        table.problems.add("CEL-Q005.no_columns", name=name)
    return values.TablePolicy(
        name=name,
        columns=tuple(_column(columns, each, name) for each in columns.table),
        public=table.flag("public"),
        references=_references(table, name),
        rows=table.count("rows"),
        ownerless=read_ownerless(table),
    )


def read_ownerless(settings: Settings) -> values.Ownerless | None:
    """The treatment of rows without an owner; None where nothing is declared."""
    return cast(values.Ownerless | None, settings.word("ownerless", get_args(values.Ownerless)))


def _column(columns: Settings, name: str, table: str) -> values.ColumnPolicy:
    where = Message("queries.policy_part.column", table=table, column=name)
    written = columns.table[name]
    if isinstance(written, str):
        written = {"type": written}  # the short form
    if not isinstance(written, Mapping):
        columns.problems.add(
            "CEL-Q005.not_a_column", where=where, got=describe_type(written), name=name
        )
        return values.ColumnPolicy(name=name, type="text")
    column = Settings(written, where, columns.problems, _COLUMN)
    types = get_args(values.ColumnType)
    if not column.has("type"):
        columns.problems.add("CEL-Q005.no_type", where=where, types=", ".join(types))
    before = columns.problems.unread
    read = values.ColumnPolicy(
        name=name,
        type=cast(values.ColumnType, column.word("type", types, "text")),
        lower=column.number("lower"),
        upper=column.number("upper"),
        grid=column.number("grid"),
        keys=_keys(column),
        unique=column.flag("unique"),
        most=column.count("most"),
    )
    # Where one setting cannot be read, the others are not held against it.
    is_read = column.has("type") and columns.problems.unread == before
    return read if is_read else values.ColumnPolicy(name=name, type="text")


def _keys(column: Settings) -> tuple[str | int | bool, ...] | None:
    if not column.has("keys"):
        return None
    written = column.table["keys"]
    if not isinstance(written, list):
        column.add_wrong_type("CEL-Q005.not_a_list", "keys", written)
        return None
    keys: list[str | int | bool] = []
    for value in written:
        if isinstance(value, date) and not isinstance(value, datetime):
            keys.append(value.isoformat())
        elif isinstance(value, str | int | bool):
            keys.append(value)
        else:
            column.add_wrong_type("CEL-Q005.not_keys", "keys", value)
            return None
    return tuple(keys)


def _references(table: Settings, name: str) -> tuple[tuple[str, str, str], ...]:
    where = Message("queries.policy_part.references", table=name)
    written = table.section("references", where)
    found = []
    for column, target in written.table.items():
        pair = _target(target)
        if pair is None:
            table.problems.add("CEL-Q009.no_target", name=name, column=column)
        else:
            found.append((column, *pair))
    return tuple(found)


def _target(written: object) -> tuple[str, str] | None:
    """A table and a column: as one text, or as two where the column's name has a dot."""
    if isinstance(written, str):
        table, dot, column = written.rpartition(".")
        return (table, column) if dot and table and column else None
    if isinstance(written, Mapping) and set(written) == {"table", "column"}:
        table, column = written["table"], written["column"]
        if isinstance(table, str) and isinstance(column, str):
            return table, column
    return None


_Any = TypeVar("_Any")

LARGEST_FILE = 2**22
"""Bytes of a policy file: far above any, and far below what would keep a reader busy."""

_TOP = {
    *("name", "neighbours", "most_per_unit", "elastic", "ownerless"),
    *("least_epsilon", "questions_per_day", "exceeded_per_day", "deadline"),
    *("database", "unit", "budget", "analysts", "tables", "graph", "market"),
}


def load_policy(path: str | Path) -> values.Policy:
    """Read and check a policy file; paths in it start from its folder.

    Raises:
        InputError: CEL-Q001 it cannot be read, CEL-Q001 it is not TOML, CEL-Q003 it has several
            problems, or the code of the only one (CEL-Q004 to CEL-Q017).
    """
    source = Path(path)
    try:
        with source.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:  # ValueError: a path with a null byte
        no_path = Message("queries.policy_file.not_a_path")
        reason = error.strerror if isinstance(error, OSError) else no_path
        raise InputError("CEL-Q001.unreadable", source=str(source), reason=reason) from error
    if len(content) > LARGEST_FILE:
        raise InputError("CEL-Q001.too_large", source=str(source), largest_file=LARGEST_FILE >> 20)
    try:
        text = content.decode("utf-8-sig")  # Windows adds a mark
    except UnicodeDecodeError as error:
        raise InputError(
            "CEL-Q001.not_toml", reason=Message("queries.policy_file.not_utf8", byte=error.start)
        ) from error
    policy = read_policy(text)
    folder = str(source.parent)
    graph = None if policy.graph is None else replace(policy.graph, folder=folder)
    return replace(policy, database=replace(policy.database, folder=folder), graph=graph)


def read_policy(text: str) -> values.Policy:
    """A policy from the text of a policy file.

    Raises:
        InputError: as `load_policy`, but for CEL-Q001.

    >>> policy = read_policy('''
    ... name = "visits"
    ... unit = { name = "row" }
    ... budget = { epsilon = 1 }
    ... database = { files = { visits = "visits.csv" } }
    ... [tables.visits.columns]
    ... day = "date"
    ... ''')
    >>> policy.budget.epsilon, policy.unit.is_row, policy.table("VISITS").column("day").type
    (Fraction(1, 1), True, 'date')
    """
    try:
        table = tomllib.loads(text.replace("\r\n", "\n"), parse_float=_decimal)
    except RecursionError as error:
        raise InputError(
            "CEL-Q001.not_toml", reason=Message("queries.policy_file.too_deep")
        ) from error
    except ValueError as error:  # also whole numbers of thousands of digits
        raise InputError("CEL-Q001.not_toml", reason=str(error)) from error
    return policy_from_table(table)


def policy_from_table(table: Mapping[str, Any]) -> values.Policy:
    """A policy from the parsed content of a policy file; all problems in one error.

    Raises:
        InputError: CEL-Q003 several problems, or the code of the only one.
    """
    problems = Problems()
    top = Settings(table, Message("queries.policy_part.policy"), problems, frozenset(_TOP))
    budget = _budget(top)
    before = problems.unread
    graph, tables, unit = _graph(top) if top.has("graph") else (None, _tables(top), _unit(top))
    tables_are_read = problems.unread == before
    policy = values.Policy(
        name=_name(top),
        tables=tables,
        budget=budget,
        database=_database(top),
        unit=unit,
        relation=Relation(
            top.word("neighbours", [*Relation], Relation.ADD_REMOVE) or Relation.ADD_REMOVE
        ),
        analysts=_analysts(top, budget),
        most_per_unit=_default(top.count("most_per_unit"), values.MOST_PER_UNIT),
        elastic=top.flag("elastic"),
        least_epsilon=_default(top.number("least_epsilon"), values.LEAST_EPSILON),
        questions_per_day=_default(top.count("questions_per_day"), values.QUESTIONS_PER_DAY),
        exceeded_per_day=_default(top.count("exceeded_per_day"), values.EXCEEDED_PER_DAY),
        deadline=top.number("deadline"),
        ownerless=read_ownerless(top) or "leave-out",
        graph=graph,
        market=_market(top),
    )
    collect_problems(policy, problems, tables_are_read=tables_are_read)
    problems.refuse()
    warn_of_weak_budgets(policy, stacklevel=4)
    return policy


def _graph(top: Settings) -> tuple[values.Graph, tuple[values.TablePolicy, ...], values.Unit]:
    from celosia.queries.policy.graphs import read_graph  # tables do without

    return read_graph(top)


def _market(top: Settings) -> Market | None:
    if not top.has("market"):
        return None
    from celosia.queries.policy.market import read_market  # most policies do without

    return read_market(top)


def _tables(top: Settings) -> tuple[Any, ...]:
    tables = top.section("tables", "[tables.NAME]")
    if not tables.table:
        top.problems.add("CEL-Q005.no_tables")
    return tuple(read_table(tables, name) for name in tables.table)


def _unit(top: Settings) -> values.Unit:
    if not top.has("unit"):
        top.problems.add("CEL-Q010.no_section")
    unit = top.section("unit", "[unit]", {"name", "table", "key", "columns"})
    table, key = unit.text("table"), unit.text("key")
    columns = _unit_columns(unit)
    name = unit.text("name")
    if name is None and unit.has("columns"):
        name = "person"
    if name is None:
        name = "row" if table is None else table.lower()
        if top.has("unit") and table is None and key is None:
            top.problems.add("CEL-Q010.empty")
    return values.Unit(name=name, table=table, key=key, columns=columns)


def _unit_columns(unit: Settings) -> tuple[tuple[str, str], ...]:
    """The columns that hold the key of a person, where no table lists each person once."""
    if not unit.has("columns"):
        return ()
    written = unit.table["columns"]
    found = [_target(each) for each in written] if isinstance(written, list) else []
    read = tuple(each for each in found if each is not None)
    if not read or len(read) < len(found):
        unit.problems.add("CEL-Q010.no_columns")
    return tuple(dict.fromkeys(read))


def _budget(top: Settings) -> Spending:
    budget = top.section("budget", "[budget]", _AMOUNTS)
    if not any(map(budget.has, _CURRENCIES)):
        top.problems.add("CEL-Q013.no_epsilon")
    # A budget that cannot be read is a problem already; nothing else is held against this one.
    return _spending(budget, "CEL-Q013", Spending(epsilon=MOST_EPSILON))


_CURRENCIES = ("epsilon", "rho", "renyi")
_AMOUNTS = frozenset((*_CURRENCIES, "delta"))


def _spending(section: Settings, code: str, default: Spending) -> Spending:
    """An amount in one currency; what is left out is as in the default."""
    said = [each for each in _CURRENCIES if section.has(each)]
    delta = _default(section.number("delta"), default.delta)
    if len(said) > 1:
        section.problems.add(f"{code}.two_currencies", where=section.where)
        return default
    if said == ["epsilon"] or (not said and default.currency == "epsilon"):
        return Spending(epsilon=_default(section.number("epsilon"), default.epsilon), delta=delta)
    from celosia.accounting.currencies import spending_of  # most policies do without

    if not 0 < delta < 1:
        section.problems.add(f"{code}.delta_out_of_range_in_currency", where=section.where)
        return default
    rho, curve = default.rho, list[Any](default.curve)
    if said:
        rho = section.number("rho") or Fraction(0) if said == ["rho"] else None
        curve = [] if said == ["rho"] else section.pairs("renyi")
    try:
        return spending_of(rho=rho, curve=curve, delta=delta)
    except InputError:
        section.problems.add(f"{code}.{said[0]}_out_of_range", where=section.where)
        return default


def _analysts(top: Settings, budget: Spending) -> tuple[tuple[str, Spending], ...]:
    analysts = top.section("analysts", "[analysts.NAME]")
    if top.has("analysts") and not analysts.table:
        top.problems.add("CEL-Q014.no_analyst")
    found = []
    for name in analysts.table:
        limit = analysts.section(name, f"[analysts.{name}]", _AMOUNTS)
        found.append((name, _spending(limit, "CEL-Q014", budget)))
    return tuple(found)


def _database(top: Settings) -> values.Database:
    database = top.section("database", "[database]", {"kind", "path", "url", "files"})
    files = database.section("files", "[database.files]")
    kind = database.word("kind", ["duckdb", "postgres", "spark"], "duckdb")
    return values.Database(
        kind=cast(Literal["duckdb", "postgres", "spark"], kind),
        path=database.text("path"),
        url=database.text("url"),
        files=tuple((name, files.text(name) or "") for name in files.table),
    )


def _name(top: Settings) -> str:
    if not top.has("name"):
        top.problems.add("CEL-Q005.no_name")
    return _default(top.text("name"), "name")


def _default(value: _Any | None, default: _Any) -> _Any:
    return default if value is None else value


def _decimal(written: str) -> Decimal:
    """A number as it is written; one whose exact value would not fit on a page as not a number."""
    number = Decimal(written)
    fits = number.is_finite() and (not number or abs(number.adjusted()) <= 300)
    return number if fits and len(written) <= 400 else Decimal("NaN")
