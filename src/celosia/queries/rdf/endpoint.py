"""Loading facts from a SPARQL 1.1 endpoint that the curator owns.

Each predicate is one request, streamed as N-Triples. What arrives is compared with what the server
counts before: a transfer that is cut off, or capped by the server, makes no store.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from celosia.core.errors import EngineError, InputError
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent
from celosia.core.resources import Closeable
from celosia.queries.rdf.builder import StoreBuilder
from celosia.queries.rdf.store_loader import LoadSummary, check_parser, make_store, parse_into
from celosia.queries.rdf.terms import address_text

if TYPE_CHECKING:
    import httpx

SECONDS = 60.0
"""The timeout in seconds to connect, and between two pieces of an answer."""
_LOCAL = ("localhost", "127.0.0.1", "::1")
_COUNTED = {"Accept": "application/sparql-results+json"}
_STREAMED = {"Accept": "application/n-triples"}


def load_endpoint(
    url: str,
    store: str | Path,
    *,
    predicates: Sequence[str] | None = None,
    add: bool = False,
    overwrite: bool = False,
    headers: Mapping[str, str] | None = None,
    plain: bool = False,
    timeout: float = SECONDS,
    progress: Progress = silent,
) -> LoadSummary:
    """Load facts from an endpoint into a store, as `load` does from files.

    Args:
        url: where the endpoint answers queries.
        store: the file to make.
        predicates: addresses of those wanted; all facts in one request if None.
        add: keep what the store holds already.
        overwrite: whether a file of this name may be lost.
        headers: of each request, such as Authorization.
        plain: whether facts may travel to another machine without encryption.
        timeout: seconds of silence until the server counts as gone; nothing is tried twice.
        progress: receives the number of facts that have arrived.

    Raises:
        InputError: CEL-Q230 the address is no such, or would not be encrypted; CEL-Q233 blank nodes
            in several requests; and those of `load` about the store.
        EngineError: CEL-Q231 the server does not answer, or not as an endpoint does; CEL-Q231 the
            transfer was cut off or incomplete; CEL-Q229 httpx is not installed; and those of `load`
            about the store.
    """
    check_parser()
    wanted = None if predicates is None else [address_text(each) for each in predicates]
    endpoint = EndpointClient(url, headers=headers, plain=plain, timeout=timeout)

    def fill(made: StoreBuilder) -> list[str]:
        with endpoint:
            for at, pattern in enumerate(_patterns(wanted)):
                stage = Message("queries.rdf.asking_endpoint")
                progress(Step(stage, at, None if wanted is None else len(wanted)))
                endpoint.fetch(made, pattern, alone=wanted is None or len(wanted) == 1)
        return [_public_address(url)]

    return make_store(Path(store), fill, add=add, overwrite=overwrite, progress=progress)


def _patterns(wanted: list[str] | None) -> list[str]:
    return ["?s ?p ?o"] if wanted is None else [f"?s {each} ?o" for each in wanted]


class EndpointClient(Closeable):
    """Requests to one server, each tried once; see `load_endpoint` for what may be given."""

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        plain: bool = False,
        timeout: float = SECONDS,
    ) -> None:
        _check(url, plain=plain)
        _check_client()
        import httpx

        self._client = httpx.Client(headers=dict(headers or {}), timeout=timeout)
        self._url = url

    def close(self) -> None:
        """Let go of the connection."""
        self._client.close()

    def select(self, query: str, timeout: float | None = None) -> list[dict[str, Any]]:
        """The solutions of a SELECT query, each cell as SPARQL's JSON has it.

        Raises:
            EngineError: CEL-Q231 the server does not answer, not as an endpoint does, or in part.
        """
        with self._send(query, _COUNTED, timeout) as answer:
            # Virtuoso tells so that it has stopped early and answers with what it had by then.
            if "X-SQL-State" in answer.headers:
                raise EngineError("CEL-Q231.incomplete_ended_early", address=self._address)
            answer.read()
            try:
                return list(answer.json()["results"]["bindings"])
            except (ValueError, KeyError, TypeError, AttributeError):
                raise EngineError("CEL-Q231.no_count", address=self._address) from None

    def fetch(self, made: StoreBuilder, pattern: str, *, alone: bool) -> None:
        """Hand on all facts of a pattern."""
        from pyoxigraph import RdfFormat

        chosen = "DISTINCT ?s ?p ?o" if "?p" in pattern else "DISTINCT ?s ?o"
        expected = self._count(f"SELECT {chosen} WHERE {{ {pattern} }}")
        before = made.read
        with self._send(f"CONSTRUCT {{ {pattern} }} WHERE {{ {pattern} }}", _STREAMED) as answer:
            kind = answer.headers.get("Content-Type", "").partition(";")[0].strip().lower()
            if kind != "application/n-triples":
                raise EngineError("CEL-Q231.no_ntriples", address=self._address)
            headers = answer.headers
            if "Content-Length" not in headers and "Transfer-Encoding" not in headers:
                raise EngineError("CEL-Q231.incomplete_no_end", address=self._address)
            try:
                parse_into(made, _ResponseBody(answer.iter_bytes()), RdfFormat.N_TRIPLES)
            except SyntaxError:
                raise EngineError("CEL-Q231.not_ntriples", address=self._address) from None
        # A server may send a fact twice, but never fewer than it counts.
        if made.read - before < expected:
            raise EngineError("CEL-Q231.incomplete_too_few", address=self._address)
        if made.has_blank and not alone:
            raise InputError("CEL-Q233")

    def _count(self, query: str) -> int:
        found = self.select(f"SELECT (COUNT(*) AS ?n) WHERE {{ {query} }}")
        try:
            (row,) = found
            return int(row["n"]["value"])
        except (ValueError, KeyError, TypeError, AttributeError):
            raise EngineError("CEL-Q231.no_count", address=self._address) from None

    @contextmanager
    def _send(
        self, query: str, headers: Mapping[str, str], timeout: float | None = None
    ) -> Iterator[httpx.Response]:
        import httpx

        limit = httpx.USE_CLIENT_DEFAULT if timeout is None else timeout
        try:
            with self._client.stream(
                "POST", self._url, data={"query": query}, headers=dict(headers), timeout=limit
            ) as answer:
                # 206 is how some servers tell that they have cut an answer.
                if answer.status_code != httpx.codes.OK:
                    raise EngineError(
                        "CEL-Q231.status", address=self._address, status=answer.status_code
                    )
                yield answer
        except (httpx.RemoteProtocolError, httpx.ReadError, httpx.DecodingError):
            raise EngineError("CEL-Q231.incomplete_ended_early", address=self._address) from None
        except httpx.TimeoutException:
            raise EngineError("CEL-Q231.incomplete_timeout", address=self._address) from None
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as fault:
            raise EngineError(
                "CEL-Q231.unreachable", address=self._address, fault=type(fault).__name__
            ) from None

    @property
    def _address(self) -> str:
        return _public_address(self._url)


class _ResponseBody:
    """An answer as a file for the parser."""

    def __init__(self, pieces: Iterator[bytes]):
        self._pieces = pieces
        self._held = b""

    def read(self, size: int = -1) -> bytes:
        """Some more bytes, at most `size`."""
        while not self._held:
            piece = next(self._pieces, None)
            if piece is None:
                return b""
            self._held = piece
        size = len(self._held) if size < 0 else size
        piece, self._held = self._held[:size], self._held[size:]
        return piece


def _public_address(url: str) -> str:
    """An address without name, password and query, which may be secrets."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname or ''}{parts.path}"


def _check(url: str, *, plain: bool) -> None:
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        parts, host = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not host:
        raise InputError("CEL-Q230.not_an_address")
    if parts.scheme == "http" and host not in _LOCAL and not plain:
        raise InputError("CEL-Q230.not_encrypted")


def _check_client() -> None:
    try:
        import httpx  # noqa: F401 - an extra
    except ImportError:
        raise EngineError("CEL-Q229.client") from None
