"""Mask and synthesise in a real browser: the journeys with a sample and with a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.effort import some
from tests.studio.conftest import Visit, visiting


@pytest.mark.parametrize("both_languages", some(["en", "es"], 1), indirect=True)
def test_a_sample_is_masked_in_three_clicks_mapped_and_synthesised(both_languages: Visit) -> None:
    visit = both_languages
    page = visit.open("/mask")
    visit.picture("1-start")
    page.locator('[data-test="sample-incomes"]').click()
    page.locator('[data-test="run"]').wait_for()
    visit.picture("2-recipe")
    page.locator('[data-test="run"]').click()
    page.wait_for_url("**step=result**")
    page.locator("canvas").first.wait_for()
    visit.picture("3-result")
    spanish = page.get_attribute("html", "lang") == "es"
    figure = "Vinculados por distancia" if spanish else "Linked by distance"
    assert page.get_by_text(figure, exact=True).is_visible()
    assert visit.overflow() == 0
    for name in ("masked.csv", "masked-certificate.json", "masked-report.html", "recipe.toml"):
        answer = page.request.get(
            page.locator(f'[data-test="file-{name}"]').evaluate("link => link.href")
        )
        assert answer.ok
        assert len(answer.body()) > 100
    if not spanish:
        _a_point_of_the_map_is_applied(visit)
    _a_private_table_is_made_once_its_columns_are_declared(visit)


def test_steps_are_added_moved_and_removed_and_stay_after_a_reload(visit: Visit) -> None:
    page = visit.open("/mask")
    page.locator('[data-test="sample-census"]').click()
    page.locator('[data-test="method-pram"]').click()
    page.locator('[data-test="step-2"]').get_by_text("Random categories (PRAM)").wait_for()
    page.locator('[data-test="step-2"]').get_by_label("Earlier: Random categories").click()
    page.locator('[data-test="step-1"]').get_by_text("Random categories (PRAM)").wait_for()
    page.reload()
    first = page.locator('[data-test="step-1"]')
    first.get_by_text("Random categories (PRAM)").wait_for()
    visit.picture("two-steps")
    page.wait_for_function("window.socket !== undefined && window.socket.connected")
    first.get_by_label("Remove: Random categories").click()
    page.locator('[data-test="step-2"]').wait_for(state="detached")
    assert page.locator('[data-test="step-1"]').get_by_text("(MDAV)").is_visible()
    page.get_by_role("link", name="Stream").click()
    page.locator('[data-test="stream-steps"]').click()
    page.locator('[data-test="take-records"]').click()
    page.wait_for_function("document.querySelector('[data-test=arriving]').value.includes('age')")
    page.locator('[data-test="mask-arrived"]').click()
    page.locator('[data-test="file-stream.csv"]').wait_for()
    visit.picture("stream")


def _a_point_of_the_map_is_applied(visit: Visit) -> None:
    page = visit.page
    page.goto(page.url.replace("step=result", "step=map"))
    page.wait_for_function("window.socket !== undefined && window.socket.connected")
    page.locator('[data-test="map"]').click()
    # No mouse is needed for any point.
    visit.open_list(page.get_by_label("All maskings of the map"), page.get_by_role("option").first)
    for key in ("End", "Enter"):
        page.keyboard.press(key)
    page.locator('[data-test="variant"]').get_by_text("rank-swap percent=5").wait_for()
    page.get_by_role("button", name="mdav k=10").click()
    page.locator('[data-test="variant"]').get_by_text("mdav k=10").wait_for()
    visit.picture("map")
    page.locator('[data-test="apply"]').click()
    page.wait_for_url("**step=result**")
    assert page.get_by_text("1 → 10", exact=True).is_visible()


def _a_private_table_is_made_once_its_columns_are_declared(visit: Visit) -> None:
    page = visit.page
    page.goto(page.url.replace("/mask/", "/synthesise/").split("?")[0])
    page.wait_for_function("window.socket !== undefined && window.socket.connected")
    page.locator('[data-test="method-marginals"]').click()
    page.locator('[data-test="declare"]').wait_for()
    page.locator('[data-test="run"]').click()
    page.get_by_text("CEL-W073").wait_for()
    page.locator('[data-test="declare"]').click()
    page.wait_for_function(
        "[...document.querySelectorAll('input[aria-label]')]"
        ".some(box => box.getAttribute('aria-label').endsWith(': tax') && box.value)"
    )
    visit.picture("4-declared")
    page.locator('[data-test="run"]').click()
    page.wait_for_url("**step=result**")
    page.get_by_text("ε = 1, δ = 1e-09").wait_for()
    visit.picture("5-synthetic")
    assert visit.overflow() == 0


def test_a_file_with_script_in_it_is_shown_as_text(
    browser: Browser, address: str, tmp_path: Path
) -> None:
    bad = "<img src=x onerror=alert(1)>"
    file = tmp_path / "people.csv"
    rows = [
        f"{20 + number % 40},{1000 + 37 * number},{'m' if number % 2 else bad}"
        for number in range(60)
    ]
    file.write_text("\n".join([f"age,pay,{bad}", *rows]), "utf-8")
    with visiting(browser, address, "mask-phone", phone=True) as visit:
        page = visit.open("/mask")
        page.locator('input[type="file"]').set_input_files(file)
        page.locator('[data-test="run"]').click()
        page.wait_for_url("**step=result**")
        page.locator("canvas").first.wait_for()
        visit.picture("script")
        assert page.locator("img[src=x]").count() == 0
        assert page.locator("td", has_text=bad).first.is_visible()
        assert page.locator("th", has_text=bad).first.is_visible()
        assert visit.overflow() == 0


def test_the_work_of_another_visitor_is_not_there(visit: Visit) -> None:
    for path in ("/mask/aaaaaaaaaaa", "/synthesise/aaaaaaaaaaa"):
        page = visit.open(path)
        assert page.get_by_text("CEL-W011").is_visible()
        visit.expect_status(404)
