"""Every page that has an address of its own, in both languages, two sizes and two colours."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from itertools import product
from pathlib import Path

import pytest
from playwright.sync_api import Browser, TimeoutError

from celosia.studio import error_page, language
from celosia.studio.doors import DOORS
from celosia.studio.learn.techniques import TECHNIQUES
from tests.effort import EFFORT, some
from tests.studio.conftest import Visit, visiting
from tests.studio.journeys import JOURNEYS
from tests.studio.seeing import barriers_on, english_on

STUDIO = Path(language.__file__).parent
COMBINATIONS = tuple(product(("es", "en"), (True, False), ("light", "dark")))
"""A language, whether it is a phone, and colours."""
PLACEHOLDER = re.compile(r"\{\w+\}")
"""What a sentence has where a value was not filled in; code blocks may have it."""


def addresses() -> list[str]:
    """Of the pages that need no work of a visitor."""
    texts = [file.read_text("utf-8") for file in sorted(STUDIO.rglob("*.py"))]
    own = {found for text in texts for found in re.findall(r'@page\(\s*"(/[^"{]*)"', text)}
    own |= {f"/{name}" for text in texts for name in re.findall(r'Door\(\s*name="(\w+)"', text)}
    doors = {address for address, _name, _icon in DOORS}
    lessons = {f"/learn/{each.slug}" for each in TECHNIQUES}
    return sorted(own | doors | lessons)


def chosen(combination: int, listed: list[str]) -> list[str]:
    """The pages that are visited in a combination: all, or in the quick form each in one only."""
    if EFFORT >= 1:
        return listed
    return [each for at, each in enumerate(listed) if at % len(COMBINATIONS) == combination]


EVERY = pytest.mark.parametrize(
    "combination",
    range(len(COMBINATIONS)),
    ids=["-".join((one, "phone" if two else "desk", three)) for one, two, three in COMBINATIONS],
)


@EVERY
def test_a_page_fits_complains_of_nothing_and_is_translated(
    browser: Browser, address: str, combination: int
) -> None:
    spoken, phone, theme = COMBINATIONS[combination]
    with visiting(browser, address, "every", language=spoken, phone=phone) as visit:
        visit.page.request.get(f"{address}/choose?theme={theme}")
        faults = [
            fault
            for path in chosen(combination, addresses())
            for fault in _faults(visit, path, spoken, theme)
        ]
        assert not faults, "\n".join(faults)


Cookies = list[dict[str, object]]


@pytest.fixture(scope="module")
def works(browser: Browser, address: str) -> tuple[list[str], Cookies]:
    """The pages of a visitor's work behind each door (in the quick form, one), and her cookies."""
    with visiting(browser, address, "works") as visit:
        found = [path for door in some(JOURNEYS, 1) for path in JOURNEYS[door](visit)]
        cookies = [dict(each) for each in visit.context.cookies()]
    return found, [each for each in cookies if each["name"] not in OF_THE_PAGE]


OF_THE_PAGE = (error_page.LANGUAGE, error_page.THEME)
"""Cookies of the language and the colours, which each combination has for itself."""


@EVERY
def test_a_page_of_work_fits_is_translated_and_is_for_everybody(
    browser: Browser, address: str, works: tuple[list[str], Cookies], combination: int
) -> None:
    pages, cookies = works
    spoken, phone, theme = COMBINATIONS[combination]
    with visiting(browser, address, "work", language=spoken, phone=phone) as visit:
        visit.context.add_cookies(cookies)  # type: ignore[arg-type] # as the browser gave them
        visit.page.request.get(f"{address}/choose?theme={theme}")
        faults = []
        for path in chosen(combination, pages):
            faults += _faults(visit, path, spoken, theme)
            faults += [] if _main_control_is_near(visit) else [f"{path}: main control"]
        assert not faults, "\n".join(faults)


def _main_control_is_near(visit: Visit) -> bool:
    """The second stop leads to the control that the page is for: three keys, of eight at most."""
    page = visit.page
    page.locator(".nicegui-skip-link").first.evaluate("link => link.focus()")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    with suppress(TimeoutError):
        page.wait_for_function(
            "document.activeElement.matches('.celosia-main :is(button, a, input)')", timeout=10_000
        )
        return True
    return False


def _faults(visit: Visit, path: str, spoken: str, theme: str) -> list[str]:
    """What is wrong with a page, all of it: a deep run takes too long to find one after another."""
    page = visit.open(path)
    if "CELOSIA_TEST_PICTURES" in os.environ:
        visit.name = f"every-{path.strip('/').replace('/', '-') or 'home'}"
        visit.shoot(f"{spoken}-{theme}")
    words = page.evaluate(
        "[...document.querySelectorAll('main *:not(pre):not(code)')]"
        ".flatMap((each) => [...each.childNodes]).filter((each) => each.nodeType === 3)"
        ".filter((each) => !each.parentElement.closest('pre, code, .cm-editor, script, style'))"
        ".map((each) => each.data).join('\\n')"
    )
    dark = page.evaluate("document.body.classList.contains('body--dark')")
    tongue = page.evaluate("document.documentElement.lang")
    found = {
        "language": [] if tongue.startswith(spoken) else [tongue],
        "colours": [] if dark == (theme == "dark") else [str(dark)],
        "wider than the window": [] if visit.overflow() == 0 else [f"{visit.overflow()} pixels"],
        "not filled in": PLACEHOLDER.findall(words),
        "in English": english_on(page) if spoken == "es" else [],
        "not for everybody": barriers_on(page) if EFFORT >= 1 else [],
        "complaints": list(visit.complaints),
    }
    visit.complaints.clear()
    return [f"{path}: {name}: {each}" for name, some in found.items() for each in some]


def test_every_page_is_visited_in_the_quick_form_too() -> None:
    together = [path for each in range(len(COMBINATIONS)) for path in chosen(each, addresses())]
    assert set(together) == set(addresses())
    assert len(addresses()) >= 29
