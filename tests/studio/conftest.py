"""A real studio and a real browser for tests.

Pictures of what was seen are kept in build/ in a deep run, and of a page on which a test failed.
"""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Error,
    Locator,
    Page,
    TimeoutError,
    ViewportSize,
    expect,
    sync_playwright,
)

from tests.effort import EFFORT, some
from tests.ports import own_port
from tests.studio.seeing import barriers_on, english_on

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "build" / "studio"
expect.set_options(timeout=180_000)
NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)


@contextmanager
def running_studio(*options: str) -> Iterator[str]:
    """The address of a studio in a process of its own, as a user starts it."""
    port = own_port()
    process = subprocess.Popen(
        [
            str(Path(sys.executable).parent / "celosia"),
            "studio",
            "--no-open",
            "--port",
            str(port),
            *options,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + 600
        while True:
            try:
                urllib.request.urlopen(f"{address}/health", timeout=2).close()
                break
            except OSError:
                if process.poll() is not None or time.monotonic() > deadline:
                    process.kill()
                    text = process.communicate()[0]
                    pytest.fail(f"the studio did not start: {text}")
                time.sleep(0.1)
        yield address
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.communicate(timeout=600)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """A studio that all tests of this process share; its one worker loads each library once."""
    with running_studio("--workers", "1") as found:
        yield found


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """A headless Chromium; its event loop runs in this thread, so it ends with these tests."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    with sync_playwright() as playwright:
        if found is None and not Path(playwright.chromium.executable_path).exists():
            pytest.skip("no Chromium on this machine")
        opened = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield opened
        _idle.clear()
        opened.close()


_idle: dict[tuple[str, bool], list[BrowserContext]] = {}
"""Contexts that no visitor has at present, by language and size: they keep the scripts of the
studio, which a new one would load and compile again."""


@dataclass
class Visit:
    """One visitor with a browser of her own; complaints of the console are collected."""

    context: BrowserContext
    page: Page
    address: str
    name: str
    complaints: list[str] = field(default_factory=list)

    def open(self, path: str) -> Page:
        """Go to a page and wait until it answers to clicks."""
        self.page.goto(f"{self.address}{path}")
        self.page.wait_for_selector("main")
        self.page.wait_for_function("window.socket !== undefined && window.socket.connected")
        return self.page

    def press(self, name: str) -> None:
        """Press a button of the page by the keyboard alone."""
        button = self.page.locator(f'[data-test="{name}"]')
        button.focus()
        assert button.evaluate("found => found.matches(':focus, :focus-within')")
        self.page.keyboard.press("Enter")

    def open_list(self, box: Locator, option: Locator) -> None:
        """Open a list of choices by the keyboard; a page that is drawn once more closes it."""
        for _ in range(60):
            box.focus()
            self.page.keyboard.press("Enter")
            with suppress(TimeoutError):
                option.wait_for(timeout=3000)
                return
            self.page.keyboard.press("Escape")
        option.wait_for()

    def expect_status(self, status: int) -> None:
        """Allow for a page with this status, which the console notes, and for no other note."""
        assert all(f"status of {status}" in each for each in self.complaints)
        self.complaints.clear()

    def picture(self, name: str = "") -> None:
        """What is to be seen now: for everybody, and in Spanish with nothing in English."""
        if EFFORT >= 1 or not name.startswith("phone-"):  # the same page, only narrower
            found = barriers_on(self.page)
            assert not found, found
        if self.page.get_attribute("html", "lang") == "es":
            assert english_on(self.page) == []
        if EFFORT >= 1:
            self.shoot(name)

    def shoot(self, name: str) -> None:
        """Keep a picture of the whole page."""
        PICTURES.mkdir(parents=True, exist_ok=True)
        path = PICTURES / f"{self.name}{'-' if name else ''}{name}.png"
        self.page.screenshot(path=path, full_page=True)

    def overflow(self) -> int:
        """Pixels by which the page is wider than the window; 0 on a page that fits."""
        wide: int = self.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        return wide

    def fits_a_phone(self, name: str = "") -> bool:
        """Whether this page also fits the width of a phone; with a name, a picture is kept."""
        before = self.page.viewport_size
        assert before is not None
        self.page.set_viewport_size({"width": 390, "height": 844})
        with suppress(TimeoutError):  # charts follow in a moment
            self.page.wait_for_function(
                "document.documentElement.scrollWidth <= document.documentElement.clientWidth",
                timeout=60_000,
            )
        fits = self.overflow() == 0
        if name:
            self.picture(f"phone-{name}")
        self.page.set_viewport_size(before)
        return fits


@contextmanager
def visiting(
    browser: Browser, address: str, name: str, *, language: str = "en", phone: bool = False
) -> Iterator[Visit]:
    """A visit that fails if the console had anything to complain about."""
    idle = _idle.setdefault((language, phone), [])
    context = idle.pop() if idle else _new_context(browser, language, phone=phone)
    page = context.new_page()
    visit = Visit(context, page, address, name)
    page.on(
        "console",
        lambda said: visit.complaints.append(said.text) if said.type == "error" else None,
    )
    page.on("pageerror", lambda error: visit.complaints.append(str(error)))
    page.on("request", lambda asked: visit.complaints.extend(_outside(asked.url)))
    try:
        yield visit
        assert visit.complaints == []
    except BaseException:
        with suppress(Error):
            visit.shoot("failed")
        context.close()
        raise
    for each in context.pages:
        each.close()
    context.clear_cookies()  # the next one is another visitor
    idle.append(context)


def _outside(url: str) -> list[str]:
    """The host of a request that leaves this machine: no page asks anybody else for anything."""
    parts = urllib.parse.urlsplit(url)
    is_local = parts.scheme in ("data", "blob", "about") or parts.hostname in _LOCAL
    return [] if is_local else [f"a request to {parts.hostname}"]


_LOCAL = ("127.0.0.1", "localhost")


def _new_context(browser: Browser, language: str, *, phone: bool) -> BrowserContext:
    size: ViewportSize = {"width": 390 if phone else 1280, "height": 844 if phone else 900}
    locale = "es-ES" if language == "es" else "en-GB"
    context = browser.new_context(viewport=size, locale=locale, reduced_motion="reduce")
    context.set_default_timeout(180_000)  # a limit, for machines that do much besides
    return context


@pytest.fixture
def visit(browser: Browser, address: str, request: pytest.FixtureRequest) -> Iterator[Visit]:
    """A visitor who speaks English."""
    with visiting(browser, address, _plain(request.node.name)) as found:
        yield found


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Both languages in a deep run; else the one that other tests of a page do not speak."""
    marks = metafunc.definition.iter_markers("parametrize")
    if "both_languages" in metafunc.fixturenames and "both_languages" not in {
        each.args[0] for each in marks
    }:
        metafunc.parametrize("both_languages", some(["es", "en"], 1), indirect=True)


@pytest.fixture
def both_languages(
    browser: Browser, address: str, request: pytest.FixtureRequest
) -> Iterator[Visit]:
    """The same visitor in English and in Spanish."""
    name = _plain(request.node.name)
    with visiting(browser, address, name, language=request.param) as found:
        yield found


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9_-]+", "-", name.lower()).strip("-")
