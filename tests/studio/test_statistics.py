"""The statistics in a real browser: published numbers beside ours, in both languages."""

from __future__ import annotations

import json

from tests.studio.conftest import Visit

from celosia.studio.model.statistics import families, measures

STUDY = "mechanisms/belief"


def test_every_study_of_the_lab_has_a_card(both_languages: Visit) -> None:
    page = both_languages.open("/statistics")
    wanted = sum(map(len, families().values()))
    assert page.locator("main a.celosia-card").count() == wanted
    both_languages.picture()


def test_a_study_is_computed_and_drawn(both_languages: Visit) -> None:
    page = both_languages.open(f"/statistics/{STUDY}")
    button = page.locator("main button").first
    if page.locator(".nicegui-echart").count() == 0:  # the first of the two visitors
        button.click()
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


def test_a_measure_is_drawn_only_if_all_its_cells_are_numbers() -> None:
    row = {"run": "k=2", "cell": "mode", "published": "[20-39]", "computed": 3, "matches": False}
    [found] = measures([row])
    assert not found.is_number
    assert found.matched == 0
