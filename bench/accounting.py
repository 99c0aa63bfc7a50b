"""A thousand releases with the tight epsilon after each, against dp_accounting from scratch.

The releases are Laplace, Gaussian and pure losses in turn; the peer composes the same thousand
once, each kind by its own power, and is asked for epsilon once.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from statistics import mean
from time import perf_counter
from typing import Any

from dp_accounting.pld import common
from dp_accounting.pld import privacy_loss_distribution as peer

from celosia.accounting.accountant import Accountant
from celosia.accounting.losses import Loss, PureLoss
from celosia.accounting.noise_losses import GaussianLoss, LaplaceLoss

DELTA = 1e-6
RELEASES = 1000
LIMIT = 0.020


def run(rows: int = RELEASES) -> dict[str, dict[str, Any]]:
    """Milliseconds of each release, and the ratio to computing one epsilon from scratch."""
    same = _timed(_same, rows)
    different = _timed(_different, rows)
    started = perf_counter()
    expected = _from_scratch(rows)
    scratch = perf_counter() - started
    every = mean(same["times"])
    return {
        "facts": {
            "releases": rows,
            "delta": DELTA,
            "epsilon, three losses in turn": round(same["epsilon"], 5),
            "epsilon of dp_accounting": round(expected, 5),
            "epsilon, no two losses alike": round(different["epsilon"], 5),
        },
        "milliseconds a release": {
            "three losses in turn, mean": round(1000 * every, 2),
            "three losses in turn, largest": round(1000 * max(same["times"]), 2),
            "no two losses alike, mean": round(1000 * mean(different["times"]), 2),
            "no two losses alike, largest": round(1000 * max(different["times"]), 2),
            "dp_accounting from scratch": round(1000 * scratch, 1),
        },
        "ratios": {
            "dp_accounting from scratch / one more release": round(scratch / every, 1),
            "20 ms / one more release": round(LIMIT / every, 1),
            "20 ms / one more release, none alike": round(LIMIT / mean(different["times"]), 1),
            "epsilon / that of dp_accounting": round(same["epsilon"] / expected, 5),
        },
    }


def _timed(loss: Callable[[int], Loss], count: int) -> dict[str, Any]:
    Accountant([loss(0)]).epsilon(DELTA)  # load what is loaded late
    account, times, epsilon = Accountant(), [], 0.0
    for turn in range(count):
        started = perf_counter()
        account.add(loss(turn))
        epsilon = account.epsilon(DELTA)
        times.append(perf_counter() - started)
    return {"times": times, "epsilon": epsilon}


def _same(turn: int) -> Loss:
    losses: tuple[Loss, ...] = (
        LaplaceLoss(Fraction(20), 2),
        GaussianLoss(Fraction(400), 2),
        PureLoss(Fraction(1, 10)),
    )
    return losses[turn % 3]


def _different(turn: int) -> Loss:
    if turn % 3 == 0:
        return LaplaceLoss(Fraction(10 * 2**20 + turn), 2**20)
    if turn % 3 == 1:
        return GaussianLoss(Fraction(100 * 2**40 + turn), 2**20)
    return PureLoss(Fraction(100 + turn % 7, 1000) + Fraction(turn, 10**9))


def _from_scratch(count: int) -> float:
    parts = [
        peer.from_discrete_laplace_mechanism(1 / 20, 2, use_connect_dots=True),
        peer.from_discrete_gaussian_mechanism(20.0, 2, use_connect_dots=True),
        peer.from_privacy_parameters(common.DifferentialPrivacyParameters(0.1, 0.0)),
    ]
    total = None
    for place, part in enumerate(parts):
        power = part.self_compose(len(range(place, count, 3)))
        total = power if total is None else total.compose(power)
    assert total is not None
    return float(total.get_epsilon_for_delta(DELTA))
