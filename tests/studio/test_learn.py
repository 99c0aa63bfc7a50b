"""Learn, in a real browser: the timeline, every technique, an attack played, a control moved."""

from __future__ import annotations

import re

from playwright.sync_api import Browser, Page, expect

from celosia.studio.learn.techniques import SLUGS
from tests.effort import some
from tests.studio.conftest import Visit, visiting

SLOW = 180_000
"""Milliseconds: the first lesson waits for a worker that loads the library."""


def ready(page: Page) -> None:
    """Wait until the lesson is computed and its controls are there."""
    page.locator(".celosia-controls").wait_for(timeout=SLOW)


def test_the_timeline_leads_to_every_technique(both_languages: Visit) -> None:
    page = both_languages.open("/learn")
    links = page.locator(".celosia-timeline a")
    found = [links.nth(place).get_attribute("href") for place in range(links.count())]
    assert found == [f"/learn/{slug}" for slug in SLUGS]
    both_languages.picture()
    links.nth(1).click()
    page.wait_for_url("**/learn/k-anonymity")


def test_every_technique_has_its_example_its_attack_and_its_control(both_languages: Visit) -> None:
    for slug in some(SLUGS, 5):
        page = both_languages.open(f"/learn/{slug}")
        ready(page)
        assert page.get_by_role("heading", level=1).count() == 1
        assert page.locator(".celosia-stepper table, .celosia-stepper svg").count() >= 1
        assert page.locator("[data-test=result]").inner_text()
        assert page.locator(".celosia-error").count() == 0
        both_languages.picture(slug)


def test_an_attack_is_played_by_buttons_and_keys_and_kept_in_the_address(visit: Visit) -> None:
    page = visit.open("/learn/k-anonymity")
    ready(page)
    stepper = page.locator(".celosia-stepper")
    expect(stepper).to_contain_text("Step 1 of 4")
    expect(page.locator("[data-test=previous]")).to_be_disabled()
    for step in (2, 3, 4):
        page.locator("[data-test=next]").click()
        expect(stepper).to_contain_text(f"Step {step} of 4")
    expect(stepper).to_contain_text("Her neighbour has flu, for certain.")
    assert stepper.locator("tr.marked").count() == 3
    assert stepper.locator("tr.faded").count() == 9
    expect(page.locator("[data-test=next]")).to_be_disabled()
    visit.picture("learnt")
    stepper.focus()
    page.keyboard.press("ArrowLeft")
    expect(stepper).to_contain_text("Step 3 of 4")
    page.wait_for_url("**step=3**")
    page.reload()
    ready(page)
    expect(page.locator(".celosia-stepper")).to_contain_text("Step 3 of 4")
    page.get_by_role("tab", name="Background knowledge").click()
    expect(page.locator(".celosia-stepper")).to_contain_text("no trouble with his stomach")
    page.wait_for_url(re.compile("attack=2"))


def test_a_slider_recomputes_the_example(visit: Visit) -> None:
    page = visit.open("/learn/k-anonymity")
    ready(page)
    result = page.locator("[data-test=result]")
    expect(result).to_contain_text("52.5 %")
    page.locator("[data-test=suppress] [tabindex]").focus()
    page.keyboard.press("ArrowRight")
    expect(result).to_contain_text("12.5 %")
    expect(result).to_contain_text("1 record")
    assert result.locator("tr.faded").count() == 1
    page.wait_for_url(re.compile("suppress=1$"))
    visit.picture("one-suppressed")
    page.reload()
    ready(page)
    expect(page.locator("[data-test=result]")).to_contain_text("12.5 %")


def test_an_address_has_the_value_itself(both_languages: Visit) -> None:
    page = both_languages.open("/learn/k-anonymity?k=3&suppress=2")
    ready(page)
    expect(page.locator("[data-test=result]")).to_contain_text("3-an")
    for name, value in (("k", "3"), ("suppress", "2")):
        slider = page.locator(f"[data-test={name}]")
        expect(slider).to_have_attribute("aria-valuetext", value)
    page.locator("[data-test=k] [tabindex]").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url(re.compile("k=4&suppress=2$"))
    expect(page.locator("[data-test=result]")).to_contain_text("4-an")


def test_a_button_changes_what_may_be_done_to_a_network(visit: Visit) -> None:
    page = visit.open("/learn/graphs")
    ready(page)
    result = page.locator("[data-test=result]")
    assert result.locator("line.added").count() == 2
    assert result.locator("line.removed").count() == 0
    page.get_by_text("add and remove edges").click()
    expect(result.locator("line.removed")).to_have_count(1)
    visit.picture()


def test_nothing_is_wider_than_a_phone_and_tables_scroll(browser: Browser, address: str) -> None:
    with visiting(browser, address, "learn-phone", language="es", phone=True) as visit:
        for path in ("/learn", "/learn/naive?step=4", "/learn/graphs", "/learn/glossary"):
            page = visit.open(path)
            if path.startswith(("/learn/naive", "/learn/graphs")):
                ready(page)
            assert visit.overflow() == 0
            visit.picture(path.split("?")[0].rsplit("/", 1)[1])


def test_a_technique_that_is_none_says_so(visit: Visit) -> None:
    page = visit.open("/learn/magic")
    assert "CEL-W040" in page.locator(".celosia-error").inner_text()
    visit.expect_status(404)


def test_a_strange_address_shows_the_first_step(visit: Visit) -> None:
    page = visit.open("/learn/naive?step=-1&attack=x&sex=99")
    ready(page)
    expect(page.locator(".celosia-stepper")).to_contain_text("Step 1 of 6")


def test_the_glossary_names_each_word_in_the_other_language(both_languages: Visit) -> None:
    page = both_languages.open("/learn/glossary")
    text = page.locator("dl").inner_text()
    assert "quasi-identifier" in text
    assert "cuasi-identificador" in text
    both_languages.picture()
