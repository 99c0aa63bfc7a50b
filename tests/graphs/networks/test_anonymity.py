"""k-degree anonymity of networks with directions, weights, sides and snapshots."""

from __future__ import annotations

from collections import Counter
from math import floor, log
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.core.errors import InputError, PrivacyError
from celosia.core.randomness import Seeded
from celosia.graphs import KDegree, Network, RandomSwitch, Relabelling, as_graph, publish
from celosia.graphs.method import METHODS, takes
from celosia.graphs.networks import compare_networks, profile_attack
from celosia.graphs.networks.profiles import class_sizes, profiles
from celosia.graphs.networks.rewiring import rewire_arcs
from celosia.graphs.release import GraphRelease
from celosia.graphs.verification import profile_anonymity


def plain_profiles(network: Network, ratio: float) -> list[object]:
    """What each vertex shows, by its definition: the twin of the kernels and of the verifier."""
    shown: list[object] = []
    for vertex in range(network.order):
        found: list[object] = [None if network.sides is None else bool(network.sides[vertex])]
        for when in range(network.periods):
            for end in (0, 1) if network.has_ends else ((0, 1),):
                places = [
                    place
                    for place, pair in enumerate(network.edges.tolist())
                    if (network.snapshots is None or network.snapshots[place] == when)
                    and vertex in (pair if isinstance(end, tuple) else [pair[end]])
                ]
                found.append(len(places))
                if network.weights is not None:
                    total = sum(network.weights[places].tolist())
                    found.append(floor(log(total, ratio) + 1e-9) if total else None)
        shown.append(tuple(found))
    return shown


def random_network(seed: int, kinds: tuple[bool, bool, bool, bool]) -> Network:
    """A small network with any of directions, weights, two sides and times."""
    directed, weighted, sided, timed = kinds
    drawn = np.random.default_rng(seed)
    order, count = int(drawn.integers(8, 25)), int(drawn.integers(6, 90))
    sides = np.arange(order) >= order // 2 if sided else None
    ends = drawn.integers(0, order, (count, 2))
    if sided:
        ends = np.stack([ends[:, 0] % (order // 2), order // 2 + ends[:, 1] % (order // 2)], axis=1)
    keep = ends[:, 0] != ends[:, 1]
    return Network.of(
        ends[keep],
        order=order,
        directed=directed and not sided,
        weights=drawn.lognormal(1, 1, count)[keep] if weighted else None,
        snapshots=drawn.integers(0, 3, count)[keep] if timed else None,
        periods=3 if timed else 1,
        sides=sides,
    )


flags = st.tuples(st.booleans(), st.booleans(), st.booleans(), st.booleans())


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), flags, st.integers(2, 4))
def test_every_profile_is_shared_by_k_vertices(
    seed: int, kinds: tuple[bool, bool, bool, bool], k: int
) -> None:
    network = random_network(seed, kinds)
    try:
        made = KDegree(k=k).apply_to_network(network, rng=Seeded(seed)).graph
    except PrivacyError:
        return  # a refusal breaks no promise
    assert min(Counter(plain_profiles(made, 2.0)).values()) >= k
    assert made.kinds == network.kinds
    assert made.order == network.order
    assert not (made.edges[:, 0] == made.edges[:, 1]).any()
    if made.weights is not None:
        assert (made.weights > 0).all()
    if made.sides is not None:
        assert not made.sides[made.edges[:, 0]].any()
        assert made.sides[made.edges[:, 1]].all()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), flags)
def test_profiles_and_their_verifier_agree_with_the_definition(
    seed: int, kinds: tuple[bool, bool, bool, bool]
) -> None:
    network = random_network(seed, kinds)
    counts = Counter(plain_profiles(network, 2.0))
    sizes = [counts[each] for each in plain_profiles(network, 2.0)]
    assert class_sizes(profiles(network, 2.0)).tolist() == sizes
    assert profile_anonymity(network) == min(sizes)


def test_most_random_networks_are_not_refused() -> None:
    refused = 0
    for seed in range(40):
        kinds = (seed % 2 == 0, seed % 3 == 0, seed % 5 == 0, seed % 7 == 0)
        try:
            KDegree(k=2).apply_to_network(random_network(seed, kinds), rng=Seeded(seed))
        except PrivacyError:
            refused += 1
    assert refused <= 1


def test_les_miserables_keep_their_weights_nearly() -> None:
    reading = as_graph(nx.les_miserables_graph(), weight="weight")
    release = publish(reading, KDegree(k=3), rng=Seeded(1))
    changes = release.account.network
    assert changes is not None
    assert changes.kept / changes.edges_before > 0.9
    assert changes.weight_before == 820
    assert abs((changes.weight_after or 0) / 820 - 1) < 0.1
    assert "up to a power of 2" in release.guarantee.promise
    assert release.account.attacks[0].exposed.size == 0
    assert release.account.before[0].exposed.size > 10


def test_a_published_network_comes_back_from_its_file(tmp_path: Path) -> None:
    reading = as_graph(nx.davis_southern_women_graph(), bipartite=True)
    release = publish(reading, KDegree(k=2), rng=Seeded(2))
    release.save(tmp_path / "a.csv")
    back = GraphRelease.load(tmp_path / "a.csv").data
    assert isinstance(back, Network)
    assert isinstance(release.data, Network)
    assert back.sides is not None
    assert int((~back.sides).sum()) == 18  # the women; the others are events
    assert np.array_equal(back.keys, release.data.keys)
    with pytest.raises(InputError, match="written as"):
        release.save(tmp_path / "a.gml")


def test_a_network_under_numbers_is_the_same_network() -> None:
    network = random_network(5, (True, True, False, True))
    numbers = Seeded(3).permutation(network.order)
    same = compare_networks(network, network.renumbered(numbers).renumbered(np.argsort(numbers)))
    assert same.kept == network.size
    assert same.moved_weight == pytest.approx(0)
    found = profile_attack(network, network.renumbered(numbers), numbers=numbers)
    assert found.hit.all()


def test_a_method_that_does_not_protect_a_network_says_so_and_how_to_go_on() -> None:
    network = random_network(1, (True, True, False, True))
    for method in (RandomSwitch(amount=0.1), Relabelling()):
        with pytest.raises(InputError) as refused:
            publish(network, method, rng=Seeded(1))
        assert refused.value.code == "CEL-G035"
        assert "--weight" in str(refused.value)
    with pytest.raises(InputError):
        _ = as_graph(network).graph
    declared = {name for name in METHODS if takes(METHODS[name]) != ["simple"]}
    assert declared == {"k-degree", "relabelling"}


def test_arcs_reach_wanted_degrees_and_keep_sides() -> None:
    drawn = np.random.default_rng(1)
    arcs = np.unique(drawn.integers(0, 20, 60) * 40 + drawn.integers(20, 40, 60))
    out, inward = (np.bincount(each, minlength=40) for each in np.divmod(arcs, 40))
    wanted_out, wanted_in = np.roll(out[:20], 3), np.roll(inward[20:], 5)
    targets = (
        np.concatenate([wanted_out, np.zeros(20, int)]),
        np.concatenate([np.zeros(20, int), wanted_in]),
    )
    made = np.divmod(rewire_arcs(arcs, 40, *targets, Seeded(1)), 40)
    assert np.array_equal(np.bincount(made[0], minlength=40), targets[0])
    assert np.array_equal(np.bincount(made[1], minlength=40), targets[1])


def test_too_small_a_side_is_refused() -> None:
    network = random_network(3, (False, False, True, False))
    with pytest.raises(InputError) as refused:
        KDegree(k=network.order // 2 + 2).apply_to_network(network, rng=Seeded(1))
    assert refused.value.code == "CEL-G100"
