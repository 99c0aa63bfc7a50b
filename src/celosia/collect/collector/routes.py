"""The addresses of the endpoint. Loaded when an app is made: FastAPI is part of an extra."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Protocol

from fastapi import APIRouter, Depends, FastAPI, Header, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from celosia.collect.collector.batches import Batch, BatchLimits
from celosia.collect.collector.service import Endpoint
from celosia.collect.collector.writer import TooBusy
from celosia.collect.estimates import Estimates, Summary
from celosia.collect.registry import parameters_of
from celosia.core.errors import CelosiaError, EngineError, InputError, QueryRefused

LOGGER = logging.getLogger(__name__)


class Refusal(CelosiaError):  # noqa: N818 - a refusal is an answer, named as one
    """What the endpoint refuses on its own account."""

    exit_code = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer that is ready to be sent."""

    status: int
    body: bytes = field(repr=False)
    headers: dict[str, str] = field(default_factory=dict)


STATUSES = {
    "CEL-R074": 503,
    "CEL-R075": 503,
    "CEL-R077": 413,
    "CEL-R080": 403,
    "CEL-R084": 401,
    "CEL-R085": 400,
    "CEL-R086": 429,
    "CEL-R087": 500,
    "CEL-R093": 410,
    "CEL-R094": 421,
    "CEL-R109": 409,
}
"""Where HTTP has a status of its own; all else that is wrong with a batch is 422. After 429 and 503
the batch is not counted and may be sent again, with the same id."""

AGAIN = "5"
"""Seconds after which to send again."""


def success_reply(data: object) -> Reply:
    """The envelope of plain values.

    >>> success_reply({"reports": 3}).body
    b'{"ok":true,"data":{"reports":3}}'
    """
    return Reply(status=200, body=_written({"ok": True, "data": data}))


def error_reply(error: BaseException) -> Reply:
    """The envelope of an error; what is not for others becomes one fixed text.

    Words of unexpected exceptions could be anything. The log gets the name of their class.
    """
    if isinstance(error, (InputError, EngineError, QueryRefused, Refusal, TooBusy)):
        refusal: CelosiaError = error
    else:
        LOGGER.error("a request failed: %s", type(error).__name__)
        refusal = Refusal("CEL-R087")
    status = refusal.details.get("status", STATUSES.get(refusal.code, 422))
    assert isinstance(status, int)
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else {}
    if status in (429, 503):
        headers["Retry-After"] = AGAIN
    facts = {"code": refusal.code, "error": refusal.what, "why": refusal.why, "hint": refusal.fix}
    body = _written({"ok": False, "status": status, **facts})
    return Reply(status=status, body=body, headers=headers)


def _written(values: object) -> bytes:
    # ASCII: no text, however odd, can then fail to be sent.
    return json.dumps(values, allow_nan=False, separators=(",", ":")).encode("ascii")


Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
SHORTEST_ID = 16
"""Letters of an id over HTTP: ids that senders do not draw at random would run into each other."""
MOST_CANDIDATES = 10_000


class ErrorMiddleware:
    """The outermost layer: an exception that left it would be logged with its words."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection as ASGI wants it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False

        async def sending(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                ours = [(name.lower().encode(), text.encode()) for name, text in HEADERS.items()]
                message["headers"] = [*message.get("headers", ()), *ours]
            await send(message)

        try:
            await self._app(scope, receive, sending)
        except Exception as error:  # see above
            reply = error_reply(error)
            if not begun:
                await response_of(reply)(scope, receive, sending)


def response_of(reply: Reply) -> Response:
    """An envelope as FastAPI sends it."""
    return Response(reply.body, reply.status, dict(reply.headers), "application/json")


def add_handlers(app: FastAPI) -> None:
    """Let an app answer in one form only."""

    @app.exception_handler(RequestValidationError)
    async def _invalid(_: Request, error: RequestValidationError) -> Response:
        known = {"post", "confidence", "kind", "candidate", "idempotency-key"}
        named = [part for each in error.errors() for part in each["loc"] if part in known]
        if named:
            return response_of(error_reply(Refusal("CEL-R085.parameter", name=named[0])))
        return response_of(error_reply(Refusal("CEL-R085.part")))

    @app.exception_handler(HTTPException)
    async def _http(_: Request, error: HTTPException) -> Response:
        keys = {404: "CEL-R085.address", 405: "CEL-R085.method"}
        key = keys.get(error.status_code, "CEL-R085.wrong")
        return response_of(error_reply(Refusal(key, status=error.status_code)))

    @app.exception_handler(CelosiaError)
    async def _ours(_: Request, error: CelosiaError) -> Response:
        return response_of(error_reply(error))


def _endpoint(request: Request) -> Endpoint:
    found: Endpoint = request.app.state.endpoint
    return found


EndpointDependency = Annotated[Endpoint, Depends(_endpoint)]
router = APIRouter(prefix="/v1", default_response_class=Response)


@router.get("/health")
async def health() -> Response:
    """Whether the endpoint runs; it tells nothing else."""
    return response_of(success_reply({"status": "running"}))


@router.get("/metrics")
async def metrics(request: Request, endpoint: EndpointDependency) -> Response:
    """Figures for Prometheus; for holders of the token of the monitor."""
    if not endpoint.access.is_monitor(token_of(request)):
        raise Refusal("CEL-R084")
    writer = endpoint.writer
    text = writer.metrics.text(**writer.waiting, bytes_arriving=endpoint.arriving)
    return Response(text, 200, media_type="text/plain; version=0.0.4")


@router.get("/state")
async def state(request: Request, endpoint: EndpointDependency) -> Response:
    """All sums, as `celosia collect merge` reads them; for the curator."""
    if not endpoint.access.is_curator(token_of(request)):
        raise Refusal("CEL-R084")
    found = await asyncio.to_thread(endpoint.collector.state)
    return Response(found, 200, media_type="application/octet-stream")


@router.get("/protocol")
async def protocol(endpoint: EndpointDependency) -> Response:
    """What devices must know to send reports: all parameters, and their fingerprint."""
    found = endpoint.store.protocol
    return response_of(
        success_reply(parameters_of(found) | {"report_bytes": -(-found.report_bits // 8)})
    )


@router.post("/reports")
async def reports(
    request: Request, endpoint: EndpointDependency, idempotency_key: Annotated[str, Header()]
) -> Response:
    """Count a batch: its bytes are the body. It is on disk when this answers."""
    sender = endpoint.access.sender(token_of(request))
    if sender is None:
        raise Refusal("CEL-R084")
    if len(idempotency_key) < SHORTEST_ID:
        raise Refusal("CEL-R085.short_id", shortest=SHORTEST_ID)
    data = await read_body(request, endpoint)
    batch = Batch(data=data, id=idempotency_key, source=sender)
    receipt = await asyncio.wrap_future(endpoint.writer.submit(batch))
    return response_of(success_reply(receipt.as_dict()))


@router.get("/estimates")
async def estimates(
    request: Request,
    endpoint: EndpointDependency,
    *,
    candidate: Annotated[list[str] | None, Query(max_length=MOST_CANDIDATES)] = None,
    post: Annotated[str, Query(max_length=20)] = "raw",
    decode: bool = False,
    significance: Annotated[float, Query(gt=0, lt=1)] = 0.05,
    confidence: Annotated[float, Query(gt=0, lt=1)] = 0.95,
    kind: Literal["text", "number"] = "text",
) -> Response:
    """How common candidates are, or what is found without; for the curator."""
    if not endpoint.access.is_curator(token_of(request)):
        raise Refusal("CEL-R084")
    try:
        candidates: list[Any] | None = candidate
        if candidate is not None and kind == "number":
            candidates = [int(each) for each in candidate]
    except ValueError:
        raise Refusal("CEL-R085.candidate") from None
    if post != "raw" and (candidates is None or decode):
        raise Refusal("CEL-R085.post")

    def compute() -> Estimates | Summary:
        collector = endpoint.collector
        if candidates is not None and not decode:
            return collector.estimate(candidates, post=post)
        summary = collector.summary() if candidates is None else None
        return summary or collector.find(candidates, significance=significance)

    found = await asyncio.to_thread(compute)
    return response_of(success_reply(found.as_dict(confidence)))


def token_of(request: Request) -> str:
    """The token that a request was sent with, or an empty text."""
    kind, _, text = request.headers.get("authorization", "").partition(" ")
    return text.strip() if kind.lower() == "bearer" else ""


class Receiving(Protocol):
    """What an endpoint has room for."""

    arriving: int
    waiting_bytes: int
    body_seconds: float

    @property
    def limits(self) -> BatchLimits:
        """What one request may weigh."""

    def send_away(self) -> None:
        """Note that there was no room for a request."""


async def read_body(
    request: Request, endpoint: Receiving, limits: BatchLimits | None = None
) -> bytes:
    """The body, read as far as it may go and no longer than it may take."""
    limits = limits or endpoint.limits
    length = request.headers.get("content-length", "0")
    if not length.isdecimal() or len(length) > 18:
        raise Refusal("CEL-R085.length")
    limits.check_size(int(length))
    parts, size = [], 0
    try:
        async with asyncio.timeout(endpoint.body_seconds):
            async for part in request.stream():
                parts.append(part)
                size += len(part)
                endpoint.arriving += len(part)
                limits.check_size(size)
                if endpoint.arriving > endpoint.waiting_bytes:
                    endpoint.send_away()
                    raise TooBusy()  # many slow bodies together must not take all memory either
        return b"".join(parts)
    except TimeoutError:
        raise Refusal("CEL-R085.too_slow", status=408) from None
    finally:
        endpoint.arriving -= size
