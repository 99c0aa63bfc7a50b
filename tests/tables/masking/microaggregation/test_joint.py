"""Columns together: k-anonymity by construction, categories, empty cells, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from celosia.assess.risk import measure
from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.tables.masking.method import MethodResult
from celosia.tables.masking.microaggregation import (
    METHODS,
    JointMicroaggregation,
    Mdav,
    PrincipalComponent,
    RefinedMdav,
    VariableMdav,
    information_loss,
    mdav_groups,
)

JOINT: tuple[type[JointMicroaggregation], ...] = (
    Mdav,
    RefinedMdav,
    VariableMdav,
    PrincipalComponent,
)


def masked(frame: pl.DataFrame, method: JointMicroaggregation, *columns: str) -> MethodResult:
    return method.apply(frame, columns or frame.columns, rng=Seeded(1))


def people(size: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "income": np.exp(rng.normal(10, 1, size)),
            "age": rng.integers(18, 90, size),
            "school": rng.choice(["none", "basic", "upper", "degree"], size),
            "town": rng.choice(["A", "B", "C", "D", "E"], size),
        }
    )


def test_every_kind_of_method_has_its_own_name() -> None:
    kinds = [method.method_name for method in METHODS]
    assert kinds == ["microaggregation", "mdav", "mdav-refined", "v-mdav", "principal-component"]
    assert not any(method.randomised or method.truthful for method in METHODS)


@pytest.mark.parametrize("kind", JOINT)
@pytest.mark.parametrize("k", [2, 5])
def test_numbers_are_k_anonymous_and_keep_their_means(
    kind: type[JointMicroaggregation], k: int
) -> None:
    frame = people(120, 1).select("income", "age")
    done = masked(frame, kind(k=k))
    assert measure(done.frame, frame.columns).maximum <= 1 / k
    for name in frame.columns:
        assert done.frame[name].mean() == pytest.approx(frame[name].mean(), rel=1e-12)
    assert done.facts["smallest_group"] >= k
    assert done.facts["largest_group"] <= 2 * k - 1
    assert done.rows is None


def test_the_facts_are_those_of_the_groups() -> None:
    frame = people(60, 2).select("income", "age")
    matrix = frame.to_numpy()
    labels = mdav_groups(matrix, 3)
    facts = masked(frame, Mdav(k=3)).facts
    assert facts["loss_percent"] == pytest.approx(information_loss(matrix, labels), rel=1e-12)
    assert facts["total_squares"] == pytest.approx(120, rel=1e-12)  # 60 records, 2 unit variances
    assert facts["groups"] == labels.max() + 1
    assert facts["patterns_of_empty_cells"] == 1


def test_released_values_are_centroids_on_the_original_scale() -> None:
    frame = people(30, 3).select("income", "age")
    labels = mdav_groups(frame.to_numpy(), 4)
    done = masked(frame, Mdav(k=4)).frame
    for label in range(labels.max() + 1):
        group = frame.filter(pl.Series(labels == label))
        found = done.filter(pl.Series(labels == label))
        assert found["income"].to_list() == pytest.approx([group["income"].mean()] * len(group))
        assert found["age"].to_list() == pytest.approx([group["age"].mean()] * len(group))


def test_medians_and_whole_numbers_may_stand_for_a_group() -> None:
    frame = pl.DataFrame({"a": [1, 2, 9, 50, 51, 60]})
    assert masked(frame, Mdav(k=3, representative="median")).frame["a"].to_list() == [
        2, 2, 2, 51, 51, 51,
    ]  # fmt: skip
    truncated = masked(frame, Mdav(k=3, truncate=True)).frame["a"]
    assert truncated.to_list() == [4, 4, 4, 53, 53, 53]
    assert truncated.dtype == pl.Int64


@pytest.mark.parametrize("kind", JOINT)
def test_numbers_and_categories_together_are_k_anonymous(kind: type[JointMicroaggregation]) -> None:
    frame = people(150, 4)
    schools = ["none", "basic", "upper", "degree"]
    method = kind(k=4, nominal=("town",), ordinal=("school",), orders={"school": schools})
    done = masked(frame, method)
    assert measure(done.frame, frame.columns).maximum <= 0.25
    assert set(done.frame["school"]) <= set(schools)
    assert done.frame["town"].dtype == frame["town"].dtype


def test_ordered_categories_become_their_median_and_nominal_ones_their_mode() -> None:
    frame = pl.DataFrame(
        {
            "size": ["S", "M", "M", "XL", "L", "XL"],
            "colour": ["red", "red", "blue", "green", "green", "red"],
        }
    )
    method = Mdav(
        k=3, ordinal=("size",), nominal=("colour",), orders={"size": ["S", "M", "L", "XL"]}
    )
    done = masked(frame, method).frame
    # Plain check: S and XL are the far ends, so the groups are the first and the last three rows.
    assert done["size"].to_list() == ["M", "M", "M", "XL", "XL", "XL"]
    assert done["colour"].to_list() == ["red", "red", "red", "green", "green", "green"]


def test_two_nominal_values_are_as_far_apart_as_the_ends_of_a_range() -> None:
    # A quarter of the range is nearer than another town, so towns are kept apart.
    frame = pl.DataFrame({"n": [0, 1, 2, 8, 0, 1, 2, 8], "town": list("AAAABBBB")})
    done = masked(frame, Mdav(k=4, nominal=("town",))).frame
    assert done["town"].to_list() == list("AAAABBBB")
    assert done["n"].to_list() == [2.75] * 8


def test_empty_cells_stay_empty_and_records_are_grouped_by_them() -> None:
    frame = pl.DataFrame(
        {"a": [1.0, 2.0, 3.0, 4.0, None, None], "b": [1.0, 2.0, float("nan"), None, 5.0, 7.0]}
    )
    done = masked(frame, Mdav(k=2))
    assert done.frame["a"].to_list() == [1.5, 1.5, 3.5, 3.5, None, None]
    assert done.frame["b"].to_list() == [1.5, 1.5, None, None, 6.0, 6.0]
    assert done.facts["patterns_of_empty_cells"] == 3
    assert done.facts["emptied_cells"] == 0


@given(st.integers(2, 4), st.integers(0, 2**32 - 1), st.sampled_from(JOINT))
@settings(max_examples=40, deadline=None)
def test_empty_cells_leave_the_table_k_anonymous_or_are_refused(
    k: int, seed: int, kind: type[JointMicroaggregation]
) -> None:
    rng = np.random.default_rng(seed)
    frame = people(60, seed).with_columns(
        pl.when(pl.Series(rng.random(60) < 0.15)).then(None).otherwise(pl.col(name)).alias(name)
        for name in ("age", "town")
    )
    before = frame.clone()
    method = kind(k=k, nominal=("town", "school"), rare_patterns="empty")
    filled = frame.select(pl.all().is_not_null()).unique().height
    try:
        done = masked(frame, method)
    except InputError as refused:
        assert refused.code == "CEL-V112"  # noqa: PT017 - either outcome is right
        return
    assert_frame_equal(frame, before)
    sizes = done.frame.group_by(frame.columns).len()["len"]
    assert sizes.min() >= k  # type: ignore[operator]
    emptied = int(
        (done.frame.null_count().sum_horizontal() - frame.null_count().sum_horizontal())[0]
    )
    assert done.facts["emptied_cells"] == emptied
    assert done.facts["patterns_of_empty_cells"] <= filled


def test_a_rare_pattern_is_refused_by_count_and_emptied_on_request() -> None:
    frame = pl.DataFrame(
        {"a": [1, 2, 3, 4, 77777, None], "b": [1, 2, 3, 4, None, 88888], "c": [1, 2, 3, 4, 5, 6]}
    )
    with pytest.raises(InputError) as caught:
        masked(frame, Mdav(k=2))
    assert caught.value.code == "CEL-V112"
    assert "2 records" in str(caught.value)
    assert "7777" not in str(caught.value)
    assert "8888" not in str(caught.value)
    done = masked(frame, Mdav(k=2, rare_patterns="empty"))
    assert done.frame.row(4) == done.frame.row(5) == (None, None, None)
    assert done.facts["emptied_cells"] == 4
    with pytest.raises(InputError) as caught:  # one emptied record would be alone
        masked(frame.head(5), Mdav(k=2, rare_patterns="empty"))
    assert caught.value.code == "CEL-V112"


def test_a_table_without_a_full_record_is_masked_too() -> None:
    frame = pl.DataFrame({"a": [1, 3, None, None, None], "b": [None, None, 5, 7, 9]})
    done = masked(frame, Mdav(k=2)).frame
    assert done["a"].to_list() == [2, 2, None, None, None]
    assert done["b"].to_list() == [None, None, 7, 7, 7]


def test_only_the_records_that_are_too_few_are_counted() -> None:
    frame = pl.DataFrame(
        {"a": [1, 2, 3, None, None, None, 4], "b": [1, 2, 3, None, None, None, None]}
    )
    with pytest.raises(InputError, match=r"^1 record has"):
        masked(frame, Mdav(k=3))
    done = masked(frame, Mdav(k=3, rare_patterns="empty"))
    assert done.frame["a"].to_list() == [2, 2, 2, None, None, None, None]
    assert done.facts["emptied_cells"] == 1


def test_a_table_that_would_be_emptied_wholly_is_refused() -> None:
    frame = pl.DataFrame({"a": [1, 2, None, None], "b": [None, None, 3, 4]})
    with pytest.raises(InputError) as caught:
        masked(frame, Mdav(k=3, rare_patterns="empty"))
    assert caught.value.code == "CEL-V112"


def test_the_promise_names_the_columns_and_what_is_left_open() -> None:
    assert Mdav(k=4).promise(["a", "b"]) == "each combination of a, b occurs at least 4 times"
    assert "outside the step" in Mdav().leaves_open(["a"])[0]


def test_a_recipe_gives_lists_and_gets_them_back() -> None:
    step: dict[str, Any] = {"k": 4, "nominal": ["town"], "ordinal": [], "block": 100}
    method = Mdav(**step)
    assert method.nominal == ("town",)
    assert method.as_dict() == {"method": "mdav", "k": 4, "nominal": ["town"], "block": 100}
    assert VariableMdav(gamma=1.1).as_dict() == {"method": "v-mdav", "gamma": 1.1}


@pytest.mark.parametrize(
    ("kind", "parameters", "code"),
    [
        (Mdav, {"k": 0}, "CEL-I060"),
        (Mdav, {"block": 4}, "CEL-V104"),
        (RefinedMdav, {"block": 4}, "CEL-V104"),
        (VariableMdav, {"gamma": -1}, "CEL-I060"),
        (Mdav, {"representative": "mode"}, "CEL-I060"),
        (PrincipalComponent, {"rare_patterns": "keep"}, "CEL-I060"),
    ],
)
def test_bad_parameters_are_refused_at_once(
    kind: type[JointMicroaggregation], parameters: dict[str, Any], code: str
) -> None:
    with pytest.raises(InputError) as caught:
        kind(**parameters)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("columns", "parameters", "code"),
    [
        ({"a": [1, 2], "b": [3, 4]}, {}, "CEL-V101"),
        ({"a": [1, 2, 3], "b": [4, 4, 4]}, {}, "CEL-V108"),
        ({"a": [1, 2, 3], "b": [None, None, None]}, {}, "CEL-V108"),
        ({"a": [1, 2, 3], "b": ["secret", "x", "y"]}, {}, "CEL-V004"),
        ({"a": [1.0, 2.0, float("inf")]}, {}, "CEL-V005"),
        ({"a": [1, 2, 3]}, {"nominal": ("b",)}, "CEL-V110"),
        ({"a": [1, 2, 3]}, {"nominal": ("a",), "ordinal": ("a",)}, "CEL-V110"),
        ({"a": [1, 2, 3]}, {"orders": {"a": [1, 2, 3]}}, "CEL-V110"),
        ({"a": [f"secret{i}" for i in range(1001)]}, {"nominal": ("a",)}, "CEL-V111"),
        ({"a": []}, {}, "CEL-V108"),
    ],
)
def test_bad_tables_are_refused_without_showing_a_cell(
    columns: dict[str, list[Any]], parameters: dict[str, Any], code: str
) -> None:
    empty = {n: pl.Int64 for n, cells in columns.items() if not cells or cells[0] is None}
    with pytest.raises(InputError) as caught:
        masked(pl.DataFrame(columns, schema_overrides=empty), Mdav(**parameters))
    assert caught.value.code == code
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("name", ["nominal", "ordinal", "orders", "integer", "truncate"])
@pytest.mark.parametrize(
    "value", [3, 0.5, [["a"]], {"a": 1}, "yes please", [None], {"a": [1, "b"]}]
)
def test_parameters_of_the_wrong_kind_are_refused_and_never_guessed(name: str, value: Any) -> None:
    if name in ("nominal", "ordinal") and isinstance(value, str):
        options: dict[str, Any] = {name: value}
        assert getattr(Mdav(**options), name) == (value,)  # one name is a list of it
        return
    with pytest.raises(InputError) as caught:
        Mdav(**{name: value})
    assert caught.value.code == "CEL-I060"
    assert "please" not in str(caught.value)
