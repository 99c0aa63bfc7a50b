"""Fields of reports: packing, unpacking, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.collect.plain import bits_of

from celosia.collect.reports import (
    bits_for,
    check_form,
    cut,
    field_at,
    join,
    pack,
    unpack,
)
from celosia.core.errors import InputError

WIDTHS = st.lists(st.integers(0, 63), min_size=1, max_size=5).filter(sum)


@given(widths=WIDTHS, data=st.data())
@settings(deadline=None)
def test_fields_come_back_as_they_were_packed(widths: list[int], data: st.DataObject) -> None:
    columns = [
        data.draw(st.lists(st.integers(0, 2**width - 1), min_size=3, max_size=3))
        for width in widths
    ]
    fields = [(np.array(each, dtype=np.int64), w) for each, w in zip(columns, widths, strict=True)]
    made = pack(fields)
    assert made.shape == (3, -(-sum(widths) // 8))
    for report in range(3):  # bit by bit, as the module says
        expected = [
            column[report] >> place & 1
            for column, width in zip(columns, widths, strict=True)
            for place in range(width)
        ]
        assert bits_of(made[report].tolist(), sum(widths)) == expected
    assert [each.tolist() for each in unpack(made, widths)] == columns
    assert field_at(made, sum(widths[:-1]), widths[-1]).tolist() == columns[-1]


@given(parts=st.lists(st.integers(1, 40), min_size=1, max_size=4), seed=st.integers(0, 99))
@settings(deadline=None)
def test_joined_reports_are_cut_into_what_they_were(parts: list[int], seed: int) -> None:
    generator = np.random.default_rng(seed)
    made, bits = [], []
    for size in parts:
        rows = generator.integers(0, 2, (4, size), dtype=np.uint8)
        made.append((np.packbits(rows, axis=1, bitorder="little"), size))
        bits.append(rows)
    whole = join(made)
    assert whole.shape == (4, -(-sum(parts) // 8))
    check_form(whole, sum(parts))
    unpacked_bits = np.unpackbits(whole, axis=1, bitorder="little")[:, : sum(parts)]
    assert (unpacked_bits == np.concatenate(bits, axis=1)).all()
    start = 0
    for reports, size in made:
        assert (cut(whole, start, size) == reports).all()
        start += size


@pytest.mark.parametrize(
    "reports",
    [
        np.zeros((2, 3), dtype=np.uint8),
        np.zeros(2, dtype=np.uint8),
        np.zeros((2, 2), dtype=np.int64),
        np.array([[0, 0], [0, 0b1000]], dtype=np.uint8),
    ],
    ids=["too long", "flat", "no bytes", "a bit beyond the fields"],
)
def test_reports_of_another_form_are_refused(reports: np.ndarray) -> None:
    with pytest.raises(InputError) as caught:
        unpack(reports, [4, 7])
    assert caught.value.code == "CEL-R001"


@given(st.integers(1, 2**40))
def test_bits_tell_apart_all_options_and_no_fewer_would_do(options: int) -> None:
    bits = bits_for(options)
    assert 2**bits >= options
    assert bits == 0 or 2 ** (bits - 1) < options
