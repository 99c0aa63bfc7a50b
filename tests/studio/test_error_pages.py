"""What a visitor sees at an address that is none, and where something of ours went wrong."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from playwright.sync_api import Browser
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from celosia.studio import error_page
from celosia.studio.guard import Guard
from celosia.studio.settings import Settings
from celosia.studio.visitors import Visitors
from tests.studio.conftest import Visit, visiting
from tests.studio.seeing import unseen_focus, wcag

with warnings.catch_warnings():  # it would rather have the next httpx, which is not ours to choose
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

PAGE = {"accept": "text/html,*/*;q=0.8"}
SPANISH = PAGE | {"accept-language": "es-ES"}
HERE = "http://127.0.0.1:8080"
MARKER = "Ana Garcia, HIV"
FOREIGN = ("Not Found", "doesn't exist", "Internal Server Error", "detail", "Server error", MARKER)
"""Words of the toolkit, of the framework and of an error."""


async def fails(request: Request) -> Response:
    raise ValueError(MARKER)


async def misses(request: Request) -> Response:
    raise HTTPException(404, MARKER)


async def complains(request: Request) -> Response:
    return JSONResponse({"detail": MARKER}, 422)


async def breaks_off(request: Request) -> Response:
    async def parts() -> Any:
        yield b"begun"
        raise ValueError(MARKER)

    return StreamingResponse(parts())


async def shows_itself(request: Request) -> Response:
    request.scope[error_page.SHOWN].append(True)
    return Response("<p>our own page</p>", 404, media_type="text/html")


@pytest.fixture
def browser_of_stranger(tmp_path: Path) -> Iterator[TestClient]:
    """A browser before an application that fails in every way."""
    studio: Any = SimpleNamespace(settings=Settings(), visitors=Visitors(tmp_path, idle=100))
    inner = Starlette(
        routes=[
            Route("/fails", fails),
            Route("/misses", misses),
            Route("/complains", complains),
            Route("/breaks-off", breaks_off),
            Route("/shows-itself", shows_itself),
        ]
    )
    inner.add_middleware(Guard, studio=studio)
    with TestClient(inner, base_url=HERE, raise_server_exceptions=False) as found:
        yield found


@pytest.mark.parametrize(
    ("path", "status"), [("/nothing", 404), ("/misses", 404), ("/complains", 422), ("/fails", 500)]
)
@pytest.mark.parametrize("language", ["en", "es"])
def test_what_is_not_there_or_fails_has_a_page_of_ours(
    browser_of_stranger: TestClient, path: str, status: int, language: str
) -> None:
    answer = browser_of_stranger.get(path, headers=PAGE if language == "en" else SPANISH)
    assert answer.status_code == status
    assert f'<html lang="{language}"' in answer.text
    assert 'href="/"' in answer.text
    assert 'href="/publish"' in answer.text
    assert not [word for word in FOREIGN if word in answer.text]
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert int(answer.headers["content-length"]) == len(answer.content)
    assert "src=" not in answer.text  # whole by itself: whatever else fails, it is seen


@pytest.mark.parametrize(("path", "status"), [("/nothing", 404), ("/fails", 500)])
def test_a_program_is_told_the_same_in_a_line(
    browser_of_stranger: TestClient, path: str, status: int
) -> None:
    answer = browser_of_stranger.get(path, headers={"accept": "*/*"})
    assert (answer.status_code, answer.headers["content-type"]) == (
        status,
        "text/plain; charset=utf-8",
    )
    assert answer.text.count("\n") <= 1
    assert not [word for word in FOREIGN if word in answer.text]
    assert browser_of_stranger.head("/nothing").content == b""


def test_a_host_that_is_not_ours_is_refused_by_a_page_without_links(
    browser_of_stranger: TestClient,
) -> None:
    answer = browser_of_stranger.get("/nothing", headers=SPANISH | {"host": "evil.example"})
    assert answer.status_code == 421
    assert '<html lang="es"' in answer.text
    assert "href=" not in answer.text
    assert "evil" not in answer.text


def ways(text: str) -> list[str]:
    """Where the buttons of a page lead."""
    return [unescape(each) for each in re.findall(r'class="way" href="([^"]*)"', text)]


@pytest.mark.parametrize(
    ("path", "before", "wanted"),
    [
        ("/nothing", "", ["/works", "/"]),
        ("/publish/gone", "", ["/publish", "/works", "/"]),
        (
            "/fails?a=1&b=2",
            "http://127.0.0.1:8080/mask?step=a",
            ["/fails?a=1&b=2", "/mask?step=a", "/"],
        ),
        ("/fails", "http://127.0.0.1:8080/fails", ["/fails", "/"]),  # none leads to the same twice
        ("/fails", "https://evil.example/mask", ["/fails", "/"]),
        ("/fails", f"{HERE}//evil.example", ["/fails", "/"]),
    ],
)
def test_each_remedy_has_a_button(
    browser_of_stranger: TestClient, path: str, before: str, wanted: list[str]
) -> None:
    found = browser_of_stranger.get(path, headers=PAGE | {"referer": before})
    assert ways(found.text) == wanted


@pytest.mark.parametrize("reason", sorted(error_page.REASONS))
def test_no_page_is_without_a_way_on(reason: error_page.Reason) -> None:
    scope = {
        "type": "http", "method": "GET", "path": "/x", "query_string": b"",
        "headers": [(b"accept", b"text/html")],
    }  # fmt: skip
    shown = bytes(error_page.answer(reason, scope).body).decode("utf-8")
    found = ways(shown)
    assert (not found) == (reason == "host")
    assert len(found) == len(set(found))


def test_cookies_that_are_not_ours_are_removed_by_a_button(
    browser_of_stranger: TestClient,
) -> None:
    many = "; ".join(f"other{place}={'x' * 900}" for place in range(20))
    headers = PAGE | {"cookie": f"celosia_visitor=mine; {many}; b@d=1"}
    refused = browser_of_stranger.get("/mask", headers=headers)
    assert (refused.status_code, ways(refused.text)) == (431, [error_page.FORGET])
    removed = browser_of_stranger.get(error_page.FORGET, headers=headers, follow_redirects=False)
    assert (removed.status_code, removed.headers["location"]) == (303, "/")
    gone = removed.headers.get_list("set-cookie")
    assert {each.partition("=")[0] for each in gone} == {f"other{place}" for place in range(20)}
    assert all("Max-Age=0" in each for each in gone)
    few = browser_of_stranger.get(error_page.FORGET, headers=PAGE | {"cookie": "a=1"})
    assert few.status_code == 404


def test_colours_that_were_chosen_are_kept(browser_of_stranger: TestClient) -> None:
    for theme in ("light", "dark", "auto"):
        browser_of_stranger.cookies.set(error_page.THEME, theme)
        assert f'class="{theme}"' in browser_of_stranger.get("/nothing", headers=PAGE).text
    browser_of_stranger.cookies.set(error_page.THEME, '"><b>')
    assert 'class="auto"' in browser_of_stranger.get("/nothing", headers=PAGE).text


def test_an_answer_that_has_begun_and_a_page_of_ours_stay_as_they_are(
    browser_of_stranger: TestClient,
) -> None:
    assert browser_of_stranger.get("/breaks-off", headers=PAGE).content == b"begun"
    answer = browser_of_stranger.get("/shows-itself", headers=PAGE)
    assert (answer.status_code, answer.text) == (404, "<p>our own page</p>")


def opened(visit: Visit, path: str, status: int) -> None:
    """Go to an address that is none; the browser notes its status, and has no other complaint."""
    answer = visit.page.goto(f"{visit.address}{path}")
    assert answer is not None
    assert answer.status == status
    visit.expect_status(status)


def test_an_unknown_address_leads_back(both_languages: Visit) -> None:
    opened(both_languages, "/collect?devices=many", 422)
    assert both_languages.page.locator("main section").count() == 1
    opened(both_languages, "/nothing/here", 404)
    page = both_languages.page
    spanish = page.locator("html").get_attribute("lang") == "es"
    title = "No hay ninguna página en esta dirección" if spanish else "There is no page at this"
    assert title in page.get_by_role("heading", level=1).inner_text()
    both_languages.picture()
    assert both_languages.fits_a_phone("unknown")
    stops, faint = unseen_focus_of_links(both_languages)
    assert (stops >= 8, faint) == (True, [])
    page.get_by_role("link", name="página principal" if spanish else "first page").click()
    page.wait_for_url(f"{both_languages.address}/")


def unseen_focus_of_links(visit: Visit) -> tuple[int, list[str]]:
    """Walk by Tab from the first link, which stands for the link that skips the header."""
    visit.page.evaluate("document.querySelector('a').classList.add('nicegui-skip-link')")
    return unseen_focus(visit.page, most=20)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_letters_are_read_by_day_and_by_night(browser: Browser, address: str, theme: Any) -> None:
    with visiting(browser, address, f"unknown-{theme}") as visit:
        visit.page.emulate_media(color_scheme=theme)
        opened(visit, "/nothing", 404)
        pairs: list[list[str]] = visit.page.evaluate(
            """() => [...document.querySelectorAll("h1, p, a, footer")].map((each) => {
                let paper = each;
                const back = () => getComputedStyle(paper).backgroundColor;
                while (back() === "rgba(0, 0, 0, 0)") paper = paper.parentElement;
                return [getComputedStyle(each).color, back()];
            })"""
        )
        for pair in pairs:
            ink, paper = (
                "#" + "".join(f"{int(part):02x}" for part in re.findall(r"\d+", text)[:3])
                for text in pair
            )
            assert wcag(ink, paper) >= 4.5
        visit.picture()


@pytest.mark.parametrize("path", ["/learn/magic", "/publish/01234567890", "/statistics/nothing"])
def test_a_door_without_such_a_thing_says_so_with_the_status_and_leads_back(
    visit: Visit, path: str
) -> None:
    opened(visit, path, 404)
    visit.page.locator(".celosia-error").wait_for()
    door = f"/{path.split('/')[1]}"
    assert visit.page.locator(f".celosia-main a[href='{door}']").count() == 1


def test_a_file_that_is_gone_is_told_in_the_language_of_the_visitor(
    both_languages: Visit,
) -> None:
    opened(both_languages, "/files/01234567890/report.html?show", 404)
    text = both_languages.page.locator("main").inner_text()
    assert "no such file" in text or "no existe" in text
