"""Glove: groups of k that share one trace of boxes; and the tube that does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.traces.small_city import small_city

from celosia.core.errors import InputError, PrivacyError
from celosia.core.randomness import Seeded
from celosia.traces import Glove, PublishOptions, publish, verify
from celosia.traces import _glove_kernels as kernels
from celosia.traces.verification import owners_of

Box = tuple[int, int, int, int, int, int, int]
"""Start, end, west, south, east, north, weight."""


def release_of(k: int, period: str) -> Any:
    options = PublishOptions(pseudonym=period, assess=False)
    return publish(small_city().traces, Glove(k=k), options=options, rng=Seeded(3))


@pytest.mark.parametrize(("k", "period"), [(5, "whole"), (3, "day"), (2, "whole")])
def test_every_published_trace_is_that_of_k_persons(k: int, period: str) -> None:  # check 11
    release = release_of(k, period)
    found = verify(release.data, owners_of(release.samples))
    assert found.groups > 3
    assert found.holds(k)
    assert release.outcome.facts["smallest_group"] >= k


def test_every_point_lies_in_a_box_or_is_counted_as_suppressed() -> None:  # check 11
    traces = small_city().traces
    release = release_of(5, "whole")
    samples = release.samples
    inside = 0
    for row in range(traces.size):
        mine = samples.persons == traces.person[row]
        box = samples.box[mine]
        inside += bool(
            (
                (box[:, 0] <= traces.x[row])
                & (traces.x[row] <= box[:, 2])
                & (box[:, 1] <= traces.y[row])
                & (traces.y[row] <= box[:, 3])
                & (samples.start[mine] <= traces.time[row])
                & (traces.time[row] <= samples.end[mine])
            ).any()
        )
    assert inside >= traces.size - release.outcome.facts["suppressed_points"]
    sides = samples.box[:, 2:] - samples.box[:, :2]
    assert (sides.max(initial=0) + 1) * traces.plane.step <= 5000
    assert (samples.end - samples.start).max(initial=0) <= 360 * 60


def test_a_tube_of_500_metres_does_not_make_traces_alike() -> None:  # check 11, W7
    from celosia.lab.traces.tubes import tube

    traces = small_city().traces
    samples = tube(traces, k=5, metres=500)
    frame = samples.frame(traces.plane, traces.declaration.zone)
    assert not verify(frame, owners_of(samples)).holds(5)


def plain_merge(one: list[Box], other: list[Box], metres: float, seconds: float) -> list[Box]:
    """What the kernels must make of two traces."""
    short, long = (one, other) if len(one) <= len(other) else (other, one)

    def moment(box: Box) -> int:
        return box[0] + box[1]

    place, homes = 0, []
    for each in long:
        while place + 1 < len(short) and abs(moment(short[place + 1]) - moment(each)) < abs(
            moment(short[place]) - moment(each)
        ):
            place += 1
        homes.append(place)
    taken = set(homes)
    own = []
    for number, each in enumerate(short):
        before = [t for t in taken if t <= number]
        after = [t for t in taken if t >= number]
        if number in taken:
            own.append(number)
        elif not before:
            own.append(min(after))
        elif not after:
            own.append(max(before))
        else:
            early = moment(each) - moment(short[max(before)])
            late = moment(short[min(after)]) - moment(each)
            own.append(min(after) if late < early else max(before))
    buckets: dict[int, Box] = {}

    def join(bucket: int, box: Box) -> bool:
        have = buckets.get(bucket)
        new = box
        if have is not None:
            new = (
                min(have[0], box[0]), max(have[1], box[1]), min(have[2], box[2]),
                min(have[3], box[3]), max(have[4], box[4]), max(have[5], box[5]),
                have[6] + box[6],
            )  # fmt: skip
        if max(new[4] - new[2], new[5] - new[3]) + 1 > metres or new[1] - new[0] > seconds:
            return False
        buckets[bucket] = new
        return True

    for number, each in enumerate(short):
        if own[number] == number:
            join(number, each)
    for number, each in enumerate(short):
        if own[number] != number:
            join(own[number], each)
    both = {
        home for home, each in zip(homes, long, strict=True) if home in buckets and join(home, each)
    }
    return [buckets[bucket] for bucket in sorted(buckets) if bucket in both]


def test_the_kernels_merge_as_their_plain_twin() -> None:
    generator = np.random.Generator(np.random.PCG64(5))
    for _ in range(60):
        traces = []
        for _ in range(2):
            size = int(generator.integers(1, 9))
            starts = np.sort(generator.integers(0, 5000, size))
            spans = generator.integers(0, 300, size)
            west, south = generator.integers(-50, 50, (2, size))
            wide, high = generator.integers(0, 20, (2, size))
            traces.append(
                [
                    (int(s), int(s + d), int(w), int(v), int(w + a), int(v + b), 1)
                    for s, d, w, v, a, b in zip(starts, spans, west, south, wide, high, strict=True)
                ]
            )
        expected = plain_merge(traces[0], traces[1], 60, 1500)
        rows = np.array([*traces[0], *traces[1]], dtype=np.int64)
        times, boxes = rows[:, :2].copy(), rows[:, 2:6].copy()
        weights = rows[:, 6].copy()
        offset = np.array([0, len(traces[0])])
        length = np.array([len(traces[0]), len(traces[1])])
        kept, lost = kernels.merge_into(times, boxes, weights, offset, length, 0, 1, 60.0, 1500.0)
        span = slice(offset[kept], offset[kept] + length[kept])
        found = [
            (*t, *b, w)
            for t, b, w in zip(
                times[span].tolist(), boxes[span].tolist(), weights[span].tolist(), strict=True
            )
        ]
        assert found == expected
        assert lost == len(traces[0]) + len(traces[1]) - sum(box[6] for box in expected)


def test_days_with_fewer_than_k_persons_are_suppressed() -> None:
    traces = small_city(12, 2).traces
    with pytest.raises(PrivacyError, match="12 persons"):
        publish(traces, Glove(k=13), rng=Seeded(1))


def test_traces_of_points_cannot_be_made_alike() -> None:
    with pytest.raises(InputError, match="cannot work with this period"):
        publish(small_city().traces, Glove(k=3), options=PublishOptions(pseudonym="trip"))


def test_the_verifier_believes_no_weights() -> None:
    frame = pl.DataFrame({"trace": [0, 1, 2], "time": ["a", "a", "a"], "latitude": [1.0, 1.0, 1.0]})
    assert verify(frame, {0: 1, 1: 1, 2: 1}).smallest == 1
    assert verify(frame, {0: 1, 1: 2, 2: 3}).holds(3)
