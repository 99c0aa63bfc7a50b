"""Run a web application at an address: first the port, then the work, then the word that it is up.

A user opens an address at once, so it is printed only when connections are answered; and
a port that another program has is noticed before anything else is begun.

A server may be restarted without a connection being refused: it hands its listening sockets to the
program that takes its place, and the system keeps those who connect meanwhile waiting. The sockets
are handed over as systemd does it (`LISTEN_FDS`), so systemd may hold them as well. Clients that
are connected already are answered first. Otherwise a connection that the web server has accepted,
but that has sent nothing yet, would be reset, and so would a connection that is kept alive while
its next request is under way.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any
from weakref import WeakSet

from celosia.core.errors import EngineError
from celosia.core.messages import Message, language, speaking

WAITING = 2048
"""Connections that may wait for the application, as many as the web server takes itself."""
LAST_REQUEST = 10.0
"""Seconds that a connection has for a last request before the server starts again."""


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
            given = _handed_over()
            found = [closing.enter_context(each) for each in given or _sockets(host, port)]
        except OSError as error:
            raise _cannot_listen(error, host, port, code) from None
        yield found


FIRST_HANDED_OVER = 3
"""The number of the first socket that is handed over, as systemd has it."""


def _handed_over() -> list[socket.socket]:
    """The sockets that this process was given, if it was."""
    if os.environ.get("LISTEN_PID") != str(os.getpid()):
        return []
    count = int(os.environ.pop("LISTEN_FDS", "0"))
    os.environ.pop("LISTEN_PID")
    found = [socket.socket(fileno=FIRST_HANDED_OVER + each) for each in range(count)]
    for each in found:
        each.set_inheritable(False)
        each.setblocking(False)
    return found


def start_again(sockets: list[socket.socket]) -> None:
    """Put the same command in the place of this process, with the sockets it listens on."""
    # Above all of them first, so that none is overwritten before it is copied.
    above = max(each.fileno() for each in sockets) + FIRST_HANDED_OVER + len(sockets)
    copies = [os.dup2(each.fileno(), above + at) for at, each in enumerate(sockets)]
    for at, copy in enumerate(copies):
        os.dup2(copy, FIRST_HANDED_OVER + at)
        os.close(copy)
    _hold_hang_ups()
    environment = os.environ | {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": str(len(sockets))}
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment)  # noqa: S606


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


def _hold_hang_ups() -> None:
    """Keep a SIGHUP for the program that takes the place of this one: it would end it otherwise."""
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, _nothing)  # one that is ignored would not be kept
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGHUP])


def _nothing(*_: object) -> None:
    """Take no notice of a signal."""


@contextmanager
def _on_hang_up(call: Callable[..., None], kept: Callable[[], bool]) -> Iterator[None]:
    """Call a function at SIGHUP, where there is such a signal and this thread may take it.

    Where a server starts again (`kept`), a second SIGHUP does nothing: it must not end the server.
    """
    if not hasattr(signal, "SIGHUP") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGHUP, call)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGHUP])  # see `_hold_hang_ups`
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, _nothing if kept() else before)


def run_server(
    app: Any,
    sockets: list[socket.socket],
    *,
    ready: Callable[[], object],
    code: str,
    restarts: bool = False,
    **options: Any,
) -> bool:
    """Run an application until it is stopped (Ctrl-C, or SIGTERM).

    Whether it was asked to start again (SIGHUP) is returned; see `start_again`.

    Args:
        app: the application (ASGI).
        sockets: where it listens.
        ready: called once, as soon as connections are answered.
        code: of the error if it does not begin; the variant of its message is `start`.
        restarts: whether SIGHUP starts it again; who is connected is answered first.
        options: of the web server (uvicorn).

    Raises:
        EngineError: the application did not begin.
    """
    import uvicorn

    again = False

    class Server(uvicorn.Server):
        """Says when it is ready, and answers all who are connected before it starts again."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            protocol: Any = self.config.http_protocol_class
            self.opened: WeakSet[Any] = WeakSet()

            def open_connection(**named: Any) -> Any:
                made = protocol(**named)
                self.opened.add(made)  # known from here on, and not only after a TLS handshake
                return made

            chosen: Any = self.config
            chosen.http_protocol_class = open_connection
            await super().startup(sockets=sockets)
            if self.started and not self.should_exit:
                with speaking(spoken):
                    ready()

        def handle_exit(self, sig: int, frame: Any) -> None:
            nonlocal again
            again = False  # an end that is asked for while it starts again is an end
            super().handle_exit(sig, frame)

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            if restarts and again:
                await self.answer_connected()
            await super().shutdown(sockets=sockets)

        async def answer_connected(self) -> None:
            """Tell every connection that its next answer is its last one, and wait for that.

            New connections are answered too while those that are there come to their end, which
            may take until the time of keeping them alive is over. Only then the system keeps new
            ones waiting for the program that follows.
            """
            state = self.server_state
            state.default_headers = [*state.default_headers, (b"connection", b"close")]
            for each in list(state.connections):
                cycle = getattr(each, "cycle", None)
                if cycle is not None and not cycle.response_started:
                    each.shutdown()  # its answer tells that the connection ends
            await self.wait_for(WeakSet(self.opened))
            for server in self.servers:
                server.close()
            await asyncio.sleep(0.1)  # what the loop has taken by now is opened meanwhile
            await self.wait_for(WeakSet(self.opened))

        async def wait_for(self, connections: WeakSet[Any]) -> None:
            """Wait until connections are closed, or have had their time for a last request."""
            end = asyncio.get_running_loop().time() + LAST_REQUEST
            while again and asyncio.get_running_loop().time() < end:
                current = self.server_state.connections
                if not any(each.transport is None or each in current for each in connections):
                    return
                await asyncio.sleep(0.02)

    spoken = language.get()
    server = Server(uvicorn.Config(app, **options))

    def hang_up(*_: object) -> None:
        nonlocal again
        again = server.should_exit = True

    own = [each.dup() for each in sockets]  # the server closes its own, if it starts
    # An interrupt is raised again after the server has ended as it should; it exits the program
    # where the application does not start, and has logged why.
    # Visitors choose the language of what they are shown, not the command that serves them.
    with (
        suppress(KeyboardInterrupt, SystemExit),
        speaking(None),
        _on_hang_up(hang_up, lambda: restarts and again),
        ExitStack() as closing,
    ):
        for each in own:
            closing.enter_context(each)
        server.run(sockets=own)
    if not server.started:
        raise EngineError(f"{code}.start")
    return again


def is_this_machine(host: str) -> bool:
    """Whether only this machine can reach a host.

    >>> [is_this_machine(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "db.org")]
    [True, True, True, False, False]
    """
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"
