"""Heavy hitters by trees of prefixes."""

import string
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.collect.refusals import refused
from tests.collect.report_distribution import distribution

from celosia.collect.count_mean.hadamard_count_mean import HadamardCountMean
from celosia.collect.discovery.heavy_hitters import PrefixLevels, PrefixTree, TreeServer
from celosia.collect.oracles.kary_response import KaryResponse
from celosia.collect.oracles.local_hashing import LocalHashing
from celosia.collect.reports import Reports
from celosia.collect.state import write_state
from celosia.core.progress import Step
from celosia.core.randomness import Seeded

WORDS = {"cool": 0.24, "brunch": 0.2, "outfit": 0.16, "link": 0.12, "hobby": 0.08}


def words(users: int, seed: int) -> tuple[list[str], dict[str, int]]:
    """Five words and a fifth of random letters, as typing errors are."""
    generator = np.random.Generator(np.random.PCG64(seed))
    chosen = generator.choice([*WORDS, ""], users, p=[*WORDS.values(), 0.2]).tolist()
    letters = generator.choice(list(string.ascii_lowercase), (users, 6))
    found = [word or "".join(noise) for word, noise in zip(chosen, letters.tolist(), strict=True)]
    return found, {word: found.count(word) for word in WORDS}


def collected(protocol: PrefixTree, values: Any, seed: int = 1) -> TreeServer:
    server = protocol.server().absorb(protocol.client(rng=Seeded(seed)).privatise(values))
    assert isinstance(server, TreeServer)
    return server


ORACLES: list[dict[str, Any]] = [
    {},
    {"variant": "treehist"},
    {"oracle": LocalHashing(epsilon=3, pool=512)},
    {"oracle": HadamardCountMean(epsilon=3, hashes=256, width=1024)},
]


@pytest.mark.statistical
@pytest.mark.parametrize("options", ORACLES)
def test_common_words_are_found_without_a_dictionary(options: dict[str, Any]) -> None:
    values, truth = words(60_000, 1)
    protocol = PrefixTree(epsilon=3, alphabet=string.ascii_lowercase, length=8, **options)
    found = collected(protocol, values).heavy_hitters(significance=0.01)
    # The worst is the Hadamard sketch: 1,200 devices of the rarest word at each of four levels, a
    # standard error of 135 and a cut at 5.2 of them, so it is missed with a chance below 0.001. A
    # false word comes with a chance of 0.01 a level.
    assert set(found.candidates) == set(truth)
    assert found.counts.tolist() == sorted(found.counts.tolist(), reverse=True)
    for word, error in zip(found.candidates, found.errors.tolist(), strict=True):
        assert abs(found[word] - truth[str(word)]) < 4 * error


@pytest.mark.statistical
def test_common_numbers_are_found_among_all_of_32_bits() -> None:
    values = np.repeat([7, 2**31 + 5, 2**32 - 1], [20_000, 10_000, 5_000])
    noise = np.random.Generator(np.random.PCG64(3)).integers(0, 2**32, 25_000)
    server = collected(PrefixTree(epsilon=3, bits=32), np.concatenate([values, noise]))
    steps: list[Step] = []
    found = server.heavy_hitters(progress=steps.append)
    assert found.candidates == (7, 2**31 + 5, 2**32 - 1)
    assert len(steps) == 4


@pytest.mark.statistical
def test_nothing_is_found_where_nothing_is_common() -> None:
    noise = np.random.Generator(np.random.PCG64(3)).integers(0, 2**40, 30_000)
    found = collected(PrefixTree(epsilon=1, bits=40), noise).heavy_hitters(significance=0.001)
    assert found.candidates == ()
    assert found.counts.size == 0


@pytest.mark.statistical
def test_errors_of_whole_values_are_those_told() -> None:
    values = np.repeat([1, 2, 3], [3000, 1000, 0])
    errors, told = [], []
    for seed in range(250):
        protocol = PrefixTree(epsilon=2, bits=4, first=2, step=2, key=f"tree {seed}")
        found = collected(protocol, values, seed).estimate([1, 2, 3])
        errors.append(found.counts - [3000, 1000, 0])
        told.append(found.errors**2)
    variances = [protocol.variance(4000, count=count) for count in (3000, 1000, 0)]
    # 250 squared errors for each value: sqrt(2 / 250), four times.
    np.testing.assert_allclose(np.square(errors).mean(axis=0), variances, rtol=0.36)
    np.testing.assert_allclose(np.mean(told, axis=0), variances, rtol=0.05)
    assert np.square(errors).mean() == pytest.approx(np.mean(variances), rel=0.21)
    assert (np.abs(np.mean(errors, axis=0)) < 4 * np.sqrt(np.array(variances) / 250)).all()


def test_no_report_of_a_tree_is_more_than_e_to_epsilon_likelier_by_one_value() -> None:
    protocol = PrefixTree(
        epsilon=1, bits=3, first=1, step=1, oracle=LocalHashing(epsilon=1, buckets=3, pool=2)
    )
    coin = LocalHashing(epsilon=1, buckets=3).coin
    found = [distribution(protocol, value, [coin]) for value in range(8)]
    assert all(sum(each.values()) == 1 for each in found)
    worst = max(
        one[report] / other[report] for report in found[0] for one in found for other in found
    )
    assert Fraction(27182, 10**4) <= worst <= Fraction(2718281828459, 10**12)


def test_merged_trees_are_one_tree_of_all_reports_and_states_come_back() -> None:
    values, _ = words(3000, 2)
    for options in ORACLES:
        protocol = PrefixTree(epsilon=3, alphabet=string.ascii_lowercase, length=6, **options)
        reports = protocol.client(rng=Seeded(5)).privatise(values)
        assert reports.packed.shape[1] == -(-protocol.report_bits // 8)
        whole = protocol.server().absorb(reports.to_bytes())
        halves = [Reports(reports.fingerprint, reports.packed[start::2]) for start in (0, 1)]
        merged = protocol.server().absorb(halves[1]).merge(protocol.server().absorb(halves[0]))
        assert merged.to_bytes() == whole.to_bytes()
        assert protocol.server().load(whole.to_bytes()).to_bytes() == whole.to_bytes()
        assert sum(each.users for each in merged.levels) == merged.users == 3000


def test_a_batch_with_a_wrong_report_changes_nothing() -> None:
    protocol = PrefixTree(
        epsilon=1, bits=3, first=1, step=1, oracle=LocalHashing(epsilon=1, buckets=3, pool=2)
    )
    reports = protocol.client(rng=Seeded(5)).privatise([1, 2, 3] * 9)
    server = protocol.server()
    before = server.to_bytes()
    for byte, wrong in ((0, 3), (1, 0b110), (1, 0b1000)):  # a level, a bucket, a bit beyond
        packed = reports.packed.copy()
        packed[-1, byte] = wrong
        with refused("CEL-R001"):
            server.absorb(Reports(reports.fingerprint, packed))
        assert server.to_bytes() == before


def test_a_state_of_another_form_is_refused() -> None:
    server = PrefixTree(epsilon=1, bits=16).server()
    state = server._state()
    assert server._fits(state)
    assert not server._fits({name: each for name, each in state.items() if name != "users"})
    assert not server._fits(state | {"9/reports": np.zeros(0, dtype=np.int64)})
    assert not server._fits(state | {"users": -np.ones(2, dtype=np.int64)})
    assert not server._fits({"users": state["users"]})
    before = server.to_bytes()
    for users, sizes in ((3, [1, 1]), (2, [1, 1])):  # in all, and within a level
        wrong = state | {"users": np.array(sizes), "0/reports": np.arange(1)}
        with refused("CEL-R006"):
            server.load(write_state(server.protocol.fingerprint, users, wrong))
        assert server.to_bytes() == before


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"bits": 8, "alphabet": "ab", "length": 2},
        {"alphabet": "ab"},
        {"alphabet": "aa", "length": 3},
        {"bits": 40, "first": 30},
        {"bits": 40, "step": 20},
        {"bits": 8, "oracle": "grr"},
        {"bits": 8, "oracle": LocalHashing(epsilon=2)},
        {"bits": 8, "oracle": KaryResponse(epsilon=1, domain=(1, 2))},
    ],
)
def test_parameters_that_make_no_tree_are_refused(wrong: dict[str, Any]) -> None:
    with refused("CEL-R057"):
        PrefixTree(epsilon=1, **wrong)


@pytest.mark.parametrize(
    "wrong", [{"bits": 63}, {"variant": "guess"}, {"keep": 0}, {"bits": 8.5}, {"oracle": 7}]
)
def test_parameters_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with refused("CEL-I060"):
        PrefixTree(epsilon=1, **{"bits": 8} | wrong)


@pytest.mark.parametrize(
    ("protocol", "value"),
    [
        (PrefixTree(epsilon=1, bits=8), 256),
        (PrefixTree(epsilon=1, bits=8), -1),
        (PrefixTree(epsilon=1, bits=8), "a"),
        (PrefixTree(epsilon=1, alphabet="abc", length=3), "abcd"),
        (PrefixTree(epsilon=1, alphabet="abc", length=3), "d"),
        (PrefixTree(epsilon=1, alphabet="abc", length=3), 1),
    ],
)
def test_foreign_values_are_refused(protocol: PrefixTree, value: Any) -> None:
    with refused("CEL-R058"):
        protocol.client(rng=Seeded(1)).privatise([value])
    with refused("CEL-R058"):
        protocol.server().estimate([value])


@pytest.mark.parametrize("significance", [0, 1, -1, "x"])
def test_a_significance_is_between_0_and_1(significance: Any) -> None:
    with refused("CEL-I060"):
        PrefixTree(epsilon=1, bits=8).server().heavy_hitters(significance=significance)


@given(st.text("abc", max_size=6), st.integers(1, 6), st.integers(1, 3))
@settings(max_examples=80, deadline=None)
def test_every_text_is_reached_from_its_prefixes(text: str, first: int, step: int) -> None:
    tree = PrefixLevels(0, 6, first, step, "abc", False)
    value = tree.check_values([text])
    path = [tree.cut(value, level)[0] for level in range(tree.levels)]
    assert path[0] in tree.start()
    for level in range(tree.levels - 1):
        assert path[level + 1] in tree.longer((path[level],), level)
        assert len(tree.longer((path[level],), level)) <= tree.branches
    assert path[-1] == text


@given(st.integers(0, 2**10 - 1), st.integers(1, 10), st.integers(1, 4))
@settings(max_examples=80, deadline=None)
def test_every_number_is_reached_from_its_prefixes(number: int, first: int, step: int) -> None:
    tree = PrefixLevels(10, 0, first, step, "", False)
    path = [int(tree.cut(tree.check_values([number]), level)[0]) for level in range(tree.levels)]
    assert path[0] in tree.start()
    for level in range(tree.levels - 1):
        assert path[level + 1] in tree.longer((path[level],), level)
    assert path[-1] == number
