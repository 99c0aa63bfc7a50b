"""Hierarchies are built once while they are kept, and never for other values or another rule."""

from __future__ import annotations

import polars as pl
import pytest

from celosia.tables.hierarchies import Hierarchy, Mask
from celosia.tables.hierarchies.memo import built, kept_hierarchies


def test_the_same_rule_and_values_are_built_once_and_others_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[list[str]] = []
    build = Mask.build

    def counted(rule: Mask, values: pl.Series) -> Hierarchy:
        asked.append(values.to_list())
        return build(rule, values)

    monkeypatch.setattr(Mask, "build", counted)
    with kept_hierarchies():
        first = built(Mask(), pl.Series("a", ["12", "13"]))
        with kept_hierarchies():
            assert built(Mask(), pl.Series("b", ["12", "13"])) is first
        assert built(Mask(), pl.Series(["12", "13"])) is first  # the outer one still holds it
        assert built(Mask(), pl.Series(["12", "14"])) is not first
        assert built(Mask(), pl.Series(["12", "13", "14"])) is not first
        assert built(Mask(character="#"), pl.Series(["12", "13"])) is not first
        assert len(asked) == 4
    assert built(Mask(), pl.Series(["12", "13"])) is not first
    built(Mask(), pl.Series(["12", "13"]))
    assert len(asked) == 6  # nothing is kept outside
