"""Prio3: the standard's vectors, two aggregators that check and add up, and noise in shares."""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b

import pytest

from celosia.collect.secure._keccak import TurboShake128
from celosia.collect.secure.aggregation import Aggregator, combine
from celosia.collect.secure.circuits import Circuit, CountCircuit, HistogramCircuit, SumCircuit
from celosia.collect.secure.prio3 import Prio3, Report
from celosia.collect.secure.records import AggregateShare
from celosia.collect.secure.tasks import SecureCount, SecureHistogram, SecureSum, SecureTask
from celosia.core.errors import InputError
from celosia.core.randomness import Seeded

KEY = bytes(range(32))
NONCE = bytes(range(16))
CONTEXT = b"some application"


def test_the_stream_is_that_of_turboshake() -> None:
    # RFC 9861, section 5: an empty message; 17 bytes; the end of a long stream.
    assert TurboShake128(b"").read(32).hex() == (
        "1e415f1c5983aff2169217277d17bb538cd945a397ddec541f1ce41af2c1b74c"
    )
    assert TurboShake128(b"").read(10032)[-32:].hex() == (
        "a3b9b0385900ce761f22aed548e754da10a5242d62e8c658e3f3a923a7555607"
    )
    pattern = bytes(each % 251 for each in range(17))
    assert TurboShake128(pattern).read(32).hex() == (
        "9c97d036a3bac819db70ede0ca554ec6e4c2a1a4ffbfd9ec269ca6a111161233"
    )


@pytest.mark.parametrize(
    ("circuit", "value", "total", "leader", "transcript"),
    [
        (CountCircuit(), 1, [1], "355e16daa732744c", "b7afe71000dd9915dc64a905d1fea0a0"),
        (SumCircuit(255), 100, [100], "e3ad3d4d7d6f5765", "5c15ee349562dfe693881dc539aa458f"),
        (
            HistogramCircuit(4, 2),
            2,
            [0, 0, 1, 0],
            "0bc33b18788b18bc",
            "90e9f46bc3226f3917bcd708ec94ad81",
        ),
    ],
    ids=["count", "sum", "histogram"],
)
def test_reports_are_those_of_the_standard(
    circuit: Circuit, value: int, total: list[int], leader: str, transcript: str
) -> None:
    """The inputs of vector 0 of each algorithm; digests of shares and verifiers as they must be."""
    algorithm = Prio3(circuit, CONTEXT)
    report = algorithm.shard(value, NONCE, bytes(range(algorithm.random_bytes)))
    checks = [algorithm.check(KEY, n, (NONCE, report.public, report.shares[n])) for n in (0, 1)]
    verifiers = (checks[0].verifier, checks[1].verifier)
    assert all(algorithm.decide(each, verifiers) for each in checks)
    if circuit.joint:  # the randomness must be that of both parts, not what the client says
        other = replace(checks[0], seed=bytes(32))
        assert not algorithm.decide(other, verifiers)
    assert circuit.field.add(checks[0].output, checks[1].output) == total
    assert circuit.field.to_bytes(checks[0].output).hex()[:16] == leader
    sent = report.public + b"".join(report.shares) + b"".join(verifiers)
    assert blake2b(sent, digest_size=16).hexdigest() == transcript


def aggregated(task: SecureTask, reports: list[Report]) -> tuple[AggregateShare, AggregateShare]:
    made = (Aggregator(task, "leader", KEY), Aggregator(task, "helper", KEY))
    told = [
        each.check((r.nonce, r.public, r.shares[each.number]) for r in reports) for each in made
    ]
    return made[0].total(told[1], rng=Seeded(1)), made[1].total(told[0], rng=Seeded(2))


TASKS = {
    "count": (SecureCount(epsilon=50, least=3), [1, 0, 1, 1], [3]),
    "sum": (SecureSum(epsilon=50, most=10, least=3), [10, 0, 7, 3], [20]),
    "histogram": (
        SecureHistogram(epsilon=50, domain=("car", "bus", "bike"), least=3),
        ["bus", "car", "bus", "bus"],
        [1, 3, 0],
    ),
}


@pytest.mark.parametrize("name", TASKS)
def test_two_sums_together_tell_the_total_and_one_alone_nothing(name: str) -> None:
    task, values, wanted = TASKS[name]
    leader, helper = aggregated(task, list(task.share(values, rng=Seeded(3))))
    found = combine(task, leader, helper)
    # The noise of each is Laplace of scale sensitivity / 50; 13 scales are a chance of e^-13.
    reach = 2 * 13 * task.sensitivity / 50
    assert list(found.figures) == pytest.approx(wanted, abs=reach)
    assert (found.reports, found.refused) == (4, 0)
    field = task.circuit.field
    other = aggregated(task, list(task.share(values, rng=Seeded(4))))[0]
    assert leader.total != other.total  # the same values, and a sum that looks random
    assert max(field.from_bytes(leader.total)) > field.modulus // 1000


def test_every_field_of_a_false_report_is_noticed() -> None:
    task = SecureHistogram(epsilon=1, domain=("a", "b", "c"), least=1)
    good = list(task.share(["a", "b"], rng=Seeded(5)))
    leader, helper = good[0].shares
    bad = [
        Report(bytes([n]) * 16, public, shares)
        for n, (public, shares) in enumerate(
            [
                (good[0].public, (leader[:8] + bytes([leader[8] ^ 1]) + leader[9:], helper)),
                (good[0].public, (leader, helper[:8] + bytes([helper[8] ^ 1]) + helper[9:])),
                (good[0].public[:8] + bytes(56), (leader, helper)),
                (good[0].public, (b"\xff" * len(leader), helper)),
                (good[0].public, (leader, helper)),  # another nonce
            ]
        )
    ]
    shares = aggregated(task, [*good, *bad])
    assert [(each.reports, each.refused) for each in shares] == [(2, 5)] * 2
    two = [*good[:1], Report(good[0].nonce, good[1].public, good[1].shares)]
    with pytest.raises(InputError) as caught:
        aggregated(task, two)
    assert caught.value.code == "CEL-R096"


def test_a_vote_of_two_is_refused_without_being_read() -> None:
    algorithm = Prio3(HistogramCircuit(3), CONTEXT)

    class Cheating(HistogramCircuit):
        def encode(self, value: int) -> list[int]:
            return [2, 0, 0] if value else [1, 1, 0]

    for value in (0, 1):
        made = Prio3(Cheating(3), CONTEXT).shard(value, NONCE, bytes(range(128)))
        checks = [algorithm.check(KEY, n, (NONCE, made.public, made.shares[n])) for n in (0, 1)]
        verifiers = (checks[0].verifier, checks[1].verifier)
        assert not any(algorithm.decide(each, verifiers) for each in checks)


def test_each_aggregator_adds_all_of_the_noise() -> None:
    task = SecureCount(epsilon=0.5, least=1)
    reports = list(task.share([1], rng=Seeded(6)))
    made = Aggregator(task, "leader", KEY), Aggregator(task, "helper", KEY)
    told = [
        each.check((r.nonce, r.public, r.shares[each.number]) for r in reports) for each in made
    ]
    field, rng = task.circuit.field, Seeded(7)
    for each, theirs in zip(made, reversed(told), strict=True):
        plain = made[each.number]._checks[reports[0].nonce].output[0]
        drawn = [each.total(theirs, rng=rng).total for _ in range(400)]
        noise = [(field.from_bytes(total)[0] - plain) % field.modulus for total in drawn]
        signed = [n - field.modulus if n > field.modulus // 2 else n for n in noise]
        mean_square = sum(n * n for n in signed) / 400
        # Of discrete Laplace of scale 2: 7.84; its fourth moment gives a standard error of 0.9.
        assert mean_square == pytest.approx(task.noise.variance, abs=4 * 0.9)
    assert task.noise.variance == pytest.approx(7.84, abs=0.01)


def test_sums_of_other_reports_or_too_few_are_refused() -> None:
    task = SecureCount(epsilon=1, least=2)
    first = aggregated(task, list(task.share([1, 1], rng=Seeded(8))))
    second = aggregated(task, list(task.share([1, 1], rng=Seeded(9))))
    for code in ("CEL-R096",):
        with pytest.raises(InputError) as caught:
            combine(task, first[0], second[1])
        assert caught.value.code == code
        with pytest.raises(InputError) as caught:
            aggregated(task, list(task.share([1], rng=Seeded(8))))
        assert caught.value.code == code
        with pytest.raises(InputError) as caught:
            Aggregator(task, "leader", b"short")
        assert caught.value.code == code
    with pytest.raises(InputError) as caught:
        list(task.share([2]))
    assert caught.value.code == "CEL-R051"
