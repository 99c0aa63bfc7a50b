"""Two sources of randomness, one interface, exact uniformity."""

from __future__ import annotations

import os

import numpy as np
import pytest

from celosia.core import randomness
from celosia.core.errors import InputError
from celosia.core.randomness import BLOCK, Seeded, Source, System, source

BOTH = pytest.mark.parametrize("drawn", [System(), Seeded(2026)], ids=repr)


@BOTH
def test_integers_stay_below_their_bound(drawn: Source) -> None:
    found = drawn.integers(7, 10_000)
    assert found.min() == 0
    assert found.max() == 6


@pytest.mark.statistical
@pytest.mark.parametrize("bound", [2, 3, 10, 2**63])
def test_integers_are_uniform(bound: int) -> None:
    draws = 200_000
    cells = min(bound, 10)
    counts = np.bincount((Seeded(1).integers(bound, draws) // (bound / cells)).astype(int))
    # Chi-square with c-1 degrees: mean c-1, deviation sqrt(2(c-1)); 6 deviations is a false alarm
    # of less than one in a million.
    statistic = float(((counts - draws / cells) ** 2 / (draws / cells)).sum())
    assert statistic < (cells - 1) + 6 * np.sqrt(2 * (cells - 1))


def test_a_word_beyond_the_last_multiple_of_the_bound_is_drawn_again() -> None:
    class ScriptedSource(Source):
        simulation = True

        def __init__(self) -> None:
            self.left = [2**64 - 1, 5]

        def raw(self, count: int) -> bytes:
            words = [self.left.pop(0) for _ in range(count // 8)]
            return np.array(words, dtype=np.uint64).tobytes()

    # 2**64 - 1 would give 0 by a plain remainder with 3, and make 0 a little likelier than 1 and 2.
    assert ScriptedSource().integers(3, 1).tolist() == [2]


@BOTH
def test_a_permutation_holds_everything_once(drawn: Source) -> None:
    assert sorted(drawn.permutation(1000).tolist()) == list(range(1000))
    assert drawn.permutation(0).size == 0


@pytest.mark.statistical
def test_every_order_of_three_is_equally_likely() -> None:
    drawn = Seeded(3)
    draws = 12_000
    orders = [tuple(drawn.permutation(3).tolist()) for _ in range(draws)]
    for order in {*orders}:
        # Binomial with p = 1/6: six deviations of sqrt(n p (1-p)).
        assert abs(orders.count(order) - draws / 6) < 6 * np.sqrt(draws * 5 / 36)
    assert len({*orders}) == 6


def test_a_tie_of_sort_keys_is_drawn_again() -> None:
    class Tied(Source):
        simulation = True
        calls = 0

        def raw(self, count: int) -> bytes:
            self.calls += 1
            words = [9, 9] if self.calls == 1 else [2, 1]
            return np.array(words, dtype=np.uint64).tobytes()

    tied = Tied()
    assert tied.permutation(2).tolist() == [1, 0]
    assert tied.calls == 2


def test_the_same_seed_repeats_and_the_system_does_not() -> None:
    assert Seeded(4).raw(32) == Seeded(4).raw(32)
    assert Seeded(4).raw(32) != Seeded(5).raw(32)
    assert System().raw(32) != System().raw(32)


def test_only_a_seeded_source_is_a_simulation() -> None:
    assert not System().simulation
    assert Seeded(1).simulation
    assert isinstance(source(), System)
    assert source(3).seed == 3


@pytest.mark.parametrize("seed", [-1, 1.5, True, "7", None])
def test_a_seed_that_is_no_whole_number_is_refused(seed: object) -> None:
    with pytest.raises(InputError, match="whole number"):
        Seeded(seed)  # type: ignore[arg-type]


@pytest.mark.parametrize("bound", [0, -3, 2**63 + 1])
def test_a_bound_out_of_range_is_refused(bound: int) -> None:
    with pytest.raises(InputError, match="bound"):
        System().integers(bound, 1)


def test_an_order_is_by_whole_words_though_upper_bits_are_sorted_first() -> None:
    places = np.arange(3_000, dtype=np.uint64)
    alike = (places % np.uint64(7)) << np.uint64(50)  # the upper bits tell seven groups apart
    words = alike | (places * np.uint64(1_999) % np.uint64(3_001))
    drawn = Seeded(1)
    drawn.raw = lambda count: words.tobytes()  # type: ignore[method-assign]
    assert drawn.permutation(3_000).tolist() == np.argsort(words).tolist()


def test_large_draws_are_streams_of_chacha20_under_keys_that_are_used_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("cryptography", reason="large draws are expanded by it")
    asked: list[int] = []

    def entropy(count: int) -> bytes:
        asked.append(count)
        return bytes([len(asked) - 1] * count)

    monkeypatch.setattr(os, "urandom", entropy)
    drawn = System().raw(2 * BLOCK + 5)
    assert asked == [32, 32, 32]
    assert len(drawn) == 2 * BLOCK + 5
    # RFC 8439, appendix A.1, test vectors 1 and 2: the key of zeros, counters 0 and 1.
    assert drawn[:16].hex() == "76b8e0ada0f13d90405d6ae55386bd28"
    assert drawn[64:80].hex() == "9f07e7be5551387a98ba977c732d080d"
    assert drawn[:BLOCK] != drawn[BLOCK : 2 * BLOCK]
    assert System().raw(BLOCK - 1) == bytes([3] * (BLOCK - 1))  # straight from the system


@pytest.mark.parametrize("expanded", [True, False])
def test_large_draws_are_uniform_and_never_the_same(
    expanded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not expanded:  # as where the library is missing
        monkeypatch.setattr(randomness, "_expansion", lambda: None)
    first, second = (np.frombuffer(System().raw(4 * BLOCK), dtype=np.uint8) for _ in range(2))
    for each in (first, second, first ^ second, first[:BLOCK] ^ first[BLOCK : 2 * BLOCK]):
        expected = each.size / 256
        statistic = float(((np.bincount(each, minlength=256) - expected) ** 2 / expected).sum())
        # Chi-square with 255 degrees: nine deviations of sqrt(510), as the source has no seed.
        assert abs(statistic - 255) < 9 * np.sqrt(510)
