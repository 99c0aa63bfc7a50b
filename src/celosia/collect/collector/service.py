"""The HTTP endpoint of a collector: devices send batches, the curator sees estimates.

Nothing about who sends is kept or logged: no address, no header, no time. The id of a batch is kept
as a hash.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from celosia.collect.collector.access import Access
from celosia.collect.collector.batches import BatchLimits
from celosia.collect.collector.collector import Collector
from celosia.collect.collector.store import BatchStore
from celosia.collect.collector.writer import Writer
from celosia.collect.registry import load_protocol
from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.server import is_this_machine, listening, run_server, start_again

if TYPE_CHECKING:
    from fastapi import FastAPI

PORT = 8450


@dataclass(slots=True)
class Endpoint:
    """A collector or shuffler, and the one thread that counts for it, while the endpoint runs."""

    factory: Callable[[], BatchStore]
    access: Access
    waiting: int = 10_000
    waiting_bytes: int = 256 * 2**20
    body_seconds: float = 30.0
    arriving: int = field(default=0, init=False)
    """Bytes of bodies that are being read now, of all requests together."""
    before_close: Callable[[], object] = field(default=lambda: None, init=False)
    _store: BatchStore | None = field(default=None, init=False)
    _writer: Writer | None = field(default=None, init=False)

    def open(self) -> None:
        """Open the folder, if it is not open."""
        if self._store is None:
            self._store = self.factory()
            self._writer = Writer(
                self._store, waiting=self.waiting, waiting_bytes=self.waiting_bytes
            )

    def close(self) -> None:
        """Count what waits, and let go of the folder."""
        if self._writer is not None and self._store is not None:
            self.before_close()
            self._writer.close()
            self._store.close()
            self._writer = self._store = None

    @property
    def limits(self) -> BatchLimits:
        """What one request may weigh."""
        return self.store.limits

    def send_away(self) -> None:
        """Note that there was no room for a request."""
        self.writer.metrics.batches_sent_away += 1

    @property
    def store(self) -> BatchStore:
        """The collector or shuffler, which is open."""
        assert self._store is not None
        return self._store

    @property
    def collector(self) -> Collector:
        """The collector; a shuffler has no curator, who alone asks for it."""
        assert isinstance(self._store, Collector)
        return self._store

    @property
    def writer(self) -> Writer:
        """Its thread."""
        assert self._writer is not None
        return self._writer


def create_app(
    store: Callable[[], BatchStore],
    *,
    access: Access | None = None,
    origins: Sequence[str] = (),
) -> FastAPI:
    """The endpoint over a collector or a shuffler.

    `POST /v1/reports` takes the bytes of a batch under an `Idempotency-Key`, `GET /v1/protocol`
    tells devices what to do, `GET /v1/estimates` is for the curator, `GET /v1/health` for
    everybody. Answers are `{"ok": true, "data": ...}`, or `{"ok": false, "code", "error", "why",
    "hint", "status"}`.

    Args:
        store: opens it when the app starts.
        access: the tokens; without them anyone may send, and HTTP gives no estimates.
        origins: the sites whose pages may send from a browser, such as `https://app.example`.

    Raises:
        InputError: CEL-R083 the extra is missing.
    """
    endpoint = Endpoint(store, access or Access())

    def routes() -> object:
        from celosia.collect.collector.routes import router

        return router

    return web_application(
        endpoint, routes, title="Celosía: collect", summary="Send private reports.", origins=origins
    )


class Opened(Protocol):
    """What an endpoint has open while it runs."""

    def open(self) -> None:
        """Open it, if it is not open."""

    def close(self) -> None:
        """Let go of it."""


def web_application(
    endpoint: Opened,
    routes: Callable[[], object],
    *,
    title: str,
    summary: str,
    origins: Sequence[str] = (),
) -> FastAPI:
    """An application that opens an endpoint when it starts, and answers in one form.

    Args:
        endpoint: what its addresses work on, as `app.state.endpoint`.
        routes: imports and returns the addresses, which need the extra.
        title: of its description.
        summary: of its description.
        origins: the sites whose pages may send from a browser, such as `https://app.example`.

    Raises:
        InputError: CEL-R083 the extra is missing.
    """
    try:
        from fastapi import APIRouter, FastAPI

        from celosia.collect.collector.routes import ErrorMiddleware, add_handlers

        router = routes()
        assert isinstance(router, APIRouter)
    except ImportError as error:
        raise _missing_extra(error.name) from None

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await asyncio.to_thread(endpoint.open)
        try:
            yield
        finally:
            await asyncio.to_thread(endpoint.close)

    app = FastAPI(
        title=title,
        summary=summary,
        version="1",
        openapi_url="/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        redirect_slashes=False,
    )
    app.state.endpoint = endpoint
    app.include_router(router)
    add_handlers(app)
    if origins:
        from starlette.middleware.cors import CORSMiddleware

        app.add_middleware(
            CORSMiddleware,
            allow_origins=_check_origins(origins),
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type", "Idempotency-Key"],
            expose_headers=["Retry-After"],
            max_age=86_400,
        )
    app.add_middleware(ErrorMiddleware)
    return app


def _check_origins(origins: Sequence[str]) -> list[str]:
    for each in origins:
        found = urlsplit(each)
        if found.scheme not in ("http", "https") or each != f"{found.scheme}://{found.netloc}":
            raise InputError("CEL-R077.origin")
    return list(origins)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """Where an endpoint listens.

    Args:
        host: only this machine unless said otherwise.
        port: of it.
        certificate: a file, for HTTPS.
        key: its private key.
        plain: whether to listen to other machines without HTTPS, behind a proxy that has it.

    Raises:
        InputError: CEL-R083 the extra is missing, CEL-R089 others could read along.
    """

    host: str = "127.0.0.1"
    port: int = PORT
    certificate: str | Path | None = None
    key: str | Path | None = None
    plain: bool = False

    def __post_init__(self) -> None:
        try:
            import uvicorn  # noqa: F401 - part of an extra
        except ImportError as error:
            raise _missing_extra(error.name) from None
        if self.certificate is None and not self.plain and not is_this_machine(self.host):
            raise InputError("CEL-R089", host=self.host)

    @property
    def address(self) -> str:
        """What devices send to."""
        scheme = "http" if self.certificate is None else "https"
        return f"{scheme}://{self.host}:{self.port}"


def serve(
    protocol: str | Path,
    *,
    folder: str | Path,
    listen: Listening | None = None,
    access: Access | None = None,
    limits: BatchLimits | None = None,
    origins: Sequence[str] = (),
    ready: Callable[[], object] = lambda: None,
) -> None:
    """Run the endpoint until it is stopped (Ctrl-C, or SIGTERM).

    Args:
        protocol: the protocol file.
        folder: of the collector.
        listen: where to listen.
        access: who may send and see.
        limits: of batches and sources.
        origins: the sites whose pages may send from a browser.
        ready: called once, as soon as reports are taken.

    Raises:
        EngineError: CEL-R074 another process has the folder, CEL-R089 the port cannot be had.
    """
    listen = listen or Listening()
    opened = partial(Collector.open, folder, load_protocol(protocol), limits=limits)
    run_endpoint(create_app(opened, access=access, origins=origins), listen=listen, ready=ready)


def run_endpoint(app: FastAPI, *, listen: Listening, ready: Callable[[], object]) -> None:
    """Run an endpoint until it is stopped; SIGHUP starts it again, and refuses nobody meanwhile.

    Raises:
        EngineError: CEL-R074 another process has the folder, CEL-R089 the port cannot be had.
    """
    with listening(listen.host, listen.port, code="CEL-R089") as sockets:
        app.state.endpoint.open()  # here, so that what is wrong with the folder is told as an error
        try:
            again = run_server(
                app,
                sockets,
                ready=ready,
                code="CEL-R089",
                restarts=True,
                access_log=False,  # senders and times are not logged
                server_header=False,
                proxy_headers=False,
                log_level="warning",
                ssl_certfile=listen.certificate,
                ssl_keyfile=listen.key,
                timeout_graceful_shutdown=30,
            )
        finally:
            app.state.endpoint.close()
        if again:
            start_again(sockets)


def _missing_extra(package: str | None) -> InputError:
    return InputError("CEL-R083", package=package or Message("collect.package.unnamed"))
