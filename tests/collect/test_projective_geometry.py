"""Projective geometry: points, hyperplanes, and the fast sums over all of them."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.collect.refusals import refused

from celosia.collect.oracles._projective import ProjectiveSpace, best_space, is_prime
from celosia.collect.oracles.projective_geometry import ProjectiveGeometry
from celosia.core.randomness import Seeded

SPACES = [(2, 2), (2, 6), (3, 4), (5, 3), (7, 3), (13, 2)]


@pytest.mark.parametrize(("order", "coordinates"), SPACES)
def test_every_point_has_one_number_and_as_many_orthogonal_points(
    order: int, coordinates: int
) -> None:
    space = ProjectiveSpace(order, coordinates)
    points = np.arange(space.points)
    vectors = space.vectors(points)
    assert len({tuple(each) for each in vectors.T.tolist()}) == space.points
    np.testing.assert_array_equal(space.numbers(vectors), points)
    np.testing.assert_array_equal(space.numbers(vectors * (order - 1) % order), points)
    orthogonal = vectors.T @ vectors % order == 0
    inside = orthogonal.sum(axis=0)
    assert set(inside.tolist()) == {(order ** (coordinates - 1) - 1) // (order - 1)}
    both = orthogonal.astype(int) @ orthogonal.astype(int)
    shared = (order ** (coordinates - 2) - 1) // (order - 1)
    assert set(both[~np.eye(space.points, dtype=bool)].tolist()) == {shared}
    assert space.outside == Fraction(space.points - int(inside[0]), int(inside[0]))


@given(st.sampled_from(SPACES), st.integers(0, 2**32), st.sampled_from([1, 10**3, 10**12]))
@settings(max_examples=40, deadline=None)
def test_fast_sums_over_hyperplanes_equal_all_pairs(
    shape: tuple[int, int], seed: int, most: int
) -> None:
    space = ProjectiveSpace(*shape)
    counts = np.random.Generator(np.random.PCG64(seed)).integers(0, most + 1, space.points)
    vectors = space.vectors(np.arange(space.points))
    orthogonal = vectors.T @ vectors % space.order == 0
    np.testing.assert_array_equal(space.orthogonal(counts), orthogonal @ counts)


def test_a_completed_vector_has_its_product_and_every_one_comes_once() -> None:
    space = ProjectiveSpace(5, 3)
    for point in range(space.points):
        vector = space.vectors(np.array([point]))[:, 0]
        for product, start in ((0, 1), (1, 0)):
            free = np.arange(start, 25)
            places = np.full(free.size, point)
            found = space.completed(places, free, np.full(free.size, product))
            times = np.bincount(found, minlength=space.points)
            inside = vector @ space.vectors(np.arange(space.points)) % 5 == 0
            expected = np.where(inside, 4, 0) if product == 0 else np.where(inside, 0, 1)
            np.testing.assert_array_equal(times, expected)


def test_the_best_space_of_the_published_setting_is_that_of_149() -> None:
    assert best_space(Fraction(5), 22_000) == ProjectiveSpace(149, 3)
    assert ProjectiveSpace(149, 3).points == 22_351
    for epsilon in (Fraction(1, 2), Fraction(2), Fraction(6)):
        for values in (2, 3, 50, 3000):
            space = best_space(epsilon, values)
            assert space.points >= values
            assert is_prime(space.order)


@pytest.mark.parametrize(
    "wrong",
    [
        {"order": 4, "coordinates": 3},
        {"order": 2, "coordinates": 2},
        {"order": 5, "coordinates": 1},
        {"order": 5},
    ],
)
def test_spaces_that_do_not_fit_are_refused(wrong: dict[str, Any]) -> None:
    with refused("CEL-R056"):
        ProjectiveGeometry(epsilon=1, domain=range(5), **wrong)
    with refused("CEL-I060"):
        ProjectiveGeometry(epsilon=1, domain=range(5), order=2, coordinates=33)


def test_a_server_of_many_values_needs_no_pairs() -> None:
    protocol = ProjectiveGeometry(epsilon=5, domain=range(22_000))
    values = np.arange(100_000) % 500
    server = protocol.server().absorb(protocol.client(rng=Seeded(1)).privatise(values))
    found = server.estimate(range(500))
    assert np.abs(found.counts - 200).max() < 5 * found.errors.max()
