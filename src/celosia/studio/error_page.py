"""The page of an address that is none, of a request that is refused, and of a fault of ours.

It is plain HTML, whole by itself: whatever else does not work, it is seen, in the visitor's
language and colours, and leads back. What the framework, the toolkit or an error would say never
appears.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qs, quote, urlsplit

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import Message, Scope, Send

from celosia.studio.doors import DOORS
from celosia.studio.http_request import cookies_of, host_of, wants_page
from celosia.studio.language import NAMES, Language, _, chosen, current, negotiated

LANGUAGE = "celosia_language"
THEME = "celosia_theme"
SHOWN = "celosia.shown"
"""Where a request says that its answer is a page of ours, whatever its status."""
SOCKET = "/_nicegui_ws"
ASSETS = Path(__file__).parent / "assets"
Reason = Literal[
    "missing",
    "file-gone",
    "fault",
    "host",
    "cookies",
    "other-page",
    "other-visitor",
    "large",
    "file-large",
    "no-page",
    "busy",
    "jobs",
    "refused",
]
Way = Literal["again", "back", "door", "forget", "works", "home"]
"""Something that a visitor can do about it, each a button."""
FORGET = "/forget-cookies"
"""Where the cookies that are not ours are removed."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a visitor reads: what is wrong, why, what to do."""

    status: int
    what: str
    why: str
    fix: str
    ways: tuple[Way, ...] = ("home",)
    """What can be done about it, the likeliest first."""


def explanation(reason: Reason) -> Explanation:
    """The words for a reason, in the present language."""
    return REASONS[reason]()


REASONS: dict[Reason, Callable[[], Explanation]] = {
    "missing": lambda: Explanation(
        404,
        _("There is no page at this address."),
        _("It may be mistyped, or what it showed is removed: work is kept for a while only."),
        _("Go to the first page, or choose a door."),
        ("door", "works", "home"),
    ),
    "file-gone": lambda: Explanation(
        404,
        _("There is no such file (any more)."),
        _("Work belongs to one browser, and is removed some time after its last use."),
        _("Begin again from the page of its door."),
        ("back", "works", "home"),
    ),
    "fault": lambda: Explanation(
        500,
        _("The page failed because of an error in Celosía."),
        _("The cause is not shown, because it may contain values of your table."),
        _("Go back and try another way, and report what you did."),
        ("again", "back", "home"),
    ),
    "host": lambda: Explanation(
        421,
        _("This studio is not known by that name."),
        _("Another site could use a name of its own to reach your work."),
        _(
            "Open the address that the studio printed at its start. Whoever starts it can add a "
            "name: celosia studio --name NAME."
        ),
        (),  # under that name no link would work
    ),
    "cookies": lambda: Explanation(
        431,
        _("Your browser sends too many cookies."),
        _("Reading them would delay other visitors."),
        _("Remove the cookies that the studio does not need, then open the page again."),
        ("forget",),
    ),
    "other-page": lambda: Explanation(
        403,
        _("This request comes from another page."),
        _("Only pages of this studio may change something here."),
        _("Open the studio itself, and do it there."),
    ),
    "other-visitor": lambda: Explanation(
        403,
        _("This page is another visitor's."),
        _("Each browser sees its own work only."),
        _("Go to the first page, or choose a door."),
        ("works", "home"),
    ),
    "large": lambda: Explanation(
        413,
        _("The request is too large."),
        _("No page of this studio sends so much, except files."),
        _("Bring large data as a file."),
        ("back", "home"),
    ),
    "file-large": lambda: Explanation(
        413,
        _("The file is too large."),
        _("A file has a limit, and so have all files of one visitor together."),
        _("Bring a smaller file, or delete earlier work first."),
        ("works", "back", "home"),
    ),
    "no-page": lambda: Explanation(
        403,
        _("A file can only be brought from an open page."),
        _("It would have no owner."),
        _("Open a page of this studio first."),
    ),
    "busy": lambda: Explanation(
        429,
        _("Other files of yours are still being uploaded."),
        _("All visitors share the same machine."),
        _("Bring one file after another."),
        ("back", "home"),
    ),
    "jobs": lambda: Explanation(
        429,
        _("Too many jobs of yours are waiting."),
        _("All visitors share the same machine."),
        _("Wait until one of them has ended, or cancel one, then try again."),
        ("again", "back"),
    ),
    "refused": lambda: Explanation(
        400,
        _("This request cannot be answered."),
        _("It is not what a page of this studio would send."),
        _("Go to the first page, or choose a door."),
        ("back", "home"),
    ),
}


def answer(reason: Reason, scope: Scope, *, status: int | None = None) -> Response:
    """The answer for a reason: a page for somebody who looks, a line for a program."""
    headers = Headers(scope=scope)
    cookies = cookies_of(headers)
    query = parse_qs(scope["query_string"].decode("latin-1"))
    spoken = negotiated(
        query.get("lang", [None])[0], cookies.get(LANGUAGE), headers.get("accept-language")
    )
    token = chosen.set(spoken)
    try:
        words = explanation(reason)
        made: Response
        if wants_page(scope, headers):
            theme = cookies.get(THEME, "auto")
            code = status or words.status
            buttons = _buttons(words.ways, scope, headers)
            text = _page(reason, words, code, theme=theme, path=scope["path"], buttons=buttons)
            made = HTMLResponse(text, code)
        else:
            made = PlainTextResponse(f"{words.what} {words.fix}\n", status or words.status)
    finally:
        chosen.reset(token)
    made.headers["Cache-Control"] = "no-store"
    if scope["method"] == "HEAD":
        made.body = b""
    mark(scope)
    return made


def mark(scope: Scope) -> None:
    """Say that the answer to a request is a page of ours."""
    scope.setdefault(SHOWN, []).append(True)


class ErrorPageSender:
    """A `send` that replaces what framework and toolkit say of errors by a page of ours."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope = scope
        self._send = send
        self._begun = False
        self._replaced = False
        scope[SHOWN] = []

    async def __call__(self, message: Message) -> None:
        """Send a message of an answer, or ours instead."""
        if self._replaced:
            return
        if message["type"] == "http.response.start":
            status = message["status"]
            ours = self._scope[SHOWN] or self._scope["path"].startswith(SOCKET)
            if status >= 400 and not ours:
                return await self._replace(reason_of(status), status)
            self._begun = True
        await self._send(message)

    async def fault(self) -> None:
        """Say that something of ours failed, unless an answer is on its way already."""
        if not self._begun and not self._replaced:
            await self._replace("fault", 500)

    async def _replace(self, reason: Reason, status: int) -> None:
        self._replaced = True
        made = answer(reason, self._scope, status=status)
        headers = {"type": "http.response.start", "status": status, "headers": made.raw_headers}
        await self._send(headers)
        await self._send({"type": "http.response.body", "body": made.body})


def reason_of(status: int) -> Reason:
    """What a status of the framework means to a visitor.

    >>> reason_of(405), reason_of(503), reason_of(400)
    ('missing', 'fault', 'refused')
    """
    if status in (404, 405, 410, 422):
        return "missing"
    if status >= 500:
        return "fault"
    return "large" if status == 413 else "refused"


def _buttons(ways: Sequence[Way], scope: Scope, headers: Headers) -> str:
    """A button for each remedy that there is here; no two lead to the same page."""
    path = scope["path"]
    door = next((each for each in DOORS if path.startswith(f"{each[0]}/")), None)
    before = _page_before(headers)
    query = scope["query_string"].decode("latin-1")
    here = f"{quote(path)}?{query}" if query else quote(path)
    found = {
        "again": (_("Try again"), here if scope["method"] == "GET" else ""),
        "back": (_("Back to the page before"), before),
        "door": (_("Back to {door}", door=_(door[1])), door[0]) if door else ("", ""),
        "forget": (_("Remove those cookies"), FORGET),
        "works": (_("Your work"), "/works"),
        "home": (_("To the first page"), "/"),
    }
    links, seen = list[str](), {""}
    for way in ways:
        text, address = found[way]
        if address not in seen:
            seen.add(address)
            links.append(f'<a class="way" href="{escape(address)}">{escape(text)}</a>')
    return f'<p class="ways">{"".join(links)}</p>' if links else ""


def _page_before(headers: Headers) -> str:
    """The page of ours that led here; empty where there is none."""
    referrer = headers.get("referer", "")
    if host_of(referrer)[1] != headers.get("host", ""):
        return ""
    parts = urlsplit(referrer)
    address = f"{parts.path}?{parts.query}" if parts.query else parts.path
    return address if address.startswith("/") and not address.startswith("//") else ""


def _page(
    reason: Reason, words: Explanation, status: int, *, theme: str, path: str, buttons: str
) -> str:
    spoken = current()
    lead = reason != "host"  # under that name no link would work
    code = " · CEL-W033" if reason == "fault" else ""
    return _PAGE.format(
        language=spoken,
        theme=theme if theme in ("light", "dark") else "auto",
        style=_style(),
        what=escape(words.what),
        why=escape(words.why),
        fix=escape(words.fix),
        status=f"{status}{code}",
        nav=_doors() if lead else "",
        switch=_switch(spoken, path) if lead else "",
        name=f'<a class="name" href="/">{_logo()}Celosía</a>' if lead else "",
        ways=buttons,
    )


def _doors() -> str:
    links = "".join(f'<a href="{address}">{escape(_(name))}</a>' for address, name, _icon in DOORS)
    return f'<nav aria-label="{escape(_("Doors"))}">{links}</nav>'


def _switch(spoken: Language, path: str) -> str:
    other: Language = "en" if spoken == "es" else "es"
    back = escape(quote(path))
    address = f"/choose?language={other}&amp;back={back}"
    return (
        f'<a class="switch" lang="{other}" hreflang="{other}" href="{address}">{NAMES[other]}</a>'
    )


@cache
def _logo() -> str:
    drawn = (ASSETS / "lattice.svg").read_text("utf-8").strip()
    return drawn.replace("<svg ", '<svg aria-hidden="true" ', 1)


@cache
def _style() -> str:
    """The colours of the studio's style sheet by day and by night, and how this page uses them."""
    sheet = (ASSETS / "studio.css").read_text("utf-8")
    day, night = (
        re.search(rf"{re.escape(name)} \{{(.*?)\}}", sheet, re.DOTALL)
        for name in (":root", "body.body--dark")
    )
    assert day is not None
    assert night is not None
    return (
        f":root {{{day[1]}}} .dark {{{night[1]}}} "
        f"@media (prefers-color-scheme: dark) {{ .auto {{{night[1]}}} }} {_STYLE}"
    )


_STYLE = """
body { margin: 0; background: var(--paper); color: var(--ink);
  font-family: system-ui, "Segoe UI", sans-serif; line-height: 1.5; }
header { background: #0f5c6e; color: #fff; display: flex; flex-wrap: wrap; align-items: center;
  gap: .2rem .6rem; padding: .4rem 1rem; }
header a { color: #fff; text-decoration: none; padding: .35rem .5rem; border-radius: .4rem; }
header a:hover { background: rgba(255,255,255,.18); }
header nav { display: flex; flex-wrap: wrap; flex: 1; }
.name { display: flex; align-items: center; gap: .5rem; font-size: 1.25rem; font-weight: 600; }
.name svg { width: 28px; height: 28px; }
main { max-width: 46rem; margin: 12vh auto; padding: 0 1rem; }
section { background: var(--card); border: 1px solid var(--line); border-radius: .6rem;
  border-left: .35rem solid var(--brick); padding: 1rem 1.4rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: .2rem 0 .6rem; }
.switch { margin-left: auto; }
@media (max-width: 60rem) { header nav { order: 3; flex-basis: 100%; } main { margin: 6vh auto; } }
.fix { font-weight: 600; }
.ways { display: flex; flex-wrap: wrap; gap: .6rem; }
.way { display: inline-block; padding: .55rem 1.1rem; border-radius: .4rem; font-weight: 600;
  border: 1px solid var(--accent); color: var(--accent); text-decoration: none; }
.way:first-child { background: #0f5c6e; border-color: #0f5c6e; color: #fff; }
.way:hover { text-decoration: underline; }
.quiet { color: var(--quiet); font-size: .85rem; }
:focus-visible { outline: 3px solid var(--brick); outline-offset: 2px; }
header a:focus-visible { outline-color: #fff; }
"""
_PAGE = """<!doctype html>
<html lang="{language}" class="{theme}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{what} · Celosía</title><style>{style}</style></head><body>
<header>{name}{nav}{switch}</header>
<main><section><h1>{what}</h1><p>{why}</p><p class="fix">{fix}</p>{ways}
<p class="quiet">{status}</p></section></main></body></html>
"""
