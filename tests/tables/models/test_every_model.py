"""What holds of every model that judges classes one by one: its definition, and its bound."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from tests.tables.models.small_classes import (
    NODES,
    classes_of,
    column_of,
    meets,
    models,
    split_classes,
)

from celosia.tables.models import (
    AlphaK,
    BetaLikeness,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    Model,
    RecursiveDiversity,
    TCloseness,
    model_from_dict,
)

TOGETHER = "disease"


def survives_merging(model: Model) -> bool:
    """Whether classes that meet the model meet it together."""
    if isinstance(model, EntropyDiversity):
        return model.estimator == "shannon"
    return not (isinstance(model, DeltaDisclosure) and not model.strict)


@settings(max_examples=400)
@given(models, split_classes())
def test_a_class_holds_exactly_if_it_meets_the_definition(model: Model, found: Any) -> None:
    parts, people, totals = found
    classes = classes_of(column_of(totals, nodes=NODES), parts, people)
    assert model.holds(classes).tolist() == [
        meets(model, part, totals, around, NODES)
        for part, around in zip(parts, people, strict=True)
    ]


@settings(max_examples=600)
@given(models, split_classes())
@example(
    EntropyDiversity(2, "grassberger", TOGETHER),
    ([[1, 1, 0, 0, 0, 0]] * 2, [9, 9], [2, 2, 0, 0, 0, 0]),
)
def test_however_a_class_is_split_what_must_go_is_suppressed(model: Model, found: Any) -> None:
    parts, people, totals = found
    column = column_of(totals, nodes=NODES)
    fine = classes_of(column, parts, people)
    whole = classes_of(column, [np.sum(parts, axis=0).tolist()], [sum(people)])
    suppressed = int(fine.sizes[~model.holds(fine)].sum())
    satisfied, must_go = (each.item() for each in model.judge(whole))
    assert 0 <= must_go <= suppressed
    assert not (satisfied and must_go)
    if survives_merging(model):
        assert satisfied or must_go >= 1
    # What must go from the parts is a bound of its own, and no smaller than what is suppressed.
    assert int(model.judge(fine).must_go.sum()) <= suppressed


@settings(max_examples=200)
@given(models, split_classes())
def test_classes_that_hold_hold_together_where_the_model_survives_merging(
    model: Model, found: Any
) -> None:
    parts, people, totals = found
    column = column_of(totals, nodes=NODES)
    kept = model.holds(classes_of(column, parts, people))
    if not kept.any() or not survives_merging(model):
        return
    merged = np.array(parts)[kept].sum(axis=0).tolist()
    around = int(np.array(people)[kept].sum())
    assert model.holds(classes_of(column, [merged], [around])).all()


@given(models, split_classes())
def test_no_class_smaller_than_the_smallest_holds(model: Model, found: Any) -> None:
    parts, people, totals = found
    classes = classes_of(column_of(totals, nodes=NODES), parts, people)
    assert (classes.sizes[model.holds(classes)] >= model.smallest).all()


@given(models)
def test_a_description_is_read_back(model: Model) -> None:
    assert model_from_dict(model.as_dict()) == model


@given(models, split_classes())
def test_a_reason_is_given_exactly_where_the_whole_table_fails(model: Model, found: Any) -> None:
    parts, people, totals = found
    column = column_of(totals, nodes=NODES)
    whole = classes_of(column, [np.sum(parts, axis=0).tolist()], [sum(people)])
    reason = model.why_infeasible(whole)
    assert (reason is None) == bool(model.holds(whole).all())
    assert reason is None or reason.endswith(".")


@given(models)
def test_every_model_says_what_it_protects_and_what_it_leaves_open(model: Model) -> None:
    assert model.promise()
    assert model.protects()
    assert model.leaves_open()
    assert not model.judges_table


def most_that_can_be_kept(model: Model, counts: list[int], totals: list[int]) -> int:
    """By trying every sub-multiset of a class: how many records can stay together."""
    column = column_of(totals, nodes=NODES)
    grid = np.stack(np.meshgrid(*[np.arange(count + 1) for count in counts], indexing="ij"), -1)
    subsets = grid.reshape(-1, len(counts))[1:]
    sizes = subsets.sum(axis=1)
    kept = model.holds(classes_of(column, subsets.tolist()))
    return int(sizes[kept].max(initial=0))


@pytest.mark.parametrize(
    "model",
    [
        DistinctDiversity(3, TOGETHER),
        EntropyDiversity(2.5, column=TOGETHER),
        RecursiveDiversity(1, 3, TOGETHER),
        RecursiveDiversity(0.4, 2, TOGETHER),
        TCloseness(0.2, "equal", TOGETHER),
        TCloseness(0.15, "hierarchical", TOGETHER),
        AlphaK(0.4, 3, TOGETHER),
        BetaLikeness(0.5, column=TOGETHER),
        DeltaDisclosure(1, column=TOGETHER),
    ],
    ids=str,
)
def test_the_bound_is_within_rounding_of_the_best_kept_set(model: Model) -> None:
    """The bounds relax whole records to shares; one record of each value is what that can cost."""
    generator = np.random.default_rng(7)
    off = []
    for _ in range(60):
        counts = (generator.integers(0, 6, 6) * generator.integers(0, 2, 6)).tolist()
        if not any(counts):
            continue
        totals = (np.array(counts) + generator.integers(1, 8, 6)).tolist()
        must_go = int(model.judge(classes_of(column_of(totals, nodes=NODES), [counts])).must_go[0])
        best = sum(counts) - most_that_can_be_kept(model, counts, totals)
        assert must_go <= best
        off.append(best - must_go)
    assert np.mean(off) < 1.5
    assert max(off) <= 6
