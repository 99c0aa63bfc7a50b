"""The published SPARQL experiment, with the arithmetic that it was published with."""

from __future__ import annotations

import pytest
from tests.effort import EFFORT

from celosia.datasets.watdiv import QUERIES
from celosia.lab.sparql import small_graphs
from celosia.lab.sparql.graphs import count, graph, local_sensitivity, most_frequent
from celosia.lab.sparql.oracle import corrected_sensitivity
from celosia.lab.sparql.original_analysis import (
    compat_scale,
    compat_sensitivity,
    list_frequencies,
    patterns,
)
from celosia.lab.sparql.publication import FREQUENCIES, SENSITIVITIES

PRINTED = {
    **{"F1": 19786, "F2": 4916, "F3": 2341791, "F4": 28598577, "F5": 547},
    **{"L1": 22, "L2": 26207, "L3": 6, "L4": 5, "L5": 17},
    **{"S1": 29508, "S2": 58, "S3": 115, "S4": 2471, "S5": 58},
}


@pytest.mark.parametrize("name", PRINTED)
def test_the_fifteen_printed_sensitivities(name: str) -> None:
    """Property 6."""
    given = patterns(QUERIES[name].pattern)
    assert compat_sensitivity(given, list_frequencies(FREQUENCIES)) == PRINTED[name]
    assert SENSITIVITIES[name].printed == PRINTED[name]


def test_the_sensitivities_of_stars_follow_their_recurrence() -> None:
    """Property 6: E_n = n + 3 E_(n-1), whatever the data."""
    expected = 5
    for size in range(2, 10):
        star = [("?x", f"p{place}", f"?y{place}") for place in range(size)]
        assert compat_sensitivity(star, list_frequencies({})) == expected
        expected = size + 1 + 3 * expected
    assert expected == 10 + 3 * 14757


@pytest.mark.parametrize("size", [5, 10, 20, *([50] if EFFORT >= 1 else [])])
def test_the_broken_analysis_says_6_where_one_fact_moves_any_number(size: int) -> None:
    """Property 5."""
    given, facts = patterns(small_graphs.COUNTER_EXAMPLE), small_graphs.hub(size)
    frequency = most_frequent(facts)
    assert compat_sensitivity(given, frequency, distance=0) == 6
    assert compat_sensitivity(given, frequency, distance=1) == 17
    assert count(given, facts | {("y0", "r", "z0")}) - count(given, facts) == size
    assert local_sensitivity(given, facts) == size
    for distance in (0, 1):
        assert (
            small_graphs.bound(small_graphs.COUNTER_EXAMPLE, facts).at(distance) == size + distance
        )
    assert corrected_sensitivity(given, frequency, distance=1, sets=False) == 2 * (size + 1)


def test_patterns_without_a_shared_term_are_not_bounded() -> None:
    for text in ("?x p ?y", "?x p ?y . ?z q ?w"):
        with pytest.raises(ValueError, match="shares no term"):
            compat_sensitivity(patterns(text), list_frequencies({}))
    with pytest.raises(ValueError, match="shares no variable"):
        corrected_sensitivity(patterns("?x p ?y . ?z q ?w"), list_frequencies({}), distance=0)


def test_the_scale_is_discounted_for_one_distance() -> None:
    assert compat_scale(5, epsilon=0.1) == pytest.approx(99.8483, abs=5e-5)


def test_the_query_for_the_largest_frequency_found_that_of_the_first_value() -> None:
    facts = graph("a p 1", "b p 1 2", "c p 1 2 3")
    assert small_graphs.asked_frequency(facts, "?v DESC(?count)") == 1
    assert small_graphs.asked_frequency(facts, "DESC(?count)") == 3
