"""What certificates hold is read back by the types of the fields, and refused where it is not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from celosia.core.methods import PlainValues, derived


@dataclass(frozen=True, slots=True)
class Part(PlainValues):
    name: str
    share: float
    level: int | None = None

    @property
    @derived
    def is_large(self) -> bool:
        return self.share > 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole(PlainValues):
    parts: tuple[Part, ...]
    sizes: dict[int, int]
    pairs: tuple[tuple[int, ...], ...] = ()
    best: Part | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    simulation: bool = False


WHOLE = Whole(
    parts=(Part("age", 1), Part("zip", 0.25, 2)),
    sizes={5: 2, 12: 1},
    pairs=((1, 2), ()),
    best=Part("zip", 0.25, 2),
    facts={"k": 5, "names": ["a"]},
    simulation=True,
)


def test_values_come_back_from_json_as_they_were() -> None:
    assert Whole.from_dict(json.loads(json.dumps(WHOLE.as_dict()))) == WHOLE


@pytest.mark.parametrize(
    "change",
    [
        {"parts": {"name": "age"}},
        {"parts": [{"name": 1, "share": 0.5}]},
        {"parts": [{"name": "age", "share": "much"}]},
        {"parts": [{"name": "age"}]},
        {"parts": [{"name": "age", "share": True}]},
        {"sizes": {"few": 1}},
        {"simulation": 1},
        {"unknown": 1},
    ],
    ids=str,
)
def test_values_of_another_kind_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError)):
        Whole.from_dict(WHOLE.as_dict() | change)
