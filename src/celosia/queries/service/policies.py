"""Several policies on one server: each a service of its own, at its own path.

Guarantee: nothing of one policy is seen through another. Each has its database, ledger, tokens,
audit log, rates, places and metrics; a token is good at the path of its policy and nowhere else. A
path that is no policy is answered as one whose tokens one does not hold, in the same time, so that
nobody learns which policies there are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.core.errors import InputError
from celosia.queries.service.envelope import error_reply, success_reply
from celosia.queries.service.errors import no_address, no_token
from celosia.queries.service.gate import Gate, Receive, Scope, Send, send_reply
from celosia.queries.service.limits import Limits
from celosia.queries.service.service import Service
from celosia.queries.service.tokens import Token

if TYPE_CHECKING:
    from fastapi import FastAPI

HEALTH = "/v1/health"
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
_RESERVED = frozenset({"v1"})


def name_policies(written: list[str]) -> dict[str, Path]:
    """The path of each policy: its NAME in NAME=FILE, else the name of its file.

    >>> {name: path.name for name, path in name_policies(["shop.toml", "clinic=a/b.toml"]).items()}
    {'shop': 'shop.toml', 'clinic': 'b.toml'}

    Raises:
        InputError: CEL-Q193 a name that is no part of an address, or two policies with one name.
    """
    found: dict[str, Path] = {}
    for each in written:
        name, is_named, place = each.partition("=")
        path = Path(place if is_named else each)
        name = name if is_named else path.stem.lower()
        check_name(name)
        if name in found:
            raise InputError("CEL-Q193.twice", name=name)
        if path.resolve() in {known.resolve() for known in found.values()}:
            raise InputError("CEL-Q193.same_file", path=path)
        found[name] = path
    return found


def check_name(name: str) -> None:
    """Refuse what cannot be the path of a policy.

    Raises:
        InputError: CEL-Q193.
    """
    if not _NAME.fullmatch(name) or name in _RESERVED:
        raise InputError("CEL-Q193.name", name=name)


class NoTokens:
    """The tokens of a policy that there is not."""

    def holder(self, _text: str) -> Token:
        """No text is one of them.

        Raises:
            AccessDenied: CEL-Q171.
        """
        raise no_token()


class PolicyRouter:
    """An ASGI app that gives each request to the service of its policy, and to no other.

    Args:
        apps: the service of each policy, by name.
        limits: of requests for other paths.
    """

    def __init__(self, apps: Mapping[str, FastAPI], *, limits: Limits | None = None) -> None:
        for name in apps:
            check_name(name)
        self.apps = dict(apps)
        tokens: Any = NoTokens()
        self.nowhere = Service(
            factory=_no_vault, tokens=tokens, audit=None, limits=limits or Limits()
        )
        self._nowhere = Gate(_not_found, service=self.nowhere)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection as ASGI wants it."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        path: str = scope["path"]
        if path == HEALTH and scope["type"] == "http":
            await send_reply(success_reply({"status": "running"}), send)
            return
        _, name, rest = (*path.split("/", 2), "", "")[:3]
        app = self.apps.get(name)
        # Where it came in is not passed on: the service of a policy knows its own paths only.
        inner = {**scope, "path": f"/{rest}", "raw_path": f"/{rest}".encode()}
        if app is None:
            await self._nowhere(inner | {"path": "/"}, receive, send)
        else:
            await app(inner | {"root_path": f"/{name}"}, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        """Open all vaults when the server starts, and close them when it ends."""
        await receive()
        async with AsyncExitStack() as stack:
            try:
                for app in self.apps.values():
                    await stack.enter_async_context(app.router.lifespan_context(app))
            except Exception:  # its words may tell of data
                await send({"type": "lifespan.startup.failed"})
                return
            stack.callback(self.nowhere.close)
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})


def _no_vault() -> Any:
    raise no_address()


async def _not_found(_scope: Scope, _receive: Receive, send: Send) -> None:
    await send_reply(error_reply(no_address()), send)
