"""What devices, the leader and the collector send to aggregators, each over a line of its own."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, HTTPSHandler, Request, build_opener

from celosia.collect.collector.access import read_token
from celosia.collect.secure.aggregation import SecureResult, combine
from celosia.collect.secure.prio3 import Report
from celosia.collect.secure.records import Role, pack_shares, split_shares, unpack_sum
from celosia.collect.secure.sealing import seal
from celosia.collect.secure.tasks import SecureTask
from celosia.core.errors import EngineError, InputError
from celosia.core.server import is_this_machine

SECONDS = 600.0
"""How long an aggregator may take to answer: it checks all reports that wait before a batch."""
PIECE = 1_000
"""Reports that are sent at once."""
KEY_HEADER = "Celosia-Verify-Key"


class _NoRedirect(HTTPRedirectHandler):
    """A token and a share go to the address that was given, and nowhere else."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class AggregatorClient:
    """A line to one aggregator.

    Args:
        address: of the aggregator, such as `https://leader.example`.
        role: what it is.
        token: the file with the token by which it knows the caller.

    Raises:
        InputError: CEL-R109 the address is not one, or others could read along, CEL-R088 the token
            cannot be read.
    """

    def __init__(self, address: str, role: Role, *, token: str | Path | None = None) -> None:
        found = urlsplit(address)
        if found.scheme not in ("http", "https") or not found.hostname:
            raise InputError("CEL-R109.address")
        if found.scheme == "http" and not is_this_machine(found.hostname):
            raise InputError("CEL-R109.plain", host=found.hostname)
        self.address = address.rstrip("/")
        self.role: Role = role
        self._headers = {"Content-Type": "application/octet-stream", "User-Agent": "celosia"}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {read_token(Path(token))}"
        context = ssl.create_default_context()
        self._opener = build_opener(_NoRedirect, HTTPSHandler(context=context))

    def upload(self, shares: bytes) -> None:
        """Send shares as `pack_shares` writes them; the same ones again change nothing."""
        self._ask("POST", "shares", shares)

    def collect(self, id: str) -> bytes:
        """Have the leader close a batch; its sum."""
        return self._ask("POST", f"batches/{id}", b"")

    def sum_of(self, id: str) -> bytes:
        """The sum of a closed batch."""
        return self._ask("GET", f"batches/{id}", None)

    def _ask(
        self, method: str, path: str, data: bytes | None, headers: Mapping[str, str] | None = None
    ) -> bytes:
        named = self._headers | dict(headers or {})
        request = Request(f"{self.address}/v1/{path}", data, named, method=method)  # noqa: S310
        try:
            with self._opener.open(request, timeout=SECONDS) as answer:
                found: bytes = answer.read()
                return found
        except HTTPError as error:
            raise EngineError("CEL-R109.refused", role=self.role, reason=_reason(error)) from None
        except (URLError, OSError):
            raise EngineError("CEL-R109.unreachable", role=self.role) from None


class RemoteHelper(AggregatorClient):
    """The helper, as the leader asks it.

    Args:
        address: of the helper.
        token: the file with the token by which the helper knows the leader.
        key_mark: of the verify key of the leader.
    """

    def __init__(self, address: str, *, token: str | Path, key_mark: str) -> None:
        super().__init__(address, "helper", token=token)
        self._key = {KEY_HEADER: key_mark}

    def decide(self, checks: bytes) -> bytes:
        """What the helper finds of reports."""
        return self._ask("POST", "checks", checks, self._key)

    def close_batch(self, id: str, nonces: bytes) -> None:
        """Have the helper add up these reports."""
        self._ask("PUT", f"batches/{id}", nonces, self._key)


def _reason(error: HTTPError) -> str:
    """What an answer tells, if it is one of ours, or its status."""
    try:
        told = json.loads(error.read(100_000))
        text = f"{told['code']}: {told['error']}"
    except (ValueError, TypeError, KeyError, OSError):
        return f"HTTP {error.code}"
    # It comes from somebody else: a line of it, and nothing that a terminal would obey.
    return "".join(each for each in text[:300] if each.isprintable()).rstrip(".")


def _both(
    leader: str, helper: str, token: str | Path | None
) -> tuple[AggregatorClient, AggregatorClient]:
    if urlsplit(leader).netloc == urlsplit(helper).netloc:
        raise InputError("CEL-R109.same_address")
    return (
        AggregatorClient(leader, "leader", token=token),
        AggregatorClient(helper, "helper", token=token),
    )


def upload(
    task: SecureTask,
    reports: Iterable[Report],
    *,
    leader: str,
    helper: str,
    token: str | Path | None = None,
    seal_keys: tuple[str | None, str | None] = (None, None),
) -> int:
    """Send each share of reports to its own aggregator; how many reports.

    If it fails, call it again with the same reports: what has arrived is not counted twice. A
    report counts when both shares have arrived.

    Args:
        task: that all share.
        reports: as `task.share` makes them.
        leader: the address of the leader, such as `https://leader.example`.
        helper: the address of the helper, who is somebody else.
        token: a file with the token of this sender, where aggregators have given out tokens.
        seal_keys: the public keys of leader and helper, where they take sealed shares only.

    Raises:
        InputError: CEL-R109 not two such addresses, CEL-R096 not public keys.
        EngineError: CEL-R109 an aggregator cannot be reached, or refuses.
    """
    listed = list(reports)
    for client, key in zip(_both(leader, helper, token), seal_keys, strict=True):
        for at in range(0, len(listed), PIECE):
            shares = pack_shares(task, client.role, listed[at : at + PIECE])
            client.upload(_sealed(task, client.role, shares, key))
    return len(listed)


def upload_shares(
    task: SecureTask,
    role: Role,
    shares: bytes,
    *,
    to: str,
    token: str | Path | None = None,
    seal_key: str | None = None,
) -> int:
    """Send the shares of a file to the aggregator of a role; in how many pieces.

    Raises:
        InputError: CEL-R096 not such shares, CEL-R109 not an address.
        EngineError: CEL-R109 the aggregator cannot be reached, or refuses.
    """
    client = AggregatorClient(to, role, token=token)
    pieces = split_shares(task, role, shares, PIECE)
    for each in pieces:
        client.upload(_sealed(task, role, each, seal_key))
    return len(pieces)


def _sealed(task: SecureTask, role: Role, shares: bytes, key: str | None) -> bytes:
    if key is None:
        return shares
    try:
        return seal(task, role, shares, bytes.fromhex(key))
    except ValueError:
        raise InputError("CEL-R096.key") from None


def collect_batch(
    task: SecureTask, id: str, *, leader: str, helper: str, token: str | Path
) -> SecureResult:
    """Have both aggregators close a batch of all reports that wait, and put their sums together.

    If it fails, call it again with the same id: it is the same batch, with the same noise.

    Args:
        task: that all share.
        id: of the batch: 32 hexadecimal digits, drawn by the collector.
        leader: the address of the leader.
        helper: the address of the helper.
        token: a file with the token by which both know the collector.

    Raises:
        InputError: CEL-R096 the sums are of different reports, CEL-R109 not two addresses.
        EngineError: CEL-R109 an aggregator cannot be reached, or refuses.
    """
    one, other = _both(leader, helper, token)
    first = unpack_sum(task, "leader", one.collect(id))
    return combine(task, first, unpack_sum(task, "helper", other.sum_of(id)))
