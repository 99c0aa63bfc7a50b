"""Linkage by the worked example, and against matching person by person."""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.assess.attacks import Meanings, linkage
from celosia.core.errors import InputError
from celosia.core.progress import Step
from celosia.datasets import weak_releases
from celosia.tables.hierarchies import Hierarchy

linkage_module = import_module("celosia.assess.attacks.linkage")

ON = ["sex", "birth", "postal"]
AGE = Hierarchy.from_paths(
    [("21", "20s", "any"), ("29", "20s", "any"), ("30", "30s", "any"), ("35", "30s", "any")]
)


def test_the_named_person_is_found_and_known() -> None:
    wanted = ["disease", "salary", "marital", "insurer"]
    identity, *attributes = linkage(
        weak_releases.insured(), weak_releases.voters(), on=ON, learns=wanted
    )
    (exposure,) = identity.exposed
    assert weak_releases.voters()["name"][exposure.rows[0]] == "Lautaro Inventado"
    assert (identity.people, identity.exposed_people) == (3, 1)
    assert exposure.confidence == 1
    assert exposure.prior == pytest.approx(1 / 7)
    assert identity.facts == {
        "unmatched_people": 2,
        "unique_on_both_sides": 1,
        "fewest_candidates": 1,
    }
    assert [attack.column for attack in attributes] == wanted
    assert [attack.exposed[0].learnt for attack in attributes] == [
        ("cancer",),
        ("628030",),
        ("divorced",),
        ("Fonasa",),
    ]


def test_a_person_of_a_homogeneous_class_is_not_found_but_known() -> None:
    release = pl.DataFrame({"age": ["20s", "20s", "30s"], "ill": ["flu", "flu", "cold"]})
    people = pl.DataFrame({"age": [29]})
    identity, ill = linkage(release, people, on="age", learns="ill", meanings={"age": AGE})
    assert (identity.exposed_people, identity.greatest) == (0, 0.5)
    assert (ill.exposed_people, ill.greatest, ill.exposed[0].learnt) == (1, 1, ("flu",))


def test_suppressed_records_are_candidates_for_those_who_fit_no_other() -> None:
    release = pl.DataFrame({"age": ["20s", "20s", "*"], "sex": ["F", "F", "*"], "ill": list("abc")})
    people = pl.DataFrame({"age": ["21", "35"], "sex": ["F", "M"]})
    identity, ill = linkage(release, people, on=["age", "sex"], learns="ill", meanings={"age": AGE})
    assert [one.rows for one in identity.exposed] == [(1,)]
    assert [one.learnt for one in ill.exposed] == [("c",)]


def test_a_root_of_another_name_fits_everybody_and_empty_cells_too() -> None:
    release = pl.DataFrame({"age": ["any"] * 2, "sex": ["F", "M"]})
    people = pl.DataFrame({"age": ["21", None, "99"], "sex": ["F", "M", "F"]})
    (identity,) = linkage(release, people, on=["age", "sex"], meanings={"age": AGE})
    assert identity.exposed_people == 3


def test_an_empty_cell_fits_an_empty_cell_alone() -> None:
    release = pl.DataFrame({"age": [None, "20s", "30s"]})
    people = pl.DataFrame({"age": [None, "21"]}, schema={"age": pl.String})
    (identity,) = linkage(release, people, on="age", meanings={"age": AGE})
    assert identity.exposed_people == 2
    assert identity.facts["unique_on_both_sides"] == 2


def test_numbers_are_found_by_their_text() -> None:
    release = pl.DataFrame({"age": ["29", "31"]})
    (identity,) = linkage(release, pl.DataFrame({"age": [29.0]}), on="age")
    assert identity.exposed_people == 1


def test_a_label_without_a_meaning_is_refused_without_naming_it() -> None:
    release = pl.DataFrame({"age": ["20s", "forties"]})
    with pytest.raises(InputError) as caught:
        linkage(release, pl.DataFrame({"age": ["21"]}), on="age", meanings={"age": AGE})
    assert caught.value.code == "CEL-A052"
    assert "forties" not in str(caught.value)


def test_a_column_that_the_external_table_lacks_is_refused() -> None:
    with pytest.raises(InputError, match="the external table has no column 'disease'"):
        linkage(weak_releases.insured(), weak_releases.voters(), on=["disease"])


def test_progress_is_told() -> None:
    steps: list[Step] = []
    linkage(weak_releases.insured(), weak_releases.voters(), on=ON, progress=steps.append)
    assert steps


def test_tables_without_rows_are_linked_to_nothing() -> None:
    release, people = weak_releases.insured(), weak_releases.voters()
    (nobody,) = linkage(release, people.clear(), on=ON)
    assert (nobody.people, nobody.share) == (0, 0)
    identity, disease = linkage(release.clear(), people, on=ON, learns="disease")
    assert (identity.people, identity.greatest, disease.greatest) == (3, 0, 0)


def cells(*labels: str | None) -> st.SearchStrategy[str | None]:
    return st.sampled_from(labels)


LABELS = st.tuples(cells("21", "20s", "30s", "any", "*", None), cells("F", "M", "*", None))
RAW = st.tuples(cells("21", "29", "30", "99", None), cells("F", "M", "X", None))


def fits(raw: str | None, label: str | None, column: str, meanings: Meanings) -> bool:
    if label == "*":
        return True
    if raw is None or label is None:
        return label in (raw, "any")
    if column in meanings:
        meaning = meanings[column]
        return label == "any" or raw in {meaning.values[i] for i in meaning.stands_for(label)}
    return raw == label


@given(
    st.lists(st.tuples(LABELS, cells("a", "b", None)), min_size=1, max_size=14),
    st.lists(RAW, min_size=1, max_size=8),
)
def test_linkage_equals_matching_person_by_person(
    records: list[tuple[tuple[str | None, str | None], str | None]],
    people: list[tuple[str | None, str | None]],
) -> None:
    rows = [(*labels, value) for labels, value in records]
    release = pl.DataFrame(
        rows, schema=dict.fromkeys(["age", "sex", "ill"], pl.String), orient="row"
    )
    external = pl.DataFrame(people, schema=dict.fromkeys(["age", "sex"], pl.String), orient="row")
    meanings = {"age": AGE}
    found, ill = linkage(release, external, on=["age", "sex"], learns="ill", meanings=meanings)
    hidden = [row for row in rows if row[:2] == ("*", "*")]
    kept = [row for row in rows if row[:2] != ("*", "*")] or hidden
    certain = {row for one in found.exposed for row in one.rows}
    told = {row: one for one in ill.exposed for row in one.rows}
    total = 0.0
    for person, (age, sex) in enumerate(people):
        mine = [
            row
            for row in kept
            if fits(age, row[0], "age", meanings) and fits(sex, row[1], "sex", meanings)
        ] or hidden
        values = Counter(row[2] for row in mine)
        only = next(iter(values), None) if len(values) == 1 else None
        assert (person in certain) == (len(mine) == 1)
        assert (person in told) == (only is not None)
        if only is not None:
            assert told[person].learnt == (only,)
        total += 1 / len(mine) if mine else 0
    assert found.average == pytest.approx(total / len(people))


def test_many_people_and_many_values_take_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of 4,000 people fits a class of 4,000 incomes: not 16 million pairs at once."""
    rows = 4_000
    release = pl.DataFrame({"age": ["*"] * rows, "income": range(rows)})
    people = pl.DataFrame({"age": range(rows)})
    meaning = Hierarchy.from_paths([(str(age), "*") for age in range(rows)])
    joined: list[int] = []
    plain = pl.DataFrame.join

    def join(self: pl.DataFrame, *given: Any, **how: Any) -> pl.DataFrame:
        found = plain(self, *given, **how)
        joined.append(found.height)
        return found

    monkeypatch.setattr(pl.DataFrame, "join", join)
    _identity, income = linkage(
        release, people, on=["age"], learns=["income"], meanings={"age": meaning}
    )
    assert max(joined) <= 2 * rows
    assert income.confidence.tolist() == [1 / rows] * rows


@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_the_commonest_value_is_that_of_counting_one_by_one(data: st.DataObject) -> None:
    cell = st.tuples(st.integers(0, 4), st.integers(0, 3))
    matched = sorted(set(data.draw(st.lists(cell, max_size=15))))
    entries = data.draw(st.dictionaries(cell, st.integers(1, 5), max_size=15))
    expected = {}
    for left in {left for left, _right in matched}:
        count: Counter[int] = Counter()
        for (right, value), rows in entries.items():
            count[value] += rows if (left, right) in matched else 0
        best = max(count.items(), key=lambda each: (each[1], -each[0]), default=(0, 0))
        if best[1]:
            expected[left] = best
    frame = pl.DataFrame(matched, schema={"left": pl.Int64, "right": pl.Int64}, orient="row")
    listed = [(*key, rows) for key, rows in entries.items()]
    kinds = {"right": pl.Int64, "value": pl.Int64, "count": pl.Int64}
    counted = pl.DataFrame(listed, schema=kinds, orient="row")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linkage_module, "_ENTRIES", data.draw(st.sampled_from([1, 3, 2**20])))
        found = linkage_module._commonest(frame, counted)
    assert {left: (value, rows) for left, value, rows in found.rows()} == expected
