"""A file that is refused: what is wrong is said beside the place where it was brought."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.studio.conftest import Visit, visiting

DOORS = ("/publish", "/mask", "/graphs", "/query")


def bring(page: Page, name: str, content: bytes = b"a,b\n1,2\n") -> None:
    """Hand a file to the first upload of the page, which is in sight then."""
    page.locator(".q-uploader").first.scroll_into_view_if_needed()
    page.locator(".q-uploader__input").first.set_input_files(
        {"name": name, "mimeType": "text/csv", "buffer": content}
    )


def too_large(page: Page) -> None:
    """Choose a file that is said to have a gigabyte: it never leaves the browser."""
    page.locator(".q-uploader").first.scroll_into_view_if_needed()
    page.evaluate(
        """() => {
            const box = document.querySelector('.q-uploader__input');
            const data = new DataTransfer();
            const file = new File(['a'], 'large.csv');
            Object.defineProperty(file, 'size', {value: 1e9});
            data.items.add(file);
            Object.defineProperty(box, 'files', {value: [file]});
            box.dispatchEvent(new Event('change', {bubbles: true}));
        }"""
    )


def answering(status: int) -> Callable[[Route], None]:
    """A server that has only this to say."""
    return lambda route: route.fulfill(status=status)


def text(page: Page) -> Locator:
    """The one error: an alert in sight, with the focus, just below the place of the file."""
    found = page.locator(".celosia-error")
    expect(found).to_have_count(1)
    expect(found).to_have_attribute("role", "alert")
    expect(found).to_be_focused()
    expect(found).to_be_in_viewport(ratio=0.9)
    expect(page.locator(".q-uploader").first).to_be_in_viewport(ratio=0.5)
    return found


@pytest.mark.parametrize("language", ["en", "es"])
def test_what_is_wrong_with_a_file_is_seen_on_a_phone(
    browser: Browser, address: str, language: str
) -> None:
    with visiting(browser, address, f"upload-{language}", language=language, phone=True) as visit:
        for door in DOORS:
            page = visit.open(door)
            bring(page, "program.exe")
            words = "This kind of file" if language == "en" else "Este tipo de archivo"
            expect(text(page)).to_contain_text(words)
            visit.picture(f"kind{door.replace('/', '-')}")
            too_large(page)
            expect(text(page)).to_contain_text("100 MB")
            assert visit.overflow() == 0


def test_a_table_that_cannot_be_read_is_told_beside_its_file_and_then_another_is_taken(
    visit: Visit,
) -> None:
    page = visit.open("/publish")
    page.set_viewport_size({"width": 1280, "height": 500})
    for name in ("empty.csv", "void.csv"):
        bring(page, name, b"")
        expect(text(page)).to_contain_text(name)
    visit.picture()
    bring(page, "people.csv")
    page.wait_for_url(re.compile(r"/publish/[\w-]{11}$"))


def test_what_the_server_refuses_is_told(visit: Visit) -> None:
    page = visit.open("/publish")
    for status, words in (
        (413, "too large"),
        (429, "one file after another"),
        (500, "error in Celosía"),
    ):
        page.route("**/upload/**", answering(status))
        bring(page, "people.csv")
        expect(text(page)).to_contain_text(words)
        page.unroute("**/upload/**")
    page.route("**/upload/**", lambda route: route.abort())
    bring(page, "people.csv")
    expect(text(page)).to_contain_text("upload failed")
    page.unroute("**/upload/**")
    visit.complaints.clear()  # the console notes each of them
    bring(page, "people.csv")
    page.wait_for_url(re.compile(r"/publish/[\w-]{11}$"))
