"""Tables and wishes that cannot work, or only just: a clear word, never a stack trace."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from celosia import KAnonymity
from celosia.core.errors import CelosiaError, InputError, PrivacyError
from celosia.tables import (
    AlphaK,
    AverageRisk,
    BetaLikeness,
    Column,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    Hierarchy,
    Ordered,
    PSensitive,
    RecursiveDiversity,
    Role,
    Schema,
    TCloseness,
    check,
    explore,
    publish,
)
from celosia.tables.metrics import METRICS
from celosia.tables.models import Model
from celosia.tables.models.t_closeness import Distance

pytestmark = pytest.mark.filterwarnings("ignore::celosia.core.errors.PrivacyWarning")

LETTERS = Hierarchy.from_paths([(leaf, "*") for leaf in "xyz"])
ROLES = Schema.of(quasi_identifiers={"a": LETTERS}, sensitive=["s"])
SMALL = pl.DataFrame({"a": [*"xxyy"], "s": ["p", "q", "p", "q"]})

SENSITIVE_MODELS: list[Model] = [
    DistinctDiversity(2, "s"),
    EntropyDiversity(1.5, column="s"),
    EntropyDiversity(1.5, estimator="grassberger", column="s"),
    RecursiveDiversity(2, 2, "s"),
    TCloseness(0.3, "equal", "s"),
    AlphaK(0.6, 2, "s"),
    PSensitive(2, 2, "s"),
    BetaLikeness(1, column="s"),
    BetaLikeness(1, enhanced=True, column="s"),
    DeltaDisclosure(1, column="s"),
    DeltaDisclosure(1, strict=False, column="s"),
]
promise_of = pytest.mark.parametrize("model", SENSITIVE_MODELS, ids=lambda model: model.promise())


def test_k_above_the_number_of_rows_says_so() -> None:
    for method in ("lattice", "mondrian"):
        with pytest.raises(PrivacyError) as refused:
            publish(SMALL, ROLES, KAnonymity(5), suppression=1, method=method)
        assert refused.value.code == "CEL-P001"
        assert "4" in str(refused.value)
    with pytest.raises(PrivacyError):
        explore(SMALL, ROLES, KAnonymity(5), suppression=1)


@promise_of
def test_a_sensitive_column_of_one_value_is_refused_or_tells_nothing_new(model: Model) -> None:
    table = SMALL.with_columns(s=pl.lit("secret"))
    diverse = (DistinctDiversity, EntropyDiversity, RecursiveDiversity, AlphaK, PSensitive)
    if isinstance(model, diverse):
        with pytest.raises(PrivacyError) as refused:
            publish(table, ROLES, model, suppression=1)
        assert refused.value.code == "CEL-P001"
        assert "secret" not in str(refused.value)
        assert "'s'" in str(refused.value)
    elif isinstance(model, BetaLikeness) and model.enhanced:
        publish(table, ROLES, model, suppression=1)
    else:
        assert publish(table, ROLES, model, suppression=0).solution.levels == (0,)


@promise_of
def test_empty_sensitive_cells_are_a_value_of_their_own(model: Model) -> None:
    empty = SMALL.with_columns(s=pl.Series(["p", None, "p", None]))
    named = SMALL.with_columns(s=pl.Series(["p", "?", "p", "?"]))
    one, other = (publish(each, ROLES, model, suppression=1) for each in (empty, named))
    assert one.solution == other.solution
    assert one.data["s"].null_count() == 2
    assert check(one.data, ROLES, model).holds


def test_a_sensitive_column_of_nothing_is_one_value() -> None:
    table = SMALL.with_columns(s=pl.Series([None] * 4, dtype=pl.String))
    with pytest.raises(PrivacyError):
        publish(table, ROLES, DistinctDiversity(2), suppression=1)
    assert publish(table, ROLES, TCloseness(0.1), suppression=0).solution.levels == (0,)


def test_an_empty_cell_has_no_place_in_an_order() -> None:
    table = SMALL.with_columns(s=pl.Series([1, 2, None, 2]))
    with pytest.raises(InputError) as refused:
        publish(table, ROLES, TCloseness(0.5, "ordered"), suppression=1)
    assert refused.value.code == "CEL-P024"


@pytest.mark.parametrize("distance", ["ordered", "hierarchical"])
def test_a_distance_that_the_column_lacks_is_refused(distance: Distance) -> None:
    with pytest.raises(InputError) as refused:
        publish(SMALL, ROLES, TCloseness(0.5, distance), suppression=1)
    assert refused.value.code == "CEL-P024"


def test_a_hierarchy_with_gaps_is_refused_without_telling_values() -> None:
    gap = SMALL.with_columns(a=pl.Series([*"xxy", "secret"]))
    with pytest.raises(InputError) as refused:
        publish(gap, ROLES, DistinctDiversity(2), suppression=1)
    assert refused.value.code == "CEL-T011"
    assert "secret" not in str(refused.value)
    tree = Hierarchy.from_paths([("p", "*")])
    roles = Schema((ROLES.columns[0], Column("s", Role.SENSITIVE, hierarchy=tree)))
    with pytest.raises(InputError) as refused:
        publish(SMALL, roles, DistinctDiversity(2), suppression=1)
    assert refused.value.code == "CEL-T013"


@pytest.mark.parametrize("metric", METRICS)
def test_constant_columns_lose_nothing(metric: str) -> None:
    table = pl.DataFrame({"a": ["x"] * 5, "b": ["y"] * 5})
    schema = Schema.of(quasi_identifiers=["a", "b"])
    solution = publish(table, schema, KAnonymity(3), suppression=0, metric=metric).solution
    assert (solution.levels, solution.suppressed, solution.loss) == ((0, 0), 0, 0.0)
    assert 0 <= solution.score <= 1


@pytest.mark.parametrize("metric", METRICS)
def test_rows_that_are_all_equal_stay_as_they_are(metric: str) -> None:
    table = pl.DataFrame({"a": ["x"] * 5, "s": [*"pqpqp"]})
    asked = [KAnonymity(5), DistinctDiversity(2), TCloseness(0.01)]
    solution = publish(table, ROLES, asked, suppression=0, metric=metric).solution
    assert (solution.levels, solution.suppressed, solution.class_sizes) == ((0,), 0, {5: 1})
    assert 0 <= solution.score <= 1


@pytest.mark.parametrize("metric", METRICS)
def test_one_row_can_be_published_where_nothing_asks_for_a_crowd(metric: str) -> None:
    table = SMALL.head(1)
    solution = publish(table, ROLES, TCloseness(0.1), suppression=1, metric=metric).solution
    assert (solution.levels, solution.suppressed) == ((0,), 0)
    # A person who is alone is attacked, which the payoff of the publisher counts.
    assert solution.score == (0.25 if metric == "publisher-payoff" else 0)


@pytest.mark.parametrize("model", [KAnonymity(2), *SENSITIVE_MODELS[:4], AverageRisk(0.5)])
def test_one_row_is_no_crowd(model: Model) -> None:
    with pytest.raises(PrivacyError) as refused:
        publish(SMALL.head(1), ROLES, model, suppression=1)
    assert refused.value.code == "CEL-P001"


@pytest.mark.parametrize("door", [publish, explore, check])
def test_an_empty_table_is_refused(door: Any) -> None:
    with pytest.raises(InputError) as refused:
        door(SMALL.head(0), ROLES, DistinctDiversity(2))
    assert refused.value.code == "CEL-P015"


def test_a_column_is_not_both_sensitive_and_a_quasi_identifier() -> None:
    with pytest.raises(InputError) as refused:
        Schema.of(quasi_identifiers=["a", "s"], sensitive=["s"])
    assert refused.value.code == "CEL-S001"


@pytest.mark.parametrize("column", ["a", "t", "S"])
def test_a_model_about_an_unknown_column_is_refused(column: str) -> None:
    for door in (publish, explore, check):
        with pytest.raises(InputError) as refused:
            door(SMALL, ROLES, DistinctDiversity(2, column))
        assert refused.value.code == "CEL-P007"


def test_a_model_about_sensitive_values_needs_a_sensitive_column() -> None:
    schema = Schema.of(quasi_identifiers={"a": LETTERS}, insensitive=["s"])
    with pytest.raises(InputError) as refused:
        publish(SMALL, schema, DistinctDiversity(2))
    assert refused.value.code == "CEL-P007"


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (DistinctDiversity(3, "s"), "only 2 different values"),
        (PSensitive(3, 2, "s"), "only 2 different values"),
        (EntropyDiversity(2.5, column="s"), "only as evenly as 2"),
        (RecursiveDiversity(0.5, 2, "s"), "'s'"),
        (AlphaK(0.4, 2, "s"), "more than a share of 0.4"),
        (AverageRisk(0.2), "at least 5 records"),
    ],
    ids=lambda value: value.promise() if isinstance(value, Model) else None,
)
def test_an_impossible_model_says_why(model: Model, why: str) -> None:
    with pytest.raises(PrivacyError) as refused:
        publish(SMALL, ROLES, model, suppression=1)
    assert refused.value.code == "CEL-P001"
    assert why in str(refused.value)


def test_texts_have_the_order_that_they_are_given() -> None:
    # By size of text the order would be high, low, middle.
    rule = Ordered(order=("low", "middle", "high"))
    roles = Schema((ROLES.columns[0], Column("s", Role.SENSITIVE, hierarchy=rule)))
    table = pl.DataFrame({"a": [*"xxyy"], "s": ["low", "high", "middle", "middle"]})
    # Shares 1/4, 1/2, 1/4: from y to the table a quarter moves one of two steps each way.
    assert check(table, roles, TCloseness(0.25, "ordered", "s")).holds
    assert not check(table, roles, TCloseness(0.24, "ordered", "s")).holds


def test_the_leaves_of_a_tree_are_in_no_order() -> None:
    tree = Hierarchy.from_paths([("flu", "*"), ("asthma", "*"), ("ulcer", "*")])
    roles = Schema((ROLES.columns[0], Column("s", Role.SENSITIVE, hierarchy=tree)))
    table = pl.DataFrame({"a": [*"xxyy"], "s": ["flu", "ulcer", "asthma", "asthma"]})
    with pytest.raises(InputError, match="values that have an order"):
        check(table, roles, TCloseness(0.5, "ordered", "s"))


def test_numbers_go_by_size_whatever_their_hierarchy_says() -> None:
    shuffled = Hierarchy.from_paths([("2", "*"), ("1", "*"), ("3", "*")])
    roles = Schema((ROLES.columns[0], Column("s", Role.SENSITIVE, hierarchy=shuffled)))
    table = pl.DataFrame({"a": [*"xxyy"], "s": [1, 3, 2, 2]})
    # As above: with 2 in the middle a quarter moves one of two steps each way.
    assert check(table, roles, TCloseness(0.25, "ordered", "s")).holds
    assert not check(table, roles, TCloseness(0.24, "ordered", "s")).holds


def test_several_sensitive_columns_are_each_protected() -> None:
    table = pl.DataFrame({"a": [*"xxyy"], "s": [*"pqpq"], "t": [*"uuvv"]})
    schema = Schema.of(quasi_identifiers={"a": LETTERS}, sensitive=["s", "t"])
    assert publish(table, schema, DistinctDiversity(2, "s"), suppression=0).solution.levels == (0,)
    assert publish(table, schema, DistinctDiversity(2), suppression=0).solution.levels == (1,)
    found = check(table, schema, DistinctDiversity(2))
    assert [model.holds for model in found.models] == [True, False]


def test_no_error_tells_a_value_of_the_table() -> None:
    cells = ["secret-1", "secret-2", "secret-3", "secret-4"]
    table = pl.DataFrame({"a": cells, "s": cells})
    schema = Schema.of(quasi_identifiers=["a"], sensitive=["s"])
    for model in [KAnonymity(9), *SENSITIVE_MODELS, TCloseness(0.1, "hierarchical", "s")]:
        try:
            publish(table, schema, model, suppression=0.2)
        except CelosiaError as error:
            text = f"{error} {error.__dict__}"
            assert "secret" not in text
