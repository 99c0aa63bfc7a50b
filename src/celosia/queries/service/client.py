"""A client of the service, with the interface of a vault."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Unpack
from urllib.parse import quote

from celosia.core.errors import InputError, QueryRefused
from celosia.core.numbers import real
from celosia.core.resources import Closeable
from celosia.queries.request import QueryOptions, QueryRequest
from celosia.queries.service.connection import ServiceConnection, parsing, sending
from celosia.queries.service.envelope import read_data
from celosia.queries.service.remote import RemoteLedger, RemotePlan, parse_answer

if TYPE_CHECKING:
    import httpx

    from celosia.queries.answer import QueryAnswer


class Client(ServiceConnection, Closeable):
    """A vault elsewhere; a context manager. Errors are those that the vault raises there.

    Args:
        url: of the service, such as https://vault.example.org.
        token: as the curator gave it.
        http: a client of httpx to use instead of an own one, for proxies and tests.
        plain: whether the token may travel to another machine without HTTPS.

    Raises:
        InputError: CEL-Q170 the extra is missing; CEL-Q188 others could read along.
    """

    kind: ClassVar[str] = "Client"
    _http: httpx.Client

    def ask(self, request: QueryRequest) -> QueryAnswer:
        """Answer a request; who asks is known by the token.

        Intervals of another confidence are told when the question is asked again with it, which is
        free; `fresh` pays for a new answer instead of the stored one.
        """
        data = self._send("POST", "/v1/query", request.query_body())
        with parsing():
            return parse_answer(data)

    def sql(self, query: str, **options: Unpack[QueryOptions]) -> QueryAnswer:
        """Answer a question where the service has tables, as `Vault.sql`."""
        return self.ask(QueryRequest(query, language="SQL", **options))

    def sparql(self, query: str, **options: Unpack[QueryOptions]) -> QueryAnswer:
        """Answer a question where the service has a graph, as `Vault.sparql`."""
        return self.ask(QueryRequest(query, language="SPARQL", **options))

    def explain(
        self, query: str, *, epsilon: float = 1, delta: float = 0, method: str | None = None
    ) -> RemotePlan:
        """Plan a question; nothing is spent."""
        return self.plan(QueryRequest(query, epsilon=epsilon, delta=delta, method=method))

    def plan(self, request: QueryRequest) -> RemotePlan:
        """`explain` of a request."""
        return RemotePlan(self._send("POST", "/v1/explain", request.plan_body()))

    def least_epsilon(
        self, query: str, *, error: float | str, delta: float = 0, method: str | None = None
    ) -> float:
        """The least epsilon whose typical error is at most the wished one; nothing is spent.

        Args:
            query: one SELECT.
            error: in the unit of the answer.
            delta: as for `explain`.
            method: as for `explain`.

        Raises:
            QueryRefused: CEL-Q332 as for `Vault.least_epsilon`; an error in percent always.
        """
        from celosia.queries.accuracy import ErrorGoal, least_epsilon, worst_error

        goal, schema = ErrorGoal.read(error), self.public_schema()
        if goal.is_share:
            raise QueryRefused("CEL-Q332.no_size_of_service", share=goal.size)

        def search(most: float) -> float:
            return least_epsilon(
                lambda epsilon: self.explain(query, epsilon=epsilon, delta=delta, method=method),
                goal=goal,
                least=Fraction(str(schema["least_epsilon"])),
                most=Fraction(str(most)),
                error_of=worst_error,
            )

        budget = schema["budget"]["epsilon"]
        try:
            return search(budget)
        except InputError as refused:  # a service may allow less for one request
            allowed = real(refused.details.get("most"))
            if refused.code != "CEL-Q177" or allowed is None or allowed >= budget:
                raise
            return search(allowed)

    def public_schema(self) -> dict[str, Any]:
        """The public schema: tables and columns that may be queried."""
        found: dict[str, Any] = self._send("GET", "/v1/schema")
        return found

    @property
    def ledger(self) -> RemoteLedger:
        """The ledger: all charges for a curator, for analysts only their own."""
        return RemoteLedger(lambda address, **wanted: self._send("GET", address, **wanted))

    def create_token(self, *, role: str, name: str, days: float = 30) -> dict[str, Any]:
        """Make a token, whose `text` is shown only now; for curators."""
        body = {"role": role, "name": name, "days": days}
        found: dict[str, Any] = self._send("POST", "/v1/tokens", body)
        return found

    def tokens(self) -> list[dict[str, Any]]:
        """All tokens without their texts; for curators."""
        found: list[dict[str, Any]] = self._send("GET", "/v1/tokens")
        return found

    def revoke_token(self, name: str) -> dict[str, Any]:
        """End a token, by its `id`; for curators."""
        found: dict[str, Any] = self._send("DELETE", f"/v1/tokens/{quote(name, safe='')}")
        return found

    def close(self) -> None:
        """Let go of the connection."""
        if self._is_own:
            self._http.close()

    def _send(self, method: str, address: str, body: object = None, **wanted: Any) -> Any:
        with sending():
            response = self._http.request(
                method,
                self._address.url + address,
                json=body,
                params=wanted or None,
                headers=self._address.headers,
            )
        with parsing():
            return read_data(response.json())
