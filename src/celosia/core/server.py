"""Run a web application at an address: first the port, then the work, then the word that it is up.

A user opens an address at once, so it is printed only when connections are answered; and
a port that another program has is noticed before anything else is begun.
"""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from celosia.core.errors import EngineError
from celosia.core.messages import Message, language, speaking

WAITING = 2048
"""Connections that may wait for the application, as many as the web server takes itself."""


@contextmanager
def listening(host: str, port: int, *, code: str) -> Iterator[list[socket.socket]]:
    """Sockets that listen at every address of a host; they are closed at the end.

    Args:
        host: a name or an address of this machine.
        port: of it.
        code: of the error where that cannot be; the variant of its message is `port`.

    Raises:
        EngineError: the port is taken or needs more rights, or the host is not of this machine.
    """
    with ExitStack() as closing:
        try:
            found = [closing.enter_context(each) for each in _sockets(host, port)]
        except OSError as error:
            raise _cannot_listen(error, host, port, code) from None
        yield found


def _sockets(host: str, port: int) -> Iterator[socket.socket]:
    """One socket for each address of a host that this machine really has."""
    lacking: OSError | None = None
    some = False
    known = socket.getaddrinfo(
        host.strip("[]") or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )
    for family, kind, protocol, _name, address in dict.fromkeys(known):
        made = None
        try:
            made = socket.socket(family, kind, protocol)
            # A port where a server has just ended is free; one where a server runs never is,
            # because it listens from here on.
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            made.bind(address)
            made.listen(WAITING)
            made.setblocking(False)
        except OSError as error:
            if made is not None:
                made.close()
            if error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                raise
            lacking = error  # such as IPv6, which the name of a machine may have and it has not
            continue
        some = True
        yield made
    if lacking is not None and not some:
        raise lacking


def _cannot_listen(error: OSError, host: str, port: int, code: str) -> EngineError:
    if error.errno == errno.EADDRINUSE:
        reason, remedy = Message("general.port.taken"), Message("general.port.end_other")
    elif error.errno == errno.EACCES:
        reason, remedy = Message("general.port.forbidden"), Message("general.port.higher")
    else:
        reason, remedy = Message("general.port.foreign_host"), Message("general.port.other_host")
    return EngineError(f"{code}.port", reason=reason, remedy=remedy, host=host, port=port)


def run_server(
    app: Any,
    sockets: list[socket.socket],
    *,
    ready: Callable[[], object],
    code: str,
    **options: Any,
) -> None:
    """Run an application until it is stopped (Ctrl-C, or SIGTERM).

    Args:
        app: the application (ASGI).
        sockets: where it listens.
        ready: called once, as soon as connections are answered.
        code: of the error if it does not begin; the variant of its message is `start`.
        options: of the web server (uvicorn).

    Raises:
        EngineError: the application did not begin.
    """
    import uvicorn

    class Server(uvicorn.Server):
        """Says when it is ready."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets=sockets)
            if self.started and not self.should_exit:
                with speaking(spoken):
                    ready()

    spoken = language.get()
    server = Server(uvicorn.Config(app, **options))
    # An interrupt is raised again after the server has ended as it should; it exits the program
    # where the application does not start, and has logged why.
    # Visitors choose the language of what they are shown, not the command that serves them.
    with suppress(KeyboardInterrupt, SystemExit), speaking(None):
        server.run(sockets=sockets)
    if not server.started:
        raise EngineError(f"{code}.start")
