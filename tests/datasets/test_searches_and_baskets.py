"""Generated logs and baskets: the same again, of the promised kind, and large where asked."""

from __future__ import annotations

import numpy as np
import pytest

from celosia import datasets
from celosia.core.errors import InputError


def test_the_same_seed_makes_the_same_log() -> None:
    one, other = datasets.searches(200, seed=4), datasets.searches(200, seed=4)
    assert one.frame.equals(other.frame)
    assert not one.frame.equals(datasets.searches(200, seed=5).frame)


def test_a_log_has_the_habits_of_people() -> None:
    """Records as expected from the model; 6 % are own searches, which only one person has."""
    made = datasets.searches(seed=11)
    # Mean activity e^(2.6 + 1.1^2 / 2) + 1, a hundredth of it ten times: about 139,700. What a log
    # differs by is whose activity is tenfold: 50 of a deviation of 9 * 38 and 9 * 26 * sqrt(50).
    assert abs(made.frame.height - 139_700) < 4 * 2_930
    # Standard error sqrt(.06 * .94 / n) = 0.0006: six of them.
    assert abs(made.is_private.mean() - 0.06) < 0.004
    own = made.frame.filter(made.is_private)
    shared = own.group_by("query").n_unique()["user"]
    assert shared.max() == 1
    largest = np.sort(made.frame["user"].value_counts()["count"].to_numpy())[::-1]
    assert 0.10 < largest[:50].sum() / made.frame.height < 0.20


def test_addresses_are_of_documentation_and_private_ranges() -> None:
    made = datasets.searches(100, seed=1).frame["ip"]
    assert made.str.contains(r"^(192\.0\.2|198\.51\.100|203\.0\.113|10\.\d+\.\d+)\.\d+$").all()


def test_baskets_repeat_patterns_and_have_a_tree() -> None:
    made = datasets.baskets(2_000, 100, 8, 50, seed=3)
    again = datasets.baskets(2_000, 100, 8, 50, seed=3)
    assert np.array_equal(made.transactions.items, again.transactions.items)
    assert made.sensitive == again.sensitive
    lengths = np.diff(made.transactions.offsets)
    assert 4 < lengths.mean() < 10
    assert lengths.min() >= 1
    # Patterns make some pairs far more frequent than independent items would be.
    held = np.zeros((2_000, 100), dtype=bool)
    held[made.transactions.owners, made.transactions.items] = True
    joint = held.T.astype(int) @ held.astype(int)
    np.fill_diagonal(joint, 0)
    alone = held.mean(axis=0)
    lift = joint / (2_000 * np.outer(alone, alone) + 1e-9)
    assert lift[joint >= 30].max() > 3


@pytest.mark.parametrize("people", [0, 1, 1.5, "many"])
def test_sizes_that_cannot_be_are_refused(people: object) -> None:
    with pytest.raises(InputError) as caught:
        datasets.searches(people)  # type: ignore[arg-type]
    assert caught.value.code == "CEL-D045"
    with pytest.raises(InputError):
        datasets.baskets(0)
