"""The first page, in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser
from tests.studio.conftest import Visit, visiting


def test_the_first_page_shows_all_doors(both_languages: Visit) -> None:
    page = both_languages.open("/")
    assert page.locator("main a.celosia-card").count() == 7
    assert page.locator("html").get_attribute("lang") in ("en-GB", "es")
    both_languages.picture()


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
