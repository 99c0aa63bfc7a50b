"""What is asked of a release is checked before any data is read."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from celosia import InputError, KAnonymity, Seeded, System
from celosia.tables import DistinctDiversity, KMap, Role, Schema
from celosia.tables.metrics import Loss
from celosia.tables.options import PublishOptions

FIVE = KAnonymity(5)
ROLES = Schema.of(quasi_identifiers=["age", "zip"], sensitive=["disease", "salary"])


def options(models: Any = FIVE, *, has_population: bool = False, **more: Any) -> PublishOptions:
    found = PublishOptions.of(more.pop("schema", ROLES), models, **more)
    found.check_population(given=has_population)
    return found


@pytest.mark.parametrize(
    "limit", [np.float32(0.25), np.float64(0.25), Fraction(1, 4), np.int64(1), 0]
)
def test_any_number_fits_into_the_certificate(limit: Any) -> None:
    facts = options(suppression=limit, keep_order=np.bool_(True)).as_dict()
    assert json.loads(json.dumps(facts))["suppression"] == float(limit)


def test_one_model_or_several_may_be_given() -> None:
    two = {KAnonymity(5), KAnonymity(9)}
    assert options(KAnonymity(5)).models == (KAnonymity(5),)
    assert options(two).smallest == 9


@pytest.mark.parametrize("models", [5, "k=5", [5], KAnonymity, [KAnonymity]])
def test_what_is_no_model_is_refused(models: Any) -> None:
    with pytest.raises(InputError) as refused:
        options(models)
    assert refused.value.code == "CEL-P016"


@pytest.mark.parametrize("source", [0, 7, "seed", System])
def test_what_is_no_source_of_randomness_is_refused(source: Any) -> None:
    with pytest.raises(InputError) as refused:
        options(rng=source)
    assert refused.value.code == "CEL-I006"


def test_a_seed_makes_a_simulation_only_where_something_is_drawn() -> None:
    assert isinstance(options().rng, System)
    assert options(rng=Seeded(0)).simulation
    assert not options(rng=Seeded(0), keep_order=True).simulation


def test_a_model_without_a_column_stands_for_every_sensitive_one() -> None:
    asked = options([FIVE, DistinctDiversity(3)])
    assert asked.models == (FIVE, DistinctDiversity(3, "disease"), DistinctDiversity(3, "salary"))
    assert asked.sensitive == ("disease", "salary")
    assert options(DistinctDiversity(3, "salary")).sensitive == ("salary",)


@pytest.mark.parametrize("column", ["age", "diseases", "nothing"])
def test_a_model_about_no_sensitive_column_is_refused(column: str) -> None:
    with pytest.raises(InputError) as refused:
        options(DistinctDiversity(3, column))
    assert refused.value.code == "CEL-P007"


def test_a_model_about_every_sensitive_column_needs_all_their_names() -> None:
    # Columns without a name in the schema would be left out of the promise.
    roles = Schema.of(quasi_identifiers=["age"], sensitive=["disease"], other_columns="sensitive")
    with pytest.raises(InputError) as refused:
        options(DistinctDiversity(3), schema=roles)
    assert refused.value.code == "CEL-P064"
    assert roles.role_of("salary") is Role.SENSITIVE
    assert options(DistinctDiversity(3, "disease"), schema=roles).sensitive == ("disease",)


def test_levels_are_kept_as_plain_numbers() -> None:
    facts = options(levels={"age": np.int64(2)}).as_dict()
    assert json.loads(json.dumps(facts))["levels"] == {"age": 2}


@pytest.mark.parametrize("levels", [(0, 1), 2, "age"])
def test_levels_without_names_are_refused(levels: Any) -> None:
    with pytest.raises(InputError) as refused:
        options(levels=levels)
    assert refused.value.code == "CEL-P008"


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"metric": "los"}, "CEL-I061"),
        ({"metric": Loss}, "CEL-I061"),
        ({"method": "flash"}, "CEL-P061"),
        ({"time_limit": 0}, "CEL-P063"),
        ({"time_limit": float("nan")}, "CEL-P063"),
        ({"time_limit": "ten"}, "CEL-P063"),
        ({"method": "mondrian", "levels": {"age": 1}}, "CEL-P062"),
        ({"method": "mondrian", "local": True}, "CEL-P062"),
        ({"method": "mondrian", "metric": "height"}, "CEL-P062"),
        ({"local": True, "levels": {"age": 1}}, "CEL-P062"),
        ({"local": True, "metric": "entropy"}, "CEL-P062"),
        ({"has_population": True}, "CEL-P062"),
        ({"models": KMap(3)}, "CEL-P062"),
        ({"models": KMap(3), "local": True, "has_population": True}, "CEL-P062"),
    ],
)
def test_choices_that_cannot_be_met_are_refused(more: dict[str, Any], code: str) -> None:
    with pytest.raises(InputError) as refused:
        options(more.pop("models", FIVE), **more)
    assert refused.value.code == code
