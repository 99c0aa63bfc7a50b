"""Models of what is left, each against its definition over plain sets."""

from __future__ import annotations

import random
from collections import defaultdict
from itertools import combinations, product
from math import log2, prod

import pytest

from celosia.core.errors import InputError, PrivacyError
from celosia.core.randomness import Seeded
from celosia.datasets.notes import notes
from celosia.texts import Collection, CSanitised, KSafety, RareTerms, TPlausibility, find, publish
from celosia.texts.attacks import authorship, index_difference, rare_terms
from celosia.texts.detection.tokens import words_of
from celosia.texts.index import SafeIndex, build, is_index_of, safe_index
from celosia.texts.lexicon import Lexicon, sample
from celosia.texts.models.c_sanitised import pmi
from celosia.texts.models.k_safety import candidates, minimal_removal
from celosia.texts.models.model import stem
from celosia.texts.models.rare_terms import information
from celosia.texts.models.t_plausibility import generalised, plausibility
from celosia.texts.private import refuse_prose, term_counts
from celosia.texts.word_lists import function_words


def terms_of(text: str) -> set[str]:
    return {
        stem(word)
        for word in words_of(text).words
        if word not in function_words() and len(word) > 1
    }


@pytest.mark.parametrize(
    ("language", "known"),
    [
        ("en", {"hospital": 13.06, "smith": 13.65, "diabetes": 16.04, "szymborska": 25.98}),
        ("es", {"enfermedad": 13.88, "diabetes": 17.24, "leucemia": 18.47, "porfiria": 22.72}),
    ],
)
def test_the_information_of_words_is_that_of_their_list(
    language: str, known: dict[str, float]
) -> None:
    # Check 41: as the pinned version of the list has it.
    pytest.importorskip("wordfreq", reason="wordfreq is not installed")
    assert {word: information(word, language) for word in known} == pytest.approx(known, abs=0.01)
    assert information("zzqxv", language) == 27


def test_common_words_stay_where_only_rare_ones_of_the_language_go() -> None:
    # Check 41: with bits, less goes than without.
    pytest.importorskip("wordfreq", reason="wordfreq is not installed")
    found = find(notes(40, seed=41).collection)
    all_rare, rarest = (
        publish(found, actions={"default": "redact"}, models=model)
        for model in (RareTerms(k=5), RareTerms(k=5, bits=20.0))
    )
    assert sum(map(len, rarest.texts)) > sum(map(len, all_rare.texts))


def test_rare_terms_are_recounted() -> None:
    # Check 40.
    made = notes(60, seed=40)
    found = find(made.collection)
    release = publish(found, actions={"default": "redact"}, models=RareTerms(k=5))
    persons = defaultdict(set)
    for document, text in zip(made.collection, release.texts, strict=True):
        for term in terms_of(text.replace("█████", " ")):
            persons[term].add(document.person)
    assert persons
    assert min(len(each) for each in persons.values()) >= 5
    before = publish(found, actions={"default": "redact"})
    assert sum(map(len, before.texts)) > sum(map(len, release.texts))


def test_k_safety_holds_for_the_whole_set_and_is_near_the_minimum() -> None:
    # Check 40.
    rng = random.Random(40)
    losses = []
    for _ in range(60):
        count, k = rng.randint(4, 7), rng.randint(2, 3)
        words = "abcdefgh"
        contexts = {
            str(unit): frozenset(rng.sample(words, rng.randint(2, 7))) for unit in range(count)
        }
        for unit, terms in contexts.items():
            gone = minimal_removal(terms, contexts, unit, k)
            assert candidates(terms - gone, contexts, unit) >= k - 1
            best = next(
                size
                for size in range(len(terms) + 1)
                if any(
                    candidates(terms - set(some), contexts, unit) >= k - 1
                    for some in combinations(sorted(terms), size)
                )
            )
            assert len(gone) >= best
            losses.append(len(gone) - best)
    assert sum(losses) / len(losses) < 0.3


def test_k_safety_is_published() -> None:
    texts = ["red green blue"] * 3 + ["red green yellow"]
    collection = Collection.of(texts, language="en", persons=list("abcd"))
    release = publish(find(collection), models=KSafety(k=3))
    assert release.texts == ("red green blue",) * 3 + ("red green █████",)
    with pytest.raises(PrivacyError, match="4 persons"):
        publish(find(collection), models=KSafety(k=5))


def test_t_plausibility_is_the_cheapest_choice_of_a_twin() -> None:
    # Check 41.
    lexicon = sample()
    rng = random.Random(41)
    leaves = [node for node in sorted(lexicon.terms) if lexicon.leaves(node) == 1]
    for _ in range(25):
        nodes = rng.sample(leaves, rng.randint(1, 3))
        t = rng.choice((2, 5, 20, 100))
        paths = [lexicon.path(node) for node in nodes]
        twins = [
            (
                sum(
                    lexicon.information(a) - lexicon.information(b)
                    for a, b in zip(nodes, each, strict=True)
                ),
                each,
            )
            for each in product(*paths)
            if prod(lexicon.leaves(node) for node in each) >= t
        ]
        chosen = generalised(lexicon, nodes, t)
        if not twins:
            assert chosen is None
            continue
        assert chosen is not None
        assert plausibility(lexicon, chosen) >= t
        lost = sum(
            lexicon.information(a) - lexicon.information(b)
            for a, b in zip(nodes, chosen, strict=True)
        )
        assert lost == pytest.approx(min(twins)[0])


def test_t_plausibility_is_published_with_its_assumption() -> None:
    collection = Collection.of(["The man has leukaemia."], language="en")
    declared = {"default": "redact", "health": "keep:reason=subject"}
    release = publish(find(collection), actions=declared, models=TPlausibility(t=3))
    assert release.texts == ("The man has cancer.",)
    assert any("independent" in each for each in release.guarantee.assumes)
    with pytest.raises(PrivacyError, match="most general"):
        publish(find(collection), actions=declared, models=TPlausibility(t=10_000))


def test_c_sanitised_texts_are_recomputed() -> None:
    # Check 41.
    texts = [
        "insulin was given for diabetes and walks",
        "insulin pump and diabetes and sugar",
        "insulin again for diabetes and walks",
        "walks and rest",
        "rest and sugar",
        "walks only",
        "rest again",
        "pump of the well",
    ]
    collection = Collection.of(texts, language="en")
    model = CSanitised(entities=("diabetes",), levels=0)
    declared = {"default": "redact", "health": "keep:reason=subject"}
    release = publish(find(collection), actions=declared, models=model)
    most = -log2(3.5 / 9)
    for text, new in zip(texts, release.texts, strict=True):
        if "diabetes" in text:
            assert "diabetes" not in new
            for term in terms_of(new.replace("█████", " ")):
                joint = sum(term in terms_of(each) and "diabetes" in each for each in texts)
                alone = sum(term in terms_of(each) for each in texts)
                assert joint < 3 or log2((joint + 0.5) * 9 / (3.5 * (alone + 0.5))) <= most
        else:
            assert new == text
    assert pmi(3, 3, 3, 8) == pytest.approx(log2(3.5 * 9 / 3.5**2))


def test_a_term_tells_less_the_more_there_is_below_it_by_any_way() -> None:
    """D has two parents: it is a leaf of the one that it climbs to, and below both."""
    lexicon = Lexicon.of(["1\tthing", "2\tb\t1", "3\tc\t1", "4\td\t3 2"])
    assert lexicon.path("4") == ["4", "2", "1"]
    assert [lexicon.leaves(each) for each in "1234"] == [2, 1, 1, 1]
    assert [lexicon.below(each) for each in "1234"] == [4, 2, 2, 1]
    assert lexicon.information("3") == lexicon.information("2") == 0.5
    assert (lexicon.information("4"), lexicon.information("1")) == (1, 0)


def test_the_lexicon_refuses_what_is_no_hierarchy() -> None:
    for lines in (["a\tx\tb"], ["a\tx\tb", "b\ty\ta"], ["a"], ["a\tx", "a\ty"]):
        with pytest.raises(InputError):
            Lexicon.of(lines)


def test_an_index_is_that_of_the_released_files() -> None:
    # Check 42.
    made = notes(40, seed=42)
    release = publish(find(made.collection), actions={"default": "redact"})
    index = safe_index(release, k=3)
    assert is_index_of(index, release)
    assert all(len(owners) >= 3 for owners in index.persons.values())
    assert index.postings.columns == ["term", "document", "count"]
    assert all(length & (length - 1) == 0 for length in index.lengths.values())
    assert index_difference(index, release).successes == 0
    raw = build(
        [each.text for each in made.collection], [each.unit for each in made.collection], k=1
    )
    assert not is_index_of(SafeIndex(raw.postings, raw.lengths, 1), release)
    assert index_difference(raw, release).successes > 10
    with pytest.raises(InputError, match="from a release"):
        safe_index(made.collection)  # type: ignore[arg-type]


def test_a_thousand_documents_of_one_person_move_few_terms() -> None:
    # Check 43.
    texts = ["common word"] * 40 + [f"secret{number} term{number}" for number in range(1000)]
    persons = [str(number) for number in range(40)] + ["one"] * 1000
    collection = Collection.of(texts, language="en", persons=persons)
    counts = term_counts(collection, epsilon=8, delta=1e-6, per_person=2, rng=Seeded(1))
    assert set(counts.value) <= {"common", "word"}
    assert counts.guarantee.neighbours == "add or remove one person"
    assert counts.epsilon == 8
    with pytest.raises(PrivacyError, match="whose"):
        term_counts(Collection.of(texts[:3]), epsilon=1, delta=1e-6)


def test_prose_under_epsilon_is_refused() -> None:
    # Check 44.
    assert refuse_prose().code == "CEL-N040"


def test_attacks_find_rare_terms_and_style() -> None:
    texts = [f"unique{'abcdef'[number]} green apples" for number in range(6)]
    exposed = rare_terms(texts, range(6), known=3, rng=Seeded(1))
    assert (exposed.successes, exposed.targets) == (6, 6)
    alike = rare_terms(["green apples"] * 6, range(6), known=2, rng=Seeded(1))
    assert (alike.successes, alike.facts["fewest_candidates"]) == (0, 6)
    styles = ["I reckon so, mate!", "One would surmise thus.", "yeah nah lol"]
    written = [style + f" {number}" for number in range(4) for style in styles]
    found = authorship(written, [number % 3 for number in range(12)])
    assert found.share == 1
    assert found.by_chance == pytest.approx(1 / 3)
