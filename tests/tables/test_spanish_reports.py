"""With Spanish as the language, reports of tables keep no English of the catalogue."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from typing import Any

import polars as pl
import pytest

from celosia import KAnonymity, Seeded, datasets
from celosia.core.messages import read_family, speaking
from celosia.core.report import Document
from celosia.tables import Intervals, Mask, Schema, exploration_report, explore, publish
from celosia.tables.magnitude import MinimumFrequency, magnitude_table, protect
from celosia.tables.magnitude import report as magnitude_report
from celosia.tables.magnitude.protection import audit
from celosia.tables.masking import Mdav, Noise, Recipe, mask

PATIENTS = Schema.of(
    quasi_identifiers={"zip": Mask(), "age": Intervals(bounds=((20, 30, 40, 60),))},
    sensitive=["disease"],
)


def published() -> Document:
    release = publish(datasets.examples.patients(), PATIENTS, KAnonymity(3), rng=Seeded(1))
    return release.document()


def explored() -> Document:
    found = explore(datasets.examples.patients(), PATIENTS, KAnonymity(3), suppression=0)
    return exploration_report.document(found, promise=KAnonymity(3).promise())


def masked() -> Document:
    table = pl.DataFrame({"age": range(20, 60), "income": [100.0 * n for n in range(40)]})
    schema = Schema.of(quasi_identifiers=["age", "income"])
    recipe = Recipe.of(schema, [(Mdav(k=3), ["age"]), (Noise(amount=0.1), ["income"])])
    return mask(table, recipe, rng=Seeded(1)).document()


def summed() -> Document:
    firms = pl.DataFrame({"region": ["n", "s", "s", "w", "w"], "sales": [9, 5, 7, 4, 4]})
    protected = protect(magnitude_table(firms, by=["region"], value="sales"), [MinimumFrequency(2)])
    return magnitude_report.document(protected, audit(protected))


@pytest.mark.parametrize("made", [published, explored, masked, summed])
def test_a_report_in_spanish_has_no_english_of_the_catalogue(made: Callable[[], Document]) -> None:
    with speaking("es"):
        page = made().html()
    assert '<html lang="es">' in page
    assert _shown(page) & _english("tables", "masking", "reports") <= ELSEWHERE


ELSEWHERE = {"Column", "Columns", "Loss", "noise"}
"""Words of the figures that `celosia.assess` adds to a masked table, and the name of a method."""


def _shown(page: str) -> set[str]:
    body = re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)
    labels = re.findall(r'aria-label="([^"]*)"', body)
    return {html.unescape(text).strip() for text in (*re.split(r"<[^>]*>", body), *labels)}


def _english(*families: str) -> set[str]:
    """The texts without fields that are others in Spanish."""
    return {text for family in families for text in _texts(read_family(family))}


def _texts(entry: dict[str, Any]) -> Iterator[str]:
    english = entry.get("en")
    if english is None:
        for name, below in entry.items():
            if not name.startswith("CEL-"):
                yield from _texts(below)
    elif english != entry["es"] and "{" not in english:
        yield english
