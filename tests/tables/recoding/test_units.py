"""Where a person has several records, the search finds what trying every node finds.

The plain twin knows nothing of corners: it lists the people of each class, gives those with several
values any of the values that such people have there, and asks the model about every such list.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import prod

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables.recoding.plain_models import CONDITIONS, PlainClass, Whole
from tests.tables.recoding.strategies import KINDS, TREE, People, coded, people

from celosia.core.errors import PrivacyError
from celosia.tables.models import Model
from celosia.tables.recoding import Lattice, allowance, find_optimum, mondrian
from celosia.tables.units import CodedUnits, code_units

UNIT_KINDS = {
    name: kind
    for name, kind in KINDS.items()
    if name not in {"k-map", "delta-presence", "average risk"}
}
"""Every model that judges class by class and counts people."""

owners = st.lists(st.integers(0, 7), min_size=24, max_size=24)
limits = st.sampled_from([0.0, 0.1, 0.5, 1.0])


def units_of(table: People, owner: Sequence[int]) -> CodedUnits:
    return code_units(pl.Series("person", owner)).with_values([table.sensitive()])


def lattice_of(table: People, owner: Sequence[int]) -> Lattice:
    columns = coded(table.hierarchies, table.rows)
    return Lattice(columns, sensitive=[table.sensitive()], units=units_of(table, owner))


def public(table: People, owner: Sequence[int]) -> Whole:
    """The values of the table, a person's value as often as gives every person the same weight."""
    values_of: dict[int, set[int]] = {}
    for person, value in zip(owner, table.values, strict=True):
        values_of.setdefault(person, set()).add(value)
    copies = prod(range(1, 6))
    values = [v for own in values_of.values() for v in own for _ in range(copies // len(own))]
    return Whole(values, TREE)


def holds(model: Model, records: Sequence[tuple[int, int]], whole: Whole) -> bool:
    """Whether a class of (person, value) meets a model, whichever values people are given."""
    values_of: dict[int, set[int]] = {}
    for person, value in records:
        values_of.setdefault(person, set()).add(value)
    single = [next(iter(own)) for own in values_of.values() if len(own) == 1]
    several = [own for own in values_of.values() if len(own) > 1]
    candidates = sorted(set().union(*several))
    return all(
        CONDITIONS[type(model)](model, PlainClass([*single, *choice], 0), whole)
        for choice in combinations_with_replacement(candidates, len(several))
    )


def kept_rows(
    table: People, owner: Sequence[int], node: Sequence[int], models: Sequence[Model]
) -> list[bool]:
    classes: dict[tuple[str, ...], list[tuple[int, int]]] = {}
    labels = table.labels(node)
    for label, person, value in zip(labels, owner, table.values, strict=True):
        classes.setdefault(label, []).append((person, value))
    whole = public(table, owner)
    kept = {
        label: all(holds(model, records, whole) for model in models)
        for label, records in classes.items()
    }
    return [kept[label] for label in labels]


def score(table: People, owner: Sequence[int], node: Sequence[int], kept: list[bool]) -> float:
    """The loss, in which every person weighs the same."""
    weight = [Fraction(1, owner.count(person)) for person in owner]
    people_in_all = len(set(owner))
    total = 1.0
    for column, paths in enumerate(table.hierarchies):
        label = {path[0]: path[node[column]] for path in paths}
        wide = {name: sum(each == name for each in label.values()) for name in label.values()}
        cells = [
            wide[label[row[column]]] if stays else len(paths)
            for row, stays in zip(table.rows, kept, strict=True)
        ]
        if len(paths) > 1:
            leaves = sum(share * cell for share, cell in zip(weight, cells, strict=True))
            lost = (leaves - people_in_all) / (people_in_all * (len(paths) - 1))
            total *= (1 + float(lost)) ** (1 / len(table.hierarchies))
    return total - 1


@pytest.mark.parametrize("kind", UNIT_KINDS)
@settings(max_examples=20)
@given(people(max_rows=12), owners, limits, st.data())
def test_the_optimum_by_people_is_that_of_exhaustion(
    kind: str, table: People, owner: list[int], suppression: float, data: st.DataObject
) -> None:
    models = [data.draw(UNIT_KINDS[kind])]
    owner = owner[: len(table.rows)]
    units = units_of(table, owner)
    allowed = Fraction(allowance(suppression, units.number * units.scale), units.scale)
    solutions = {}
    for node in table.nodes:
        kept = kept_rows(table, owner, node, models)
        gone = sum(
            Fraction(1, owner.count(person))
            for person, stays in zip(owner, kept, strict=True)
            if not stays
        )
        if any(kept) and gone <= allowed:
            solutions[node] = score(table, owner, node, kept)
    lattice = lattice_of(table, owner)
    if not solutions:
        with pytest.raises(PrivacyError):
            find_optimum(lattice, models, suppression=suppression)
        return
    found = find_optimum(lattice, models, suppression=suppression)
    assert found.certificate.is_optimal
    assert found.best.node in solutions
    least = min(solutions.values())
    assert solutions[found.best.node] == pytest.approx(least, abs=1e-9)  # ten decimals
    kept = kept_rows(table, owner, found.best.node, models)
    shown = found.best.kept[lattice.class_of_rows(found.best.node)]
    assert shown.tolist() == kept


@settings(max_examples=40)
@given(people(max_rows=12), owners, st.sampled_from(list(UNIT_KINDS)), st.data())
def test_what_must_go_by_people_goes_at_every_node_below(
    table: People, owner: list[int], kind: str, data: st.DataObject
) -> None:
    models = [data.draw(UNIT_KINDS[kind])]
    lattice = lattice_of(table, owner[: len(table.rows)])
    outcomes = {node: lattice.evaluate(node, models) for node in table.nodes}
    for node, outcome in outcomes.items():
        below = product(*(range(level + 1) for level in node))
        assert outcome.must_go <= min(outcomes[each].suppressed for each in below)


@settings(max_examples=40)
@given(people(max_rows=24), owners, st.sampled_from(list(UNIT_KINDS)), st.data())
def test_every_part_of_mondrian_meets_its_models_by_people(
    table: People, owner: list[int], kind: str, data: st.DataObject
) -> None:
    models = [data.draw(UNIT_KINDS[kind])]
    owner = owner[: len(table.rows)]
    units = units_of(table, owner)
    try:
        cut = mondrian.partition(
            coded(table.hierarchies, table.rows),
            models,
            sensitive=[table.sensitive()],
            counts=units.weights,
            units=units,
        )
    except PrivacyError:
        return
    whole = public(table, owner)
    for part in range(cut.classes):
        rows = np.flatnonzero(cut.class_of_row == part)
        assert all(
            holds(model, [(owner[row], table.values[row]) for row in rows], whole)
            for model in models
        )


@given(st.lists(st.integers(0, 30), min_size=1, max_size=60), st.integers(1, 400))
def test_the_records_of_each_person_weigh_the_same_together(owner: list[int], many: int) -> None:
    counts = np.arange(1, len(owner) + 1) * many
    for units in (code_units(pl.Series(owner)), code_units(pl.Series(owner), counts)):
        sums = np.bincount(units.of_row, weights=units.weights)
        assert set(sums) == {float(units.scale)}
        assert units.weights.min() > 0
