"""The gate before every page: who may come in, from where, and with how much.

It stands before the whole application, the WebSocket and the uploads of the toolkit included, whose
own limits hold in the browser only.
"""

from __future__ import annotations

import re
import shutil
import socket
from asyncio import to_thread
from collections.abc import Callable
from hmac import compare_digest
from html import escape
from secrets import token_urlsafe
from threading import Lock
from time import monotonic
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from celosia.studio import error_page, http_request
from celosia.studio.error_page import LANGUAGE, SOCKET, Reason
from celosia.studio.language import Language, negotiated
from celosia.studio.login_attempts import BrowserIds, LoginAttempts
from celosia.studio.runtime import Studio
from celosia.studio.visitors import Visitor

WORDS: dict[Language, dict[str, str]] = {
    "en": {
        "title": "Celosía studio",
        "ask": "Password, token or class code, from whoever started this studio or class",
        "enter": "Enter",
        "wrong": "That is not the password. After some wrong ones, answers take longer.",
        "late": "Too many attempts at the same time. This one was not checked: try it again.",
        "left": "You have left. Your work in this studio is removed.",
    },
    "es": {
        "title": "Estudio Celosía",
        "ask": "Contraseña, ficha o código de clase, de quien ha abierto el estudio o la clase",
        "enter": "Entrar",
        "wrong": "Esa no es la contraseña. Tras varios errores, la respuesta tarda más.",
        "late": "Demasiados intentos a la vez. Este no se ha comprobado: pruebe de nuevo.",
        "left": "Ha salido. Su trabajo en este estudio se ha eliminado.",
    },
}
_PAGE = """<!doctype html>
<html lang="{language}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font-family: system-ui, sans-serif; max-width: 24rem; margin: 15vh auto; padding: 0 1rem; }}
input, button {{ font: inherit; padding: .6rem; width: 100%; box-sizing: border-box;
  margin-top: .6rem; }}
[role=alert] {{ color: #b3261e; }}
@media (prefers-color-scheme: dark) {{ [role=alert] {{ color: #f2b8b5; }} }}
</style></head><body><main><h1>{title}</h1>{text}
<form method="post" action="/enter"><label>{ask}
<input name="password" type="password" autocomplete="current-password" autofocus required></label>
<button>{enter}</button></form></main></body></html>"""


def page(language: Language, *, fault: str | None = None, note: str | None = None) -> str:
    """The page, with what went wrong at the last attempt or something else worth knowing."""
    words = WORDS[language]
    text = "" if fault is None else f'<p role="alert">{escape(words[fault])}</p>'
    if note is not None:
        text += f'<p role="status">{escape(words[note])}</p>'
    return _PAGE.format(
        language=language,
        title=escape(words["title"]),
        ask=escape(words["ask"]),
        enter=escape(words["enter"]),
        text=text,
    )


VISITOR = "celosia_visitor"
ENTRY = "celosia_entry"
BROWSER = "celosia_browser"
"""Whose attempts at the entrance are counted together."""
LEAVE, LEFT = "/leave", "/enter?left=1"
"""Where a visitor says goodbye, and the entrance that confirms it."""
SCOPE = "celosia.visitor"
"""Where a request carries its visitor."""
STUDENT = "celosia.student"
"""Where a request says that a class code let it in, rather than a password."""
JOIN = "/class/join/"
"""Where a class code, at the end of the address, lets a student in."""
SMALL_BODY = 1_000_000
"""The largest body of a request that is no upload, in bytes."""
MOST_COOKIES = 16_000
"""Letters of all cookies: parsing more of them may take long."""
MOST_FORGOTTEN = 300
"""Cookies that are removed at once; a browser keeps fewer of one address."""
MOST_AT_ONCE = 2
"""Files that one visitor may be sending at the same time: each is measured against what is free."""
MOST_ENTRIES = 10_000
ENTRY_SECONDS = 12 * 3600.0
"""How long an entry holds after its last page; then the password is asked again."""
RETRY_AFTER = "5"
"""Seconds after which an attempt that found no room may find some."""

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
    # Nothing is told to other sites. To ourselves it must be: with "no-referrer" a browser sends
    # forms (the entrance, the way out) with the origin "null", which is refused.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


_CLIENT = re.compile(r"/_nicegui/client/([^/]+)/")


class Guard:
    """Middleware: host and origin, password, size of uploads, visitor's cookie, headers.

    Args:
        app: what is behind the gate.
        studio: the studio that runs.
        owner: whose an open page of the toolkit is, by the id of the page.
        dismiss: sends all open pages of a visitor who leaves to the entrance.
    """

    def __init__(
        self,
        app: ASGIApp,
        studio: Studio,
        owner: Callable[[str], Visitor | None] = lambda client: None,
        dismiss: Callable[[Visitor], None] = lambda visitor: None,
    ) -> None:
        self._app = app
        self._studio = studio
        self._owner = owner
        self._dismiss = dismiss
        self._names = _names(studio)
        self._entries: dict[str, tuple[float, str | None]] = {}
        """When each entry was used last, and the class whose code made it."""
        self._sending: dict[str, int] = {}
        self._attempts = LoginAttempts()
        self._marks = BrowserIds()
        self._lock = Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it here."""
        if scope["type"] not in ("http", "websocket"):
            return await self._app(scope, receive, send)
        # A proxy's prefix would be written into the page; no page here needs one.
        scope["headers"] = [each for each in scope["headers"] if each[0] != b"x-forwarded-prefix"]
        headers = Headers(scope=scope)
        reason = self._refusal(scope, headers)
        if reason is not None:
            return await _refuse(reason, scope, receive, _answering(send, None))
        cookies = http_request.cookies_of(headers)
        if self._studio.settings.passwords:
            if not self._has_entered(cookies.get(ENTRY)):
                return await self._entrance(scope, receive, send, cookies)
            scope[STUDENT] = self._entries[cookies[ENTRY]][1] is not None
            if scope["type"] == "http" and "token" in parse_qs(
                scope["query_string"].decode("latin-1")
            ):
                # It was used before: it goes from the address, and so from history and pictures.
                return await RedirectResponse("/", 303)(scope, receive, _answering(send, None))
            if scope["type"] == "http" and (scope["method"], scope["path"]) == ("POST", LEAVE):
                return await self._farewell(scope, receive, send, cookies)
        visitor = self._studio.visitors.known(cookies.get(VISITOR))
        fresh = (
            visitor is None and scope["type"] == "http" and http_request.wants_page(scope, headers)
        )
        if fresh:
            visitor = self._studio.visitors.enter(None)
        scope[SCOPE] = visitor
        cookie = None if not fresh or visitor is None else self._cookie(VISITOR, visitor.token)
        if scope["type"] == "websocket":
            return await self._inside(scope, receive, send, visitor)
        answering = error_page.ErrorPageSender(scope, _answering(send, cookie))
        try:
            await self._inside(scope, receive, answering, visitor)
        except Exception:
            await answering.fault()
            raise  # for the log

    async def _inside(
        self, scope: Scope, receive: Receive, send: Send, visitor: Visitor | None
    ) -> None:
        """Hand a request of somebody who may be here to the application."""
        if self._is_foreign(scope, visitor):
            return await _refuse("other-visitor", scope, receive, send)
        if scope["type"] == "websocket":
            return await self._app(scope, receive, send)
        if "/upload/" in scope["path"] and scope["method"] == "POST":
            return await self._upload(scope, receive, send, visitor)
        if http_request.length_of(Headers(scope=scope)) > SMALL_BODY:
            return await _refuse("large", scope, receive, send)
        await self._app(scope, http_request.bounded(receive, SMALL_BODY), send)

    async def _upload(
        self, scope: Scope, receive: Receive, send: Send, visitor: Visitor | None
    ) -> None:
        """Let a file in that fits into what its visitor has left."""
        if visitor is None:
            return await _refuse("no-page", scope, receive, send)
        most = self._most(visitor)
        if http_request.length_of(Headers(scope=scope)) > most:
            return await _refuse("file-large", scope, receive, send)
        running = self._sending.get(visitor.token, 0)
        if running >= MOST_AT_ONCE:
            return await _refuse("busy", scope, receive, send)
        self._sending[visitor.token] = running + 1
        try:
            await self._app(scope, http_request.bounded(receive, most), send)
        finally:
            left = self._sending.pop(visitor.token) - 1
            if left:
                self._sending[visitor.token] = left

    def _is_foreign(self, scope: Scope, visitor: Visitor | None) -> bool:
        """Whether a request is about a page that somebody else has opened."""
        found = _CLIENT.match(scope["path"])
        client = found[1] if found else None
        if scope["path"].startswith(SOCKET):
            query = parse_qs(scope["query_string"].decode("latin-1"))
            client = query.get("client_id", [None])[0]
        owner = None if client is None else self._owner(client)
        return owner is not None and owner is not visitor

    def _has_entered(self, entry: str | None) -> bool:
        if entry is None:
            return False
        with self._lock:
            used, code = self._entries.pop(entry, (0.0, None))
            if not used or used < monotonic() - ENTRY_SECONDS:
                return False
            if code is not None and self._studio.classrooms.find(code) is None:
                return False  # what a class let in goes when the class ends
            # Last again: those not used for longest go first.
            self._entries[entry] = monotonic(), code
            return True

    def _refusal(self, scope: Scope, headers: Headers) -> Reason | None:
        """Why a request is not from a page of ours, if it is not."""
        if len(headers.get("cookie", "")) > MOST_COOKIES:
            return "cookies"
        host = headers.get("host", "")
        name = http_request.host_of(f"//{host}")[0]
        # A page elsewhere may point a name of its own at this machine: only our names count.
        if not (
            name in self._names or (self._studio.settings.shared and http_request.is_address(name))
        ):
            return "host"
        changes = (
            scope["type"] == "websocket"
            or scope["method"] not in ("GET", "HEAD")
            or scope["path"].startswith(SOCKET)
        )
        origin = headers.get("origin")
        if changes and origin is not None and http_request.host_of(origin)[1] != host:
            return "other-page"
        if changes and headers.get("sec-fetch-site") in ("cross-site", "same-site"):
            return "other-page"
        return None

    def _most(self, visitor: Visitor) -> int:
        """How much a visitor may still bring; beside the file a form has some bytes of its own.

        Never more than a quarter of what is free: many visitors together cannot fill the disk.
        """
        settings = self._studio.settings
        free = shutil.disk_usage(visitor.folder.parent).free // 4
        return min(settings.most_upload + 10_000, settings.most_area - visitor.size(), free)

    async def _entrance(
        self, scope: Scope, receive: Receive, send: Send, cookies: dict[str, str]
    ) -> None:
        """Ask for the password, and let in whoever knows it."""
        if scope["type"] == "websocket":
            return await _refuse("refused", scope, receive, send)
        headers = Headers(scope=scope)
        query = parse_qs(scope["query_string"].decode("latin-1"))
        language = negotiated(
            query.get("lang", [None])[0],
            cookies.get(LANGUAGE),
            headers.get("accept-language"),
        )
        note = "left" if "left" in query else None
        mark = self._marks.known(cookies.get(BROWSER))
        answer: Response = HTMLResponse(page(language, note=note), 401)
        if scope["path"] == "/enter" and scope["method"] == "POST":
            body = await http_request.body_of(receive)
            given = parse_qs(body.decode("utf-8", "replace")).get("password", [""])[0]
            answer = await self._admitted(scope, given, mark, language)
        elif scope["path"] == "/health":
            answer = PlainTextResponse("ok")
        elif scope["method"] == "GET" and query.get("token"):
            answer = await self._admitted(scope, query["token"][0], mark, language)
        elif scope["method"] == "GET" and scope["path"].startswith(JOIN):
            answer = await self._admitted(scope, scope["path"][len(JOIN) :], mark, language)
        fresh = mark is None and isinstance(answer, HTMLResponse)
        cookie = self._cookie(BROWSER, self._marks.new()) if fresh else None
        await answer(scope, receive, _answering(send, cookie))

    async def _farewell(
        self, scope: Scope, receive: Receive, send: Send, cookies: dict[str, str]
    ) -> None:
        """End the pass of somebody who leaves, and remove what was worked on."""
        with self._lock:
            self._entries.pop(cookies[ENTRY], None)
        visitor = self._studio.visitors.known(cookies.get(VISITOR))
        if visitor is not None:
            # In a thread of its own: to remove large files takes a while.
            await to_thread(self._studio.visitors.leave, visitor)
            self._dismiss(visitor)
        answer = RedirectResponse(LEFT, 303)
        for name in (ENTRY, VISITOR, BROWSER):
            answer.headers.append("set-cookie", f"{self._cookie(name, '')}; Max-Age=0")
        await answer(scope, receive, _answering(send, None))

    async def _admitted(
        self, scope: Scope, given: str, mark: str | None, language: Language
    ) -> Response:
        """Let in whoever gave a password; whoever did not is told, sooner or later."""
        address = http_request.neighbourhood((scope.get("client") or ("",))[0])
        room = self._studio.classrooms.find(given)
        verdict = await self._attempts.check(
            address, mark, lambda: room is not None or self._is_password(given)
        )
        if verdict == "late":
            return HTMLResponse(page(language, fault="late"), 429, {"Retry-After": RETRY_AFTER})
        if verdict == "wrong":
            return HTMLResponse(page(language, fault="wrong"), 401)
        entry = token_urlsafe(24)
        with self._lock:
            while len(self._entries) >= MOST_ENTRIES:
                del self._entries[next(iter(self._entries))]
            self._entries[entry] = monotonic(), None if room is None else room.code
        answer = RedirectResponse("/" if room is None else f"{JOIN}{room.code}", 303)
        answer.headers.append("set-cookie", self._cookie(ENTRY, entry))
        return answer

    def _is_password(self, given: str) -> bool:
        passwords = self._studio.settings.passwords
        found = [compare_digest(given.encode(), each.encode()) for each in passwords]  # all of them
        return any(found)

    def _cookie(self, name: str, value: str) -> str:
        secure = "; Secure" if self._studio.settings.certificate is not None else ""
        return f"{name}={value}; Path=/; HttpOnly; SameSite=Lax{secure}"


def _forget_cookies(headers: Headers) -> Response:
    """Back to the first page, without the cookies that are not ours: work is not lost by it."""
    answer = RedirectResponse("/", 303)
    ours = (VISITOR, ENTRY, BROWSER, LANGUAGE, error_page.THEME)
    for name in http_request.cookie_names(headers)[:MOST_FORGOTTEN]:
        if name not in ours:
            answer.headers.append("set-cookie", f"{name}=; Path=/; Max-Age=0")
    return answer


def _names(studio: Studio) -> frozenset[str]:
    names = {"localhost", "127.0.0.1", "::1", *studio.settings.names}
    if studio.settings.shared:
        names |= {studio.settings.host, socket.gethostname(), socket.getfqdn()}
    return frozenset(each.lower() for each in names)


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


async def _refuse(reason: Reason, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})
        return
    if reason == "cookies" and scope["path"] == error_page.FORGET:
        return await _forget_cookies(Headers(scope=scope))(scope, receive, send)
    await error_page.answer(reason, scope)(scope, receive, send)
