"""Attacks on the values within classes, by the worked tables and by plain counting."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.assess.attacks import (
    background,
    categories_of,
    effective_values,
    homogeneity,
    near_numbers,
    similarity,
    skewness,
    worst_background,
)
from celosia.core.errors import InputError
from celosia.datasets import weak_releases
from celosia.tables.hierarchies import Hierarchy

QI = ["age", "postal"]

Rows = list[tuple[str, str | None]]
ROWS = st.lists(
    st.tuples(st.sampled_from(["x", "y", "z"]), st.sampled_from(["a", "b", "c", "d", None])),
    min_size=1,
    max_size=30,
)


def table_of(rows: Rows) -> pl.DataFrame:
    return pl.DataFrame(rows, schema={"q": pl.String, "s": pl.String}, orient="row")


def histograms(rows: Rows) -> dict[str, Counter[str | None]]:
    found: dict[str, Counter[str | None]] = {}
    for label, value in sorted(rows, key=lambda row: row[0]):
        found.setdefault(label, Counter())[value] += 1
    return found


def test_one_class_of_the_worked_table_is_homogeneous() -> None:
    found = homogeneity(weak_releases.one_problem(), QI, "problem")
    (exposure,) = found.exposed
    assert (exposure.people, exposure.learnt, exposure.rows) == (3, ("flu",), (6, 7, 8))
    assert exposure.prior == pytest.approx(4 / 12)


def test_distinct_diverse_tables_have_no_homogeneous_class() -> None:
    assert homogeneity(weak_releases.distinct_diverse(), QI, "problem").exposed == ()
    assert homogeneity(weak_releases.entropy_diverse(), QI, "problem").greatest == 0.5


def test_a_lower_certainty_counts_what_is_only_likely() -> None:
    found = homogeneity(weak_releases.one_problem(), QI, "problem", certainty=2 / 3)
    assert found.exposed_groups == 3


@given(ROWS)
def test_homogeneity_equals_counting_and_an_empty_cell_is_no_value(rows: Rows) -> None:
    found = homogeneity(table_of(rows), ["q"], "s")
    known = [
        max((count for value, count in counts.items() if value is not None), default=0)
        / counts.total()
        for counts in histograms(rows).values()
    ]
    assert found.confidence.tolist() == pytest.approx(known)
    assert found.hit.tolist() == [share == 1 for share in known]


def test_ruling_out_vomiting_leaves_one_value_in_two_more_classes() -> None:
    found = background(weak_releases.one_problem(), QI, "problem", {"vomiting"})
    assert sorted(one.learnt for one in found.exposed) == [("back pain",), ("flu",), ("obesity",)]
    assert found.facts["exposed_by_the_knowledge"] == 2
    assert found.greatest == 1


def test_what_is_ruled_out_may_depend_on_the_class() -> None:
    table = weak_releases.one_problem()
    old: tuple[str | None, ...] = (">=50", "054**")
    by_label = background(table, QI, "problem", {old: {"vomiting"}})
    by_rule = background(
        table, QI, "problem", lambda who: {"vomiting"} if who["age"] == ">=50" else set()
    )
    assert {one.learnt for one in by_label.exposed} == {("back pain",), ("flu",)}
    assert {one.learnt for one in by_rule.exposed} == {("back pain",), ("flu",), ("obesity",)}


def test_two_values_left_are_few_if_asked_so() -> None:
    found = background(weak_releases.distinct_diverse(), QI, "problem", {"vomiting"}, left=2)
    assert {frozenset(one.learnt) for one in found.exposed} == {
        frozenset({"obesity", "fever"}),
        frozenset({"flu", "back pain"}),
    }


def test_the_prior_knows_what_is_ruled_out_as_well() -> None:
    found = background(weak_releases.one_problem(), QI, "problem", "vomiting")
    (back,) = (one for one in found.exposed if one.learnt == ("back pain",))
    assert back.prior == pytest.approx(3 / 9)  # 3 of the 9 records without vomiting


def test_a_class_of_which_all_is_ruled_out_teaches_nothing() -> None:
    found = background(table_of([("x", "a"), ("y", "b")]), ["q"], "s", {"a"})
    assert found.confidence.tolist() == [0, 1]
    assert [one.group for one in found.exposed] == [1]


@given(ROWS, st.integers(0, 3))
def test_the_worst_case_is_the_best_choice_of_exclusions(rows: Rows, exclusions: int) -> None:
    found = worst_background(table_of(rows), ["q"], "s", exclusions=exclusions)
    for counts, confidence in zip(histograms(rows).values(), found.confidence, strict=True):
        values = [value for value in counts if value is not None]
        best = Fraction(0)
        for size in range(min(exclusions, len(values)) + 1):
            for out in combinations(values, size):
                left = {value: n for value, n in counts.items() if value not in out}
                for value, count in left.items():
                    if value is not None:
                        best = max(best, Fraction(count, sum(left.values())))
        assert confidence == pytest.approx(float(best))


@given(ROWS.filter(lambda rows: all(value for _, value in rows)), st.integers(2, 4))
def test_recursive_diversity_bounds_the_worst_case(rows: Rows, length: int) -> None:
    """With (c, l)-diversity and l - 2 exclusions she stays below c / (c + 1)."""
    found = worst_background(table_of(rows), ["q"], "s", exclusions=length - 2)
    for counts, confidence in zip(histograms(rows).values(), found.confidence, strict=True):
        ranked = sorted(counts.values(), reverse=True)
        c = 2.0
        if len(ranked) >= length and ranked[0] < c * sum(ranked[length - 1 :]):
            assert confidence < c / (c + 1)


def test_the_effective_values_of_the_skewed_classes() -> None:
    assert effective_values([49, 1]) == pytest.approx(1.1030, abs=5e-5)
    assert effective_values([1, 49]) == effective_values([49, 1])
    assert effective_values([990, 10]) == pytest.approx(1.0576, abs=5e-5)
    assert effective_values([1, 1, 2]) == pytest.approx(2**1.5)
    assert effective_values([]) == 0


def test_a_half_positive_class_raises_the_chance_from_one_to_fifty_per_cent() -> None:
    found = skewness(weak_releases.skewed_tests(), ["age"], "test", watched={"positive"})
    (exposure,) = found.exposed
    assert (exposure.people, exposure.confidence, exposure.prior) == (10, 0.5, 0.01)
    assert exposure.learnt == ("positive",)
    assert found.facts["greatest_ratio"] == pytest.approx(50)
    assert found.facts["effective_values_of_table"] == pytest.approx(1.0576, abs=5e-5)
    assert found.facts["least_effective_values"] == pytest.approx(1)


def test_entropy_diverse_classes_have_the_effective_values_of_the_worked_example() -> None:
    found = skewness(weak_releases.entropy_diverse(), QI, "problem")
    assert found.facts["least_effective_values"] == pytest.approx(2.828427, abs=5e-7)


@given(ROWS)
def test_skewness_shows_the_greatest_gain_of_each_class(rows: Rows) -> None:
    found = skewness(table_of(rows), ["q"], "s", gain=0.25)
    overall = Counter(value for _, value in rows)
    for number, counts in enumerate(histograms(rows).values()):
        gains = [
            Fraction(count, counts.total()) - Fraction(overall[value], len(rows))
            for value, count in counts.items()
            if value is not None
        ]
        best = max(gains, default=Fraction(0))
        assert found.prior is not None
        assert found.confidence[number] - found.prior[number] == pytest.approx(float(best))
        assert bool(found.hit[number]) == (best >= Fraction(1, 4))


def test_stomach_problems_are_alike_in_one_class() -> None:
    table, kinds = weak_releases.similar_problems(), weak_releases.problem_categories()
    found = similarity(table, QI, "problem", kinds)
    (exposure,) = found.exposed
    assert (exposure.learnt, exposure.people) == ((weak_releases.STOMACH,), 3)
    assert exposure.prior == pytest.approx(5 / 9)
    assert found.facts["exposed_by_similarity"] == 1
    assert homogeneity(table, QI, "problem").exposed == ()


def test_salaries_of_three_to_five_are_alike_in_one_class() -> None:
    found = near_numbers(weak_releases.similar_problems(), QI, "salary", 2)
    (exposure,) = found.exposed
    assert exposure.learnt == ("3", "5")
    assert exposure.prior == pytest.approx(3 / 9)


def test_the_table_that_is_close_withstands_both() -> None:
    table = weak_releases.close_salaries()
    assert similarity(table, QI, "problem", weak_releases.problem_categories()).exposed == ()
    assert near_numbers(table, QI, "salary", 2).exposed == ()


def test_the_labels_of_a_level_are_categories() -> None:
    tree = Hierarchy.from_paths([("gastritis", "stomach", "*"), ("flu", "lungs", "*")])
    assert categories_of(tree, ["stomach", "lungs"]) == {"gastritis": "stomach", "flu": "lungs"}


@given(
    st.lists(
        st.tuples(st.sampled_from(["x", "y"]), st.one_of(st.none(), st.integers(-9, 120))),
        min_size=1,
        max_size=25,
    ),
    st.integers(0, 30),
)
def test_near_numbers_equal_trying_every_range(
    rows: list[tuple[str, int | None]], width: int
) -> None:
    table = pl.DataFrame(rows, schema={"q": pl.String, "s": pl.Int64}, orient="row")
    found = near_numbers(table, ["q"], "s", width)
    for number, label in enumerate(sorted({label for label, _ in rows})):
        here = [value for other, value in rows if other == label]
        known = [value for value in here if value is not None]
        best = max((sum(low <= v <= low + width for v in known) for low in known), default=0)
        assert found.confidence[number] == pytest.approx(best / len(here))
        if best == len(here):
            (one,) = (one for one in found.exposed if one.group == number)
            assert one.learnt == (str(min(known)), str(max(known)))


def test_a_value_without_a_category_is_refused_without_naming_it() -> None:
    with pytest.raises(InputError) as caught:
        similarity(weak_releases.similar_problems(), QI, "problem", {"flu": "lungs"})
    assert (caught.value.code, caught.value.details["values"]) == ("CEL-A055", 5)
    assert "gastritis" not in str(caught.value)


def test_texts_are_no_numbers() -> None:
    with pytest.raises(InputError) as caught:
        near_numbers(weak_releases.similar_problems(), QI, "problem", 2)
    assert caught.value.code == "CEL-A056"


@pytest.mark.parametrize("width", [-1, float("nan"), float("inf"), "2"])
def test_a_width_that_is_none_is_refused(width: Any) -> None:
    with pytest.raises(InputError) as caught:
        near_numbers(weak_releases.similar_problems(), QI, "salary", width)
    assert caught.value.code == "CEL-I060"


@pytest.mark.parametrize("share", [0, 1.1, float("nan"), True])
def test_a_share_outside_its_range_is_refused(share: Any) -> None:
    with pytest.raises(InputError) as caught:
        homogeneity(weak_releases.one_problem(), QI, "problem", certainty=share)
    assert caught.value.code == "CEL-I060"


@pytest.mark.parametrize("number", [-1, 1.5, True])
def test_a_count_that_is_none_is_refused(number: Any) -> None:
    with pytest.raises(InputError) as caught:
        worst_background(weak_releases.one_problem(), QI, "problem", exclusions=number)
    assert caught.value.code == "CEL-I060"
