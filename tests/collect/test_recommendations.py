"""Choosing a protocol: predicted errors, inversions, collisions, and what is left out."""

from __future__ import annotations

from fractions import Fraction
from math import asinh, atanh, exp, log2, sqrt
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.english_words import english_words

from celosia.collect.count_mean.count_mean import CountMean
from celosia.collect.count_mean.hadamard_count_mean import HadamardCountMean
from celosia.collect.oracles.kary_response import KaryResponse
from celosia.collect.oracles.local_hashing import LocalHashing
from celosia.collect.recommendations import results as choosing_report
from celosia.collect.recommendations.designs import (
    KNOWN,
    Need,
    UnfitProtocol,
    design_protocol,
    error_of,
    memory,
    required_hashes,
    server_cost,
    with_size,
)
from celosia.collect.recommendations.results import Recommendation, Recommendations
from celosia.collect.recommendations.selection import choose, epsilon_for, users_for
from celosia.collect.registry import protocol_class
from celosia.collect.simulation.run import simulate
from celosia.core.errors import InputError
from celosia.core.messages import speaking

TABLE = {
    # epsilon: optimum, CMS with many columns, HCMS, GRR of 1,000, GRR of 100,000, OLH, its g
    0.5: (15.671, 15.917, 16.671, 2375, 237_620, 15.817, 3),
    1: (3.683, 3.918, 4.683, 339, 33_870, 3.692, 4),
    2: (0.7241, 0.9207, 1.7241, 24.6, 2450, 0.7246, 8),
    3: (0.2206, 0.3697, 1.2206, 2.80, 275, 0.2206, 21),
    4: (0.0760, 0.1810, 1.0760, 0.366, 34.8, 0.0760, 56),
    5: (0.0273, 0.0974, 1.0273, 0.053, 4.61, 0.0273, 149),
}
"""Variances of a rare value, per user: the table of the engineering notes."""
USERS = 10**6


def _by_label(found: Recommendations) -> dict[str, Recommendation]:
    return {each.label: each for each in found.ranked}


def _need(users: int = USERS, domain: int = 1000, squares: float = 1e-6, **words: Any) -> Need:
    return Need(users=users, domain=domain, squares=squares, **words)


@pytest.mark.parametrize("epsilon", TABLE)
def test_predicted_errors_are_those_of_the_table(epsilon: float) -> None:
    optimum, cms, hcms, small, large, olh, buckets = TABLE[epsilon]
    price = Fraction(str(epsilon))
    need = _need()

    def per_user(label: str, want: Need = need) -> float:
        return error_of(design_protocol(label, want, price), want) ** 2 / want.users

    # The table has three or four digits.
    assert per_user("oue") == pytest.approx(optimum, rel=2e-3)
    assert per_user("sue") == pytest.approx(cms, rel=2e-3)
    assert per_user("grr") == pytest.approx(small, rel=1e-2)
    assert per_user("grr", _need(domain=100_000)) == pytest.approx(large, rel=1e-2)
    assert per_user("olh") == pytest.approx(olh, rel=2e-3)
    assert design_protocol("olh", need, price).parameters()["buckets"] == buckets
    # Sketches add 1/m for the rows of others, and the factor (m / (m - 1))^2, of 1,024 columns.
    wide = (1024 / 1023) ** 2
    assert per_user("cms") == pytest.approx(wide * (cms + 1 / 1024), rel=2e-3)
    assert per_user("hcms") == pytest.approx(wide * hcms, rel=2e-3)
    # Subset selection is the optimum, and projective geometry near it; Hadamard up to twice.
    assert per_user("ss") <= optimum * 1.001
    assert optimum * 0.95 < per_user("pgr") < optimum * 1.1
    assert optimum * 0.95 < per_user("hr") < 2.1 * optimum


@given(st.integers(1, 9), st.integers(2, 6))
@settings(max_examples=20, deadline=None)
def test_a_domain_of_known_size_is_planned_as_one_with_names(epsilon: int, power: int) -> None:
    size = 3**power
    for name in ("grr", "oue", "sue", "hr", "ss", "pgr"):
        kind: Any = protocol_class(name)
        named = kind(epsilon=epsilon, domain=tuple(range(size)))
        plan: Any = with_size(kind, size, Fraction(epsilon))
        assert plan.variance(5000, count=7) == named.variance(5000, count=7)
        assert plan.report_bits == named.report_bits


def test_hashes_keep_collisions_below_a_tenth_of_the_noise() -> None:
    # The notes: zipf 1.1 with |p|^2 of 0.03, epsilon 4, m = 1,024, ten million users: 16,000.
    need = _need(users=10**7, squares=0.03)
    wanted = required_hashes(CountMean(epsilon=4, hashes=256, width=1024), need)
    assert wanted == pytest.approx(16_000, rel=0.02)
    noise = CountMean(epsilon=4, width=1024)
    enough = CountMean(epsilon=4, hashes=wanted, width=1024)
    alone = noise.variance(need.users, squares=need.users)
    term = enough.variance(need.users, squares=need.total_squares) - alone
    assert term == pytest.approx(0.1 * alone, rel=0.01)
    for label in ("cms", "hcms", "olh-pool"):
        found = _by_label(choose(users=10**7, domain=1000, epsilon=4, squares=0.03))[label]
        assert 0 < found.collision_share <= 0.1


def test_too_few_hashes_are_warned_of() -> None:
    few = _by_label(choose(users=10**7, domain=1000, epsilon=4, hashes=1024))
    for label in ("cms", "hcms", "olh-pool"):
        assert "limits accuracy, not that of users" in few[label].warnings[0]
        assert few[label].collision_share > 0.2
    for label in ("olh", "grr", "pgr"):
        assert few[label].warnings == ()
        assert few[label].collision_share == 0
    enough = _by_label(choose(users=10**7, domain=1000, epsilon=4))
    assert all(not enough[label].warnings for label in ("cms", "hcms"))
    # Four times as many users should halve the share; they only lower its part of the noise.
    more = _by_label(choose(users=4 * 10**7, domain=1000, epsilon=4, hashes=1024))
    stays = few["cms"].collision_share
    expected = sqrt(stays + (1 - stays) / 4)
    assert more["cms"].share / few["cms"].share == pytest.approx(expected, rel=1e-3)
    assert expected > 0.8


@pytest.mark.parametrize("target", [1200, 2000, 10_000])
def test_the_epsilon_for_an_error_is_that_of_the_closed_inversions(target: float) -> None:
    need, users = _need(), USERS
    # With many columns and hashes only noise is left: 4 asinh(sqrt(n) / (2 s)), 2 atanh(sqrt(n)/s).
    expected = {
        "sue": 4 * asinh(sqrt(users) / (2 * target)),
        "hcms": 2 * atanh(sqrt(users) / target),
        "cms": 4 * asinh(sqrt(users) / (2 * target)),
    }
    for label, epsilon in expected.items():
        found = float(epsilon_for(label, need, target))
        assert found == pytest.approx(epsilon, rel=0.01, abs=0.001), label
    ratio = need.domain / 8
    assert float(epsilon_for("dbitflip", need, target)) == pytest.approx(
        4 * asinh(sqrt(ratio * users) / (2 * target)), abs=0.001
    )


@given(st.floats(30, 1e5), st.sampled_from(sorted(KNOWN)))
@settings(max_examples=60, deadline=None)
def test_the_epsilon_found_is_enough_and_a_little_less_is_not(target: float, label: str) -> None:
    need = _need(users=10**5, domain=200, squares=0.01)
    try:
        found = epsilon_for(label, need, target)
    except UnfitProtocol:
        assert error_of(design_protocol(label, need, Fraction(64)), need) > target
        return
    assert error_of(design_protocol(label, need, found), need) <= target
    if found > Fraction(2, 1000):
        less = min(found * Fraction(95, 100), found - Fraction(1, 1000))
        assert error_of(design_protocol(label, need, less), need) > target


def test_one_sign_of_many_has_a_floor_that_is_told() -> None:
    found = choose(users=USERS, domain=1000, target_error=900)
    reasons = dict(found.left_out)
    assert "whatever epsilon is" in reasons["hcms"]
    assert "hcms" not in _by_label(found)
    above = choose(users=USERS, domain=1000, target_error=1100)
    needed = _by_label(above)["hcms"].needed_epsilon
    assert needed is not None
    assert needed > 3
    # With users and epsilon known it still has an error, only no epsilon for the wish.
    both = _by_label(choose(users=USERS, domain=1000, epsilon=2, target_error=900))
    assert both["hcms"].needed_epsilon is None
    assert both["hcms"].error > 1000


def test_the_users_found_are_enough_and_fewer_are_not() -> None:
    found = choose(epsilon=2, domain=1000, target_share=0.001)
    assert found.sought == "users"
    for each in found.ranked:
        users = each.needed_users
        assert users is not None
        assert each.users == users
        assert each.share <= 0.001
    need = _need()
    for label in ("olh", "grr", "oue"):
        users = users_for(label, need, Fraction(2), 0.001)
        fewer = _need(users=users - 1)
        assert error_of(design_protocol(label, fewer, Fraction(2)), fewer) > 0.001 * (users - 1)
    # The variance is n v, so the share falls below s from v / s^2 users on.
    assert users_for("oue", need, Fraction(2), 0.001) == pytest.approx(
        4 * exp(2) / (exp(2) - 1) ** 2 / 1e-6, rel=1e-4
    )


def test_short_reports_leave_long_protocols_out() -> None:
    found = choose(users=USERS, domain=1000, epsilon=2, bytes=8)
    assert all(each.report_bits <= 64 for each in found.ranked)
    assert dict(found.left_out).keys() == {"oue", "sue", "ss"}
    one = choose(users=USERS, domain=100, epsilon=2, bytes=1)
    assert {each.label for each in one.ranked} <= {"grr", "hr", "pgr", "dbitflip"}
    with pytest.raises(InputError) as error:
        choose(users=USERS, domain=10**6, epsilon=2, bytes=1)
    assert error.value.code == "CEL-R092"
    assert "grr (its reports have 3 bytes)" in str(error.value)


def test_a_report_of_one_bit_may_use_twice_the_epsilon() -> None:
    found = _by_label(choose(users=USERS, domain=100, epsilon=2, bytes=1))["dbitflip"]
    assert found.parameters["bits"] == 1
    assert found.parameters["epsilon"] == 4
    assert found.report_epsilon == 2


def test_repeated_collection_leaves_protocols_that_keep_answers() -> None:
    found = choose(users=USERS, domain=32, epsilon=2, repeated=True)
    assert {each.label for each in found.ranked} == {"dbitflip", "rappor"}
    assert all(each.lasting_epsilon < 50 for each in found.ranked)
    rappor = _by_label(found)["rappor"]
    assert rappor.lasting_epsilon <= 2
    assert rappor.report_epsilon <= 1


def test_an_unknown_dictionary_leaves_protocols_that_find_values() -> None:
    found = choose(users=USERS, epsilon=8, unknown_dictionary=True)
    assert {each.label for each in found.ranked} == {"sfp", "pem"}
    assert all(each.warnings for each in found.ranked)
    short = choose(users=USERS, epsilon=8, unknown_dictionary=True, bytes=40)
    assert all(each.report_bits <= 320 for each in short.ranked)


@given(
    st.integers(100, 10**8),
    st.integers(2, 10**5),
    st.floats(0.05, 12),
    st.one_of(st.none(), st.integers(4, 400)),
)
@settings(max_examples=25, deadline=None)
def test_the_ranking_is_by_error_and_among_equals_by_size(
    users: int, domain: int, epsilon: float, size: int | None
) -> None:
    found = choose(users=users, domain=domain, epsilon=epsilon, bytes=size)
    errors = [each.error for each in found.ranked]
    for place, error in enumerate(errors):
        assert error <= 1.05 * min(errors[place:])
    assert len(found.ranked) + len(found.left_out) == len(KNOWN)


def test_predictions_hold_in_a_simulation() -> None:
    # 400 rare values: the pooled error has a relative standard deviation of 1 / sqrt(800).
    values = [f"common {at % 3}" for at in range(30_000)]
    rare = [f"rare {at}" for at in range(400)]
    found = _by_label(choose(users=30_000, domain=403, epsilon=1, squares=1 / 3))
    for label in ("cms", "hcms", "olh-pool", "olh"):
        words = dict(found[label].parameters)
        made = protocol_class(words.pop("method"))(**words)
        seen = simulate(values, protocol=made, candidates=rare, seed=9).pooled_rmse
        assert abs(seen / found[label].error - 1) < 4.5 / sqrt(800), label


def test_the_report_shows_protocols_and_a_curve() -> None:
    found = choose(users=USERS, domain=1000, epsilon=2, bytes=8, target_error=500)
    page = choosing_report.document(found).html()
    assert "epsilon needed" in page
    assert "its reports have 125 bytes" in page
    assert "Error of a rare value by epsilon" in page
    curves = choosing_report.error_curve(found)
    assert curves["olh"] == sorted(curves["olh"], reverse=True)
    assert curves["hcms"][-1] > 1000 > curves["olh"][-1]
    told = found.as_dict()
    assert told["ranked"][0]["lasting_epsilon"] is None
    assert told["ranked"][0]["parameters"]["method"] == "pgr"
    assert {"users", "domain", "squares", "left_out", "sought"} <= told.keys()
    repeated = choose(users=USERS, domain=32, epsilon=2, repeated=True)
    assert "lasting epsilon" in choosing_report.document(repeated).html()


def test_sizes_of_reports_and_memory_are_those_of_the_specification() -> None:
    for hashes, width in ((1024, 256), (65_536, 1024), (1000, 16)):
        rows, columns = (hashes - 1).bit_length(), round(log2(width))
        assert CountMean(epsilon=4, hashes=hashes, width=width).report_bits == width + rows
        hadamard = HadamardCountMean(epsilon=4, hashes=hashes, width=width)
        assert hadamard.report_bits == 1 + rows + columns
    found = memory(hashes=65_536, width=1024, domain=350_000_000, cell=4)
    assert found.sketch == 256 * 2**20
    assert found.exact / 2**30 == pytest.approx(1.304, abs=5e-4)
    assert found.ratio == pytest.approx(5.215, abs=5e-4)


def test_the_cost_of_a_server_is_that_of_its_state() -> None:
    for protocol in (
        CountMean(epsilon=2, hashes=64, width=32),
        HadamardCountMean(epsilon=2, hashes=64, width=32),
        KaryResponse(epsilon=2, domain=tuple(range(50))),
        LocalHashing(epsilon=2, pool=64),
    ):
        state = protocol.server()._state()
        counts = max(each.nbytes for each in state.values())
        assert server_cost(protocol, 1000, 50).bytes == counts
    assert server_cost(LocalHashing(epsilon=2), 1000, 50).steps == 50_000


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ({"domain": 1}, "CEL-R090"),
        ({"domain": None}, "CEL-R090"),
        ({"domain": 10.5}, "CEL-R090"),
        ({"users": 0}, "CEL-R090"),
        ({"users": "1e6"}, "CEL-R090"),
        ({"users": float("nan")}, "CEL-R090"),
        ({"bytes": 0}, "CEL-R090"),
        ({"hashes": -4}, "CEL-R090"),
        ({"squares": 0}, "CEL-R090"),
        ({"squares": 1.1}, "CEL-R090"),
        ({"target_error": -5}, "CEL-R090"),
        ({"target_share": 2}, "CEL-R090"),
        ({"target_share": 0.1, "target_error": 5}, "CEL-R090"),
        ({"epsilon": 0}, "CEL-I060"),
        ({"epsilon": None}, "CEL-R091"),
        ({"users": None}, "CEL-R091"),
        ({"users": None, "target_error": 5}, "CEL-R091"),
    ],
)
def test_numbers_that_cannot_be_are_refused(words: dict[str, Any], code: str) -> None:
    given_words: dict[str, Any] = {"users": 1000, "domain": 10, "epsilon": 1} | words
    with pytest.raises(InputError) as error:
        choose(**given_words)
    assert error.value.code == code


def test_the_report_of_protocols_speaks_spanish() -> None:
    found = choose(users=10**6, domain=1000, epsilon=2, bytes=3)
    with speaking("es"):
        page = choosing_report.document(found)
    assert english_words(page) == set()
