"""A shuffler sends on all reports once, in a random order, and nothing else of who sent them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from tests.collect.small_protocol import PROTOCOL, batch, name, state_of

from celosia.collect.collector.batches import BatchLimits
from celosia.collect.collector.collector import Collector
from celosia.collect.reports import Reports
from celosia.collect.shuffler.shuffler import Shuffler
from celosia.core.errors import InputError
from celosia.core.randomness import Seeded


class Collecting:
    """A collector behind a line that fails when told to, before or after a batch has arrived."""

    def __init__(self, folder: Path) -> None:
        self.collector = Collector.open(folder, PROTOCOL)
        self.seen: list[tuple[str, bytes]] = []
        self.fails = ""

    def __call__(self, data: bytes, id: str) -> None:
        if self.fails == "before":
            raise ConnectionError
        self.seen.append((id, data))
        self.collector.absorb(data, id=id)
        if self.fails == "after":
            raise ConnectionError


def rows(data: bytes) -> list[bytes]:
    return [each.tobytes() for each in Reports.from_bytes(data).packed]


def test_fewer_reports_than_the_threshold_never_leave(tmp_path: Path) -> None:
    send = Collecting(tmp_path / "state")
    with Shuffler.open(tmp_path / "pool", PROTOCOL, least=81) as shuffler:
        for number in (1, 2):
            assert shuffler.absorb(batch(number), id=name(number)).counted
        assert not shuffler.absorb(batch(2), id=name(2)).counted  # sent again
        assert (shuffler.waiting, shuffler.release(), shuffler.forward(send)) == (80, 0, 0)
        shuffler.absorb(batch(3), id=name(3))
        assert (shuffler.release(), shuffler.forward(send), shuffler.waiting) == (120, 120, 0)
        assert shuffler.release() == 0
    assert send.collector.state() == state_of([1, 2, 3])
    send.collector.close()


def test_what_leaves_has_new_ids_a_new_order_and_the_same_reports(tmp_path: Path) -> None:
    sent = [batch(number) for number in range(25)]
    orders = []
    for seed in (1, 2):
        send = Collecting(tmp_path / f"state-{seed}")
        folder = tmp_path / f"pool-{seed}"
        with Shuffler.open(folder, PROTOCOL, least=2, rng=Seeded(seed)) as shuffler:
            for number, data in enumerate(sent):
                shuffler.absorb(data, id=name(number), source="relay")
            shuffler.release()
            shuffler.forward(send)
        send.collector.close()
        ((id, data),) = send.seen
        assert id not in {name(number) for number in range(25)}
        before = [each for data in sent for each in rows(data)]
        assert Counter(rows(data)) == Counter(before)
        assert rows(data) != before
        orders.append(rows(data))
        held = (folder / "collector.sqlite").read_bytes()
        assert name(3).encode() not in held
    assert orders[0] != orders[1]


def test_a_line_that_fails_loses_nothing_and_counts_nothing_twice(tmp_path: Path) -> None:
    send = Collecting(tmp_path / "state")
    pool = tmp_path / "pool"
    with Shuffler.open(pool, PROTOCOL, least=40) as shuffler:
        shuffler.absorb(batch(1), id=name(1))
        shuffler.absorb(batch(2), id=name(2))
    for fails in ("before", "after"):  # each time the shuffler ends, too
        send.fails = fails
        with Shuffler.open(pool, PROTOCOL, least=40) as shuffler:
            shuffler.release()
            with pytest.raises(ConnectionError):
                shuffler.forward(send)
    send.fails = ""
    with Shuffler.open(pool, PROTOCOL, least=40) as shuffler:
        assert shuffler.waiting == 0
        assert shuffler.forward(send) == 80
        assert not shuffler.absorb(batch(1), id=name(1)).counted
    assert len(send.seen) == 2
    assert send.collector.state() == state_of([1, 2])
    send.collector.close()


def test_many_reports_leave_in_pieces_that_the_collector_takes(tmp_path: Path) -> None:
    send = Collecting(tmp_path / "state")
    limits = BatchLimits(batch_bytes=24 + 40)
    with Shuffler.open(tmp_path / "pool", PROTOCOL, least=40, limits=limits) as shuffler:
        for number in range(4):
            shuffler.absorb(batch(number), id=name(number))
        assert (shuffler.release(), shuffler.forward(send)) == (160, 160)
    assert len(send.seen) == 4
    assert send.collector.state() == state_of(range(4))
    send.collector.close()


def test_what_no_client_can_have_made_is_refused_before_it_spoils_the_others(
    tmp_path: Path,
) -> None:
    bad = Reports(PROTOCOL.fingerprint, np.full((1, 1), 255, dtype=np.uint8)).to_bytes()
    with Shuffler.open(tmp_path / "pool", PROTOCOL, least=2) as shuffler:
        shuffler.absorb(batch(1), id=name(1))
        with pytest.raises(InputError) as caught:
            shuffler.absorb(bad, id=name(2))
        assert caught.value.code == "CEL-R001"
        assert shuffler.waiting == 40
    with pytest.raises(InputError) as caught:
        Shuffler.open(tmp_path / "other", PROTOCOL, least=1)
    assert caught.value.code == "CEL-I060"
