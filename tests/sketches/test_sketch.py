"""What all sketches share: exact merging, bytes, refusals, and what they tell."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sketches import plain

from celosia import InputError
from celosia.core.messages import Language, speaking
from celosia.sketches import (
    AmsSketch,
    BloomFilter,
    CountingBloomFilter,
    CountMin,
    CountSketch,
    FlajoletMartin,
    HyperLogLog,
    Sketch,
    ThetaSketch,
)
from celosia.sketches.sketch import from_bytes, to_bytes

KINDS: list[tuple[Any, dict[str, int]]] = [
    (AmsSketch, {"width": 7, "depth": 3}),
    (BloomFilter, {"bits": 101, "hashes": 3}),
    (CountingBloomFilter, {"cells": 50, "hashes": 3}),
    (CountMin, {"width": 11, "depth": 3}),
    (CountSketch, {"width": 9, "depth": 3}),
    (FlajoletMartin, {"maps": 4}),
    (HyperLogLog, {"precision": 4}),
    (ThetaSketch, {"most": 10}),
]
COUNTERS = [kind for kind in KINDS if "total" in kind[0](**kind[1]).as_dict()]
SETS = [kind for kind in KINDS if kind not in COUNTERS]
every = pytest.mark.parametrize(("kind", "sizes"), KINDS, ids=[kind.name for kind, _ in KINDS])
numbers = st.lists(st.integers(0, 60), max_size=60)


def code_of(work: Callable[[], object]) -> str:
    with pytest.raises(InputError) as told:
        work()
    return told.value.code


@every
@given(numbers, numbers)
@settings(max_examples=25)
def test_merged_parts_are_the_sketch_of_all_values(
    kind: Any, sizes: dict[str, int], left: list[int], right: list[int]
) -> None:
    merged = kind(**sizes).update(left).merge(kind(**sizes).update(right))
    assert merged == kind(**sizes).update(right + left[::-1])
    assert merged == kind(**sizes).update(right).merge(kind(**sizes).update(left))


@every
@given(st.dictionaries(st.integers(0, 60), st.integers(0, 5), max_size=20))
@settings(max_examples=25)
def test_counts_are_repeated_values(
    kind: Any, sizes: dict[str, int], counts: dict[int, int]
) -> None:
    repeated = [value for value, often in counts.items() for _ in range(often)]
    counted = kind(**sizes).update(list(counts), counts=list(counts.values()))
    assert counted == kind(**sizes).update(repeated)


@every
@given(numbers)
@settings(max_examples=25)
def test_bytes_are_read_back_and_go_on(kind: Any, sizes: dict[str, int], values: list[int]) -> None:
    sketch = kind(**sizes, key="bytes").update(values)
    again = kind.from_bytes(sketch.to_bytes())
    assert again == sketch
    assert type(Sketch.from_bytes(sketch.to_bytes())) is kind
    assert again.update([99]) == sketch.update([99])


@every
def test_any_changed_byte_is_found(kind: Any, sizes: dict[str, int]) -> None:
    data = kind(**sizes).update([1, 2, 3]).to_bytes()
    for place in range(len(data)):
        changed = bytearray(data)
        changed[place] ^= 1
        assert code_of(lambda changed=changed: kind.from_bytes(bytes(changed))) == "CEL-K005"  # type: ignore[misc]
    for cut in (data[:-1], data[:20], b"", data + b"\0"):
        assert code_of(lambda cut=cut: kind.from_bytes(cut)) == "CEL-K005"  # type: ignore[misc]


def forged(sketch: Sketch, **arrays: Any) -> bytes:
    head, state = from_bytes(sketch.to_bytes())
    return to_bytes(head, state | arrays)


@pytest.mark.parametrize(
    "data",
    [
        forged(HyperLogLog(precision=4), registers=np.full(16, 62, dtype=np.uint8)),
        forged(HyperLogLog(precision=4), registers=np.zeros(8, dtype=np.uint8)),
        forged(HyperLogLog(precision=4), more=np.zeros(8, dtype=np.uint8)),
        forged(BloomFilter(bits=3, hashes=1), words=np.array([8], dtype=np.uint64)),
        forged(ThetaSketch(most=2), hashes=np.array([5, 4], dtype=np.uint64)),
        forged(ThetaSketch(most=2), hashes=np.array([4, 4], dtype=np.uint64)),
        forged(ThetaSketch(most=2), hashes=np.array([1, 2, 3], dtype=np.uint64)),
        forged(ThetaSketch(most=2), limit=np.array([2**63 + 1], dtype=np.uint64)),
        forged(CountMin(width=2, depth=1), cells=np.array([[1, 2]])),
        forged(CountMin(width=2, depth=1), sums=np.array([0, 2**62 + 1])),
    ],
)
def test_a_state_that_no_updates_can_make_is_refused(data: bytes) -> None:
    assert code_of(lambda: Sketch.from_bytes(data)) == "CEL-K005"


def test_a_head_that_lies_is_refused_before_memory_is_asked_for() -> None:
    head, state = from_bytes(CountMin(width=2, depth=1).to_bytes())
    for parameters in ({"width": 2**30, "depth": 2, "key": ""}, {"width": 2}, {"any": 1}, 5):
        data = to_bytes({**head, "parameters": parameters}, state)
        assert code_of(lambda data=data: Sketch.from_bytes(data)) == "CEL-K005"  # type: ignore[misc]
    for changed in ({**head, "sketch": "none"}, {**head, "fingerprint": "00"}, {}):
        data = to_bytes(changed, state)
        assert code_of(lambda data=data: Sketch.from_bytes(data)) == "CEL-K005"  # type: ignore[misc]
    body = b"CSK1" + (2).to_bytes(4, "little") + b"[]"
    data = body + hashlib.blake2b(body, digest_size=16).digest()
    assert code_of(lambda: Sketch.from_bytes(data)) == "CEL-K005"


def test_another_kind_of_sketch_is_not_read() -> None:
    data = HyperLogLog(precision=4).to_bytes()
    assert code_of(lambda: ThetaSketch.from_bytes(data)) == "CEL-K005"


@every
def test_other_kinds_sizes_and_keys_are_not_merged(kind: Any, sizes: dict[str, int]) -> None:
    mine = kind(**sizes).update([1, 2])
    before = mine.copy()
    others = [other(**parts) for other, parts in KINDS if other is not kind]
    larger = {name: 2 * value for name, value in sizes.items()}
    others += [kind(**larger), kind(**sizes, key="another")]
    for other in others:
        assert code_of(lambda other=other: mine.merge(other)) == "CEL-K006"  # type: ignore[misc]
    assert mine == before
    assert len({each.fingerprint for each in [mine, *others]}) == len(others) + 1


@every
def test_a_refused_update_changes_nothing(kind: Any, sizes: dict[str, int]) -> None:
    sketch = kind(**sizes).update([1, 2])
    before = sketch.copy()
    for values, counts, code in (
        ([1.5], None, "CEL-K001"),
        ([1, 2], [1], "CEL-K004"),
        ([1], [1.5], "CEL-K004"),
        ([1], [True], "CEL-K004"),
        ([1], [2**40], "CEL-K004"),
        ([1], [-(2**63)], "CEL-K004"),
    ):
        assert code_of(lambda v=values, c=counts: sketch.update(v, counts=c)) == code  # type: ignore[misc]
    assert sketch == before


@pytest.mark.parametrize(("kind", "sizes"), SETS, ids=[kind.name for kind, _ in SETS])
def test_nothing_can_be_taken_from_a_set(kind: Any, sizes: dict[str, int]) -> None:
    assert code_of(lambda: kind(**sizes).update([1], counts=[-1])) == "CEL-K004"


@pytest.mark.parametrize(("kind", "sizes"), COUNTERS, ids=[kind.name for kind, _ in COUNTERS])
def test_what_is_taken_away_leaves_no_trace(kind: Any, sizes: dict[str, int]) -> None:
    sketch = kind(**sizes).update([1, 2, 3]).update([2, 3], counts=[-1, -1])
    assert np.array_equal(sketch._state["cells"], kind(**sizes).update([1])._state["cells"])


@pytest.mark.parametrize(("kind", "sizes"), COUNTERS, ids=[kind.name for kind, _ in COUNTERS])
def test_cells_cannot_overflow(kind: Any, sizes: dict[str, int]) -> None:
    sketch = kind(**sizes).update(["x"], counts=[2**31])
    for _ in range(31):
        sketch.merge(sketch.copy())
    before = sketch.copy()
    assert sketch.as_dict()["total"] == 2**62
    assert code_of(lambda: sketch.update(["y"])) == "CEL-K007"
    assert code_of(lambda: sketch.merge(kind(**sizes).update(["y"]))) == "CEL-K007"
    assert sketch == before


@every
def test_a_sketch_tells_what_it_is_and_is_empty_at_first(kind: Any, sizes: dict[str, int]) -> None:
    sketch = kind(**sizes)
    told = json.loads(json.dumps(sketch.as_dict(), allow_nan=False))
    assert told["sketch"] == kind.name
    assert told["parameters"] == {**sizes, "key": "celosia"}
    assert told["bytes"] == sketch.size
    assert not any(told.get(name) for name in ("total", "estimate", "second_moment"))
    assert str(sketch).startswith(f"{kind.name} (")
    assert repr(sketch).startswith(f"{kind.__name__}(")
    assert sketch.update([]) == kind(**sizes)
    words = kind.__doc__ or ""
    for part in ("Queries:", "Space:", "Update:", "Query:", "Start:", "Error:", "Reference:"):
        assert part in words


@every
def test_sizes_and_keys_out_of_range_are_refused(kind: Any, sizes: dict[str, int]) -> None:
    for name in sizes:
        for wrong in (0, -1, 2**40, 1.5, True, "3"):
            assert code_of(lambda w={**sizes, name: wrong}: kind(**w)) == "CEL-K003"  # type: ignore[misc]
    assert code_of(lambda: kind(**sizes, key="k" * 49)) == "CEL-K003"
    assert code_of(lambda: kind(**sizes, key=7)) == "CEL-K003"


@given(numbers)
@settings(max_examples=25)
def test_states_equal_those_of_plain_python(values: list[int]) -> None:
    table = CountMin(width=11, depth=3).update(values)
    cells = np.zeros((3, 11), dtype=int)
    for value in values:
        for row, column in enumerate(plain.columns(table._family, value)):
            cells[row, column] += 1
    assert np.array_equal(table._state["cells"], cells)

    signed = CountSketch(width=9, depth=3).update(values)
    cells = np.zeros((3, 9), dtype=int)
    for value in values:
        signs = plain.columns(signed._signs, value)
        for row, column in enumerate(plain.columns(signed._columns, value)):
            cells[row, column] += 2 * signs[row] - 1
    assert np.array_equal(signed._state["cells"], cells)

    bloom = BloomFilter(bits=101, hashes=3).update(values)
    bits = {column for value in values for column in plain.columns(bloom._family, value)}
    words = bloom._state["words"].tolist()
    assert {at for at in range(128) if words[at // 64] >> at % 64 & 1} == bits

    registers = HyperLogLog(precision=4).update(values)._state["registers"]
    assert registers.tolist() == plain.registers(values, "celosia", 4)
    maps = FlajoletMartin(maps=4).update(values)._state["maps"]
    assert maps.tolist() == plain.bitmaps(values, "celosia", 4)
    theta = ThetaSketch(most=10).update(values)._state
    assert (int(theta["limit"][0]), theta["hashes"].tolist()) == plain.smallest(
        values, "celosia", 10
    )


def test_long_streams_through_the_table_of_theta_equal_plain_python() -> None:
    values = [each % 3000 for each in range(0, 70_000, 7)]
    theta = ThetaSketch(most=50, key="long").update(values)._state
    assert (int(theta["limit"][0]), theta["hashes"].tolist()) == plain.smallest(values, "long", 50)


@pytest.mark.parametrize(
    ("into", "words"),
    [
        ("en", "count-min (2,000 cells in a row, 3 rows): total count 2, 48,016 bytes"),
        ("es", "count-min (2.000 celdas por fila, 3 filas): recuento total: 2, 48.016 bytes"),
    ],
)
def test_what_a_sketch_knows_is_told_in_the_language(into: Language, words: str) -> None:
    with speaking(into):
        assert str(CountMin(width=2000, depth=3).update(["a", "b"])) == words
