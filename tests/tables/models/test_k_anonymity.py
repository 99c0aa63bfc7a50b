"""k-anonymity: a class holds when it has k records."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.core.errors import InputError, PrivacyError
from celosia.tables import Schema, check, publish
from celosia.tables.models import Classes, KAnonymity, judge_all
from celosia.tables.models.notation import model_from_text

sizes = st.lists(st.integers(1, 40), max_size=20).map(lambda found: np.array(found, dtype=np.int64))


@given(sizes, st.integers(2, 30))
def test_exactly_the_classes_of_at_least_k_records_hold(found: Any, k: int) -> None:
    assert KAnonymity(k).holds(Classes(found)).tolist() == [size >= k for size in found.tolist()]


@given(sizes, sizes, st.integers(2, 30))
def test_merging_classes_never_breaks_one_that_holds(found: Any, others: Any, k: int) -> None:
    joined = min(len(found), len(others))
    merged = found[:joined] + others[:joined]
    before = KAnonymity(k).holds(Classes(found[:joined]))
    assert (KAnonymity(k).holds(Classes(merged)) | ~before).all()


@given(sizes, st.integers(2, 30), st.integers(2, 30))
def test_several_models_hold_where_each_of_them_does(found: Any, k: int, other: int) -> None:
    both = judge_all(Classes(found), [KAnonymity(k), KAnonymity(other)]).satisfied
    assert both.tolist() == KAnonymity(max(k, other)).holds(Classes(found)).tolist()


def test_no_models_hold_everywhere() -> None:
    assert judge_all(Classes(np.array([1, 2])), []).satisfied.tolist() == [True, True]


@pytest.mark.parametrize("k", [1, 0, -5, 2.0, 5.5, "5", None, True])
def test_k_must_be_a_whole_number_of_at_least_two(k: Any) -> None:
    with pytest.raises(InputError) as caught:
        KAnonymity(k)
    assert (caught.value.code, caught.value.details["parameter"]) == ("CEL-I060", "k")


def test_k_may_be_a_whole_number_of_numpy() -> None:
    assert KAnonymity(np.int64(5)) == KAnonymity(5)  # type: ignore[arg-type]


def test_the_model_reads_as_one_would_write_it() -> None:
    model = KAnonymity(5)
    assert repr(model) == "KAnonymity(k=5)"
    assert model.promise() == "5-anonymity"
    assert model.smallest == 5
    assert model.as_dict() == {"method": "k-anonymity", "k": 5}


def test_the_model_says_what_it_protects_and_what_not() -> None:
    assert "at most 1/5" in KAnonymity(5).protects()
    assert any("homogeneity" in gap for gap in KAnonymity(5).leaves_open())


def test_a_model_of_people_is_judged_by_person_or_not_at_all() -> None:
    """Check 10 of traces, on a table: ten records of one person, and ten of ten."""
    one = pl.DataFrame({"user": ["ann"] * 10, "place": ["x"] * 10})
    ten = one.with_columns(user=pl.Series([f"p{n}" for n in range(10)]))
    by_person = KAnonymity(10, per="person")
    declared = Schema.of(quasi_identifiers=["place"], person="user")
    assert check(ten, declared, by_person).holds
    assert not check(one, declared, by_person).holds
    assert "counted by person" in publish(ten, declared, by_person).guarantee.promise
    with pytest.raises(PrivacyError):
        publish(one, declared, by_person)
    records = Schema.of(quasi_identifiers=["place"], person="user", unit="record")
    assert publish(one, records, KAnonymity(10)).data.height == 10
    homes = Schema.of(quasi_identifiers=["place"], person="user", household="home")
    for schema in (records, homes, Schema.of(quasi_identifiers=["place"], identifiers="user")):
        with pytest.raises(InputError) as caught:
            publish(one, schema, by_person)
        assert caught.value.key == "CEL-P062.needs_people"


def test_a_model_of_people_is_written_and_read_again() -> None:
    model = model_from_text("k-anonymity:k=5,per=person")
    assert model == KAnonymity(5, per="person")
    assert repr(model) == "KAnonymity(k=5, per='person')"
    assert model.as_dict() == {"method": "k-anonymity", "k": 5, "per": "person"}
    assert model.promise() == "5-anonymity, counted by person"
