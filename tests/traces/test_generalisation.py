"""Generalisation under k-anonymity that is counted by person."""

from __future__ import annotations

import numpy as np
import pytest
from tests.traces.small_city import small_city

from celosia.core.errors import EngineError, InputError, PrivacyError
from celosia.core.randomness import Seeded
from celosia.tables import KAnonymity
from celosia.tables.models.classes import Classes
from celosia.traces import Generalisation, PublishOptions, is_k_anonymous, method_from, publish
from celosia.traces.generalisation import person_classes


def test_ten_rows_of_one_person_are_no_crowd() -> None:  # check 10
    classes, person = np.zeros(10, dtype=np.int64), np.zeros(10, dtype=np.int64)
    by_person = KAnonymity(10, per="person")
    assert by_person.holds(person_classes(classes, np.arange(10))[0]).all()
    assert not by_person.holds(person_classes(classes, person)[0]).any()
    with pytest.raises(InputError, match="counts people"):
        by_person.holds(Classes(np.array([10])))
    assert KAnonymity(10).holds(Classes(np.array([10]))).all()
    assert not is_k_anonymous(classes, person, 10)
    assert not is_k_anonymous(classes, person, 2)
    assert is_k_anonymous(classes, np.arange(10), 10)


def test_persons_of_a_class_are_counted_once() -> None:
    shared, codes = person_classes(np.array([7, 7, 7, 3, 3]), np.array([1, 1, 2, 4, 4]))
    assert shared.sizes.tolist() == [1, 2]
    assert codes.tolist() == [1, 1, 1, 0, 0]


@pytest.mark.parametrize("places", ["grid", "geohash"])
@pytest.mark.parametrize("period", ["none", "day"])
def test_every_published_cell_and_window_is_shared_by_k_persons(places: str, period: str) -> None:
    traces = small_city().traces
    method = Generalisation(k=6, places=places, suppression=0.1)  # type: ignore[arg-type]
    options = PublishOptions(pseudonym=period, assess=False)
    release = publish(traces, method, options=options, rng=Seeded(1))
    assert release.samples is not None
    persons: dict[tuple[object, ...], set[int]] = {}
    owner = release.samples.persons.tolist()
    columns = [name for name in release.data.columns if name != "trace"]
    for row, person in zip(release.data.select(columns).iter_rows(), owner, strict=True):
        persons.setdefault(row, set()).add(person)
    assert min(map(len, persons.values())) >= 6
    assert release.outcome.facts["suppressed_points"] <= 0.1 * traces.size
    assert ("trace" in release.data.columns) == (period == "day")


def test_the_guarantee_says_that_points_can_be_joined_unless_pseudonyms_go() -> None:
    method = Generalisation(k=3)
    assert any("can be joined" in gap for gap in method.leaves_open("day"))
    assert not any("can be joined" in gap for gap in method.leaves_open("none"))


def test_no_finer_pair_of_levels_would_do() -> None:
    from celosia.core.progress import silent
    from celosia.traces.places import place_levels, time_levels

    traces = small_city(60, 2).traces
    method = Generalisation(k=4, suppression=0.2)
    spaces, times = place_levels(traces, "grid"), time_levels(traces, base="15min")
    found = method._search(traces, spaces, times, silent)
    assert found is not None
    where, when, _ = found
    for i, j in ((where - 1, when), (where, when - 1)):
        if min(i, j) >= 0:
            classes = spaces[i].codes * len(times[j].names) + times[j].codes
            shared, codes = person_classes(classes, traces.person)
            counts = shared.sizes
            assert (counts[codes] < 4).sum() > 0.2 * traces.size


def test_too_few_persons_are_refused() -> None:
    with pytest.raises(PrivacyError, match="20 persons, and k is 21"):
        publish(small_city(20, 2).traces, Generalisation(k=21), rng=Seeded(1))


def test_parameters_out_of_range_are_refused() -> None:
    for wrong in ({"k": 1}, {"k": 5, "suppression": 2}, {"k": 5, "places": "town"}):
        with pytest.raises((InputError, EngineError)):
            method_from("generalisation", wrong)
