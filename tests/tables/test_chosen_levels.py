"""Levels that the officer chooses: judged like any others, and claimed to be best of nothing."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables.recoding.plain_metrics import PLAIN_METRICS
from tests.tables.recoding.strategies import People, people, plain_models
from tests.tables.test_explore import frame_of, schema_of
from tests.tables.test_population import population_of

from celosia import KAnonymity
from celosia.core.errors import InputError, PrivacyError
from celosia.tables import Hierarchy, Schema, publish
from celosia.tables.metrics import METRICS
from celosia.tables.models import Model
from celosia.tables.recoding import allowance

pytestmark = pytest.mark.filterwarnings("ignore::celosia.core.errors.PrivacyWarning")

LETTERS = Hierarchy.from_paths([(leaf, "g" if leaf in "xy" else "h", "*") for leaf in "xyzw"])
ROLES = Schema.of(quasi_identifiers={"a": LETTERS, "b": LETTERS})
TABLE = pl.DataFrame({"a": [*"xxyyzz"], "b": [*"xyxyzz"]})


@settings(max_examples=100)
@given(people(), plain_models, st.sampled_from([0.0, 0.3, 1.0]), st.sampled_from([*METRICS]))
def test_chosen_levels_give_what_their_node_gives(
    table: People, model: Model, suppression: float, name: str
) -> None:
    node = table.nodes[len(table.nodes) // 2]
    plain = table.release(node, [model])
    gone = plain.kept.count(False)
    asked: dict[str, Any] = {
        "suppression": suppression,
        "metric": name,
        "levels": {f"c{column}": level for column, level in enumerate(node)},
        "population": population_of(table) if model.needs_population else None,
    }
    if gone > min(allowance(suppression, len(table.rows)), len(table.rows) - 1):
        with pytest.raises(PrivacyError) as refused:
            publish(frame_of(table), schema_of(table), model, **asked)
        assert refused.value.code == "CEL-P001"
        return
    solution = publish(frame_of(table), schema_of(table), model, **asked).solution
    assert (solution.levels, solution.suppressed) == (node, gone)
    assert solution.score == pytest.approx(PLAIN_METRICS[name](plain), abs=1e-9)
    assert solution.search is not None
    assert solution.search.at_least <= solution.score
    assert solution.search.is_optimal == (len(table.nodes) == 1)


def test_columns_without_a_level_stay_raw() -> None:
    found = publish(TABLE, ROLES, KAnonymity(2), levels={"a": 1}, suppression=1, keep_order=True)
    assert found.solution.levels == (1, 0)
    assert found.data["a"].to_list() == ["g", "g", "g", "g", "h", "h"]
    assert found.data["b"].to_list() == TABLE["b"].to_list()


@pytest.mark.parametrize(
    "levels", [{"a": 3}, {"a": -1}, {"a": 1.0}, {"a": "1"}, {"a": True}, {"a": None}, {"c": 1}]
)
def test_levels_that_do_not_fit_are_refused(levels: dict[str, Any]) -> None:
    with pytest.raises(InputError) as refused:
        publish(TABLE, ROLES, KAnonymity(2), levels=levels, suppression=1)
    assert refused.value.code == "CEL-P008"


def test_numbers_of_numpy_fit_into_the_certificate() -> None:
    levels: dict[str, Any] = {"a": np.int8(1), "b": np.uint64(2)}
    release = publish(TABLE, ROLES, KAnonymity(2), levels=levels, suppression=1)
    assert json.loads(json.dumps(release.provenance.parameters))["levels"] == {"a": 1, "b": 2}


def test_a_hierarchy_may_have_many_levels() -> None:
    deep = Hierarchy.from_paths(
        [(leaf, *(f"{leaf}{level}" for level in range(200)), "*") for leaf in "xy"]
    )
    table = pl.DataFrame({"a": [*"xxy"]})
    roles = Schema.of(quasi_identifiers={"a": deep})
    assert publish(table, roles, KAnonymity(2), suppression=0).solution.levels == (201,)
    local = publish(table, roles, KAnonymity(2), suppression=0, local=True)
    assert local.data["a"].to_list() == ["*"] * 3
