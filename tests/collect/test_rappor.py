"""RAPPOR: what its reports give away, and what the server counts."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp, inf, isclose, log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.collect.scripted_sources import ScriptedSource

from celosia.collect.coins import WHOLE
from celosia.collect.memory import Memory
from celosia.collect.rappor.rappor import Rappor
from celosia.collect.reports import Reports
from celosia.core.errors import BudgetExceeded, InputError
from celosia.core.randomness import Seeded
from celosia.sketches.hashing import digests

Law = dict[tuple[int, ...], Fraction]


def laws(protocol: Rappor, filter_bits: tuple[int, ...]) -> tuple[Law, Law]:
    """The exact laws of the kept bits and of a report, tossed out by hand from the two stages."""
    lie = Fraction(protocol.lies, WHOLE)
    low, high = (Fraction(each, WHOLE) for each in protocol.heads)
    kept: Law = {}
    sent: Law = {}
    for bits in product((0, 1), repeat=protocol.bits):
        chance = Fraction(1)
        for bit, true in zip(bits, filter_bits, strict=True):
            chance *= lie if bit != true else 1 - lie
        kept[bits] = chance
        for report in product((0, 1), repeat=protocol.bits):
            told = chance
            for seen, bit in zip(report, bits, strict=True):
                one = high if bit else low
                told *= one if seen else 1 - one
            sent[report] = sent.get(report, Fraction(0)) + told
    return kept, sent


def largest_ratio(every: list[Law]) -> float:
    return max(float(one[key] / other[key]) for one in every for other in every for key in one)


@pytest.mark.parametrize(
    ("hashes", "f", "p", "q"),
    [(1, 0.5, 0.5, 0.75), (2, 0.5, 0.5, 0.75), (2, 0.25, 0.9, 0.2), (1, 0.3, 0.0, 1.0)],
)
def test_reports_and_kept_bits_are_as_private_as_they_say(
    hashes: int, f: float, p: float, q: float
) -> None:
    protocol = Rappor(bits=4, hashes=hashes, cohorts=2, f=f, p=p, q=q)
    filters = {
        tuple(row.astype(int).tolist())
        for cohort in range(2)
        for row in protocol.filters(digests(list(range(40))), np.full(40, cohort))
    }
    disjoint = {(1,) * hashes + (0,) * (4 - hashes), (0,) * (4 - hashes) + (1,) * hashes}
    assert disjoint <= filters
    every = [laws(protocol, each) for each in sorted(filters)]
    assert all(sum(law.values()) == 1 for pair in every for law in pair)
    one = largest_ratio([sent for _, sent in every])
    lasting = largest_ratio([kept for kept, _ in every])
    # Reached for disjoint filters, and never passed.
    assert isclose(one, exp(float(protocol.epsilon)), rel_tol=1e-12)
    assert isclose(lasting, exp(protocol.lasting_epsilon), rel_tol=1e-12)
    assert log(one) <= float(protocol.epsilon) <= protocol.lasting_epsilon + 1e-9


def test_many_reports_on_one_kept_value_never_cost_more_than_the_lasting_cost() -> None:
    protocol = Rappor(bits=2, hashes=1, cohorts=1, f=0.4, p=0.3, q=0.8)
    low, high = (Fraction(each, WHOLE) for each in protocol.heads)
    costs = []
    for reports in (1, 2, 5, 60):
        law = []
        for true in ((1, 0), (0, 1)):
            kept, _ = laws(protocol, true)
            # How often each of the two bits was sent as 1 is all that reports tell.
            law.append(
                {
                    ones: sum(
                        chance
                        * (high if bits[0] else low) ** ones[0]
                        * (1 - (high if bits[0] else low)) ** (reports - ones[0])
                        * (high if bits[1] else low) ** ones[1]
                        * (1 - (high if bits[1] else low)) ** (reports - ones[1])
                        for bits, chance in kept.items()
                    )
                    for ones in product((0, reports), repeat=2)
                }
            )
        costs.append(max(log(law[0][ones] / law[1][ones]) for ones in law[0]))
        assert costs[-1] <= min(reports * float(protocol.epsilon), protocol.lasting_epsilon) + 1e-12
    assert costs == sorted(costs)
    assert costs[-1] > 0.999 * protocol.lasting_epsilon


def test_both_stages_toss_exactly_the_chances_that_the_costs_are_computed_from() -> None:
    protocol = Rappor(bits=4, hashes=1, cohorts=1, f=0.5, p=0.25, q=0.75)
    low, high = protocol.heads
    assert (protocol.lies, low, high) == (WHOLE // 4, WHOLE // 4, 3 * WHOLE // 4)
    bits = np.array([[False, False, True, True]])
    units = [protocol.lies - 1, protocol.lies, protocol.lies - 1, protocol.lies]
    # A bit that is set is changed as one that is not: a permanent stage that keeps all ones would
    # show them to whoever sees a 0 at their place.
    assert protocol.permanent(bits, ScriptedSource(units)).tolist() == [[True, False, False, True]]
    units = [low - 1, low, high - 1, high]
    assert protocol.instantaneous(bits, ScriptedSource(units)).tolist() == [
        [True, False, True, False]
    ]


def test_set_bits_are_changed_as_often_as_unset_ones() -> None:
    protocol = Rappor(bits=64, hashes=4, cohorts=1, f=0.3)
    for value in (False, True):
        bits = np.full((2_000, 64), value)
        changed = float((protocol.permanent(bits, Seeded(5)) != bits).mean())
        assert abs(changed - 0.15) < 4 * (0.15 * 0.85 / bits.size) ** 0.5


@pytest.mark.parametrize(
    ("f", "lasting"), [(0.05, 58.62), (0.25, 31.13), (0.5, 17.58), (0.75, 8.17), (0.95, 1.60)]
)
def test_lasting_costs_are_those_of_the_published_table(f: float, lasting: float) -> None:
    assert round(Rappor(hashes=8, f=f).lasting_epsilon, 2) == lasting


@pytest.mark.parametrize(
    ("f", "p", "q", "one"),
    [
        (0.05, 0.25, 0.5, 8.32), (0.05, 0.25, 0.75, 16.53), (0.05, 0.25, 0.95, 29.06),
        (0.05, 0.5, 0.95, 21.48), (0.05, 0.75, 0.95, 13.75), (0.05, 0.95, 0.25, 29.06),
        (0.25, 0.05, 0.5, 15.23), (0.25, 0.05, 0.75, 20.09), (0.25, 0.05, 0.95, 26.24),
        (0.25, 0.5, 0.75, 6.50), (0.25, 0.95, 0.75, 10.20), (0.5, 0.05, 0.25, 6.49),
        (0.5, 0.05, 0.75, 12.31), (0.5, 0.05, 0.95, 15.51), (0.5, 0.25, 0.75, 8.17),
        (0.75, 0.05, 0.25, 3.16), (0.75, 0.05, 0.5, 4.56), (0.75, 0.05, 0.95, 7.33),
        (0.75, 0.25, 0.5, 2.14), (0.75, 0.25, 0.95, 5.91), (0.95, 0.05, 0.25, 0.63),
        (0.95, 0.05, 0.5, 0.90), (0.95, 0.05, 0.75, 1.17), (0.95, 0.25, 0.5, 0.43),
        (0.95, 0.25, 0.75, 0.80),
    ],
)  # fmt: skip
def test_costs_of_one_report_are_in_natural_logarithms(
    f: float, p: float, q: float, one: float
) -> None:
    assert abs(float(Rappor(hashes=8, f=f, p=p, q=q).epsilon) - one) < 0.0051


def test_the_example_of_the_paper_costs_the_logarithm_of_three() -> None:
    protocol = Rappor(f=0, p=0.5, q=0.75, hashes=1)
    assert abs(float(protocol.epsilon) - log(3)) < 1e-9
    assert protocol.lasting_epsilon == inf


@settings(max_examples=40, deadline=None)
@given(st.floats(0.05, 30), st.floats(0.02, 1), st.integers(1, 8), st.integers(1, 3))
def test_a_wish_is_kept_and_nearly_used_up(
    lasting: float, share: float, hashes: int, cohorts: int
) -> None:
    one = lasting * share
    made = Rappor.for_epsilon(lasting=lasting, one=one, hashes=hashes, cohorts=cohorts, bits=16)
    assert made.lasting is not None
    assert made.lasting <= Fraction(repr(lasting))
    assert made.epsilon <= Fraction(repr(one))
    # Chances are multiples of 2^-32, so next to nothing of the wish is lost.
    assert made.lasting_epsilon > 0.9999 * lasting
    assert float(made.epsilon) > 0.9999 * one - 1e-6


def test_a_wished_epsilon_is_not_delivered_twice() -> None:
    # The known slip: two values differ in 2 * hashes bits, and only `hashes` were counted.
    made = Rappor.for_epsilon(lasting=2, one=1, bits=4, hashes=1, cohorts=1)
    first, second = (laws(made, each) for each in ((1, 0, 0, 0), (0, 0, 0, 1)))
    assert 0.999 * 2 < log(largest_ratio([first[0], second[0]])) <= 2
    assert 0.999 < log(largest_ratio([first[1], second[1]])) <= 1


def test_a_wish_that_nothing_fulfils_is_refused() -> None:
    with pytest.raises(InputError) as refusal:
        Rappor.for_epsilon(lasting=1, one=2)
    assert refusal.value.code == "CEL-R031"
    with pytest.raises(InputError) as refusal:
        Rappor.for_epsilon(lasting=1e-6, one=1e-6, hashes=1024)
    assert refusal.value.code == "CEL-R031"


@pytest.mark.parametrize(("lasting", "one"), [(1e-3, 1e-3), (1e4, 1e4), (1e4, 1e-3)])
def test_targets_at_both_ends_of_epsilon_give_finite_estimates(lasting: float, one: float) -> None:
    protocol = Rappor.for_epsilon(lasting=lasting, one=one, bits=8, hashes=1, cohorts=1)
    server = protocol.server().absorb(protocol.client(rng=Seeded(1)).privatise([1] * 50))
    found = server.estimate([1])
    assert np.all(np.isfinite(found.counts))
    assert np.all(np.isfinite(found.errors))


@pytest.mark.parametrize(
    "chances",
    [{"f": 1}, {"p": 0.5, "q": 0.5}, {"f": 0, "p": 0}],
)
def test_chances_that_hide_or_tell_nothing_are_refused(chances: dict[str, float]) -> None:
    with pytest.raises(InputError) as refusal:
        Rappor(**chances)  # type: ignore[arg-type]
    assert refusal.value.code == "CEL-R030"


@pytest.mark.parametrize("chances", [{"f": -0.1}, {"q": 1.1}, {"p": "a"}])
def test_chances_out_of_range_are_refused(chances: dict[str, Any]) -> None:
    with pytest.raises(InputError) as refusal:
        Rappor(**chances)
    assert refusal.value.code == "CEL-I060"


def test_cohorts_are_uniform_and_reports_have_the_stated_size() -> None:
    protocol = Rappor(bits=16, hashes=2, cohorts=5)
    made = protocol.client(rng=Seeded(1)).privatise(np.arange(20_000))
    assert protocol.report_bits == 16 + 3
    assert made.packed.shape == (20_000, 3)
    counts = np.bincount(protocol.unpack_reports(made.packed)[0], minlength=5)
    # Chi-squared of 4 degrees of freedom is above 23.5 once in 10,000 times.
    assert ((counts - 4_000) ** 2 / 4_000).sum() < 23.5


def test_sent_bits_have_the_chances_of_the_formulas() -> None:
    protocol = Rappor(bits=32, hashes=3, cohorts=2, f=0.4, p=0.3, q=0.8)
    made = protocol.client(rng=Seeded(2)).privatise(np.zeros(20_000, dtype=np.int64))
    cohorts, sent = protocol.unpack_reports(made.packed)
    true = protocol.filters(digests([0] * 20_000), cohorts)
    for value, expected in ((False, 0.5 * 0.4 * 1.1 + 0.6 * 0.3), (True, 0.22 + 0.6 * 0.8)):
        seen = sent[true == value]
        assert abs(float(seen.mean()) - expected) < 4 * (0.25 / seen.size) ** 0.5


def test_bit_counts_are_unbiased_with_the_stated_variance() -> None:
    protocol = Rappor(bits=12, hashes=2, cohorts=3, f=0.25, p=0.2, q=0.7)
    values = np.repeat(np.arange(5), [150, 80, 40, 20, 10])
    runs, errors, variances = 250, [], []
    rng = Seeded(11)
    for _ in range(runs):
        made = protocol.client(rng=rng).privatise(values)
        cohorts, _ = protocol.unpack_reports(made.packed)
        true = np.zeros((3, 12))
        np.add.at(true, cohorts, protocol.filters(digests(values), cohorts))
        server = protocol.server().absorb(made)
        errors.append(server.bit_counts().counts - true)
        low, high = (float(each) for each in protocol.chances)
        rest = server.reports[:, None] - true
        noise = true * high * (1 - high) + rest * low * (1 - low)
        variances.append(noise / (high - low) ** 2)
    mean, expected = np.mean(errors, axis=0), np.mean(variances, axis=0)
    assert np.all(np.abs(mean) < 4 * np.sqrt(expected / runs))
    # 9,000 squares: the pooled variance is known to 1.5 percent; 10 percent is over 6 times that.
    ratio = float(np.mean(np.square(errors)) / expected.mean())
    assert 0.9 < ratio < 1.1


def test_merging_is_the_same_as_counting_all_reports_at_once() -> None:
    protocol = Rappor(bits=20, hashes=2, cohorts=3)
    made = protocol.client(rng=Seeded(3)).privatise(np.arange(500)).packed
    parts = [Reports(protocol.fingerprint, made[each]) for each in (slice(200), slice(200, None))]
    one, other = (protocol.server().absorb(each.to_bytes()) for each in parts)
    whole = protocol.server().absorb(Reports(protocol.fingerprint, made))
    other.merge(one)
    again = protocol.server().load(other.to_bytes())
    for server in (other, again):
        assert server.users == 500
        assert np.array_equal(server.ones, whole.ones)
        assert np.array_equal(server.reports, whole.reports)


def test_counts_are_the_plain_sums_of_bits() -> None:
    protocol = Rappor(bits=60, hashes=2, cohorts=3)
    made = protocol.client(rng=Seeded(3)).privatise(np.arange(300))
    server = protocol.server().absorb(made)
    plain = np.zeros((3, 60), dtype=int)
    for row in made.packed:
        bits = [row[at // 8] >> (at % 8) & 1 for at in range(62)]
        plain[bits[0] + 2 * bits[1]] += bits[2:]
    assert np.array_equal(server.ones, plain)


def test_reports_of_other_parameters_or_of_no_cohort_are_refused_as_a_whole() -> None:
    protocol = Rappor(bits=20, hashes=2, cohorts=3)
    server = protocol.server()
    other = Rappor(bits=20, hashes=2, cohorts=3, q=0.8)
    with pytest.raises(InputError) as refusal:
        server.absorb(other.client(rng=Seeded(1)).privatise("x"))
    assert refusal.value.code == "CEL-R004"
    made = protocol.client(rng=Seeded(1)).privatise(np.arange(9)).packed
    made[-1, 0] |= 3  # cohort 3 of 0 .. 2
    with pytest.raises(InputError) as refusal:
        server.absorb(Reports(protocol.fingerprint, made))
    assert refusal.value.code == "CEL-R032"
    assert server.users == server.ones.sum() == server.reports.sum() == 0


def test_kept_bits_stay_and_sent_bits_vary(tmp_path: Path) -> None:
    protocol = Rappor(bits=64, hashes=2, cohorts=8, f=0.5, p=0.0, q=1.0)
    memory = Memory.open(tmp_path / "device", budget=50, rng=Seeded(2))
    client = protocol.client(rng=Seeded(1), memory=memory)
    # p = 0 and q = 1 show the kept bits.
    reports = client.privatise(["cat"] * 5 + ["dog"] + ["cat"]).packed
    assert np.all(reports[[1, 2, 3, 4, 6]] == reports[0])
    assert np.any(reports[5] != reports[0])
    assert reports[5, 0] & 7 == reports[0, 0] & 7  # a device stays in its cohort
    noisy = Rappor(bits=64, hashes=2, cohorts=8, f=0.5, p=0.5, q=0.75)
    sent = noisy.client(rng=Seeded(1), memory=memory).privatise(["cat"] * 200)
    assert len(np.unique(sent.packed, axis=0)) == 200
    # All reports of one device average to its kept bits (p or q), not to the value (p* or q*).
    share = noisy.unpack_reports(sent.packed)[1].mean(axis=0)
    assert np.all(np.minimum(abs(share - 0.5), abs(share - 0.75)) < 4 * (0.25 / 200) ** 0.5)


def test_a_new_value_costs_and_a_repeated_one_does_not(tmp_path: Path) -> None:
    protocol = Rappor(bits=32, hashes=1, cohorts=4, f=0.5)
    assert protocol.lasting is not None
    memory = Memory.open(tmp_path / "device", budget=5, rng=Seeded(2))
    client = protocol.client(rng=Seeded(1), memory=memory)
    client.privatise(["a"] * 10)
    assert memory.spent == protocol.lasting
    client.privatise(["b", "a"])
    assert memory.spent == 2 * protocol.lasting
    with pytest.raises(BudgetExceeded) as refusal:
        client.privatise("c")
    assert refusal.value.code == "CEL-R039"
    assert "c'" not in str(refusal.value)
    client.privatise("a")


def test_without_a_permanent_stage_every_report_costs_and_no_bits_are_kept(
    tmp_path: Path,
) -> None:
    protocol = Rappor(bits=32, hashes=1, cohorts=1, f=0)
    memory = Memory.open(tmp_path / "device", budget=3)
    client = protocol.client(rng=Seeded(1), memory=memory)
    client.privatise(["a", "a"])
    assert memory.spent == 2 * Fraction(protocol.epsilon)
    with pytest.raises(BudgetExceeded):
        client.privatise("a")
