"""The gate: hosts, origins, passwords, sizes, cookies and headers."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from celosia.studio import guard, login_attempts
from celosia.studio.classroom.model import Classrooms
from celosia.studio.guard import Guard
from celosia.studio.settings import Settings
from celosia.studio.visitors import Visitors

with warnings.catch_warnings():  # it would rather have the next httpx, which is not ours to choose
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

PAGE = {"accept": "text/html"}
SECRET = "correct horse battery"
CLASSES = Classrooms()


async def whoami(request: Request) -> Response:
    visitor = request.scope[guard.SCOPE]
    return PlainTextResponse("" if visitor is None else visitor.folder.name)


async def student(request: Request) -> Response:
    return PlainTextResponse(str(request.scope[guard.STUDENT]))


async def measure(request: Request) -> Response:
    return PlainTextResponse(str(len(await request.body())))


async def socket(opened: WebSocket) -> None:
    await opened.accept()
    await opened.close()


def client(tmp_path: Path, settings: Settings, **more: Any) -> TestClient:
    """A browser before a small application behind the gate."""
    inner = Starlette(
        routes=[
            Route("/", whoami),
            Route("/student", student),
            Route("/measure", measure, methods=["POST"]),
            Route("/upload/1", measure, methods=["POST"]),
            WebSocketRoute("/socket", socket),
        ]
    )
    studio: Any = SimpleNamespace(
        settings=settings, visitors=Visitors(tmp_path, idle=100), classrooms=CLASSES
    )
    inner.add_middleware(Guard, studio=studio)
    return TestClient(inner, base_url="http://127.0.0.1:8080", **more)


@pytest.fixture
def here(tmp_path: Path) -> Iterator[TestClient]:
    """A studio for this machine only."""
    with client(tmp_path, Settings(most_upload=5000, most_area=20_000)) as found:
        yield found


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[TestClient]:
    """A studio of a classroom."""
    settings = Settings(host="0.0.0.0", passwords=(SECRET, "token-of-a-student"))
    with client(tmp_path, settings, follow_redirects=False) as found:
        yield found


def test_a_visitor_gets_a_cookie_that_no_script_reads_and_keeps_her_area(here: TestClient) -> None:
    first = here.get("/", headers=PAGE)
    cookie = first.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert here.get("/", headers=PAGE).text == first.text
    assert "set-cookie" not in here.get("/", headers=PAGE).headers


def test_files_of_the_page_make_no_visitor(here: TestClient) -> None:
    assert here.get("/").text == ""


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "8.8.8.8"])
def test_another_name_for_this_machine_is_refused(here: TestClient, host: str) -> None:
    assert here.get("/", headers={"host": host}).status_code == 421


@pytest.mark.parametrize("host", ["localhost:8080", "127.0.0.1", "[::1]:8080"])
def test_the_names_of_this_machine_are_known(here: TestClient, host: str) -> None:
    assert here.get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:9999"])
def test_another_page_cannot_send_anything(here: TestClient, origin: str) -> None:
    assert here.post("/measure", headers={"origin": origin}).status_code == 403
    with (
        pytest.raises(WebSocketDisconnect),
        here.websocket_connect("/socket", headers={"origin": origin}),
    ):
        pass


def test_our_own_page_can(here: TestClient) -> None:
    ours = {"origin": "http://127.0.0.1:8080"}
    assert here.post("/measure", content=b"abc", headers=ours).text == "3"
    with here.websocket_connect("/socket", headers=ours | {"host": "127.0.0.1:8080"}):
        pass


def test_an_upload_that_is_too_large_is_refused_before_it_is_read(here: TestClient) -> None:
    here.get("/", headers=PAGE)
    assert here.post("/upload/1", content=b"x" * 5000).text == "5000"
    assert here.post("/upload/1", content=b"x" * 20_000).status_code == 413


def test_nobody_brings_a_file_without_a_page(here: TestClient) -> None:
    assert here.post("/upload/1", content=b"x").status_code == 403


def test_a_body_that_lies_about_its_length_is_cut_off(here: TestClient) -> None:
    def endless() -> Iterator[bytes]:
        for _ in range(100):
            yield b"x" * 10_000

    here.get("/", headers=PAGE)
    with pytest.raises(ClientDisconnect):  # what the application sees
        here.post("/upload/1", content=endless())


def test_all_files_of_a_visitor_together_have_a_limit(here: TestClient, tmp_path: Path) -> None:
    folder = tmp_path / here.get("/", headers=PAGE).text / "01234567890"
    folder.mkdir(parents=True)
    (folder / "data.csv").write_bytes(b"x" * 18_000)
    assert here.post("/upload/1", content=b"x" * 4000).status_code == 413


def test_every_answer_forbids_what_a_page_does_not_need(here: TestClient) -> None:
    for answer in (here.get("/"), here.get("/missing"), here.get("/", headers={"host": "evil"})):
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "same-origin"  # forms need it, no site does


def test_a_stranger_sees_nothing_but_the_entrance(shared: TestClient) -> None:
    answer = shared.get("/", headers=PAGE)
    assert answer.status_code == 401
    assert 'type="password"' in answer.text
    assert shared.post("/measure", content=b"x").status_code == 401
    with pytest.raises(WebSocketDisconnect), shared.websocket_connect("/socket"):
        pass


def test_the_entrance_speaks_spanish(shared: TestClient) -> None:
    answer = shared.get("/", headers=PAGE | {"accept-language": "es"})
    assert 'lang="es"' in answer.text
    assert "Contraseña" in answer.text


@pytest.mark.parametrize("secret", [SECRET, "token-of-a-student"])
def test_who_knows_a_secret_comes_in(shared: TestClient, secret: str) -> None:
    answer = shared.post("/enter", data={"password": secret})
    assert answer.status_code == 303
    assert shared.get("/", headers=PAGE).status_code == 200
    assert secret not in answer.headers["set-cookie"]


def test_a_link_with_the_token_is_enough(shared: TestClient) -> None:
    assert shared.get(f"/?token={SECRET}").status_code == 303
    assert shared.get("/", headers=PAGE).status_code == 200


def test_a_wrong_password_is_told_and_many_of_one_address_lock_nobody_out(
    shared: TestClient,
) -> None:
    for _ in range(login_attempts.ADDRESS.free + 1):
        assert shared.post("/enter", data={"password": "guess"}).status_code == 401
        shared.cookies.clear()  # each from another browser, of one address
    assert shared.post("/enter", data={"password": SECRET}).status_code == 303
    assert shared.get("/", headers=PAGE).status_code == 200


def test_the_entrance_marks_a_browser_by_a_cookie_that_cannot_be_made_up(
    shared: TestClient,
) -> None:
    first = shared.get("/", headers=PAGE).headers["set-cookie"]
    assert first.startswith(f"{guard.BROWSER}=")
    assert "HttpOnly" in first
    assert "SameSite=Lax" in first
    assert "set-cookie" not in shared.get("/", headers=PAGE).headers
    for made_up in ("", "made-up", "made.up", shared.cookies[guard.BROWSER] + "x"):
        shared.cookies.set(guard.BROWSER, made_up, domain="127.0.0.1", path="/")
        again = shared.get("/", headers=PAGE)
        assert again.headers["set-cookie"].startswith(f"{guard.BROWSER}=")
        shared.cookies.clear()


def test_an_attempt_that_finds_no_room_is_told_that_it_was_not_checked(
    shared: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def no_room(*_: object) -> str:
        return "late"

    monkeypatch.setattr(login_attempts.LoginAttempts, "check", no_room)
    answer = shared.post("/enter", data={"password": SECRET})
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "5")
    assert "was not checked" in answer.text


def test_a_made_up_cookie_opens_nothing(shared: TestClient) -> None:
    shared.cookies.set(guard.ENTRY, "made-up")
    assert shared.get("/", headers=PAGE).status_code == 401


def test_who_leaves_takes_her_work_along_and_needs_the_password_again(
    shared: TestClient, tmp_path: Path
) -> None:
    shared.post("/enter", data={"password": SECRET})
    folder = tmp_path / shared.get("/", headers=PAGE).text
    (folder / "01234567890").mkdir(parents=True)
    (folder / "01234567890" / "data.csv").write_text("age\n41\n")
    before = dict(shared.cookies)
    assert set(before) == {guard.ENTRY, guard.VISITOR}
    answer = shared.post("/leave")
    assert (answer.status_code, answer.headers["location"]) == (303, guard.LEFT)
    assert list(tmp_path.iterdir()) == []
    assert dict(shared.cookies) == {}
    entrance = shared.get(guard.LEFT, headers=PAGE)
    assert entrance.status_code == 401
    assert "You have left" in entrance.text
    for name, value in before.items():  # a browser that kept them
        shared.cookies.set(name, value)
    assert shared.get("/", headers=PAGE).status_code == 401
    shared.cookies.delete(guard.ENTRY)
    shared.post("/enter", data={"password": SECRET})
    assert shared.get("/", headers=PAGE).text != folder.name


def test_nobody_leaves_by_a_link_or_by_another_page(shared: TestClient) -> None:
    shared.post("/enter", data={"password": SECRET})
    name = shared.get("/", headers=PAGE).text
    assert shared.get("/leave", headers=PAGE).status_code == 404
    assert shared.post("/leave", headers={"origin": "http://evil.example"}).status_code == 403
    assert shared.post("/leave", headers={"sec-fetch-site": "cross-site"}).status_code == 403
    assert shared.get("/", headers=PAGE).text == name


def test_a_studio_that_asks_nobody_has_no_way_out(here: TestClient) -> None:
    name = here.get("/", headers=PAGE).text
    assert here.post("/leave").status_code == 404
    assert here.get("/", headers=PAGE).text == name


def test_a_class_code_lets_in_until_the_class_ends_and_is_no_password(shared: TestClient) -> None:
    room = CLASSES.start("A", named=False, owner="guard")
    join = f"{guard.JOIN}{room.code}"
    assert shared.get(f"{guard.JOIN}ABCDEFGH", headers=PAGE).status_code == 401
    first = shared.get(join, headers=PAGE, follow_redirects=False)
    assert (first.status_code, first.headers["location"]) == (303, join)
    assert shared.get("/student", headers=PAGE).text == "True"
    CLASSES.end(room)
    assert shared.get("/", headers=PAGE).status_code == 401
    assert shared.get(join, headers=PAGE).status_code == 401
    entered = shared.post("/enter", data={"password": SECRET}, headers=PAGE)
    assert entered.status_code == 303
    assert shared.get("/student", headers=PAGE).text == "False"
