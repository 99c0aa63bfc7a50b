"""Attacks on the studio: by a visitor who knows the password, another page, and a stranger."""

from __future__ import annotations

import json
import logging
import re
import shutil
import urllib.request
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from celosia.core.errors import EngineError, InputError
from celosia.queries import QueryRequest
from celosia.studio import guard, visitors, worker
from celosia.studio.app import LogFilter
from celosia.studio.classroom.model import Classrooms
from celosia.studio.guard import Guard
from celosia.studio.http_request import cookies_of, host_of, length_of, neighbourhood
from celosia.studio.jobs import Jobs
from celosia.studio.publish.form import ColumnForm
from celosia.studio.publish.hierarchies import values_of
from celosia.studio.publish.hierarchy_tasks import is_small
from celosia.studio.query import model
from celosia.studio.settings import Settings
from celosia.studio.uploads import LONGEST_NAME, check_names
from celosia.studio.visitors import Visitor, Visitors
from celosia.studio.widgets.chart import check_keys
from celosia.studio.widgets.table import MOST_LETTERS, html_table
from celosia.studio.worker import task
from tests.studio import jobs_for_tests as work

with warnings.catch_warnings():  # it would rather have the next httpx, which is not ours to choose
    warnings.simplefilter("ignore")
    from starlette.datastructures import Headers
    from starlette.testclient import TestClient

PAGE = {"accept": "text/html"}
SECRET = "correct horse battery"
MARKER = "Ana Garcia, HIV"


async def whoami(request: Request) -> Response:
    visitor = request.scope[guard.SCOPE]
    return PlainTextResponse("" if visitor is None else visitor.token)


async def measure(request: Request) -> Response:
    return PlainTextResponse(str(len(await request.body())))


async def talk(opened: WebSocket) -> None:
    await opened.accept()
    await opened.close()


class Door:
    """A gate with a small application behind it, and the pages that are open there."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        self.visitors = Visitors(folder, idle=100)
        self.pages: dict[str, Visitor] = {}
        self.dismissed: list[Visitor] = []
        studio: Any = SimpleNamespace(
            settings=settings, visitors=self.visitors, classrooms=Classrooms()
        )
        inner = Starlette(
            routes=[
                Route("/", whoami),
                Route("/_nicegui/client/{page}/upload/1", measure, methods=["POST"]),
                Route("/_nicegui_ws/socket.io/", whoami),
                WebSocketRoute("/_nicegui_ws/socket.io/", talk),
            ]
        )
        self.gate = Guard(inner, studio, owner=self.pages.get, dismiss=self.dismissed.append)

    def browser(self) -> TestClient:
        return TestClient(self.gate, base_url="http://127.0.0.1:8080", follow_redirects=False)

    def page_of(self, browser: TestClient, name: str) -> None:
        found = self.visitors.known(browser.get("/", headers=PAGE).text)
        assert found is not None
        self.pages[name] = found


@pytest.fixture
def here(tmp_path: Path) -> Door:
    """A studio for this machine only."""
    return Door(tmp_path, Settings(most_upload=5000, most_area=20_000))


@pytest.fixture
def shared(tmp_path: Path) -> Door:
    """A studio of a classroom."""
    return Door(tmp_path, Settings(host="0.0.0.0", passwords=(SECRET,)))


def test_whether_a_shared_studio_runs_is_told_to_everybody_and_nothing_else(shared: Door) -> None:
    answer = shared.browser().get("/health")
    assert (answer.status_code, answer.text) == (200, "ok")
    assert "set-cookie" not in answer.headers
    assert list(shared.visitors._folder.iterdir()) == []


def test_nobody_sends_a_file_to_the_page_of_somebody_else(here: Door) -> None:
    ana, eve = here.browser(), here.browser()
    here.page_of(ana, "of-ana")
    here.page_of(eve, "of-eve")
    address = "/_nicegui/client/of-ana/upload/1"
    assert ana.post(address, content=b"abc").text == "3"
    assert eve.post(address, content=b"abc").status_code == 403
    assert here.browser().post(address, content=b"abc").status_code == 403


def test_nobody_opens_a_socket_for_the_page_of_somebody_else(here: Door) -> None:
    ana, eve = here.browser(), here.browser()
    here.page_of(ana, "of-ana")
    here.page_of(eve, "of-eve")
    address = "/_nicegui_ws/socket.io/?client_id=of-ana"
    # The test client keeps no cookies for sockets.
    hers, others = (
        {"host": "127.0.0.1:8080", "cookie": f"{guard.VISITOR}={here.pages[name].token}"}
        for name in ("of-ana", "of-eve")
    )
    with ana.websocket_connect(address, headers=hers):
        pass
    with pytest.raises(WebSocketDisconnect), eve.websocket_connect(address, headers=others):
        pass
    assert ana.get(address).status_code == 200
    assert eve.get(address).status_code == 403


def test_another_page_of_this_machine_cannot_read_from_the_socket(here: Door) -> None:
    origin = {"origin": "http://127.0.0.1:9999"}
    assert here.browser().get("/_nicegui_ws/socket.io/", headers=origin).status_code == 403


@pytest.mark.parametrize("host", ["[", "[::1", "127.0.0.1:8080]["])
def test_a_host_that_is_none_is_refused_rather_than_a_fault(here: Door, host: str) -> None:
    assert here.browser().get("/", headers={"host": host}).status_code == 421


def test_an_origin_that_is_none_is_refused_rather_than_a_fault(here: Door) -> None:
    assert here.browser().post("/", headers={"origin": "http://["}).status_code == 403


def test_endless_cookies_are_refused(here: Door) -> None:
    cookie = {"cookie": 'a="' + "\\" * guard.MOST_COOKIES}
    assert here.browser().get("/", headers=cookie).status_code == 431


def test_one_visitor_sends_few_files_at_the_same_time(here: Door) -> None:
    ana = here.browser()
    here.page_of(ana, "of-ana")
    token = here.pages["of-ana"].token
    here.gate._sending[token] = guard.MOST_AT_ONCE
    assert ana.post("/_nicegui/client/of-ana/upload/1", content=b"x").status_code == 429
    here.gate._sending[token] = guard.MOST_AT_ONCE - 1
    assert ana.post("/_nicegui/client/of-ana/upload/1", content=b"x").status_code == 200
    assert here.gate._sending == {token: guard.MOST_AT_ONCE - 1}


def test_uploads_leave_room_on_a_disk_that_is_nearly_full(
    here: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana = here.browser()
    here.page_of(ana, "of-ana")
    monkeypatch.setattr(
        "celosia.studio.guard.shutil.disk_usage", lambda path: SimpleNamespace(free=4000)
    )
    address = "/_nicegui/client/of-ana/upload/1"
    assert ana.post(address, content=b"x" * 1000).text == "1000"
    assert ana.post(address, content=b"x" * 1001).status_code == 413


def test_a_token_goes_from_the_address_of_somebody_who_is_in_already(shared: Door) -> None:
    ana = shared.browser()
    for _ in range(2):
        answer = ana.get(f"/?token={SECRET}", headers=PAGE)
        assert (answer.status_code, answer.headers["location"]) == (303, "/")


def test_who_leaves_ends_nobody_elses_visit(shared: Door) -> None:
    ana, eve = shared.browser(), shared.browser()
    for browser, name in ((ana, "of-ana"), (eve, "of-eve")):
        browser.post("/enter", data={"password": SECRET})
        shared.page_of(browser, name)
    hers = shared.pages["of-ana"].new_work("publish").folder
    others = shared.pages["of-eve"].new_work("publish").folder
    assert eve.post("/leave").status_code == 303
    assert shared.dismissed == [shared.pages["of-eve"]]
    assert (hers.exists(), others.exists()) == (True, False)
    assert [each.get("/", headers=PAGE).status_code for each in (ana, eve)] == [200, 401]


def test_no_job_writes_into_a_work_area_that_is_being_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    all_here = Visitors(tmp_path, idle=100)
    ana = all_here.enter(None)
    ana.new_work("publish")
    places: list[bool] = []
    remove = shutil.rmtree

    def watched(folder: Path, **how: Any) -> None:
        places.append(ana.folder.exists())
        remove(folder, **how)

    monkeypatch.setattr("celosia.studio.visitors.shutil.rmtree", watched)
    all_here.leave(ana)
    assert set(places) == {False}
    assert list(tmp_path.iterdir()) == []


def test_an_entry_ends_some_time_after_its_last_page(
    shared: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr(guard, "monotonic", lambda: now[0])
    ana = shared.browser()
    ana.post("/enter", data={"password": SECRET})
    for _ in range(2):  # each page begins the time anew
        now[0] += guard.ENTRY_SECONDS - 1
        assert ana.get("/", headers=PAGE).status_code == 200
    now[0] += guard.ENTRY_SECONDS + 1
    assert ana.get("/", headers=PAGE).status_code == 401


def test_attempts_of_one_network_of_ipv6_are_counted_together() -> None:
    assert neighbourhood("2001:db8:1:2::1") == neighbourhood("2001:db8:1:2:ffff::9%eth0")
    assert neighbourhood("2001:db8:1:2::1") != neighbourhood("2001:db8:1:3::1")
    assert neighbourhood("192.0.2.1") != neighbourhood("192.0.2.2")
    assert neighbourhood("::ffff:192.0.2.1") != neighbourhood("::ffff:192.0.2.2")
    assert not neighbourhood("")


def test_what_a_request_says_is_read_without_a_fault() -> None:
    assert host_of("http://[") == ("", "")
    assert host_of("//LOCALHOST:1") == ("localhost", "LOCALHOST:1")
    assert cookies_of(Headers({"cookie": "a=1; b; a=2; =3; c==4"})) | {} == {
        "a": "1",
        "b": "",
        "": "3",
        "c": "=4",
    }
    assert [length_of(Headers({"content-length": each})) for each in ("7", "x", "-1", "²")] == [
        7,
        0,
        0,
        0,
    ]
    assert length_of(Headers({"content-length": "9" * 5000})) > 10**18


def test_a_crowd_without_work_drives_nobody_out_who_has_some(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visitors, "MOST_VISITORS", 5)
    all_here = Visitors(tmp_path, idle=100)
    ana = all_here.enter(None)
    ana.new_work("publish")
    crowd = [all_here.enter(None) for _ in range(50)]
    assert all_here.known(ana.token) is ana
    assert len(all_here) == 5
    assert all_here.known(crowd[-1].token) is crowd[-1]


@pytest.fixture(scope="module")
def jobs() -> Iterator[Jobs]:
    """One worker whose files stay small; a visitor called full has no room."""
    found = Jobs(
        workers=1,
        most=3,
        seconds=60,
        memory=4_000_000_000,
        file=100_000,
        has_room=lambda visitor: visitor != "full",
        warm=False,
    )
    yield found
    found.close()


def ended(jobs: Jobs, function: Callable[..., Any], **arguments: Any) -> Any:
    job = jobs.submit("ana", "attack", task(function, **arguments))
    while not job.over:
        job.stop.wait(0.02)
    return job


def test_a_job_cannot_write_a_file_without_end(jobs: Jobs, tmp_path: Path) -> None:
    target = tmp_path / "endless"
    assert ended(jobs, work.write_bytes, path=str(target), size=1_000_000).state == "failed"
    assert target.stat().st_size <= 100_000
    assert ended(jobs, work.write_bytes, path=str(target), size=50_000).state == "done"


def test_what_cannot_be_passed_on_ends_its_job_and_not_the_worker(jobs: Jobs) -> None:
    job = ended(jobs, work.give_what_cannot_be_read)
    assert (job.state, job.error.code) == ("failed", "CEL-W024")
    assert ended(jobs, work.add, left=1, right=1).result == 2


def test_whoever_has_no_room_starts_no_job(jobs: Jobs) -> None:
    with pytest.raises(EngineError) as refused:
        jobs.submit("full", "attack", task(work.add, left=1, right=1))
    assert refused.value.code == "CEL-W025"


def test_an_error_of_a_job_does_not_tell_where_files_lie(tmp_path: Path) -> None:
    error = InputError("CEL-F013", path=f"{tmp_path}/upload.csv", folder=tmp_path / "a")
    text = worker._placeless(error, str(tmp_path))
    assert str(tmp_path) not in json.dumps(text.as_dict()) + str(text)
    assert text.what == "upload.csv is empty."


def test_the_log_has_the_place_of_an_error_and_never_its_text(
    caplog: pytest.LogCaptureFixture,
) -> None:
    logger = logging.getLogger("celosia-test-quiet")
    logger.addFilter(LogFilter())
    try:
        int(MARKER)
    except ValueError as error:
        logger.exception(error)
        logger.exception("in a page: %s", error)
        logger.error(error)
    assert MARKER not in caplog.text
    assert caplog.text.count("ValueError at test_safety.py") == 3


def test_the_log_has_nothing_that_a_browser_sends(caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger("celosia-test-quiet")
    logger.addFilter(LogFilter())

    def handle_log_message() -> None:
        logger.error(MARKER)

    handle_log_message()
    assert not caplog.text


def test_no_key_of_a_chart_is_run_but_ours() -> None:
    check_keys({"series": [{":renderItem": "ours", "data": [[1, 2], None, {"value": 3}]}]})
    for option in (
        {":formatter": "alert(1)"},
        {"series": [{"data": [1, {"name": "a", ":x": "alert(1)"}]}]},
        {"legend": {"selected": {":column": True}}},
    ):
        with pytest.raises(ValueError, match="would be run"):
            check_keys(option)


def test_a_cell_as_long_as_a_file_is_cut_and_escaped() -> None:
    long = "<img src=x onerror=alert(1)>" * 10_000
    made = html_table([long], [[long]], caption="<b>", cell_titles={(0, 0): '"><b>'})
    assert "<img" not in made
    assert "<b>" not in made
    assert len(made) < 10 * MOST_LETTERS


def test_a_name_that_no_page_could_show_is_refused() -> None:
    check_names(["a" * LONGEST_NAME])
    with pytest.raises(InputError) as refused:
        check_names(["age", "a" * (LONGEST_NAME + 1)])
    assert refused.value.code == "CEL-W060"


@pytest.mark.parametrize(
    ("rule", "small"),
    [
        ({"method": "intervals", "widths": [5, 10]}, True),
        ({"method": "intervals", "widths": [5], "domain": [0, 100]}, True),
        ({"method": "intervals", "widths": [5], "domain": [0, 900_000]}, False),
        ({"method": "mask", "levels": list(range(1, 2_000_000))}, False),
        (None, True),
    ],
)
def test_a_short_rule_for_a_long_hierarchy_is_for_a_job(
    tmp_path: Path, rule: dict[str, Any] | None, small: bool
) -> None:
    path = tmp_path / "data.parquet"
    pl.DataFrame({"age": [17, 40, 63]}).write_parquet(path)
    column = ColumnForm(name="age", kind="integer", hierarchy=rule)
    assert is_small(column, values_of(path, 0)) is small


def test_an_answer_with_a_million_groups_is_not_sent_to_the_page() -> None:
    rows = [{"n": place} for place in range(model.MOST_ROWS + 7)]
    answer = SimpleNamespace(
        as_dict=lambda: {"rows": rows, "intervals": rows}, noise_only=tuple(rows), entry=None
    )
    vault: Any = SimpleNamespace(ask=lambda query, **how: answer)
    text = model.asked(vault, QueryRequest("SELECT 1", epsilon=1.0))
    assert {len(text[name]) for name in ("rows", "intervals", "noise_only")} == {model.MOST_ROWS}
    assert text["more"] == 7


class Stranger:
    """A program with a visitor's cookie that speaks to a studio as its pages do."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._cookie = ""
        with self._send("/publish", accept="text/html") as answer:
            self._cookie = answer.headers["set-cookie"].split(";")[0]
            found = re.search(r"/_nicegui/client/([0-9a-f-]{36})/", answer.read().decode())
        assert found is not None
        self.page = found[1]

    def _send(self, path: str, body: str | None = None, **headers: str) -> Any:
        request = urllib.request.Request(
            f"{self._address}{path}",
            None if body is None else body.encode(),
            headers | {"cookie": self._cookie},
        )
        return urllib.request.urlopen(request, timeout=600)

    def _say(self, path: str, body: str | None = None) -> str:
        with self._send(path, body) as answer:
            text: str = answer.read().decode()
        return text

    def shakes_hands_for(self, page: str) -> bool:
        """Whether the toolkit lets this visitor's socket speak for a page."""
        path = "/_nicegui_ws/socket.io/?EIO=4&transport=polling"
        path += f"&sid={json.loads(self._say(path)[1:])['sid']}"
        self._say(path, "40")
        self._say(path)
        message = {"client_id": page, "tab_id": "tab", "document_id": "document"}
        self._say(path, f'420["handshake",{json.dumps(message)}]')
        return "430[true]" in self._say(path)


def test_a_socket_speaks_for_pages_of_its_own_visitor_only(address: str) -> None:
    ana, eve = Stranger(address), Stranger(address)
    assert not eve.shakes_hands_for(ana.page)
    assert ana.shakes_hands_for(ana.page)
