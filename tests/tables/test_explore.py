"""Exploring a lattice lists what publishing at each node gives."""

from __future__ import annotations

from itertools import product
from math import prod
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables.recoding.plain_metrics import PLAIN_METRICS
from tests.tables.recoding.strategies import KINDS, SENSITIVE, TREE, People, people

from celosia import KAnonymity, datasets
from celosia.core.errors import InputError, PrivacyError
from celosia.tables import (
    Column,
    Hierarchy,
    Intervals,
    Mask,
    Role,
    Schema,
    explore,
    publish,
)
from celosia.tables.models import Model
from celosia.tables.recoding import allowance, exploration

ignore_warnings = pytest.mark.filterwarnings("ignore::celosia.core.errors.PrivacyWarning")
limits = st.sampled_from([0.0, 0.1, 0.5, 1.0])
names = st.sampled_from(["loss", "precision", "discernibility", "entropy"])
models = st.one_of(KINDS["k-anonymity"], KINDS["distinct"], KINDS["t ordered"])


def frame_of(table: People) -> pl.DataFrame:
    columns: dict[str, list[Any]] = {
        f"c{n}": [row[n] for row in table.rows] for n in range(len(table.hierarchies))
    }
    return pl.DataFrame(columns | {SENSITIVE: table.values})


def schema_of(table: People) -> Schema:
    return Schema(
        (
            *(
                Column(f"c{n}", Role.QUASI_IDENTIFIER, hierarchy=Hierarchy.from_paths(paths))
                for n, paths in enumerate(table.hierarchies)
            ),
            Column(SENSITIVE, Role.SENSITIVE, hierarchy=Hierarchy.from_paths(TREE)),
        )
    )


@settings(max_examples=80)
@given(people(), models, limits, names)
def test_choices_and_front_are_those_of_trying_every_node(
    table: People, model: Model, suppression: float, name: str
) -> None:
    allowed = allowance(suppression, len(table.rows))
    plain: dict[tuple[int, ...], tuple[float, float, int]] = {}
    for node in table.nodes:
        release = table.release(node, [model])
        kept = release.kept.count(True)
        if kept and len(table.rows) - kept <= allowed:
            shown = {
                label for label, here in zip(release.labels, release.kept, strict=True) if here
            }
            plain[node] = (
                PLAIN_METRICS[name](release),
                len(shown) / kept,
                len(table.rows) - kept,
            )
    asked: dict[str, Any] = {"suppression": suppression, "metric": name}
    if not plain:
        with pytest.raises(PrivacyError):
            explore(frame_of(table), schema_of(table), model, **asked)
        return
    found = explore(frame_of(table), schema_of(table), model, **asked)
    assert {solution.levels for solution in found.solutions} == set(plain)
    for solution in found.solutions:
        score, risk, suppressed = plain[solution.levels]
        assert solution.score == pytest.approx(score, abs=1e-9)
        assert solution.average_risk == pytest.approx(risk, rel=1e-12)
        assert solution.suppressed == suppressed
    front = {solution.levels for solution in found.front}
    for one in found.solutions:
        beaten = any(
            other.score <= one.score
            and other.average_risk <= one.average_risk
            and (other.score, other.average_risk) != (one.score, one.average_risk)
            for other in found.solutions
        )
        assert not (beaten and one.levels in front)
        assert beaten or any(
            (other.score, other.average_risk) == (one.score, one.average_risk)
            for other in found.front
        )
    scores = [solution.score for solution in found.solutions]
    assert scores == sorted(scores)


HOLES = pl.DataFrame({"a": ["x"] * 6 + ["y", "z", "w"] + [None]})
LETTERS = Hierarchy.from_paths([(leaf, "*") for leaf in "xyzw"])
GONE = Schema((Column("a", Role.QUASI_IDENTIFIER, hierarchy=LETTERS, missing="suppress"),))


@ignore_warnings
@pytest.mark.parametrize("limit", [0.1, 0.3, 0.4, 1.0])
def test_a_choice_is_what_publishing_at_its_levels_gives(limit: float) -> None:
    found = explore(HOLES, GONE, KAnonymity(2), suppression=limit)
    assert found.rows == 10
    for solution in found.solutions:
        levels = dict(zip(found.columns, solution.levels, strict=True))
        release = publish(HOLES, GONE, KAnonymity(2), suppression=limit, levels=levels)
        assert solution.suppressed == release.solution.suppressed <= 10 * limit
        assert solution.score == release.solution.score
        # At the root, suppressed records look like the kept ones and are counted with them.
        crowd = solution.suppressed if solution.levels == (1,) else 0
        kept = round(solution.classes / solution.average_risk)
        assert solution.classes / (kept + crowd) == pytest.approx(release.risk.average)
    best = publish(HOLES, GONE, KAnonymity(2), suppression=limit).solution
    assert (best.levels, best.suppressed) == (
        found.solutions[0].levels,
        found.solutions[0].suppressed,
    )


def test_a_lattice_of_too_many_nodes_is_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exploration, "MOST_NODES", 1)
    with pytest.raises(InputError) as refused:
        explore(HOLES, GONE, KAnonymity(2), suppression=1)
    assert refused.value.code == "CEL-P003"


def test_with_time_enough_the_same_is_found_in_any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    frame, schema = datasets.examples.patients(), wide_schema()
    found = explore(frame, schema, KAnonymity(3), suppression=0)
    assert explore(frame, schema, KAnonymity(3), suppression=0, time_limit=1000) == found
    assert found.tried == found.nodes == 18
    monkeypatch.setattr(exploration, "MOST_NODES", 1)
    with pytest.raises(InputError, match="too many to list"):
        explore(frame, schema, KAnonymity(3))
    monkeypatch.setattr(exploration, "MOST_NOTED", 1)
    assert explore(frame, schema, KAnonymity(3), suppression=0, time_limit=1000) == found


def test_when_the_time_is_up_what_was_found_is_told_with_how_much_was_tried() -> None:
    found = explore(
        datasets.examples.patients(), wide_schema(), KAnonymity(3), suppression=0, time_limit=1e-9
    )
    assert found.tried == 1
    assert [solution.levels for solution in found.solutions] == [(5, 2)]  # the top comes first
    assert str(found).startswith("1 of 18 nodes (1 tried) meet the models")
    assert found.as_dict()["tried"] == 1


def test_nothing_found_in_time_is_not_taken_for_nothing_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    schema = Schema.of(quasi_identifiers=["age"], sensitive=["disease"])
    frame = datasets.examples.patients().select("age", "disease")
    with pytest.raises(PrivacyError):  # what fails at the top fails below: that is known in no time
        explore(frame, schema, KAnonymity(100), time_limit=1e-9, suppression=0)
    monkeypatch.setattr(exploration, "MOST_NOTED", 1)  # but not noted in a very large lattice
    with pytest.raises(InputError, match="in time") as caught:
        explore(frame, schema, KAnonymity(100), time_limit=1e-9, suppression=0)
    assert caught.value.code == "CEL-P003"


@given(st.lists(st.integers(1, 7), min_size=1, max_size=5))
def test_scattered_nodes_are_each_there_once_and_spread(shape: list[int]) -> None:
    lattice = SimpleNamespace(shape=tuple(shape), nodes=prod(shape))
    nodes = list(exploration._scattered(lattice))  # type: ignore[arg-type]
    assert sorted(nodes) == sorted(product(*(range(size) for size in shape)))
    assert nodes[0] == tuple(size - 1 for size in shape)
    # A third of them has seen every level of the first column. By enumeration it holds for all
    # shapes that are drawn here, but for (5, 2, 2) and its like: no step does it for 20 nodes.
    if len(nodes) > max(3 * shape[0] + 3, 20):
        assert {node[0] for node in nodes[: len(nodes) // 3 + 1]} == set(range(shape[0]))


def wide_schema() -> Schema:
    decades = Intervals(bounds=((20, 30, 40, 60),))
    return Schema.of(quasi_identifiers={"zip": Mask(), "age": decades}, sensitive=["disease"])
