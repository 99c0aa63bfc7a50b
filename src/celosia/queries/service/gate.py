"""The outermost layer: authentication, size limits, and no unexpected error in a reply.

It is plain ASGI. An exception that leaves it would be written to the log of the server with its
words, and the words of an exception may be values of rows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.queries.service.envelope import Reply, error_reply
from celosia.queries.service.errors import bad_body
from celosia.queries.service.limits import Limits
from celosia.queries.service.service import Service

Scope = MutableMapping[str, Any]
AsgiMessage = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[AsgiMessage]]
Send = Callable[[AsgiMessage], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

HOLDER = "celosia.holder"
"""Where the routes find whose token was sent."""

OPEN = frozenset({"/v1/health", "/v1/openapi.json", "/v1/docs"})
"""Paths without authentication: none of them depends on data, policy or ledger."""

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}

DOCS = "/v1/docs"
DOCS_CONTENT = (
    "default-src 'none'; frame-ancestors 'none'; connect-src 'self'; img-src https: data:; "
    "script-src https://cdn.jsdelivr.net 'unsafe-inline'; "
    "style-src https://cdn.jsdelivr.net 'unsafe-inline'"
)
"""The content security policy of the documentation page, where it is switched on."""


class Gate:
    """Admits holders of tokens with requests of a fair size, and catches everything."""

    def __init__(self, app: App, *, service: Service) -> None:
        self._app = app
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection as ASGI wants it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False

        async def sending(message: AsgiMessage) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                is_page = scope["path"] == DOCS and message["status"] == 200
                message["headers"] = _add_headers(message.get("headers", ()), is_page=is_page)
            await send(message)

        try:
            if scope["path"] not in OPEN:
                scope[HOLDER] = await self._service.admit(
                    _values(scope, b"authorization"), address=_address(scope)
                )
            body = await _read_body(scope, receive, self._service.limits)
            await self._app(scope, _replay(body, receive), sending)
        except Exception as error:  # see above
            reply = error_reply(error)
            if not begun:
                await send_reply(reply, sending)


async def send_reply(reply: Reply, send: Send) -> None:
    """Send an envelope by hand."""
    headers = {"Content-Type": "application/json", "Content-Length": str(len(reply.body))}
    pairs = [(name.encode(), value.encode()) for name, value in (headers | reply.headers).items()]
    await send({"type": "http.response.start", "status": reply.status, "headers": pairs})
    await send({"type": "http.response.body", "body": reply.body})


def _add_headers(given: Any, *, is_page: bool) -> list[tuple[bytes, bytes]]:
    headers = HEADERS | ({"Content-Security-Policy": DOCS_CONTENT} if is_page else {})
    return [*given, *((name.lower().encode(), value.encode()) for name, value in headers.items())]


def _address(scope: Scope) -> str:
    """Where a request comes from: what the connection says, never what a header does."""
    client = scope.get("client")
    return str(client[0]) if client else ""


def _values(scope: Scope, wanted: bytes) -> list[str]:
    return [value.decode("latin-1") for name, value in scope["headers"] if name.lower() == wanted]


async def _read_body(scope: Scope, receive: Receive, limits: Limits) -> bytes:
    """Read the body before anything else does, as far as it is allowed to go.

    Raises:
        InputError: CEL-Q175 the connection ends first, CEL-Q176 it is too large, CEL-Q190 too slow.
    """
    large = InputError("CEL-Q176.body", most=limits.body_bytes)
    for length in _values(scope, b"content-length"):
        if not length.isdecimal() or len(length) > 18 or int(length) > limits.body_bytes:
            raise large
    parts, size, more = [], 0, True
    try:
        async with asyncio.timeout(limits.body_seconds):
            while more:
                message = await receive()
                if message["type"] != "http.request":
                    raise bad_body(Message("queries.body.ends_early"))
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                more = message.get("more_body", False)
                if size > limits.body_bytes:
                    raise large
    except TimeoutError:
        raise InputError("CEL-Q190") from None
    return b"".join(parts)


def _replay(body: bytes, receive: Receive) -> Receive:
    """Give the body out once more, to whoever is inside."""
    message: AsgiMessage | None = {"type": "http.request", "body": body, "more_body": False}

    async def received() -> AsgiMessage:
        nonlocal message
        if message is None:
            return await receive()
        given, message = message, None
        return given

    return received
