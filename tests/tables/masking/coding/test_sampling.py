"""Sampling: sizes, strata, and every subset equally likely."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded, System
from celosia.tables.masking.coding import Sampling
from celosia.tables.masking.coding.sampling import largest_remainders


@pytest.mark.statistical
def test_every_subset_is_equally_likely() -> None:
    frame = pl.DataFrame({"x": range(5)})
    rng = Seeded(1)
    drawn: Counter[tuple[int, ...]] = Counter()
    for _ in range(1500):
        drawn[tuple(Sampling(rows=2).apply(frame, [], rng=rng).frame["x"])] += 1
    assert set(drawn) == set(combinations(range(5), 2))
    assert chisquare(list(drawn.values())).pvalue > 1e-4


def test_the_rows_of_a_sample_are_told_and_in_their_order() -> None:
    frame = pl.DataFrame({"x": np.arange(100) * 3, "y": [f"{n}" for n in range(100)]})
    sample = Sampling(fraction=0.25).apply(frame, ["x"], rng=System())
    assert sample.rows is not None
    assert sample.frame.equals(frame[sample.rows])
    assert sample.rows.tolist() == sorted(set(sample.rows.tolist()))
    assert sample.facts["rows"] == sample.frame.height == 25
    assert sample.facts["fraction"] == 0.25


@given(
    st.lists(st.sampled_from(["a", "b", "c", None]), min_size=1, max_size=60), st.floats(0.01, 1)
)
def test_each_stratum_gives_its_share_to_within_one_record(
    strata: list[str | None], fraction: float
) -> None:
    frame = pl.DataFrame({"s": strata, "x": range(len(strata))}, schema_overrides={"s": pl.String})
    sample = Sampling(fraction=fraction, by=("s",)).apply(frame, ["x"], rng=Seeded(1))
    # A fraction means what is written: 0.1 is a tenth, not the float next to it.
    assert sample.frame.height == max(1, round(Fraction(repr(fraction)) * len(strata)))
    found = Counter(sample.frame["s"].to_list())
    for name, size in Counter(strata).items():
        assert abs(found[name] - sample.frame.height * size / len(strata)) < 1
    assert sample.facts["strata"] == len(set(strata))


def test_strata_of_several_columns_and_of_no_number() -> None:
    frame = pl.DataFrame(
        {"s": [1.0, float("nan"), None] * 20, "t": ["a"] * 30 + ["b"] * 30, "x": range(60)}
    )
    sample = Sampling(fraction=0.5, by=("s", "t")).apply(frame, ["x"], rng=Seeded(1))
    assert sample.facts["strata"] == 6
    assert sample.frame.group_by("s", "t").len()["len"].to_list() == [5] * 6


@pytest.mark.statistical
def test_within_a_stratum_every_record_is_equally_likely() -> None:
    frame = pl.DataFrame({"s": ["a", "b", "a", "a", "b"], "x": range(5)})
    rng = Seeded(2)
    drawn: Counter[int] = Counter()
    for _ in range(1500):
        drawn.update(Sampling(rows=3, by=("s",)).apply(frame, [], rng=rng).frame["x"])
    assert chisquare([drawn[0], drawn[2], drawn[3]]).pvalue > 1e-4  # two of three
    assert chisquare([drawn[1], drawn[4]]).pvalue > 1e-4  # one of two
    assert drawn[1] + drawn[4] == 1500


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=20), st.floats(0, 1))
def test_parts_add_up_and_are_within_one_of_their_share(sizes: list[int], share: float) -> None:
    wanted = int(share * sum(sizes))
    parts = largest_remainders(np.array(sizes), wanted)
    assert parts.sum() == wanted
    assert (np.abs(parts - np.array(sizes) * wanted / sum(sizes)) < 1).all()
    assert (parts <= sizes).all()


def test_a_seed_repeats_the_sample_and_other_seeds_do_not() -> None:
    frame = pl.DataFrame({"x": range(100)})
    first, again, other = (
        Sampling(rows=50).apply(frame, ["x"], rng=Seeded(seed)).frame for seed in (1, 1, 2)
    )
    assert first.equals(again)
    assert not first.equals(other)


def test_all_rows_are_the_table() -> None:
    frame = pl.DataFrame({"x": range(10)})
    assert Sampling(fraction=1).apply(frame, ["x"], rng=Seeded(1)).frame.equals(frame)


@pytest.mark.parametrize(
    ("parameters", "code"),
    [
        ({}, "CEL-V201"),
        ({"fraction": 0.5, "rows": 5}, "CEL-V201"),
        ({"fraction": 0}, "CEL-I060"),
        ({"fraction": 1.01}, "CEL-I060"),
        ({"rows": 0}, "CEL-I060"),
        ({"rows": True}, "CEL-I060"),
        ({"rows": 1, "by": ["a", "a"]}, "CEL-I060"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters: Any, code: str) -> None:
    with pytest.raises(InputError) as caught:
        Sampling(**parameters)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("method", "rows", "code"),
    [
        (Sampling(rows=5), 4, "CEL-V260"),
        (Sampling(fraction=0.5), 0, "CEL-V260"),
        (Sampling(rows=1, by=("q",)), 4, "CEL-V003"),
    ],
)
def test_tables_too_small_or_without_the_strata_are_refused(
    method: Sampling, rows: int, code: str
) -> None:
    with pytest.raises(InputError) as caught:
        method.apply(pl.DataFrame({"x": range(rows)}), ["x"], rng=Seeded(1))
    assert caught.value.code == code
