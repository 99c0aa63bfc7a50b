"""A web application says that it is up when it is, and a taken port is noticed first."""

from __future__ import annotations

import os
import signal
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
