"""Membership inference and repeated records, where it is known who was in the table."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import mannwhitneyu

from celosia.assess.linkage import membership, membership_of, replicated_uniques
from celosia.assess.linkage.membership import _advantage, _auc
from celosia.core.errors import InputError
from celosia.core.randomness import Seeded


def _people(count: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame({"age": rng.normal(size=count), "pay": rng.normal(size=count)})


def _noisy(frame: pl.DataFrame, scale: float, seed: int = 5) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return frame.with_columns(
        pl.Series(name, frame[name].to_numpy() + scale * rng.normal(size=frame.height))
        for name in frame.columns
    )


def test_a_copy_gives_its_members_away() -> None:
    members, others = _people(300, 1), _people(300, 2)
    found = membership(members, others, members, rng=Seeded(1))
    assert found.auc == 1.0
    assert found.advantage == 1.0
    assert found.advantage_low > 0.9  # 150 of 150 against 0 of 150, by Clopper and Pearson
    assert found.is_shown


def test_an_independent_table_gives_nobody_away() -> None:
    found = membership(_people(400, 1), _people(400, 2), _people(400, 3), rng=Seeded(1))
    # The standard deviation of the AUC of two equal samples of 400 is sqrt(801 / (12 * 400^2)).
    assert abs(found.auc - 0.5) < 4 * np.sqrt(801 / (12 * 400**2))
    assert found.auc_low < 0.5 < found.auc_high
    assert found.advantage_low == 0
    assert not found.is_shown


def test_more_noise_gives_less_away() -> None:
    members, others = _people(300, 1), _people(300, 2)
    scores = [
        membership(members, others, _noisy(members, scale), rng=Seeded(1)).auc
        for scale in (0.001, 0.02, 0.1, 2.0)
    ]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] > 0.95


def test_the_area_is_that_of_mann_and_whitney_and_its_spread_that_of_simulation() -> None:
    rng = np.random.default_rng(4)
    inside, outside = (rng.integers(0, top, n).astype(np.float64) for top, n in ((9, 40), (8, 50)))
    area, _ = _auc(inside, outside)
    assert area == pytest.approx(mannwhitneyu(inside, outside).statistic / (40 * 50))
    drawn = [_auc(rng.normal(0.5, 1, 60), rng.normal(size=80)) for _ in range(400)]
    areas, spreads = map(np.array, zip(*drawn, strict=True))
    # A standard deviation from 400 draws has a relative error of 1/sqrt(800) = 3.5 %.
    assert spreads.mean() == pytest.approx(areas.std(), rel=0.15)


def test_the_advantage_is_the_greatest_gap_of_the_alarm_rates() -> None:
    inside, outside = np.array([3.0, 2.0, 2.0, 0.0]), np.array([2.0, 1.0, 0.0, 0.0])
    best, limit = _advantage(inside, outside)
    assert (best, limit) == (0.5, 2.0)
    plain = max(
        (inside >= at).mean() - (outside >= at).mean() for at in np.concatenate([inside, outside])
    )
    assert best == plain
    assert _advantage(outside, outside)[0] == 0


def test_the_lower_bound_is_rarely_above_the_truth() -> None:
    members, others = _people(4_000, 1), _people(4_000, 2)
    made = _noisy(members, 0.01)
    truth = membership(members, others, made, rng=Seeded(1)).advantage
    wrong = 0
    for start in range(0, 4_000, 200):
        part = slice(start, start + 200)
        found = membership(members[part], others[part], made, rng=Seeded(start))
        wrong += found.advantage_low > truth
    # Twenty trials, each wrong with a chance of at most 5 %: seven or more in 1 of 30,000.
    assert wrong < 7


def test_records_are_held_back_where_the_synthesiser_is_at_hand() -> None:
    table = _people(400, 1)
    given: list[int] = []

    def copy(frame: pl.DataFrame) -> pl.DataFrame:
        given.append(frame.height)
        return frame

    found = membership_of(table, copy, share=0.75, rng=Seeded(3))
    assert given == [300]
    assert (found.members, found.outsiders) == (300, 100)
    assert found.auc == 1.0
    fair = membership_of(table, lambda _: _people(400, 9), rng=Seeded(3))
    assert not fair.is_shown


def test_the_same_seed_gives_the_same_bound() -> None:
    one, other, made = _people(100, 1), _people(100, 2), _people(100, 3)
    first = membership(one, other, made, rng=Seeded(1))
    assert membership(one, other, made, rng=Seeded(1)) == first


def test_gaps_and_categories_are_compared_where_both_have_them() -> None:
    rng = np.random.default_rng(1)
    members = pl.DataFrame({"age": rng.normal(size=50), "job": rng.choice(list("abc"), 50)})
    others = pl.DataFrame({"age": rng.normal(size=50), "job": [None] * 50}).cast({"job": pl.String})
    found = membership(members, others, members, rng=Seeded(1))
    assert found.auc > 0.9


def test_people_are_compared_by_the_columns_that_all_three_tables_have() -> None:
    members, others = _people(50, 1), _people(50, 2).drop("pay")
    found = membership(members, others, members, rng=Seeded(1))
    assert found == membership(members, others, members, ["age"], rng=Seeded(1))


@pytest.mark.parametrize(
    ("asked", "code"), [({"confidence": 1}, "CEL-A221"), ({"confidence": "x"}, "CEL-A221")]
)
def test_wrong_parameters_are_refused(asked: dict[str, Any], code: str) -> None:
    with pytest.raises(InputError) as refused:
        membership(_people(20, 1), _people(20, 2), _people(20, 3), **asked)
    assert refused.value.code == code


def test_too_few_people_are_refused() -> None:
    with pytest.raises(InputError) as refused:
        membership(_people(20, 1), _people(9, 2), _people(20, 3))
    assert refused.value.code == "CEL-A220"
    for share in (0, 1, "half"):
        with pytest.raises(InputError) as refused:
            membership_of(_people(20, 1), lambda frame: frame, share=share)  # type: ignore[arg-type]
        assert refused.value.code == "CEL-A222"


def test_unique_records_that_are_repeated_are_counted() -> None:
    real: dict[str, Any] = {"age": [20, 20, 31, 40, None], "sex": ["f", "f", "m", None, "m"]}
    made: dict[str, Any] = {"age": [31, 31, 20, 40, None], "sex": ["m", "m", "f", None, "f"]}
    found = replicated_uniques(real, made)
    # Unique: (31, m), (40, -), (-, m); repeated: (31, m) twice and (40, -).
    assert (found.uniques, found.repeated, found.synthetic_rows) == (3, 2, 3)
    assert found.share == pytest.approx(2 / 3)
    assert replicated_uniques(real, {"age": [1], "sex": ["f"]}).repeated == 0
