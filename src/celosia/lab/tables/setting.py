"""The columns of the published experiments, with the age hierarchy as it was printed."""

from __future__ import annotations

from dataclasses import replace

from celosia import datasets
from celosia.datasets.census import COLUMNS
from celosia.tables import Hierarchy, Schema
from celosia.tables.hierarchies import ROOT

SENSITIVE = "occupation"
QUASI_IDENTIFIERS = tuple(name for name in COLUMNS if name != SENSITIVE)
"""In the order in which levels are written."""


def published_ages() -> Hierarchy:
    """Ages 1 to 100 in intervals of 5, 10 and 20 years, with the labels that were published.

    They are one year off: `20-39` holds 21 to 40. The groups, hence classes and losses, are those
    of `datasets.census_schema()`, whose labels are right; but the published means, limits and modes
    of the age follow from these.

    >>> [published_ages().label("40", level=level) for level in range(5)]
    ['40', '35-39', '30-39', '20-39', '*']
    """
    return Hierarchy.from_paths(
        (str(age), *(_label(age, width) for width in (5, 10, 20)), ROOT) for age in range(1, 101)
    )


def published_schema() -> Schema:
    """Eight quasi-identifiers in their published order, and occupation as the sensitive column.

    >>> published_schema().columns[1].name
    'age'
    """
    given = {column.name: column for column in datasets.census_schema().columns}
    given["age"] = replace(given["age"], hierarchy=published_ages())
    return Schema(tuple(given[name] for name in (*QUASI_IDENTIFIERS, SENSITIVE)))


def _label(age: int, width: int) -> str:
    low = (age - 1) // width * width
    return f"{low}-{low + width - 1}"
