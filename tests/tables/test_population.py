"""Models that compare a sample with its population, through `publish`."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables.recoding.plain_metrics import loss
from tests.tables.recoding.strategies import KINDS, People, people
from tests.tables.test_explore import frame_of, schema_of

from celosia import KAnonymity
from celosia.core.errors import InputError, PrivacyError
from celosia.tables import DeltaPresence, Hierarchy, KMap, Schema, explore, publish
from celosia.tables.models import Model
from celosia.tables.recoding import allowance

pytestmark = pytest.mark.filterwarnings("ignore::celosia.core.errors.PrivacyWarning")

LETTERS = Hierarchy.from_paths([(leaf, "g" if leaf in "xy" else "h", "*") for leaf in "xyzw"])
ROLES = Schema.of(quasi_identifiers={"a": LETTERS})


def population_of(table: People) -> pl.DataFrame:
    rows = table.rows + table.others
    return pl.DataFrame(
        {f"c{n}": [row[n] for row in rows] for n in range(len(table.hierarchies))}
        | {"more": list(range(len(rows)))}
    )


@settings(max_examples=120)
@given(
    people(),
    st.one_of(KINDS["k-map"], KINDS["delta-presence"]),
    st.lists(st.one_of(KINDS["k-anonymity"], KINDS["distinct"]), max_size=1),
    st.sampled_from([0.0, 0.1, 0.5, 1.0]),
)
def test_a_sample_is_published_as_by_exhaustion(
    table: People, model: Model, others: list[Model], suppression: float
) -> None:
    asked = [*others, model]
    allowed = allowance(suppression, len(table.rows))
    solutions = []
    for node in table.nodes:
        release = table.release(node, asked)
        if any(release.kept) and release.kept.count(False) <= allowed:
            solutions.append(release)
    data, schema = frame_of(table), schema_of(table)
    more: dict[str, Any] = {"suppression": suppression, "population": population_of(table)}
    if not solutions:
        with pytest.raises(PrivacyError):
            publish(data, schema, asked, **more)
        return
    found = publish(data, schema, asked, **more)
    assert found.solution.loss == pytest.approx(min(map(loss, solutions)), abs=1e-9)
    best = next(each for each in solutions if each.node == found.solution.levels)
    assert found.solution.suppressed == best.kept.count(False)
    assert found.solution.rows == found.data.height == len(table.rows)
    assert found.risk_before.records == len(table.rows)
    shown = {label for label, kept in zip(best.labels, best.kept, strict=True) if kept}
    assert found.risk.classes == len(shown)
    assert explore(data, schema, asked, **more).solutions[0].levels == found.solution.levels


def test_classes_of_the_population_without_a_record_are_no_classes_of_the_release() -> None:
    sample = pl.DataFrame({"a": [*"xxz"]})
    everybody = pl.DataFrame({"a": [*"xxxyyzzzww"]})
    release = publish(sample, ROLES, KMap(3), suppression=0, population=everybody)
    assert release.solution.levels == (0,)
    assert release.solution.class_sizes == {1: 1, 2: 1}
    assert (release.risk.records, release.risk.classes) == (3, 2)


def test_lower_bounds_speak_of_people_whom_the_sample_lacks() -> None:
    sample = pl.DataFrame({"a": [*"xxz"]})
    everybody = pl.DataFrame({"a": [*"xxxyyzzzww"]})
    found = publish(sample, ROLES, DeltaPresence(0.1, 0.7), suppression=0, population=everybody)
    assert found.solution.levels == (1,)  # raw, nobody of the y would be in the table


@pytest.mark.parametrize(
    ("cells", "code"),
    [
        (["1", "1", "2", "two"], "CEL-P065"),
        ([1.0, 1.5, 2.0, 2.0], "CEL-P065"),
        ([[1], [1], [2], [2]], "CEL-F006"),
        ([1, 1, 2, None], "CEL-T010"),
    ],
)
def test_a_population_of_other_values_is_refused_without_telling_them(
    cells: list[Any], code: str
) -> None:
    sample = pl.DataFrame({"a": [1, 1, 2, 2]})
    schema = Schema.of(quasi_identifiers=["a"])
    with pytest.raises(InputError) as refused:
        publish(sample, schema, KMap(2), population=pl.DataFrame({"a": cells}, strict=False))
    assert refused.value.code == code
    assert "two" not in str(refused.value)


@pytest.mark.parametrize("cells", [["1", "1", "2", "2"], [1.0, 1.0, 2.0, 2.0]])
def test_a_population_of_the_same_values_in_another_type_is_taken(cells: list[Any]) -> None:
    sample = pl.DataFrame({"a": [1, 1, 2, 2]})
    schema = Schema.of(quasi_identifiers=["a"])
    people_of_it = pl.DataFrame({"a": cells})
    assert publish(sample, schema, KMap(2), population=people_of_it).solution.levels == (0,)


def test_a_population_without_a_quasi_identifier_is_refused() -> None:
    with pytest.raises(InputError) as refused:
        publish(pl.DataFrame({"a": ["x"]}), ROLES, KMap(2), population=pl.DataFrame({"b": ["x"]}))
    assert refused.value.code == "CEL-P009"


def test_mondrian_does_not_take_a_population() -> None:
    table = pl.DataFrame({"a": [*"xxyy"]})
    with pytest.raises(InputError):
        publish(table, ROLES, [KAnonymity(2), KMap(2)], population=table, method="mondrian")
