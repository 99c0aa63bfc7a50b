"""Under every model and metric the search finds what trying every node finds."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables.recoding.plain_metrics import PLAIN_METRICS, Release
from tests.tables.recoding.strategies import (
    ESTIMATED,
    KINDS,
    SENSITIVE,
    Node,
    People,
    all_models,
    people,
    plain_models,
)

from celosia.core.errors import PrivacyError
from celosia.tables.metrics import METRICS, Loss, Metric, Precision
from celosia.tables.models import DistinctDiversity, KAnonymity, Model
from celosia.tables.recoding import Lattice, Outcome, allowance, find_optimum

limits = st.sampled_from([0.0, 0.1, 0.5, 1.0])

TEN_DECIMALS = 1e-9
"""The loss of a column is cut after ten decimals."""


def within(releases: Sequence[Release], suppression: float) -> list[Release]:
    """Those that keep somebody and suppress no more than allowed."""
    allowed = allowance(suppression, len(releases[0].rows))
    return [each for each in releases if any(each.kept) and each.kept.count(False) <= allowed]


def agree(
    table: People,
    models: Sequence[Model],
    suppression: float,
    metric: Metric | None = None,
    weights: dict[int, float] | None = None,
) -> None:
    """The search and exhaustion by definition have the same best score, or none."""
    chosen = metric or Loss()
    solutions = within([table.release(n, models, weights or {}) for n in table.nodes], suppression)
    lattice = table.lattice()
    if not solutions:
        with pytest.raises(PrivacyError) as refused:
            find_optimum(lattice, models, suppression=suppression, metric=chosen)
        assert refused.value.code == "CEL-P001"
        return
    score = PLAIN_METRICS[chosen.method_name]
    found = find_optimum(lattice, models, suppression=suppression, metric=chosen)
    least = min(score(each) for each in solutions)
    assert found.score == pytest.approx(least, abs=TEN_DECIMALS)
    best = next(each for each in solutions if each.node == found.best.node)
    assert score(best) == pytest.approx(least, abs=TEN_DECIMALS)
    assert found.best.suppressed == best.kept.count(False)
    assert found.certificate.is_optimal
    assert found.certificate.at_least == pytest.approx(found.score, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25)
@given(people(), limits, st.data())
def test_the_optimum_under_each_model_is_that_of_exhaustion(
    kind: str, table: People, suppression: float, data: st.DataObject
) -> None:
    agree(table, [data.draw(KINDS[kind])], suppression)


@settings(max_examples=120)
@given(people(), st.lists(plain_models, min_size=2, max_size=3), limits)
def test_the_optimum_under_models_together_is_that_of_exhaustion(
    table: People, models: list[Model], suppression: float
) -> None:
    agree(table, models, suppression)


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("model", [KAnonymity(2), DistinctDiversity(2, SENSITIVE)], ids=str)
@settings(max_examples=20)
@given(people(max_columns=3), limits)
def test_the_optimum_by_each_metric_is_that_of_exhaustion(
    name: str, model: Model, table: People, suppression: float
) -> None:
    agree(table, [model], suppression, METRICS[name]())


@pytest.mark.parametrize("kind", [Loss, Precision])
@settings(max_examples=30)
@given(people(), limits, st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=2, max_size=2))
def test_weights_choose_what_is_kept(
    kind: type[Loss] | type[Precision],
    table: People,
    suppression: float,
    given_weights: list[float],
) -> None:
    weights = dict(enumerate(given_weights[: len(table.hierarchies)]))
    if not any(weights.values()):
        weights[0] = 2.0
    metric = kind({f"c{column}": weight for column, weight in weights.items()})
    agree(table, [KAnonymity(2)], suppression, metric, weights)


@settings(max_examples=120)
@given(people(), st.lists(all_models, min_size=1, max_size=2), limits, st.sampled_from([*METRICS]))
def test_the_optimum_is_the_best_of_all_evaluated_nodes(
    table: People, models: list[Model], suppression: float, name: str
) -> None:
    lattice = table.lattice()
    measure = METRICS[name]().over(lattice)
    allowed = min(allowance(suppression, lattice.rows), lattice.rows - 1)
    outcomes = [lattice.evaluate(node, models) for node in table.nodes]
    ranks = [
        (measure.score(each), sum(each.node), each.node)
        for each in outcomes
        if each.suppressed <= allowed
    ]
    if not ranks:
        with pytest.raises(PrivacyError):
            find_optimum(lattice, models, suppression=suppression, metric=METRICS[name]())
        return
    found = find_optimum(table.lattice(), models, suppression=suppression, metric=METRICS[name]())
    assert (measure.score(found.best), sum(found.best.node), found.best.node) == min(ranks)


def _evaluated(table: People, models: Sequence[Model]) -> tuple[Lattice, dict[Node, Outcome]]:
    lattice = table.lattice()
    return lattice, {node: lattice.evaluate(node, models) for node in table.nodes}


@pytest.mark.parametrize("kind", [*KINDS, *ESTIMATED])
@settings(max_examples=20)
@given(people(), st.data())
def test_what_must_go_at_a_node_goes_at_every_node_below(
    kind: str, table: People, data: st.DataObject
) -> None:
    models = [data.draw((KINDS | ESTIMATED)[kind]), *data.draw(st.lists(all_models, max_size=1))]
    _, outcomes = _evaluated(table, models)
    for node, above in outcomes.items():
        assert above.must_go <= above.suppressed
        for other, below in outcomes.items():
            if all(low <= high for low, high in zip(other, node, strict=True)):
                assert below.suppressed >= above.must_go


@pytest.mark.parametrize("name", METRICS)
@settings(max_examples=25)
@given(people(max_columns=3), all_models, st.data())
def test_no_score_falls_below_its_floor(
    name: str, table: People, model: Model, data: st.DataObject
) -> None:
    lattice, outcomes = _evaluated(table, [model])
    measure = METRICS[name]().over(lattice)
    allowed = data.draw(st.integers(0, lattice.rows))
    measure.allow(allowed)
    for node, outcome in outcomes.items():
        if outcome.suppressed > allowed:
            continue
        score = measure.score(outcome)
        fewer = data.draw(st.integers(0, outcome.suppressed))
        assert measure.floors[node] <= score
        assert measure.floor(node, fewer) <= score
        assert measure.floor(node, outcome.suppressed) <= score
        assert -1e-12 <= measure.share(score) <= 1 + 1e-9


@pytest.mark.parametrize("name", METRICS)
@settings(max_examples=25)
@given(people(max_columns=3), plain_models)
def test_each_node_scores_as_defined(name: str, table: People, model: Model) -> None:
    lattice, outcomes = _evaluated(table, [model])
    measure = METRICS[name]().over(lattice)
    for node, outcome in outcomes.items():
        plain = table.release(node, [model])
        assert outcome.suppressed == plain.kept.count(False)
        share = measure.share(measure.score(outcome))
        assert share == pytest.approx(PLAIN_METRICS[name](plain), abs=TEN_DECIMALS)
