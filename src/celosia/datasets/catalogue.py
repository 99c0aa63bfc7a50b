"""What there is to start with, for the command line and for people who browse."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from celosia.core.errors import InputError
from celosia.core.messages import Message, did_you_mean
from celosia.datasets import examples, telemetry
from celosia.datasets.adult import adult
from celosia.datasets.census import COLUMNS, census
from celosia.datasets.city import COLUMNS as CITY_COLUMNS
from celosia.datasets.city import city_points
from celosia.datasets.searches import COLUMNS as SEARCH_COLUMNS
from celosia.datasets.searches import search_records


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
            title=Message("datasets.title.census"),
            rows=30_162,
            columns=COLUMNS,
            source=Message("datasets.source.census"),
            load="datasets.census()",
        ),
        Dataset(
            name="adult",
            title=Message("datasets.title.adult"),
            rows=30_162,
            columns=COLUMNS,
            source=Message("datasets.source.adult"),
            load="datasets.adult()",
        ),
        Dataset(
            name="city",
            title=Message("datasets.title.city"),
            rows=134_874,
            columns=CITY_COLUMNS,
            source="generated",
            load="datasets.city().frame",
        ),
        Dataset(
            name="searches",
            title=Message("datasets.title.searches"),
            rows=141_919,
            columns=SEARCH_COLUMNS,
            source="generated",
            load="datasets.searches().frame",
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
        "city": (city_points, {"rows", "seed"}),
        "searches": (search_records, {"rows", "seed"}),
        "exponential": (telemetry.exponential, {"rows", "seed"}),
        "normal": (telemetry.normal, {"rows", "seed"}),
        "letters": (telemetry.letters, {"rows", "seed"}),
        "anglicisms": (telemetry.anglicisms, {"rows", "seed"}),
        "ethnic-postal": (examples.ethnic_postal, set()),
        "five-attributes": (examples.five_attributes, set()),
        "patients": (examples.patients, set()),
        "published-patients": (examples.patients, set()),
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
        "exponential": Message("datasets.title.exponential"),
        "normal": Message("datasets.title.normal"),
        "letters": Message("datasets.title.letters"),
        "anglicisms": Message("datasets.title.anglicisms"),
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
            title=Message("datasets.title.ethnic_postal"),
            rows=12,
            columns=("ethnic", "postal"),
            source=Message("datasets.source.samarati"),
            load="datasets.examples.ethnic_postal()",
        ),
        Dataset(
            name="five-attributes",
            title=Message("datasets.title.five_attributes"),
            rows=11,
            columns=("ethnic", "birth", "sex", "postal", "marital"),
            source="invented",
            load="datasets.examples.five_attributes()",
        ),
        Dataset(
            name="patients",
            title=Message("datasets.title.patients"),
            rows=9,
            columns=("zip", "age", "disease"),
            source=Message("datasets.source.li"),
            load="datasets.examples.patients()",
        ),
        Dataset(
            name="published-patients",
            title=Message("datasets.title.published_patients"),
            rows=9,
            columns=("zip", "age", "disease"),
            source=Message("datasets.source.li"),
            load="datasets.examples.patients()",
        ),
        Dataset(
            name="suppression",
            title=Message("datasets.title.suppression"),
            rows=8,
            columns=("ethnic", "postal"),
            source=Message("datasets.source.samarati"),
            load="datasets.examples.suppression_example()",
        ),
    )
