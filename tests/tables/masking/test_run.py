"""A table masked by a recipe: what is released, promised, measured and kept."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from celosia import Schema, Seeded
from celosia.core.errors import InputError, PrivacyWarning
from celosia.core.release import certificate_path
from celosia.tables import masking, private, synthesis
from celosia.tables.masking import MaskedTable, MaskingMethod, MethodResult, Recipe
from celosia.tables.masking.method import Work

SCHEMA = Schema.of(
    identifiers=["name"], quasi_identifiers=["age", "zip"], sensitive=["pay"], other_columns=None
)


@pytest.fixture
def people() -> pl.DataFrame:
    draws = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "name": [f"n{number}" for number in range(200)],
            "age": draws.integers(18, 80, 200),
            "zip": draws.integers(0, 40, 200),
            "pay": draws.normal(1000, 200, 200).round(2),
        }
    )


def _masked(
    people: pl.DataFrame, *steps: tuple[MaskingMethod, list[str]], seed: int = 5
) -> MaskedTable:
    return masking.mask(people, Recipe.of(SCHEMA, steps), rng=Seeded(seed))


def test_steps_follow_each_other_and_identifiers_are_never_released(people: pl.DataFrame) -> None:
    made = _masked(
        people, (masking.Mdav(k=5), ["age", "zip"]), (masking.Rounding(base=10), ["pay"])
    )
    assert made.data.columns == ["age", "zip", "pay"]
    assert made.data.height == 200
    assert min(made.data.group_by("age", "zip").len()["len"].to_list()) >= 5
    assert (made.data["pay"] % 10).to_list() == [0] * 200
    # Means stay where every record takes the mean of its group.
    assert made.data["age"].mean() == pytest.approx(people["age"].mean(), abs=1e-9)
    assert [step.method for step in made.steps] == ["mdav", "rounding"]


def test_the_measured_k_is_promised_whatever_the_steps_intended(people: pl.DataFrame) -> None:
    crowd = _masked(people, (masking.Mdav(k=5), ["age", "zip"]))
    assert crowd.guarantee.promise.startswith(f"{crowd.account.risk.smallest}-anonymity over age")  # type: ignore[union-attr]
    undone = _masked(
        people, (masking.Mdav(k=5), ["age", "zip"]), (masking.Noise(amount=0.1), ["age"])
    )
    assert undone.guarantee.promise == "no formal guarantee"
    assert any(
        "step 1 (mdav) promises is not claimed" in gap for gap in undone.guarantee.leaves_open
    )


def test_what_came_before_undoes_no_promise_of_the_result(people: pl.DataFrame) -> None:
    made = _masked(people, (masking.Rounding(base=5), ["age"]), (masking.Mdav(k=5), ["age", "zip"]))
    assert "each combination of age, zip occurs at least 5 times" in made.guarantee.promise
    assert "is not claimed" not in str(made.guarantee.leaves_open)


def test_rows_are_shuffled_unless_asked_and_the_account_still_knows_them(
    people: pl.DataFrame,
) -> None:
    step = (masking.Noise(amount=1e-6), ["age"])
    recipe = Recipe.of(SCHEMA, [step])
    made = masking.mask(people, recipe, rng=Seeded(1))
    assert made.data["pay"].to_list() != people["pay"].to_list()
    assert sorted(made.data["pay"].to_list()) == sorted(people["pay"].to_list())
    # Hardly any noise: whoever has a value of her own is linked.
    found = made.account.compared
    assert found is not None
    alone = people.group_by("age", "zip").len().filter(pl.col("len") == 1).height
    assert found.as_dict()["risk"]["distance"]["share"] >= alone / 200
    with pytest.warns(PrivacyWarning, match="original order"):
        kept = masking.mask(people, recipe, keep_order=True, rng=Seeded(1))
    assert kept.data["pay"].to_list() == people["pay"].to_list()
    assert kept.warnings


def test_a_seed_gives_the_same_file_again_and_says_simulation(
    people: pl.DataFrame, tmp_path: Path
) -> None:
    steps = [(masking.Noise(amount=0.3), ["pay"]), (masking.RankSwap(percent=10), ["age"])]
    for name in ("one.csv", "two.csv"):
        made = _masked(people, *steps)
        made.save(tmp_path / name)
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()
    assert made.guarantee.simulation
    assert made.provenance.seed == 5
    assert _masked(people, *steps, seed=6).data["pay"].to_list() != made.data["pay"].to_list()
    real = masking.mask(people, Recipe.of(SCHEMA, steps))
    assert not real.guarantee.simulation


def test_a_release_is_read_back_with_its_certificate(people: pl.DataFrame, tmp_path: Path) -> None:
    made = _masked(people, (masking.Sampling(fraction=0.5), ["age", "zip", "pay"]))
    path = made.save(tmp_path / "safe.csv")
    back = MaskedTable.load(path)
    assert back.data.equals(made.data)
    assert back.measures() == json.loads(json.dumps(made.measures()))
    assert back.guarantee == made.guarantee
    values = json.loads(certificate_path(path).read_text())
    assert values["kind"] == "masked table"
    # Moments of the original are for the officer's report, not for the certificate.
    assert "mean" not in json.dumps(values["measures"]["figures"])
    page = made.document().html()
    assert "Masked table" in page
    assert "n17" not in page
    assert back.document().html()


def test_nothing_exact_is_told_beside_a_private_table(people: pl.DataFrame) -> None:
    schema = Schema.of(quasi_identifiers=["zip"], other_columns="identifier")
    method = private.NoisyHistogram(epsilon=1, bounds={"zip": (0, 40)}, bins={"zip": 4})
    made = masking.mask(people, Recipe.of(schema, [(method, ["zip"])]), rng=Seeded(2))
    assert made.figures == {}
    assert made.guarantee.neighbours is not None
    assert "1-differential privacy" in made.guarantee.promise
    assert made.account.compared is not None  # for the officer


def test_synthetic_rows_come_from_nobody(people: pl.DataFrame) -> None:
    made = _masked(people, (synthesis.Copula(rows=50), ["age", "zip", "pay"]))
    assert made.data.height == 50
    assert made.guarantee.promise == "no formal guarantee"
    assert "replicas" in made.account.compared.as_dict()["risk"]  # type: ignore[union-attr]
    assert "synthetic" in made.document().html()


def test_a_listing_of_counts_is_not_taken_for_records(people: pl.DataFrame) -> None:
    table = people.select("zip")
    method = private.Contingency(epsilon=1, bounds={"zip": (0, 40)}, bins=4)
    schema = Schema.of(quasi_identifiers=["zip"])
    masked = masking.mask(table, Recipe.of(schema, [(method, ["zip"])]), rng=Seeded(1))
    assert masked.data.columns == ["zip", "count"]
    assert masked.account.compared is None
    assert masked.account.lines() == []
    assert str(masked).startswith("1-differential privacy")


def test_the_given_table_stays_as_it_was(people: pl.DataFrame) -> None:
    before = people.clone()
    _masked(people, (masking.Noise(amount=1), ["age", "zip"]))
    assert people.equals(before)


def test_what_a_method_refuses_is_told_with_its_step(people: pl.DataFrame) -> None:
    steps = [(masking.Noise(amount=0.1), ["pay"]), (masking.Mdav(k=500), ["age", "zip"])]
    with pytest.raises(InputError, match="step 2 of the recipe"):
        _masked(people, *steps)
    with pytest.raises(InputError, match="no rows"):
        _masked(people.head(0), *steps)
    with pytest.raises(InputError, match="no role"):
        _masked(people.with_columns(x=pl.lit(1)), *steps)


def test_a_large_table_is_measured_on_an_even_part(
    people: pl.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    from celosia.tables.masking import account  # the module, for its limit

    monkeypatch.setattr(account.evenly_spaced, "__defaults__", (40,))
    monkeypatch.setattr(account, "MOST_RECORDS", 40)
    made = _masked(people, (masking.Noise(amount=0.2), ["age", "zip"]))
    assert made.account.compared.records == 40  # type: ignore[union-attr]


def test_sums_of_rows_through_several_picks_point_at_the_original(people: pl.DataFrame) -> None:
    """Two samplings in a row: the account links each released record with its own original."""
    half = masking.Sampling(fraction=0.5)
    made = _masked(people, (half, ["age", "zip", "pay"]), (half, ["age", "zip", "pay"]))
    assert made.data.height == 50
    whole = made.account.compared.as_dict()["risk"]["distance"]  # type: ignore[union-attr]
    # Unmasked columns: who is alone in the original is linked with certainty, ties count 1/t.
    sizes = people.select(pl.len().over("age", "zip", "pay"))["len"]
    assert sizes.max() == 1
    assert whole["share"] == 1.0


@dataclass(frozen=True)
class _Peeking(MaskingMethod):
    method_name = "peeking"
    randomised = False
    truthful = True

    def _apply(self, frame: pl.DataFrame, columns: Sequence[str], work: Work) -> MethodResult:
        return MethodResult(frame=frame, facts={"rows": frame.height})


def test_warnings_are_not_raised_for_an_ordinary_recipe(people: pl.DataFrame) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = _masked(people, (_Peeking(), ["age"]))
    assert str(made.steps[0]) == "peeking of age: rows 200"


def test_a_terminal_sees_shares_in_per_cent_and_whole_records(people: pl.DataFrame) -> None:
    made = _masked(people, (masking.Noise(amount=1e-9), ["age", "zip", "pay"]))
    values = dict(made.account.lines())
    assert values["records compared"] == "200"
    assert values["linked correctly by distance"] == "100.00%"
