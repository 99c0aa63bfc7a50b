"""The statistics in a real browser: published numbers beside ours, in both languages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from celosia import lab
from celosia.core.messages import Message
from celosia.studio import stored_json
from celosia.studio.language import chosen
from celosia.studio.statistics.model import (
    COMPARED,
    RISKS,
    compared,
    families,
    measures,
    shipped,
    shown,
)
from tests.lab.studies import findings
from tests.studio.conftest import Visit

STUDY = "mechanisms/belief"
QUICK = (
    "mechanisms/belief",
    "mechanisms/composition",
    "sql/flex",
    "sql/by-hand",
    "masking/telemetry",
    "graphs/shapes",
    "graphs/k-degree",
    "graphs/uncertain",
    "graphs/generalisation",
)
"""Studies of a moment, with names of every sort."""


def rounded(value: Any) -> Any:
    """The same with numbers of nine digits: the last ones differ between processors."""
    if isinstance(value, float):
        return float(f"{round(value, 12):.9g}")
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    return [rounded(each) for each in value] if isinstance(value, list | tuple) else value


ENGLISH = re.compile(r"(?<![\w-])(the|of|and|by|with|at|from|is|are|to|for|on)(?![\w-])")
"""Words that no Spanish name of a measure has."""


@pytest.fixture
def in_spanish() -> Iterator[None]:
    """Speak Spanish."""
    token = chosen.set("es")
    yield
    chosen.reset(token)


def test_every_study_of_the_lab_has_a_card(both_languages: Visit) -> None:
    page = both_languages.open("/statistics")
    wanted = sum(map(len, families().values()))
    assert page.locator("main a.celosia-card").count() == wanted
    page.locator('[data-test="three-models"] canvas').wait_for()
    both_languages.picture()


def test_a_study_is_computed_and_drawn(both_languages: Visit) -> None:
    page = both_languages.open(f"/statistics/{STUDY}")
    page.locator(".nicegui-echart canvas").wait_for()  # shipped
    page.locator('[data-test="compute"]').click()
    expect(page.locator('[data-test="compute"]')).to_have_count(0)
    page.locator(".nicegui-echart canvas").wait_for()
    with page.expect_download() as started:
        page.locator("button", has_text="JSON").click()
    with started.value.path().open("rb") as file:
        found = json.load(file)
    assert found["study"] == STUDY
    assert found["matched"] == found["checked"] > 0
    both_languages.picture()


def test_a_study_that_does_not_exist_is_told(visit: Visit) -> None:
    page = visit.open("/statistics/nothing")
    assert page.get_by_role("alert").inner_text().count("CEL-L") == 1
    visit.expect_status(404)


def test_a_measure_is_drawn_only_if_all_its_cells_are_numbers() -> None:
    row = {"run": "k=2", "cell": "mode", "published": "[20-39]", "computed": 3}
    [found] = measures([row | {"expected": None, "matches": False}])
    assert not found.is_number
    assert found.matched == 0


@pytest.mark.parametrize("name", QUICK)
def test_a_study_names_its_runs_and_measures_in_spanish(name: str, in_spanish: None) -> None:
    found = stored_json.loads(stored_json.dumps(findings(name).as_dict()))
    assert rounded(found) == rounded(shipped(name)), "run docs/compute_statistics.py with its name"
    rows = found["rows"]
    english = {
        str(row[key])
        for row in rows
        for key in ("run", "cell", "published", "computed")
        if ENGLISH.search(str(shown(row[key])))
    }
    assert english == set()


def test_what_is_shipped_are_studies_of_the_lab_and_their_sums() -> None:
    names = [each.name for each in lab.studies() if "/" in each.name]
    known = [name for name in names if shipped(name) is not None]
    assert len(known) >= len(names) - 2
    whole = shipped("graphs")
    assert whole is not None
    assert whole["checked"] == sum(
        (shipped(name) or {})["checked"] for name in names if name.startswith("graphs/")
    )
    assert shipped("tables") is None  # one of its parts is left to whoever has its packages


@pytest.mark.parametrize("risk", RISKS)
def test_three_models_lose_more_and_risk_less_the_more_is_asked(risk: str) -> None:
    for name in COMPARED:
        study = shipped(name)
        assert study is not None
        points = sorted(compared(study, risk), key=lambda each: each.loss)
        assert len(points) >= 5
        assert points[0].risk >= points[-1].risk
        assert 0 < points[0].loss < points[-1].loss <= 100


def test_names_numbers_and_words_are_told_in_spanish(in_spanish: None) -> None:
    assert shown(Message("lab.tables.maximum_risk")) == "riesgo máximo %"
    assert shown("yes") == "sí"
    assert shown("SFP k=32, k'=32, m=16, m'=16") == "SFP k=32, k'=32, m=16, m'=16"
    assert shown("[20-39]") == "[20-39]"
    assert shown(7) == 7


def test_what_is_kept_of_a_study_is_told_in_any_language(in_spanish: None) -> None:
    found = findings("mechanisms/composition").as_dict()
    kept = stored_json.loads(stored_json.dumps(found))
    assert kept == found
    [bound] = {str(row["computed"]) for row in kept["rows"] if row["computed"] == "advanced"}
    assert bound == "avanzada"
