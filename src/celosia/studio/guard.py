"""The gate before every page: who may come in, from where, and with how much.

It stands before the whole application, the WebSocket and the uploads of the toolkit included, whose
own limits hold in the browser only.
"""

from __future__ import annotations

import socket
from hmac import compare_digest
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from secrets import token_urlsafe
from threading import Lock
from time import monotonic
from typing import Any
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from celosia.studio import entrance
from celosia.studio.language import negotiated
from celosia.studio.running import Studio
from celosia.studio.visitors import Visitor

VISITOR = "celosia_visitor"
ENTRY = "celosia_entry"
LANGUAGE = "celosia_language"
THEME = "celosia_theme"
SCOPE = "celosia.visitor"
"""Where a request carries its visitor."""
SMALL_BODY = 1_000_000
"""The largest body of a request that is no upload, in bytes."""
MOST_ENTRIES = 10_000
TRIES, PER_SECONDS = 20, 60.0
"""How many wrong passwords one address may try in this time."""

# Vue compiles templates in the browser, which needs both unsafe words; all else is forbidden.
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; "
    "connect-src 'self' ws: wss:; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


class Guard:
    """Middleware: host and origin, password, size of uploads, visitor's cookie, headers."""

    def __init__(self, app: ASGIApp, studio: Studio) -> None:
        self._app = app
        self._studio = studio
        self._names = _names(studio)
        self._entries: dict[str, None] = {}
        self._tries: dict[str, list[float]] = {}
        self._lock = Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it here."""
        if scope["type"] not in ("http", "websocket"):
            return await self._app(scope, receive, send)
        # A proxy's prefix would be written into the page; nobody here needs one.
        scope["headers"] = [each for each in scope["headers"] if each[0] != b"x-forwarded-prefix"]
        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            return await _refuse(refusal, scope, receive, send)
        cookies = _cookies(headers)
        if self._studio.settings.passwords and cookies.get(ENTRY) not in self._entries:
            return await self._entrance(scope, receive, send, cookies)
        visitor = self._studio.visitors.known(cookies.get(VISITOR))
        fresh = visitor is None and scope["type"] == "http" and _wants_page(scope, headers)
        if fresh:
            visitor = self._studio.visitors.enter(None)
        scope[SCOPE] = visitor
        if scope["type"] == "websocket":
            return await self._app(scope, receive, send)
        most = SMALL_BODY
        if "/upload/" in scope["path"] and scope["method"] == "POST":
            if visitor is None:
                return await _refuse((403, "Open a page first."), scope, receive, send)
            most = self._most(visitor)
        if int(headers.get("content-length") or 0) > most:
            return await _refuse((413, "The file is too large."), scope, receive, send)
        cookie = None if not fresh or visitor is None else self._cookie(VISITOR, visitor.token)
        await self._app(scope, _bounded(receive, most), _answering(send, cookie))

    def _refusal(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        """Why a request is not from a page of ours, if it is not."""
        host = headers.get("host", "")
        name = urlsplit(f"//{host}").hostname or ""
        # A page elsewhere may point a name of its own at this machine: only our names count.
        if not (name in self._names or (self._studio.settings.shared and _is_address(name))):
            return 421, "Unknown host."
        changes = scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD")
        origin = headers.get("origin")
        if changes and origin is not None and urlsplit(origin).netloc != host:
            return 403, "This request comes from another page."
        if changes and headers.get("sec-fetch-site") in ("cross-site", "same-site"):
            return 403, "This request comes from another page."
        return None

    def _most(self, visitor: Visitor) -> int:
        """How much a visitor may still bring; beside the file a form has some bytes of its own."""
        settings = self._studio.settings
        return min(settings.most_upload + 10_000, settings.most_area - visitor.size())

    async def _entrance(
        self, scope: Scope, receive: Receive, send: Send, cookies: dict[str, str]
    ) -> None:
        """Ask for the password, and let in whoever knows it."""
        if scope["type"] == "websocket":
            return await _refuse((403, ""), scope, receive, send)
        headers = Headers(scope=scope)
        query = parse_qs(scope["query_string"].decode("latin-1"))
        language = negotiated(
            query.get("lang", [None])[0],
            cookies.get(LANGUAGE),
            headers.get("accept-language"),
        )
        answer: Response = HTMLResponse(entrance.page(language), 401)
        if scope["path"] == "/enter" and scope["method"] == "POST":
            body = await _body(receive)
            given = parse_qs(body.decode("utf-8", "replace")).get("password", [""])[0]
            answer = self._admitted(scope, given, language)
        elif scope["path"] == "/health":
            answer = PlainTextResponse("ok")
        elif scope["method"] == "GET" and query.get("token"):
            answer = self._admitted(scope, query["token"][0], language)
        await answer(scope, receive, _answering(send, None))

    def _admitted(self, scope: Scope, given: str, language: Any) -> Response:
        address = (scope.get("client") or ("",))[0]
        with self._lock:
            now = monotonic()
            recent = [each for each in self._tries.get(address, []) if each > now - PER_SECONDS]
            if len(recent) >= TRIES:
                return HTMLResponse(entrance.page(language, fault="late"), 429)
            known = [compare_digest(given.encode(), each.encode()) for each in self._passwords]
            if not any(known):
                if len(self._tries) > MOST_ENTRIES:
                    self._tries.clear()
                self._tries[address] = [*recent, now]
                return HTMLResponse(entrance.page(language, fault="wrong"), 401)
            entry = token_urlsafe(24)
            while len(self._entries) >= MOST_ENTRIES:
                del self._entries[next(iter(self._entries))]
            self._entries[entry] = None
        answer = RedirectResponse("/", 303)
        answer.headers.append("set-cookie", self._cookie(ENTRY, entry))
        return answer

    @property
    def _passwords(self) -> tuple[str, ...]:
        return self._studio.settings.passwords

    def _cookie(self, name: str, value: str) -> str:
        secure = "; Secure" if self._studio.settings.certificate is not None else ""
        return f"{name}={value}; Path=/; HttpOnly; SameSite=Lax{secure}"


def _names(studio: Studio) -> frozenset[str]:
    names = {"localhost", "127.0.0.1", "::1", *studio.settings.names}
    if studio.settings.shared:
        names |= {studio.settings.host, socket.gethostname(), socket.getfqdn()}
    return frozenset(each.lower() for each in names)


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _cookies(headers: Headers) -> dict[str, str]:
    try:
        parsed = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return {}
    return {name: morsel.value for name, morsel in parsed.items()}


def _wants_page(scope: Scope, headers: Headers) -> bool:
    return scope["method"] == "GET" and "text/html" in headers.get("accept", "")


async def _body(receive: Receive) -> bytes:
    """The body of a small form."""
    found = b""
    while len(found) < 10_000:
        message = await receive()
        found += message.get("body", b"")
        if not message.get("more_body"):
            break
    return found


def _bounded(receive: Receive, most: int) -> Receive:
    """The same body, cut off as soon as it is longer than it may be, whatever it said before."""
    seen = 0

    async def bounded() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > most:
            return {"type": "http.disconnect"}
        return message

    return bounded


def _answering(send: Send, cookie: str | None) -> Send:
    """The same answer with our headers."""

    async def answering(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            if cookie is not None:
                headers.append("set-cookie", cookie)
        await send(message)

    return answering


async def _refuse(reason: tuple[int, str], scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})
        return
    await PlainTextResponse(reason[1], reason[0])(scope, receive, _answering(send, None))
