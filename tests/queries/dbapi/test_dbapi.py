"""The database interface of Python: connections, cursors, bound parameters and errors."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.dialects import registry
from tests.queries.vaults import opened, shop

from celosia.core.errors import BudgetExceeded, EngineError, InputError, QueryRefused
from celosia.queries import Vault, dbapi
from celosia.queries.dbapi.exceptions import translate
from celosia.queries.dbapi.values import bind, literal
from celosia.queries.service import TooBusy
from celosia.queries.sql.parser import parse

BY_TOWN = "SELECT town, count(*) AS n FROM person GROUP BY town"


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vault]:
    with opened(shop(Random(5)), tmp_path_factory.mktemp("dbapi")) as made:
        yield made


@pytest.fixture
def cursor(vault: Vault) -> dbapi.Cursor:
    return dbapi.connect(vault, epsilon=1).cursor()


def test_the_module_says_what_it_is() -> None:
    assert (dbapi.apilevel, dbapi.threadsafety, dbapi.paramstyle) == ("2.0", 2, "qmark")
    assert issubclass(dbapi.ProgrammingError, dbapi.DatabaseError)
    assert issubclass(dbapi.Error, Exception)
    assert [kind == dbapi.NUMBER for kind in (int, float, str)] == [True, True, False]
    assert [kind != dbapi.STRING for kind in (int, str)] == [True, False]
    assert dbapi.DateFromTicks(0) <= dbapi.TimestampFromTicks(0).date()
    assert dbapi.TimeFromTicks(0) == dbapi.TimestampFromTicks(0).time()


def test_a_cursor_gives_the_rows_of_an_answer_and_all_about_it(cursor: dbapi.Cursor) -> None:
    cursor.execute(BY_TOWN)
    assert cursor.description is not None
    assert [(column[0], column[1]) for column in cursor.description] == [("town", str), ("n", int)]
    assert cursor.rowcount == 3
    first, two = cursor.fetchone(), cursor.fetchmany(1)
    rows = [first, *two, *cursor]
    assert cursor.answer is not None
    assert rows == [(row["town"], row["n"]) for row in cursor.answer.rows]
    assert cursor.fetchall() == []
    assert cursor.fetchone() is None


def test_bounds_stand_beside_their_numbers_where_wanted(vault: Vault) -> None:
    cursor = dbapi.connect(vault, epsilon=1, intervals=True).cursor().execute(BY_TOWN)
    assert cursor.description is not None
    names = [column[0] for column in cursor.description]
    assert names == ["town", "n", "n_lower", "n_upper"]
    assert all(low <= n <= high for _, n, low, high in cursor)


def test_parameters_take_the_place_of_question_marks(cursor: dbapi.Cursor, vault: Vault) -> None:
    written = "SELECT count(*) FROM person WHERE town = {} AND age > {} -- why?"
    cursor.execute(written.format("?", "?"), ["A", -1])
    spent = vault.ledger.spent
    assert cursor.fetchall()[0][0] == vault.sql(written.format("'A'", "-1"), epsilon=1).value
    assert vault.ledger.spent == spent  # the same question, so the stored answer


@given(st.text().filter(lambda text: "\0" not in text))
def test_a_text_stays_one_literal_whatever_is_in_it(text: str) -> None:
    tree = parse(bind("SELECT count(*) FROM person WHERE town = ?", [text]))
    found = tree.args["where"].this.expression
    assert (found.is_string, found.this) == (True, text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "NULL"),
        (True, "TRUE"),
        (-3, "(-3)"),
        (2.5, "2.5"),
        (Decimal("1E+2"), "100"),
        (np.int64(7), "7"),
        (np.float64(0.5), "0.5"),
        (date(2026, 1, 5), "DATE '2026-01-05'"),
        (datetime(2026, 1, 5, 6, 7), "TIMESTAMP '2026-01-05 06:07:00'"),
    ],
)
def test_each_value_has_its_literal(value: Any, text: str) -> None:
    assert literal(value) == text


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), b"x", "a\0b", [1], Decimal("NaN"), object()]
)
def test_a_value_without_a_literal_is_refused(value: Any) -> None:
    with pytest.raises(InputError) as caught:
        bind("SELECT ?", [value])
    assert caught.value.key == "CEL-Q340.type"


@pytest.mark.parametrize("parameters", [[], [1, 2]])
def test_each_question_mark_has_one_parameter(parameters: list[int]) -> None:
    with pytest.raises(InputError) as caught:
        bind("SELECT '?' AS \"?\" FROM t WHERE x = ?", parameters)
    assert caught.value.details == {"marks": 1, "parameters": len(parameters)}


def test_a_question_needs_a_price_and_spends_nothing_without(vault: Vault) -> None:
    spent = vault.ledger.spent
    with pytest.raises(dbapi.ProgrammingError) as caught:
        dbapi.connect(vault).cursor().execute("SELECT count(*) FROM item")
    assert caught.value.code == "CEL-Q341"
    assert vault.ledger.spent == spent


def test_a_cursor_may_have_a_price_of_its_own(vault: Vault) -> None:
    cursor = dbapi.connect(vault, epsilon=1).cursor()
    cursor.epsilon = 0.25
    cursor.execute("SELECT count(*) FROM message")
    assert float(vault.ledger.history()[-1].epsilon) == 0.25


def test_errors_are_those_of_the_interface() -> None:
    kinds = {
        InputError: dbapi.ProgrammingError,
        QueryRefused: dbapi.NotSupportedError,
        BudgetExceeded: dbapi.OperationalError,
        EngineError: dbapi.OperationalError,
        TooBusy: dbapi.OperationalError,
    }
    for ours, theirs in kinds.items():
        assert type(translate(ours("CEL-Q020.empty"))) is theirs


def test_a_refused_question_says_why(cursor: dbapi.Cursor) -> None:
    with pytest.raises(dbapi.NotSupportedError, match="CEL-Q"):
        cursor.execute("SELECT * FROM person")
    with pytest.raises(dbapi.NotSupportedError):
        cursor.execute("DELETE FROM person")
    with pytest.raises(dbapi.ProgrammingError):
        cursor.executemany("SELECT ?", [[1]])


def test_what_is_closed_answers_no_more(vault: Vault) -> None:
    with dbapi.connect(vault, epsilon=1) as connection:
        connection.commit()
        connection.rollback()
        cursor = connection.cursor()
        with pytest.raises(dbapi.InterfaceError, match="no answer"):
            cursor.fetchall()
        cursor.close()
        with pytest.raises(dbapi.InterfaceError, match="closed"):
            cursor.execute(BY_TOWN)
    with pytest.raises(connection.InterfaceError, match="closed"):
        connection.cursor()
    assert vault.public_schema()["name"] == "shop"  # what the caller opened stays open


def test_an_answer_without_rows_has_its_columns(vault: Vault) -> None:
    cursor = dbapi.connect(vault, epsilon=1).cursor()
    cursor.execute(f"{BY_TOWN} HAVING count(*) > 100000")
    assert [column[0] for column in cursor.description or ()] == ["town", "n"]
    assert cursor.fetchall() == []
    assert cursor.answer is not None
    assert cursor.answer.to_polars().columns == ["town", "n"]


def test_answers_are_tables_of_polars_arrow_and_pandas(cursor: dbapi.Cursor) -> None:
    answer = cursor.execute(BY_TOWN).answer
    assert answer is not None
    frame = answer.to_polars()
    assert frame.columns == ["town", "n", "n_lower", "n_upper"]
    assert answer.to_arrow().to_pylist() == frame.to_dicts()
    assert answer.to_pandas().to_dict("records") == frame.to_dicts()


def test_polars_reads_through_a_connection(vault: Vault) -> None:
    found = pl.read_database(BY_TOWN, dbapi.connect(vault, epsilon=1))
    assert found.columns == ["town", "n"]


@pytest.fixture(scope="module")
def engine(vault: Vault) -> sa.Engine:
    registry.register("celosia", "celosia.queries.dbapi.dialect", "CelosiaDialect")
    creator = lambda: dbapi.connect(vault, epsilon=1)  # noqa: E731 - the dialect asks the vault
    return sa.create_engine("celosia://", creator=creator)


def test_pandas_reads_through_sqlalchemy(engine: sa.Engine, vault: Vault) -> None:
    pandas = pytest.importorskip("pandas")
    found = pandas.read_sql(BY_TOWN, engine)
    assert list(found.columns) == ["town", "n"]
    query = sa.text("SELECT count(*) AS n FROM person WHERE town = :town")
    one = pandas.read_sql(query, engine, params={"town": "A"})
    true = "SELECT count(*) AS n FROM person WHERE town = 'A'"
    assert one["n"].tolist() == [vault.sql(true, epsilon=1).value]


def test_the_schema_that_sqlalchemy_sees_is_the_public_one(engine: sa.Engine, vault: Vault) -> None:
    spent = vault.ledger.spent
    found = sa.MetaData()
    found.reflect(engine)
    assert set(found.tables) == set(vault.public_schema()["tables"])
    orders = found.tables["orders"]
    assert [key.target_fullname for key in orders.foreign_keys] == ["person.id"]
    assert isinstance(orders.c.placed.type, sa.Date)
    assert [column.name for column in orders.primary_key] == ["id"]
    assert sa.inspect(engine).has_table("nobody") is False
    assert vault.ledger.spent == spent


def test_a_statement_of_sqlalchemy_may_have_its_own_price(engine: sa.Engine, vault: Vault) -> None:
    person = sa.table("person", sa.column("town"), sa.column("age"))
    query = (
        sa.select(person.c.town, sa.func.count().label("n"))
        .where(person.c.age > 30)
        .group_by(person.c.town)
        .order_by(person.c.town)
        .limit(2)
    )
    with engine.connect() as connection:
        rows = connection.execute(query, execution_options={"epsilon": 0.5}).all()
    assert [row.town for row in rows] == ["A", "B"]
    assert float(vault.ledger.history()[-1].epsilon) == 0.5


def test_an_address_names_a_policy_or_a_service(monkeypatch: pytest.MonkeyPatch) -> None:
    from celosia.queries.dbapi.dialect import CelosiaDialect, HttpsDialect

    url = sa.make_url("celosia:///shop.toml?epsilon=0.1&intervals=true&analyst=ana")
    options = {"epsilon": 0.1, "intervals": True, "analyst": "ana"}
    assert CelosiaDialect().create_connect_args(url) == (["shop.toml"], options)
    monkeypatch.setenv("CELOSIA_TOKEN", "one")
    there = sa.make_url("celosia+https://vault.example.org:8440/?epsilon=0.1")
    place = ["https://vault.example.org:8440"]
    assert HttpsDialect().create_connect_args(there) == (place, {"epsilon": 0.1, "token": "one"})
    given = HttpsDialect().create_connect_args(there.set(password="two"))
    assert given[1]["token"] == "two"
    for wrong in ("?epsilom=0.1", "?epsilon=much", "?plain=perhaps"):
        with pytest.raises(dbapi.ProgrammingError, match="CEL-Q341"):
            CelosiaDialect().create_connect_args(sa.make_url(f"celosia:///shop.toml{wrong}"))


def test_the_dialects_are_registered() -> None:
    import tomllib
    from importlib import import_module

    project = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]
    found = project["entry-points"]["sqlalchemy.dialects"]
    assert set(found) == {"celosia", "celosia.http", "celosia.https"}
    for place in found.values():
        module, _, name = place.partition(":")
        assert getattr(import_module(module), name).name == "celosia"
