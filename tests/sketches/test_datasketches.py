"""Sketches that Apache DataSketches reads, and its own read here: the same bytes and states."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest

from celosia.core.errors import InputError
from celosia.sketches import (
    CountMin,
    DataSketchesCountMin,
    DataSketchesHyperLogLog,
    DataSketchesTheta,
    HyperLogLog,
    Sketch,
    ThetaSketch,
    read_datasketches,
    write_datasketches,
)

peer = pytest.importorskip("datasketches", reason="the peer is a development dependency only")

WORDS = ["", "a", "ñandú", "sixteen letters!", "more than sixteen letters", "x" * 100, "a"]


def fed(sketch: Any, values: Any) -> Any:
    for each in values:
        sketch.update(each)
    return sketch


def both(kind: Any, values: Any) -> list[bytes]:
    made = fed(peer.hll_sketch(9, kind), values)
    return [made.serialize_compact(), made.serialize_updatable()]


@pytest.mark.parametrize("kind", ["HLL_4", "HLL_6", "HLL_8"])
@pytest.mark.parametrize("count", [0, 5, 50, 5000])
def test_registers_of_every_mode_are_those_of_the_peer(kind: str, count: int) -> None:
    mine = DataSketchesHyperLogLog(precision=9).update(np.arange(count))
    for data in both(getattr(peer, kind), range(count)):
        assert read_datasketches(data) == mine


def test_registers_beyond_four_bits_are_read() -> None:
    coupons = DataSketchesHyperLogLog(precision=9)._hashes(np.arange(400_000))
    rare = int(np.argmax(coupons >> np.uint64(26)))  # a run of zeros that is one of 400,000
    for data in both(peer.HLL_4, [*range(3000), rare]):
        mine = DataSketchesHyperLogLog(precision=9).update([*range(3000), rare])
        assert read_datasketches(data) == mine
        assert struct.unpack_from("<I", data, 36)[0] > 0


def test_texts_are_hashed_as_the_peer_hashes_them() -> None:
    mine = DataSketchesHyperLogLog(precision=12).update([*WORDS, -7])
    assert read_datasketches(fed(peer.hll_sketch(12), [*WORDS, -7]).serialize_compact()) == mine
    theta = fed(peer.update_theta_sketch(12), [*WORDS, -7]).compact().serialize()
    assert read_datasketches(theta) == DataSketchesTheta(most=4096).update([*WORDS, -7])
    data = DataSketchesTheta(most=4096).update([each.encode() for each in WORDS])
    assert data == DataSketchesTheta(most=4096).update(WORDS)


@pytest.mark.parametrize("count", [0, 1, 20, 3000])
def test_hyperloglog_is_read_by_the_peer(count: int) -> None:
    mine = DataSketchesHyperLogLog(precision=9).update(np.arange(count))
    theirs = peer.hll_sketch.deserialize(mine.to_datasketches())
    assert theirs.is_empty() == (count == 0)
    assert theirs.get_lower_bound(3) <= mine.estimate() <= theirs.get_upper_bound(3)
    union = peer.hll_union(9)
    union.update(theirs)
    union.update(fed(peer.hll_sketch(9), range(count)))  # the same values: nothing is new
    assert union.get_estimate() == pytest.approx(theirs.get_estimate(), abs=1e-9)
    assert theirs.get_estimate() == pytest.approx(mine.estimate(), rel=0.1)


@pytest.mark.parametrize("count", [0, 1, 2, 100, 3000])
@pytest.mark.parametrize("compress", [False, True])
def test_theta_sketches_of_the_peer_are_read(count: int, compress: bool) -> None:
    theirs = fed(peer.update_theta_sketch(8), range(count)).compact()
    mine = read_datasketches(theirs.serialize(compress=compress))
    assert isinstance(mine, DataSketchesTheta)
    assert mine.kept == theirs.num_retained
    assert mine.theta == pytest.approx(theirs.theta, abs=1e-18)
    assert mine.estimate() == pytest.approx(theirs.get_estimate(), rel=1e-12)
    whole = DataSketchesTheta(most=4096).update(np.arange(count))
    assert (mine & whole).kept == mine.kept  # all of its hashes are ours
    small = read_datasketches(theirs.serialize(), most=16)
    assert small.parameters() == {"most": 16, "seed": 9001}


@pytest.mark.parametrize("count", [0, 1, 2, 100, 9000])
def test_theta_is_read_by_the_peer(count: int) -> None:
    mine = DataSketchesTheta(most=256).update(np.arange(count))
    theirs = peer.compact_theta_sketch.deserialize(mine.to_datasketches())
    assert theirs.is_empty() == (count == 0)
    assert theirs.num_retained == mine.kept
    assert theirs.get_estimate() == pytest.approx(mine.estimate(), rel=1e-12)
    left = peer.theta_a_not_b().compute(theirs, fed(peer.update_theta_sketch(8), range(count)))
    assert left.get_estimate() == 0
    assert read_datasketches(mine.to_datasketches(), most=256) == mine


def test_count_min_is_exchanged_both_ways() -> None:
    values, words = np.arange(60) % 7, [each for each in WORDS if each]
    theirs = fed(fed(peer.count_min_sketch(4, 50, 123), values.tolist()), words)
    theirs.update(-5, 3)
    mine = DataSketchesCountMin(width=50, depth=4, seed=123).update(values).update(words)
    mine.update([-5], [3])
    assert mine.to_datasketches() == theirs.serialize()
    again = read_datasketches(theirs.serialize(), seed=123)
    assert again == mine
    assert isinstance(again, CountMin)
    assert again.estimate([3, 5]).tolist() == [theirs.get_estimate(each) for each in (3, 5)]
    assert again.estimate(["a", ""]).tolist() == [theirs.get_estimate("a"), 0]
    usual = DataSketchesCountMin(width=50, depth=4).update(words)
    back = peer.count_min_sketch.deserialize(usual.to_datasketches())
    assert (back.total_weight, back.get_estimate("a")) == (usual.total, 2)
    empty = DataSketchesCountMin(width=50, depth=4)
    assert empty.to_datasketches() == peer.count_min_sketch(4, 50).serialize()
    assert read_datasketches(empty.to_datasketches()) == empty
    assert mine.update(["", "b"], [2, 1]).total == again.total + 1


def test_celosias_own_form_holds_them_too() -> None:
    for made in (
        DataSketchesHyperLogLog(precision=5),
        DataSketchesTheta(most=16, seed=3),
        DataSketchesCountMin(width=5, depth=2, seed=3),
    ):
        made.update(["a", "b"])
        assert Sketch.from_bytes(made.to_bytes()) == made
        assert made.copy().merge(made) != HyperLogLog(precision=5)


@pytest.mark.parametrize(
    "made", [HyperLogLog(precision=5), ThetaSketch(most=16), CountMin(width=5, depth=2)], ids=str
)
def test_a_sketch_with_other_hash_functions_is_not_written(made: Sketch) -> None:
    with pytest.raises(InputError) as refused:
        write_datasketches(made)
    assert refused.value.code == "CEL-K010"
    assert "twice" in str(refused.value.why)


def _refused(data: bytes, **named: Any) -> str:
    with pytest.raises(InputError) as refused:
        read_datasketches(data, **named)
    assert refused.value.code == "CEL-K010"
    return str(refused.value.what)


def test_what_cannot_be_exchanged_is_said() -> None:
    theta = fed(peer.update_theta_sketch(8), range(99)).compact().serialize()
    counts = peer.count_min_sketch(2, 5)
    counts.update("a", 0.5)
    assert "other than" not in _refused(b"") + _refused(b"noise that is long enough")
    assert "another seed" in _refused(theta, seed=5)
    assert "another seed" in _refused(counts.serialize(), seed=5)
    assert "no whole numbers" in _refused(counts.serialize())
    assert "2^18" in _refused(fed(peer.hll_sketch(20), range(9)).serialize_compact())
    assert "version" in _refused(theta[:1] + b"\2" + theta[2:])
    assert "seed is" in _refused(theta, seed=-1)
    many = DataSketchesCountMin(width=5, depth=2)
    many._state["sums"][:] = 2**53 + 1
    with pytest.raises(InputError, match=r"2\^53"):
        many.to_datasketches()
    with pytest.raises(InputError, match="255"):
        DataSketchesCountMin(width=5, depth=256)


@pytest.mark.parametrize("place", range(8))
def test_damaged_bytes_are_refused_or_another_sound_sketch(place: int) -> None:
    """No byte of a head, changed, makes anything but an error of ours or a whole sketch."""
    made = [
        fed(peer.hll_sketch(5, peer.HLL_4), range(300)).serialize_compact(),
        fed(peer.hll_sketch(5), range(5)).serialize_compact(),
        fed(peer.update_theta_sketch(5), range(300)).compact().serialize(),
        fed(peer.update_theta_sketch(5), range(300)).compact().serialize(compress=True),
        fed(peer.count_min_sketch(2, 5), range(9)).serialize(),
    ]
    for data in made:
        for byte in (0, 1, 255, data[place] ^ 1, data[place] ^ 8):
            changed = data[:place] + bytes([byte]) + data[place + 1 :]
            try:
                found = read_datasketches(changed)
            except InputError:
                continue
            assert Sketch.from_bytes(found.to_bytes()) == found
        for size in range(0, len(data), 7):
            _refused(data[:size])
