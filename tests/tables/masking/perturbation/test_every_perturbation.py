"""What holds for every perturbing method alike."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded, Source, System
from celosia.tables.masking.method import MaskingMethod
from celosia.tables.masking.perturbation import (
    METHODS,
    Noise,
    Pram,
    ProbabilisticK,
    RankSwap,
    Resampling,
    Rounding,
    Shuffling,
)

EXAMPLES: list[MaskingMethod] = [
    Noise(amount=0.3),
    Noise(alpha=0.3, correlated=True, correct="expected", distribution="laplace"),
    Noise(amount=0.3, multiplicative=True, integer=True, lower=0),
    Pram(stay=0.5),
    Pram(theta=0.5),
    ProbabilisticK(k=3),
    ProbabilisticK(k=3, grouping="sort"),
    RankSwap(window=5),
    RankSwap(range_percent=30),
    Resampling(samples=3),
    Rounding(base=7, random=True),
    Shuffling(given=("z",)),
]
IDS = [f"{each.method_name} {number}" for number, each in enumerate(EXAMPLES)]


class Silent(Source):
    """A source from which nothing may be drawn."""

    simulation = True

    def raw(self, count: int) -> bytes:
        raise AssertionError(f"{count} bytes were drawn before the refusal")


def people(rows: int = 60) -> pl.DataFrame:
    rng = Seeded(9)
    return pl.DataFrame(
        {
            "x": rng.integers(50, rows) + 100,
            "y": rng.integers(9, rows) / 2,
            "z": rng.integers(1000, rows),
            "name": [f"person {number}" for number in range(rows)],
        }
    )


def test_every_method_of_the_family_is_tried_here() -> None:
    assert {type(each) for each in EXAMPLES} == set(METHODS)
    assert [each.method_name for each in METHODS] == sorted(each.method_name for each in METHODS)


@pytest.mark.parametrize("method", EXAMPLES, ids=IDS)
def test_a_seed_repeats_a_method_and_the_table_given_stays_as_it_is(method: MaskingMethod) -> None:
    frame = people()
    copy = frame.clone()
    first = method.apply(frame, ["x", "y"], rng=Seeded(1))
    assert frame.equals(copy)
    again = method.apply(frame, ["x", "y"], rng=Seeded(1))
    other = method.apply(frame, ["x", "y"], rng=Seeded(2))
    assert first.frame.equals(again.frame)
    assert first.facts == again.facts
    assert not first.frame.equals(other.frame)
    assert not first.frame.equals(frame)
    assert first.frame.columns == frame.columns
    assert first.frame.select("z", "name").equals(frame.select("z", "name"))
    assert first.rows is None
    assert not first.synthetic


@pytest.mark.parametrize("method", EXAMPLES, ids=IDS)
def test_the_operating_system_can_be_the_source(method: MaskingMethod) -> None:
    frame = people()
    masked = [method.apply(frame, ["x", "y"], rng=System()).frame for _ in range(2)]
    # The least random of them, rounding of 60 values, repeats itself with a chance below 2**-40.
    assert not masked[0].equals(masked[1])


@pytest.mark.parametrize("method", EXAMPLES, ids=IDS)
def test_empty_cells_stay_empty_and_no_others_become_so(method: MaskingMethod) -> None:
    frame = people().with_columns(
        pl.when(pl.int_range(60) % 4 != 0).then(pl.col("x")).alias("x"),
        pl.when(pl.int_range(60) % 6 != 0).then(pl.col("y")).alias("y"),
    )
    masked = method.apply(frame, ["x", "y"], rng=Seeded(1)).frame
    for name in ("x", "y"):
        assert masked[name].is_null().to_list() == frame[name].is_null().to_list()
        assert not masked[name].cast(pl.Float64).is_nan().any()


@pytest.mark.parametrize("method", EXAMPLES, ids=IDS)
def test_facts_are_plain_values_and_parameters_a_step_of_a_recipe(method: MaskingMethod) -> None:
    facts = method.apply(people(), ["x", "y"], rng=Seeded(1)).facts
    assert json.loads(json.dumps(facts)) == facts
    values = json.loads(json.dumps(method.as_dict()))
    assert values.pop("method") == method.method_name
    assert type(method)(**values) == method
    assert method.randomised
    assert not method.truthful
    assert "Guarantee:" in (type(method).__doc__ or "")
    assert "Reference:" in (type(method).__doc__ or "")


CONSTANT = people().with_columns(y=pl.lit(7.5))
EMPTY = people().with_columns(y=pl.lit(None, dtype=pl.Float64))
TEXTS = people().with_columns(y=pl.col("name"))
ENDLESS = people().with_columns(y=pl.col("y") / 0)


@pytest.mark.parametrize("method", EXAMPLES, ids=IDS)
@pytest.mark.parametrize("frame", [CONSTANT, EMPTY, people().clear()], ids=["one", "none", "rows"])
def test_columns_that_do_not_vary_are_refused_before_anything_is_drawn(
    method: MaskingMethod, frame: pl.DataFrame
) -> None:
    if isinstance(method, Rounding):  # rounds whatever is there, and nothing if nothing is
        assert method.apply(frame, ["y"], rng=Seeded(1)).frame.height == frame.height
        return
    with pytest.raises(InputError) as caught:
        method.apply(frame, ["x", "y"], rng=Silent())
    assert caught.value.code in {"CEL-V101", "CEL-V202"}
    assert "7.5" not in str(caught.value)


@pytest.mark.parametrize("method", EXAMPLES, ids=IDS)
def test_texts_in_a_method_for_numbers_are_refused_and_no_cell_is_told(
    method: MaskingMethod,
) -> None:
    if isinstance(method, Pram) or getattr(method, "grouping", "") == "sort":
        assert method.apply(TEXTS, ["y"], rng=Seeded(1)).frame["y"].dtype == pl.String
        return
    with pytest.raises(InputError) as caught:
        method.apply(TEXTS, ["x", "y"], rng=Silent())
    assert caught.value.code in {"CEL-V004", "CEL-V210"}
    assert "person" not in str(caught.value)


@pytest.mark.parametrize("method", EXAMPLES, ids=IDS)
def test_infinite_values_are_refused_by_methods_that_compute(method: MaskingMethod) -> None:
    if isinstance(method, Pram) or getattr(method, "grouping", "") == "sort":
        return  # an infinite value is a category like another
    with pytest.raises(InputError) as caught:
        method.apply(ENDLESS, ["x", "y"], rng=Silent())
    assert caught.value.code == "CEL-V005"


@pytest.mark.parametrize("method", EXAMPLES, ids=IDS)
def test_columns_that_are_absent_or_named_twice_are_refused(method: MaskingMethod) -> None:
    for columns, code in ((["q"], "CEL-V003"), (["x", "x"], "CEL-V002"), ([], "CEL-V001")):
        if isinstance(method, Shuffling) and not columns:
            continue  # its predictors are columns
        with pytest.raises(InputError) as caught:
            method.apply(people(), columns, rng=Silent())
        assert caught.value.code == code


@pytest.mark.parametrize("method", EXAMPLES, ids=IDS)
def test_two_rows_are_enough_or_refused_in_words(method: MaskingMethod) -> None:
    frame = pl.DataFrame({"x": [1, 2], "y": [1.0, 3.0], "z": [5, 6]})
    if isinstance(method, ProbabilisticK):
        with pytest.raises(InputError, match="2 records"):
            method.apply(frame, ["x", "y"], rng=Silent())
    else:
        assert method.apply(frame, ["x", "y"], rng=Seeded(1)).frame.height == 2


def test_whole_numbers_of_numpy_are_parameters_too() -> None:
    assert RankSwap(window=np.int64(3)).as_dict() == {  # type: ignore[arg-type]
        "method": "rank-swap",
        "window": 3,
    }


@pytest.mark.parametrize("method", EXAMPLES, ids=IDS)
@pytest.mark.parametrize("name", ["^x$", "*", "code", "value", ""])
def test_a_column_may_have_any_name(method: MaskingMethod, name: str) -> None:
    frame = people().rename({"x": name})
    plain = method.apply(people(), ["x"], rng=Seeded(1)).frame
    strange = method.apply(frame, [name], rng=Seeded(1)).frame
    assert strange.equals(plain.rename({"x": name}))
