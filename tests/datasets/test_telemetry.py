"""Values on devices follow their laws, and the published histograms are whole."""

from __future__ import annotations

from math import erf, exp, sqrt

import numpy as np
import polars as pl
import pytest

from celosia import datasets
from celosia.core.errors import InputError
from celosia.datasets import telemetry

ROWS = 200_000
Z = 4.5
"""Standard errors that no share passes: chance 7e-6 each."""


def _shares(table: pl.DataFrame) -> dict[object, float]:
    counted = table["value"].value_counts()
    return {value: count / table.height for value, count in counted.iter_rows()}


def _agree(found: dict[object, float], law: dict[object, float]) -> bool:
    return all(
        abs(found.get(value, 0) - share) <= Z * sqrt(share * (1 - share) / ROWS)
        for value, share in law.items()
    )


def _below(edge: float) -> float:
    return (1 + erf((edge - 12) / 2 / sqrt(2))) / 2


LAWS: dict[str, dict[object, float]] = {
    "exponential": {v: (1 - exp(-0.5)) * exp(-v / 2) for v in range(12)},
    "normal": {v: _below(v + 1) - _below(v) for v in range(5, 20)},
    "letters": dict(telemetry.LETTERS.items()),
    "anglicisms": {word: 0.9 * share for word, share in telemetry.WORDS.items()},
}


@pytest.mark.parametrize("name", LAWS)
def test_values_follow_their_law_and_no_other(name: str) -> None:
    found = _shares(datasets.load(name, rows=ROWS, seed=5))
    assert _agree(found, LAWS[name])
    for factor in (0.8, 1.25):
        assert not _agree(found, {value: factor * p for value, p in LAWS[name].items()})


def test_a_tenth_of_the_words_are_random_strings_of_three_to_eight_letters() -> None:
    values = datasets.load("anglicisms", rows=ROWS, seed=5)["value"]
    typos = values.filter(~values.is_in(list(telemetry.WORDS)))
    assert abs(typos.len() / ROWS - 0.1) < Z * sqrt(0.09 / ROWS)
    assert typos.str.contains("^[a-z]{3,8}$").all()
    sizes = typos.str.len_chars().value_counts()["count"].to_numpy()
    assert sizes.size == 6
    expected = typos.len() / 6
    assert float(((sizes - expected) ** 2 / expected).sum()) < 30  # chi-squared of 5: 1.5e-5


def test_every_device_has_a_name_of_its_own() -> None:
    names = telemetry.letters(20_000)["user_id"]
    assert names.n_unique() == 20_000
    assert names.str.contains("^[A-Z0-9]{10}$").all()


@pytest.mark.parametrize("name", LAWS)
def test_a_seed_gives_the_same_table_and_another_seed_another(name: str) -> None:
    table = datasets.load(name, rows=500, seed=1)
    assert table.equals(datasets.load(name, rows=500, seed=1))
    assert not table.equals(datasets.load(name, rows=500, seed=2))
    assert table.columns == ["user_id", "value"]
    assert datasets.load(name, rows=0).height == 0


def test_published_histograms_have_their_sizes_and_ranges() -> None:
    exponential, normal = telemetry.EXPONENTIAL_50K, telemetry.NORMAL_200K
    assert (sum(exponential.values()), len(exponential)) == (50_000, 21)
    assert max(exponential.values()) - min(exponential.values()) == 19_650
    assert (sum(normal.values()), min(normal), max(normal)) == (200_000, 3, 20)
    assert max(normal.values()) - min(normal.values()) == 38_488
    words = telemetry.ANGLICISMS_50K
    assert sum(words.values()) + telemetry.TYPOS_50K == 50_000
    assert words.keys() == telemetry.WORDS.keys()


def test_a_histogram_becomes_its_values() -> None:
    values = telemetry.values_of(telemetry.EXPONENTIAL_50K)
    assert np.bincount(values).tolist() == list(telemetry.EXPONENTIAL_50K.values())


@pytest.mark.parametrize(("rows", "seed"), [(-1, 1), (2.5, 1), (True, 1), (10**9, 1), (5, -1)])
def test_impossible_sizes_and_seeds_are_refused(rows: int, seed: int) -> None:
    with pytest.raises(InputError) as error:
        telemetry.normal(rows, seed=seed)
    assert error.value.code == "CEL-D030"
