"""The game of publisher and attacker: by hand, over a lattice, and on the command line."""

from __future__ import annotations

from itertools import product
from math import log

import numpy as np
import polars as pl
import pytest

from celosia import Seeded
from celosia.assess.risk import expected_risk
from celosia.core.errors import InputError
from celosia.tables import Mask, NoAttack, Profitable, Schema, publish
from celosia.tables.metrics import PublisherPayoff
from celosia.tables.models import Classes

SIZES = Classes(np.array([1, 74, 75, 200]))


def test_no_attack_asks_for_gain_over_cost_records() -> None:
    assert NoAttack().holds(SIZES).tolist() == [False, False, True, True]
    assert NoAttack().judge(SIZES).must_go.tolist() == [1, 74, 0, 0]
    even = NoAttack(gain=0.3, cost=0.1)  # 0.3 / 0.1 is above 3 in floats, and 3 comes out even
    assert even.holds(Classes(np.array([2, 3]))).tolist() == [False, True]
    assert even.smallest == 3


def test_the_journalist_is_hidden_from_by_the_population() -> None:
    classes = Classes(np.array([1, 2]), population=np.array([80, 10]))
    model = NoAttack(attacker="journalist")
    assert model.needs_population
    assert model.holds(classes).tolist() == [True, False]
    guess = NoAttack(gain=1.0, cost=0.2, attacker="journalist", sampling_fraction=0.1)
    chance = expected_risk(np.array([1, 2]), 0.1)
    assert guess.holds(classes).tolist() == (chance <= 0.2).tolist() == [False, True]
    with pytest.raises(InputError) as caught:
        NoAttack(sampling_fraction=0.1)
    assert caught.value.code == "CEL-P070"


def test_a_record_must_earn_what_an_attack_may_cost() -> None:
    game = Profitable(benefit=10.0, loss=30.0, gain=1.0, cost=0.1)
    classes = Classes(np.array([2, 3, 4, 20]), information=np.array([1.0, 1.0, 0.5, 0.01]))
    # 30 / 2 > 10; 30 / 3 = 10; 30 / 4 > 5; and in a class of 20 no attack pays.
    assert game.holds(classes).tolist() == [False, True, False, True]
    assert game.judge(classes).must_go.tolist() == [2, 0, 0, 0]


@pytest.mark.parametrize("loss", [0.0, 900.0, 5000.0])
def test_the_release_has_the_largest_payoff_of_all_nodes(loss: float) -> None:
    """Two columns of two digits, which may be masked digit by digit: nine nodes."""
    rng = np.random.default_rng(3)
    table = pl.DataFrame({name: rng.integers(10, 40, 120).astype(str) for name in "ab"})
    schema = Schema.of(quasi_identifiers={"a": Mask(), "b": Mask()})
    game = (1000.0, loss, 300.0, 20.0)
    release = publish(
        table, schema, Profitable(*game), suppression=1, metric=PublisherPayoff(*game),
        rng=Seeded(1),
    )  # fmt: skip
    leaves = [table[name].n_unique() for name in "ab"]
    payoffs: dict[tuple[int | None, ...], float] = {}
    for node in product(range(3), range(3)):
        shown = [
            tuple(text[: 2 - level] for text, level in zip(row, node, strict=True))
            for row in table.rows()
        ]
        total = 0.0
        for label in set(shown):
            size = shown.count(label)
            under = [
                sum(value.startswith(part) for value in table[name].unique())
                for name, part in zip("ab", label, strict=True)
            ]
            information = 1 - sum(map(log, under)) / sum(map(log, leaves))
            each = 1000 * information - (loss / size if 300 / size > 20 else 0)
            total += max(0.0, size * each)
        payoffs[node] = total
    best = max(payoffs.values())
    assert payoffs[release.solution.levels] == pytest.approx(best)
    assert release.solution.score == pytest.approx(1 - best / (1000 * 120))


def test_mondrian_cannot_tell_what_pays() -> None:
    table = pl.DataFrame({"a": [1, 2, 3, 4]})
    with pytest.raises(InputError) as caught:
        publish(table, Schema.of(quasi_identifiers=["a"]), Profitable(), method="mondrian")
    assert caught.value.code == "CEL-P062"
