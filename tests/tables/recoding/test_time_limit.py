"""A search that is stopped has a solution and says how much better another could be."""

from __future__ import annotations

from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables.recoding.strategies import People, people, plain_models

from celosia.core.errors import PrivacyError
from celosia.tables.metrics import METRICS
from celosia.tables.models import Model
from celosia.tables.recoding import allowance, find_optimum, search

limits = st.sampled_from([0.0, 0.1, 0.5, 1.0])


@settings(max_examples=150)
@given(
    people(max_columns=3),
    st.lists(plain_models, min_size=1, max_size=2),
    limits,
    st.integers(0, 10),
    st.sampled_from([*METRICS]),
)
def test_the_optimum_lies_between_the_bound_and_the_best_so_far(
    table: People, models: list[Model], suppression: float, ticks: int, name: str
) -> None:
    metric = METRICS[name]()
    try:
        best = find_optimum(table.lattice(), models, suppression=suppression, metric=metric)
    except PrivacyError:
        return
    clock = count()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "monotonic", lambda: float(next(clock)))
        found = find_optimum(
            table.lattice(), models, suppression=suppression, metric=metric, time_limit=ticks + 0.5
        )
    assert found.best.suppressed <= allowance(suppression, len(table.rows))
    assert table.lattice().evaluate(found.best.node, models) == found.best
    assert found.certificate.at_least <= best.score + 1e-12
    assert best.score <= found.score + 1e-12
    assert found.gap >= found.score - best.score - 1e-12
    if found.certificate.is_optimal:
        assert found.score == best.score
    certificate = found.certificate
    accounted = (
        certificate.evaluated
        + certificate.closed_by_bound
        + certificate.closed_as_infeasible
        + certificate.closed_by_forced_suppression
        + certificate.still_open
    )
    assert accounted == certificate.nodes
