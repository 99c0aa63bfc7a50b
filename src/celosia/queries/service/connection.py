"""Where a service is and who asks: what the client and the asynchronous client have in common."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar
from urllib.parse import urlsplit

from celosia.core.errors import EngineError, InputError
from celosia.core.server import is_this_machine
from celosia.queries.service.errors import missing_extra

PATIENCE = 1000.0
"""Seconds to wait for an answer: more than the time that a service keeps a question at most."""


class ServiceConnection:
    """Where a service is, who asks, and the client of httpx that asks: what both clients are.

    Raises:
        InputError: CEL-Q170 the extra is missing; CEL-Q188 others could read along.
    """

    kind: ClassVar[str]
    """The name of the client in httpx."""

    def __init__(self, url: str, token: str, *, http: Any = None, plain: bool = False) -> None:
        try:
            import httpx
        except ImportError as error:
            raise missing_extra(error.name) from None
        self._address = ServiceAddress(url, token, plain=plain)
        self._is_own = http is None
        # No redirects: a token goes to the address that was given, and nowhere else.
        own = getattr(httpx, self.kind)
        self._http: Any = own(timeout=PATIENCE, follow_redirects=False) if http is None else http

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._address.url!r})"


class ServiceAddress:
    """Where a service is, and what shows it who asks.

    Raises:
        InputError: CEL-Q188 others could read along.
    """

    def __init__(self, url: str, token: str, *, plain: bool) -> None:
        parts = urlsplit(url)
        safe = parts.scheme == "https" or plain or is_this_machine(parts.hostname or "")
        if parts.scheme not in {"http", "https"} or not parts.hostname or not safe:
            raise InputError("CEL-Q188.no_https")
        self.url = url.rstrip("/")
        self.headers = {"Authorization": f"Bearer {token}"}


@contextmanager
def sending() -> Iterator[None]:
    """Tell what may go wrong on the way to a service."""
    import httpx  # loaded already, by the client

    try:
        yield
    except ValueError:  # NaN and infinity are no JSON
        raise InputError("CEL-Q175.not_sendable") from None
    except (httpx.HTTPError, httpx.InvalidURL):
        raise EngineError("CEL-Q186.unreachable") from None


@contextmanager
def parsing() -> Iterator[None]:
    """Tell that what came back is no reply of a service."""
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise EngineError("CEL-Q186.other_service") from None
