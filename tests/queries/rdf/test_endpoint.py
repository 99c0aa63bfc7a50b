"""Facts from an endpoint: complete, or none."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs

import pyoxigraph as ox
import pytest
from tests.queries.rdf.graphs import SMALL, facts_of, parsed, write

from celosia.core.errors import CelosiaError, EngineError
from celosia.core.progress import Step
from celosia.queries.rdf.endpoint import load_endpoint
from celosia.queries.rdf.file_loader import load

TITLE = "http://www.w3.org/2006/vcard/ns#title"
DONE = "http://www.snee.com/hr/completedOrientation"


class Endpoint(ThreadingHTTPServer):
    """A SPARQL endpoint on this machine, which can be told to misbehave."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.graph = ox.Store()
        self.fault = ""
        self.asked: list[str] = []
        self.seen: list[str | None] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/sparql"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Endpoint

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_POST(self) -> None:
        size = int(self.headers["Content-Length"])
        (query,) = parse_qs(self.rfile.read(size).decode())["query"]
        self.server.asked.append(query)
        self.server.seen.append(self.headers.get("Authorization"))
        found: Any = self.server.graph.query(query)
        fault = self.server.fault
        if isinstance(found, ox.QuerySolutions):
            body = found.serialize(format=ox.QueryResultsFormat.JSON)
            state = {"X-SQL-State": "S1TAT"} if fault == "anytime" else {}
            self.answer(
                b"[]" if fault == "count" or body is None else body,
                "application/sparql-results+json",
                status=500 if fault == "status" else 200,
                more=state,
            )
            return
        lines = found.serialize(format=ox.RdfFormat.N_TRIPLES)
        if fault == "capped":
            lines = b"".join(lines.splitlines(keepends=True)[:-1])
        if fault == "words":
            lines = b"Sorry, too busy.\n"
        kind = "text/html" if fault == "html" else "application/n-triples; charset=utf-8"
        if fault == "forward":
            self.send_response(302)
            self.send_header("Location", "http://127.0.0.1:1/")
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif fault == "slow":
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(lines)))
            self.end_headers()
            self.wfile.flush()
            time.sleep(1)
            self.close_connection = True
        elif fault == "endless":
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(lines)
            self.close_connection = True
        else:
            self.answer(lines, kind, cut=fault == "cut", status=206 if fault == "partial" else 200)

    def answer(
        self,
        body: bytes,
        kind: str,
        *,
        cut: bool = False,
        status: int = 200,
        more: dict[str, str] | None = None,
    ) -> None:
        self.send_response(status)
        for name, value in (more or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for start in range(0, len(body), 100):
            piece = body[start : start + 100]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        if cut:
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint() as server:
        server.graph.load(SMALL, format=ox.RdfFormat.TURTLE)
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_all_facts_come_in_one_request(endpoint: Endpoint, tmp_path: Path) -> None:
    made = load_endpoint(endpoint.url, tmp_path / "graph")
    assert facts_of(tmp_path / "graph") == parsed(SMALL, ox.RdfFormat.TURTLE)
    assert (made.triples, made.read) == (19, 19)
    assert len(endpoint.asked) == 2, "one to count, one to fetch"


def test_only_the_predicates_wanted_come(endpoint: Endpoint, tmp_path: Path) -> None:
    steps: list[Step] = []
    load_endpoint(
        endpoint.url,
        tmp_path / "graph",
        predicates=[TITLE, DONE],
        headers={"Authorization": "Bearer secret"},
        progress=steps.append,
    )
    expected = parsed(SMALL, ox.RdfFormat.TURTLE)
    assert facts_of(tmp_path / "graph") == {
        fact for fact in expected if fact[1] in (f"<{TITLE}>", f"<{DONE}>")
    }
    assert set(endpoint.seen) == {"Bearer secret"}
    assert Step("Asking the endpoint", 1, 2) in steps


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        *(("cut", "CEL-Q231"), ("capped", "CEL-Q231"), ("endless", "CEL-Q231")),
        *(("slow", "CEL-Q231"), ("partial", "CEL-Q231"), ("html", "CEL-Q231")),
        *(("words", "CEL-Q231"), ("forward", "CEL-Q231"), ("count", "CEL-Q231")),
    ],
)
def test_what_is_not_complete_is_refused(
    fault: str, code: str, endpoint: Endpoint, tmp_path: Path
) -> None:
    load(write(tmp_path / "a.nt", "<urn:a> <urn:p> <urn:b> .\n"), tmp_path / "graph")
    before = (tmp_path / "graph").read_bytes()
    endpoint.fault = fault
    with pytest.raises(EngineError) as refusal:
        load_endpoint(
            endpoint.url, tmp_path / "graph", add=True, timeout=0.5 if fault == "slow" else 30
        )
    assert refusal.value.code == code
    assert "Smith" not in json.dumps(refusal.value.as_dict())
    assert (tmp_path / "graph").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.nt", "graph"]


def test_blank_nodes_over_several_requests_are_refused(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.graph.load("_:a <urn:p> _:b . _:b <urn:q> 1 .", format=ox.RdfFormat.TURTLE)
    with pytest.raises(CelosiaError) as refusal:
        load_endpoint(endpoint.url, tmp_path / "graph", predicates=["urn:p", "urn:q"])
    assert refusal.value.code == "CEL-Q233"
    assert load_endpoint(endpoint.url, tmp_path / "graph").triples == 21


def test_nobody_at_home_is_told(tmp_path: Path) -> None:
    with pytest.raises(EngineError) as refusal:
        load_endpoint("http://127.0.0.1:9/sparql", tmp_path / "graph")
    assert refusal.value.code == "CEL-Q231"


@pytest.mark.parametrize("url", ["ftp://a/", "nonsense", "http://[", "http://example.org/sparql"])
def test_an_address_is_checked_before_anything_is_sent(url: str, tmp_path: Path) -> None:
    with pytest.raises(CelosiaError) as refusal:
        load_endpoint(url, tmp_path / "graph")
    assert refusal.value.code == "CEL-Q230"


def test_a_name_and_password_are_never_repeated(tmp_path: Path) -> None:
    with pytest.raises(EngineError) as refusal:
        load_endpoint("http://ana:word@127.0.0.1:9/sparql?key=word", tmp_path / "graph")
    assert "word" not in str(refusal.value)
