"""The service as an ASGI app, and as a server that runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.accounting.ledger.ledger import check_not_lost
from celosia.core.errors import InputError
from celosia.core.server import is_this_machine, listening, run_server
from celosia.queries.paths import audit_log_path, ledger_path, oidc_path, tokens_path
from celosia.queries.service.audit_log import AuditLog
from celosia.queries.service.errors import missing_extra
from celosia.queries.service.limits import Limits
from celosia.queries.service.metrics import Metrics
from celosia.queries.service.oidc import OidcSettings, OidcTokens
from celosia.queries.service.service import Service, VaultProtocol
from celosia.queries.service.tokens import TokenStore

if TYPE_CHECKING:
    from fastapi import FastAPI

    from celosia.queries.service.flight.server import FlightServer
    from celosia.queries.service.gate import App
    from celosia.queries.service.policies import PolicyRouter

PORT = 8440


def create_app(
    vault: str | Path | Callable[[], VaultProtocol],
    *,
    tokens: TokenStore,
    audit_log: AuditLog | str | Path | None = None,
    limits: Limits | None = None,
    docs: bool = False,
    oidc: OidcTokens | None = None,
    name: str | None = None,
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
        oidc: whose signed tokens are accepted too.
        name: the label of its metrics, where it is one of several on a server.

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
        metrics=Metrics(name),
        oidc=oidc,
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
    policy: str | Path | Mapping[str, str | Path],
    *,
    host: str = "127.0.0.1",
    port: int = PORT,
    flight: int | None = None,
    ledger: str | Path | None = None,
    tokens: TokenStore | str | Path | None = None,
    audit_log: AuditLog | str | Path | None = None,
    oidc: str | Path | None = None,
    limits: Limits | None = None,
    certificate: str | Path | None = None,
    key: str | Path | None = None,
    plain: bool = False,
    docs: bool = False,
    ready: Callable[[], object] = lambda: None,
) -> None:
    """Run the service until it is stopped (Ctrl-C, or SIGTERM).

    Files that are not named lie beside the policy: `policy.tokens.sqlite`, `policy.audit.jsonl`
    and, where there is one, `policy.oidc.toml`.

    Args:
        policy: the policy file; or several by name, each of which is served at /NAME with files of
            its own beside it.
        host: where to listen; only this machine unless said otherwise.
        port: of it.
        flight: a second port, for Arrow Flight SQL: drivers of ADBC and JDBC.
        ledger: as for `Vault.open`; of one policy only, as are tokens, audit_log and oidc.
        tokens: who may ask.
        audit_log: where it is noted who asked.
        oidc: the file that names an identity provider whose tokens are accepted too.
        limits: sizes, rates and times, of each policy.
        certificate: a file, for HTTPS.
        key: its private key.
        plain: whether to listen to other machines without HTTPS, behind a proxy that has it.
        docs: as for `create_app`.
        ready: called once, as soon as questions are answered.

    Raises:
        EngineError: CEL-Q208, the port cannot be had.
        InputError: CEL-Q170 the extra is missing; CEL-Q188 others could read along; CEL-Q189
            nobody holds a token of a curator; CEL-Q191 the identity provider cannot be used;
            CEL-Q193 policies that cannot be served together; or what is wrong with the policy.
    """
    try:
        import uvicorn  # noqa: F401 - part of an extra
    except ImportError as error:
        raise missing_extra(error.name) from None
    if certificate is None and not plain and not is_this_machine(host):
        raise InputError("CEL-Q188.no_encryption", host=host)
    bounded = limits or Limits()
    several = isinstance(policy, Mapping)
    if several and any(each is not None for each in (ledger, tokens, audit_log, oidc)):
        raise InputError("CEL-Q193.own_files")
    named = dict(policy) if isinstance(policy, Mapping) else {"": policy}
    parts = {
        name: _Parts.of(path, ledger=ledger, tokens=tokens, audit_log=audit_log, oidc=oidc)
        for name, path in named.items()
    }
    check_apart(parts)
    with listening(host, port, code="CEL-Q208") as sockets, ExitStack() as closing:
        apps = {
            name: each.app(limits=bounded, docs=docs, name=name or None)
            for name, each in parts.items()
        }
        services = {name: each.state.service for name, each in apps.items()}
        for each in services.values():
            each.open()  # here, so that what is wrong is told as an error
        router = _router(apps, bounded) if several else None
        app: App = router or apps[""]
        if flight is not None:
            second = _flight_server(
                services,
                nowhere=router and router.nowhere,
                host=host,
                port=flight,
                certificate=certificate,
                key=key,
            )
            closing.callback(second.shutdown)
            app = second.beside(app)
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


def _router(apps: Mapping[str, FastAPI], limits: Limits) -> PolicyRouter:
    from celosia.queries.service.policies import PolicyRouter  # one policy does without

    return PolicyRouter(apps, limits=limits)


def _flight_server(services: Mapping[str, Service], **options: Any) -> FlightServer:
    try:
        from celosia.queries.service.flight.server import FlightServer
    except ImportError as error:  # not every build of pyarrow has Flight
        raise missing_extra(error.name) from None
    return FlightServer(services, **options)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """What the service of one policy is made of; nothing of it is shared."""

    policy: str | Path
    ledger: str | Path | None
    tokens: TokenStore
    audit: AuditLog
    oidc: OidcTokens | None

    @classmethod
    def of(
        cls,
        policy: str | Path,
        *,
        ledger: str | Path | None,
        tokens: TokenStore | str | Path | None,
        audit_log: AuditLog | str | Path | None,
        oidc: str | Path | None,
    ) -> _Parts:
        """The parts of a policy, beside its file where no others are named."""
        store = (
            tokens if isinstance(tokens, TokenStore) else TokenStore(tokens or tokens_path(policy))
        )
        issuer = _issuer(policy, oidc)
        if not store.has_curator() and (issuer is None or not issuer.has_curator):
            raise InputError("CEL-Q189", path=str(store.path))
        named = audit_log or audit_log_path(policy)
        log = named if isinstance(named, AuditLog) else AuditLog(named)
        return cls(policy=policy, ledger=ledger, tokens=store, audit=log, oidc=issuer)

    def app(self, *, limits: Limits, docs: bool, name: str | None) -> FastAPI:
        """The service."""
        traces = (self.audit.path, self.tokens.path)
        return create_app(
            _opener(self.policy, limits=limits, ledger=self.ledger, traces=traces),
            tokens=self.tokens,
            audit_log=self.audit,
            limits=limits,
            docs=docs,
            oidc=self.oidc,
            name=name,
        )


def check_apart(parts: Mapping[str, _Parts]) -> None:
    """Refuse policies of which a signed token of one would be good for another.

    Raises:
        InputError: CEL-Q193.
    """
    met: dict[tuple[str, str], str] = {}
    for name, each in parts.items():
        if each.oidc is None:
            continue
        settings = each.oidc.settings
        other = met.setdefault((settings.issuer, settings.audience), name)
        if other != name:
            raise InputError("CEL-Q193.same_audience", name=name, other=other)


def _issuer(policy: str | Path, oidc: str | Path | None) -> OidcTokens | None:
    place = oidc_path(policy) if oidc is None else Path(oidc)
    if oidc is None and not place.is_file():
        return None
    from celosia.queries.policy import load_policy

    return OidcTokens(
        OidcSettings.load(place), named=tuple(name for name, _ in load_policy(policy).analysts)
    )


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
