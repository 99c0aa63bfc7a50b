"""A person by columns: where no table lists each person once, as in a single file of visits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.queries.vaults import POLICY, opened, shop

from celosia.cli import owners
from celosia.core.errors import InputError, QueryRefused
from celosia.core.randomness import Seeded
from celosia.queries import Vault, read_policy
from celosia.queries.algebra import Scan
from celosia.queries.bounds.elastic_sensitivity import row_level_neighbours
from celosia.queries.declaration_checks import OwnerCounts
from celosia.queries.dummy_data import make_dummy_tables
from celosia.queries.ownership import ownerless_notes
from celosia.queries.policy import Policy, Unit, policy_hash, policy_text
from celosia.queries.public_schema import public_schema

VISITS = """
name = "visits"
budget = {{ epsilon = 10 }}
database = {{ files = {{ visits = "visits.csv", wards = "wards.csv" }} }}
[unit]
{unit}
[tables.visits]
rows = 100
[tables.visits.columns]
person = "integer"
ward = {{ type = "text", keys = ["a", "b"] }}
[tables.wards]
public = true
[tables.wards.columns]
person = "integer"
"""


def by_columns(policy: Policy = POLICY) -> Policy:
    """The policy without its table of people: their keys are where it was referenced."""
    columns = tuple(
        (table.name, column)
        for table in policy.tables
        for column, target, _ in table.references
        if target == "person"
    )
    tables = tuple(
        replace(table, references=tuple(each for each in table.references if each[1] != "person"))
        for table in policy.tables
        if table.name != "person"
    )
    return replace(policy, tables=tables, unit=Unit(name="person", columns=columns))


QUESTIONS = (
    "SELECT COUNT(*) FROM orders",
    "SELECT COUNT(DISTINCT person) FROM orders",
    "SELECT status, COUNT(*), SUM(price) FROM orders GROUP BY status",
    "SELECT COUNT(*) FROM item JOIN orders ON orders.id = item.\"order\" WHERE status = 'open'",
    "SELECT COUNT(*) FROM item",
    "SELECT COUNT(*) FROM message",
    "SELECT COUNT(*) FROM orders o JOIN message m ON m.sender = o.person",
    "SELECT AVG(n) FROM (SELECT person, COUNT(*) AS n FROM orders GROUP BY person) AS t",
)


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_is_planned_as_with_a_table_of_people(question: str, tmp_path: Path) -> None:
    rows = shop(Random(3))
    plans = []
    for policy in (POLICY, by_columns()):
        with opened(rows, tmp_path, policy) as vault:
            plan = vault.explain(question, epsilon=1)
            answer = vault.sql(question, epsilon=1)
        facts = {key: each for key, each in plan.as_dict().items() if key not in {"notes", "hash"}}
        plans.append((facts, [str(each) for each in answer.rows]))
    assert plans[0] == plans[1]


def policy(unit: str) -> Policy:
    return read_policy(VISITS.format(unit=unit))


def test_it_is_written_read_and_told() -> None:
    found = policy('columns = ["visits.person"]')
    assert found.unit == Unit(name="person", columns=(("visits", "person"),))
    assert not found.unit.is_row
    assert read_policy(policy_text(found)) == found
    assert public_schema(found)["unit"]["columns"] == ["visits.person"]
    assert policy_hash(found) != policy_hash(policy('name = "row"'))
    assert "every person (by visits.person)" in owners.describe_unit(found)
    dotted = 'columns = [{ table = "visits", column = "person" }]\nname = "patient"'
    assert policy(dotted).unit == replace(found.unit, name="patient")


@pytest.mark.parametrize(
    ("unit", "code"),
    [
        ("columns = []", "CEL-Q010.no_columns"),
        ('columns = "visits.person"', "CEL-Q010.no_columns"),
        ('columns = ["person"]', "CEL-Q010.no_columns"),
        ('columns = ["visits.patient"]', "CEL-Q010.unknown_key"),
        ('columns = ["visits.person"]\nname = "row"', "CEL-Q010.row_with_table"),
        (
            'columns = ["visits.person"]\ntable = "visits"\nkey = "person"',
            "CEL-Q010.table_and_columns",
        ),
        ('columns = ["visits.person", "wards.person"]', "CEL-Q010.public_table"),
        ('columns = ["visits.person", "visits.ward"]', "CEL-Q010.columns_of_other_types"),
    ],
)
def test_mistakes_are_refused(unit: str, code: str) -> None:
    with pytest.raises(InputError) as caught:
        policy(unit)
    assert caught.value.key == code


def test_a_private_table_without_a_person_is_refused() -> None:
    text = VISITS.format(unit='columns = ["visits.person"]').replace("public = true", "")
    with pytest.raises(InputError, match="no column of the private table 'wards'"):
        read_policy(text)


def test_the_remedy_for_a_key_that_repeats_works() -> None:
    with pytest.raises(InputError, match="not declared unique") as caught:
        policy('table = "visits"\nkey = "person"')
    remedy = 'columns = ["visits.person"]'
    assert remedy in str(caught.value)
    assert policy(remedy).unit.columns == (("visits", "person"),)


def test_rows_without_a_person_are_noted_refused_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = policy('columns = ["visits.person"]')
    said = "rows of visits that lead to no person are not counted (visits.person is NULL)"
    assert ownerless_notes(["visits"], found) == (said,)
    owners.show(found, [_counts(without_owner=3)])
    owners.note(found, [_counts(without_owner=3)])
    printed = "".join(capsys.readouterr())
    assert "None" not in printed
    assert "3 (30.00%)" in printed
    (tmp_path / "visits.csv").write_text("person,ward\n1,a\n,b\n")
    (tmp_path / "wards.csv").write_text("person\n7\n")
    file = tmp_path / "visits.toml"
    file.write_text(policy_text(replace(found, ownerless="refuse")))
    with pytest.raises(InputError, match="lead by 'person' to no person") as caught:
        Vault.open(file, rng=Seeded(1))
    assert "None" not in str(caught.value)


def _counts(*, without_owner: int) -> OwnerCounts:
    return OwnerCounts(
        table="visits", column="person", rows=10, without_owner=without_owner, owner_missing=0
    )


def test_elastic_sensitivity_is_refused_with_a_remedy() -> None:
    with pytest.raises(QueryRefused, match="Ask by another method"):
        row_level_neighbours(by_columns(), Scan("orders", "o"))


def test_dummy_people_have_several_rows_in_each_table() -> None:
    made: dict[str, Any] = make_dummy_tables(public_schema(by_columns()), rows=40)
    people = {*made["orders"]["person"], *made["message"]["sender"]}
    assert people <= set(range(1, 11))
