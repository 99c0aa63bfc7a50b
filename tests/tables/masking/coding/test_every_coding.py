"""What holds for every coding method alike."""

from __future__ import annotations

import json

import polars as pl
import pytest

from celosia.core.randomness import Seeded
from celosia.tables.masking.coding import METHODS, Recoding, Sampling, TopBottom
from celosia.tables.masking.method import MaskingMethod

EXAMPLES: list[MaskingMethod] = [
    Recoding(breaks=(0, 10), labels=("low", "middle", "high")),
    Recoding(mapping={"1": "one"}, other="more"),
    Recoding(hierarchy={"method": "intervals", "widths": [10]}),
    Sampling(fraction=0.5, by=("y",)),
    TopBottom(top=10, inclusive=True),
]
IDS = [f"{each.method_name} {number}" for number, each in enumerate(EXAMPLES)]


@pytest.mark.parametrize("method", EXAMPLES, ids=IDS)
def test_the_table_given_stays_as_it_is_and_facts_and_parameters_are_plain(
    method: MaskingMethod,
) -> None:
    frame = pl.DataFrame({"x": [1, 5, 12, None], "y": ["a", "b", "a", "b"]})
    copy = frame.clone()
    masked = method.apply(frame, ["x"], rng=Seeded(1))
    assert frame.equals(copy)
    assert json.loads(json.dumps(masked.facts)) == masked.facts
    values = json.loads(json.dumps(method.as_dict()))
    assert values.pop("method") == method.method_name
    assert type(method)(**values) == method
    assert method.truthful
    assert "Guarantee:" in (type(method).__doc__ or "")
    assert "Reference:" in (type(method).__doc__ or "")


def test_every_method_of_the_family_is_tried_here() -> None:
    assert {type(each) for each in EXAMPLES} == set(METHODS)
    assert [each.method_name for each in METHODS] == sorted(each.method_name for each in METHODS)


@pytest.mark.parametrize("method", EXAMPLES, ids=IDS)
def test_only_what_draws_calls_itself_random(method: MaskingMethod) -> None:
    assert method.randomised == isinstance(method, Sampling)
    assert method.picks_rows == isinstance(method, Sampling)


@pytest.mark.parametrize("method", EXAMPLES, ids=IDS)
@pytest.mark.parametrize("name", ["^x$", "*", "code", "value", ""])
def test_a_column_may_have_any_name(method: MaskingMethod, name: str) -> None:
    frame = pl.DataFrame({"x": [1, 5, 12, None], "y": ["a", "b", "a", "b"]})
    plain = method.apply(frame, ["x"], rng=Seeded(1)).frame
    strange = method.apply(frame.rename({"x": name}), [name], rng=Seeded(1)).frame
    assert strange.equals(plain.rename({"x": name}))


def test_strata_may_have_any_name() -> None:
    frame = pl.DataFrame({"^x$": [1, 2] * 10, "stratum": [3] * 20, "number": [4] * 20})
    sample = Sampling(rows=10, by=tuple(frame.columns)).apply(frame, [], rng=Seeded(1))
    assert sample.facts["strata"] == 2
