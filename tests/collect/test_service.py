"""The endpoint over HTTP: counts once, keeps nothing of who sends, and tells only the curator."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from tests.collect.small_protocol import PROTOCOL, batch, name, state_of

from celosia.collect.collector.access import Access
from celosia.collect.collector.batches import Batch, BatchLimits
from celosia.collect.collector.collector import Collector
from celosia.collect.collector.routes import error_reply
from celosia.collect.collector.service import Listening, create_app, serve
from celosia.collect.collector.writer import TooBusy, Writer
from celosia.collect.discovery.cardinality import PrivateCardinality
from celosia.collect.discovery.heavy_hitters import PrefixTree
from celosia.collect.numbers.one_bit_mean import OneBitMean
from celosia.collect.registry import protocol_from
from celosia.core.errors import EngineError, InputError, QueryRefused
from celosia.core.randomness import Seeded

pytest.importorskip("fastapi", reason="the extra celosia[service] is not installed")

CURATOR, RELAY, OTHER = "c" * 32, "r" * 32, "o" * 32


@pytest.fixture
def http_of(tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Builds an endpoint with this access and these limits."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it would rather have the successor of httpx
        testing = import_module("fastapi.testclient")
    with ExitStack() as stack:

        def build(access: Access | None = None, origins: Sequence[str] = (), **limits: int) -> Any:
            app = create_app(
                lambda: Collector.open(tmp_path / "state", PROTOCOL, limits=BatchLimits(**limits)),
                access=access or Access(curator=CURATOR),
                origins=origins,
            )
            return stack.enter_context(testing.TestClient(app))

        yield build


def send(http: Any, data: Any, key: str = "", token: str = "", **headers: str) -> Any:
    named = {"Idempotency-Key": key or "k" * 16, **headers}
    if token:
        named["Authorization"] = f"Bearer {token}"
    return http.post("/v1/reports", content=data, headers=named)


def code(answer: Any) -> tuple[int, str]:
    told = answer.json()
    assert told["ok"] is False
    assert told["status"] == answer.status_code
    return answer.status_code, told["code"]


def test_batches_are_acknowledged_counted_once_and_estimated(
    http_of: Callable[..., Any], tmp_path: Path
) -> None:
    http = http_of()
    for number in range(20):
        answer = send(http, batch(number), name(number))
        assert answer.json() == {"ok": True, "data": {"reports": 40, "counted": True}}
    again = send(http, batch(3), name(3))
    assert again.json()["data"] == {"reports": 40, "counted": False}
    asked = {"candidate": ["word 1", "word 2"], "post": "clip"}
    seen = http.get("/v1/estimates", params=asked, headers={"Authorization": f"Bearer {CURATOR}"})
    plain = PROTOCOL.server().load(state_of(range(20))).estimate(asked["candidate"], post="clip")
    assert seen.json()["data"] == plain.as_dict()
    http.__exit__()
    with Collector.open(tmp_path / "state", PROTOCOL) as collector:
        assert collector.state() == state_of(range(20))


def test_what_is_found_without_candidates_is_told_over_http(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it would rather have the successor of httpx
        testing = import_module("fastapi.testclient")
    mean = OneBitMean(epsilon=2, upper=10)
    tree = PrefixTree(epsilon=6, bits=4)
    many = PrivateCardinality(epsilon=4, buckets=16)
    found: dict[str, Any] = {}
    for protocol, values in ((mean, [4.0] * 500), (tree, [9] * 500), (many, ["a"] * 500)):
        reports = protocol.client(rng=Seeded(2)).privatise(values)
        folder = tmp_path / protocol.method_name
        with Collector.open(folder, protocol) as collector:
            collector.absorb(reports.to_bytes(), id="k" * 16)
        opened = partial(Collector.open, folder, protocol)
        app = create_app(opened, access=Access(curator=CURATOR))
        with testing.TestClient(app) as http:

            def see(http: Any = http, **asked: Any) -> Any:
                headers = {"Authorization": f"Bearer {CURATOR}"}
                return http.get("/v1/estimates", params=asked, headers=headers)

            found[protocol.method_name] = see(confidence=0.9).json()["data"]
            if protocol is tree:
                only = {"candidate": ["9", "3"], "kind": "number", "decode": True}
                assert see(**only).json()["data"]["values"] == ["9"]
            server = protocol.server().absorb(reports)
            plain = server.summary() or server.find()
            assert found[protocol.method_name] == plain.as_dict(0.9)
            assert http.get("/v1/estimates").status_code == 401
    assert found["pem"]["values"] == ["9"]


def test_refusals_of_estimates_have_a_status_and_a_code(
    http_of: Callable[..., Any], tmp_path: Path
) -> None:
    http = http_of()
    headers = {"Authorization": f"Bearer {CURATOR}"}
    assert code(http.get("/v1/estimates", headers=headers)) == (422, "CEL-R104")
    odd = {"candidate": "a", "decode": True, "significance": 1}
    assert code(http.get("/v1/estimates", params=odd, headers=headers)) == (400, "CEL-R085")
    odd = {"candidate": "a", "decode": True, "post": "clip"}
    assert code(http.get("/v1/estimates", params=odd, headers=headers)) == (400, "CEL-R085")
    refusal = QueryRefused("CEL-R063")
    assert error_reply(refusal).status == 422


def test_devices_are_told_the_protocol(http_of: Callable[..., Any]) -> None:
    told = http_of().get("/v1/protocol").json()["data"]
    assert told.pop("report_bytes") == 1
    assert protocol_from(told).fingerprint == PROTOCOL.fingerprint


def test_what_is_wrong_has_a_status_and_a_code_and_changes_nothing(
    http_of: Callable[..., Any], tmp_path: Path
) -> None:
    http = http_of(batch_bytes=100)
    send(http, batch(1), "x" * 16)
    assert code(send(http, batch(2), "x" * 16)) == (422, "CEL-R078")
    assert code(send(http, b"noise")) == (422, "CEL-R002")
    assert code(send(http, batch(2)[:-1])) == (422, "CEL-R002")
    assert code(send(http, batch(2, 90))) == (413, "CEL-R077")
    assert code(send(http, iter([b"x" * 60] * 9))) == (413, "CEL-R077")  # no length is told
    assert code(send(http, batch(2), "short")) == (400, "CEL-R085")
    assert code(send(http, batch(2), "k" * 300)) == (422, "CEL-R079")
    assert code(http.post("/v1/reports", content=batch(2))) == (400, "CEL-R085")
    assert code(http.get("/v1/reports")) == (405, "CEL-R085")
    assert code(http.get("/nothing")) == (404, "CEL-R085")
    assert http.get("/v1/health").json() == {"ok": True, "data": {"status": "running"}}
    http.__exit__()
    with Collector.open(tmp_path / "state", PROTOCOL) as collector:
        assert collector.state() == state_of([1])


def test_only_the_curator_sees_estimates(http_of: Callable[..., Any]) -> None:
    http = http_of(Access(curator=CURATOR, senders={"relay": RELAY}))

    def see(token: str, **asked: Any) -> Any:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return http.get("/v1/estimates", params={"candidate": "a"} | asked, headers=headers)

    for token in ("", RELAY, CURATOR[:-1], "é" * 32):
        headers = {"Authorization": f"Bearer {token}".encode()}
        answer = http.get("/v1/estimates", params={"candidate": "a"}, headers=headers)
        assert code(answer) == (401, "CEL-R084")
    assert see(CURATOR).status_code == 200
    assert see(CURATOR, kind="number", candidate=["1", "2"]).status_code == 200
    assert code(see(CURATOR, kind="number")) == (400, "CEL-R085")
    assert code(see(CURATOR, post="rescale")) == (422, "CEL-R005")
    assert code(see(CURATOR, confidence=1)) == (400, "CEL-R085")


def test_without_a_token_of_a_curator_nobody_sees(http_of: Callable[..., Any]) -> None:
    answer = http_of(Access()).get("/v1/estimates", params={"candidate": "a"})
    assert code(answer) == (401, "CEL-R084")


def test_senders_with_tokens_have_their_own_ids_and_limits(http_of: Callable[..., Any]) -> None:
    access = Access(senders={"relay": RELAY, "other": OTHER})
    http = http_of(access, source_reports=60)
    assert code(send(http, batch(1))) == (401, "CEL-R084")
    assert send(http, batch(1), token=RELAY).json()["data"]["counted"]
    assert send(http, batch(2), token=OTHER).json()["data"]["counted"]  # the same id, not hers
    assert code(send(http, batch(3), "z" * 16, token=RELAY)) == (403, "CEL-R080")


def test_nothing_of_who_sends_is_kept_or_logged(
    http_of: Callable[..., Any], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    http = http_of()
    key, agent = "a-key-that-is-unique-7391", "agent-7391"
    send(http, batch(1), key, **{"User-Agent": agent, "X-Forwarded-For": "203.0.113.77"})
    send(http, b"noise-7391", key + "b", **{"User-Agent": agent})
    http.__exit__()
    kept = b"".join(path.read_bytes() for path in (tmp_path / "state").iterdir())
    logged = "".join(
        record.getMessage() for record in caplog.records if not record.name.startswith("httpx")
    )
    for word in ("7391", "203.0.113", "testclient"):
        assert word.encode() not in kept
        assert word not in logged


def test_many_senders_at_once_are_each_counted_once(
    http_of: Callable[..., Any], tmp_path: Path
) -> None:
    http = http_of()
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda at: send(http, batch(at % 40), name(at % 40)), range(120)))
    assert sum(answer.json()["data"]["counted"] for answer in answers) == 40
    http.__exit__()
    with Collector.open(tmp_path / "state", PROTOCOL) as collector:
        assert collector.state() == state_of(range(40))


def test_a_failure_is_one_fixed_text(
    http_of: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    http = http_of()

    def failing(*_: object, **__: object) -> None:
        raise RuntimeError("secret-7391")

    monkeypatch.setattr(Collector, "absorb_all", failing)
    answer = send(http, batch(1))
    assert code(answer) == (500, "CEL-R087")
    assert "7391" not in answer.text


def test_too_many_waiting_batches_are_sent_away(tmp_path: Path) -> None:
    with Collector.open(tmp_path, PROTOCOL) as collector:
        data = batch(1)
        with collector._lock:  # nothing can be counted now
            writer = Writer(collector, waiting=100, waiting_bytes=3 * len(data))
            made = [writer.submit(Batch(data=data, id=name(at))) for at in range(3)]
            with pytest.raises(TooBusy):
                writer.submit(Batch(data=data, id="one too many"))
        assert [each.result(10).counted for each in made] == [True] * 3
        assert writer.submit(Batch(data=data, id="now")).result(10).counted
        writer.close()
        assert collector.users == 160


def test_bodies_that_arrive_at_once_are_bounded_together(http_of: Callable[..., Any]) -> None:
    http = http_of()
    endpoint = http.app.state.endpoint
    data = batch(1)
    endpoint.arriving = endpoint.waiting_bytes - len(data) + 1  # of others, on their way
    assert code(send(http, data)) == (429, "CEL-R086")
    endpoint.arriving -= 1
    assert send(http, data).status_code == 200
    assert endpoint.arriving == endpoint.waiting_bytes - len(data)  # what was read is let go


def figures_of(http: Any) -> dict[str, int]:
    """The metrics of an endpoint, by their names."""
    seen = http.get("/v1/metrics", headers={"Authorization": f"Bearer {OTHER}"}).text
    lines = (line.split(" ") for line in seen.splitlines() if not line.startswith("#"))
    return {key.removeprefix("celosia_collect_"): int(value) for key, value in lines}


def test_a_full_disk_sends_batches_away_and_the_endpoint_goes_on_when_there_is_room(
    http_of: Callable[..., Any],
) -> None:
    http = http_of(Access(curator=CURATOR, monitor=OTHER))
    collector = http.app.state.endpoint.collector
    base = collector._journal._base
    pages = base.execute("PRAGMA page_count").fetchone()[0]
    base.execute(f"PRAGMA max_page_count = {pages + 1}")  # SQLite then says that the disk is full
    for number in range(1000):
        try:
            collector.absorb(batch(1), id=name(number))
        except EngineError:
            break
    assert 0 < number < 999
    refused = send(http, batch(2), name(number))
    assert (*code(refused), refused.headers["retry-after"]) == (503, "CEL-R075", "5")
    assert http.get("/v1/health").status_code == 200
    assert collector.state() == state_of([1] * number)
    assert figures_of(http)["write_failures_total"] == 1
    collector._journal._base.execute("PRAGMA max_page_count = 1000000")
    again = [send(http, batch(2), name(number)).json()["data"]["counted"] for _ in range(2)]
    assert again == [True, False]
    assert collector.state() == state_of([1] * number + [2])


def test_a_full_queue_sends_batches_away_and_counts_them(http_of: Callable[..., Any]) -> None:
    http = http_of(Access(curator=CURATOR, monitor=OTHER))
    endpoint, data = http.app.state.endpoint, batch(1)
    endpoint.writer._most = len(data)
    endpoint.writer._bytes = 1  # of others, which wait
    refused = send(http, data, name(1))
    assert (*code(refused), refused.headers["retry-after"]) == (429, "CEL-R086", "5")
    endpoint.writer._bytes = 0
    endpoint.arriving = endpoint.waiting_bytes
    assert code(send(http, data, name(1))) == (429, "CEL-R086")
    endpoint.arriving = 0
    assert send(http, data, name(1)).json()["data"] == {"reports": 40, "counted": True}
    found = figures_of(http)
    assert (found["batches_sent_away_total"], found["batches_counted_total"]) == (2, 1)


@pytest.mark.parametrize(
    "tokens",
    [
        {"curator": "short"},
        {"curator": "c" * 31 + " "},
        {"curator": CURATOR, "senders": {"a": CURATOR}},
        {"senders": {"a": RELAY, "b": RELAY}},
    ],
    ids=str,
)
def test_tokens_that_could_be_guessed_or_mixed_up_are_refused(tokens: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        Access(**tokens)
    assert caught.value.code == "CEL-R088"
    assert CURATOR not in str(caught.value)


def test_an_endpoint_for_others_needs_encryption(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        serve(tmp_path / "p.toml", folder=tmp_path, listen=Listening(host="0.0.0.0"))
    assert caught.value.code == "CEL-R089"


def test_tokens_are_read_from_files_and_senders_are_called_as_their_files(tmp_path: Path) -> None:
    for who, token in (("carla", CURATOR), ("relay-1", RELAY), ("relay-2", OTHER)):
        (tmp_path / f"{who}.token").write_text(token + "\n")
    senders = [tmp_path / "relay-1.token", tmp_path / "relay-2.token"]
    access = Access.load(curator=tmp_path / "carla.token", senders=senders)
    assert access.is_curator(CURATOR)
    assert not access.is_curator(RELAY)
    assert [access.sender(each) for each in (RELAY, OTHER, CURATOR, "")] == [
        "relay-1",
        "relay-2",
        None,
        None,
    ]
    with pytest.raises(InputError) as caught:
        Access.load(senders=[senders[0], senders[0]])
    assert caught.value.code == "CEL-R088"


def test_the_addresses_are_listed(http_of: Callable[..., Any]) -> None:
    listed = http_of().get("/v1/openapi.json").json()["paths"]
    names = ("health", "protocol", "reports", "estimates", "metrics", "state")
    assert set(listed) == {f"/v1/{each}" for each in names}


def test_figures_are_for_the_monitor_and_tell_what_happened(http_of: Callable[..., Any]) -> None:
    http = http_of(Access(curator=CURATOR, monitor=OTHER))
    assert http.get("/v1/metrics").status_code == 401
    assert (
        http.get("/v1/metrics", headers={"Authorization": f"Bearer {CURATOR}"}).status_code == 401
    )
    for number in (1, 2, 2):
        send(http, batch(number), name(number))
    send(http, b"nonsense", name(9))
    seen = http.get("/v1/metrics", headers={"Authorization": f"Bearer {OTHER}"})
    assert seen.headers["content-type"].startswith("text/plain")
    told = dict(line.split(" ") for line in seen.text.splitlines() if not line.startswith("#"))
    figures = {key.removeprefix("celosia_collect_"): int(value) for key, value in told.items()}
    assert figures == {
        "batches_counted_total": 2,
        "batches_repeated_total": 1,
        "batches_refused_total": 1,
        "batches_sent_away_total": 0,
        "reports_counted_total": 80,
        "writes_total": figures["writes_total"],
        "write_failures_total": 0,
        "batches_waiting": 0,
        "bytes_waiting": 0,
        "bytes_arriving": 0,
    }
    assert 1 <= figures["writes_total"] <= 4


def test_the_curator_takes_the_state_of_a_running_endpoint(
    http_of: Callable[..., Any], tmp_path: Path
) -> None:
    http = http_of()
    send(http, batch(1), name(1))
    assert code(http.get("/v1/state")) == (401, "CEL-R084")
    state = http.get("/v1/state", headers={"Authorization": f"Bearer {CURATOR}"}).content
    with Collector.open(tmp_path / "total", PROTOCOL) as total:
        assert total.merge_state(state).reports == 40


def test_pages_of_declared_sites_may_send_and_no_others(http_of: Callable[..., Any]) -> None:
    site, other = "https://app.example", "https://other.example"
    http = http_of(origins=[site])
    asked = {
        "Origin": site,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "idempotency-key",
    }
    before = http.options("/v1/reports", headers=asked)
    assert before.status_code == 200
    assert before.headers["access-control-allow-origin"] == site
    assert "idempotency-key" in before.headers["access-control-allow-headers"].lower()
    sent = send(http, batch(1), name(1), Origin=site)
    assert sent.headers["access-control-allow-origin"] == site
    assert http.options("/v1/reports", headers=asked | {"Origin": other}).status_code == 400
    sent = send(http, batch(2), name(2), Origin=other)
    assert "access-control-allow-origin" not in sent.headers
    http.__exit__()
    assert "access-control-allow-origin" not in send(http_of(), b"", name(3), Origin=site).headers
    for odd in ("app.example", f"{site}/", "file://x"):
        with pytest.raises(InputError) as caught:
            create_app(lambda: pytest.fail("opened"), origins=[odd])
        assert caught.value.code == "CEL-R077"


def test_days_and_partitions_have_statuses_of_their_own(http_of: Callable[..., Any]) -> None:
    http = http_of(remember_days=3, partitions=2)
    ids = [f"2020-01-01:{name(number)}" for number in range(20)]
    here = [Batch(data=b"", id=each).partition(2) == 1 for each in ids]
    assert len(set(here)) == 2
    for id, is_here in zip(ids, here, strict=True):
        wanted = (410, "CEL-R093") if is_here else (421, "CEL-R094")
        assert code(send(http, batch(1), id)) == wanted
