"""Texts as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.collect.fragments.solver import TextEncoding
from celosia.core.errors import InputError
from celosia.sketches.hashing import HashFamily, digest

TAGS = HashFamily(key=b"tags", rows=1, width=256)
LATIN = TextEncoding("abcdefghijklmnopqrstuvwxyz ", 10, 2, TAGS)


@given(st.lists(st.text("abcxyz", max_size=14), min_size=1, max_size=5))
@settings(deadline=None)
def test_texts_come_back_cut_to_their_length(texts: list[str]) -> None:
    assert LATIN.texts(LATIN.pieces(texts)) == [text[:10] for text in texts]


def test_a_piece_is_a_number_with_the_first_character_highest() -> None:
    expected = [[2 * 27 + 14, 14 * 27 + 11, 26 * 27 + 26, 728, 728]]
    assert LATIN.pieces(["cool"]).tolist() == expected


@pytest.mark.parametrize(
    "values",
    [
        ["b", "abcde"],
        ("b", "abcde"),
        np.array(["b", "abcde"]),
        np.array(["b", "abcde"], dtype=object),
        pl.Series(["b", "abcde"]),
    ],
    ids=["list", "tuple", "fixed", "objects", "polars"],
)
def test_texts_may_come_in_any_column(values: Any) -> None:
    assert LATIN.texts(LATIN.pieces(values)) == ["b", "abcde"]


def test_digests_mix_the_pieces_as_the_module_says() -> None:
    number = 0
    for piece in LATIN.pieces(["feedback"])[0].tolist():
        number = number * 729 + piece  # 27^10 < 2^63: all pieces at a time
    assert LATIN.digests(LATIN.pieces(["feedback"])).tolist() == [digest(number)]
    long = TextEncoding("ab ", 80, 1, TAGS)
    found = long.pieces(["ab" * 40])
    state = 0  # 31 characters of 2 bits at a time
    for start in (0, 31, 62):
        number = int("".join(map(str, found[0, start : start + 31].tolist())), 3)
        state = digest(state ^ number)
    assert long.digests(found).tolist() == [state]


@pytest.mark.statistical
def test_digests_of_different_texts_differ_and_tags_are_spread() -> None:
    texts = [
        f"{first}{second}{third}"
        for first in "abcdefghij"
        for second in "klmnopqrst"
        for third in ("", "u", "v", "w", "x", "y", "z")
    ]
    found = LATIN.digests(LATIN.pieces(texts))
    assert np.unique(found).size == len(texts)
    counts = np.bincount(LATIN.tags(found), minlength=256)
    # 700 balls in 256 urns: chi-squared with 255 degrees, mean 255, deviation 22.6.
    assert abs(((counts - 700 / 256) ** 2 / (700 / 256)).sum() - 255) < 5 * 22.6


@pytest.mark.parametrize("values", [["naïve"], ["Upper"], [7], [None], [b"bytes"], ["a b", "c-d"]])
def test_what_the_alphabet_cannot_write_is_refused_and_not_told(values: Any) -> None:
    with pytest.raises(InputError) as caught:
        LATIN.pieces(values)
    assert caught.value.code == "CEL-R013"
    assert str(values[0]) not in str(caught.value)


def test_any_alphabet_will_do() -> None:
    greek = TextEncoding("αβγδ·", 6, 3, TAGS)
    assert greek.texts(greek.pieces(["δαβγ", "δδδδδδδδ"])) == ["δαβγ", "δδδδδδ"]
    emoji = TextEncoding("😀😢🎉_", 2, 1, TAGS)
    assert emoji.texts(emoji.pieces(["🎉😀", "😢"])) == ["🎉😀", "😢"]
