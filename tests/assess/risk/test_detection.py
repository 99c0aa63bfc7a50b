"""Identifiers are found by name and by content, and census columns are not taken for any."""

from __future__ import annotations

import json
from datetime import date, timedelta
from typing import Any

import numpy as np
import polars as pl
import pytest

from celosia import datasets
from celosia.assess.risk import Finding, detect
from celosia.core.progress import Step

ROWS = 60
GENERATOR = np.random.default_rng(11)
FIRST = ["Ana", "John", "María José", "Peter", "Lucía", "Emily"]
LAST = ["Rojas", "Smith", "Núñez", "O'Brien", "Soto", "Walker"]


def luhn(body: str) -> str:
    turned = [int(digit) for digit in reversed(body + "0")]
    total = sum(turned[::2]) + sum(sum(divmod(2 * digit, 10)) for digit in turned[1::2])
    return body + str(-total % 10)


def rut(body: int) -> str:
    total = sum(int(digit) * (2 + i % 6) for i, digit in enumerate(reversed(str(body))))
    return f"{body:,}".replace(",", ".") + "-" + "0123456789K0"[11 - total % 11]


def dni(number: int) -> str:
    return f"{number:08}" + "TRWAGMYFPDXBNJZSQVHLCKE"[number % 23]


def iban(account: str) -> str:
    due = 98 - int("".join(str(int(letter, 36)) for letter in account + "ES00")) % 97
    return f"ES{due:02}{account}"


def vin(place: int) -> str:
    digits = f"1{place:07}0{place:08}"
    weights = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
    rest = sum(int(d) * weight for d, weight in zip(digits, weights, strict=True)) % 11
    return digits[:8] + "0123456789X"[rest] + digits[9:]


def number(digits: int) -> int:
    return int(GENERATOR.integers(10 ** (digits - 1), 10**digits))


# By content alone: the names of the columns say nothing.
CONTENT: dict[str, list[Any]] = {
    "e-mail address": [f"{number(6)}@example.org" for _ in range(ROWS)],
    "web address": [f"https://example.org/{number(6)}" for _ in range(ROWS)],
    "telephone number": [f"+56 9 {number(4)} {number(4)}" for _ in range(ROWS)],
    "IP address": [f"10.{i}.{i % 7}.{255 - i}" for i in range(ROWS)],
    "card number": [luhn(f"4{number(14)}") for _ in range(ROWS)],
    "bank account": [iban(f"{number(10)}{number(10)}") for _ in range(ROWS)],
    "social security number": [f"{100 + i}-{10 + i}-{number(4)}" for i in range(ROWS)],
    "Spanish identity number": [dni(number(8)) for _ in range(ROWS)],
    "Chilean identity number": [rut(number(8)) for _ in range(ROWS)],
    "vehicle identifier": [vin(number(5)) for _ in range(ROWS)],
    "device identifier": [f"00:1b:44:{i:02x}:3a:{255 - i:02x}" for i in range(ROWS)],
    "personal name": [f"{FIRST[i % 6]} {LAST[i // 6 % 6]}" for i in range(ROWS)],
    "key": [f"{number(8)}-1a2b-4c3d-9e8f-{number(12)}" for _ in range(ROWS)],
    "unique key": [f"REC{number(6)}X{i}" for i in range(ROWS)],
    "free text": [f"Came on day {i} with a cough and was sent home again" for i in range(ROWS)],
    "postal code": [f"SW{1 + i % 9} {i % 9}AA" for i in range(ROWS)],
    "date": [date(1950, 1, 1) + timedelta(days=97 * i) for i in range(ROWS)],
}
QUASI = {"postal code", "date"}


@pytest.mark.parametrize("kind", CONTENT)
def test_content_is_recognised_whatever_the_column_is_called(kind: str) -> None:
    (found,) = detect({"q7": CONTENT[kind]})
    assert found.kind == kind
    assert found.role == ("quasi-identifier" if kind in QUASI else "identifier")
    assert found.share == pytest.approx(1)


# A telling name is enough for looser content: (name, cells, kind, role).
NAMED: list[tuple[str, list[Any], str, str]] = [
    ("Phone", [number(9) for _ in range(ROWS)], "telephone number", "identifier"),
    ("teléfono móvil", [number(9) for _ in range(ROWS)], "telephone number", "identifier"),
    ("SSN", [123_45_6789 + i for i in range(ROWS)], "social security number", "identifier"),
    ("apellidoPaterno", ["Quispe", "Mamani", "Huanca"] * 20, "personal name", "identifier"),
    ("patient_name", ["Wojciech", "Agnieszka"] * 30, "personal name", "identifier"),
    ("N° ficha clínica", [number(6) for _ in range(ROWS)], "medical record number", "identifier"),
    ("mrn", [f"MRN-{number(6)}" for _ in range(ROWS)], "medical record number", "identifier"),
    ("patente", ["BBCL23", "GHJK45", "ZZ1234"] * 20, "vehicle identifier", "identifier"),
    ("imei", [str(number(15)) for _ in range(ROWS)], "device identifier", "identifier"),
    ("domicilio", ["Los Aromos 12", "Av. Prat 400"] * 30, "street address", "identifier"),
    ("pasaporte", [f"P{number(7)}" for _ in range(ROWS)], "identity number", "identifier"),
    ("código postal", [8320000 + i for i in range(ROWS)], "postal code", "quasi-identifier"),
    ("ZIP", ["02138", "02139", "02141"] * 20, "postal code", "quasi-identifier"),
    ("date_of_birth", ["1961-03-15", "1970-01-01"] * 30, "birth date", "quasi-identifier"),
    ("FechaNacimiento", ["15/03/1961", "1/1/1970"] * 30, "birth date", "quasi-identifier"),
    ("fecha ingreso", [date(2020, 1, 2)] * ROWS, "admission or discharge date", "quasi-identifier"),
    ("edad", [20 + i for i in range(ROWS)], "age", "quasi-identifier"),
    ("Age", [40 + i for i in range(ROWS)], "age over 89", "quasi-identifier"),
    ("age", ["20-29", "30-39"] * 30, "age", "quasi-identifier"),
    ("comuna", ["Ñuñoa", "Maipú"] * 30, "geographic", "quasi-identifier"),
    ("sexo", ["F", "M"] * 30, "demographic", "quasi-identifier"),
    ("estado_civil", ["soltero", "casado"] * 30, "demographic", "quasi-identifier"),
    ("diagnóstico", ["gripe", "asma"] * 30, "sensitive attribute", "sensitive"),
    ("salary", [1000.5, 2000.25] * 30, "sensitive attribute", "sensitive"),
    ("customer_id", [i // 3 for i in range(ROWS)], "key", "identifier"),
    ("UTILITYID", [i // 3 for i in range(ROWS)], "key", "identifier"),
    ("ori_hid", [i // 3 for i in range(ROWS)], "key", "identifier"),
    ("PREPAID", [i // 3 for i in range(ROWS)], "coded category", "quasi-identifier"),
    ("id", [7 * i for i in range(ROWS)], "unique key", "identifier"),
]


@pytest.mark.parametrize(("name", "cells", "kind", "role"), NAMED)
def test_a_telling_name_makes_looser_content_suspicious(
    name: str, cells: list[Any], kind: str, role: str
) -> None:
    (found,) = detect({name: cells})
    assert (found.kind, found.role) == (kind, role)


@pytest.mark.parametrize(
    ("name", "role"), [("firm id", "identifier"), ("product id", "quasi-identifier")]
)
def test_twelve_months_of_each_have_one_key(name: str, role: str) -> None:
    (found,) = detect({name: [7 * (i // 12) for i in range(12 * 30)]})
    assert found.role == role


# What looks a little like an identifier and is none, or is not explained at all.
IN_DOUBT: dict[str, list[Any]] = {
    "amount": [number(5) for _ in range(ROWS)],
    "reading": [number(9) for _ in range(ROWS)],
    "counter": [number(16) for _ in range(ROWS)],
    "product name": ["Chair", "Table", "Lamp"] * 20,
    "score": GENERATOR.normal(size=ROWS).tolist(),
    "version": ["1.2.3", "1.2.4", "2.0.0"] * 20,
    "status": ["open", "closed"] * 30,
    "flag": [True, False] * 30,
    "percentage": [i % 50 + 50 for i in range(ROWS)],
    "page": [i % 9 for i in range(ROWS)],
    "storage": ["a", "b"] * 30,
}


@pytest.mark.parametrize("name", IN_DOUBT)
def test_in_doubt_a_column_is_a_quasi_identifier(name: str) -> None:
    (found,) = detect({name: IN_DOUBT[name]})
    assert found.role == "quasi-identifier", found


@pytest.mark.parametrize("cells", [[None] * ROWS, ["same"] * ROWS, [3] * ROWS], ids=str)
def test_only_columns_that_tell_nothing_are_insensitive(cells: list[Any]) -> None:
    (found,) = detect({"nothing": cells})
    assert found.role == "insensitive"


# Columns of tables nobody here wrote: (name, cells, kind, role).
CODED: list[tuple[str, list[Any], str, str]] = [
    ("isex", [1, 2] * 30, "demographic", "quasi-identifier"),
    ("dAge", [i % 9 for i in range(ROWS)], "age", "quasi-identifier"),
    ("MARRIAGE", [1, 2, 3] * 20, "demographic", "quasi-identifier"),
    ("BILL_AMT1", [i * 37 % 101 for i in range(ROWS)], "amount", "quasi-identifier"),
    ("PAY_0", [-1, 0, 2] * 20, "amount", "quasi-identifier"),
    ("x17", [1, 2, 3] * 20, "coded category", "quasi-identifier"),
    ("default payment next month", [0, 1] * 30, "sensitive attribute", "sensitive"),
    ("DEBTS", [float(i) for i in range(ROWS)], "number", "quasi-identifier"),
]


@pytest.mark.parametrize(("name", "cells", "kind", "role"), CODED)
def test_coded_columns_are_recognised(name: str, cells: list[Any], kind: str, role: str) -> None:
    (found,) = detect({name: cells})
    assert (found.kind, found.role) == (kind, role)


def test_a_sensitive_column_that_singles_records_out_is_generalised() -> None:
    found = detect({"disease": ["flu", "asma"] * 30, "salary": [1000 + 7 * i for i in range(ROWS)]})
    assert [each.role for each in found] == ["sensitive", "quasi-identifier"]
    assert "single records out" in found[1].why


def test_a_column_is_explained_by_what_the_data_shows() -> None:
    rows = 2000
    ages = GENERATOR.integers(20, 60, rows)
    found = detect(
        {
            "age": ages,
            "group": ages // 10,
            "fine": GENERATOR.integers(0, 10**6, rows),
            "coin": GENERATOR.integers(0, 2, rows),
        }
    )
    assert found[1].why == "its values go with those of the quasi-identifier 'age'"
    assert found[2].why.startswith("100% of the records are alone with it")
    assert found[3].why == "nothing shows that it cannot identify, so it is protected"


def test_census_columns_are_no_identifiers() -> None:
    roles = {found.column: found.role for found in detect(datasets.census(1000, seed=1))}
    assert roles.pop("salary-class") == "sensitive"
    assert set(roles.values()) == {"quasi-identifier"}


def test_the_share_is_of_filled_cells() -> None:
    cells = ["a@example.org", "b@example.org", "c@example.org", "unknown", None, None]
    (found,) = detect({"contact": cells})
    assert (found.kind, found.share, found.distinctness) == ("e-mail address", 0.75, 1.0)


def test_repeated_cells_count_as_often_as_they_come() -> None:
    (found,) = detect({"mail": ["a@example.org"] * 9 + ["none"]})
    assert (found.share, found.distinctness) == (0.9, 0.2)


def test_a_long_column_is_judged_by_cells_spread_over_it() -> None:
    cells = [f"{i}@example.org" if i % 2 else f"nobody {i}" for i in range(70_001)]
    (found,) = detect({"q": cells})
    # Every other cell is an address, which even steps would see all of or none of.
    assert found.kind == "e-mail address"
    assert found.share == pytest.approx(0.5, abs=0.01)


def test_no_finding_quotes_a_cell() -> None:
    for found in detect({f"c{i}": cells for i, cells in enumerate(CONTENT.values())}):
        said = json.dumps(found.as_dict())
        for cells in CONTENT.values():
            assert not any(str(cell) in said for cell in cells)
        assert "\n" not in str(found)


def test_columns_may_have_any_name_and_there_is_one_finding_each() -> None:
    table = pl.DataFrame({"*": [1, 2], "^a": ["x", "y"], "ñ": [None, 1.5]})
    steps: list[Step] = []
    found = detect(table, progress=steps.append)
    assert [finding.column for finding in found] == table.columns
    assert steps[-1] == Step("columns", 3, 3)


def test_categories_and_dates_of_any_type_are_read() -> None:
    mails = pl.Series("c", CONTENT["e-mail address"], dtype=pl.Categorical)
    moments = pl.Series("born", CONTENT["date"]).cast(pl.Datetime("us", "UTC"))
    kinds = [found.kind for found in detect(pl.DataFrame([mails, moments]))]
    assert kinds == ["e-mail address", "birth date"]


def test_a_table_without_rows_or_columns_has_nothing_to_find() -> None:
    assert detect(pl.DataFrame()) == ()
    (found,) = detect(pl.DataFrame({"x": []}, schema={"x": pl.String}))
    assert found == Finding(
        column="x",
        kind="empty",
        role="insensitive",
        share=0.0,
        distinctness=0.0,
        why="no cell is filled",
    )


def test_years_of_birth_are_quasi_identifiers_and_other_years_are_not() -> None:
    years = [1940 + 7 * place % 60 for place in range(100)]
    table = pl.DataFrame(
        {"Año de nacimiento": years, "año de la póliza": years, "birth": [3] * 100}
    )
    found = [finding.kind for finding in detect(table)]
    assert found[0] == "birth date"
    assert "birth date" not in found[1:]
