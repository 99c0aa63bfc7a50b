"""No report, however made, moves an estimate by more than is said; and some report does so."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from celosia.collect.collector.influence import influence
from celosia.collect.count_mean.count_mean import CountMean
from celosia.collect.count_mean.hadamard_count_mean import HadamardCountMean
from celosia.collect.numbers.dbitflip import DBitFlip
from celosia.collect.oracles.kary_response import KaryResponse
from celosia.collect.oracles.unary import OptimisedUnary
from celosia.collect.protocol import Protocol
from celosia.collect.registry import protocol_from
from celosia.collect.reports import Reports
from celosia.core.errors import InputError

CASES: list[tuple[Protocol, list[Any]]] = [
    (CountMean(epsilon=1.0, hashes=2, width=4), ["a", "b", "c"]),
    (HadamardCountMean(epsilon=1.0, hashes=4, width=8), ["a", "b", "c"]),
    (KaryResponse(epsilon=1.0, domain=("a", "b", "c", "d", "e")), ["a", "b", "e"]),
    (OptimisedUnary(epsilon=2.0, domain=("a", "b", "c")), ["a", "c"]),
    (DBitFlip(epsilon=1.0, buckets=4, bits=2), [0, 1, 3]),
]


@pytest.mark.parametrize(("protocol", "candidates"), CASES, ids=lambda each: str(each)[:9])
def test_the_worst_of_all_reports_does_exactly_what_is_said(
    protocol: Protocol, candidates: list[Any]
) -> None:
    honest = protocol.client().privatise([candidates[0]] * 20)
    before = protocol.server().absorb(honest).estimate(candidates).counts
    size = -(-protocol.report_bits // 8)
    changes = []
    for row in product(range(256), repeat=size):
        forged = Reports(protocol.fingerprint, np.array([row], dtype=np.uint8))
        try:
            server = protocol.server().absorb(honest).absorb(forged)
        except InputError:
            continue
        changes.append(server.estimate(candidates).counts - before)
    bound = influence(protocol)
    assert bound is not None
    assert np.max(changes) == pytest.approx(bound.up, rel=1e-9)
    assert -np.min(changes) == pytest.approx(bound.down, rel=1e-9)


def test_the_smaller_epsilon_the_more_a_liar_can_do() -> None:
    found = [influence(HadamardCountMean(epsilon=epsilon)) for epsilon in (0.1, 1, 4)]
    most = [each.most for each in found if each is not None]
    assert most == sorted(most, reverse=True)
    assert most[0] > 30


def test_decoding_by_regression_has_no_such_bound() -> None:
    assert influence(protocol_from({"method": "rappor"})) is None
