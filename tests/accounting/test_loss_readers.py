"""Losses that are written down and read back."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.accounting.group_privacy import GroupLoss
from celosia.accounting.loss_readers import loss_from_dict
from celosia.accounting.losses import (
    ApproximateLoss,
    BoundedRangeLoss,
    ComposedLoss,
    Loss,
    PureLoss,
)
from celosia.accounting.noise_losses import ConcentratedLoss, GaussianLoss, LaplaceLoss
from celosia.accounting.shuffling import ShuffledLoss
from celosia.core.errors import InputError

amounts = st.fractions(min_value=Fraction(1, 1000), max_value=10, max_denominator=1009)
shifts = st.integers(min_value=1, max_value=50)
singles: st.SearchStrategy[Loss] = st.one_of(
    st.builds(PureLoss, amounts),
    st.builds(ApproximateLoss, amounts, st.floats(min_value=0, max_value=0.5)),
    st.builds(BoundedRangeLoss, amounts),
    st.builds(ConcentratedLoss, amounts),
    st.builds(LaplaceLoss, amounts, shifts),
    st.builds(GaussianLoss, amounts, shifts),
)
losses: st.SearchStrategy[Loss] = st.one_of(
    singles,
    st.builds(ComposedLoss, st.lists(singles, min_size=1, max_size=3).map(tuple)),
    st.builds(GroupLoss, singles, st.integers(min_value=2, max_value=4)),
)


def read_back(loss: Loss) -> Loss:
    return loss_from_dict(json.loads(json.dumps(loss.as_dict(), allow_nan=False)))


@given(losses)
def test_a_loss_read_back_costs_at_least_as_much(loss: Loss) -> None:
    again = read_back(loss)
    assert type(again) is type(loss)
    assert again.pure >= loss.pure
    assert again.rho >= loss.rho
    assert again.pure == pytest.approx(loss.pure, rel=1e-12)
    assert again.rho == pytest.approx(loss.rho, rel=1e-12)
    assert again.as_dict() == loss.as_dict()


@given(st.builds(LaplaceLoss, amounts, shifts) | st.builds(GaussianLoss, amounts, shifts))
def test_noise_is_read_back_exactly(loss: Loss) -> None:
    assert read_back(loss) == loss


def test_a_tenth_is_read_back_as_one_tenth() -> None:
    assert read_back(PureLoss(Fraction(1, 10))) == PureLoss(Fraction(1, 10))


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"kind": "guess"},
        {"kind": ["pure"]},
        [],
        {"kind": "pure"},
        {"kind": "pure", "epsilon": "a lot"},
        {"kind": "pure", "epsilon": float("nan")},
        {"kind": "laplace", "scale": "1/0", "shift": 1},
        {"kind": "laplace", "scale": "1e999999999", "shift": 1},
        {"kind": "laplace", "scale": "1", "shift": 1.5},
        {"kind": "group", "of": {"kind": "pure", "epsilon": 1}, "size": 0},
        {"kind": "composed", "parts": 3},
        {"kind": "composed", "parts": [{"kind": "guess"}]},
        ShuffledLoss(Fraction(1), 1000).as_dict(),
    ],
)
def test_what_is_no_loss_is_refused_rather_than_left_out(values: Any) -> None:
    with pytest.raises(InputError) as caught:
        loss_from_dict(values)
    assert caught.value.code == "CEL-Q117"
