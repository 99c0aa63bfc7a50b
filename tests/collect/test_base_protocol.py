"""What every protocol shares: fingerprints, reports as bytes, servers as bytes, merging."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.accounting.losses import PureLoss
from celosia.collect.count_mean.count_mean import CountMean
from celosia.collect.protocol import MOST, Server
from celosia.collect.reports import Reports
from celosia.collect.state import read_state, write_state
from celosia.core.errors import InputError
from celosia.core.progress import Step
from celosia.core.randomness import Seeded, System

PROTOCOL = CountMean(epsilon=1, hashes=4, width=8, key="base")


def filled(values: int = 300, seed: int = 1) -> Server:
    return PROTOCOL.server().absorb(PROTOCOL.client(rng=Seeded(seed)).privatise(range(values)))


def code_of(error: pytest.ExceptionInfo[InputError]) -> str:
    return error.value.code


@pytest.mark.parametrize("epsilon", [0, -1, 1e-7, 10_001, float("nan"), float("inf"), "two", None])
def test_an_epsilon_out_of_range_is_refused(epsilon: Any) -> None:
    with pytest.raises(InputError) as caught:
        CountMean(epsilon=epsilon)
    assert code_of(caught) == "CEL-I060"


@pytest.mark.parametrize("key", ["", "k" * 49, "é" * 25, 7])
def test_a_key_of_another_form_is_refused(key: Any) -> None:
    with pytest.raises(InputError) as caught:
        CountMean(epsilon=1, key=key)
    assert code_of(caught) == "CEL-I060"


def test_equal_parameters_have_one_fingerprint_and_others_another() -> None:
    sizes: tuple[Any, ...] = (4, np.int64(4))
    prints = {
        CountMean(epsilon=each, hashes=hashes, width=8).fingerprint
        for each in (2, 2.0, Fraction(4, 2), np.float64(2))
        for hashes in sizes
    }
    assert len(prints) == 1
    others = [
        CountMean(epsilon=2.5, hashes=4, width=8),
        CountMean(epsilon=2, hashes=5, width=8),
        CountMean(epsilon=2, hashes=4, width=9),
        CountMean(epsilon=2, hashes=4, width=8, key="other"),
    ]
    assert len(prints | {each.fingerprint for each in others}) == 5


def test_a_fingerprint_is_the_same_in_every_process() -> None:
    assert CountMean(epsilon=0.5, hashes=4, width=8, key="vector").fingerprint.hex() == (
        hashlib.blake2b(
            b'["celosia protocol 1",{"epsilon":"1/2","hashes":4,"key":"vector",'
            b'"protocol":"cms","width":8}]',
            digest_size=8,
        ).hexdigest()
    )


def test_a_report_costs_its_epsilon_and_lasts_for_ever() -> None:
    assert PROTOCOL.loss == PureLoss(Fraction(1))
    assert PROTOCOL.lasting_epsilon == float("inf")


def test_clients_draw_from_the_operating_system_unless_told_otherwise() -> None:
    assert isinstance(PROTOCOL.client().rng, System)
    first, second = (PROTOCOL.client().privatise([7] * 50) for _ in range(2))
    assert (first.packed != second.packed).any()


def test_batches_are_all_values_in_order_with_progress() -> None:
    steps: list[Step] = []
    made = list(PROTOCOL.client(rng=Seeded(1)).batches(range(10), size=4, progress=steps.append))
    assert [len(each) for each in made] == [4, 4, 2]
    assert [(each.done, each.total) for each in steps] == [(0, 10), (4, 10), (8, 10)]


def test_reports_come_back_from_bytes_and_count_alike() -> None:
    reports = PROTOCOL.client(rng=Seeded(2)).privatise(range(20))
    data = reports.to_bytes()
    again = Reports.from_bytes(data)
    assert again.fingerprint == reports.fingerprint
    assert (again.packed == reports.packed).all()
    assert len(data) == 24 + 20 * 2
    direct, sent = PROTOCOL.server().absorb(reports), PROTOCOL.server().absorb(data)
    assert direct.to_bytes() == sent.to_bytes()


@given(st.integers(0, 63))
def test_a_batch_that_was_cut_off_is_refused(length: int) -> None:
    data = PROTOCOL.client(rng=Seeded(2)).privatise(range(20)).to_bytes()
    for damaged in (data[:length], data + b"0", b"XXXX" + data[4:]):
        with pytest.raises(InputError) as caught:
            Reports.from_bytes(damaged)
        assert code_of(caught) == "CEL-R002"


def test_reports_of_other_parameters_are_refused_and_nothing_is_counted() -> None:
    other = CountMean(epsilon=2, hashes=4, width=8, key="base")
    server, before = filled(), filled().to_bytes()
    with pytest.raises(InputError) as caught:
        server.absorb(other.client().privatise(1))
    assert code_of(caught) == "CEL-R004"
    with pytest.raises(InputError) as caught:
        server.merge(other.server())
    assert code_of(caught) == "CEL-R004"
    with pytest.raises(InputError) as caught:
        server.load(other.server().to_bytes())
    assert code_of(caught) == "CEL-R004"
    assert server.to_bytes() == before


@given(cut=st.integers(0, 300), order=st.booleans())
@settings(max_examples=25, deadline=None)
def test_merging_is_concatenation_in_any_order(cut: int, order: bool) -> None:
    reports = PROTOCOL.client(rng=Seeded(3)).privatise(range(300))
    parts = [
        PROTOCOL.server().absorb(Reports(reports.fingerprint, each))
        for each in (reports.packed[:cut], reports.packed[cut:])
    ]
    first, second = parts if order else parts[::-1]
    whole = PROTOCOL.server().absorb(reports)
    assert PROTOCOL.server().load(first.to_bytes()).merge(second).to_bytes() == whole.to_bytes()


def test_a_damaged_state_is_refused_wherever_the_damage_is() -> None:
    data = filled().to_bytes()
    for place in range(0, len(data), 7):
        wrong = bytearray(data)
        wrong[place] ^= 1
        with pytest.raises(InputError) as caught:
            PROTOCOL.server().load(bytes(wrong))
        assert code_of(caught) == "CEL-R006"


@pytest.mark.parametrize(
    "head",
    [
        {},
        [],
        {"fingerprint": "zz", "users": 1, "arrays": []},
        {"fingerprint": "00", "users": -1, "arrays": []},
        {"fingerprint": "00", "users": 1.5, "arrays": []},
        {"fingerprint": "00", "users": 1, "arrays": [["ones", [9, 9]]]},
        {"fingerprint": "00", "users": 1, "arrays": [["ones", [-1, -8]]]},
        {"fingerprint": "00", "users": 1, "arrays": [["ones", "x"]]},
        {"fingerprint": "00", "users": 1, "arrays": [["ones", [2**40, 2**40]]]},
    ],
)
def test_a_state_with_a_true_sum_but_a_wrong_head_is_refused(head: Any) -> None:
    text = json.dumps(head).encode()
    body = b"CLS1" + len(text).to_bytes(4, "little") + text
    with pytest.raises(InputError) as caught:
        read_state(body + hashlib.blake2b(body, digest_size=16).digest())
    assert code_of(caught) == "CEL-R006"


def test_a_state_of_another_form_is_refused() -> None:
    data = write_state(PROTOCOL.fingerprint, 1, {"ones": np.zeros((4, 7), dtype=np.int64)})
    with pytest.raises(InputError) as caught:
        PROTOCOL.server().load(data)
    assert code_of(caught) == "CEL-R006"


@pytest.mark.parametrize("sign", [1, -1])
def test_counts_that_would_overflow_are_refused_and_nothing_is_added(sign: int) -> None:
    server = filled()
    huge = {name: each.copy() for name, each in server._state().items()}
    huge["ones"][0, 0] = sign * (MOST + 1)
    before = server.to_bytes()
    with pytest.raises(InputError) as caught:
        server.load(write_state(PROTOCOL.fingerprint, 1, huge))
    assert code_of(caught) == "CEL-R008"
    with pytest.raises(InputError) as caught:
        server.load(write_state(PROTOCOL.fingerprint, MOST, PROTOCOL.server()._state()))
    assert code_of(caught) == "CEL-R008"
    assert server.to_bytes() == before


def test_an_unknown_post_processing_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        filled().estimate([1], post="rescale")
    assert code_of(caught) == "CEL-R005"


def test_an_empty_server_estimates_zero_with_no_error() -> None:
    found = PROTOCOL.server().estimate([1, 2])
    assert found.counts.tolist() == [0, 0]
    assert found.errors.tolist() == [0, 0]


def test_no_value_is_ever_told_by_an_error() -> None:
    with pytest.raises(InputError) as caught:
        PROTOCOL.client().privatise(["fine", 3.25])
    assert "3.25" not in str(caught.value)
