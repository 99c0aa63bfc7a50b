"""The server: calls of Flight, in threads of gRPC, become calls of the service in its event loop.

Everything that leaves is built here. An exception of any other class would travel to the client
with its words and a traceback, so each call catches everything and answers with the error that the
envelope of HTTP has.
"""

from __future__ import annotations

import asyncio
import json
from base64 import b64decode
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import wait
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import Any, NoReturn, TypeVar
from urllib.parse import unquote

import pyarrow as pa
from pyarrow import flight

from celosia.core.errors import EngineError, InputError
from celosia.core.server import listening
from celosia.queries.service.envelope import Reply, error_reply, read_data, success_reply
from celosia.queries.service.flight.answers import answer_schema, answer_table
from celosia.queries.service.flight.messages import FlightMessage, write_fields, write_message
from celosia.queries.service.flight.metadata import metadata_schema, metadata_table
from celosia.queries.service.flight.requests import Statement
from celosia.queries.service.gate import App, AsgiMessage, Receive, Scope, Send
from celosia.queries.service.remote import parse_answer
from celosia.queries.service.service import Service
from celosia.queries.service.tokens import Token

Result = TypeVar("Result")
Headers = Mapping[str, Sequence[str]]
_STARTING = 60.0
"""Seconds that a call waits for the service to begin."""
_LOOKING = 1.0
"""Seconds after which a call looks whether the service still runs."""
_HEADERS = "headers"
_ACTIONS = (
    ("CreatePreparedStatement", "Plan a question; nothing is spent."),
    ("ClosePreparedStatement", "Forget a planned question."),
)


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the holder of a token."""

    service: Service
    holder: Token
    headers: Headers
    run: Callable[[Coroutine[Any, Any, Reply]], Any]
    """Gives the data of a reply of the service, or raises the error in it."""

    def planned(self, statement: Statement, *, is_priced: bool = False) -> Statement:
        """A question with the columns of its answer, for which it is planned once."""
        request = statement.request(self.holder.name, is_priced=is_priced)
        if statement.kinds is not None:
            return statement
        return replace(statement, kinds=self.run(self.service.columns(self.holder, request)))

    def answer(self, statement: Statement) -> pa.Table:
        """The answer to a question, at its deadline; here it is charged."""
        found = self.planned(statement, is_priced=True)
        request = found.request(self.holder.name)
        answer = parse_answer(self.run(self.service.query(self.holder, request)))
        return answer_table(answer, found.kinds or {}, intervals=found.intervals)

    def tables(self) -> dict[str, Any]:
        """The tables of the public schema."""

        def work() -> Reply:
            return success_reply(self.service.vault().public_schema()["tables"])

        found: dict[str, Any] = self.run(self.service.look_up("schema", self.holder, work))
        return found

    def has_marks(self) -> bool:
        """Whether questions of the policy may have question marks; those of SPARQL may not."""
        return self.service.vault().policy.graph is None


class FlightServer(flight.FlightServerBase):  # type: ignore[misc]
    """The questions of several policies, each with the service that HTTP has too.

    Args:
        services: of each policy by its name; of a single one the name is empty.
        nowhere: what answers a call for a policy that there is not.
        host: where to listen.
        port: of it.
        certificate: a file, for TLS.
        key: its private key.

    Raises:
        EngineError: CEL-Q208 the port cannot be had.
    """

    def __init__(
        self,
        services: Mapping[str, Service],
        *,
        nowhere: Service | None = None,
        host: str,
        port: int,
        certificate: str | Path | None = None,
        key: str | Path | None = None,
    ) -> None:
        self._services = dict(services)
        self._nowhere = nowhere
        self._loop: asyncio.AbstractEventLoop | None = None
        self._begun = Event()
        with listening(host, port, code="CEL-Q208"):
            pass  # gRPC would share a port that another program has, and say nothing
        pairs = (
            [(Path(certificate).read_bytes(), Path(key).read_bytes())]
            if certificate is not None and key is not None
            else None
        )
        place = flight.Location.for_grpc_tcp if pairs is None else flight.Location.for_grpc_tls
        try:
            super().__init__(
                place(host.strip("[]"), port),
                auth_handler=_NoHandshake(),
                tls_certificates=pairs,
                middleware={_HEADERS: _HeaderReader()},
            )
        except (pa.ArrowException, OSError):
            raise EngineError("CEL-Q208.start") from None

    def begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """Answer calls from now on, in the event loop of the services."""
        self._loop = loop
        self._begun.set()

    def beside(self, app: App) -> App:
        """An app that begins and ends together with this server."""

        async def both(scope: Scope, receive: Receive, send: Send) -> None:
            async def received() -> AsgiMessage:
                message = await receive()
                if message["type"] == "lifespan.shutdown":
                    await asyncio.to_thread(self.shutdown)
                return message

            if scope["type"] != "lifespan":
                await app(scope, receive, send)
                return
            self.begin(asyncio.get_running_loop())
            await app(scope, received, send)

        return both

    def get_flight_info(
        self, context: flight.ServerCallContext, descriptor: flight.FlightDescriptor
    ) -> flight.FlightInfo:
        """What an answer will look like, and the ticket that it is fetched with."""

        def work(call: Call) -> flight.FlightInfo:
            schema, ticket = _schema_and_ticket(call, descriptor)
            ends = [flight.FlightEndpoint(ticket, [])]
            return flight.FlightInfo(schema, descriptor, ends, -1, -1)

        return self._answered(context, work)

    def get_schema(
        self, context: flight.ServerCallContext, descriptor: flight.FlightDescriptor
    ) -> flight.SchemaResult:
        """What an answer will look like; nothing is spent."""

        def work(call: Call) -> flight.SchemaResult:
            schema, _ = _schema_and_ticket(call, descriptor, is_priced=False)
            return flight.SchemaResult(schema)

        return self._answered(context, work)

    def do_get(
        self, context: flight.ServerCallContext, ticket: flight.Ticket
    ) -> flight.FlightDataStream:
        """An answer, or a table about tables."""

        def work(call: Call) -> flight.FlightDataStream:
            command = FlightMessage.read(ticket.ticket)
            if command.name == "TicketStatementQuery":
                return flight.RecordBatchStream(call.answer(Statement.read(command.data(1))))
            metadata_schema(command)  # refused before anything is looked up
            return flight.RecordBatchStream(metadata_table(command, call.tables()))

        return self._answered(context, work)

    def do_put(
        self,
        context: flight.ServerCallContext,
        descriptor: flight.FlightDescriptor,
        reader: flight.MetadataRecordBatchReader,
        writer: flight.FlightMetadataWriter,
    ) -> None:
        """Write the parameters of a prepared question into it; nothing else can be put."""

        def work(call: Call) -> None:
            command = FlightMessage.read(descriptor.command)
            if command.name != "CommandPreparedStatementQuery":
                raise InputError("CEL-Q347.not_offered")
            statement = Statement.read(command.data(1))
            bound = _bind(statement, reader, most=call.service.limits.body_bytes)
            writer.write(pa.py_buffer(write_fields({1: bound.handle})))

        self._answered(context, work)

    def do_action(
        self, context: flight.ServerCallContext, action: flight.Action
    ) -> Iterator[flight.Result]:
        """Prepare a question, or forget it."""
        if action.type == "ClosePreparedStatement":
            return iter(())  # nothing was kept, so nobody need say who they are

        def work(call: Call) -> list[flight.Result]:
            if action.type != "CreatePreparedStatement":
                raise InputError("CEL-Q347.not_offered")
            command = FlightMessage.read(action.body.to_pybytes())
            statement = Statement(command.text(1) or "")
            return [flight.Result(pa.py_buffer(_prepared(call, statement)))]

        return iter(self._answered(context, work))

    def list_actions(self, context: flight.ServerCallContext) -> list[tuple[str, str]]:
        """What `do_action` knows."""
        return self._answered(context, lambda _: list(_ACTIONS))

    def list_flights(
        self, context: flight.ServerCallContext, criteria: bytes
    ) -> Iterator[flight.FlightInfo]:
        """None: there are no answers before a question."""
        return iter(self._answered(context, lambda _: list[flight.FlightInfo]()))

    def do_exchange(
        self,
        context: flight.ServerCallContext,
        descriptor: flight.FlightDescriptor,
        reader: Any,
        writer: Any,
    ) -> None:
        """Refuse: nothing of Flight SQL is exchanged."""

        def work(_: Call) -> NoReturn:
            raise InputError("CEL-Q347.not_offered")

        self._answered(context, work)

    def _answered(
        self, context: flight.ServerCallContext, work: Callable[[Call], Result]
    ) -> Result:
        """What some work gives to the holder of a token; nothing else is raised than our errors."""
        try:
            headers: Headers = context.get_middleware(_HEADERS).headers
            service = self._service(headers)
            address = client_address(context.peer())
            holder = self._wait(service.admit(authorization(headers), address=address))
            return work(Call(service, holder, headers, lambda reply: _data(self._wait(reply))))
        except BaseException as error:  # its words, and where it was raised, stay here
            reply = error_reply(error)
        raise _flight_error(reply) from None

    def _service(self, headers: Headers) -> Service:
        """The service of the policy that a header names; a single policy needs none."""
        name = (headers.get("policy") or [""])[-1]
        if list(self._services) == [""]:
            return self._services[""]
        found = self._services.get(name, self._nowhere)
        assert found is not None
        return found

    def _wait(self, work: Coroutine[Any, Any, Result]) -> Result:
        if not self._begun.wait(_STARTING) or self._loop is None:
            work.close()
            raise EngineError("CEL-Q180")
        ended = asyncio.run_coroutine_threadsafe(work, self._loop)
        while not wait({ended}, timeout=_LOOKING).done:
            if self._loop.is_closed():  # nobody works on it any more
                raise EngineError("CEL-Q180")
        return ended.result()


def _schema_and_ticket(
    call: Call, descriptor: flight.FlightDescriptor, *, is_priced: bool = True
) -> tuple[pa.Schema, flight.Ticket]:
    command = FlightMessage.read(descriptor.command)
    if command.name == "CommandStatementQuery":
        statement = Statement(command.text(1) or "")
    elif command.name == "CommandPreparedStatementQuery":
        statement = Statement.read(command.data(1))
    else:
        return metadata_schema(command), flight.Ticket(descriptor.command)
    planned = call.planned(statement.asked(call.headers), is_priced=is_priced)
    ticket = write_message("TicketStatementQuery", {1: planned.handle})
    return _schema(planned), flight.Ticket(ticket)


def _schema(planned: Statement) -> pa.Schema:
    return answer_schema(planned.kinds or {}, intervals=planned.intervals)


def _prepared(call: Call, statement: Statement) -> bytes:
    """The reply about a prepared question: its handle, its columns, and those of parameters.

    A question whose parameters are not bound yet cannot be planned: its columns are not told.
    """
    call.service.check(statement.request(call.holder.name, is_priced=False))
    marks = _marks(statement.query) if call.has_marks() else 0
    if marks:
        named = [(f"{number}", pa.null()) for number in range(1, marks + 1)]
        fields = {1: statement.handle, 3: _ipc(pa.schema(named))}
    else:
        planned = call.planned(statement.asked(call.headers))
        fields = {1: planned.handle, 2: _ipc(_schema(planned))}
    return write_message("ActionCreatePreparedStatementResult", fields)


def _bind(statement: Statement, reader: Any, *, most: int) -> Statement:
    """The question with its parameters, of which there is one row.

    Raises:
        InputError: CEL-Q347 there are several rows; CEL-Q176 they are too large; CEL-Q340.
    """
    from celosia.queries.dbapi.values import bind  # few questions have parameters

    rows: list[Any] = []
    size = 0
    for chunk in reader:
        size += chunk.data.nbytes
        if size > most:
            raise InputError("CEL-Q176.body", most=most)
        rows += chunk.data.to_pylist()
    if len(rows) != 1:
        raise InputError("CEL-Q347.parameters", rows=len(rows))
    return Statement(bind(statement.query, list(rows[0].values())), statement.options)


def _marks(query: str) -> int:
    from celosia.queries.dbapi.values import placeholders

    return len(placeholders(query))


def _ipc(schema: pa.Schema) -> bytes:
    data: bytes = schema.serialize().to_pybytes()
    return data


def _data(reply: Reply) -> Any:
    return read_data(json.loads(reply.body))


def _flight_error(reply: Reply) -> flight.FlightError:
    """The error of an envelope; its code and remedy are in the text, the envelope beside it."""
    facts = json.loads(reply.body)
    parts = (facts["code"] + ": " + facts["error"], facts["why"], facts["hint"])
    kind = {
        401: flight.FlightUnauthenticatedError,
        403: flight.FlightUnauthorizedError,
        429: flight.FlightUnavailableError,
    }.get(reply.status, flight.FlightServerError)
    return kind(" ".join(part for part in parts if part), reply.body)


def authorization(headers: Headers) -> list[str]:
    """The headers of authorization, where a user and a password stand for the token.

    Drivers of reporting tools ask for a user and a password: the password is the token.

    >>> authorization({"authorization": ["Basic YW5hOnRva2Vu"]})
    ['Bearer token']
    """
    found = list(headers.get("authorization", ()))
    if len(found) == 1 and found[0][:6].lower() == "basic ":
        try:
            _, _, password = b64decode(found[0][6:], validate=True).decode().partition(":")
        except ValueError:
            return []
        return [f"Bearer {password}"]
    return found


def client_address(peer: str) -> str:
    """The address of a client as gRPC writes it, without its port.

    >>> client_address("ipv4:192.0.2.7:5100"), client_address("ipv6:%5B::1%5D:5100")
    ('192.0.2.7', '::1')
    """
    address = unquote(peer).partition(":")[2].rpartition(":")[0]
    return address.strip("[]").partition("%")[0]


class _NoHandshake(flight.ServerAuthHandler):  # type: ignore[misc]
    """Lets drivers shake hands, which shows nothing: each call is admitted by its own token."""

    def authenticate(self, outgoing: Any, incoming: Any) -> None:
        """Nothing to do: `_HeaderReader` answers with the token that was sent."""

    def is_valid(self, token: bytes) -> bytes:
        """Nobody is known here."""
        return b""


class _HeaderReader(flight.ServerMiddlewareFactory):  # type: ignore[misc]
    """Keeps the headers of a call for its handler."""

    def start_call(self, info: Any, headers: Mapping[str, Any]) -> _Headers:
        """The headers of a call that begins."""
        plain = {
            name.lower(): [value for value in values if isinstance(value, str)]
            for name, values in headers.items()
        }
        return _Headers(plain, is_handshake=info.method == flight.FlightMethod.HANDSHAKE)


class _Headers(flight.ServerMiddleware):  # type: ignore[misc]
    """The headers of one call."""

    def __init__(self, headers: Headers, *, is_handshake: bool) -> None:
        self.headers = headers
        self._is_handshake = is_handshake

    def sending_headers(self) -> dict[str, str]:
        """After a handshake by user and password, the token that a driver sends from now on."""
        found = authorization(self.headers) if self._is_handshake else []
        return {"authorization": found[0]} if len(found) == 1 else {}

    def call_completed(self, exception: Any) -> None:
        """Nothing to do."""
