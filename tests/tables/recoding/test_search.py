"""The search finds what trying every node finds."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables.recoding.plain import Path, Row, evaluate, exhaustive
from tests.tables.recoding.strategies import coded, tables

from celosia.core.errors import Cancelled, InputError, PrivacyError
from celosia.core.progress import Step
from celosia.tables.coded_table import CodedColumn
from celosia.tables.hierarchies import Hierarchy
from celosia.tables.metrics import Loss
from celosia.tables.models import Classes, KAnonymity, Model, Verdict
from celosia.tables.recoding import Lattice, allowance, find_optimum

Table = tuple[list[list[Path]], list[Row]]


@settings(max_examples=300)
@given(tables(), st.integers(2, 6), st.sampled_from([0.0, 0.02, 0.1, 0.3, 0.6, 1.0]))
def test_the_search_finds_the_optimum_that_exhaustion_finds(
    table: Table, k: int, suppression: float
) -> None:
    hierarchies, rows = table
    allowed = allowance(suppression, len(rows))
    solutions = exhaustive(rows, hierarchies, k, allowed)
    lattice = Lattice(coded(hierarchies, rows))
    if not solutions:
        with pytest.raises(PrivacyError) as refused:
            find_optimum(lattice, [KAnonymity(k)], suppression=suppression)
        assert refused.value.code == "CEL-P001"
        return
    found = find_optimum(lattice, [KAnonymity(k)], suppression=suppression)
    least = min(outcome.loss for outcome in solutions.values())
    best = solutions[found.best.node]
    assert best.loss == pytest.approx(least, abs=1e-9)  # ten decimals are kept per column
    assert lattice.loss.total(found.best.leaf_sums) == pytest.approx(least, abs=1e-9)
    assert found.best.suppressed == best.suppressed <= allowed


@settings(max_examples=100)
@given(tables(), st.integers(2, 5), st.sampled_from([0.0, 0.1, 1.0]))
def test_every_node_is_accounted_for(table: Table, k: int, suppression: float) -> None:
    hierarchies, rows = table
    lattice = Lattice(coded(hierarchies, rows))
    if len(rows) < k:
        return
    certificate = find_optimum(lattice, [KAnonymity(k)], suppression=suppression).certificate
    accounted = (
        certificate.evaluated
        + certificate.closed_by_bound
        + certificate.closed_as_infeasible
        + certificate.closed_by_forced_suppression
    )
    assert accounted == certificate.nodes == lattice.nodes


@settings(max_examples=150)
@given(tables(), st.integers(2, 5), st.data())
def test_a_node_is_evaluated_as_defined_in_whatever_order(
    table: Table, k: int, data: st.DataObject
) -> None:
    hierarchies, rows = table
    lattice = Lattice(coded(hierarchies, rows))
    node = st.tuples(*(st.integers(0, levels - 1) for levels in lattice.shape))
    for chosen in data.draw(st.lists(node, min_size=1, max_size=6)):
        outcome = lattice.evaluate(chosen, [KAnonymity(k)])
        plain = evaluate(rows, hierarchies, chosen, k)
        assert outcome.suppressed == plain.suppressed
        assert lattice.loss.total(outcome.leaf_sums) == pytest.approx(plain.loss, abs=1e-9)


@settings(max_examples=100)
@given(tables(), st.integers(2, 5), st.data())
def test_bounds_never_exceed_what_they_bound(table: Table, k: int, data: st.DataObject) -> None:
    hierarchies, rows = table
    lattice = Lattice(coded(hierarchies, rows))
    node = data.draw(st.tuples(*(st.integers(0, levels - 1) for levels in lattice.shape)))
    outcome = lattice.evaluate(node, [KAnonymity(k)])
    measure = Loss().over(lattice)
    assert measure.floors[node] <= measure.floor(node, outcome.suppressed)
    assert measure.floor(node, outcome.suppressed) <= measure.score(outcome)


@settings(max_examples=100)
@given(tables(), st.data())
def test_a_grouped_table_gives_the_same_classes(table: Table, data: st.DataObject) -> None:
    hierarchies, rows = table
    counts = np.array([data.draw(st.integers(1, 5)) for _ in rows], dtype=np.int64)
    grouped = Lattice(coded(hierarchies, rows), counts)
    spread = [row for row, count in zip(rows, counts, strict=True) for _ in range(count)]
    plain = Lattice(coded(hierarchies, spread))
    node = data.draw(st.tuples(*(st.integers(0, levels - 1) for levels in plain.shape)))
    assert grouped.evaluate(node, [KAnonymity(2)]) == plain.evaluate(node, [KAnonymity(2)])
    class_of = grouped.class_of_rows(node)
    sums = np.zeros(class_of.max() + 1, dtype=np.int64)
    np.add.at(sums, class_of, counts)
    assert sums.tolist() == grouped.class_table(node).sizes.tolist()


def test_keys_of_several_machine_words_group_rightly() -> None:
    # 30 columns of 6 values need 90 bits: more than one word.
    paths: list[Path] = [(str(leaf), str(leaf // 2), "*") for leaf in range(6)]
    generator = np.random.default_rng(5)
    base = generator.integers(0, 6, size=(8, 30))
    rows = [tuple(str(value) for value in base[pick]) for pick in generator.integers(0, 8, 200)]
    lattice = Lattice(coded([paths] * 30, rows))
    node = tuple(int(level) for level in generator.integers(0, 3, 30))
    plain = evaluate(rows, [paths] * 30, node, 20)
    outcome = lattice.evaluate(node, [KAnonymity(20)])
    assert outcome.suppressed == plain.suppressed
    assert lattice.loss.total(outcome.leaf_sums) == pytest.approx(plain.loss, abs=1e-9)


def test_ties_go_to_the_lower_node_whatever_the_order() -> None:
    # Two equal columns: (0, 1) and (1, 0) are equally good.
    paths: list[Path] = [("a", "*"), ("b", "*")]
    rows: list[Row] = [("a", "a"), ("a", "b"), ("b", "a"), ("b", "b")]
    for suppression in (0.0, 0.5, 1.0):
        found = find_optimum(
            Lattice(coded([paths, paths], rows)), [KAnonymity(2)], suppression=suppression
        )
        assert found.best.node == (0, 1)


def test_the_suppression_limit_is_counted_in_exact_decimals() -> None:
    assert allowance(0.29, 100) == 29  # 0.29 * 100 is 28.999999999999996 in binary
    assert allowance(0.05, 30_162) == 1508
    assert allowance(1, 7) == 7


@pytest.mark.parametrize("limit", [-0.1, 1.01, float("nan"), float("inf"), "5%", None])
def test_a_limit_outside_the_unit_interval_is_refused(limit: object) -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        allowance(limit, 10)  # type: ignore[arg-type]


def test_more_records_than_rows_cannot_be_asked_for() -> None:
    lattice = Lattice(coded([[("a", "*"), ("b", "*")]], [("a",), ("b",), ("a",)]))
    with pytest.raises(PrivacyError, match="the table has 3 rows"):
        find_optimum(lattice, [KAnonymity(4)], suppression=1.0)


def test_a_lattice_too_large_for_memory_is_refused_before_any_work() -> None:
    paths = [(str(leaf), str(leaf // 2), str(leaf // 4), "*") for leaf in range(8)]
    hierarchy = Hierarchy.from_paths(paths)
    columns = [CodedColumn(f"c{n}", hierarchy, np.zeros(3, dtype=np.int32)) for n in range(20)]
    with pytest.raises(InputError, match="exact search"):
        find_optimum(Lattice(columns), [KAnonymity(2)])


def test_the_search_stops_when_told_to() -> None:
    def stop(step: Step) -> None:
        raise Cancelled()

    lattice = Lattice(coded([[("a", "*"), ("b", "*")]], [("a",), ("a",), ("b",)]))
    with pytest.raises(Cancelled):
        find_optimum(lattice, [KAnonymity(2)], suppression=1.0, progress=stop)


def test_progress_counts_closed_nodes_up_to_all() -> None:
    steps: list[Step] = []
    lattice = Lattice(coded([[("a", "*"), ("b", "*")]] * 2, [("a", "a"), ("a", "b"), ("b", "b")]))
    find_optimum(lattice, [KAnonymity(2)], suppression=1.0, progress=steps.append)
    assert steps[-1].done == steps[-1].total == 4
    assert [step.done for step in steps] == sorted(step.done for step in steps)


@dataclass(frozen=True)
class EvenSizes(Model):
    """A model that a larger class can break: classes of two or four, but not of three.

    It does not say how few records it can do with, so that nothing is proven of nodes below.
    """

    def judge(self, classes: Classes) -> Verdict:
        even = (classes.sizes >= 2) & (classes.sizes % 2 == 0)
        return Verdict(even, np.zeros_like(classes.sizes))

    def promise(self) -> str:
        return "even sizes"

    def protects(self) -> str:
        return "nothing"

    def leaves_open(self) -> tuple[str, ...]:
        return ()

    def as_dict(self) -> dict[str, Any]:
        return {"model": "even"}


@settings(max_examples=150)
@given(tables(), st.sampled_from([0.0, 0.1, 0.5, 1.0]))
def test_a_model_that_is_not_monotone_still_gets_its_optimum(
    table: Table, suppression: float
) -> None:
    hierarchies, rows = table
    lattice = Lattice(coded(hierarchies, rows))
    allowed = min(allowance(suppression, len(rows)), len(rows) - 1)
    outcomes = [
        lattice.evaluate(node, [EvenSizes()])
        for node in product(*(range(levels) for levels in lattice.shape))
    ]
    measure = Loss().over(lattice)
    scores = [measure.score(outcome) for outcome in outcomes if outcome.suppressed <= allowed]
    if not scores:
        with pytest.raises(PrivacyError):
            find_optimum(lattice, [EvenSizes()], suppression=suppression)
        return
    found = find_optimum(lattice, [EvenSizes()], suppression=suppression)
    assert measure.score(found.best) == min(scores)
    assert found.certificate.closed_as_infeasible == 0
