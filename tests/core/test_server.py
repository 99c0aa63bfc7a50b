"""A web application says that it is up when it is, and a taken port is noticed first."""

from __future__ import annotations

import os
import signal
import socket
import time
from threading import Thread
from typing import Any
from urllib.request import urlopen

import pytest
from tests.ports import own_port

from celosia.core.errors import EngineError
from celosia.core.server import listening, run_server

pytest.importorskip("uvicorn", reason="the extra celosia[service] is not installed")


async def application(scope: Any, receive: Any, send: Any) -> None:
    """Answers everything with a word."""
    if scope["type"] == "lifespan":
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"here"})


async def unable(scope: Any, receive: Any, send: Any) -> None:
    """Does not start."""
    await receive()
    await send({"type": "lifespan.startup.failed", "message": "it cannot"})


def test_whoever_is_told_is_answered_at_once_and_the_end_is_quiet() -> None:
    port = own_port()
    answers: list[bytes] = []

    def ask() -> None:
        try:
            with urlopen(f"http://127.0.0.1:{port}/", timeout=600) as page:
                answers.append(page.read())
        finally:
            os.kill(os.getpid(), signal.SIGINT)

    with listening("127.0.0.1", port, code="CEL-W032") as sockets:
        ready = Thread(target=ask)
        run_server(application, sockets, ready=ready.start, code="X", log_level="critical")
        ready.join()
    assert answers == [b"here"]


@pytest.mark.parametrize("web", [("httptools", "uvloop"), ("h11", "asyncio")], ids=str)
def test_connected_clients_are_answered_before_a_server_starts_again(web: tuple[str, str]) -> None:
    for module in web:
        if module != "asyncio":
            pytest.importorskip(module)
    port = own_port()
    answers: dict[str, bytes] = {}

    def connect() -> socket.socket:
        return socket.create_connection(("127.0.0.1", port), timeout=60)

    def ask(made: socket.socket) -> bytes:
        made.sendall(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
        found = b""
        while not found.endswith((b"here", b"0\r\n\r\n")):
            found += made.recv(10_000) or b"cut off: here"
        return found.lower()

    def visit() -> None:
        silent, kept, slow = connect(), connect(), connect()
        try:
            answers["first"] = ask(kept)
            slow.sendall(b"GET / HTTP/1.1\r\n")
            time.sleep(0.1)
            os.kill(os.getpid(), signal.SIGHUP)
            os.kill(os.getpid(), signal.SIGHUP)
            time.sleep(0.3)  # long after the server has heard of it
            with connect() as new:
                answers["new"] = ask(new)
            answers["silent"] = ask(silent)
            answers["kept"] = ask(kept)
            slow.sendall(b"Host: here\r\n\r\n")
            answers["slow"] = slow.recv(10_000).lower()
        finally:
            for each in (silent, kept, slow):
                each.close()

    before = signal.getsignal(signal.SIGHUP)
    with listening("127.0.0.1", port, code="CEL-W032") as sockets:
        visitor = Thread(target=visit)
        again = run_server(
            application,
            sockets,
            ready=visitor.start,
            code="X",
            restarts=True,
            log_level="critical",
            http=web[0],
            loop=web[1],
        )
        os.kill(os.getpid(), signal.SIGHUP)  # before the program that follows has its place
        visitor.join()
        with connect(), sockets[0].accept()[0]:
            pass  # who comes now waits for the program that follows
    signal.signal(signal.SIGHUP, before)
    assert again
    assert b"connection: close" not in answers.pop("first")
    assert sorted(answers) == ["kept", "new", "silent", "slow"]
    assert all(each.startswith(b"http/1.1 200") for each in answers.values())
    assert all(b"connection: close" in each for each in answers.values())


def test_an_end_that_is_asked_for_while_it_starts_again_is_an_end() -> None:
    port = own_port()
    made: list[socket.socket] = []

    def visit() -> None:
        made.append(socket.create_connection(("127.0.0.1", port), timeout=600))
        time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGHUP)
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGINT)

    with listening("127.0.0.1", port, code="CEL-W032") as sockets:
        visitor = Thread(target=visit)
        assert not run_server(
            application,
            sockets,
            ready=visitor.start,
            code="X",
            restarts=True,
            log_level="critical",
        )
        visitor.join()
    made[0].close()


def test_what_does_not_start_is_not_said_to_be_ready() -> None:
    called: list[bool] = []
    with (
        listening("127.0.0.1", own_port(), code="CEL-W032") as sockets,
        pytest.raises(EngineError) as failed,
    ):
        run_server(
            unable,
            sockets,
            ready=lambda: called.append(True),
            code="CEL-W032",
            log_level="critical",
        )
    assert failed.value.code == "CEL-W032"
    assert called == []


def test_a_port_is_had_by_one_from_the_beginning() -> None:
    port = own_port()
    with listening("localhost", port, code="CEL-W032") as sockets:
        assert sockets
        with (
            pytest.raises(EngineError) as refused,
            listening("localhost", port, code="CEL-W032"),
        ):
            pass
    assert refused.value.code == "CEL-W032"
    assert refused.value.why == "Another program uses the port."
    assert "--port" in str(refused.value.fix)
    with listening("127.0.0.1", port, code="CEL-W032"):
        pass  # given back


def test_a_host_of_another_machine_is_told() -> None:
    with (
        pytest.raises(EngineError) as refused,
        listening("192.0.2.1", own_port(), code="CEL-Q208"),
    ):
        pass
    assert "not an address of this machine" in str(refused.value.why)
