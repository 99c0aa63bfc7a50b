"""The algebra of marginals against least squares written out with matrices."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.queries.workloads.marginals import Keys, Marginals, choose_marginals, subsets

SIZES = (2, 3, 4)
EVERY = list(subsets(frozenset(range(3))))


def matrix(keys: Keys, sizes: tuple[int, ...] = SIZES) -> np.ndarray:
    """The marginal as a matrix over all cells of the table."""
    parts = [np.eye(size) if key in keys else np.ones((1, size)) for key, size in enumerate(sizes)]
    made: np.ndarray = np.ones((1, 1))
    for part in parts:
        made = np.kron(made, part)
    return made


@st.composite
def measurements(draw: st.DrawFn) -> dict[Keys, float]:
    chosen = draw(st.lists(st.sampled_from(EVERY), min_size=1, max_size=4, unique=True))
    return {keys: draw(st.floats(0.1, 10)) for keys in chosen}


@given(measurements(), st.sampled_from(EVERY), st.integers(0, 99))
@settings(max_examples=60)
def test_estimates_and_variances_are_those_of_least_squares(
    variances: dict[Keys, float], wanted: Keys, seed: int
) -> None:
    made = Marginals(SIZES, variances)
    if not any(wanted <= keys for keys in variances):
        known = {component for keys in variances for component in subsets(keys)}
        assert (made.variance(wanted) == float("inf")) is not (set(subsets(wanted)) <= known)
    if made.variance(wanted) == float("inf"):
        return
    random = np.random.default_rng(seed)
    tables = {
        keys: random.normal(size=tuple(SIZES[key] for key in sorted(keys))) for keys in variances
    }
    rows = np.vstack([matrix(keys) / np.sqrt(variances[keys]) for keys in variances])
    noisy = np.concatenate([tables[keys].ravel() / np.sqrt(variances[keys]) for keys in variances])
    solution = matrix(wanted) @ np.linalg.pinv(rows)
    assert made.estimate(tables, wanted).ravel() == pytest.approx(solution @ noisy)
    assert np.allclose((solution**2).sum(axis=1), made.variance(wanted))


@given(measurements(), st.sampled_from(EVERY))
@settings(max_examples=40)
def test_coefficients_are_those_of_least_squares(
    variances: dict[Keys, float], wanted: Keys
) -> None:
    made = Marginals(SIZES, variances)
    if made.variance(wanted) == float("inf"):
        return
    deviations = np.concatenate(
        [np.full(made.cells(keys), np.sqrt(variance)) for keys, variance in variances.items()]
    )
    rows = np.vstack([matrix(keys) for keys in variances]) / deviations[:, None]
    first = np.abs((matrix(wanted) @ np.linalg.pinv(rows))[0])
    listed = [
        abs(part) * deviation
        for part, deviation, count in made.coefficients(wanted)
        for _ in range(count)
    ]
    assert np.allclose(np.sort(listed), np.sort(first), atol=1e-9)


def test_the_radius_holds_the_noise() -> None:
    keys = frozenset({0, 1})
    made = Marginals(SIZES, {keys: 2.0, frozenset({0}): 2.0})  # Laplace noise of scale 1
    random = np.random.default_rng(7)
    wanted = frozenset({0})
    errors = []
    for _ in range(4000):
        tables = {
            each: random.laplace(size=[SIZES[key] for key in sorted(each)])
            for each in made.variances
        }
        errors.append(made.estimate(tables, wanted)[0])
    # 4 standard errors of a share of 5 % in 4,000 draws are below 1.4 %.
    assert np.mean(np.abs(errors) > made.radius(wanted, 0.95)) <= 0.05 + 0.014
    assert np.std(errors) == pytest.approx(np.sqrt(made.variance(wanted)), rel=0.1)
    assert np.mean(np.abs(errors) > made.radius(wanted, 0.95)) >= 0.05 - 0.014


def losses(sizes: tuple[int, ...], wanted: dict[Keys, float], shares: dict[Keys, float]) -> float:
    made = Marginals(sizes, {keys: share**-2 for keys, share in shares.items()})
    return sum(weight * made.variance(keys) for keys, weight in wanted.items())


@pytest.mark.parametrize("count", [2, 3, 4])
def test_the_choice_is_never_worse_than_an_equal_split_or_the_whole_table(count: int) -> None:
    sizes = (3, 4, 5, 2)[:count]
    wanted = {frozenset(pair): 1.0 for pair in product(range(count), repeat=2)}
    shares = choose_marginals(sizes, wanted, least=0.01)
    assert sum(shares.values()) == pytest.approx(1)
    loss = losses(sizes, wanted, shares)
    assert loss <= losses(sizes, wanted, dict.fromkeys(wanted, 1 / len(wanted))) + 1e-9
    assert loss <= losses(sizes, wanted, {frozenset(range(count)): 1.0}) + 1e-9
    assert min(shares.values()) >= 0.01 or len(shares) <= 2


def test_one_question_gets_the_whole_budget() -> None:
    assert choose_marginals((3, 4), {frozenset({0}): 1.0}, least=0.01) == {frozenset({0}): 1.0}
