"""The compiled set of edges equals a set of Python."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.graphs._edge_set import EMPTY, contains, delete, edge_set, insert

KEYS = st.one_of(st.integers(0, 30), st.integers(0, 2**62))
"""Small keys meet often; great ones have all their bits."""


@settings(max_examples=200)
@given(
    st.sets(KEYS, max_size=20),
    st.lists(st.tuples(st.sampled_from(["insert", "delete", "contains"]), KEYS), max_size=60),
)
def test_the_edge_set_answers_as_a_set_of_python_does(
    start: set[int], calls: list[tuple[str, int]]
) -> None:
    twin = set(start)
    held = edge_set(np.array(sorted(start), dtype=np.int64), room=len(calls))
    for call, key in calls:
        if call == "insert":
            assert insert(held, key) == (key not in twin)
            twin.add(key)
        elif call == "delete":
            assert delete(held, key) == (key in twin)
            twin.discard(key)
        assert contains(held, key) == (key in twin)
    assert sorted(held[held != EMPTY].tolist()) == sorted(twin)
    assert all(contains(held, key) for key in twin)


def test_a_set_that_is_always_changing_keeps_its_size_and_its_keys() -> None:
    keys = np.arange(1000, dtype=np.int64) * 7
    held = edge_set(keys)
    places = len(held)
    for turn in range(20_000):  # each key leaves and a new one comes: no gravestones may gather
        assert delete(held, int(keys[turn % 1000]))
        keys[turn % 1000] += 7000
        assert insert(held, int(keys[turn % 1000]))
    assert len(held) == places
    assert np.array_equal(np.sort(held[held != EMPTY]), np.sort(keys))


def test_the_set_stays_at_most_two_thirds_full() -> None:
    for count in range(70):
        assert 3 * count <= 2 * len(edge_set(np.arange(count, dtype=np.int64)))
