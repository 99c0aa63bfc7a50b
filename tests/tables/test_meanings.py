"""What labels stand for: hierarchies, rules and ranges, checked against what publishing made."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia import KAnonymity, Seeded, datasets
from celosia.assess.meaning import Meaning
from celosia.frames import as_text
from celosia.tables import Hierarchy, Intervals, Mask, Ordered, Schema, Tree, publish
from celosia.tables.meanings import meanings


def _covers(meaning: Meaning, raw: pl.Series, shown: pl.Series) -> bool:
    """Whether each label may stand for the value in the same row."""
    values = list(meaning.values)
    return all(
        new is None if old is None else old in {values[at] for at in meaning.stands_for(new)}
        for old, new in zip(as_text(raw), as_text(shown), strict=True)
    )


@pytest.mark.filterwarnings("ignore::celosia.core.errors.PrivacyWarning")  # rows in their order
@pytest.mark.parametrize("options", [{}, {"local": True}, {"method": "mondrian"}], ids=str)
def test_every_label_covers_what_it_was_made_from(options: dict[str, object]) -> None:
    census, schema = datasets.census(800), datasets.census_schema()
    release = publish(census, schema, KAnonymity(5), keep_order=True, **options)  # type: ignore[arg-type]
    found = meanings(schema, original=census)
    assert set(found) == {column.name for column in schema.quasi_identifiers}
    for name, meaning in found.items():
        assert _covers(meaning, census[name], release.data[name])


@given(st.lists(st.integers(-50, 50), min_size=2, max_size=30), st.data())
def test_a_range_stands_for_the_values_within(ages: list[int], data: st.DataObject) -> None:
    schema = Schema.of(quasi_identifiers={"age": Intervals(widths=(10,), start=-60)})
    meaning = meanings(schema, original=pl.DataFrame({"age": ages}))["age"]
    low, high = sorted(data.draw(st.tuples(st.sampled_from(ages), st.sampled_from(ages))))
    found = {int(meaning.values[at]) for at in meaning.stands_for(f"[{low}, {high}]")}
    assert found == {age for age in ages if low <= age <= high}


def test_a_hierarchy_is_read_without_the_original() -> None:
    ages = Hierarchy.from_paths([("21", "20s", "*"), ("23", "20s", "*"), ("35", "30s", "*")])
    meaning = meanings(Schema.of(quasi_identifiers={"age": ages}))["age"]
    assert meaning.stands_for("20s").tolist() == [0, 1]
    assert meaning.stands_for("[23, 35]").tolist() == [1, 2]
    assert meaning.stands_for("[22, 35]").tolist() == []
    assert meaning.stands_for("*").tolist() == [0, 1, 2]


@pytest.mark.parametrize("leaves", [("1.5", "2.5"), ("2020-01-02", "2021-03-04")], ids=str)
def test_leaves_of_any_sort_with_an_order_have_ranges(leaves: tuple[str, str]) -> None:
    hierarchy = Hierarchy.from_paths([(leaf, "*") for leaf in leaves])
    meaning = meanings(Schema.of(quasi_identifiers={"x": hierarchy}))["x"]
    assert meaning.stands_for(f"[{leaves[0]}, {leaves[1]}]").tolist() == [0, 1]


def test_a_rule_without_values_says_nothing() -> None:
    schema = Schema.of(quasi_identifiers={"zip": Mask(), "age": None})
    assert meanings(schema) == {}
    empty = pl.DataFrame({"zip": [None, None]}, schema={"zip": pl.String})
    assert meanings(schema, original=empty) == {}


def test_rules_that_list_all_values_need_no_table() -> None:
    rules = {
        "job": Tree({"office": ["clerk", "boss"], "field": ["farmer"]}),
        "size": Ordered(order=("S", "M", "L", "XL"), sizes=(2,)),
        "age": Intervals(widths=(5,), domain=(1, 20)),
    }
    found = meanings(Schema.of(quasi_identifiers=rules))
    assert found["job"].stands_for("office").tolist() == [0, 1]
    assert found["size"].stands_for("*").size == 4
    assert found["age"].stands_for("[3, 6]").tolist() == [2, 3, 4, 5]


def test_known_people_explain_a_mask_and_strangers_stay_strangers() -> None:
    schema = Schema.of(quasi_identifiers={"zip": Mask()})
    released = {"zip": ["476**", "479**", "*"]}
    meaning = meanings(schema, known={"zip": ["47677"]}, released=released)["zip"]
    assert meaning.values == ("47677", "479**")
    assert meaning.stands_for("476**").tolist() == [0]
    assert meaning.stands_for("479**").tolist() == [1]
    assert meaning.stands_for("*").tolist() == [0, 1]


@pytest.mark.parametrize("rule", [Mask(), Intervals(widths=(10,))], ids=str)
def test_labels_that_nobody_explains_stay_without_meaning(rule: Mask | Intervals) -> None:
    schema = Schema.of(quasi_identifiers={"zip": rule})
    released = {"zip": ["A-C", "D-F", "*"]}
    meaning = meanings(schema, known={"zip": [47677]}, released=released)["zip"]
    assert not meaning.stands_for("A-C").size


def test_empty_cells_are_nobodys_label() -> None:
    table = pl.DataFrame({"age": [20, None, 30, 30]})
    found = meanings(Schema.of(quasi_identifiers={"age": Intervals(widths=(10,))}), original=table)
    assert found["age"].values == ("20", "30")


def test_a_shuffled_release_is_understood_in_full() -> None:
    census, schema = datasets.census(300), datasets.census_schema()
    release = publish(census, schema, KAnonymity(3), method="mondrian", rng=Seeded(3))
    for name, meaning in meanings(schema, original=census).items():
        sizes = [meaning.stands_for(label).size for label in as_text(release.data[name]).unique()]
        assert np.min(sizes) > 0
