"""The service as a process, over a real vault; and what it refuses to start as."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import httpx
import polars as pl
import pytest
from pyarrow import flight
from tests.ports import own_port

from celosia.accounting.ledger import Ledger, verify_export
from celosia.core.errors import BudgetExceeded, EngineError, InputError, QueryRefused
from celosia.queries.paths import ledger_path
from celosia.queries.service import AccessDenied, Client, TokenStore, serve, tokens_path
from celosia.queries.service.flight.messages import write_message

MARKER = "Zq7-the-only-row-of-Ada-Lovelace"
ORDERS = 5_000

POLICY = """\
name = "shop"

[database.files]
customer = "customer.csv"
orders = "orders.parquet"

[unit]
name = "customer"
table = "customer"
key = "custkey"

[budget]
epsilon = 4

[analysts.ada]
epsilon = 3

[analysts.ben]
epsilon = 0.5

[tables.customer.columns]
custkey = { type = "integer", unique = true }
name = "text"

[tables.orders]
references = { custkey = "customer.custkey" }
[tables.orders.columns]
orderkey = { type = "integer", unique = true }
custkey = { type = "integer", most = 20 }
"""


@dataclass
class Server:
    url: str
    flight: str
    folder: Path
    process: subprocess.Popen[str]
    curator: str
    ada: str
    ben: str

    def stop(self) -> str:
        """End the process, by its own id; gives all that it has said."""
        self.process.send_signal(signal.SIGTERM)
        said, complaints = self.process.communicate(timeout=600)
        return said + complaints


PATIENT = """from celosia.queries import deadlines
run = deadlines.Attempt.run
deadlines.wait_until = lambda moment: None
deadlines.Attempt.run = lambda it, until: run(it, until + 600)
"""
"""A busy machine makes no answer late, and nobody waits for deadlines."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One process for the tests of this file."""
    folder = tmp_path_factory.mktemp("server")
    policy = folder / "policy.toml"
    policy.write_text(POLICY)
    names = [MARKER, *(f"customer {number}" for number in range(1, 1000))]
    pl.DataFrame({"custkey": range(1000), "name": names}).write_csv(folder / "customer.csv")
    keys = {"orderkey": range(ORDERS), "custkey": [number % 1000 for number in range(ORDERS)]}
    pl.DataFrame(keys).write_parquet(folder / "orders.parquet")
    tokens, port, second = TokenStore(tokens_path(policy)), own_port(), own_port()
    texts = [
        tokens.create(role="curator", name="carla").text,
        tokens.create(role="analyst", name="ada").text,
        tokens.create(role="analyst", name="ben").text,
    ]
    code = (
        PATIENT + "from celosia.queries.service import serve; "
        f"serve({str(policy)!r}, port={port}, flight={second})"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        wait_for(url, process)
        yield Server(url, f"grpc://127.0.0.1:{second}", folder, process, *texts)
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def wait_for(url: str, process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + 600
    while time.monotonic() < end and process.poll() is None:
        try:
            if httpx.get(f"{url}/v1/health").json()["ok"]:
                return
        except httpx.HTTPError:
            time.sleep(0.1)
    process.kill()
    raise AssertionError(process.communicate()[1])


def test_a_real_question_is_answered_through_the_client(server: Server) -> None:
    with Client(server.url, server.ada) as client:
        plan = client.explain("SELECT count(*) FROM orders", epsilon=1)
        assert plan.epsilon == 1
        assert plan.parts
        assert plan.deadline == 1
        sure = 1 - 1e-12  # how rarely the interval may miss, which is how rarely this may fail
        answer = client.sql("SELECT count(*) FROM orders", epsilon=1, confidence=sure)
        bounds = answer.interval()
        assert bounds is not None
        assert bounds[0] <= ORDERS <= bounds[1]
        assert answer.entry is not None
        again = client.sql("select COUNT(*) from Orders", epsilon=1)
        assert (again.stored, again.value) == (True, answer.value)
        assert client.ledger.spent["epsilon"] == 1
        assert set(client.public_schema()["tables"]) == {"customer", "orders"}


def test_the_second_port_gives_the_same_answer_for_the_same_price(server: Server) -> None:
    query = "SELECT count(*) AS n FROM orders"
    with Client(server.url, server.ada) as client:
        answer = client.sql(query, epsilon=0.5)
        spent = client.ledger.spent
        command = write_message("CommandStatementQuery", {1: query})
        headers = {"authorization": f"Bearer {server.ada}", "epsilon": "0.5"}
        options = flight.FlightCallOptions(
            headers=[(name.encode(), text.encode()) for name, text in headers.items()]
        )
        with flight.connect(server.flight) as second:
            found = second.get_flight_info(flight.FlightDescriptor.for_command(command), options)
            table = second.do_get(found.endpoints[0].ticket, options).read_all()
        assert table.to_pydict() == {"n": [answer.value]}
        assert client.ledger.spent == spent


def test_errors_of_the_real_vault_reach_the_client_as_they_are(server: Server) -> None:
    with Client(server.url, server.ben) as client:
        before = client.ledger.head
        with pytest.raises(QueryRefused):
            client.sql("DROP TABLE orders", epsilon=0.1)
        with pytest.raises(QueryRefused):
            client.sql("SELECT name FROM customer", epsilon=0.1)
        with pytest.raises(BudgetExceeded) as caught:
            client.sql("SELECT count(*) FROM customer", epsilon=1)
        assert caught.value.code == "CEL-Q111"
        assert client.ledger.head == before
    with Client(server.url, "nonsense") as client, pytest.raises(AccessDenied):
        client.public_schema()


def test_real_questions_at_once_stay_within_the_budget(server: Server) -> None:
    def ask(number: int) -> bool:
        with Client(server.url, server.ben) as client:
            try:
                client.sql(f"SELECT count(*) FROM orders WHERE orderkey > {number}", epsilon=0.1)
            except BudgetExceeded:
                return False
            return True

    with ThreadPoolExecutor(8) as pool:
        answered = list(pool.map(ask, range(12)))
    assert sum(answered) == 5
    with Client(server.url, server.ben) as client:
        assert client.ledger.spent["epsilon"] == Fraction(1, 2)


def test_an_engine_that_fails_and_the_end_of_the_process_tell_nothing(server: Server) -> None:
    (server.folder / "orders.parquet").write_bytes(b"broken")
    with Client(server.url, server.ben) as client, pytest.raises(BudgetExceeded):
        client.sql("SELECT count(*) FROM customer", epsilon=1)
    with Client(server.url, server.ada) as client:
        # An answer like any other: the noise on zero that an empty database would have given.
        answer = client.sql("SELECT count(*) FROM orders WHERE orderkey < 7", epsilon=0.5)
        assert isinstance(answer.value, int)
        assert client.ledger.history()[-1].status == "sealed"
    standing = Ledger.open_view(ledger_path(server.folder / "policy.toml"))
    assert standing is not None
    with standing:
        (incident,) = standing.incidents()
    assert (incident.analyst, incident.kind) == ("ada", "failed-query")
    with Client(server.url, server.curator) as client:
        head = client.ledger.verify()
        assert client.ledger.export(server.folder / "chain.jsonl") == head
        assert verify_export(server.folder / "chain.jsonl") == head
    said = server.stop()
    audit = (server.folder / "policy.audit.jsonl").read_text()
    assert {"ok", "CEL-Q111"} <= {json.loads(line)["outcome"] for line in audit.splitlines()}
    assert "Traceback" not in said
    for text in (MARKER, server.curator, server.ada, server.ben):
        assert text not in said + audit
    with Client(server.url, server.ada) as client, pytest.raises(EngineError) as caught:
        client.public_schema()
    assert caught.value.key == "CEL-Q186.unreachable"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.7", "vault.example.org"])
def test_others_are_not_listened_to_in_the_open(tmp_path: Path, host: str) -> None:
    with pytest.raises(InputError) as caught:
        serve(tmp_path / "policy.toml", host=host)
    assert caught.value.code == "CEL-Q188"


def test_a_service_that_nobody_could_ask_does_not_start(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        serve(tmp_path / "policy.toml")
    assert caught.value.code == "CEL-Q189"


def test_a_policy_that_is_wrong_is_told_before_anything_is_served(tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text("name = 3")
    TokenStore(tokens_path(policy)).create(role="curator", name="carla")
    with pytest.raises(InputError) as caught:
        serve(policy)
    assert caught.value.code.startswith("CEL-Q0")
