"""The HTTP endpoint of a collector: devices send batches, the curator sees estimates.

Nothing about who sends is kept or logged: no address, no header, no time. The id of a batch is kept
as a hash.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from celosia.collect.collector.access import Access
from celosia.collect.collector.batches import BatchLimits
from celosia.collect.collector.collector import Collector
from celosia.collect.collector.writer import Writer
from celosia.collect.registry import load_protocol
from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.server import listening, run_server

if TYPE_CHECKING:
    from fastapi import FastAPI

PORT = 8450


@dataclass(slots=True)
class Endpoint:
    """A collector and the one thread that counts for it, while the endpoint runs."""

    factory: Callable[[], Collector]
    access: Access
    waiting: int = 10_000
    waiting_bytes: int = 256 * 2**20
    body_seconds: float = 30.0
    arriving: int = field(default=0, init=False)
    """Bytes of bodies that are being read now, of all requests together."""
    _collector: Collector | None = field(default=None, init=False)
    _writer: Writer | None = field(default=None, init=False)

    def open(self) -> None:
        """Open the collector, if it is not open."""
        if self._collector is None:
            self._collector = self.factory()
            self._writer = Writer(
                self._collector, waiting=self.waiting, waiting_bytes=self.waiting_bytes
            )

    def close(self) -> None:
        """Count what waits, and let go of the folder."""
        if self._writer is not None and self._collector is not None:
            self._writer.close()
            self._collector.close()
            self._writer = self._collector = None

    @property
    def collector(self) -> Collector:
        """The collector, which is open."""
        assert self._collector is not None
        return self._collector

    @property
    def writer(self) -> Writer:
        """Its thread."""
        assert self._writer is not None
        return self._writer


def create_app(collector: Callable[[], Collector], *, access: Access | None = None) -> FastAPI:
    """The endpoint over a collector.

    `POST /v1/reports` takes the bytes of a batch under an `Idempotency-Key`, `GET /v1/protocol`
    tells devices what to do, `GET /v1/estimates` is for the curator, `GET /v1/health` for
    everybody. Answers are `{"ok": true, "data": ...}`, or `{"ok": false, "code", "error", "why",
    "hint", "status"}`.

    Args:
        collector: opens it when the app starts.
        access: the tokens; without them anyone may send, and HTTP gives no estimates.

    Raises:
        InputError: CEL-R083 the extra is missing.
    """
    try:
        from fastapi import FastAPI

        from celosia.collect.collector.routes import ErrorMiddleware, add_handlers, router
    except ImportError as error:
        raise _missing_extra(error.name) from None
    endpoint = Endpoint(collector, access or Access())

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await asyncio.to_thread(endpoint.open)
        try:
            yield
        finally:
            await asyncio.to_thread(endpoint.close)

    app = FastAPI(
        title="Celosía: collect",
        summary="Send private reports.",
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
    app.add_middleware(ErrorMiddleware)
    return app


def serve(
    protocol: str | Path,
    *,
    folder: str | Path,
    host: str = "127.0.0.1",
    port: int = PORT,
    access: Access | None = None,
    limits: BatchLimits | None = None,
    certificate: str | Path | None = None,
    key: str | Path | None = None,
    plain: bool = False,
    ready: Callable[[], object] = lambda: None,
) -> None:
    """Run the endpoint until it is stopped (Ctrl-C, or SIGTERM).

    Args:
        protocol: the protocol file.
        folder: of the collector.
        host: where to listen; only this machine unless said otherwise.
        port: of it.
        access: who may send and see.
        limits: of batches and sources.
        certificate: a file, for HTTPS.
        key: its private key.
        plain: whether to listen to other machines without HTTPS, behind a proxy that has it.
        ready: called once, as soon as reports are taken.

    Raises:
        InputError: CEL-R083 the extra is missing, CEL-R089 others could read along.
        EngineError: CEL-R074 another process has the folder, CEL-R089 the port cannot be had.
    """
    try:
        import uvicorn  # noqa: F401 - part of an extra
    except ImportError as error:
        raise _missing_extra(error.name) from None
    if certificate is None and not plain and not _is_this_machine(host):
        raise InputError("CEL-R089", host=host)
    declared = load_protocol(protocol)
    with listening(host, port, code="CEL-R089") as sockets:
        app = create_app(lambda: Collector.open(folder, declared, limits=limits), access=access)
        app.state.endpoint.open()  # here, so that what is wrong with the folder is told as an error
        try:
            run_server(
                app,
                sockets,
                ready=ready,
                code="CEL-R089",
                access_log=False,  # senders and times are not logged
                server_header=False,
                proxy_headers=False,
                log_level="warning",
                ssl_certfile=certificate,
                ssl_keyfile=key,
                timeout_graceful_shutdown=30,
            )
        finally:
            app.state.endpoint.close()


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _missing_extra(package: str | None) -> InputError:
    return InputError("CEL-R083", package=package or Message("collect.package.unnamed"))
