"""The risk-utility map of many maskings."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from celosia import Seeded
from celosia.core.errors import InputError
from celosia.tables import synthesis
from celosia.tables.masking import Noise, map_methods, variants


@pytest.fixture
def table() -> pl.DataFrame:
    draws = np.random.default_rng(8)
    return pl.DataFrame(draws.normal(0, 1, (300, 2)), schema=["a", "b"])


def test_more_noise_leaves_less_risk_and_loses_more(table: pl.DataFrame) -> None:
    tried = variants("noise", {"amount": [0.01, 0.1, 1.0]})
    found = map_methods(table, ["a", "b"], tried, rng=Seeded(3))
    assert [point.name for point in found.points] == ["none", *tried]
    risks, losses = ([getattr(p, name) for p in found.points] for name in ("risk", "loss"))
    assert risks == sorted(risks, reverse=True)
    assert losses == sorted(losses)
    assert risks[0] == 1
    assert losses[0] == 0
    assert all(point.is_best for point in found.points)
    assert str(found.plot()).startswith("<svg")


def test_the_usual_methods_are_tried_where_none_is_named(table: pl.DataFrame) -> None:
    found = map_methods(table, ["a", "b"], rng=Seeded(3))
    kinds = {point.name.split()[0] for point in found.points}
    assert kinds == {
        "none",
        "mdav",
        "microaggregation",
        "noise",
        "probabilistic-k",
        "rank-swap",
    }


def test_variants_are_every_combination() -> None:
    made = variants("noise", {"amount": [0.1, 0.2], "integer": [True]})
    assert made == {
        "noise amount=0.1 integer=True": Noise(amount=0.1, integer=True),
        "noise amount=0.2 integer=True": Noise(amount=0.2, integer=True),
    }


def test_new_rows_have_no_place_on_the_map(table: pl.DataFrame) -> None:
    with pytest.raises(InputError) as refusal:
        map_methods(table, ["a", "b"], {"copula": synthesis.Copula()}, rng=Seeded(3))
    assert refusal.value.code == "CEL-V020"
