"""Planted accounts (check 29)."""

import json

import numpy as np
import pytest

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.core.report import Document
from celosia.graphs.attacks import accounts_needed, active, plant, recover
from celosia.graphs.generators import random_graph
from celosia.graphs.graph import Graph
from celosia.graphs.perturbation.deletion import RandomPerturbation
from celosia.graphs.relabelling import relabel

NETWORK = random_graph(1000, 5000, Seeded(3))


@pytest.mark.statistical
def test_twelve_accounts_are_found_again_in_a_naive_release() -> None:
    # 1.00 of 40 runs were measured by others; below 36 of 40 would need a rate below 0.97.
    found = active(NETWORK, accounts=12, rng=Seeded(1), runs=40)
    assert found.rate >= 0.9
    assert found.share_exposed >= 0.9
    assert found.release == "naive"


@pytest.mark.statistical
def test_a_perturbed_release_loses_the_accounts() -> None:
    method = RandomPerturbation(amount=0.2)
    found = active(NETWORK, accounts=12, rng=Seeded(1), runs=20, method=method)
    assert found.rate <= 0.2
    assert found.exposed <= 0.2 * 20 * 10


@pytest.mark.statistical
def test_fewer_accounts_are_found_less_often() -> None:
    few = active(NETWORK, accounts=6, rng=Seeded(1), runs=40)
    assert few.rate < 0.9


def test_planting_adds_a_path_and_links_every_target_to_its_own_three() -> None:
    targets = np.array([1, 5, 700])
    made = plant(NETWORK, accounts=8, targets=targets, rng=Seeded(2))
    assert made.graph.order == 1008
    assert made.graph.degrees[1000:].tolist() == made.degrees.tolist()
    path = np.stack([np.arange(1000, 1007), np.arange(1001, 1008)], axis=1)
    assert made.graph.has_edges(path).all()
    assert made.graph.has_edges(NETWORK.edges).all()
    columns = {tuple(column) for column in made.links.T.tolist()}
    assert len(columns) == 3
    assert (made.links.sum(axis=0) == 3).all()
    assert made.graph.size == NETWORK.size + 9 + int(np.triu(made.inside).sum())


def test_the_accounts_lead_to_their_targets() -> None:
    targets = np.array([1, 5, 700])
    made = plant(NETWORK, accounts=12, targets=targets, rng=Seeded(2))
    release = relabel(made.graph, Seeded(7))
    found = recover(release.graph, made)
    assert found.paths.tolist() == [release.numbers[1000:].tolist()]
    assert [each.tolist() for each in found.candidates] == [
        [int(number)] for number in release.numbers[targets]
    ]


def test_a_symmetric_plant_is_ambiguous() -> None:
    # Two copies of the network with its accounts: no way to tell which is which.
    made = plant(random_graph(50, 100, Seeded(1)), accounts=6, targets=np.array([3]), rng=Seeded(2))
    edges = made.graph.edges.astype(np.int64)
    twice = Graph.of(np.concatenate([edges, edges + made.graph.order]))
    found = recover(twice, made)
    assert len(found.paths) == 2
    assert found.candidates == ()


def test_the_outcome_is_told_in_plain_values_and_in_a_report() -> None:
    found = active(random_graph(100, 300, Seeded(1)), rng=Seeded(1), runs=2)
    assert found.accounts == accounts_needed(100)
    assert json.loads(json.dumps(found.as_dict()))["runs"] == 2
    assert "planted accounts" in Document("t", "s", found.blocks()).html()
    assert "of 2 runs" in str(found)


@pytest.mark.parametrize(
    ("code", "options"),
    [
        ("CEL-I060", {"accounts": 3}),
        ("CEL-G407", {"accounts": 4, "targets": 5}),
        ("CEL-I060", {"accounts": 8, "runs": 0}),
        ("CEL-I060", {"accounts": 8, "targets": 0}),
        ("CEL-G408", {"accounts": 8, "targets": 1001}),
    ],
    ids=["few", "crowded", "no runs", "no targets", "many"],
)
def test_an_impossible_plant_is_refused(code: str, options: dict[str, int]) -> None:
    with pytest.raises(InputError) as caught:
        active(NETWORK, rng=Seeded(1), **options)  # type: ignore[arg-type]
    assert caught.value.code == code
