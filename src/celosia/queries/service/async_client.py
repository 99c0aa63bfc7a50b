"""A client of the service for programs that wait for many things at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self, Unpack

from celosia.queries.request import QueryOptions, QueryRequest
from celosia.queries.service.connection import ServiceConnection, parsing, sending
from celosia.queries.service.envelope import read_data
from celosia.queries.service.remote import RemotePlan, parse_answer

if TYPE_CHECKING:
    import httpx

    from celosia.queries.answer import QueryAnswer


class AsyncClient(ServiceConnection):
    """`Client` with methods to await; an asynchronous context manager.

    Args:
        url: of the service, such as https://vault.example.org.
        token: as the curator gave it.
        http: an asynchronous client of httpx to use instead of an own one.
        plain: whether the token may travel to another machine without HTTPS.

    Raises:
        InputError: CEL-Q170 the extra is missing; CEL-Q188 others could read along.
    """

    kind: ClassVar[str] = "AsyncClient"
    _http: httpx.AsyncClient

    async def ask(self, request: QueryRequest) -> QueryAnswer:
        """Answer a request, as `Client.ask`."""
        data = await self._send("POST", "/v1/query", request.query_body())
        with parsing():
            return parse_answer(data)

    async def sql(self, query: str, **options: Unpack[QueryOptions]) -> QueryAnswer:
        """Answer a question where the service has tables."""
        return await self.ask(QueryRequest(query, language="SQL", **options))

    async def sparql(self, query: str, **options: Unpack[QueryOptions]) -> QueryAnswer:
        """Answer a question where the service has a graph."""
        return await self.ask(QueryRequest(query, language="SPARQL", **options))

    async def explain(
        self, query: str, *, epsilon: float = 1, delta: float = 0, method: str | None = None
    ) -> RemotePlan:
        """Plan a question; nothing is spent."""
        request = QueryRequest(query, epsilon=epsilon, delta=delta, method=method)
        return RemotePlan(await self._send("POST", "/v1/explain", request.plan_body()))

    async def public_schema(self) -> dict[str, Any]:
        """The public schema: tables and columns that may be queried."""
        found: dict[str, Any] = await self._send("GET", "/v1/schema")
        return found

    async def close(self) -> None:
        """Let go of the connection."""
        if self._is_own:
            await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _send(self, method: str, path: str, body: object = None) -> Any:
        with sending():
            response = await self._http.request(
                method, self._address.url + path, json=body, headers=self._address.headers
            )
        with parsing():
            return read_data(response.json())
