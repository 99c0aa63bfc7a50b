"""Tables to begin with, each with roles, hierarchies and a model that make sense for it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from celosia.studio.publish.form import ColumnForm, PublishForm

QUASI = "quasi-identifier"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A data set of `celosia.datasets` and what to choose for it at first."""

    name: str
    rows: int
    columns: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Models, suppression and the like, as `Choices` has them."""


SAMPLES = (
    Sample(name="census", rows=30_162, columns=9),
    Sample(
        name="patients",
        rows=9,
        columns=3,
        settings={"models": ({"method": "k-anonymity", "k": 3},), "suppression": 0.0},
    ),
    Sample(
        name="five-attributes",
        rows=11,
        columns=5,
        settings={"models": ({"method": "k-anonymity", "k": 2},), "suppression": 0.1},
    ),
    Sample(
        name="ethnic-postal",
        rows=12,
        columns=2,
        settings={"models": ({"method": "k-anonymity", "k": 2},), "suppression": 0.0},
    ),
    Sample(
        name="suppression",
        rows=8,
        columns=2,
        settings={"models": ({"method": "k-anonymity", "k": 2},), "suppression": 0.25},
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
    return PublishForm(file=f"{name}.csv", sample=name, rows=rows, columns=chosen, **known.settings)


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

    entries: Mapping[str, Any] = tomllib.loads(schema_text())["columns"]
    return entries
