"""The endpoint of an aggregator: devices send it their shares, and the collector asks for sums."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import TYPE_CHECKING

from celosia.collect.collector.access import Access
from celosia.collect.collector.batches import BatchLimits
from celosia.collect.collector.metrics import prometheus_text
from celosia.collect.collector.service import Listening, run_endpoint, web_application
from celosia.collect.secure.networked import LeadingAggregator, NetworkedAggregator
from celosia.core.errors import CelosiaError, InputError
from celosia.core.methods import Parameter, checked

if TYPE_CHECKING:
    from fastapi import FastAPI

LOGGER = logging.getLogger(__name__)
EVERY = Parameter(name="every", kind="number", above=0, most=86_400, unit="seconds")
ID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True, kw_only=True)
class AggregatorAccess:
    """Who may do what with an aggregator.

    Args:
        access: the senders, the monitor, and as curator the collector, who alone sees sums.
        peer: the token by which the helper knows the leader.
    """

    access: Access
    peer: Access = field(default_factory=Access)


@dataclass(slots=True)
class AggregatorEndpoint:
    """An aggregator, and what a leader does beside, while the endpoint runs."""

    factory: Callable[[], NetworkedAggregator]
    who: AggregatorAccess
    every: float
    limits: BatchLimits = field(default_factory=BatchLimits)
    waiting_bytes: int = 256 * 2**20
    body_seconds: float = 30.0
    arriving: int = field(default=0, init=False)
    """Bytes of bodies that are being read now, of all requests together."""
    sent_away: int = field(default=0, init=False)
    taken: int = field(default=0, init=False)
    repeated: int = field(default=0, init=False)
    _aggregator: NetworkedAggregator | None = field(default=None, init=False)
    _verifying: _Verifying | None = field(default=None, init=False)

    def open(self) -> None:
        """Open the folder, if it is not open."""
        if self._aggregator is None:
            self._aggregator = self.factory()
            if isinstance(self._aggregator, LeadingAggregator):
                self._verifying = _Verifying(self._aggregator, every=self.every)
                self._verifying.start()

    def close(self) -> None:
        """End what is under way, and let go of the folder."""
        if self._verifying is not None:
            self._verifying.close()
        if self._aggregator is not None:
            self._aggregator.close()
        self._verifying = self._aggregator = None

    @property
    def aggregator(self) -> NetworkedAggregator:
        """The aggregator, which is open."""
        assert self._aggregator is not None
        return self._aggregator

    def send_away(self) -> None:
        """Note that there was no room for a request."""
        self.sent_away += 1

    def metrics(self) -> str:
        """Figures for Prometheus; they tell nothing of senders or of what reports say."""
        counters = {
            "shares_taken_total": self.taken,
            "shares_repeated_total": self.repeated,
            "shares_expired_total": self.aggregator.expired,
            "requests_sent_away_total": self.sent_away,
        }
        gauges = {"shares_waiting": self.aggregator.waiting, "bytes_arriving": self.arriving}
        return prometheus_text(counters, gauges)


class _Verifying:
    """A thread of the leader that checks what waits, so that a batch is closed in short time."""

    def __init__(self, leader: LeadingAggregator, *, every: float) -> None:
        self._leader = leader
        self._every = float(checked("aggregator", EVERY, every))
        self._ended = Event()
        self._thread = Thread(target=self._run, name="celosia-leader", daemon=True)
        self.start = self._thread.start

    def close(self) -> None:
        """End, after the reports that are being checked."""
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ended.wait(self._every):
            try:
                self._leader.verify(self._ended.is_set)
            except CelosiaError as error:
                LOGGER.warning("reports were not checked: %s", error.code)


def create_aggregator_app(
    aggregator: Callable[[], NetworkedAggregator],
    *,
    who: AggregatorAccess,
    limits: BatchLimits | None = None,
    every: float = 60,
    origins: Sequence[str] = (),
) -> FastAPI:
    """The endpoint over an aggregator.

    Args:
        aggregator: opens it when the app starts.
        who: may do what.
        limits: of one request.
        every: seconds between two times that a leader checks what waits.
        origins: the sites whose pages may send from a browser.

    Raises:
        InputError: CEL-R083 the extra is missing.
    """
    endpoint = AggregatorEndpoint(aggregator, who, every, limits or BatchLimits())

    def routes() -> object:
        from celosia.collect.secure.routes import router

        return router

    return web_application(
        endpoint, routes, title="Celosía: aggregate", summary="Send shares.", origins=origins
    )


def serve_aggregator(
    aggregator: Callable[[], NetworkedAggregator],
    *,
    who: AggregatorAccess,
    listen: Listening | None = None,
    limits: BatchLimits | None = None,
    every: float = 60,
    origins: Sequence[str] = (),
    ready: Callable[[], object] = lambda: None,
) -> None:
    """Run an aggregator until it is stopped (Ctrl-C, or SIGTERM).

    Args:
        aggregator: opens it.
        who: may do what.
        listen: where to listen.
        limits: of one request.
        every: seconds between two times that a leader checks what waits.
        origins: the sites whose pages may send from a browser.
        ready: called once, as soon as shares are taken.

    Raises:
        EngineError: CEL-R074 another process has the folder, CEL-R089 the port cannot be had.
    """
    app = create_aggregator_app(aggregator, who=who, limits=limits, every=every, origins=origins)
    run_endpoint(app, listen=listen or Listening(), ready=ready)


def check_id(id: str) -> str:
    """The id of a batch.

    Raises:
        InputError: CEL-R109 it is not 32 hexadecimal digits.
    """
    if not ID.fullmatch(id):
        raise InputError("CEL-R109.id")
    return id
