"""Ports for servers of the tests."""

from __future__ import annotations

import socket

import pytest


def own_port() -> int:
    """A port for a server that is about to start, or a skip where sockets are not allowed.

    One that is only found free may be given to somebody else before the server binds it. A closed
    connection rests for a minute on its port; the system gives such a port to nobody who asks for
    any, and only to who asks for this very one as servers do (SO_REUSEADDR).
    """
    try:
        with socket.socket() as listening:
            listening.bind(("127.0.0.1", 0))
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.listen(1)
            port: int = listening.getsockname()[1]
            with socket.create_connection(("127.0.0.1", port)) as caller:
                accepted, _ = listening.accept()
                accepted.close()  # who closes first rests: the server's side, on its port
                assert caller.recv(1) == b""
            return port
    except OSError as error:
        pytest.skip(f"sockets are not allowed here: {error.strerror}")
