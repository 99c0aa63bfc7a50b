"""All measures in one report."""

from __future__ import annotations

import json

import polars as pl
import pytest
from tests.assess.utility.meanings import Groups

from celosia import InputError
from celosia.assess.utility import utility
from celosia.core.progress import Step
from celosia.core.randomness import Seeded, System

AGES = Groups(
    ("21", "30", "41", "50"), {"21-40": ["21", "30"], "41-60": ["41", "50"], "young": ["21"]}
)
ORIGINAL = pl.DataFrame(
    {
        "age": [21, 30, 41, 50] * 5,
        "sex": ["F", "M"] * 10,
        "pay": ["low", "low", "high", "high"] * 5,
    }
)
RELEASED = ORIGINAL.with_columns(age=pl.Series(["21-40", "21-40", "41-60", "*"] * 5))


def test_the_report_bundles_every_measure() -> None:
    steps: list[Step] = []
    report = utility(
        ORIGINAL,
        RELEASED,
        quasi_identifiers=["age", "sex"],
        meanings={"age": AGES},
        target="pay",
        queries=50,
        rng=Seeded(1),
        progress=steps.append,
    )
    assert [found.column for found in report.distributions] == ["age", "sex"]
    assert [found.column for found in report.distances] == ["age", "sex"]
    assert len(report.associations.pairs) == 1
    assert report.queries.queries == 50
    assert report.learning is not None
    assert report.learning.target == "pay"
    assert [found.column for found in report.aggregates] == ["age"]
    assert report.aggregates[0].after.maximum == 60
    assert report.is_simulation
    assert {step.stage for step in steps} == {
        "distributions",
        "learning",
        "associations",
        "queries",
    }
    assert "20 of 20 rows" in str(report)
    plain = json.loads(json.dumps(report.as_dict(), allow_nan=False))
    assert plain["learning"]["target"] == "pay"
    assert plain["aggregates"][0]["before"]["maximum"] == 50


def test_the_same_seed_gives_the_same_report() -> None:
    reports = [
        utility(
            ORIGINAL,
            RELEASED,
            quasi_identifiers=["age", "sex"],
            meanings={"age": AGES},
            rng=Seeded(5),
            queries=40,
        )
        for _ in range(2)
    ]
    assert reports[0] == reports[1]


def test_without_a_target_nothing_is_learnt_and_entropy_is_no_simulation() -> None:
    report = utility(
        ORIGINAL, ORIGINAL, quasi_identifiers=["sex"], meanings={}, rng=System(), queries=5
    )
    assert report.learning is None
    assert not report.is_simulation
    assert "majority" not in str(report)


def test_a_quasi_identifier_can_be_the_target() -> None:
    report = utility(
        ORIGINAL,
        ORIGINAL,
        quasi_identifiers=["age", "sex"],
        meanings={},
        target="sex",
        rng=Seeded(1),
        queries=5,
    )
    assert report.learning is not None
    assert report.learning.target == "sex"


def test_amounts_with_wordy_labels_have_no_aggregates() -> None:
    released = ORIGINAL.with_columns(age=pl.lit("young"))
    report = utility(
        ORIGINAL,
        released,
        quasi_identifiers=["age"],
        meanings={"age": AGES},
        rng=Seeded(1),
        queries=5,
    )
    assert report.aggregates == ()


def test_an_unknown_target_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        utility(
            ORIGINAL,
            RELEASED,
            quasi_identifiers=["sex"],
            meanings={},
            target="salary",
            rng=Seeded(1),
            queries=5,
        )
    assert caught.value.code == "CEL-A071"


def test_the_real_rows_released_as_they_are_lose_nothing(real: pl.DataFrame) -> None:
    names = [name for name in real.columns if name != "occupation"]
    report = utility(
        real, real.reverse(), quasi_identifiers=names, meanings={}, rng=Seeded(1), queries=100
    )
    assert report.queries.largest == 0
    assert report.associations.mean_change == pytest.approx(0, abs=1e-12)
    assert all(found.hellinger == 0 for found in report.distances)
