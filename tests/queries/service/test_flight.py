"""Flight SQL over the service: the same tokens, prices, refusals and silence as over HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from random import Random
from threading import Thread
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.queries.service.vaults import LEAKS, MARKER, FakeVault
from tests.queries.vaults import opened, shop

from celosia.core.errors import EngineError, InputError
from celosia.queries.service import Limits, TokenStore, create_app
from celosia.queries.service.refusals import Pace, Refusals
from celosia.queries.service.service import Service

pytest.importorskip("fastapi", reason="the extra celosia[service] is not installed")
flight = pytest.importorskip("pyarrow.flight", reason="this build of pyarrow has no Flight")

from celosia.queries.service.flight import messages, metadata, requests, server  # noqa: E402

BY_TOWN = "SELECT town, count(*) AS n, avg(age) AS m FROM person GROUP BY town"


@dataclass
class Door:
    """A server over services, with a token and a client to ask it."""

    server: Any
    client: Any
    token: str
    audit: Path

    def options(self, token: str | None = None, **headers: str) -> Any:
        given = {"authorization": f"Bearer {self.token if token is None else token}"}
        pairs = [(name.encode(), text.encode()) for name, text in (given | headers).items()]
        return flight.FlightCallOptions(headers=pairs, timeout=600)

    def info(self, command: str, fields: dict[int, Any] | None = None, **headers: str) -> Any:
        data = messages.write_message(command, fields or {})
        return self.client.get_flight_info(
            flight.FlightDescriptor.for_command(data), self.options(**headers)
        )

    def table(self, command: str, fields: dict[int, Any] | None = None, **headers: str) -> Any:
        found = self.info(command, fields, **headers)
        (end,) = found.endpoints
        table = self.client.do_get(end.ticket, self.options(**headers)).read_all()
        assert table.schema.equals(found.schema)
        return table

    def ask(self, query: str, **headers: str) -> Any:
        return self.table("CommandStatementQuery", {1: query}, **({"epsilon": "1"} | headers))

    def act(self, kind: str, command: str, fields: dict[int, Any], **headers: str) -> Any:
        data = messages.write_message(command, fields)
        found = self.client.do_action(flight.Action(kind, data), self.options(**headers))
        return [messages.FlightMessage.read(each.body.to_pybytes()) for each in found]

    def prepare(self, query: str, **headers: str) -> Any:
        (found,) = self.act(
            "CreatePreparedStatement",
            "ActionCreatePreparedStatementRequest",
            {1: query},
            **headers,
        )
        return found


@pytest.fixture(scope="module")
def door_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Door]]:
    """Builds a server over a vault, in the event loop of a thread."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever)
    thread.start()
    with ExitStack() as stack:
        stack.callback(loop.close)
        stack.callback(thread.join)
        stack.callback(loop.call_soon_threadsafe, loop.stop)

        def build(vault: Any, *, name: str = "", analyst: str = "ada", **options: Any) -> Door:
            folder = tmp_path_factory.mktemp("flight")
            tokens = TokenStore(folder / "tokens.sqlite")
            app = create_app(
                lambda: vault,
                tokens=tokens,
                audit_log=folder / "audit.jsonl",
                limits=Limits(requests_per_minute=10_000),
            )
            service: Service = app.state.service
            service.refusals = Refusals(Pace(least=0.0, most=0.0))
            made = server.FlightServer(
                {name: service}, nowhere=service, host="127.0.0.1", port=0, **options
            )
            made.begin(loop)
            scheme = "grpc+tls" if options else "grpc"
            roots = {"tls_root_certs": Path(options["certificate"]).read_bytes()} if options else {}
            client = flight.connect(f"{scheme}://127.0.0.1:{made.port}", **roots)
            stack.callback(service.close)
            stack.callback(made.shutdown)
            stack.callback(client.close)
            text = tokens.create(role="analyst", name=analyst).text
            return Door(made, client, text, folder / "audit.jsonl")

        yield build


@pytest.fixture(scope="module")
def door(door_of: Callable[..., Door], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    """A server over a real vault, whose answers are simulations."""
    with opened(shop(Random(5)), tmp_path_factory.mktemp("shop")) as vault:
        yield door_of(vault)


def failure(work: Callable[[], object]) -> tuple[Exception, dict[str, Any]]:
    """What a call raises, with the envelope that comes with it."""
    with pytest.raises(flight.FlightError) as caught:
        work()
    facts: dict[str, Any] = json.loads(caught.value.extra_info)
    assert "Traceback" not in str(caught.value)
    return caught.value, facts


def test_a_question_is_answered_in_the_columns_that_were_announced(door: Door) -> None:
    found = door.ask(BY_TOWN)
    assert found.schema.names == ["town", "n", "m"]
    assert found.schema.types == [pa.utf8(), pa.int64(), pa.float64()]
    assert found["town"].to_pylist() == ["A", "B", "C"]
    again = door.ask(BY_TOWN.lower().replace("person", "Person"))
    assert again.equals(found)  # the stored answer


def test_intervals_stand_beside_the_numbers_where_they_are_asked_for(door: Door) -> None:
    found = door.ask("SELECT town, count(*) AS n FROM person GROUP BY town", intervals="true")
    assert found.schema.names == ["town", "n", "n_lower", "n_upper"]
    for low, value, high in zip(*map(found.column, ("n_lower", "n", "n_upper")), strict=True):
        assert low.as_py() <= value.as_py() <= high.as_py()


def test_the_price_is_that_of_the_header_and_the_log_has_its_line(door: Door) -> None:
    before = len(door.audit.read_text().splitlines())
    door.ask("SELECT count(*) AS n FROM person WHERE age > 4", epsilon="0.25")
    lines = [json.loads(line) for line in door.audit.read_text().splitlines()[before:]]
    assert [(line["action"], line["outcome"]) for line in lines] == [
        ("explain", "ok"),
        ("query", "ok"),
    ]
    assert (lines[1]["who"], lines[1]["epsilon"]) == ("ada", 0.25)
    assert lines[1]["entry"] is not None


def test_looking_at_a_question_is_free(door: Door) -> None:
    before = door.audit.read_text().count('"query"')
    door.info("CommandStatementQuery", {1: BY_TOWN}, epsilon="2")
    door.prepare(BY_TOWN)
    data = messages.write_message("CommandStatementQuery", {1: BY_TOWN})
    found = door.client.get_schema(flight.FlightDescriptor.for_command(data), door.options())
    assert found.schema.names == ["town", "n", "m"]
    assert door.audit.read_text().count('"query"') == before


def test_a_prepared_question_takes_parameters(door: Door) -> None:
    made = door.prepare("SELECT count(*) AS n FROM person WHERE town = ? AND age > ?")
    assert made.data(2) == b""  # it cannot be planned yet
    assert pa.ipc.read_schema(pa.py_buffer(made.data(3))).names == ["1", "2"]
    handle = made.data(1)
    data = messages.write_message("CommandPreparedStatementQuery", {1: handle})
    descriptor = flight.FlightDescriptor.for_command(data)
    for towns in ([], ["A", "B"]):
        batch = pa.record_batch({"1": pa.array(towns, pa.utf8()), "2": [3] * len(towns)})
        _, facts = failure(lambda given=batch: put(door, descriptor, given))  # type: ignore[misc]
        assert facts["code"] == "CEL-Q347"
    bound = put(door, descriptor, pa.record_batch({"1": ["A"], "2": [3]}))
    found = door.table("CommandPreparedStatementQuery", {1: bound}, epsilon="1")
    same = door.ask("SELECT count(*) AS n FROM person WHERE town = 'A' AND age > 3")
    assert found.equals(same)
    assert door.act("ClosePreparedStatement", "ActionClosePreparedStatementRequest", {}) == []


def put(door: Door, descriptor: Any, batch: pa.RecordBatch) -> bytes:
    """The handle of a prepared question with its parameters."""
    writer, reader = door.client.do_put(descriptor, batch.schema, door.options())
    try:
        writer.write_batch(batch)
        writer.done_writing()
        answer = reader.read()
    finally:
        with suppress(pa.ArrowException):
            writer.close()
    if answer is None:
        writer.close()
    (handle,) = messages.read_fields(answer.to_pybytes())[1]
    assert isinstance(handle, bytes)
    return handle


def test_a_prepared_question_without_parameters_tells_its_columns(door: Door) -> None:
    made = door.prepare(BY_TOWN)
    assert pa.ipc.read_schema(pa.py_buffer(made.data(2))).names == ["town", "n", "m"]
    found = door.table("CommandPreparedStatementQuery", {1: made.data(1)}, epsilon="1")
    assert found.equals(door.ask(BY_TOWN))


def test_who_has_no_token_learns_nothing(door: Door) -> None:
    calls: list[Callable[[], object]] = [
        lambda: door.info("CommandStatementQuery", {1: BY_TOWN}, token=""),
        lambda: door.info("CommandGetTables", token="nonsense"),
        lambda: door.client.list_actions(door.options(token="")),
        lambda: list(door.client.list_flights(b"", door.options(token=""))),
        lambda: door.act("Other", "Other", {}, token=""),
    ]
    for call in calls:
        error, facts = failure(call)
        assert isinstance(error, flight.FlightUnauthenticatedError)
        assert facts["code"] == "CEL-Q171"


def test_a_password_stands_for_the_token(door: Door) -> None:
    pair = door.client.authenticate_basic_token("anybody", door.token)
    data = messages.write_message("CommandGetTableTypes", {})
    descriptor = flight.FlightDescriptor.for_command(data)
    options = flight.FlightCallOptions(headers=[pair])
    assert door.client.get_flight_info(descriptor, options).schema.names == ["table_type"]
    assert server.authorization({"authorization": ["Basic !"]}) == []


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("SELECT * FROM person", "CEL-Q042"),
        ("DELETE FROM person", "CEL-Q022"),
        ("SELECT count(*) FROM persons", "CEL-Q025"),
        ("x" * 20_001, "CEL-Q176"),
    ],
)
def test_a_refusal_has_its_code_and_its_remedy(door: Door, query: str, code: str) -> None:
    error, facts = failure(lambda: door.ask(query))
    assert facts["code"] == code
    assert facts["hint"]
    assert f"{code}: {facts['error']}" in str(error)
    assert facts["hint"] in str(error)


@pytest.mark.parametrize(
    ("headers", "key"),
    [
        ({}, "no price"),
        ({"epsilon": "nan"}, "'epsilon'"),
        ({"epsilon": "-1"}, "'epsilon'"),
        ({"epsilon": "1", "confidence": "1"}, "'confidence'"),
        ({"epsilon": "1", "intervals": "perhaps"}, "'intervals'"),
        ({"epsilon": "1", "method": "m" * 41}, "'method'"),
        ({"epsilon": "1e400"}, "'epsilon'"),
    ],
)
def test_a_question_needs_a_price_and_options_that_are_understood(
    door: Door, headers: dict[str, str], key: str
) -> None:
    _, facts = failure(lambda: door.table("CommandStatementQuery", {1: BY_TOWN}, **headers))
    assert facts["code"] == "CEL-Q347"
    assert key in facts["error"]


def test_more_than_a_request_may_cost_is_refused(door: Door) -> None:
    _, facts = failure(lambda: door.ask(BY_TOWN, epsilon="11"))
    assert facts["code"] == "CEL-Q177"


def test_nothing_is_written_and_nothing_else_is_offered(door: Door) -> None:
    data = messages.write_message("CommandStatementUpdate", {1: "DELETE FROM person"})
    descriptor = flight.FlightDescriptor.for_command(data)
    calls: list[Callable[[], object]] = [
        lambda: door.act("BeginTransaction", "ActionBeginTransactionRequest", {}),
        lambda: door.info("CommandStatementSubstraitPlan"),
        lambda: door.client.do_get(
            flight.Ticket(messages.write_message("CommandStatementQuery", {1: BY_TOWN})),
            door.options(),
        ).read_all(),
        lambda: put(door, descriptor, pa.record_batch({"1": ["A"]})),
    ]
    for call in calls:
        assert failure(call)[1]["code"] == "CEL-Q347"
    assert [each.type for each in door.client.list_actions(door.options())] == [
        "CreatePreparedStatement",
        "ClosePreparedStatement",
    ]


@pytest.mark.parametrize("data", [b"", b"\xff", b"not a message", b"\x0a\x03abc"])
def test_what_is_no_message_of_flight_sql_is_refused(door: Door, data: bytes) -> None:
    descriptor = flight.FlightDescriptor.for_command(data)
    for call in (
        lambda: door.client.get_flight_info(descriptor, door.options()),
        lambda: door.client.do_get(flight.Ticket(data), door.options()).read_all(),
    ):
        assert failure(call)[1]["code"] == "CEL-Q347"


def test_a_handle_that_the_service_did_not_write_is_refused() -> None:
    good = requests.Statement("SELECT 1", {"epsilon": "1"}, {"n": "integer"})
    assert requests.Statement.read(good.handle) == good
    facts = json.loads(good.handle)
    for bad in (
        b"",
        b"[]",
        b"\xff",
        json.dumps(facts | {"query": 3}).encode(),
        json.dumps(facts | {"options": {"analyst": "ben"}}).encode(),
        json.dumps(facts | {"options": {"epsilon": 1}}).encode(),
        json.dumps(facts | {"kinds": {"n": "code"}}).encode(),
        json.dumps(facts | {"kinds": [["n"]]}).encode(),
    ):
        with pytest.raises(InputError, match="message of Flight SQL"):
            requests.Statement.read(bad)


def test_the_ticket_of_another_analyst_is_charged_to_whoever_shows_it(
    door_of: Callable[..., Door], tmp_path: Path
) -> None:
    vault = FakeVault(tmp_path, analysts={"ada": (1, 0), "ben": (0.05, 0)})
    ada = door_of(vault)
    ticket = ada.info("CommandStatementQuery", {1: "SELECT 1"}, epsilon="0.5").endpoints[0].ticket
    ben = door_of(vault, analyst="ben")
    _, facts = failure(lambda: ben.client.do_get(ticket, ben.options()).read_all())
    assert (facts["code"], facts["status"]) == ("CEL-Q111", 402)
    assert ada.client.do_get(ticket, ada.options()).read_all().to_pydict() == {"count": [42]}
    assert [charge.analyst for charge in vault.ledger.history()] == ["ada"]


@pytest.mark.parametrize("leak", LEAKS)
def test_what_goes_wrong_inside_tells_nothing(
    door_of: Callable[..., Door], tmp_path: Path, leak: str
) -> None:
    door = door_of(FakeVault(tmp_path))
    error, facts = failure(lambda: door.ask(f"leak {leak}", epsilon="0.01"))
    assert facts["code"] == "CEL-Q180"
    assert MARKER not in str(error) + json.dumps(facts)
    assert os.sep + "celosia" not in str(error)


def test_an_answer_that_does_not_fit_its_columns_tells_nothing(
    door_of: Callable[..., Door], tmp_path: Path
) -> None:
    door = door_of(FakeVault(tmp_path))
    statement = requests.Statement("SELECT 1", {"epsilon": "0.01"}, {"count": "text", "x": "text"})
    ticket = messages.write_message("TicketStatementQuery", {1: statement.handle})
    found = door.client.do_get(flight.Ticket(ticket), door.options()).read_all()
    assert found.to_pydict() == {"count": ["42"], "x": [None]}


def test_tables_columns_and_keys_are_those_of_the_public_schema(door: Door) -> None:
    names = ["item", "message", "orders", "part", "person"]
    assert door.table("CommandGetTables")["table_name"].to_pylist() == names
    assert door.table("CommandGetTables", {3: "p%"})["table_name"].to_pylist() == names[3:]
    for nothing in ({1: "other"}, {2: "other"}, {3: "p_"}, {4: "VIEW"}):
        assert door.table("CommandGetTables", nothing).num_rows == 0
    assert door.table("CommandGetCatalogs").to_pylist() == [{"catalog_name": ""}]
    assert door.table("CommandGetDbSchemas").num_rows == 1
    assert door.table("CommandGetTableTypes").to_pylist() == [{"table_type": "TABLE"}]
    (key,) = door.table("CommandGetPrimaryKeys", {3: "person"}).to_pylist()
    assert (key["table_name"], key["column_name"]) == ("person", "id")
    assert door.table("CommandGetPrimaryKeys", {3: "other"}).num_rows == 0
    imported = door.table("CommandGetImportedKeys", {3: "item"}).to_pylist()
    assert [(each["fk_column_name"], each["pk_table_name"]) for each in imported] == [
        ("order", "orders"),
        ("part", "part"),
    ]
    exported = door.table("CommandGetExportedKeys", {3: "person"}).to_pylist()
    assert [each["fk_table_name"] for each in exported] == ["message", "message", "orders"]
    crossed = door.table("CommandGetCrossReference", {3: "part", 6: "item"}).to_pylist()
    assert [each["fk_column_name"] for each in crossed] == ["part"]


def test_a_table_may_show_the_types_of_its_columns() -> None:
    command = messages.FlightMessage("CommandGetTables", {5: (1,)})
    facts = {
        "t": {
            "references": {},
            "columns": {
                "a": {"type": "integer"},
                "b": {"type": "date"},
                "c": {"type": "timestamp"},
                "d": {"type": "boolean"},
            },
        }
    }
    table = metadata.metadata_table(command, facts)
    schema = pa.ipc.read_schema(pa.py_buffer(table["table_schema"][0].as_py()))
    assert schema.types == [pa.int64(), pa.date32(), pa.timestamp("us"), pa.bool_()]


def test_the_server_says_that_it_only_reads(door: Door) -> None:
    every = {row["info_name"]: row["value"] for row in door.table("CommandGetSqlInfo").to_pylist()}
    assert (every[0], every[3], every[8]) == ("Celosía", True, 0)
    asked = metadata.metadata_table(
        messages.FlightMessage("CommandGetSqlInfo", {1: (b"\x03\x08",)}), {}
    )
    assert asked["info_name"].to_pylist() == [3, 8]


def test_each_policy_is_named_in_a_header_and_others_are_not_told(
    door_of: Callable[..., Door], tmp_path: Path
) -> None:
    door = door_of(FakeVault(tmp_path), name="shop")
    assert door.ask("SELECT 1", policy="shop", epsilon="0.01").to_pydict() == {"count": [42]}
    nowhere = door.server._nowhere
    door.server._nowhere = Service(
        factory=nowhere.factory,
        tokens=TokenStore(tmp_path / "none.sqlite"),
        audit=None,
        limits=Limits(),
        refusals=nowhere.refusals,
    )
    for name in ("", "other"):
        _, facts = failure(lambda name=name: door.ask("SELECT 1", policy=name))  # type: ignore[misc]
        assert facts["code"] == "CEL-Q171"


def test_a_port_that_is_taken_is_told(door: Door) -> None:
    with pytest.raises(EngineError) as caught:
        server.FlightServer({}, host="127.0.0.1", port=door.server.port)
    assert caught.value.key == "CEL-Q208.port"


def test_answers_travel_under_tls(door_of: Callable[..., Door], tmp_path: Path) -> None:
    certificate, key = own_certificate(tmp_path)
    door = door_of(FakeVault(tmp_path), certificate=certificate, key=key)
    assert door.ask("SELECT 1", epsilon="0.01").to_pydict() == {"count": [42]}


def own_certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for this machine, signed by itself, and its key."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    paths = folder / "host.pem", folder / "host.key"
    paths[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return paths


def test_the_server_begins_and_ends_with_its_app() -> None:
    told = list[str]()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        told.append(scope["type"])
        if scope["type"] == "lifespan":
            told.append((await receive())["type"])
            told.append((await receive())["type"])

    async def run() -> None:
        made = server.FlightServer({}, host="127.0.0.1", port=0)
        place = ("127.0.0.1", made.port)
        sent = iter([{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}])

        async def receive() -> Any:
            if "lifespan.startup" in told:
                told.append("still there")
                socket.create_connection(place).close()
            return next(sent)

        async def send(_: Any) -> None: ...

        both = made.beside(app)
        await both({"type": "http"}, receive, send)
        await both({"type": "lifespan"}, receive, send)
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(place)

    asyncio.run(run())
    assert told == ["http", "lifespan", "lifespan.startup", "still there", "lifespan.shutdown"]


@settings(max_examples=40)
@given(st.binary(max_size=60))
def test_any_bytes_are_a_message_or_refused(data: bytes) -> None:
    with suppress(InputError):
        found = messages.FlightMessage("x", messages.read_fields(data))
        for number in found.fields:
            found.texts(number), found.numbers(number), found.flag(number)
            found.text(number)
    with suppress(InputError):
        messages.FlightMessage.read(data)


@given(st.dictionaries(st.integers(1, 2**20), st.binary(max_size=300), max_size=5))
def test_fields_are_read_as_they_were_written(fields: dict[int, bytes]) -> None:
    found = messages.read_fields(messages.write_fields(fields))
    assert found == {number: (data,) for number, data in fields.items()}


def test_the_driver_of_adbc_asks_in_the_same_way(door: Door) -> None:
    driver: Any = pytest.importorskip(
        "adbc_driver_flightsql.dbapi", reason="adbc-driver-flightsql is not installed"
    )
    options = {
        "username": "ada",
        "password": door.token,
        "adbc.flight.sql.rpc.call_header.epsilon": "1",
    }
    with driver.connect(
        f"grpc://127.0.0.1:{door.server.port}", db_kwargs=options, autocommit=True
    ) as connection:
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) AS n FROM person WHERE town = ?", ("A",))
            assert cursor.fetch_arrow_table().schema.names == ["n"]
            with pytest.raises(driver.Error, match="CEL-Q042"):
                cursor.execute("SELECT * FROM person")
        found = connection.adbc_get_table_schema("person")
        assert found.names == ["id", "town", "street", "age"]
