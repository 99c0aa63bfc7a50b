"""Local recoding: fewer records lost, every class still checked, nothing else touched."""

from __future__ import annotations

from collections import Counter
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables.recoding.plain_models import PlainClass, Whole, kept_classes
from tests.tables.recoding.strategies import KINDS, SENSITIVE, TREE, People, people
from tests.tables.test_explore import frame_of, schema_of

from celosia import KAnonymity
from celosia.core.errors import PrivacyError
from celosia.tables import Column, Hierarchy, Role, Schema, publish
from celosia.tables.metrics import Loss
from celosia.tables.models import Model
from celosia.tables.recoding import allowance

ignore_warnings = pytest.mark.filterwarnings("ignore::celosia.core.errors.PrivacyWarning")
limits = st.sampled_from([0.0, 0.1, 0.3, 1.0])
models = st.one_of(
    *(KINDS[kind] for kind in ("k-anonymity", "distinct", "entropy", "recursive", "t equal")),
    *(KINDS[kind] for kind in ("t hierarchical", "alpha-k", "beta", "average risk")),
)


def released_classes(data: pl.DataFrame, table: People) -> dict[Any, PlainClass]:
    names = [f"c{n}" for n in range(len(table.hierarchies))]
    classes: dict[Any, PlainClass] = {}
    for row in data.select([*names, SENSITIVE]).iter_rows():
        classes.setdefault(row[:-1], PlainClass([], 0)).values.append(row[-1])
    return classes


@ignore_warnings
@settings(max_examples=150)
@given(people(), st.lists(models, min_size=1, max_size=2), limits)
def test_nobody_loses_by_local_recoding_and_every_class_still_meets_the_models(
    table: People, asked: list[Model], suppression: float
) -> None:
    data, schema = frame_of(table), schema_of(table)
    try:
        plain = publish(data, schema, asked, suppression=suppression)
    except PrivacyError:
        return
    local = publish(data, schema, asked, suppression=suppression, local=True, keep_order=True)
    assert local.solution.loss <= plain.solution.loss + 1e-12
    assert local.solution.suppressed <= allowance(suppression, data.height)
    assert local.data[SENSITIVE].to_list() == table.values
    classes = released_classes(local.data, table)
    starred = ("*",) * len(table.hierarchies)
    gone = local.solution.suppressed
    if gone:  # suppressed records show nothing but stars; nobody else does
        assert len(classes.pop(starred).values) == gone
    assert kept_classes(classes, Whole(table.values, TREE), asked) == set(classes)
    sizes = Counter(len(one.values) for one in classes.values())
    assert local.solution.class_sizes == sizes
    for row, shown in zip(table.rows, local.data.iter_rows(), strict=True):
        for column, cell in enumerate(row):
            path = next(path for path in table.hierarchies[column] if path[0] == cell)
            assert shown[column] in path
    if local.solution.rounds == 1:
        assert local.solution.levels == plain.solution.levels


@ignore_warnings
def test_the_loss_is_that_of_the_released_cells() -> None:
    # Round 1 keeps x and y raw; z and w are alone, and share a label one level up.
    paths = [("x", "p", "*"), ("y", "p", "*"), ("z", "q", "*"), ("w", "q", "*")]
    schema = Schema.of(quasi_identifiers={"a": Hierarchy.from_paths(paths)})
    data = pl.DataFrame({"a": [*"xxxyyyzw"]})
    release = publish(data, schema, KAnonymity(2), suppression=1, local=True, keep_order=True)
    assert release.data["a"].to_list() == [*"xxxyyy", "q", "q"]
    assert release.solution.rounds == 2
    assert release.solution.levels == (None,)
    # Two of eight cells stand for two of four leaves: 2 * (2 - 1) / (8 * (4 - 1)).
    assert release.solution.loss == pytest.approx(2 / 24, abs=1e-9)
    assert release.solution.score == pytest.approx(2 / 24, abs=1e-9)
    assert (release.risk.smallest, release.risk.classes, release.risk.records) == (2, 3, 8)


@ignore_warnings
def test_with_weights_both_scores_are_on_one_scale() -> None:
    letters = {name: Hierarchy.from_paths([(leaf, "*") for leaf in "xyz"]) for name in "ab"}
    schema = Schema.of(quasi_identifiers=letters)
    data = pl.DataFrame({"a": [*"xxxyz"], "b": [*"xxxxy"]})
    asked: dict[str, Any] = {"metric": Loss({"a": 3}), "suppression": 1}
    plain = publish(data, schema, KAnonymity(2), **asked).solution
    local = publish(data, schema, KAnonymity(2), local=True, **asked).solution
    assert local.score <= plain.score
    if local.rounds == 1:
        assert local.score == pytest.approx(plain.score, abs=1e-12)


@ignore_warnings
def test_records_with_empty_cells_count_towards_the_limit_of_local_recoding_too() -> None:
    # 2 of 20 may go, and 2 have an empty cell: the one z must not go as well.
    data = pl.DataFrame({"a": ["x"] * 10 + ["y"] * 7 + ["z"] + [None, None]})
    hierarchy = Hierarchy.from_paths([(leaf, "*") for leaf in "xyz"])
    schema = Schema((Column("a", Role.QUASI_IDENTIFIER, hierarchy=hierarchy, missing="suppress"),))
    for local in (False, True):
        solution = publish(data, schema, KAnonymity(2), suppression=0.1, local=local).solution
        assert solution.suppressed == 2
    roomy = publish(data, schema, KAnonymity(2), suppression=0.15, local=True)
    assert (roomy.solution.suppressed, roomy.solution.levels) == (3, (0,))
    assert roomy.data["a"].sort().to_list() == ["*"] * 3 + ["x"] * 10 + ["y"] * 7
    assert roomy.solution.class_sizes == {10: 1, 7: 1}
