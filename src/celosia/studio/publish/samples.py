"""Tables to begin with, each with roles, hierarchies and a model that make sense for it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from celosia.studio.publish.form import ColumnForm, PublishForm
from celosia.studio.samples import Sample

QUASI = "quasi-identifier"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSample(Sample):
    """A data set of `celosia.datasets`, and what to choose for it at first."""

    k: int = 5
    suppression: float = 0.05


SAMPLES = (
    TableSample(
        name="census",
        title="Census",
        about="Invented people, distributed as in the US census of 1994, with eight "
        "quasi-identifiers and their hierarchies: the table that papers compare.",
        rows=30_162,
        columns=9,
    ),
    TableSample(
        name="patients",
        title="Patients",
        about="Three groups of three; in one of them all have the same disease, which is "
        "disclosed.",
        rows=9,
        columns=3,
        k=3,
        suppression=0.0,
    ),
    TableSample(
        name="published-patients",
        title="Patients as published",
        about="The same nine patients with the groups of the published table: 476**, 4790* and "
        "40 or older.",
        rows=9,
        columns=3,
        k=3,
        suppression=0.0,
    ),
    TableSample(
        name="five-attributes",
        title="Five attributes",
        about="One outlier forces everybody to a coarser level: the case for suppression.",
        rows=11,
        columns=5,
        k=2,
        suppression=0.1,
    ),
    TableSample(
        name="ethnic-postal",
        title="Ethnic group and postal code",
        about="Two columns and a lattice of six nodes, small enough to follow by hand.",
        rows=12,
        columns=2,
        k=2,
        suppression=0.0,
    ),
    TableSample(
        name="suppression",
        title="Generalise or suppress",
        about="Four of eight records are unique: suppress them, or generalise further?",
        rows=8,
        columns=2,
        k=2,
        suppression=0.25,
    ),
)
"""The samples, the one that most visitors want first."""

_POSTAL = {
    "method": "tree",
    "tree": {"05340": ["05345", "05349"], "05350": ["05351", "05352", "05356"]},
    "root": "05300",
}
_ETHNIC = {"method": "tree", "tree": ["rapanui", "mapuche", "atacameño"], "root": "person"}
_SMALL: dict[str, dict[str, Any]] = {
    "patients": {
        "zip": {"role": QUASI, "hierarchy": {"method": "mask"}},
        "age": {
            "role": QUASI,
            "hierarchy": {"method": "intervals", "bounds": [[20, 30, 40, 60]], "style": "bracket"},
        },
        "disease": {"role": "sensitive"},
    },
    "five-attributes": {
        "ethnic": {"role": QUASI, "hierarchy": _ETHNIC},
        "birth": {
            "role": QUASI,
            "hierarchy": {
                "method": "dates",
                "levels": ["month", "year"],
                "format": "%d/%m/%y",
                "century": 1900,
            },
        },
        "sex": {
            "role": QUASI,
            "hierarchy": {"method": "tree", "tree": ["female", "male"], "root": "not reported"},
        },
        "postal": {"role": QUASI, "hierarchy": _POSTAL},
        "marital": {
            "role": QUASI,
            "hierarchy": {
                "method": "tree",
                "tree": {
                    "ever married": ["married", "divorced", "widowed"],
                    "never married": ["single"],
                },
                "root": "not reported",
            },
        },
    },
    "ethnic-postal": {
        "ethnic": {"role": QUASI, "hierarchy": _ETHNIC},
        "postal": {"role": QUASI, "hierarchy": _POSTAL},
    },
    "suppression": {
        "ethnic": {"role": QUASI, "hierarchy": _ETHNIC},
        "postal": {"role": QUASI, "hierarchy": _POSTAL},
    },
}


def sample_choices(name: str, columns: tuple[ColumnForm, ...], rows: int) -> PublishForm:
    """What to choose for a sample at first, given its columns as they were found."""
    known = next(each for each in SAMPLES if each.name == name)
    entries = _entries(name)
    chosen = tuple(
        replace(
            column,
            role=entries[column.name]["role"],
            hierarchy=entries[column.name].get("hierarchy"),
            missing=entries[column.name].get("missing", "refuse"),
        )
        for column in columns
    )
    return PublishForm(
        file=f"{name}.csv",
        sample=name,
        rows=rows,
        columns=chosen,
        models=({"method": "k-anonymity", "k": known.k},),
        suppression=known.suppression,
    )


def load_sample(name: str) -> pl.DataFrame:
    """The table of a sample.

    Raises:
        InputError: CEL-D007, there is none of that name.
    """
    from celosia.datasets import load  # datasets are made when asked for

    return load(name)


def _entries(name: str) -> Mapping[str, Any]:
    if name in _SMALL:
        return _SMALL[name]
    from celosia.datasets import schema_text

    entries: Mapping[str, Any] = tomllib.loads(schema_text(name))["columns"]
    return entries
