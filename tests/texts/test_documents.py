"""Documents, offsets, folding: what is not replaced stays as it was."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.texts.documents import Collection, Document, Part, replaced, replaced_parts
from celosia.texts.folding import fold

ODD = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cs"]),
        st.sampled_from("\u00ad\u200b\u200d\u0301\u0303\ufe0f👩👨‍🏽אבגé１٣-\n"),
    ),
    max_size=60,
)


@given(ODD, st.data())
@settings(max_examples=200)
def test_text_outside_of_replaced_places_is_unchanged(text: str, data: st.DataObject) -> None:
    # Check 34.
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6, unique=True)))
    places = [(a, b, "█") for a, b in zip(cuts[::2], cuts[1::2], strict=False)]
    made = replaced(text, places)
    rest, last = [], 0
    for start, end, _ in places:
        rest.append(text[last:start])
        last = end
    assert made.split("█") == [*rest, text[last:]] or "█" in text


@given(ODD, st.integers(0, 60), st.integers(1, 20))
@settings(max_examples=300)
def test_a_folded_place_covers_its_origin_and_splits_no_grapheme(
    text: str, start: int, length: int
) -> None:
    # Check 34.
    folded = fold(text)
    if start + length > len(folded.text):
        return
    first, last = folded.origin(start, start + length, text)
    assert 0 <= first <= last <= len(text)
    for place in (first, last):
        if 0 < place < len(text):
            assert not unicodedata.combining(text[place])
            assert text[place] != "\u200d"
    wanted = folded.text[start : start + length]
    again = fold(text[first:last]).text
    assert unicodedata.normalize("NFC", wanted) in unicodedata.normalize("NFC", again)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Gar\u00adcía", "García"),
        ("Mari\u0301a", "María"),
        ("12345678", "12345678"),
        ("600\u00a0123\u00a0456", "600 123 456"),
        ("hospi-\ntal", "hospital"),
        ("A\u200bna", "Ana"),
        ("one  \n two", "one\ntwo"),
        ("O\u2019Neil", "O'Neil"),
        ("plain text\nas it is", "plain text\nas it is"),
    ],
)
def test_folding(written: str, read: str) -> None:
    folded = fold(written)
    assert folded.text == read
    assert folded.origin(0, len(read), written) == (0, len(written))


def test_what_reaches_over_parts_is_written_once() -> None:
    document = Document(0, "a", "Ana Gil came", parts=(Part(0, 2), Part(2, 7), Part(7, 12)))
    assert replaced_parts(document, [(0, 7, "X")]) == ["X", "", " came"]
    assert replaced_parts(document, [(4, 9, "X")]) == ["An", "a X", "ame"]
    assert replaced_parts(document, []) == ["An", "a Gil", " came"]


def test_a_collection_guesses_the_language_and_hides_its_text() -> None:
    made = Collection.of(["El paciente fue visto en la consulta", "She was seen in the clinic"])
    assert [each.language for each in made] == ["es", "en"]
    assert "paciente" not in repr(made)
    assert made.persons == 2
