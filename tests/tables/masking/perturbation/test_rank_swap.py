"""Rank swapping: the multiset, the bound, the choice, and the printed examples."""

from __future__ import annotations

from collections import Counter
from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded, System
from celosia.tables.masking.perturbation import RankSwap
from celosia.tables.masking.perturbation._kernels import pair_ranks
from celosia.tables.masking.perturbation.rank_swap import swap_partners

AGES = [29, 48, 21, 36, 45, 58, 72, 22, 25, 43]
FEVERS = [36.9, 37.9, 38.8, 39.2, 38.2, 37.2]
HIGHEST = 2**64 - 1


def windows(count: int, window: int) -> Any:
    return np.minimum(np.arange(count) + window, count - 1)


def plain_pairs(last: list[int], words: list[int]) -> list[int] | None:
    """The twin of the kernel, with lists."""
    partner = [-1] * len(last)
    bag: list[int] = []
    entered = 0
    waiting = iter(words)

    def take(place: int) -> int:
        bag[place], bag[-1] = bag[-1], bag[place]
        return bag.pop()

    for rank, end in enumerate(last):
        while entered <= end:
            bag.append(entered)
            entered += 1
        if partner[rank] >= 0:
            continue
        take(bag.index(rank))
        if not bag:
            partner[rank] = rank
            continue
        fair = 2**64 - 2**64 % len(bag)
        word = next((each for each in waiting if each < fair), None)
        if word is None:
            return None
        chosen = take(word % len(bag))
        partner[rank], partner[chosen] = chosen, rank
    return partner


@st.composite
def windows_and_words(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    count = draw(st.integers(1, 30))
    reach = sorted(draw(st.lists(st.integers(0, count - 1), min_size=count, max_size=count)))
    last = [max(end, rank) for rank, end in enumerate(reach)]
    word = st.one_of(st.integers(0, HIGHEST), st.integers(HIGHEST - 20, HIGHEST))
    return last, draw(st.lists(word, min_size=0, max_size=40))


@settings(deadline=None, max_examples=300)
@given(windows_and_words())
def test_the_kernel_is_its_plain_twin(case: tuple[list[int], list[int]]) -> None:
    last, words = case
    partner = np.empty(len(last), dtype=np.int64)
    enough = pair_ranks(np.array(last), np.array(words, dtype=np.uint64), partner)
    wanted = plain_pairs(last, words)
    assert enough == (wanted is not None)
    if wanted is not None:
        assert partner.tolist() == wanted


def test_a_word_beyond_the_last_multiple_is_passed_over() -> None:
    last = np.array([3, 3, 3, 3])  # three choices: the highest word would favour the first
    partner = np.empty(4, dtype=np.int64)
    assert not pair_ranks(last, np.array([HIGHEST] * 9, dtype=np.uint64), partner)
    assert pair_ranks(last, np.array([HIGHEST, 4, 0], dtype=np.uint64), partner)
    assert partner.tolist() == plain_pairs([3, 3, 3, 3], [HIGHEST, 4, 0])


def chances(last: list[int]) -> dict[tuple[int, ...], Fraction]:
    """Every outcome of the procedure with its chance, by following all choices."""
    found: dict[tuple[int, ...], Fraction] = {}

    def follow(rank: int, partner: tuple[int, ...], chance: Fraction) -> None:
        if rank == len(last):
            found[partner] = found.get(partner, Fraction(0)) + chance
            return
        free = [j for j in range(rank + 1, last[rank] + 1) if partner[j] < 0]
        if partner[rank] >= 0:
            follow(rank + 1, partner, chance)
        elif not free:
            follow(rank + 1, (*partner[:rank], rank, *partner[rank + 1 :]), chance)
        for chosen in free if partner[rank] < 0 else []:
            paired = list(partner)
            paired[rank], paired[chosen] = chosen, rank
            follow(rank + 1, tuple(paired), chance / len(free))

    follow(0, (-1,) * len(last), Fraction(1))
    return found


@pytest.mark.statistical
def test_pairs_are_chosen_uniformly_among_the_free_ranks_of_the_window() -> None:
    last = windows(7, 3)
    wanted = chances(last.tolist())
    rng = Seeded(11)
    drawn = Counter(tuple(swap_partners(last, rng).tolist()) for _ in range(20_000))
    assert set(drawn) <= set(wanted)
    assert len(wanted) > 5
    counts = [drawn[each] for each in wanted]
    assert chisquare(counts, [20_000 * float(p) for p in wanted.values()]).pvalue > 1e-4
    assert chisquare(counts).pvalue < 1e-12  # the test would see another distribution


def test_neighbours_are_exchanged_by_a_window_of_one() -> None:
    masked = RankSwap(window=1).apply(pl.DataFrame({"age": AGES}), ["age"], rng=System())
    assert masked.frame["age"].to_list() == [25, 45, 22, 43, 48, 72, 58, 21, 29, 36]
    assert masked.facts["age"]["exchanged"] == 10
    assert masked.facts["age"]["farthest_in_ranks"] == 1
    assert np.corrcoef(AGES, masked.frame["age"])[0, 1] == pytest.approx(0.891, abs=0.0005)


def test_a_fifth_of_the_range_lets_fevers_differ_by_54_hundredths() -> None:
    frame = pl.DataFrame({"fever": FEVERS})
    method = RankSwap(range_percent=20, value_range=(36.5, 39.2))
    seen: set[tuple[float, ...]] = set()
    for seed in range(40):
        masked = method.apply(frame, ["fever"], rng=Seeded(seed)).frame["fever"].to_list()
        assert sorted(masked) == sorted(FEVERS)
        assert max(abs(a - b) for a, b in zip(masked, FEVERS, strict=True)) <= 0.54
        seen.add(tuple(masked))
    # 36.9 reaches 37.2 only, 37.9 reaches 38.2 only, 38.8 reaches 39.2 only.
    assert seen == {(37.2, 38.2, 39.2, 38.8, 37.9, 36.9)}


def test_without_a_range_of_its_own_the_columns_range_counts() -> None:
    frame = pl.DataFrame({"x": [0.0, 1.0, 5.0, 7.0, 10.0]})
    method = RankSwap(range_percent=10)
    for seed in range(20):
        masked = method.apply(frame, ["x"], rng=Seeded(seed))
        assert masked.frame["x"].to_list() == [1.0, 0.0, 5.0, 7.0, 10.0]
        assert masked.facts["x"]["without_partner"] == 3


@settings(deadline=None, max_examples=150)
@given(
    st.lists(st.one_of(st.none(), st.integers(-20, 20)), min_size=2, max_size=60),
    st.integers(1, 70),
    st.integers(0, 2**32),
)
def test_the_multiset_is_kept_and_no_value_moves_farther_than_the_window(
    values: list[int | None], window: int, seed: int
) -> None:
    filled = [value for value in values if value is not None]
    if len(set(filled)) < 2:
        return
    frame = pl.DataFrame({"x": values}, schema={"x": pl.Int64})
    masked = RankSwap(window=window).apply(frame, ["x"], rng=Seeded(seed)).frame["x"].to_list()
    assert [value is None for value in masked] == [value is None for value in values]
    kept = [value for value in masked if value is not None]
    assert sorted(kept) == sorted(filled)
    placed = sorted(filled)
    for before, after in zip(filled, kept, strict=True):
        low, high = placed.index(before), placed.index(after)
        most = len(placed) - 1 - placed[::-1].index(before)
        far = len(placed) - 1 - placed[::-1].index(after)
        assert low - far <= window
        assert high - most <= window


def test_a_percentage_is_rounded_down_to_ranks() -> None:
    frame = pl.DataFrame({"x": np.arange(1000)})
    masked = RankSwap(percent=0.7).apply(frame, ["x"], rng=Seeded(1))
    assert masked.facts["x"]["farthest_in_ranks"] == 7  # 0.7 * 1000 / 100 is 6.999... in floats
    with pytest.raises(InputError) as caught:
        RankSwap(percent=0.09).apply(frame, ["x"], rng=Seeded(1))
    assert caught.value.code == "CEL-V212"


@pytest.mark.parametrize(
    ("series", "order"),
    [
        (pl.Series("x", ["low", "high", None, "middle"]), ("low", "middle", "high")),
        (
            pl.Series("x", ["b", "a", None, "c"], dtype=pl.Enum(["b", "c", "a"])),
            (),
        ),
        (pl.Series("x", [date(2020, 1, 1), date(2021, 1, 1), None, date(2020, 6, 1)]), ()),
        (pl.Series("x", ["1.10", "1.30", None, "1.20"]).cast(pl.Decimal(10, 2)), ()),
        (pl.Series("x", [2**62, 2**62 + 2, None, 2**62 + 1]), ()),
    ],
    ids=["ordered texts", "enumeration", "dates", "decimals", "large whole numbers"],
)
def test_whatever_has_an_order_is_swapped_in_it(series: pl.Series, order: tuple[str, ...]) -> None:
    masked = RankSwap(window=1, order=order).apply(series.to_frame(), ["x"], rng=Seeded(1)).frame
    first, last, _, middle = series.to_list()
    assert masked["x"].to_list() == [middle, last, None, first]
    assert masked["x"].dtype == series.dtype


def test_columns_are_swapped_independently() -> None:
    frame = pl.DataFrame({"x": np.arange(200), "y": np.arange(200)})
    masked = RankSwap(window=20).apply(frame, ["x", "y"], rng=Seeded(1)).frame
    assert (masked["x"] != masked["y"]).any()


@pytest.mark.parametrize(
    ("parameters", "code"),
    [
        ({}, "CEL-V201"),
        ({"window": 1, "percent": 5}, "CEL-V201"),
        ({"window": 0}, "CEL-I060"),
        ({"window": 1.5}, "CEL-I060"),
        ({"percent": 0}, "CEL-I060"),
        ({"percent": 101}, "CEL-I060"),
        ({"range_percent": float("inf")}, "CEL-I060"),
        ({"range_percent": 5, "value_range": [3, 3]}, "CEL-I060"),
        ({"range_percent": 5, "value_range": [3]}, "CEL-I060"),
        ({"window": 5, "value_range": [3, 4]}, "CEL-V201"),
        ({"range_percent": 5, "order": ["a", "b"]}, "CEL-V201"),
        ({"window": 5, "order": ["a", "a"]}, "CEL-I060"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters: Any, code: str) -> None:
    with pytest.raises(InputError) as caught:
        RankSwap(**parameters)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("values", "method", "code"),
    [
        (["a", "b"], RankSwap(window=1), "CEL-V210"),
        ([date(2020, 1, 1), date(2021, 1, 1)], RankSwap(range_percent=5), "CEL-V211"),
        ([1.0, float("inf")], RankSwap(window=1), "CEL-V005"),
        (["a", "b"], RankSwap(window=1, order=("a",)), "CEL-V006"),
    ],
)
def test_columns_without_ranks_are_refused(values: Any, method: RankSwap, code: str) -> None:
    with pytest.raises(InputError) as caught:
        method.apply(pl.DataFrame({"x": values}), ["x"], rng=Seeded(1))
    assert caught.value.code == code
