"""What a masked table promises holds of the file, and nothing beside it tells more."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from celosia import Schema, Seeded
from celosia.assess.accounts import SyntheticAccount
from celosia.core.errors import InputError
from celosia.tables import masking, private, synthesis
from celosia.tables.masking import MaskedTable, MaskingMethod, Recipe
from celosia.tables.masking.run import guarantee

PRIVATE: list[private.PrivateMethod] = [
    private.Contingency(epsilon=1, bounds={"x": (0, 9)}, bins=4, output="rows"),
    private.Marginals(epsilon=1, bounds={"x": (0, 9)}),
    private.NoisyHistogram(epsilon=1, bounds={"x": (0, 9)}),
]
IDS = [each.method_name for each in PRIVATE]


def masked(
    frame: pl.DataFrame, *steps: tuple[MaskingMethod, list[str]], **roles: Any
) -> MaskedTable:
    schema = Schema.of(**({"quasi_identifiers": frame.columns} | roles))
    return masking.mask(frame, Recipe.of(schema, steps), rng=Seeded(5))


@pytest.mark.parametrize(
    "method",
    [
        masking.LocalSuppression(k=3),
        masking.LocalSuppression(k=3, marker="*"),
        masking.RankSwap(window=2),
        masking.Noise(amount=0),
    ],
    ids=["blank", "marker", "rank-swap", "noise"],
)
def test_minus_zero_does_not_split_a_class_in_the_file(
    method: MaskingMethod, tmp_path: Path
) -> None:
    frame = pl.DataFrame({"x": [-0.0, 0.0, 0.0, -0.0, 1.5, 1.5, 1.5, 7.0]})
    made = masked(frame, (method, ["x"]))
    made.save(tmp_path / "safe.csv")
    lines = (tmp_path / "safe.csv").read_text().splitlines()[1:]
    assert made.account.risk is not None
    assert min(Counter(lines).values()) == made.account.risk.smallest
    assert not any("-0.0" in line for line in lines)


def test_a_multiplied_zero_has_no_sign_in_the_file(tmp_path: Path) -> None:
    # A factor below 0 makes -0.0 of 0.0, and nearly half of these factors are.
    made = masked(
        pl.DataFrame({"x": [0.0] * 40 + [1.0]}),
        (masking.Noise(amount=50, multiplicative=True), ["x"]),
    )
    made.save(tmp_path / "safe.csv")
    assert Counter((tmp_path / "safe.csv").read_text().splitlines())["0.0"] == 40


@pytest.mark.parametrize(
    ("method", "facts"),
    [
        (masking.Microaggregation(k=2), ("squared_error", "total_squares")),
        (masking.Mdav(k=2), ("squared_error", "total_squares")),
        (masking.Noise(amount=0.1), ("noise",)),
        (synthesis.Distribution(), ("aic",)),
    ],
    ids=["microaggregation", "mdav", "noise", "distribution"],
)
def test_a_certificate_holds_no_moment_of_the_original(
    method: MaskingMethod, facts: tuple[str, ...]
) -> None:
    made = masked(pl.DataFrame({"x": [10.0, 14.0, 31.0]}), (method, ["x"]))
    outcome, written = json.dumps(made.steps[0].facts), json.dumps(made.certificate()["measures"])
    page = made.document().html()  # for those who may see the original
    for fact in facts:
        assert f'"{fact}": ' in outcome
        assert f'"{fact}": ' not in written
        assert re.search(f"{fact.replace('_', ' ')}(: |<)", page)


def test_a_group_of_two_cannot_be_solved_from_the_certificate() -> None:
    made = masked(pl.DataFrame({"x": [10.0, 14.0]}), (masking.Microaggregation(k=2), ["x"]))
    square = made.steps[0].facts["columns"]["x"]["squared_error"]
    # With the mean, which is published, it gives both cells.
    assert made.data["x"][0] + math.sqrt(square / 2) == 14.0
    assert not _numbers(made.certificate()["measures"]) & {8.0, 4.0, 2.0, math.sqrt(8)} - {2.0}


def _numbers(values: Any) -> set[float]:
    if isinstance(values, dict):
        return set().union(*map(_numbers, values.values()), set())
    if isinstance(values, list):
        return set().union(*map(_numbers, values), set())
    return {float(values)} if isinstance(values, int | float) else set()


def test_a_representation_holds_neither_cells_nor_moments() -> None:
    made = masked(
        pl.DataFrame({"x": [1234.5, 1240.25, 1251.75]}), (masking.Microaggregation(k=3), ["x"])
    )
    assert "mean_before" not in repr(made)
    assert "squared_error" not in repr(made)
    assert "12" not in repr(made).split("provenance")[0]


@pytest.mark.parametrize("method", PRIVATE, ids=IDS)
def test_no_cell_makes_a_private_release_refuse(method: private.PrivateMethod) -> None:
    for cell in (math.inf, -math.inf, math.nan, 1e300, None, -0.0):
        made = masked(pl.DataFrame({"x": [1.0, 2.0, cell]}), (method, ["x"]))
        assert made.guarantee.promise.startswith(str(method.budget))


@pytest.mark.parametrize("method", PRIVATE, ids=IDS)
def test_whether_anybody_is_in_the_table_is_private_too(method: private.PrivateMethod) -> None:
    nobody = pl.DataFrame({"x": []}, schema={"x": pl.Float64})
    made = masked(nobody, (method, ["x"]))
    assert made.data.columns == ["x"]
    assert made.account.compared is None
    with pytest.raises(InputError) as refusal:
        masked(nobody, (masking.Noise(amount=1), ["x"]))
    assert refusal.value.code == "CEL-P015"


def test_a_private_promise_says_what_it_assumes() -> None:
    frame = pl.DataFrame({"x": [1.0, 2.0, 3.0]})
    (guarantee,) = [masked(frame, (PRIVATE[0], ["x"])).guarantee]
    assert any("not taken from the data" in text for text in guarantee.assumes)
    assert "add or remove" in str(guarantee.neighbours)
    undone = masked(frame, (masking.Rounding(base=2), ["x"]), (PRIVATE[0], ["x"])).guarantee
    assert undone.promise == "no formal guarantee"
    assert undone.neighbours is None
    assert len(undone.assumes) == 1


def test_kept_order_is_named_as_a_gap() -> None:
    recipe = Recipe.of(Schema.of(quasi_identifiers=["x"]), [(masking.ProbabilisticK(k=3), ["x"])])
    kept = guarantee(recipe, ["x"], k=1, simulation=False, keep_order=True)
    mixed = guarantee(recipe, ["x"], k=1, simulation=False)
    assert any("original order" in gap for gap in kept.leaves_open)
    assert not any("original order" in gap for gap in mixed.leaves_open)


def test_whole_numbers_of_128_bits_are_refused_before_anything_is_drawn() -> None:
    frame = pl.DataFrame({"x": pl.Series([1, 2, 3], dtype=pl.Int128)})
    for method in (masking.Noise(amount=1), masking.RankSwap(window=1), synthesis.Copula()):
        with pytest.raises(InputError) as refusal:
            masked(frame, (method, ["x"]))
        assert refusal.value.code == "CEL-V023"


@pytest.mark.parametrize("name", ["*", "a,b"])
@pytest.mark.parametrize(
    "kind", [*synthesis.METHODS, *private.METHODS], ids=lambda kind: kind.method_name
)
def test_new_rows_have_every_column_whatever_it_is_called(
    name: str, kind: type[MaskingMethod]
) -> None:
    frame = pl.DataFrame({name: [1, 2, 3, 4] * 5, "x": [4, 3, 2, 1] * 5})
    parameters: dict[str, Any] = {}
    if issubclass(kind, private.PrivateMethod):
        parameters = {"epsilon": 1, "bounds": {name: (0, 9), "x": (0, 9)}}
    if kind is private.PrivateMicroaggregation:
        parameters["k"] = 2
    if kind in (private.Contingency, private.NoisyHistogram):
        parameters["output"] = "rows"
    assert masked(frame, (kind(**parameters), frame.columns)).data.columns == [name, "x"]


def test_members_of_a_synthetic_table_are_told_from_a_holdout() -> None:
    # A leaf of one row repeats the row: everybody in the table is at distance 0 from it.
    people = pl.DataFrame({"x": [step / 7 for step in range(60)], "y": [1.0, 2.0] * 30})
    schema = Schema.of(quasi_identifiers=[], sensitive=["y"], other_columns="insensitive")
    recipe = Recipe.of(schema, [(synthesis.Trees(leaf=1), ["x", "y"])])
    inside, outside = people[::2], people[1::2]
    made = masking.mask(inside, recipe, holdout=outside, rng=Seeded(5))
    assert isinstance(made.account.compared, SyntheticAccount)
    assert made.account.compared.membership is not None
    assert made.account.compared.membership.auc > 0.7
    assert made.figures["compared"]["membership AUC"] == made.account.compared.membership.auc
    assert "membership" in str(made)
    again = masking.mask(inside, recipe, holdout=outside, rng=Seeded(5))
    assert again.data.equals(made.data)
    assert again.figures == made.figures
    # What is sensitive is what an attacker wants to know, also of new rows.
    assert [each.column for each in made.account.compared.attributes] == ["y"]


def test_a_holdout_is_refused_where_every_row_is_somebodys() -> None:
    frame = pl.DataFrame({"x": [1.0, 2.0, 3.0]})
    recipe = Recipe.of(Schema.of(quasi_identifiers=["x"]), [(masking.Noise(amount=1), ["x"])])
    with pytest.raises(InputError) as refusal:
        masking.mask(frame, recipe, holdout=frame, rng=Seeded(5))
    assert refusal.value.code == "CEL-V024"


def test_a_holdout_of_a_private_table_is_never_published() -> None:
    frame = pl.DataFrame({"x": [float(step % 10) for step in range(50)]})
    recipe = Recipe.of(Schema.of(quasi_identifiers=["x"]), [(PRIVATE[1], ["x"])])
    made = masking.mask(frame, recipe, holdout=frame[:20], rng=Seeded(5))
    assert "AUC" in str(made.account.compared)
    assert "AUC" not in str(made)
    assert "AUC" not in json.dumps(made.certificate())
