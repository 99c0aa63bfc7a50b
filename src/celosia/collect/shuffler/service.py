"""The endpoint of a shuffler: devices send to it as to a collector, and it sends on to one."""

from __future__ import annotations

import logging
import ssl
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from threading import Event, Thread
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from celosia.collect.collector.access import Access, read_token
from celosia.collect.collector.batches import BatchLimits
from celosia.collect.collector.service import Listening, create_app, run_endpoint
from celosia.collect.registry import load_protocol
from celosia.collect.shuffler.shuffler import Send, Shuffler
from celosia.core.errors import CelosiaError, EngineError, InputError
from celosia.core.methods import Parameter, checked

LOGGER = logging.getLogger(__name__)
EVERY = Parameter(name="every", kind="number", above=0, most=30 * 86_400, unit="seconds")
SECONDS = 30.0
"""How long the collector may take to answer."""


def http_sender(to: str, *, token: str | Path | None = None) -> Send:
    """What sends batches to the endpoint of a collector.

    Args:
        to: the address of the collector, such as `https://collector.example`.
        token: the file with the token by which the collector knows this shuffler.

    Raises:
        InputError: CEL-R095 not such an address, CEL-R088 the token cannot be read.
    """
    found = urlsplit(to)
    if found.scheme not in ("http", "https") or not found.netloc:
        raise InputError("CEL-R095.address")
    headers = {"Content-Type": "application/octet-stream", "User-Agent": "celosia"}
    if token is not None:
        headers["Authorization"] = f"Bearer {read_token(Path(token))}"
    context = ssl.create_default_context() if found.scheme == "https" else None
    address = f"{to.rstrip('/')}/v1/reports"

    def send(data: bytes, id: str) -> None:
        named = headers | {"Idempotency-Key": id}
        request = Request(address, data, named, method="POST")  # noqa: S310 - checked above
        try:
            with urlopen(request, timeout=SECONDS, context=context) as answer:  # noqa: S310
                answer.read()
        except HTTPError as error:
            raise EngineError("CEL-R095.refused", status=error.code) from None
        except (URLError, OSError):
            raise EngineError("CEL-R095.unreachable") from None

    return send


class Forwarding:
    """A thread that lets reports go at fixed times, and sends on what is ready."""

    def __init__(self, shuffler: Callable[[], Shuffler], send: Send, *, every: float) -> None:
        self._shuffler = shuffler
        self._send = send
        self._every = float(checked("shuffle", EVERY, every))
        self._ended = Event()
        self._thread = Thread(target=self._run, name="celosia-shuffler", daemon=True)

    def start(self) -> None:
        """Begin; what was ready before is sent at once."""
        self._thread.start()

    def close(self) -> None:
        """End, after what is being sent."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()

    def step(self, *, is_due: bool) -> None:
        """Release, if it is time, and send; what fails is tried again the next time."""
        try:
            if is_due:
                self._shuffler().release()
            self._shuffler().forward(self._send)
        except CelosiaError as error:
            LOGGER.warning("reports were not sent on: %s", error.code)

    def _run(self) -> None:
        self.step(is_due=False)
        while not self._ended.wait(self._every):
            self.step(is_due=True)


def serve_shuffler(
    protocol: str | Path,
    *,
    folder: str | Path,
    send: Send,
    least: int,
    every: float,
    listen: Listening | None = None,
    access: Access | None = None,
    limits: BatchLimits | None = None,
    origins: Sequence[str] = (),
    ready: Callable[[], object] = lambda: None,
) -> None:
    """Run a shuffler until it is stopped (Ctrl-C, or SIGTERM).

    Args:
        protocol: the protocol file.
        folder: of the shuffler.
        send: gives batches to the collector, such as `http_sender`.
        least: the fewest reports that leave together.
        every: seconds between two releases: how long a report may wait, if there are enough.
        listen: where to listen.
        access: who may send.
        limits: of batches and sources.
        origins: the sites whose pages may send from a browser.
        ready: called once, as soon as reports are taken.

    Raises:
        InputError: CEL-I060 a threshold or a time that makes no sense.
        EngineError: CEL-R074 another process has the folder, CEL-R089 the port cannot be had.
    """
    listen = listen or Listening()
    opened = partial(Shuffler.open, folder, load_protocol(protocol), least=least, limits=limits)
    app = create_app(opened, access=access, origins=origins)
    endpoint = app.state.endpoint

    def shuffler() -> Shuffler:
        store = endpoint.store
        assert isinstance(store, Shuffler)
        return store

    forwarding = Forwarding(shuffler, send, every=every)
    endpoint.before_close = forwarding.close

    def begin() -> None:
        forwarding.start()
        ready()

    run_endpoint(app, listen=listen, ready=begin)
