"""The first page, in a real browser."""

from __future__ import annotations

from itertools import pairwise

import pytest
from playwright.sync_api import Browser

from celosia.studio.doors import DOORS
from tests.studio.conftest import Visit, visiting


def test_the_first_page_shows_all_doors(both_languages: Visit) -> None:
    page = both_languages.open("/")
    assert page.locator("main a.celosia-card").count() == len(DOORS)
    assert page.locator("html").get_attribute("lang") in ("en-GB", "es")
    both_languages.picture()


@pytest.mark.parametrize("width", [1210, 1510])
def test_the_header_is_no_wider_than_the_window(both_languages: Visit, width: int) -> None:
    page = both_languages.open("/")
    page.set_viewport_size({"width": width, "height": 800})
    wider = page.locator(".celosia-header").evaluate("it => it.scrollWidth - it.clientWidth")
    assert wider <= 0


def test_the_first_page_offers_samples_and_says_for_whom_it_is(both_languages: Visit) -> None:
    page = both_languages.open("/")
    samples = page.locator("[data-test=sample]")
    found = [samples.nth(place).get_attribute("href") for place in range(samples.count())]
    assert len(found) == len(set(found)) >= 7
    doors = {address for address, _name, _icon in DOORS}
    assert {f"/{(address or '').split('/')[1]}" for address in found} <= doors
    text = page.locator("main").inner_text()
    assert "Teachers and students" in text or "Docentes y estudiantes" in text
    levels = page.get_by_role("heading").evaluate_all(
        "all => all.map(one => Number(one.getAttribute('aria-level')))"
    )
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_a_sample_reaches_a_result(visit: Visit) -> None:
    page = visit.open("/")
    page.locator("[data-test=sample]").first.click()
    page.locator("[data-test=result] table").wait_for(timeout=180_000)


def test_the_language_is_switched_in_the_header_and_kept(visit: Visit) -> None:
    page = visit.open("/")
    page.get_by_role("link", name="Español").click()
    page.wait_for_selector("html[lang=es]")
    visit.open("/")
    assert page.locator("html").get_attribute("lang") == "es"
    assert page.get_by_role("link", name="English").count() == 1


def test_nothing_is_wider_than_a_phone(browser: Browser, address: str) -> None:
    with visiting(browser, address, "phone", phone=True) as visit:
        page = visit.open("/")
        assert visit.overflow() == 0
        page.get_by_role("button", name="Menu").click()
        page.locator("nav a[href='/publish']:visible").wait_for()
        visit.picture()


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_colours_are_switched(visit: Visit, theme: str) -> None:
    page = visit.open(f"/choose?theme={theme}&back=/")
    expected = "true" if theme == "dark" else "false"
    found = page.evaluate("document.body.classList.contains('body--dark')")
    assert str(found).lower() == expected


def test_four_answers_lead_to_advice(both_languages: Visit) -> None:
    page = both_languages.open("/advise?data=network&attacker=register")
    words = page.locator("[data-test=advice]").inner_text()
    assert words.startswith(("Graphs: k-degree anonymity (", "Grafos: k-anonimato de grado ("))
    assert "celosia graph publish" in page.locator("main").inner_text()
    both_languages.picture()
