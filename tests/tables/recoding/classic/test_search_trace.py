"""What all classic algorithms have in common."""

from __future__ import annotations

import json
from typing import Any, Protocol

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables.recoding.classic.lattices import Table, eleven, twelve
from tests.tables.recoding.classic.test_minimal import EvenSizes
from tests.tables.recoding.plain import Path
from tests.tables.recoding.strategies import coded, tables

from celosia.core.errors import Cancelled, InputError, PrivacyError
from celosia.core.progress import Progress, Step
from celosia.tables import KAnonymity
from celosia.tables.recoding import Lattice, allowance, find_optimum
from celosia.tables.recoding.classic import SearchTrace, datafly, incognito, ola, samarati


class Algorithm(Protocol):
    def __call__(
        self,
        lattice: Lattice,
        k: int | KAnonymity,
        *,
        suppression: float = ...,
        progress: Progress = ...,
    ) -> SearchTrace: ...


ALGORITHMS: list[Algorithm] = [datafly, incognito, ola, samarati]
each = pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda it: it.__name__)


@settings(max_examples=150)
@given(tables(), st.integers(2, 5), st.sampled_from([0.0, 0.1, 0.5, 1.0]))
def test_no_classic_algorithm_beats_the_optimum(table: Table, k: int, suppression: float) -> None:
    lattice = Lattice(coded(*table))
    if lattice.rows < k:
        return
    found = find_optimum(lattice, [KAnonymity(k)], suppression=suppression)
    least = lattice.loss.total(found.best.leaf_sums)
    for algorithm in ALGORITHMS:
        trace = algorithm(lattice, k, suppression=suppression)
        assert trace.best.loss >= least - 1e-12  # rounding of roots
        assert trace.best.loss == pytest.approx(min(c.loss for c in trace.solutions), abs=1e-12)
        assert trace.best.suppressed <= min(allowance(suppression, lattice.rows), lattice.rows - 1)
        for visit in trace.visits:
            assert visit.satisfies is (visit.suppressed <= trace.allowed)


@each
def test_another_model_is_refused(algorithm: Algorithm) -> None:
    with pytest.raises(InputError, match="cannot search for even sizes") as refused:
        algorithm(twelve(), EvenSizes())  # type: ignore[arg-type]
    assert refused.value.code == "CEL-P050"


@each
def test_k_may_be_given_as_a_model(algorithm: Algorithm) -> None:
    assert algorithm(twelve(), KAnonymity(3)) == algorithm(twelve(), 3)


@each
@pytest.mark.parametrize("k", [1, 0, -2, 2.5, "5", None])
def test_a_k_that_is_too_small_is_refused(algorithm: Algorithm, k: Any) -> None:
    with pytest.raises(InputError) as refused:
        algorithm(twelve(), k)
    assert refused.value.code == "CEL-I060"


@each
def test_a_limit_out_of_range_is_refused(algorithm: Algorithm) -> None:
    with pytest.raises(InputError) as refused:
        algorithm(twelve(), 2, suppression=1.5)
    assert refused.value.code == "CEL-P011"


@each
def test_more_than_all_records_cannot_be_asked_for(algorithm: Algorithm) -> None:
    with pytest.raises(PrivacyError, match="the table has 12 rows") as refused:
        algorithm(twelve(), 13)
    assert refused.value.code == "CEL-P001"


@pytest.mark.parametrize("algorithm", [incognito, ola, samarati])
def test_a_lattice_too_large_to_walk_through_is_refused(algorithm: Algorithm) -> None:
    paths: list[Path] = [(str(leaf), str(leaf // 2), str(leaf // 4), "*") for leaf in range(8)]
    lattice = Lattice(coded([paths] * 9, [("0",) * 9] * 3))
    with pytest.raises(InputError, match="nodes over 9 columns") as refused:
        algorithm(lattice, 2)
    assert refused.value.code == "CEL-P051"
    assert datafly(lattice, 2).best.node == (0,) * 9  # which looks at one way up only


@each
def test_the_walk_stops_when_told_to(algorithm: Algorithm) -> None:
    steps: list[Step] = []

    def stop(step: Step) -> None:
        steps.append(step)
        raise Cancelled()

    with pytest.raises(Cancelled):
        algorithm(twelve(), 2, suppression=0.0, progress=stop)
    assert len(steps) == 1


@each
def test_a_trace_is_plain_values_for_json(algorithm: Algorithm) -> None:
    trace = algorithm(eleven(), 2, suppression=0.1)
    values = trace.as_dict()
    assert json.loads(json.dumps(values)) == values
    assert values["best"]["node"] == list(trace.best.node)
    assert values["checked"] == len(values["visits"]) == trace.checked
    assert [solution["node"] for solution in values["solutions"]] == [
        list(c.node) for c in trace.solutions
    ]


def test_a_trace_fits_on_a_line() -> None:
    assert str(samarati(eleven(), 2)) == (
        "Samarati, k = 2: (1, 3, 0, 1, 1) (one of 2 nodes), 0 of 11 records suppressed, "
        "loss 52.13 %; checked 84 of 144 nodes"
    )
    assert str(datafly(twelve(), 4).visits[-1]) == (
        "ethnic 1, postal 1 ('ethnic' went up a level): 0 records to suppress, at most 4: stop here"
    )


@each
def test_no_cell_value_gets_into_a_story(algorithm: Algorithm) -> None:
    text = str(algorithm(eleven(), 2).as_dict())
    assert not any(value in text for value in ("rapanui", "05349", "divorced", "19/08/63"))


def test_ties_go_to_the_lower_node_whatever_the_order_of_columns() -> None:
    # Three equal columns: the nodes that raise one of them lose the same.
    paths: list[Path] = [("a", "*"), ("b", "*"), ("c", "*")]
    rows = [(x, y, z) for x in "abc" for y in "abc" for z in "abc"]
    for algorithm in (incognito, ola, samarati):
        trace = algorithm(Lattice(coded([paths] * 3, list(rows))), 3)
        assert [solution.node for solution in trace.solutions[:3]] == [
            (0, 0, 1),
            (0, 1, 0),
            (1, 0, 0),
        ]
