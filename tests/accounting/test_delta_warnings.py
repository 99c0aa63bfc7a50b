"""A delta that allows to give away whole people is warned of wherever one is chosen."""

from __future__ import annotations

import polars as pl
import pytest
from tests.cli.conftest import run
from tests.cli.running import Run

from celosia.collect import KaryResponse
from celosia.collect.shuffler.guarantee import shuffle_guarantee
from celosia.core.errors import PrivacyWarning
from celosia.core.randomness import Seeded
from celosia.tables import Schema
from celosia.tables.masking import Recipe, mask
from celosia.tables.private import NoisyHistogram

__all__ = ["run"]


@pytest.mark.parametrize(("delta", "warned"), [(1e-3, True), (1e-6, False)])
def test_of_a_table_of_noisy_rows(delta: float, warned: bool) -> None:
    table = pl.DataFrame({"a": ["x", "y"] * 20})
    method = NoisyHistogram(epsilon=1, delta=delta, domains={"a": ("x", "y")})
    recipe = Recipe.of(Schema.of(quasi_identifiers=["a"]), [(method, ["a"])])
    if not warned:
        assert mask(table, recipe, rng=Seeded(1)).warnings == ()
        return
    with pytest.warns(PrivacyWarning, match="delta of 0.001"):
        made = mask(table, recipe, rng=Seeded(1))
    assert any("delta" in each for each in made.warnings)


def test_of_shuffled_reports_whose_number_is_known() -> None:
    protocol = KaryResponse(epsilon=1, domain=("a", "b"))
    large = shuffle_guarantee(protocol, reports=1000, delta=1e-3)
    assert large.warning in large.as_dict()["warnings"]
    assert "1/1,000" in large.lines()[-1]
    assert shuffle_guarantee(protocol, reports=1000, delta=1e-6).as_dict()["warnings"] == []


@pytest.mark.parametrize(
    "words",
    [
        ("compose", "--pure", "0.1x3"),
        ("amplify", "--epsilon", 1, "--sample", 10, "--population", 1000),
    ],
)
def test_of_sums_of_releases(run: Run, words: tuple[object, ...]) -> None:
    assert "a delta of" in run("epsilon", *words, "--delta", 1e-1).err
    assert "a delta of" not in run("epsilon", *words, "--delta", 1e-8).err
