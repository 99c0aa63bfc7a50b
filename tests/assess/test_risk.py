"""Risk by its formulas, and measured on frames, files and streams alike."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.assess.risk import (
    THRESHOLD,
    RiskProfile,
    attacker_risks,
    individual_risk,
    measure,
)
from celosia.core.errors import InputError
from celosia.frames import read_chunks, write


def profile(*sizes: int, **more: Any) -> RiskProfile:
    return RiskProfile.of_sizes(np.array(sizes, dtype=np.int64), **more)


def test_the_figures_of_a_table_by_hand() -> None:
    assert profile(1, 1, 2, 16, suppressed=4) == RiskProfile(
        records=20,
        suppressed=4,
        classes=4,
        smallest=1,
        largest=16,
        average_size=5.0,
        unique=2,
        average=0.2,
        maximum=1.0,
        at_risk=0.2,
        threshold=THRESHOLD,
    )


@given(st.lists(st.integers(1, 60), min_size=1, max_size=30), st.integers(0, 9))
def test_risks_follow_their_formulas(sizes: list[int], suppressed: int) -> None:
    found = profile(*sizes, suppressed=suppressed)
    records = sum(sizes)
    assert found.average == len(sizes) / records
    assert found.maximum == 1 / min(sizes)
    assert found.at_risk == sum(size for size in sizes if size < 10) / records
    assert found.unique == sizes.count(1)
    assert found.average * found.average_size == pytest.approx(1)
    assert 0 < found.average <= found.maximum <= 1


@pytest.mark.parametrize(
    ("size", "threshold", "at_risk"),
    [
        (10, 0.1, 0.0),
        (9, 0.1, 1.0),
        (5, 0.2, 0.0),
        (4, 0.2, 1.0),
        (3, 1 / 3, 0.0),
        (50, 0.02, 0.0),
        (1, 1.0, 0.0),
    ],
)
def test_a_risk_equal_to_the_threshold_is_not_above_it(
    size: int, threshold: float, at_risk: float
) -> None:
    assert profile(size, threshold=threshold).at_risk == at_risk


@pytest.mark.parametrize("threshold", [0, -0.1, 1.1, float("nan")])
def test_a_threshold_outside_its_range_is_refused(threshold: float) -> None:
    with pytest.raises(InputError) as caught:
        profile(3, threshold=threshold)
    assert caught.value.code == "CEL-A001"


def test_an_empty_table_has_no_risk() -> None:
    found = profile()
    assert (found.records, found.classes, found.smallest, found.largest) == (0, 0, 0, 0)
    assert (found.average, found.maximum, found.at_risk, found.average_size) == (0, 0, 0, 0)


def test_a_table_of_which_all_is_suppressed_has_no_risk_left() -> None:
    found = profile(suppressed=7)
    assert (found.records, found.suppressed, found.maximum) == (0, 7, 0)


def test_a_profile_gives_plain_values() -> None:
    assert all(type(value) in (int, float) for value in profile(3, 4).as_dict().values())
    assert RiskProfile(**profile(3, 4).as_dict()) == profile(3, 4)


TABLE = pl.DataFrame(
    {
        "age": ["20-29", "20-29", "30-39", None, None, "*", "*"],
        "sex": ["F", "F", "M", "M", "M", "*", "F"],
        "disease": ["a", "b", "c", "d", "e", "f", "g"],
    }
)
MEASURED = profile(2, 1, 2, 1, suppressed=1)


def test_a_frame_is_measured_by_its_quasi_identifiers_alone() -> None:
    assert measure(TABLE, ["age", "sex"]) == MEASURED


@pytest.mark.parametrize(
    "convert", [pl.DataFrame.to_arrow, pl.DataFrame.lazy], ids=["arrow", "lazy"]
)
def test_any_table_is_measured(convert: Any) -> None:
    assert measure(convert(TABLE), ["age", "sex"]) == MEASURED


def test_a_pandas_frame_is_measured() -> None:
    table = pd.DataFrame(TABLE.to_dict(as_series=False))
    assert measure(table, ["age", "sex"]) == MEASURED


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow", "jsonl", "xlsx"])
@pytest.mark.parametrize("kind", [str, Path])
def test_a_file_is_measured_as_its_table(tmp_path: Path, suffix: str, kind: type) -> None:
    path = tmp_path / f"table.{suffix}"
    write(TABLE, path)
    assert measure(kind(path), ["age", "sex"]) == MEASURED


def test_chunks_are_measured_as_the_table_they_make(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    write(TABLE, path)
    assert measure(read_chunks(path, rows=2), ["age", "sex"]) == MEASURED
    assert measure((TABLE[row] for row in range(7)), ["age", "sex"]) == MEASURED


def test_the_threshold_is_passed_on() -> None:
    assert measure(TABLE, ["sex"], threshold=0.4).at_risk == 0.0
    assert measure(TABLE, ["sex"], threshold=0.3).at_risk == 1.0


def test_a_star_in_some_columns_only_is_no_suppression() -> None:
    table = pl.DataFrame({"age": ["*", "*", "1"], "sex": ["F", "F", "F"]})
    assert measure(table, ["age", "sex"]) == profile(2, 1)


def test_a_fully_general_table_is_one_class_and_not_suppressed() -> None:
    table = pl.DataFrame({"age": ["*"] * 4, "sex": ["*"] * 4})
    assert measure(table, ["age", "sex"]) == profile(4)


def test_a_table_without_rows_has_no_risk() -> None:
    assert measure(TABLE.clear(), ["age", "sex"]) == profile()


@settings(max_examples=50)
@given(
    st.lists(
        st.tuples(st.sampled_from([None, "*", "a", ""]), st.sampled_from([None, 1, 2])), min_size=1
    )
)
def test_measuring_equals_counting(rows: list[tuple[str | None, int | None]]) -> None:
    table = pl.DataFrame(rows, schema={"a": pl.String, "b": pl.Int64}, orient="row")
    assert measure(table, ["a", "b"]).classes == len(Counter(rows))


@pytest.mark.parametrize("names", [[], ()])
def test_no_quasi_identifiers_are_refused(names: Any) -> None:
    with pytest.raises(InputError) as caught:
        measure(TABLE, names)
    assert caught.value.code == "CEL-A002"


def test_an_unknown_column_is_refused_with_the_nearest() -> None:
    with pytest.raises(InputError, match=r"'agee' \(did you mean 'age'\?\)") as caught:
        measure(TABLE, ["agee", "sex"])
    assert (caught.value.code, caught.value.details["columns"]) == ("CEL-A003", ["agee"])


def test_columns_that_differ_in_case_alone_are_measured() -> None:
    table = pl.DataFrame({"sex": ["F", "F", "M"], "Sex": ["1", "2", "3"]})
    assert measure(table, ["sex", "Sex"]) == profile(1, 1, 1)


def test_a_column_named_twice_counts_once() -> None:
    assert measure(TABLE, ["sex", "sex"]) == measure(TABLE, "sex")


def test_durations_are_measured() -> None:
    table = pl.DataFrame({"stay": pl.Series([1000, 1000, 5], dtype=pl.Duration("us"))})
    assert measure(table, ["stay"]) == profile(2, 1)


def test_weights_give_the_risk_of_a_sample_from_a_population() -> None:
    table = pl.DataFrame({"area": ["a", "a", "b", "*"], "weight": [55.0, 55.0, 5.0, 10.0]})
    found = attacker_risks(table, "area", weights="weight")
    assert (found.basis, found.population, found.suppressed) == ("weights", 115.0, 1)
    alone = individual_risk(table.head(3), keys=["area"], weights="weight")
    assert found.journalist.maximum == pytest.approx(alone.risk.max())
    assert found.marketer.average == pytest.approx(alone.average)
    same = pl.DataFrame({"area": ["a", "a", "b"], "weight": [10.0, 10.0, 10.0]})
    by_fraction = attacker_risks(same, "area", sampling_fraction=0.1)
    by_weights = attacker_risks(same, "area", weights="weight")
    assert by_weights.journalist.maximum == pytest.approx(by_fraction.journalist.maximum)
    with pytest.raises(InputError) as caught:
        attacker_risks(same, "area", weights="weight", sampling_fraction=0.1)
    assert caught.value.code == "CEL-A020"
    with pytest.raises(InputError, match="area") as caught:
        attacker_risks(same, "weight", weights="area")
    assert caught.value.code == "CEL-A291"
