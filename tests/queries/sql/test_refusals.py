"""What cannot be promised is refused, each construct with its own code and in its own words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.queries.sql.shop import POLICY

from celosia.core.catalogue import explanations
from celosia.core.errors import CelosiaError, InputError, QueryRefused
from celosia.queries.sql import compile

CASES = [
    line.split(" ", 1)
    for line in Path(__file__).with_name("refusals.txt").read_text("utf-8").splitlines()
    if line and not line.startswith("#")
]


def refused(query: str) -> CelosiaError:
    with pytest.raises(CelosiaError) as caught:
        compile(query, POLICY)
    return caught.value


@pytest.mark.parametrize(("key", "query"), CASES, ids=[query[:60] for _, query in CASES])
def test_a_query_is_refused_with_its_code(key: str, query: str) -> None:
    error = refused(query)
    assert error.key == key, error
    assert isinstance(error, InputError if error.code == "CEL-Q020" else QueryRefused)
    assert error.what.endswith(".")
    assert error.why
    assert error.fix


def test_a_refusal_is_whole_in_spanish() -> None:
    english = re.compile(r"\b(the|is|are|of|and|or|not|with|that)\b|\{[a-z]")
    for _, query in CASES:
        text = refused(query).render("es")
        assert english.search(text) is None, text


def test_every_code_of_the_range_is_met() -> None:
    mine = {code for code in explanations() if re.fullmatch(r"CEL-Q0[2-5]\d", code)}
    assert {key.partition(".")[0] for key, _ in CASES} == mine


def test_a_refusal_shows_the_place() -> None:
    error = refused("SELECT COUNT(*)\nFROM orders\nWHERE price > 1\n  AND pg_sleep(9) IS NULL")
    assert (error.details["line"], error.details["column"]) == (4, 7)
    assert "(line 4, column 7)" in str(error)


def test_a_misspelt_name_is_answered_with_the_nearest() -> None:
    assert "did you mean 'orders'?" in str(refused("SELECT COUNT(*) FROM oders"))
    assert "did you mean 'price'?" in str(refused("SELECT COUNT(*) FROM orders WHERE prise > 1"))


def test_an_undeclared_table_is_refused_as_one_that_is_not_there() -> None:
    messages = {
        str(refused(f"SELECT COUNT(*) FROM {name}")).replace(name, "?")
        for name in ("sqlite_master", "pg_catalog", "zzzzzzzzzz")
    }
    assert len(messages) == 1


def test_what_is_not_a_text_or_a_known_dialect_is_no_query() -> None:
    for wrong in (None, 5, b"SELECT"):
        with pytest.raises(InputError, match="a query is a text"):
            compile(wrong, POLICY)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="duckdb or postgres"):
        compile("SELECT 1", POLICY, dialect="oracle")  # type: ignore[arg-type]


def test_long_queries_are_refused_and_not_parsed() -> None:
    assert refused("SELECT COUNT(*) FROM orders WHERE " + "1 = 1 AND " * 9_000).code == "CEL-Q023"
    many = " + ".join(["price"] * 3_000)
    assert refused(f"SELECT SUM({many}) FROM orders").code == "CEL-Q023"
    wide = ", ".join(map(str, range(6_000)))
    assert refused(f"SELECT COUNT(*) FROM orders WHERE price IN ({wide})").code == "CEL-Q023"


def test_nested_cases_that_repeat_each_other_are_refused_and_not_written_out() -> None:
    text = "quantity"
    for _ in range(20):  # each repeats what it is about twice: a million times in the end
        text = f"CASE {text} WHEN 1 THEN 2 WHEN 2 THEN 1 END"
    assert refused(f"SELECT COUNT(*) FROM orders WHERE {text} = 1").code == "CEL-Q023"
