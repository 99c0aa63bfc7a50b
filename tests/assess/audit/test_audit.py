"""The audit catches what is wrong, spares what is right, and errs as rarely as it says."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from math import exp, log
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, norm
from tests.assess.audit import suspects
from tests.assess.audit.suspects import Suspect

from celosia.accounting.losses import ApproximateLoss, PureLoss
from celosia.assess.audit import Audit, audit
from celosia.assess.audit.bounds import LEAK
from celosia.core.errors import InputError
from celosia.core.progress import Step
from celosia.core.randomness import Seeded, Source

pytestmark = pytest.mark.statistical


def tried(mechanism: Suspect, first: Any, second: Any, **options: Any) -> Audit:
    options = {"samples": 60_000, "rng": Seeded(2026), "last_bits": False, **options}
    return audit(mechanism, first, second, **options)


def resampled_truth(epsilon: float, n: int) -> float:
    """The log-ratio of the densities of Algorithm 2 at the lower bound, where it is greatest."""
    more = (1 - exp(-epsilon)) / (1 - exp(-epsilon * n))
    return epsilon + log(n / (n + 1) * (1 + more))


# What is certainly not exceeded: the exact losses of the specification; for A.3 the five answers
# below and the number above give at most e^(5/2) and e^(1/2).
WRONG = {
    "A.6, two and two": (suspects.a6(1), [0] * 4, [1, 1, -1, -1], 1, 1.7041),
    "A.4, one positive": (suspects.a4(1, 1), [0] * 4, [1, 1, 1, -1], 1, 1.688),
    "A.3, five below": (suspects.a3(1, 1), [0] * 5 + [1], [1] * 5 + [0], 1, 3.0),
    "Algorithm 2": (
        suspects.resampled_mean(1, -1, 1),
        [-1] * 20,
        [-1] * 20 + [1],
        1,
        resampled_truth(1, 20),
    ),
    "Algorithm 3": (suspects.clamped_mean(0.1, 0, 1), [1], [1, 0], 0.1, log(2) + 0.05),
    "half the scale": (suspects.laplace(0.5), 0.0, 1.0, 1, 2.0),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found_and_not_exaggerated(name: str) -> None:
    mechanism, first, second, claim, truth = WRONG[name]
    found = tried(mechanism, first, second, claim=claim)
    assert found.verdict == "violated", found
    assert claim < found.lower <= truth, found


def test_more_samples_come_nearer_to_the_truth() -> None:
    mechanism, first, second, claim, truth = WRONG["Algorithm 2"]
    assert resampled_truth(1, 2) == pytest.approx(log(3.1370034))
    found = tried(mechanism, first, second, claim=claim, samples=1_000_000)
    assert 1.25 < found.lower <= truth


def test_an_output_that_one_input_cannot_give_makes_a_large_bound() -> None:
    found = tried(suspects.a5(1), [0, 1], [1, 0], claim=1)
    assert found.verdict == "violated"
    assert found.lower > 6
    assert found.less.seen == 0
    assert found.more.share == pytest.approx((1 - exp(-0.5)) / 2, abs=0.01)
    # The bound for never in n is -ln(error) / n: the rule of three at this confidence.
    assert found.less.high == pytest.approx(-log(0.0005 * (1 - LEAK)) / 30_000, rel=1e-3)


@pytest.mark.parametrize("first", [0.0, -3.5])
def test_noise_made_of_floats_is_found_by_its_last_bits(first: float) -> None:
    naive = suspects.laplace(1, rounded=False)
    found = tried(naive, 0.0, first + 1.0, claim=abs(first + 1), last_bits=True)
    assert found.verdict == "violated"
    assert "last digit" in found.event
    assert tried(naive, 0.0, first + 1.0, claim=abs(first + 1)).verdict == "consistent"


RIGHT = {
    "laplace": (suspects.laplace(1), 0.0, 1.0, 1.0, 0.9),
    "laplace, small": (suspects.laplace(10), 0.0, 1.0, 0.1, 0.3),
    "randomised response": (suspects.randomised_response(0.75), 0, 1, log(3), 0.95),
    "A.1": (suspects.a1(1, 1), [0] * 4, [1, 1, 1, -1], 1.0, 0.2),
    "A.1, two positives": (suspects.a1(1, 2), [0] * 5, [1, 1, 1, -1, -1], 1.0, 0.2),
    "Algorithm 3 beyond 2 ln 2": (suspects.clamped_mean(2, 0, 1), [1], [1, 0], 2.0, 0.9),
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_spared_and_seen_clearly(name: str) -> None:
    mechanism, first, second, claim, reach = RIGHT[name]
    found = tried(mechanism, first, second, claim=claim)
    assert found.verdict == "consistent", found
    assert found.reach is not None
    assert found.reach >= reach, found


def test_a_scale_a_fifth_too_small_is_found_and_a_right_one_is_not() -> None:
    assert tried(suspects.laplace(0.8), 0.0, 1.0, claim=1).verdict == "violated"
    assert tried(suspects.laplace(1.25), 0.0, 1.0, claim=1).lower <= 0.8


def test_a_delta_is_taken_off() -> None:
    deviation = 1.0

    def failure(epsilon: float) -> float:  # Balle & Wang 2018, Thm 5
        half, gap = 1 / (2 * deviation), epsilon * deviation
        return float(norm.cdf(half - gap) - exp(epsilon) * norm.cdf(-half - gap))

    for epsilon in (0.0, 0.5, 1.0):
        delta = failure(epsilon)
        found = tried(
            suspects.gaussian(deviation), 0.0, 1.0, claim=(epsilon, delta), samples=200_000
        )
        assert found.verdict == "consistent"
        # Two bounds of 3.3 deviations, each at most 0.009 of 10^5 samples, and as much by chance.
        assert found.lower > epsilon - 0.12
        too_low = tried(suspects.gaussian(deviation), 0.0, 1.0, claim=(epsilon, 0.7 * delta))
        assert too_low.verdict == "violated"


def test_a_key_that_only_one_person_has_is_found() -> None:
    data = ["a"] * 4
    low = tried(suspects.key_counts(3, 1), data, [*data, "b"], claim=(1, 0.001), samples=20_000)
    assert low.verdict == "violated"
    assert "b" in low.event
    high = tried(suspects.key_counts(12, 1), data, [*data, "b"], claim=(1, 0.001), samples=20_000)
    assert high.verdict == "consistent"


def test_vectors_are_told_apart_by_all_their_coordinates_together() -> None:
    def noisy(data: list[int], rng: Source, size: int) -> Any:
        noise = suspects.generator(rng).laplace(scale=2, size=(size, len(data)))
        return np.round((np.asarray(data) + noise) * 1024) / 1024

    found = tried(noisy, [0] * 4, [1] * 4, claim=1)
    # One coordinate alone would lose 1/2.
    assert 1 < found.lower <= 2
    assert found.verdict == "violated"


def test_the_false_alarm_rate_is_what_was_promised() -> None:
    # A tight pair: the true epsilon of the best event is the claim, the worst case for the audit.
    # With at most 1 - confidence = 0.1 a run, more than `most` of 400 alarms have a chance of 1e-6.
    runs, confidence = 400, 0.9
    most = int(binom.ppf(1 - 1e-6, runs, 1 - confidence))
    rng = Seeded(7)
    tell = suspects.randomised_response(0.75)
    alarms = sum(
        audit(tell, 0, 1, claim=log(3), samples=400, confidence=confidence, rng=rng).verdict
        == "violated"
        for _ in range(runs)
    )
    assert alarms <= most
    # And it is not silent: the same audits find a claim that is a quarter too low.
    found = sum(
        audit(tell, 0, 1, claim=0.75 * log(3), samples=400, confidence=confidence, rng=rng).verdict
        == "violated"
        for _ in range(40)
    )
    assert found > 5


def test_the_false_alarm_rate_holds_with_many_events_to_choose_from() -> None:
    runs, confidence = 200, 0.9
    most = int(binom.ppf(1 - 1e-6, runs, 1 - confidence))
    rng = Seeded(8)
    alarms = sum(
        audit(
            suspects.laplace(1), 0.0, 1.0, claim=1, samples=300, confidence=confidence, rng=rng
        ).verdict
        == "violated"
        for _ in range(runs)
    )
    assert alarms <= most


def test_a_million_samples_take_seconds() -> None:
    found = tried(suspects.laplace(1), 0.0, 1.0, claim=1, samples=1_000_000)
    assert found.lower > 0.95
    assert found.seconds < 10


def test_a_seed_repeats_an_audit() -> None:
    first, second = (tried(suspects.laplace(1), 0.0, 1.0, claim=1, samples=2000) for _ in "ab")
    assert {**first.as_dict(), "seconds": 0} == {**second.as_dict(), "seconds": 0}
    assert first.seed == 2026


def test_one_output_at_a_time_reports_progress() -> None:
    steps: list[Step] = []

    def coin(data: int, rng: Source) -> int:
        return data ^ int(rng.integers(4, 1)[0] == 0)

    found = audit(coin, 0, 1, samples=4000, rng=Seeded(1), progress=steps.append)
    assert found.verdict == "unclaimed"
    assert found.claim is None
    assert found.name == "coin"
    assert 0.8 < found.lower <= log(3)
    assert {step.stage for step in steps} == {"sample", "choose an event"}


def test_losses_are_claims() -> None:
    pure = tried(suspects.laplace(1), 0.0, 1.0, claim=PureLoss(Fraction(1)), samples=2000)
    assert pure.claim is not None
    assert (pure.claim.epsilon, pure.claim.delta) == (1.0, 0.0)
    loss = ApproximateLoss(Fraction(1), 1e-6)
    approximate = tried(suspects.laplace(1), 0.0, 1.0, claim=loss, samples=2000)
    assert approximate.claim is not None
    assert (approximate.claim.epsilon, approximate.claim.delta) == (1.0, 1e-6)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"claim": -1}, "CEL-A100"),
        ({"claim": "1"}, "CEL-A100"),
        ({"claim": (1, 1)}, "CEL-A100"),
        ({"claim": float("inf")}, "CEL-A100"),
        ({"samples": 99}, "CEL-A104"),
        ({"samples": 1e5}, "CEL-A104"),
        ({"confidence": 1}, "CEL-I060"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, Any], code: str) -> None:
    with pytest.raises(InputError) as caught:
        tried(suspects.laplace(1), 0.0, 1.0, **options)
    assert caught.value.code == code


def test_what_cannot_be_run_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        audit(3, 0, 1)  # type: ignore[arg-type]
    assert caught.value.code == "CEL-A102"

    def short(data: Any, rng: Source, size: int) -> list[int]:
        return [data] * (size - 1)

    with pytest.raises(InputError) as caught:
        audit(short, 0, 1)
    assert caught.value.code == "CEL-A103"


@pytest.mark.parametrize(
    "answer", [None, float("nan"), Decimal("sNaN"), [], "nothing", b"", {}, {1}, 1j]
)
def test_a_constant_output_of_any_kind_tells_nothing(answer: Any) -> None:
    def silent(data: int, rng: Source) -> Any:
        return answer

    found = audit(silent, 0, 1, claim=0, samples=200, rng=Seeded(1))
    assert (found.lower, found.verdict) == (0, "consistent")


@pytest.mark.parametrize("huge", [np.inf, 1.7e308])
def test_numbers_without_bound_do_not_stop_the_audit(huge: float) -> None:
    def wild(data: int, rng: Source, size: int) -> Any:
        signs = rng.integers(2, size) * 2.0 - 1
        others = rng.integers(2, size) * 2.0 - 1
        answers = np.where(rng.integers(4, size) < 3, data, 1 - data)
        return np.column_stack([huge * signs, huge * others, answers])

    found = audit(wild, 0, 1, claim=0.5, samples=10_000, rng=Seeded(3))
    assert found.verdict == "violated"
    assert 0.8 < found.lower <= log(3)


def leaking(chance: float) -> Callable[[int, Source, int], Any]:
    """Laplace noise of epsilon 1 that tells the input outright with some chance."""

    def draw(data: int, rng: Source, size: int) -> Any:
        units = [rng.integers(2**53, size) * 2.0**-53 for _ in range(3)]
        noise = -np.log1p(-units[0]) * np.where(units[1] < 0.5, 1, -1)
        return np.where(units[2] < chance, 1000.0 + data, data + noise)

    return draw


@pytest.mark.parametrize("claim", [1.0, (1.0, 1e-5)], ids=["a leak", "a wrong delta"])
def test_a_rare_leak_is_caught_by_samples_that_grow(claim: object) -> None:
    for seed in range(5):
        rng = Seeded(seed)
        found = audit(leaking(1e-3), 0, 1, claim=claim, rng=rng, detect_delta=1e-3, last_bits=False)
        assert found.verdict == "violated", found


def test_samples_grow_until_the_violation_could_be_seen_and_no_longer() -> None:
    settings: dict[str, Any] = {"claim": 1.0, "samples": 1000, "last_bits": False}
    settings |= {"detect_epsilon": 1.3, "detect_delta": 0.01}
    found = audit(leaking(0), 0, 1, rng=Seeded(1), **settings)
    assert found.verdict == "consistent"
    assert found.samples > 1000
    assert found.detectable is not None
    assert found.detectable.epsilon <= 1.3
    assert found.detectable.delta <= 0.01
    assert "95 %" in str(found)


def test_what_is_called_detectable_is_detected() -> None:
    """A violation of just that size is shown 95 times in 100: of 40, at least 33 (one in 10^4)."""
    seen = audit(tell(0.6), 0, 1, claim=log(1.5), samples=4000, rng=Seeded(0))
    assert seen.detectable is not None
    # The event's own share stays 0.6; under the other input it is rarer by that epsilon.
    rare = 0.6 * exp(-seen.detectable.epsilon)

    def wrong(data: int, rng: Source, size: int) -> Any:
        return rng.integers(2**32, size) < (0.6 if data == 0 else rare) * 2**32

    verdicts = [
        audit(wrong, 0, 1, claim=log(1.5), samples=4000, rng=Seeded(seed)).verdict
        for seed in range(40)
    ]
    assert verdicts.count("violated") >= 33


def tell(chance: float) -> Callable[[int, Source, int], Any]:
    """The input with a chance, else the other one."""

    def draw(data: int, rng: Source, size: int) -> Any:
        return np.where(rng.integers(2**32, size) < chance * 2**32, data, 1 - data)

    return draw
