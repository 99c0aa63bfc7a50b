"""Two neighbours, the same noisy numbers: nothing else may tell them apart.

Each method is run once and what its mechanisms released is kept. It is then run on the same table
and on neighbours of it with these releases in place of new ones. The result must be the same to
the last cell, because only released numbers may enter it, and what each mechanism was asked must
differ by no more than the sensitivity that its noise was drawn for. That is what adaptive
composition needs: each step hides one row given all releases before it.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest

from celosia.accounting import PureLoss
from celosia.core.randomness import Seeded, Source
from celosia.mechanisms import Exponential, Geometric
from celosia.mechanisms.additive.base import AdditiveMechanism
from celosia.mechanisms.mechanism import Measurement
from celosia.tables.masking.method import MethodResult
from celosia.tables.private import (
    AdaptiveMarginals,
    Contingency,
    Marginals,
    NoisyHistogram,
    PrivateMethod,
    PrivateMicroaggregation,
)
from celosia.tables.private.row_counts import WEIGHT_STEPS

DECLARED: dict[str, Any] = {
    "domains": {"s": ("a", "b"), "t": ("u", "v", "w")},
    "bounds": {"x": (0, 1), "n": (0, 9)},
    "bins": 4,
}
WEIGHTED: dict[str, Any] = {**DECLARED, "bounds": {"x": (0, 1)}}
RANGES: dict[str, Any] = {"x": (0, 1), "n": (0, 9)}
METHODS: dict[str, PrivateMethod] = {
    "table": Contingency(epsilon=1, **DECLARED),
    "margins": Contingency(epsilon=1, delta=1e-6, orders=(0, 1, 2), output="rows", **DECLARED),
    "tree": Marginals(epsilon=1, **DECLARED),
    "tree-laplace": Marginals(epsilon=1, delta=0.0, **DECLARED),
    "adaptive": AdaptiveMarginals(epsilon=1, **DECLARED),
    "adaptive-laplace": AdaptiveMarginals(epsilon=1, delta=0.0, **DECLARED),
    "adaptive-weighted": AdaptiveMarginals(epsilon=1, weight="n", most_weight=5, **WEIGHTED),
    "adaptive-weighted-laplace": AdaptiveMarginals(
        epsilon=1, delta=0.0, weight="n", most_weight=5, **WEIGHTED
    ),
    "adaptive-discovered": AdaptiveMarginals(
        epsilon=1, discover={"x": "decimal", "n": "integer"}, domains=DECLARED["domains"]
    ),
    "histogram": NoisyHistogram(epsilon=1, **DECLARED),
    "histogram-gaussian": NoisyHistogram(epsilon=1, delta=1e-6, output="counts", **DECLARED),
    "separate": PrivateMicroaggregation(epsilon=1, k=7, bounds=RANGES),
    "joint": PrivateMicroaggregation(epsilon=1, k=7, bounds=RANGES, order="joint"),
}


class Tape:
    """What mechanisms were asked, and what they released or are to release."""

    def __init__(self, released: list[Any] | None = None):
        self.asked: list[tuple[Any, Any]] = []
        self.released: list[Any] = [] if released is None else released
        self.replays = released is not None

    def measure(self, original: Any, mechanism: Any, x: Any, rng: Source) -> Any:
        self.asked.append((mechanism, np.array(x)))
        if self.replays:
            return Measurement(self.released[len(self.asked) - 1])
        measured = original(mechanism, x, rng=rng)
        self.released.append(measured.value)
        return measured


def run(
    method: PrivateMethod, frame: pl.DataFrame, tape: Tape, monkeypatch: pytest.MonkeyPatch
) -> MethodResult:
    with monkeypatch.context() as patch:
        for kind in (AdditiveMechanism, Exponential):
            original = kind.measure

            def spied(self: Any, x: Any, *, rng: Source, original: Any = original) -> Any:
                return tape.measure(original, self, x, rng)

            patch.setattr(kind, "measure", spied)
        return method.apply(frame, frame.columns, rng=Seeded(9))


def table(method: PrivateMethod, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    size = 60
    frame = pl.DataFrame(
        {
            "s": rng.choice(["a", "b", "stranger"], size),
            "t": pl.Series(rng.choice(["u", "v", "w"], size)).set(
                pl.Series(rng.random(size) < 0.1), None
            ),
            "x": rng.uniform(-0.5, 1.5, size),
            "n": rng.integers(-3, 12, size),
        }
    )
    return frame.select("x", "n") if isinstance(method, PrivateMicroaggregation) else frame


def neighbours(method: PrivateMethod, frame: pl.DataFrame) -> list[pl.DataFrame]:
    odd = pl.DataFrame({"s": ["a"], "t": ["q"], "x": [float("inf")], "n": [99]})
    odd = odd.select(frame.columns).cast(dict(frame.schema))  # type: ignore[arg-type]
    if isinstance(method, PrivateMicroaggregation):  # one row is replaced
        low = odd.with_columns(x=pl.lit(float("nan")), n=pl.lit(-5, pl.Int64))
        return [pl.concat([frame[1:], one]) for one in (odd, low, frame[30:31])]
    return [frame[1:], frame[:-1], pl.concat([frame, odd]), pl.concat([frame, frame[5:6]])]


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_neighbours_differ_in_nothing_but_what_the_noise_covers(
    name: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    method = METHODS[name]
    frame = table(method, seed)
    first = Tape()
    run(method, frame, first, monkeypatch)
    mine = Tape(first.released)
    wanted = run(method, frame, mine, monkeypatch)
    for other in neighbours(method, frame):
        theirs = Tape(first.released)
        found = run(method, other, theirs, monkeypatch)
        assert found.frame.equals(wanted.frame)
        assert found.facts == wanted.facts
        assert len(mine.asked) == len(theirs.asked)
        for (one, x), (two, y) in zip(mine.asked, theirs.asked, strict=True):
            assert one == two
            moved = np.abs(x.astype(np.int64) - y.astype(np.int64))
            # Of scores each may move by the sensitivity, of counts and sums all together: the
            # length of a move is at most its sum.
            distance = moved.max() if isinstance(one, Exponential) else moved.sum()
            assert distance <= one.sensitivity
            if not isinstance(one, Exponential | Geometric):
                assert one.sensitivity == (WEIGHT_STEPS if "weighted" in name else 1)


@pytest.mark.parametrize("name", METHODS)
def test_what_is_drawn_is_what_is_paid_for(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    method = METHODS[name]
    frame = table(method, 1)
    tape = Tape()
    run(method, frame, tape, monkeypatch)
    drawn = Counter(mechanism.privacy_loss() for mechanism, _ in tape.asked)
    loss: Any = method.privacy_loss(frame.columns)
    if isinstance(method, AdaptiveMarginals):  # which parts there are depends on the results
        if method.discover:  # paid beside the rounds
            found = Counter(method.discovery(frame.columns).losses())
            assert not found - drawn
            drawn, loss = drawn - found, loss.parts[-1]
        pure = method.budget.is_pure
        spent = sum(part.pure if pure else part.rho for part in drawn.elements())
        paid = loss.pure if pure else loss.rho
        assert 0.999 * paid < spent <= paid * (1 + 1e-12)
        return
    assert drawn == Counter(loss.parts)
    if isinstance(method, PrivateMicroaggregation):
        assert set(drawn) == {PureLoss(mechanism.epsilon) for mechanism, _ in tape.asked}
