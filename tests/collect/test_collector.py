"""A collector counts each batch once, refuses the rest, and merges in any order."""

from __future__ import annotations

from datetime import date
from hashlib import sha256
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.collect.small_protocol import PROTOCOL, batch, name, state_of

from celosia.collect.collector.batches import Batch, BatchLimits, Receipt
from celosia.collect.collector.collector import Collector
from celosia.collect.collector.journal import FILE
from celosia.collect.count_mean.hadamard_count_mean import HadamardCountMean
from celosia.collect.reports import Reports
from celosia.core.errors import EngineError, InputError
from celosia.core.randomness import Seeded


def refused(code: str, collector: Collector, data: bytes, **how: str) -> None:
    before = collector.state()
    with pytest.raises(InputError) as caught:
        collector.absorb(data, **({"id": "some-id"} | how))
    assert caught.value.code == code
    assert collector.state() == before


def test_batches_are_counted_as_by_a_plain_server(tmp_path: Path) -> None:
    with Collector.open(tmp_path / "state", PROTOCOL) as collector:
        for number in range(30):  # beyond the size of the state: several snapshots
            assert collector.absorb(batch(number), id=name(number)) == Receipt(
                reports=40, counted=True
            )
        assert collector.state() == state_of(range(30))
        words = ["word 1", "word 2"]
        plain = PROTOCOL.server().load(state_of(range(30))).estimate(words)
        assert np.array_equal(collector.estimate(words).counts, plain.counts)
        assert str(collector) == "1,200 reports counted (hcms)"
    with Collector.open(tmp_path / "state", PROTOCOL) as again:
        assert again.state() == state_of(range(30))
        assert again.as_dict()["batches"] == 30


def test_a_batch_that_is_sent_again_is_acknowledged_and_not_counted(tmp_path: Path) -> None:
    with Collector.open(tmp_path, PROTOCOL) as collector:
        collector.absorb(batch(1), id="one")
        assert collector.absorb(batch(1), id="one") == Receipt(reports=40, counted=False)
    with Collector.open(tmp_path, PROTOCOL) as collector:
        assert collector.absorb(batch(1), id="one") == Receipt(reports=40, counted=False)
        assert collector.state() == state_of([1])


def test_twins_under_two_ids_are_both_counted(tmp_path: Path) -> None:
    """Devices with one value often send one and the same report."""
    with Collector.open(tmp_path, PROTOCOL) as collector:
        collector.absorb(batch(1, 1), id="ada")
        collector.absorb(batch(1, 1), id="ben")
        assert collector.users == 2


def test_an_id_is_for_one_batch_only_and_belongs_to_its_source(tmp_path: Path) -> None:
    with Collector.open(tmp_path, PROTOCOL) as collector:
        collector.absorb(batch(1), id="one")
        refused("CEL-R078", collector, batch(2), id="one")
        assert collector.absorb(batch(2), id="one", source="relay").counted
        # "a" with the id "b-c" and "ab" with the id "-c" are not one and the same.
        assert collector.absorb(batch(3), id="b-c", source="a").counted
        assert collector.absorb(batch(4), id="-c", source="ab").counted


@pytest.mark.parametrize("id", ["", "x" * 201, "emoji ☺", "line\nbreak"])
def test_odd_ids_are_refused(id: str, tmp_path: Path) -> None:
    with Collector.open(tmp_path, PROTOCOL) as collector:
        refused("CEL-R079", collector, batch(1), id=id)
        refused("CEL-R079", collector, batch(1), source="x" * 101)


def test_what_is_malformed_foreign_or_too_large_is_refused(tmp_path: Path) -> None:
    other = HadamardCountMean(epsilon=2.5, hashes=4, width=16, key="tests")
    limits = BatchLimits(batch_bytes=24 + 50, batch_reports=45)
    with Collector.open(tmp_path, PROTOCOL, limits=limits) as collector:
        refused("CEL-R002", collector, b"")
        refused("CEL-R002", collector, batch(1)[:-1])
        refused("CEL-R002", collector, batch(1) + b"\0")
        refused("CEL-R002", collector, Reports.head(1, PROTOCOL.fingerprint, 0))
        refused("CEL-R002", collector, Reports.head(1, PROTOCOL.fingerprint, 2**63))
        refused("CEL-R001", collector, Reports.head(2, PROTOCOL.fingerprint, 1) + b"\0\0")
        refused("CEL-R001", collector, Reports.head(1, PROTOCOL.fingerprint, 1) + b"\xff")
        refused("CEL-R004", collector, other.client(rng=Seeded(1)).privatise("x").to_bytes())
        refused("CEL-R077", collector, batch(1, 46))
        refused("CEL-R077", collector, batch(1, 60))
        assert collector.absorb(batch(1, 45), id="some-id").counted  # none of them took the id
    with pytest.raises(InputError) as caught:
        BatchLimits(batch_bytes=0)
    assert caught.value.code == "CEL-R077"


def test_a_source_sends_no_more_than_its_share(tmp_path: Path) -> None:
    limits = BatchLimits(source_reports=100)
    with Collector.open(tmp_path, PROTOCOL, limits=limits) as collector:
        collector.absorb(batch(1), id="1", source="relay")
        collector.absorb(batch(2), id="2", source="relay")
        refused("CEL-R080", collector, batch(3), id="3", source="relay")
        assert collector.absorb(batch(2), id="2", source="relay").counted is False
        assert collector.absorb(batch(3, 20), id="3", source="relay").counted
        assert collector.absorb(batch(3), id="3", source="other").counted
        assert collector.absorb(batch(3), id="3").counted
        assert collector.as_dict()["sources"] == {"other": 40, "relay": 100}


def test_one_bad_batch_does_not_touch_the_others_of_a_write(tmp_path: Path) -> None:
    group = [
        Batch(data=batch(1), id="1"),
        Batch(data=batch(2)[:-1], id="2"),
        Batch(data=batch(1), id="1"),
        Batch(data=batch(3), id="3"),
    ]
    with Collector.open(tmp_path, PROTOCOL) as collector:
        first, second, third, fourth = collector.absorb_all(group)
        assert (first, third) == (
            Receipt(reports=40, counted=True),
            Receipt(reports=40, counted=False),
        )
        assert isinstance(second, InputError)
        assert fourth == first
        assert collector.state() == state_of([1, 3])
        assert len(collector.absorb_all(group, in_order=True)) == 2


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_no_bytes_crash_a_collector_or_half_change_it(data: st.DataObject, tmp_path: Path) -> None:
    """Cut, changed and invented batches are counted as a whole, or refused with a code."""
    good = batch(9)
    body = data.draw(
        st.one_of(
            st.binary(max_size=80),
            st.integers(0, len(good) - 1).map(lambda end: good[:end]),
            st.builds(
                lambda at, byte: good[:at] + bytes([byte]) + good[at + 1 :],
                st.integers(0, len(good) - 1),
                st.integers(0, 255),
            ),
            st.binary(max_size=40).map(
                lambda rows: Reports.head(1, PROTOCOL.fingerprint, len(rows)) + rows
            ),
        )
    )
    with Collector.open(tmp_path / "fuzzed", PROTOCOL) as collector:
        before = collector.state()
        (outcome,) = collector.absorb_all([Batch(data=body, id=sha256(body).hexdigest())])
        after = collector.state()
    try:
        expected = PROTOCOL.server().load(before).absorb(body).to_bytes()
    except InputError:
        expected = before
    if isinstance(outcome, InputError):
        assert outcome.code in ("CEL-R001", "CEL-R002", "CEL-R004")
    assert after == (expected if isinstance(outcome, Receipt) and outcome.counted else before)
    with Collector.open(tmp_path / "fuzzed", PROTOCOL) as collector:
        assert collector.state() == after


def test_shards_merge_in_any_order_to_the_same(tmp_path: Path) -> None:
    for shard in range(3):
        with Collector.open(tmp_path / f"shard-{shard}", PROTOCOL) as collector:
            for number in range(5 * shard, 5 * shard + 5):
                collector.absorb(batch(number), id=name(number), source=f"relay-{shard % 2}")
    for order in permutations(range(3)):
        total = tmp_path / "".join(map(str, order))
        with Collector.open(total, PROTOCOL) as collector:
            for shard in order:
                with Collector.open(tmp_path / f"shard-{shard}", PROTOCOL, make=False) as other:
                    assert collector.merge(other).reports == 200
            assert collector.state() == state_of(range(15))
            assert collector.as_dict()["sources"] == {"relay-0": 400, "relay-1": 200}
        with Collector.open(total, PROTOCOL) as again:  # it is on disk, with the ids
            assert again.state() == state_of(range(15))
            assert again.absorb(batch(7), id=name(7), source="relay-1").counted is False


def test_a_shard_is_merged_once(tmp_path: Path) -> None:
    with (
        Collector.open(tmp_path / "total", PROTOCOL) as total,
        Collector.open(tmp_path / "shard", PROTOCOL) as shard,
    ):
        shard.absorb(batch(1), id="1")
        total.merge(shard)
        shard.absorb(batch(2), id="2")
        for _ in range(2):
            with pytest.raises(InputError) as caught:
                total.merge(shard)
            assert caught.value.code == "CEL-R081"
            assert total.state() == state_of([1])
        assert total.absorb(batch(2), id="2").counted  # the refused merge left nothing behind


def test_a_state_is_merged_once(tmp_path: Path) -> None:
    with Collector.open(tmp_path, PROTOCOL) as collector:
        assert collector.merge_state(state_of([1, 2])) == Receipt(reports=80, counted=True)
        assert collector.merge_state(state_of([1, 2])) == Receipt(reports=80, counted=False)
        with pytest.raises(InputError) as caught:
            collector.merge_state(state_of([3])[:-1])
        assert caught.value.code == "CEL-R006"
        assert collector.state() == state_of([1, 2])


def test_a_folder_belongs_to_one_protocol_and_one_collector(tmp_path: Path) -> None:
    other = HadamardCountMean(epsilon=2.0, hashes=4, width=16, key="other")
    with Collector.open(tmp_path, PROTOCOL), pytest.raises(EngineError) as caught:
        Collector.open(tmp_path, PROTOCOL)
    assert caught.value.code == "CEL-R074"
    with pytest.raises(InputError) as foreign:
        Collector.open(tmp_path, other)
    assert foreign.value.code == "CEL-R076"
    with Collector.open(tmp_path, PROTOCOL):  # a refusal does not keep the lock
        pass
    with pytest.raises(InputError) as missing:
        Collector.open(tmp_path / "nothing", PROTOCOL, make=False)
    assert missing.value.code == "CEL-R075"
    assert not (tmp_path / "nothing").exists()


def test_a_folder_with_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"not a database" * 100)
    with pytest.raises(EngineError) as caught:
        Collector.open(tmp_path, PROTOCOL)
    assert caught.value.code == "CEL-R075"
    with pytest.raises(EngineError) as nowhere:
        Collector.open(tmp_path / "a" / "b", PROTOCOL)
    assert nowhere.value.code == "CEL-R075"


def test_no_report_is_kept_as_it_was_once_the_state_has_it(tmp_path: Path) -> None:
    """Twenty bytes of a batch are as good as unique: they are nowhere in the folder."""
    wide = HadamardCountMean(epsilon=2.0, hashes=64, width=256, key="tests")
    data = wide.client(rng=Seeded(5)).privatise([f"{each}" for each in range(500)]).to_bytes()

    def found() -> bool:
        return any(data[100:120] in path.read_bytes() for path in tmp_path.iterdir())

    collector = Collector.open(tmp_path, wide)
    collector.absorb(data, id="5")
    assert found()  # until the next snapshot
    collector.close()
    assert not found()
    with Collector.open(tmp_path, wide) as again:
        assert again.state() == wide.server().absorb(data).to_bytes()


def test_disk_and_memory_do_not_grow_with_reports(tmp_path: Path) -> None:
    """20,000 reports in large batches leave no more on disk than 40,000: 32 bytes for a batch."""
    sizes = []
    with Collector.open(tmp_path, PROTOCOL) as collector:
        for number in range(20):
            collector.absorb(batch(number, 2_000), id=name(number))
            sizes.append(sum(path.stat().st_size for path in tmp_path.iterdir()))
    assert max(sizes[10:]) <= max(sizes[:10])


def test_a_closed_collector_counts_nothing(tmp_path: Path) -> None:
    collector = Collector.open(tmp_path, PROTOCOL)
    collector.close()
    with pytest.raises(EngineError) as caught:
        collector.absorb(batch(1), id="1")
    assert caught.value.code == "CEL-R075"


def dated(day: int, number: int) -> str:
    return f"{date.fromordinal(day).isoformat()}:{name(number)}"


def test_marks_expire_with_their_day_and_nothing_is_counted_twice(tmp_path: Path) -> None:
    today = 740_000
    limits = BatchLimits(remember_days=2)
    with Collector.open(tmp_path / "state", PROTOCOL, limits=limits, today=lambda: today) as made:
        assert made.absorb(batch(1), id=dated(today, 1)).counted
        first = dated(today, 1)
        for _ in range(2):  # days pass; the mark is there as long as the batch may be sent
            today += 1
            assert not made.absorb(batch(1), id=first).counted
        today += 1
        refused("CEL-R093", made, batch(1), id=first)
        refused("CEL-R093", made, batch(2), id=name(2))
        refused("CEL-R093", made, batch(2), id=dated(today + 2, 2))
        assert made.absorb(batch(2), id=dated(today + 1, 2)).counted  # a clock may be ahead
        assert made.as_dict()["batches"] == 1  # the mark of the first is gone
        assert made.state() == state_of([1, 2])
    today -= 3  # a clock that is set back brings no forgotten day to life
    with Collector.open(tmp_path / "state", PROTOCOL, limits=limits, today=lambda: today) as made:
        refused("CEL-R093", made, batch(1), id=first)
        assert made.absorb(batch(3), id=dated(today + 1, 3)).counted


def test_each_batch_belongs_to_one_partition_and_partitions_add_up(tmp_path: Path) -> None:
    made = [
        Collector.open(
            tmp_path / str(each), PROTOCOL, limits=BatchLimits(partition=each, partitions=3)
        )
        for each in (1, 2, 3)
    ]
    takers = []
    for number in range(30):
        data, id = batch(number), name(number)
        own = Batch(data=data, id=id).partition(3)
        takers.append(own)
        for each in made:
            if each.limits.partition == own:
                assert each.absorb(data, id=id).counted
            else:
                refused("CEL-R094", each, data, id=id)
    assert set(takers) == {1, 2, 3}
    with Collector.open(tmp_path / "all", PROTOCOL) as total:
        for each in made:
            total.merge(each)
            each.close()
        assert total.state() == state_of(range(30))
