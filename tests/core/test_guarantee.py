"""Guarantees survive the trip to JSON and back."""

from __future__ import annotations

import json

from celosia.core.release import Guarantee

GUARANTEE = Guarantee(
    promise="5-anonymity over age",
    unit="record",
    protects="nobody is alone",
    assumes=("one record each",),
    leaves_open=("homogeneity", "background knowledge"),
)


def test_a_guarantee_comes_back_from_json_as_it_was() -> None:
    assert Guarantee.from_dict(json.loads(json.dumps(GUARANTEE.as_dict()))) == GUARANTEE


def test_a_simulation_says_so_wherever_it_is_printed() -> None:
    simulated = Guarantee.from_dict(GUARANTEE.as_dict() | {"simulation": True})
    assert "simulation" in str(simulated)
    assert "simulation" not in str(GUARANTEE)
