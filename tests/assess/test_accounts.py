"""The account of masked and synthetic tables, its report, and the risk-utility map."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import polars as pl
import pytest

from celosia.assess import masked_account, risk_utility_map, synthetic_account
from celosia.assess.account_report import (
    map_blocks,
    masked_document,
    synthetic_document,
)
from celosia.assess.linkage import align, distance_linkage, rank_linkage
from celosia.assess.utility.numeric import Regression, information_loss
from celosia.core.errors import InputError
from celosia.core.progress import Step
from celosia.core.randomness import Seeded
from celosia.core.report import Document

MARK = "planted-7391"


def _people(count: int = 200, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, count)
    return pl.DataFrame(
        {
            "age": age,
            "pay": 1000.0 + 30 * age + rng.normal(0, 300, count),
            "job": rng.choice(["clerk", "cook", MARK], count),
            "ill": rng.choice(["flu", "cold"], count),
        }
    )


def _noisy(frame: pl.DataFrame, share: float, seed: int = 2) -> pl.DataFrame:
    rng = np.random.default_rng(seed)

    def masked(name: str) -> pl.Series:
        values = frame[name].to_numpy().astype(np.float64)
        return pl.Series(name, values + share * values.std() * rng.normal(size=values.size))

    return frame.with_columns(masked("age"), masked("pay"))


def test_the_account_is_made_of_the_single_measures() -> None:
    before = _people()
    after = _noisy(before, 0.2)
    keys = ["age", "pay", "job"]
    found = masked_account(before, after, keys)
    tables = align(before, after, keys)
    assert found.distance.share == distance_linkage(tables).share
    assert found.rank.share == rank_linkage(tables).share
    assert found.utility.loss == information_loss(tables)
    assert found.probabilistic is not None
    assert found.risk == max(found.distance.share, found.rank.share, found.probabilistic.share)


def test_shuffled_rows_give_the_same_account() -> None:
    before = _people()
    after = _noisy(before, 0.2)
    rows = np.random.default_rng(3).permutation(200)
    plain = masked_account(before, after, ["age", "pay"]).as_dict()
    mixed = masked_account(before, after[rows], ["age", "pay"], rows=rows).as_dict()
    assert mixed["risk"]["distance"] == plain["risk"]["distance"]
    assert mixed["utility"]["loss"]["il1s"] == pytest.approx(plain["utility"]["loss"]["il1s"])


def test_more_noise_is_less_risk_and_more_loss() -> None:
    before = _people()
    accounts = [masked_account(before, _noisy(before, p), ["age", "pay"]) for p in (0, 0.1, 1)]
    risks = [each.distance.share for each in accounts]
    losses = [each.utility.loss.il1s for each in accounts if each.utility.loss is not None]
    assert risks == sorted(risks, reverse=True)
    assert losses == sorted(losses)
    assert risks[0] > 0.99


def test_sensitive_columns_are_told_but_not_linked_by() -> None:
    before = _people()
    found = masked_account(before, _noisy(before, 0.1), sensitive=["ill"])
    assert found.columns == ("age", "pay", "job")
    assert [each.column for each in found.attributes] == ["ill"]
    assert [each.column for each in found.utility.marginals] == ["age", "pay", "job", "ill"]
    with pytest.raises(InputError) as refused:
        masked_account(before, before, ["ill"], sensitive=["ill"])
    assert refused.value.code == "CEL-A200"


def test_regressions_may_use_columns_that_are_not_linked_by() -> None:
    before = _people()
    line = Regression("pay", ("age",))
    found = masked_account(before, _noisy(before, 0.1), ["age"], regressions=[line])
    assert [each.column for each in found.utility.marginals] == ["age"]
    assert found.utility.regressions[0].regression == line


def test_probabilistic_linkage_needs_three_columns() -> None:
    before = _people()
    assert masked_account(before, before, ["age", "pay"]).probabilistic is None
    assert masked_account(before, before, ["job"]).intervals is None


def test_a_synthetic_copy_is_told_from_an_honest_table() -> None:
    members, others, fresh = (_people(300, seed) for seed in (1, 2, 3))
    copied = synthetic_account(members, members, holdout=others, rng=Seeded(1))
    honest = synthetic_account(members, fresh, holdout=others, rng=Seeded(1))
    assert copied.membership is not None
    assert honest.membership is not None
    assert copied.membership.is_shown
    assert copied.replicas.repeated == copied.replicas.uniques
    assert honest.replicas.repeated == 0
    assert honest.holdout_replicas is not None
    assert honest.membership.auc < copied.membership.auc
    assert synthetic_account(members, fresh).membership is None


@pytest.mark.parametrize("kind", ["masked", "synthetic"])
def test_accounts_are_plain_values_and_name_no_cell(kind: str) -> None:
    before = _people()
    line = [Regression("pay", ("age", "job"))]
    if kind == "masked":
        account: Any = masked_account(
            before, _noisy(before, 0.1), sensitive=["ill"], regressions=line
        )
        page = masked_document(account).html()
        assert "The records linked most surely are those of the masked rows" in page
    else:
        account = synthetic_account(
            before,
            _people(100, 3),
            holdout=_people(100, 4),
            sensitive=["ill"],
            regressions=line,
            rng=Seeded(1),
        )
        page = synthetic_document(account).html()
        assert "has no formal guarantee" in page
    told = json.dumps(account.as_dict(), allow_nan=False)
    assert MARK not in told + page + str(account) + repr(account)
    assert "\n" not in str(account)
    assert "Confidential: only for people who may see the original" in page


def test_a_table_of_categories_alone_is_accounted_for() -> None:
    before = {"job": list("aabbcc"), "sex": list("fmfmfm")}
    account = masked_account(before, {"job": list("abbbcc"), "sex": list("fmfmfm")})
    assert account.utility.moments is None
    assert "Kolmogorov" in masked_document(account).html()


@pytest.mark.parametrize(
    "column",
    [
        pl.Series([7]),
        pl.Series([None, None], dtype=pl.Float64),
        pl.Series([None, None], dtype=pl.String),
        pl.Series([True, None, True]),
        pl.Series([1e99, -1e99, None, 0.0]),
        pl.Series([5, 5, 5]),
        pl.Series(["*", None, "a"]),
    ],
    ids=["one row", "no number", "no text", "truths", "immense", "constant", "stars"],
)
def test_odd_tables_are_accounted_for_without_a_warning(column: pl.Series) -> None:
    table = pl.DataFrame({"odd": column, "plain": range(len(column)), "other": column})
    masked = masked_account(table, table[::-1], sensitive=["other"])
    made = synthetic_account(table, table[:1], sensitive=["other"])
    for account in (masked, made):
        json.dumps(account.as_dict(), allow_nan=False)
    assert masked_document(masked).html()
    assert synthetic_document(made).html()


def test_progress_is_told() -> None:
    steps: list[Step] = []
    before = _people()
    masked_account(before, _noisy(before, 0.1), progress=steps.append)
    assert {"distance linkage", "rank linkage", "agreement of pairs"} <= {s.stage for s in steps}


def test_the_map_places_each_masking_and_finds_the_best() -> None:
    before = _people()
    tried: dict[str, Any] = {
        "none": (before, None),
        "noise p=0.1": (_noisy(before, 0.1), None),
        "noise p=0.5": (_noisy(before, 0.5), None),
        "shuffle": (before[::-1], None),
        "reverse": (before[::-1], np.arange(200)[::-1]),
    }
    found = risk_utility_map(before, tried, ["age", "pay"])
    points = {point.name: point for point in found.points}
    assert points["none"].risk == points["reverse"].risk > 0.99
    assert points["none"].loss == points["reverse"].loss == 0
    for point in found.points:
        beaten = any(
            other.risk <= point.risk
            and other.loss <= point.loss
            and (other.risk, other.loss) != (point.risk, point.loss)
            for other in found.points
        )
        assert point.is_best is not beaten
    losses = [point.loss for point in found.best]
    assert losses == sorted(losses)
    chosen = found.within(points["noise p=0.1"].risk)
    assert chosen is not None
    assert chosen.loss <= points["noise p=0.1"].loss
    assert found.within(-1) is None
    assert json.loads(json.dumps(found.as_dict()))["best"] == [point.name for point in found.best]


@pytest.mark.parametrize("risk", ["distance", "rank", "interval", "highest"])
@pytest.mark.parametrize("loss", ["il1s", "squares", "pmse", "correlations", "total variation"])
def test_every_measure_of_the_map_is_better_for_the_untouched_table(risk: Any, loss: Any) -> None:
    before = _people()
    tried = {"none": (before, None), "noise p=0.5": (_noisy(before, 0.5), None)}
    none, noise = risk_utility_map(before, tried, ["age", "pay"], risk=risk, loss=loss).points
    assert none.risk > noise.risk
    assert none.loss < noise.loss


def test_the_map_is_drawn_with_the_names_of_methods_and_parameters() -> None:
    before = _people(50)
    tried = {f"noise p={p}": (_noisy(before, p), None) for p in (0.1, 0.5)}
    found = risk_utility_map(before, tried, ["age", "pay"], loss="pmse")
    drawn = str(found.plot())
    for words in ("noise", "p=0.5", "best for their loss", "propensity score", "by distance"):
        assert words in drawn
    assert "Every masking that was tried" in Document("Map", "", map_blocks(found)).html()


@pytest.mark.parametrize(
    ("candidates", "asked", "code"),
    [
        ({}, {}, "CEL-A240"),
        ({"a": ({"x": [1, 2]}, None)}, {"risk": "distanse"}, "CEL-A241"),
        ({"a": ({"x": [1, 2]}, None)}, {"loss": "il2"}, "CEL-A241"),
    ],
)
def test_a_map_of_nothing_or_by_nothing_is_refused(
    candidates: Any, asked: dict[str, Any], code: str
) -> None:
    with pytest.raises(InputError) as refused:
        risk_utility_map({"x": [1, 2]}, candidates, **asked)
    assert refused.value.code == code
