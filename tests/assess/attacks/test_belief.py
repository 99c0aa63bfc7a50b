"""What an attacker believes: by Bayes, and by asking why nothing finer was published."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import permutations
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.assess.attacks import (
    minimality,
    negative_disclosures,
    positive_disclosures,
    posterior,
)
from celosia.core.errors import InputError, PrivacyError
from celosia.core.progress import Step
from celosia.core.randomness import Seeded
from celosia.datasets import weak_releases

COUNTS = st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 20), min_size=1).filter(
    lambda counts: sum(counts.values()) > 0
)


def half(classes: Sequence[Counter[str]]) -> bool:
    """At most half of every class has HIV."""
    return all(2 * counts["HIV"] <= counts.total() for counts in classes)


@given(COUNTS, st.data())
def test_belief_is_the_class_frequency_where_quasi_identifiers_tell_nothing(
    counts: dict[str, int], data: st.DataObject
) -> None:
    common = {value: data.draw(st.floats(0.01, 1)) for value in counts}
    total = sum(counts.values())
    expected = {value: count / total for value, count in counts.items()}
    assert posterior(counts, common, common) == pytest.approx(expected)


def test_belief_weighs_the_class_by_what_was_known() -> None:
    believed = posterior(
        {"flu": 2, "cancer": 1}, {"flu": 0.6, "cancer": 0.1}, {"flu": 0.3, "cancer": 0.2}
    )
    assert believed == pytest.approx({"flu": 4 / 4.5, "cancer": 0.5 / 4.5})
    assert positive_disclosures(believed, delta=0.2) == ("flu",)
    assert negative_disclosures(believed, epsilon=0.2) == ("cancer",)


@pytest.mark.parametrize(
    ("counts", "given_q", "given_class"),
    [
        ({}, {}, {}),
        ({"a": 0}, {"a": 1.0}, {"a": 1.0}),
        ({"a": -1}, {"a": 1.0}, {"a": 1.0}),
        ({"a": 1}, {}, {"a": 1.0}),
        ({"a": 1}, {"a": 2.0}, {"a": 1.0}),
        ({"a": 1}, {"a": 0.5}, {"a": 0.0}),
        ({"a": 1}, {"a": 0.0}, {"a": 0.5}),
        ({"a": float("nan")}, {"a": 1.0}, {"a": 1.0}),
    ],
)
def test_a_belief_that_cannot_be_is_refused(counts: Any, given_q: Any, given_class: Any) -> None:
    with pytest.raises(InputError) as caught:
        posterior(counts, given_q, given_class)
    assert caught.value.code == "CEL-A060"


def test_the_cooks_are_known_by_what_the_publisher_did() -> None:
    release, finer = weak_releases.too_general()
    found = minimality(release, ["job"], "disease", finer=[finer], holds=half, watched={"HIV"})
    (exposure,) = found.exposed
    assert (exposure.rows, exposure.learnt, exposure.people) == ((0, 1), ("HIV",), 2)
    assert exposure.confidence == pytest.approx(1)
    assert exposure.prior == pytest.approx(2 / 7)
    assert found.facts == {"ways_tried": 3, "ways_left": 1}


def test_without_watched_values_the_healthy_are_known_too() -> None:
    release, finer = weak_releases.too_general()
    found = minimality(release, ["job"], "disease", finer=[finer], holds=half)
    assert {one.learnt for one in found.exposed} == {("HIV",), ("none",)}
    assert found.exposed_people == 7


def test_without_a_finer_table_she_knows_what_the_class_tells() -> None:
    release, _ = weak_releases.too_general()
    found = minimality(release, ["job"], "disease", finer=[], holds=half)
    assert found.exposed == ()
    assert found.confidence.tolist() == pytest.approx(found.prior)


VALUES = st.lists(st.sampled_from(["HIV", "none", "flu"]), min_size=6, max_size=6)


@settings(max_examples=40)
@given(VALUES, st.lists(st.integers(0, 1), min_size=6, max_size=6), st.booleans())
def test_the_belief_equals_trying_every_order_of_the_people(
    values: list[str], split: list[int], two_tables: bool
) -> None:
    coarse = ["A", "A", "A", "A", "B", "B"]
    partitions = [[f"{c}{s}" for c, s in zip(coarse, split, strict=True)]]
    if two_tables:
        partitions.append([f"{c}{i % 2}" for i, c in enumerate(coarse)])

    def classes(labels: list[str], dealt: list[str]) -> list[Counter[str]]:
        found: dict[str, Counter[str]] = {}
        for label, value in zip(labels, dealt, strict=True):
            found.setdefault(label, Counter())[value] += 1
        return list(found.values())

    if not half(classes(coarse, values)):
        return
    worlds = [
        [*first, *second]
        for first in permutations(values[:4])
        for second in permutations(values[4:])
    ]
    left = [w for w in worlds if not any(half(classes(labels, w)) for labels in partitions)]
    release = pl.DataFrame({"q": coarse, "s": values})
    finer = [pl.DataFrame({"q": labels}) for labels in partitions]
    if not left:
        with pytest.raises(PrivacyError) as caught:
            minimality(release, "q", "s", finer=finer, holds=half)
        assert caught.value.code == "CEL-A064"
        return
    found = minimality(release, "q", "s", finer=finer, holds=half, watched=["HIV"])
    if "HIV" in values:
        for group in range(found.sizes.size):
            for row in found.members.of_group(group):
                share = sum(world[row] == "HIV" for world in left) / len(left)
                assert found.confidence[group] == pytest.approx(share)


@pytest.mark.statistical
def test_drawn_ways_come_near_the_exact_belief() -> None:
    release = pl.DataFrame({"q": ["A"] * 8, "s": ["HIV"] * 3 + ["none"] * 5})
    finer = [pl.DataFrame({"q": ["x"] * 3 + ["y"] * 5})]
    exact = minimality(release, "q", "s", finer=finer, holds=half, watched=["HIV"])
    drawn = minimality(
        release,
        "q",
        "s",
        finer=finer,
        holds=half,
        watched=["HIV"],
        cap=1,
        samples=4000,
        rng=Seeded(11),
    )
    # None, two or three of the three x have HIV in 10, 15 and 1 of the 56 ways: their share is
    # 11/26 with a deviation of 0.34. Some 1,857 draws remain, so five deviations are 0.04.
    assert exact.confidence[0] == pytest.approx(11 / 26)
    assert drawn.confidence.tolist() == pytest.approx(exact.confidence.tolist(), abs=0.04)


def test_many_ways_need_a_source() -> None:
    release, finer = weak_releases.too_general()
    with pytest.raises(InputError) as caught:
        minimality(release, "job", "disease", finer=[finer], holds=half, cap=2)
    assert caught.value.code == "CEL-A062"


def test_thousands_of_classes_and_cells_are_no_trouble() -> None:
    rows = 2000
    release = pl.DataFrame(
        {"q": [str(i // 2) for i in range(rows)], "s": ["HIV", "none"] * (rows // 2)}
    )
    alone = minimality(release, "q", "s", finer=[], holds=half)
    assert alone.facts["ways_tried"] == 1
    one_class = release.with_columns(q=pl.lit("A"))
    split = [pl.DataFrame({"q": [str(i) for i in range(rows)]})]
    drawn = minimality(one_class, "q", "s", finer=split, holds=half, samples=3, rng=Seeded(1))
    assert drawn.facts["ways_left"] == 3


def test_empty_cells_are_dealt_out_but_never_learnt() -> None:
    release = pl.DataFrame({"q": ["A"] * 3, "s": ["HIV", None, None]})
    finer = [pl.DataFrame({"q": ["x", "y", "y"]})]

    def holds(classes: Sequence[Counter[str]]) -> bool:
        return len(classes) == 1

    found = minimality(release, "q", "s", finer=finer, holds=holds)
    assert found.confidence.tolist() == pytest.approx([1 / 3, 1 / 3])


def test_progress_is_told() -> None:
    steps: list[Step] = []
    release, finer = weak_releases.too_general()
    minimality(release, "job", "disease", finer=[finer], holds=half, progress=steps.append)
    assert steps[0].total == 3


def test_a_release_that_breaks_the_model_is_refused() -> None:
    release = pl.DataFrame({"q": ["A"] * 2, "s": ["HIV"] * 2})
    with pytest.raises(PrivacyError) as caught:
        minimality(release, "q", "s", finer=[], holds=half)
    assert caught.value.code == "CEL-A063"


@pytest.mark.parametrize("labels", [["x"] * 3, ["x", "y"]])
def test_a_table_that_is_not_finer_is_refused(labels: list[str]) -> None:
    release = pl.DataFrame({"q": ["A", "A", "B"], "s": ["none"] * 3})
    with pytest.raises(InputError) as caught:
        minimality(release, "q", "s", finer=[pl.DataFrame({"q": labels})], holds=half)
    assert caught.value.code == "CEL-A061"


def test_a_column_of_empty_cells_has_nothing_to_learn() -> None:
    release = pl.DataFrame({"q": ["A"], "s": [None]}, schema={"q": pl.String, "s": pl.String})
    with pytest.raises(InputError) as caught:
        minimality(release, "q", "s", finer=[], holds=half)
    assert caught.value.code == "CEL-A065"
