"""Sequence Fragment Puzzle: words that nobody has listed."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import sqrt
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest, norm
from tests.collect.plain import WORDS, anglicisms

from celosia.accounting.losses import PureLoss
from celosia.collect.count_mean.count_mean import CountMean
from celosia.collect.estimates import Estimates
from celosia.collect.fragments.fragment_puzzle import FragmentPuzzle, FragmentPuzzleServer
from celosia.collect.fragments.solver import combine_pieces, common_pieces, select_significant
from celosia.collect.reports import Reports
from celosia.core.errors import InputError
from celosia.core.progress import Step
from celosia.core.randomness import Seeded
from celosia.sketches.hashing import digests

SIZES: dict[str, Any] = {"hashes": 256, "width": 64, "fragment_hashes": 256, "fragment_width": 64}
TINY = FragmentPuzzle(
    epsilon=8, hashes=4, width=8, fragment_hashes=2, fragment_width=8, alphabet="ab ", length=4
)


@cache
def served(seed: int = 1) -> FragmentPuzzleServer:
    protocol = FragmentPuzzle(epsilon=8, **SIZES)
    return protocol.server().absorb(protocol.client(rng=Seeded(seed)).privatise(anglicisms()))


def truth(found: Estimates) -> np.ndarray:
    return np.array([WORDS.get(str(each), 0) for each in found.candidates])


def test_epsilon_is_that_of_both_parts_together() -> None:
    protocol = FragmentPuzzle(epsilon=8)
    assert (protocol.word_epsilon, protocol.fragment_epsilon) == (Fraction(2), Fraction(6))
    assert protocol.loss == PureLoss(Fraction(8))
    assert protocol.words.coin.epsilon + protocol.fragments.coin.epsilon <= 4
    other = FragmentPuzzle(epsilon=1, fragment_epsilon=0.1)
    assert (other.word_epsilon, other.fragment_epsilon) == (Fraction(9, 10), Fraction(1, 10))
    explicit = FragmentPuzzle(epsilon=8, fragment_epsilon=6)
    assert protocol.fingerprint == explicit.fingerprint


def test_all_reports_of_two_texts_have_odds_of_at_most_e_to_the_epsilon() -> None:
    # Both parts are CountMean reports with coins of their own, and the position is uniform: the
    # worst odds are the product of the worst of each, which test_count_mean enumerates.
    words, fragments = TINY.words.coin, TINY.fragments.coin
    odds = Fraction(words.heads, 2**32 - words.heads) ** 2
    odds *= Fraction(fragments.heads, 2**32 - fragments.heads) ** 2
    assert 0.99 * np.exp(8) <= float(odds) <= np.exp(8)


def test_a_report_has_the_bits_of_both_parts_and_of_the_position() -> None:
    protocol = FragmentPuzzle(epsilon=8, **SIZES)
    assert protocol.report_bits == (64 + 8) + (64 + 8) + 3
    assert protocol.client().privatise("cool").packed.shape == (1, 19)
    assert FragmentPuzzle(epsilon=8, length=2).positions == 1
    assert len(FragmentPuzzle(epsilon=8, length=2).client().privatise(["a", "b"])) == 2


@pytest.mark.statistical
def test_positions_are_uniform_and_each_sketch_counts_its_own_reports() -> None:
    words, fragments = served().sketches()
    assert words.users == served().users == 50_000
    counts = [each.users for each in fragments]
    assert sum(counts) == 50_000
    assert all(binomtest(each, 50_000, 1 / 5).pvalue > 1e-4 for each in counts)


@pytest.mark.statistical
def test_pieces_are_those_at_odd_places_with_the_tag_of_their_word() -> None:
    protocol = served().protocol
    spelling = protocol.spelling
    pieces = spelling.pieces(["brunch"])
    tags = spelling.tags(spelling.digests(pieces))
    _, fragments = served().sketches()
    for place in range(5):
        right = tags[0] * spelling.base + pieces[0, place]
        wrong = (tags[0] + 1) % 256 * spelling.base + pieces[0, place]
        counts, errors = fragments[place].estimated_digests(digests(np.array([right, wrong])))
        # A fifth of 6,350 reports (other words may share the piece, but hardly the tag), by the
        # number of reports of this position: with that of all, 10,000 / 64 would be added wrongly.
        assert counts[0] == pytest.approx(6350 / 5, abs=5 * errors[0] + 5 * sqrt(6350 * 0.16))
        assert abs(counts[1]) < 5 * errors[1] + 5 * sqrt(6350 * 0.16)


@pytest.mark.statistical
@pytest.mark.parametrize("seed", [1, 2])
def test_the_ten_words_are_found(seed: int) -> None:
    found = served(seed).dictionary(top=10)
    words = set(found.candidates) & set(WORDS)
    assert len(words) >= 9
    assert sqrt(((found.counts - truth(found)) ** 2).mean()) < 350
    assert (np.diff(found.counts) <= 0).all()
    low, high = found.interval(0.999, together=True)
    assert ((low <= truth(found)) & (truth(found) <= high)).all()


@pytest.mark.statistical
def test_without_settings_the_words_are_found_and_nothing_else() -> None:
    steps: list[Step] = []
    found = served().dictionary(progress=steps.append)
    assert set(found.candidates) == set(WORDS)
    assert [each.done for each in steps] == [0, 1, 2, 3]


@pytest.mark.statistical
def test_chance_makes_as_many_texts_as_it_should_and_the_cut_drops_them() -> None:
    every = served().dictionary(top=400, significance=None, check_tags=False)
    expected = 256 * (400 / 256) ** 5
    assert expected / 3 < len(every.candidates) < 3 * expected
    words, _ = served().sketches()
    assert words.error_of_none() == pytest.approx(247, rel=0.03)
    false = every.counts[truth(every) == 0]
    assert (false > 3 * words.error_of_none()).mean() <= 0.003
    for control in ("bonferroni", "fdr"):
        kept = served().dictionary(top=400, control=control, check_tags=False)
        assert set(WORDS) <= set(kept.candidates)
        assert len(kept.candidates) <= 12
    # A text whose own tag is another one is no solution: one in 256 of the false ones is left.
    tagged = served().dictionary(top=400, significance=None)
    assert set(WORDS) <= set(tagged.candidates)
    assert len(tagged.candidates) - 10 < 3 * expected / 256


@pytest.mark.statistical
def test_few_users_make_few_texts() -> None:
    protocol = FragmentPuzzle(epsilon=8, **SIZES)
    few = np.random.default_rng(1).permutation(anglicisms())[:750]
    server = protocol.server().absorb(protocol.client(rng=Seeded(1)).privatise(few))
    assert len(server.dictionary(top=10).candidates) <= 5
    assert len(TINY.server().dictionary().candidates) == 0


def test_known_texts_can_be_asked_about() -> None:
    found = served().estimate(["cool", "nobody"])
    assert found["cool"] == pytest.approx(7946, abs=5 * found.errors[0])
    assert found["nobody"] == pytest.approx(0, abs=5 * found.errors[1])
    assert served().protocol.variance(100) == served().protocol.words.variance(100)


@pytest.mark.statistical
def test_other_alphabets_and_lengths_work_alike() -> None:
    protocol = FragmentPuzzle(
        epsilon=12, alphabet="αβγδε ", length=6, piece=3, tags=32, key="greek", **SIZES
    )
    words = ["αβγδ"] * 9000 + ["εε"] * 6000 + ["δδδαααα"] * 5000
    server = protocol.server().absorb(protocol.client(rng=Seeded(3)).privatise(words))
    found = server.dictionary()
    assert set(found.candidates) == {"αβγδ", "εε", "δδδααα"}


def test_merging_and_saving_are_exact() -> None:
    reports = TINY.client(rng=Seeded(2)).privatise(["ab", "ba", "abba"] * 100)
    parts = [
        TINY.server().absorb(Reports(reports.fingerprint, each))
        for each in (reports.packed[:77], reports.packed[77:])
    ]
    whole = TINY.server().absorb(reports)
    assert parts[1].merge(parts[0]).to_bytes() == whole.to_bytes()
    loaded = TINY.server().load(whole.to_bytes())
    assert loaded.to_bytes() == whole.to_bytes()
    assert (loaded.estimate(["ab"]).counts == whole.estimate(["ab"]).counts).all()


def test_a_malformed_report_is_refused_as_a_whole() -> None:
    protocol = FragmentPuzzle(epsilon=8, **{**SIZES, "fragment_hashes": 200})
    reports = protocol.client(rng=Seeded(2)).privatise(["ab"] * 5)
    server = protocol.server()
    # A sixth position, a row of pieces beyond 200, a bit beyond the fields.
    for byte, bits in ((18, 0b111), (17, 0xFF), (18, 0b1000)):
        damaged = reports.packed.copy()
        damaged[4, byte] |= bits
        with pytest.raises(InputError) as caught:
            server.absorb(Reports(protocol.fingerprint, damaged))
        assert caught.value.code == "CEL-R001"
    assert server.to_bytes() == protocol.server().to_bytes()


def test_pieces_are_combined_tag_by_tag() -> None:
    kept = [np.array([1, 2, 10, 25]), np.array([13, 3, 14, 39])]  # base 10: tags 0, 0, 1, 2 ...
    pieces, tags = combine_pieces(kept, 10)
    assert pieces.tolist() == [[1, 3], [2, 3], [0, 3], [0, 4]]
    assert tags.tolist() == [0, 0, 1, 1]
    none, tags = combine_pieces([np.array([1]), np.array([11])], 10)
    assert none.shape == (0, 2)
    assert tags.size == 0


def test_too_many_combinations_are_refused() -> None:
    with pytest.raises(InputError) as caught:
        combine_pieces([np.arange(100)] * 4, 100)
    assert caught.value.code == "CEL-R014"


def test_the_top_pieces_are_the_most_common_ones() -> None:
    server = TINY.server().absorb(TINY.client(rng=Seeded(1)).privatise(["ab", "abba"] * 500))
    kept = common_pieces(server, top=3)
    _, fragments = server.sketches()
    counts, _ = fragments[1].estimated_digests(digests(np.arange(256 * 9)))
    assert sorted(counts[kept[1]]) == sorted(counts)[-3:]
    assert [len(each) for each in common_pieces(server, top=10**9)] == [256 * 9] * 2


def test_significance_is_bonferroni_or_benjamini_hochberg() -> None:
    chances = np.array([0.001, 0.008, 0.039, 0.041, 0.042, 0.06, 0.074, 0.205, 0.212, 0.216])
    scores = norm.isf(chances)
    # The example of Benjamini and Hochberg's rule: two stay under 0.05 (0.008 <= 2 * 0.005).
    assert select_significant(scores, 0.05, control="bonferroni").tolist() == [True] + [False] * 9
    assert select_significant(scores, 0.05, control="fdr").tolist() == [True] * 2 + [False] * 8
    assert select_significant(scores, 0.0001, control="fdr").sum() == 0
    # A later one below its line takes all before it along.
    line = norm.isf(np.array([0.02, 0.03, 0.045, 0.049]))
    assert select_significant(line, 0.05, control="fdr").all()


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"top": 0}, "CEL-I060"),
        ({"top": 1.5}, "CEL-I060"),
        ({"significance": 0}, "CEL-I060"),
        ({"significance": 1}, "CEL-I060"),
        ({"control": "none"}, "CEL-I060"),
    ],
)
def test_settings_out_of_range_are_refused(asked: dict[str, Any], code: str) -> None:
    with pytest.raises(InputError) as caught:
        TINY.server().dictionary(**asked)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"length": 9}, "CEL-R012"),
        ({"length": 0}, "CEL-I060"),
        ({"piece": 0}, "CEL-I060"),
        ({"tags": 0}, "CEL-I060"),
        ({"alphabet": "a"}, "CEL-I060"),
        ({"alphabet": "aba"}, "CEL-I060"),
        ({"alphabet": 7}, "CEL-I060"),
        ({"piece": 5}, "CEL-R012"),
        ({"fragment_epsilon": 8}, "CEL-R012"),
        ({"fragment_epsilon": 9}, "CEL-R012"),
        ({"fragment_epsilon": 0}, "CEL-I060"),
        ({"fragment_width": 1}, "CEL-I060"),
        ({"hashes": 0}, "CEL-I060"),
    ],
)
def test_parameters_out_of_range_are_refused(wrong: dict[str, Any], code: str) -> None:
    with pytest.raises(InputError) as caught:
        FragmentPuzzle(epsilon=8, **wrong)
    assert caught.value.code == code


def test_parts_have_hash_functions_of_their_own() -> None:
    protocol = FragmentPuzzle(epsilon=8, key="k" * 48)
    assert isinstance(protocol.words, CountMean)
    assert len({protocol.words.key, protocol.fragments.key, protocol.key}) == 3
