"""Values that are found, and what reports tell that is no list of values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from celosia.collect.collector.collector import Collector
from celosia.collect.discovery.cardinality import PrivateCardinality
from celosia.collect.discovery.heavy_hitters import PrefixTree
from celosia.collect.estimates import Estimates
from celosia.collect.fragments.fragment_puzzle import FragmentPuzzle
from celosia.collect.numbers.one_bit_mean import OneBitMean
from celosia.collect.oracles.kary_response import KaryResponse
from celosia.collect.protocol import Protocol, Server
from celosia.collect.rappor.rappor import Rappor
from celosia.collect.rappor.words import RapporWords
from celosia.core.errors import InputError
from celosia.core.randomness import Seeded

WORDS = ["cab"] * 6000 + ["bee"] * 4000
TREE = PrefixTree(epsilon=4, alphabet="abcde", length=3)
PUZZLE = FragmentPuzzle(epsilon=8, alphabet="abcde ", length=4, hashes=64, fragment_hashes=64)
UNKNOWN = RapporWords(
    words=Rappor(f=0, p=0.1, q=0.9, bits=32, cohorts=4),
    grams=Rappor(f=0, p=0.1, q=0.9, bits=64, cohorts=2, key="grams"),
    alphabet="abcde",
    length=3,
    gram=1,
)
KNOWN = KaryResponse(epsilon=2, domain=("cab", "bee", "ace", "add"))


def served(protocol: Protocol, values: Any = WORDS) -> Any:
    return protocol.server().absorb(protocol.client(rng=Seeded(3)).privatise(values))


def _places(found: Estimates) -> list[int]:
    return [int(str(each)) for each in found.candidates]


def same(one: Estimates, other: Estimates) -> bool:
    return one.as_dict() == other.as_dict()


@pytest.mark.parametrize("protocol", [TREE, PUZZLE, UNKNOWN], ids=lambda each: each.method_name)
def test_common_words_are_found_by_the_uniform_hook(protocol: Protocol) -> None:
    server = served(protocol)
    assert server.finds
    found = server.find()
    # False words come with a chance of 0.05; both words are more than 10 standard errors above 0.
    assert found.candidates == ("cab", "bee")
    assert found.protocol == protocol.method_name
    assert np.all(np.abs(found.counts - [6000, 4000]) < 5 * found.errors)
    assert found.users == 10_000


def test_the_hook_is_what_each_server_finds() -> None:
    tree, puzzle, words = served(TREE), served(PUZZLE), served(UNKNOWN)
    assert same(tree.find(significance=0.2), tree.heavy_hitters(significance=0.2))
    assert same(puzzle.find(significance=0.2), puzzle.dictionary(significance=0.2))
    assert words.find(significance=0.2).candidates == words.decode(confidence=0.8).candidates


@pytest.mark.parametrize(
    "protocol", [TREE, PUZZLE, UNKNOWN, KNOWN], ids=lambda each: each.method_name
)
def test_candidates_that_nobody_has_are_left_out(protocol: Protocol) -> None:
    found = served(protocol).find(["add", "bee", "cab"], significance=0.001)
    assert found.candidates == ("cab", "bee")
    assert found.protocol == protocol.method_name


def test_rappor_finds_in_more_candidates_than_its_bits_tell_apart() -> None:
    server = served(Rappor(f=0, p=0.1, q=0.9, bits=32, cohorts=4))
    listed = ["cab", "bee", *(f"nobody {each}" for each in range(300))]
    with pytest.raises(InputError) as refusal:
        server.estimate(listed)
    assert refusal.value.code == "CEL-R033"
    found = server.find(listed, significance=0.01)
    decoded = server.decode(listed, confidence=0.99)
    assert found.candidates == decoded.candidates == ("cab", "bee")
    assert [found[each] for each in found.candidates] == [
        decoded.estimates[each] for each in found.candidates
    ]


@pytest.mark.parametrize(
    "protocol",
    [KNOWN, Rappor(), OneBitMean(epsilon=1), PrivateCardinality(epsilon=1)],
    ids=lambda each: each.method_name,
)
def test_other_protocols_say_that_they_need_candidates(protocol: Protocol) -> None:
    server = protocol.server()
    assert not server.finds
    with pytest.raises(InputError) as refusal:
        server.find()
    assert refusal.value.code == "CEL-R104"


@pytest.mark.parametrize("significance", [0, 1, -1, "much", None, float("nan")])
@pytest.mark.parametrize(
    "protocol", [TREE, PUZZLE, UNKNOWN, KNOWN], ids=lambda each: each.method_name
)
def test_a_significance_is_between_0_and_1(protocol: Protocol, significance: Any) -> None:
    with pytest.raises(InputError) as refusal:
        protocol.server().find(["cab"], significance=significance)
    assert refusal.value.code == "CEL-I060"


def test_one_text_is_no_list_of_candidates() -> None:
    with pytest.raises(InputError) as refusal:
        KNOWN.server().find("cab")
    assert refusal.value.code == "CEL-R009"


@given(
    st.lists(st.tuples(st.floats(-50, 50), st.floats(0, 10) | st.just(np.inf)), max_size=8),
    st.sampled_from([1e-9, 0.01, 0.3, 0.9]),
)
def test_what_is_significant_is_above_its_quantile(
    given_: list[tuple[float, float]], level: float
) -> None:
    counts, errors = (np.array([each[at] for each in given_]) for at in (0, 1))
    made = Estimates("p", tuple(range(len(given_))), counts, errors, 100, "raw", counts)
    score = norm.isf(level / max(1, len(given_)))
    plain = {
        place
        for place, (count, error) in enumerate(given_)
        if np.isfinite(error) and count > score * error + 1e-6
    }
    doubtful = {
        place
        for place, (count, error) in enumerate(given_)
        if np.isfinite(error) and abs(count - score * error) <= 1e-6
    }
    found = made.significant(level)
    assert plain <= set(found.candidates) <= plain | doubtful
    assert found.counts.tolist() == sorted(found.counts.tolist(), reverse=True)
    assert [counts.tolist()[place] for place in _places(found)] == found.raw.tolist()


def test_a_mean_and_a_cardinality_are_summaries_and_lists_are_none() -> None:
    mean = served(OneBitMean(epsilon=2, upper=10), np.full(4000, 4.0))
    assert mean.summary() == mean.mean()
    many = served(PrivateCardinality(epsilon=4, buckets=32))
    assert many.summary() == many.cardinality()
    told = many.summary().as_dict(0.9)
    reach = told["bias"] + norm.isf(0.05) * told["error"]
    assert (told["low"], told["high"]) == pytest.approx(
        (told["count"] - reach, told["count"] + reach)
    )
    others: list[Server] = [KNOWN.server(), TREE.server(), Rappor().server()]
    assert [each.summary() for each in others] == [None] * 3


def test_a_collector_finds_and_sums_up_as_its_server(tmp_path: Path) -> None:
    mean = OneBitMean(epsilon=2, upper=10)
    for protocol, values in ((TREE, WORDS), (mean, np.full(100, 4.0))):
        reports = protocol.client(rng=Seeded(3)).privatise(values)
        server = protocol.server().absorb(reports)
        with Collector.open(tmp_path / protocol.method_name, protocol) as collector:
            collector.absorb(reports.to_bytes(), id="one")
            assert collector.summary() == server.summary()
            if protocol is TREE:
                assert same(collector.find(), server.find())
                assert same(collector.find(["cab", "add"]), server.find(["cab", "add"]))
            assert collector.state() == server.to_bytes()
