"""RAPPOR for words that nobody has listed."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.collect.refusals import refused

from celosia.collect.memory import Memory
from celosia.collect.rappor.rappor import Rappor
from celosia.collect.rappor.words import PAD, RapporWords, candidate_words, pair_candidates
from celosia.collect.reports import Reports
from celosia.core.errors import InputError
from celosia.core.randomness import Seeded

SMALL = RapporWords.for_epsilon(
    lasting=40, one=16, key="small", alphabet="abcdef", length=6, gram=2
)
WORDS = ["cab", "face", "decade", "bead", "fade"]


def test_unlisted_words_are_found_with_their_counts() -> None:
    law = np.random.default_rng(1)
    values = law.choice(WORDS, 30_000, p=[0.3, 0.25, 0.2, 0.15, 0.1])
    made = SMALL.client(rng=Seeded(2)).privatise(values)
    server = SMALL.server().absorb(made.to_bytes())
    found = server.decode()
    assert set(found.candidates) == set(WORDS)
    for word in WORDS:
        at = found.estimates.candidates.index(word)
        true = int((values == word).sum())
        assert abs(found.estimates.counts[at] - true) < 4 * found.estimates.errors[at]
    listed = server.estimate(WORDS)
    assert np.all(
        np.abs(listed.counts - [int((values == each).sum()) for each in WORDS]) < 4 * listed.errors
    )


def test_nothing_common_gives_no_words() -> None:
    law = np.random.default_rng(1)
    values = ["".join(law.choice(list("abcdef"), 6)) for _ in range(3_000)]
    server = SMALL.server().absorb(SMALL.client(rng=Seeded(2)).privatise(values))
    assert not server.decode().candidates


def test_costs_are_the_sums_of_both_parts() -> None:
    assert SMALL.epsilon == SMALL.words.epsilon + SMALL.grams.epsilon
    assert 15.99 < float(SMALL.epsilon) <= 16
    assert 39.99 < SMALL.lasting_epsilon <= 40
    assert SMALL.words.family.key != SMALL.grams.family.key
    assert SMALL.report_bits == 2 + 2 * (128 + 3)


def test_merging_and_saving_keep_all_counts() -> None:
    made = SMALL.client(rng=Seeded(3)).privatise(["face", "bead"] * 100).packed
    parts = [Reports(SMALL.fingerprint, made[each]) for each in (slice(70), slice(70, None))]
    one, other = (SMALL.server().absorb(each) for each in parts)
    whole = SMALL.server().absorb(Reports(SMALL.fingerprint, made))
    other.merge(one)
    again = SMALL.server().load(other.to_bytes())
    for server in (other, again):
        assert server.to_bytes() == whole.to_bytes()
        assert server.users == 200


def test_reports_come_apart_into_what_they_were_joined_from() -> None:
    grams = SMALL.grams.client(rng=Seeded(1)).privatise(np.arange(50)).packed
    words = SMALL.words.client(rng=Seeded(2)).privatise(np.arange(50)).packed
    pairs = np.arange(50) % 3
    found = SMALL.split_parts(SMALL.join_parts(pairs, grams, words))
    assert np.array_equal(found[0], pairs)
    assert np.array_equal(found[1], grams)
    assert np.array_equal(found[2], words)


def test_a_report_of_impossible_positions_is_refused_as_a_whole() -> None:
    made = SMALL.client(rng=Seeded(3)).privatise(["face"] * 5).packed
    made[4, 0] |= 3
    server = SMALL.server()
    with pytest.raises(InputError) as refusal:
        server.absorb(Reports(SMALL.fingerprint, made))
    assert refusal.value.code == "CEL-R032"
    assert all(not each.any() for each in server._state().values())


def test_other_parameters_have_another_fingerprint() -> None:
    other = RapporWords(words=SMALL.words, grams=SMALL.grams, alphabet="abcdef", key="small")
    assert other.fingerprint == SMALL.fingerprint
    changed = RapporWords(words=SMALL.words, grams=Rappor(key="x"), alphabet="abcdef", key="small")
    assert changed.fingerprint != SMALL.fingerprint


def test_a_device_keeps_its_positions_and_pays_once_for_a_word(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path / "device", budget=60, rng=Seeded(2))
    client = SMALL.client(rng=Seeded(1), memory=memory)
    made = client.privatise(["face"] * 8)
    pairs, _, _ = SMALL.split_parts(made.packed)
    assert len(set(pairs.tolist())) == 1
    assert float(memory.spent) <= SMALL.lasting_epsilon
    before = memory.spent
    client.privatise(["face"])
    assert memory.spent == before


@pytest.mark.parametrize("f", [0, 0.5])
def test_a_report_that_cannot_be_paid_in_full_costs_nothing(tmp_path: Path, f: float) -> None:
    words, grams = (Rappor(f=f, hashes=1, key=key) for key in ("w", "g"))
    protocol = RapporWords(words=words, grams=grams, length=4)
    price = float(protocol.epsilon) if f == 0 else protocol.lasting_epsilon
    memory = Memory.open(tmp_path / "device", budget=round(1.5 * price, 3), rng=Seeded(2))
    client = protocol.client(rng=Seeded(1), memory=memory)
    client.privatise("rosa")
    spent = memory.spent
    assert 0 < spent <= price
    with refused("CEL-R039"):  # half of it could be paid
        client.privatise("lila")
    assert memory.spent == spent
    if f:  # a word that is kept is sent on
        assert len(client.privatise("rosa")) == 1


@pytest.mark.parametrize(
    "sizes",
    [
        {"alphabet": "aa"},
        {"alphabet": "a\0"},
        {"length": 5},
        {"gram": 4, "length": 8},
    ],
)
def test_pieces_that_do_not_fit_are_refused(sizes: dict[str, object]) -> None:
    with pytest.raises(InputError) as refusal:
        RapporWords(words=Rappor(), grams=Rappor(key="x"), **sizes)  # type: ignore[arg-type]
    assert refusal.value.code == "CEL-R042"
    with refused("CEL-I060"):
        RapporWords(words=Rappor(), grams=Rappor(key="x"), alphabet="")


def test_only_texts_have_pieces() -> None:
    with pytest.raises(InputError) as refusal:
        SMALL.client(rng=Seeded(1)).privatise([1])
    assert refusal.value.code == "CEL-R043"


def test_unknown_letters_end_a_word() -> None:
    assert SMALL.piece_pair("ab", 0) == f"0:ab{PAD}{PAD}"
    assert SMALL.piece_pair("abxdef", 2) == f"2:{PAD * 4}"
    assert SMALL.piece_pair("abcdefab", 1) == "1:abef"


@given(st.sets(st.text("ab", min_size=1, max_size=3), max_size=6))
def test_candidates_are_all_words_whose_pairs_are_common(words: set[str]) -> None:
    padded = [each.ljust(3, PAD) for each in words]
    common = {
        (low, high): {(each[low], each[high]) for each in padded}
        for low, high in ((0, 1), (0, 2), (1, 2))
    }
    plain = {
        "".join(each).rstrip(PAD)
        for each in product("ab" + PAD, repeat=3)
        if all((each[low], each[high]) in pairs for (low, high), pairs in common.items())
    }
    found = candidate_words(common, 3, most=100)
    assert set(found) == plain - {""}
    assert words <= set(found)
    options = set(pair_candidates("ab", 1))
    assert all(pairs <= options for pairs in common.values())


def test_too_many_candidates_are_refused() -> None:
    every = {(first, second) for first in "abc" for second in "abc"}
    with pytest.raises(InputError) as refusal:
        candidate_words({(0, 1): every, (0, 2): every, (1, 2): every}, 3, most=26)
    assert refusal.value.code == "CEL-R044"
    assert len(candidate_words({(0, 1): every, (0, 2): every, (1, 2): every}, 3, most=27)) == 27
