"""What can be told of a page that is looked at: barriers, contrast of letters, the focus."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Error, Page

from celosia.core.messages import FAMILIES, read_family
from celosia.studio import language
from tests.effort import EFFORT

STYLE = (Path(language.__file__).parent / "assets" / "studio.css").read_text("utf-8")
LETTERS = """() => {
    const canvas = document.createElement("canvas").getContext("2d");
    const plain = (colour) => ((canvas.fillStyle = colour), canvas.fillStyle);
    return [...document.querySelectorAll(".nicegui-echart:has(canvas)")].flatMap((place) => {
        let paper = place;
        const back = () => getComputedStyle(paper).backgroundColor;
        while (back() === "rgba(0, 0, 0, 0)") paper = paper.parentElement;
        const all = window.getElement(place).chart.getZr().storage.getDisplayList(true);
        return all
            .filter((each) => each.type === "tspan" && !each.invisible && each.style.text)
            .map((each) => [each.style.text, plain(each.style.fill), plain(back())]);
    });
}"""
"""Each text of each chart of a page with its colour and that of the paper behind it."""
FOCUS = """() => {
    const found = document.activeElement;
    const framed = found.closest(".q-field__control, .celosia-editor") ?? found;
    const look = getComputedStyle(framed);
    const seen = look.outlineStyle === "solid" && parseFloat(look.outlineWidth) >= 2;
    const box = framed.getBoundingClientRect();
    const name = found.getAttribute("aria-label") ?? found.innerText ?? "";
    return [`${found.tagName} ${found.className} ${name}`, seen && box.width > 0];
}"""


def wcag(one: str, other: str) -> float:
    """The contrast of two colours by WCAG 2.2, written down once more."""

    def luminance(colour: str) -> float:
        total = 0.0
        for at, weight in ((1, 0.2126), (3, 0.7152), (5, 0.0722)):
            part = int(colour[at : at + 2], 16) / 255
            total += weight * (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4)
        return total

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def colours(theme: str) -> dict[str, str]:
    """The colours of the style sheet by day or by night."""
    block = re.search(
        r":root \{(.*?)\}" if theme == "light" else r"body\.body--dark \{(.*?)\}", STYLE, re.DOTALL
    )
    assert block is not None
    return dict(re.findall(r"--([a-z]+): (#[0-9a-f]{6});", block[1]))


def dim_letters(page: Page) -> list[Any]:
    """Texts of charts that are read with less than 4.5 to 1; there must be some text at all."""
    page.wait_for_function(f"({LETTERS})().length > 0")
    found: list[list[str]] = page.evaluate(LETTERS)
    return [
        each
        for each in found
        if not re.fullmatch("#[0-9a-f]{6}", each[1]) or wcag(each[1], each[2]) < 4.5
    ]


def turn(page: Page, theme: str) -> None:
    """Let day turn to night while the page is open, or the other way round."""
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    dark = "true" if theme == "dark" else "false"
    page.wait_for_function(f"document.body.classList.contains('body--dark') === {dark}")


def unseen_focus(page: Page, *, most: int = 60) -> tuple[int, list[str]]:
    """Walk through a page by Tab: how many stops there are, and those where no focus is seen."""
    stops, faint = 0, []
    page.locator(".nicegui-skip-link").first.focus()
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            break
        stops += 1
        name, seen = page.evaluate(FOCUS)
        if not seen:
            faint.append(name)
    return stops, faint


def english_on(page: Page) -> list[str]:
    """What a page, seen or folded up, says in the English of the catalogue of messages."""
    shown = " ".join((page.locator("main").text_content() or "").split())
    return [piece for piece in english_pieces() if piece in shown]


@cache
def english_pieces() -> tuple[str, ...]:
    """What stands between the fields of English messages: four words or more."""
    pairs = [pair for family in FAMILIES for pair in _texts(read_family(family))]
    spanish = "\n".join(other for _english, other in pairs)
    found = {
        piece
        for english, _other in pairs
        for literal, *_field in string.Formatter().parse(english)
        if (piece := " ".join(literal.split())).count(" ") >= 3 and piece not in spanish
    }
    return tuple(sorted(found))


def _texts(entry: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if isinstance(entry.get("en"), str):
        yield entry["en"], entry["es"]
        return
    for each in entry.values():
        yield from _texts(each)


@cache
def _axe() -> str:
    return (files("axe_playwright_python") / "axe.min.js").read_text("utf-8")


def barriers_on(page: Page) -> list[str]:
    """What axe-core finds critical or serious for people who cannot see, hear or point well."""
    for _ in range(20):
        try:
            return _barriers_on(page)
        except Error as error:  # the page was loaded once more meanwhile
            if "context was destroyed" not in error.message:
                raise
            page.wait_for_load_state()
    return _barriers_on(page)


def _barriers_on(page: Page) -> list[str]:
    if not page.evaluate("window.axe !== undefined"):
        page.evaluate(_axe())
    # To compare colours takes longest: the quick form does it on the first page of each door.
    # Behind the letters of a dialog axe-core sees the curtain, not the card.
    is_first = urlsplit(page.url).path.count("/") == 1
    contrast = (EFFORT >= 1 or is_first) and page.locator(".q-dialog").count() == 0
    found: dict[str, Any] = page.evaluate(
        """(contrast) => axe.run({
            resultTypes: ["violations"], rules: { "color-contrast": { enabled: contrast } },
        })""",
        contrast,
    )
    return [
        f"{rule['id']}: {place['html'][:200]} {place['failureSummary']}"
        for rule in found["violations"]
        if rule["impact"] in ("critical", "serious")
        for place in rule["nodes"]
    ]
