"""The Bayesian network: structure by mutual information, bins, conditional tables."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.tables.masking.method import MaskingMethod
from celosia.tables.synthesis import BayesianNetwork, Copula
from celosia.tables.synthesis.bayesian_network import Node, bin_variable, cases, information, learn
from celosia.tables.synthesis.variables import variable

ROWS = 20_000


def chain_of_three(seed: int = 1) -> list[np.ndarray]:
    """b follows a, c follows b; a and c are independent given b."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 3, ROWS)
    b = np.where(rng.random(ROWS) < 0.7, a, rng.integers(0, 3, ROWS))
    c = np.where(rng.random(ROWS) < 0.7, b, rng.integers(0, 3, ROWS))
    return [a, b, c]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 1)), min_size=1))
def test_information_is_that_of_the_entropies(rows: list[tuple[int, int, int]]) -> None:
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    found = information(columns, [3, 4, 2], Node(0, (1, 2)))

    def entropy(*keys: int) -> float:
        counts = pl.DataFrame(rows, orient="row").group_by([f"column_{key}" for key in keys]).len()
        return float(stats.entropy(counts["len"]))

    assert found == pytest.approx(entropy(0) + entropy(1, 2) - entropy(0, 1, 2), abs=1e-9)


def test_cases_number_combinations_without_a_clash() -> None:
    columns = [np.array([0, 1, 1]), np.array([2, 0, 2])]
    assert cases(columns, [2, 3], (0, 1)).tolist() == [2, 3, 5]
    assert cases(columns, [2, 3], ()).tolist() == [0, 0, 0]


def test_a_chain_is_found_and_needs_one_parent_only() -> None:
    nodes = learn(chain_of_three(), [3, 3, 3], degree=2)
    links = {frozenset((node.child, parent)) for node in nodes for parent in node.parents}
    assert links == {frozenset((0, 1)), frozenset((1, 2))}
    assert [len(node.parents) for node in nodes] == [0, 1, 1]


def test_independent_columns_have_no_parents() -> None:
    rng = np.random.default_rng(4)
    columns = [rng.integers(0, 4, ROWS) for _ in range(4)]
    # By chance a table of 9 free numbers gains 4.5 nats on average; 9 are asked for.
    assert all(not node.parents for node in learn(columns, [4] * 4, degree=2))


@pytest.mark.parametrize("degree", [0, 1, 2, 3])
def test_the_degree_bounds_the_parents(degree: int) -> None:
    rng = np.random.default_rng(4)
    first = [rng.integers(0, 2, ROWS) for _ in range(3)]
    columns = [*first, first[0] ^ first[1] ^ first[2]]
    nodes = learn(columns, [2] * 4, degree=degree)
    assert max(len(node.parents) for node in nodes) <= degree
    assert sorted(node.child for node in nodes) == [0, 1, 2, 3]


def test_conditional_shares_are_kept() -> None:
    a, b, c = chain_of_three()
    frame = pl.DataFrame({"a": a, "b": b, "c": c})
    made = BayesianNetwork().apply(frame, frame.columns, rng=Seeded(2)).frame
    for pair in (("a", "b"), ("b", "c"), ("a", "c")):
        both = [
            np.histogram2d(each[pair[0]], each[pair[1]], bins=3)[0].ravel() / ROWS
            for each in (frame, made)
        ]
        # Nine shares, each within five standard errors of at most sqrt(p / n) of two tables.
        assert np.all(np.abs(both[0] - both[1]) < 5 * np.sqrt(2 * both[0] / ROWS))


@given(
    st.lists(st.one_of(st.none(), st.floats(-1e6, 1e6)), min_size=1, max_size=60),
    st.integers(2, 8),
)
def test_bins_are_disjoint_and_give_back_values_of_their_own(
    cells: list[float | None], bins: int
) -> None:
    frame = pl.DataFrame({"x": cells}, schema={"x": pl.Float64})
    found = bin_variable(variable(frame, "x"), bins)
    assert found.low.size <= max(bins, 1)
    assert np.all(found.high[:-1] < found.low[1:])
    assert found.codes.max() < found.size
    again = found.series(found.codes, Seeded(1))
    for cell, other, code in zip(cells, again, found.codes, strict=True):
        assert (cell is None) == (other is None)
        if other is not None:
            assert found.low[code] <= other <= found.high[code]


def test_every_whole_number_of_a_bin_is_drawn_and_none_beyond() -> None:
    found = bin_variable(variable(pl.DataFrame({"x": range(20)}), "x"), 2)
    made = found.series(np.repeat(found.codes, 100), Seeded(1))
    assert sorted(made.unique()) == list(range(20))


@pytest.mark.parametrize("integer", [True, False])
def test_a_column_in_bins_is_as_near_to_its_own_as_by_a_copula(integer: bool) -> None:
    rng = np.random.default_rng(4)
    numbers = rng.lognormal(3, 1, ROWS)
    other = rng.choice(["p", "q"], ROWS)
    frame = pl.DataFrame({"x": np.rint(numbers) if integer else numbers, "y": other})
    frame = frame.cast({"x": pl.Int64}) if integer else frame

    def distance(method: MaskingMethod) -> float:
        made = method.apply(frame, frame.columns, rng=Seeded(1)).frame
        return float(stats.ks_2samp(frame["x"].to_numpy(), made["x"].to_numpy()).statistic)

    # Draws of a copula are independent: a distance of about 1 / sqrt(rows). Those of a bin are
    # spread evenly: each of 20 bins and each of its cases is off by a row or two.
    assert distance(BayesianNetwork()) < min(distance(Copula()), 80 / ROWS)


def test_few_distinct_numbers_are_kept_as_they_are() -> None:
    frame = pl.DataFrame({"x": [1.5, 2.5, 1.5, 9.0] * 50})
    made = BayesianNetwork().apply(frame, ["x"], rng=Seeded(1)).frame
    assert sorted(made["x"].unique()) == [1.5, 2.5, 9.0]


def test_without_a_prior_only_combinations_of_the_table_come() -> None:
    a, b, c = chain_of_three()
    frame = pl.DataFrame({"a": a, "b": np.where(a == 0, 0, b + 1), "c": c})
    made = BayesianNetwork(prior=0).apply(frame, frame.columns, rng=Seeded(2)).frame
    assert made.filter((pl.col("a") == 0) & (pl.col("b") != 0)).is_empty()
    smoothed = BayesianNetwork(prior=500).apply(frame, frame.columns, rng=Seeded(2)).frame
    assert not smoothed.filter((pl.col("a") == 0) & (pl.col("b") != 0)).is_empty()


@pytest.mark.parametrize("wrong", [{"degree": 9}, {"bins": 1}, {"degree": -1}, {"bins": 2.5}])
def test_parameters_out_of_range_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(InputError) as refusal:
        BayesianNetwork(**wrong)
    assert refusal.value.code == "CEL-I060"
