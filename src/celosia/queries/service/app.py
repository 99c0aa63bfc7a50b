"""The service as an ASGI app, and as a server that runs."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from celosia.accounting.ledger.ledger import check_not_lost
from celosia.core.errors import InputError
from celosia.core.server import listening, run_server
from celosia.queries.paths import audit_log_path, ledger_path, tokens_path
from celosia.queries.service.audit_log import AuditLog
from celosia.queries.service.errors import missing_extra
from celosia.queries.service.limits import Limits
from celosia.queries.service.service import Service, VaultProtocol
from celosia.queries.service.tokens import TokenStore

if TYPE_CHECKING:
    from fastapi import FastAPI

PORT = 8440


def create_app(
    vault: str | Path | Callable[[], VaultProtocol],
    *,
    tokens: TokenStore,
    audit_log: AuditLog | str | Path | None = None,
    limits: Limits | None = None,
    docs: bool = False,
) -> FastAPI:
    """The service over a vault.

    Statuses: 401 no good token, 403 another role, 402 no budget, 400 refused, 422 wrong input,
    404, 405, 408, 413 too large, 429 too many, 500 one fixed text for everything else. No other
    origin is allowed (no CORS).

    Args:
        vault: a policy file, or what opens the vault when the app starts.
        tokens: who may ask.
        audit_log: where it is noted who asked; nowhere if None.
        limits: sizes, rates and times.
        docs: whether /v1/docs shows the API in a browser, with scripts from a public server.

    Raises:
        InputError: CEL-Q170 the extra is missing.
        EngineError: CEL-Q181 the audit log cannot be written.
    """
    try:
        from fastapi import FastAPI

        from celosia.queries.service.gate import Gate
        from celosia.queries.service.handlers import add_handlers
        from celosia.queries.service.routes import router
    except ImportError as error:
        raise missing_extra(error.name) from None
    log = AuditLog(audit_log) if isinstance(audit_log, str | Path) else audit_log
    bounded = limits or Limits()
    service = Service(
        factory=vault if callable(vault) else _opener(vault, limits=bounded),
        tokens=tokens,
        audit=log,
        limits=bounded,
    )

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await asyncio.to_thread(service.open)
        try:
            yield
        finally:
            await asyncio.to_thread(service.close)

    app = FastAPI(
        title="Celosía",
        summary="Ask a database that you may not see.",
        version="1",
        openapi_url="/v1/openapi.json",
        docs_url="/v1/docs" if docs else None,
        redoc_url=None,
        lifespan=lifespan,
        redirect_slashes=False,
    )
    app.state.service = service
    app.include_router(router)
    add_handlers(app)
    app.add_middleware(Gate, service=service)
    return app


def serve(
    policy: str | Path,
    *,
    host: str = "127.0.0.1",
    port: int = PORT,
    ledger: str | Path | None = None,
    tokens: TokenStore | str | Path | None = None,
    audit_log: AuditLog | str | Path | None = None,
    limits: Limits | None = None,
    certificate: str | Path | None = None,
    key: str | Path | None = None,
    plain: bool = False,
    docs: bool = False,
    ready: Callable[[], object] = lambda: None,
) -> None:
    """Run the service until it is stopped (Ctrl-C, or SIGTERM).

    Files that are not named lie beside the policy: `policy.tokens.sqlite` and
    `policy.audit.jsonl`.

    Args:
        policy: the policy file.
        host: where to listen; only this machine unless said otherwise.
        port: of it.
        ledger: as for `Vault.open`.
        tokens: who may ask.
        audit_log: where it is noted who asked.
        limits: sizes, rates and times.
        certificate: a file, for HTTPS.
        key: its private key.
        plain: whether to listen to other machines without HTTPS, behind a proxy that has it.
        docs: as for `create_app`.
        ready: called once, as soon as questions are answered.

    Raises:
        EngineError: CEL-Q208, the port cannot be had.
        InputError: CEL-Q170 the extra is missing; CEL-Q188 others could read along; CEL-Q189
            nobody holds a token of a curator; or what is wrong with the policy.
    """
    try:
        import uvicorn  # noqa: F401 - part of an extra
    except ImportError as error:
        raise missing_extra(error.name) from None
    if certificate is None and not plain and not is_this_machine(host):
        raise InputError("CEL-Q188.no_encryption", host=host)
    store = tokens if isinstance(tokens, TokenStore) else TokenStore(tokens or tokens_path(policy))
    if not store.has_curator():
        raise InputError("CEL-Q189", path=str(store.path))
    bounded = limits or Limits()
    named = audit_log or audit_log_path(policy)
    log = named if isinstance(named, AuditLog) else AuditLog(named)
    with listening(host, port, code="CEL-Q208") as sockets:
        app = create_app(
            _opener(policy, limits=bounded, ledger=ledger, traces=(log.path, store.path)),
            tokens=store,
            audit_log=log,
            limits=bounded,
            docs=docs,
        )
        app.state.service.open()  # here, so that what is wrong with the policy is told as an error
        run_server(
            app,
            sockets,
            ready=ready,
            code="CEL-Q208",
            access_log=False,  # the audit log tells more, and outlives the terminal
            server_header=False,
            proxy_headers=False,  # who counts refusals must not believe what a client says it is
            log_level="warning",
            ssl_certfile=certificate,
            ssl_keyfile=key,
            timeout_graceful_shutdown=round(bounded.seconds),
        )


def is_this_machine(host: str) -> bool:
    """Whether only this machine can reach a host.

    >>> [is_this_machine(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "db.org")]
    [True, True, True, False, False]
    """
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _opener(
    policy: str | Path,
    *,
    limits: Limits,
    ledger: str | Path | None = None,
    traces: Iterable[Path] = (),
) -> Callable[[], VaultProtocol]:
    def opened() -> VaultProtocol:
        from celosia.queries.vault import Vault  # engines are heavy

        check_not_lost(ledger or ledger_path(policy), traces)
        vault = Vault.open(policy, ledger=ledger)
        vault.timeout = min(vault.timeout, limits.seconds)  # nobody waits for what comes later
        return vault

    return opened
