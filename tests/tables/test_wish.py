"""What is asked of a release is checked before any data is read."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from celosia import InputError, KAnonymity, Seeded, System
from celosia.tables.wish import Wish

FIVE = KAnonymity(5)


def wish(models: Any = FIVE, **more: Any) -> Wish:
    choices = {"suppression": 0.05, "keep_order": False, "drop_suppressed": False}
    return Wish.of(models, **(choices | {"randomness": None} | more))


@pytest.mark.parametrize(
    "limit", [np.float32(0.25), np.float64(0.25), Fraction(1, 4), np.int64(1), 0]
)
def test_any_number_fits_into_the_certificate(limit: Any) -> None:
    facts = wish(suppression=limit, keep_order=np.bool_(True)).as_dict()
    assert json.loads(json.dumps(facts))["suppression"] == float(limit)


def test_one_model_or_several_may_be_given() -> None:
    two = {KAnonymity(5), KAnonymity(9)}
    assert wish(KAnonymity(5)).models == (KAnonymity(5),)
    assert wish(two).smallest == 9


@pytest.mark.parametrize("models", [5, "k=5", [5], KAnonymity, [KAnonymity]])
def test_what_is_no_model_is_refused(models: Any) -> None:
    with pytest.raises(InputError) as refused:
        wish(models)
    assert refused.value.code == "CEL-P016"


@pytest.mark.parametrize("source", [0, 7, "seed", System])
def test_what_is_no_source_of_randomness_is_refused(source: Any) -> None:
    with pytest.raises(InputError) as refused:
        wish(randomness=source)
    assert refused.value.code == "CEL-I006"


def test_a_seed_makes_a_simulation_only_where_something_is_drawn() -> None:
    assert isinstance(wish().randomness, System)
    assert wish(randomness=Seeded(0)).simulation
    assert not wish(randomness=Seeded(0), keep_order=True).simulation
