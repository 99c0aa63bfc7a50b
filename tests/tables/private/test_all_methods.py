"""What holds for every differentially private table."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from celosia.core.errors import InputError
from celosia.core.neighbours import ADD_REMOVE, CHANGE_ONE
from celosia.core.progress import Step
from celosia.core.randomness import Seeded, System
from celosia.tables.private import (
    METHODS,
    AdaptiveMarginals,
    Contingency,
    Marginals,
    NoisyHistogram,
    PrivateMethod,
    PrivateMicroaggregation,
)

DECLARED: dict[str, Any] = {"domains": {"s": ("a", "b")}, "bounds": {"x": (0, 1), "n": (0, 9)}}
COUNTED: list[PrivateMethod] = [
    AdaptiveMarginals(epsilon=1, **DECLARED),
    AdaptiveMarginals(epsilon=1, delta=0.0, **DECLARED),
    Contingency(epsilon=1, output="rows", bins=4, **DECLARED),
    Contingency(epsilon=1, delta=1e-6, orders=(0, 1), bins=4, output="rows", **DECLARED),
    Marginals(epsilon=1, **DECLARED),
    Marginals(epsilon=1, delta=0.0, **DECLARED),
    NoisyHistogram(epsilon=1, **DECLARED),
    NoisyHistogram(epsilon=1, delta=1e-6, **DECLARED),
]
GROUPED = [
    PrivateMicroaggregation(epsilon=1, k=5, bounds={"x": (0, 1), "n": (0, 9)}, order=order)
    for order in ("separate", "joint")
]
IDS = [f"{method.method_name}-{place}" for place, method in enumerate(COUNTED)]
ALL_IDS = [*IDS, "grouped-separate", "grouped-joint"]


def table(rows: int = 200) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    return pl.DataFrame(
        {
            "s": rng.choice(["a", "b"], rows),
            "x": rng.random(rows),
            "n": rng.integers(0, 10, rows),
        }
    )


def columns_of(method: PrivateMethod) -> list[str]:
    return ["x", "n"] if method in GROUPED else ["s", "x", "n"]


def test_the_recipe_names_are_known() -> None:
    assert [each.method_name for each in METHODS] == [
        "adaptive-marginals",
        "contingency",
        "marginals",
        "noisy-histogram",
        "private-microaggregation",
        "safe-pub",
    ]


@pytest.mark.parametrize("method", [*COUNTED, *GROUPED], ids=ALL_IDS)
def test_the_promise_states_epsilon_and_neighbours(method: PrivateMethod) -> None:
    columns = columns_of(method)
    promise = method.promise(columns)
    relation = CHANGE_ONE if method in GROUPED else ADD_REMOVE
    assert promise is not None
    assert str(method.budget) in promise
    assert str(relation) in promise
    guarantee = method.guarantee(columns)
    assert guarantee.neighbours == str(relation)
    assert any("not taken from the data" in line for line in guarantee.assumes)
    assert method.guarantee(columns, simulation=True).simulation


@pytest.mark.parametrize("method", [*COUNTED, *GROUPED], ids=ALL_IDS)
def test_the_loss_is_within_the_price_and_uses_it(method: PrivateMethod) -> None:
    loss, budget = method.privacy_loss(columns_of(method)), method.budget
    spent = loss.pure if budget.is_pure else loss.rho
    assert 0.999 * float(budget.total) < spent <= float(budget.total) * (1 + 1e-12)
    if not budget.is_pure:
        assert loss.epsilon(budget.delta) <= budget.epsilon


@pytest.mark.parametrize("method", [*COUNTED, *GROUPED], ids=ALL_IDS)
def test_a_seed_repeats_the_table_and_the_given_one_stays(method: PrivateMethod) -> None:
    frame = table().select(columns_of(method))
    before = frame.clone()
    done = [method.apply(frame, frame.columns, rng=Seeded(seed)) for seed in (5, 5, 6)]
    assert done[0].frame.equals(done[1].frame)
    assert not done[0].frame.equals(done[2].frame)
    assert frame.equals(before)
    assert done[0].synthetic
    assert done[0].frame.columns == frame.columns
    json.dumps(done[0].facts)
    json.dumps(method.as_dict())


@pytest.mark.parametrize("method", [*COUNTED, *GROUPED], ids=ALL_IDS)
def test_the_entropy_of_the_system_serves_as_well(method: PrivateMethod) -> None:
    frame = table(60).select(columns_of(method))
    assert method.apply(frame, frame.columns, rng=System()).frame.columns == frame.columns


ODD = st.one_of(
    st.none(), st.floats(allow_nan=True, allow_infinity=True), st.sampled_from([0.0, 0.5, 1.0])
)
ROWS = st.lists(
    st.tuples(
        st.one_of(st.none(), st.text(max_size=2)), ODD, st.one_of(st.none(), st.integers(-99, 99))
    ),
    max_size=12,
)


@pytest.mark.parametrize("method", COUNTED, ids=IDS)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.differing_executors])
@given(rows=ROWS)
def test_no_cell_and_no_number_of_rows_makes_it_refuse_or_leave_the_domain(
    method: PrivateMethod, rows: list[tuple[object, ...]]
) -> None:
    schema = {"s": pl.String, "x": pl.Float64, "n": pl.Int64}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    made = method.apply(frame, frame.columns, rng=Seeded(3)).frame
    assert set(made["s"].drop_nulls()) <= {"a", "b"}
    assert made["x"].drop_nulls().is_between(0, 1).all()
    assert made["n"].drop_nulls().is_between(0, 9).all()


@pytest.mark.parametrize("method", [*COUNTED, *GROUPED], ids=ALL_IDS)
def test_a_column_that_would_be_released_as_it_is_is_refused(method: PrivateMethod) -> None:
    frame = table().with_columns(name=pl.lit("secret"))
    with pytest.raises(InputError) as refusal:
        method.apply(frame, columns_of(method), rng=Seeded(1))
    assert refusal.value.code == "CEL-Y001"
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize("method", [*COUNTED, *GROUPED], ids=ALL_IDS)
def test_progress_tells_nothing_of_the_rows(method: PrivateMethod) -> None:
    progress_steps = []
    for rows in (30, 300):
        steps: list[Step] = []
        frame = table(rows).select(columns_of(method))
        method.apply(frame, frame.columns, rng=Seeded(5), progress=steps.append)
        progress_steps.append(steps)
    assert progress_steps[0] == progress_steps[1]
    assert progress_steps[0]


class Counting(Seeded):
    """A source that counts what is drawn from it."""

    drawn = 0

    def raw(self, count: int) -> bytes:
        self.drawn += count
        return super().raw(count)


@pytest.mark.parametrize("delta", [0.0, 1e-9])
def test_noise_that_cannot_be_drawn_is_refused_before_any_is(delta: float) -> None:
    frame = table()
    for method in (
        AdaptiveMarginals(epsilon=2e-9, delta=delta, **DECLARED),
        Contingency(epsilon=2e-9, delta=delta, bins=4, orders=(1,), **DECLARED),
        Marginals(epsilon=2e-9, delta=delta, **DECLARED),
        NoisyHistogram(epsilon=2e-9, delta=delta, **DECLARED),
    ):
        rng = Counting(1)
        with pytest.raises(InputError):
            method.apply(frame, frame.columns, rng=rng)
        assert rng.drawn == 0
    narrow = frame.select("x")
    grouped = PrivateMicroaggregation(epsilon=1e-9, k=1, bounds={"x": (0, 1)}, order="joint")
    with pytest.raises(InputError):
        grouped.apply(narrow, ["x"], rng=rng)
    assert rng.drawn == 0


@pytest.mark.parametrize("method", COUNTED, ids=IDS)
def test_a_table_of_nothing_but_noise_is_refused_by_its_price_alone(method: PrivateMethod) -> None:
    tiny = {**method.as_dict(), "epsilon": 1e-7}
    del tiny["method"]
    kind = type(method)
    for rows in (table(0), table(200)):  # whoever is in it
        with pytest.raises(InputError) as refusal:
            kind(**tiny).apply(rows, ["s", "x", "n"], rng=Seeded(1))
        # Gaussian noise of this size is refused by the mechanism itself.
        assert refusal.value.code == ("CEL-Y026" if method.budget.is_pure else "CEL-I060")
    if not method.budget.is_pure:
        return
    fifty: dict[str, Any] = {**tiny, "rows": 50}
    if kind is AdaptiveMarginals:  # the choices of its rounds are refused by the mechanism itself
        with pytest.raises(InputError, match="exponential"):
            kind(**fifty).apply(table(), ["s", "x", "n"], rng=Seeded(1))
        return
    made = kind(**fifty).apply(table(), ["s", "x", "n"], rng=Seeded(1))
    assert made.frame.height == 50
