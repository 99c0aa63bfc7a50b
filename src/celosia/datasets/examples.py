"""The small tables on which anonymity is taught: short enough to check by hand.

The ethnic groups are peoples of Chile; the persons are invented.
"""

from __future__ import annotations

import tomllib
from itertools import product

import polars as pl

from celosia.datasets.census import schema_text
from celosia.tables import Schema


def ethnic_postal() -> pl.DataFrame:
    """Twelve people, one for every pair of ethnic group and postal code.

    The smallest table with a lattice worth drawing: two columns, six nodes, three ways up. Nobody
    shares both values; k grows to 12 at the top.

    >>> ethnic_postal().shape
    (12, 2)
    >>> ethnic_postal().n_unique()
    12

    Reference: after Samarati and Sweeney 1998.
    """
    groups = ("rapanui", "mapuche", "atacameño")
    codes = ("05345", "05349", "05352", "05356")
    return pl.DataFrame(list(product(groups, codes)), schema=["ethnic", "postal"], orient="row")


def five_attributes() -> pl.DataFrame:
    """Eleven people with five columns, of whom the last one costs all the others precision.

    Without the last row, hiding the day of birth puts every row in a pair; with it, far more must
    go. This is what suppression is for.

    >>> people = five_attributes()
    >>> people.shape
    (11, 5)
    >>> people.head(10).with_columns(pl.col("birth").str.tail(5)).n_unique()
    5
    """
    rows = [
        ("rapanui", "19/08/63", "female", "05349", "divorced"),
        ("rapanui", "25/08/63", "female", "05349", "divorced"),
        ("rapanui", "15/03/63", "male", "05349", "married"),
        ("rapanui", "03/03/63", "male", "05349", "married"),
        ("mapuche", "07/02/62", "male", "05345", "married"),
        ("mapuche", "12/02/62", "male", "05345", "married"),
        ("mapuche", "08/08/63", "female", "05352", "married"),
        ("mapuche", "05/08/63", "female", "05352", "married"),
        ("atacameño", "10/06/60", "male", "05345", "single"),
        ("atacameño", "01/06/60", "male", "05345", "single"),
        ("atacameño", "13/06/60", "female", "05356", "widowed"),
    ]
    names = ["ethnic", "birth", "sex", "postal", "marital"]
    return pl.DataFrame(rows, schema=names, orient="row")


def suppression_example() -> pl.DataFrame:
    """Eight people among whom generalising and suppressing can be weighed against each other.

    For k = 2, four people stand alone: drop them, generalise until they have company, or do some
    of both. Each allowance of suppressed rows has its own minimal tables.

    >>> table = suppression_example()
    >>> table.shape
    (8, 2)
    >>> table.is_unique().sum()
    4

    Reference: after Samarati and Sweeney 1998.
    """
    rows = [
        ("rapanui", "05345"),
        ("rapanui", "05345"),
        ("rapanui", "05352"),
        ("rapanui", "05352"),
        ("mapuche", "05345"),
        ("mapuche", "05351"),
        ("mapuche", "05352"),
        ("atacameño", "05345"),
    ]
    return pl.DataFrame(rows, schema=["ethnic", "postal"], orient="row")


def patients() -> pl.DataFrame:
    """Nine patients whose 3-anonymous table still tells three of them their disease.

    Masking two digits of the zip and grouping ages makes three classes of three; in one of them
    all patients have a heart disease. This is what l-diversity is for.

    >>> patients().schema["zip"], patients().schema["age"]
    (String, Int64)
    >>> patients().filter(pl.col("age") < 30)["disease"].unique().to_list()
    ['Heart Disease']

    Reference: Li, Li and Venkatasubramanian 2007, table 1.
    """
    rows = [
        ("47677", 29, "Heart Disease"),
        ("47602", 22, "Heart Disease"),
        ("47678", 27, "Heart Disease"),
        ("47905", 43, "Flu"),
        ("47909", 52, "Heart Disease"),
        ("47906", 47, "Cancer"),
        ("47605", 30, "Heart Disease"),
        ("47673", 36, "Cancer"),
        ("47607", 32, "Cancer"),
    ]
    return pl.DataFrame(rows, schema=["zip", "age", "disease"], orient="row")


def patients_schema() -> Schema:
    """The schema of `patients` with the groups of the published table: `4790*` and `>=40`.

    Postal codes are masked to different depths in it, which a mask that treats all codes alike
    cannot give. At level 1 of both columns the table is the published one.

    >>> from celosia import KAnonymity, publish
    >>> release = publish(patients(), patients_schema(), KAnonymity(3), suppression=0, sort="zip")
    >>> release.data.select("zip", "age").unique(maintain_order=True).sort("age").rows()
    [('476**', '2*'), ('476**', '3*'), ('4790*', '>=40')]

    Reference: Li, Li and Venkatasubramanian 2007, table 2.
    """
    return Schema.from_table(tomllib.loads(schema_text("published-patients")))
