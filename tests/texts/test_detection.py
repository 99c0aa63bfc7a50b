"""Detection: hard cases by hand, and recall on notes whose truth is known."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.core.errors import EngineError, InputError
from celosia.datasets.notes import Notes, notes, templates
from celosia.texts import Collection, Facts, TextDeclaration, find, measures
from celosia.texts.detection import dates
from celosia.texts.detection.batches import batches, detect
from celosia.texts.detection.engines import check_package
from celosia.texts.detection.people import groups
from celosia.texts.detection.structure import kind_of_label
from celosia.texts.detection.tokens import TermList, words_of
from celosia.texts.detection.triggers import WORD


def found(text: str, **more: object) -> list[tuple[str, str]]:
    made = find(Collection.of([text]), **more)  # type: ignore[arg-type]
    return [(each.kind, text[each.span.start : each.span.end]) for each in made.findings]


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("The letter of Mr. Zyzzyva arrived.", "person", "Zyzzyva"),
        ("Saw Mr Wolstenholme gladly.", "person", "Wolstenholme"),
        ("Please call 0161 496 \n0123 soon.", "contact", "0161 496 \n0123"),
        ("It was signed by Emily Clarkson-Vane yesterday.", "person", "Emily Clarkson-Vane"),
        ("Vino con su hija, rosa cruz, ayer.", "person", "rosa cruz"),
        ("Firmado: la Dra. María de la Cruz Gómez.", "person", "María de la Cruz Gómez"),
        ("Se citó a Ma\u00adría Gar-\ncía en marzo.", "person", "Ma\u00adría Gar-\ncía"),
        ("Patient: Ng, Alice", "person", "Ng, Alice"),
        ("The owner is J. Whitfield of Leeds.", "person", "J. Whitfield"),
        ("Nacido el 12/03/1954 en Soria.", "birth", "12/03/1954"),
        ("Seen on May 3rd, 2021.", "date", "May 3rd, 2021"),
        ("Vista el 3 de mayo de 2024.", "date", "3 de mayo de 2024"),
        ("Seen last week at home.", "date", "last week"),
        ("Ingresó en Nochebuena.", "date", "Nochebuena"),
        ("A 45-year-old came.", "age", "45-year-old"),
        ("Paciente de 93 años.", "age", "93 años"),
        ("Vive en la calle Mayor 12, 3º B.", "address", "calle Mayor 12, 3º B"),
        ("He lives at 12 Baker Street, far away.", "address", "12 Baker Street"),
        ("Trabaja de apicultor allí.", "profession", "apicultor"),
        ("Es marroquí de origen.", "nation", "marroquí"),
        ("Ingresada en el Hospital La Paz ayer.", "organisation", "Hospital La Paz"),
        ("Cobra 1.250,50 euros al mes.", "amount", "1.250,50 euros"),
    ],
)
def test_what_is_found(text: str, kind: str, value: str) -> None:
    assert (kind, value) in found(text)


@pytest.mark.parametrize(
    "text",
    [
        "The results were normal and the dose is 20 mg.",
        "May we ask for the green file? It will rain in the field.",
        "La rosa es blanca y el campo es bueno.",
        "Según la Ley 39/2015, el plazo es de quince plazas.",
        # From licences and manuals of others.
        "It comes with Python 1.6.1 may be located here.",
        "Code in C/C++ under the U.S. Copyright rules.",
        "Project-URL: Donate",
    ],
)
def test_plain_prose_is_left_alone(text: str) -> None:
    assert found(text) == []


def test_a_name_found_once_is_found_in_all_its_forms() -> None:
    text = (
        "Patient: Rebecca Entwistle. Later ENTWISTLE called; R. Entwistle and rebecca entwistle,"
        " Entwisle (sic) and Entwistle's son came."
    )
    values = [value for kind, value in found(text) if kind == "person"]
    assert len(values) == 6
    made = find(Collection.of([text]))
    assert len({each.group for each in made.findings if each.kind == "person"}) == 1


def test_an_initial_before_an_unknown_word_is_not_looked_for_elsewhere() -> None:
    text = "It is of the X Consortium. The Consortium said so."
    assert found(text) == [("person", "X Consortium")]
    assert found("Upstream-Name: Nettle\n\nThe Nettle library.") == [("person", "Nettle")]
    assert found("NO EVENT SHALL HENRY SPENCER BE LIABLE TO US") == [("person", "HENRY SPENCER")]
    assert len(found("It is of J. Entwistle. Then Entwistle said so.")) == 2


def test_names_spread_over_the_documents_of_their_person_only() -> None:
    texts = ["Patient: Rebecca Entwistle.", "Note on entwistle.", "Note on entwistle."]
    collection = Collection.of(texts, language="en", persons=["a", "a", "b"])
    documents = [each.span.document for each in find(collection).findings]
    assert documents == [0, 1]
    everywhere = find(collection, declaration=TextDeclaration(spread="collection"))
    assert [each.span.document for each in everywhere.findings] == [0, 1, 2]


def test_own_lists_are_found(tmp_path: Path) -> None:
    path = tmp_path / "ships.txt"
    path.write_text("Blue Marlin\n\n", "utf-8")
    declaration = TextDeclaration(lists={"organisation": str(path)})
    assert found("He sailed on the blue marlin.", declaration=declaration) == [
        ("organisation", "blue marlin")
    ]
    with pytest.raises(InputError, match="cannot be read"):
        found("x", declaration=TextDeclaration(lists={"other": str(tmp_path / "none")}))


def test_an_engine_is_any_object_that_finds() -> None:
    from celosia.assess.recognisers import Match

    class Own:
        name = "own"

        def find(self, text: str, language: str) -> list[Match]:
            place = text.index("Zorro")
            return [Match(place, place + 5, "person", "own", 0.9)]

    assert ("person", "Zorro") in found("the fox Zorro ran", engine=Own())


def test_a_missing_engine_is_named_and_a_placeholder_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(EngineError, match="not installed"):
        check_package("no-such-model", "spaCy")
    monkeypatch.setattr("celosia.texts.detection.engines.version", lambda name: "999.9.9")
    with pytest.raises(EngineError, match="no real model"):
        check_package("json", "spaCy")


def test_the_doctor_warns_of_a_placeholder(monkeypatch: pytest.MonkeyPatch) -> None:
    from celosia.cli.doctor import _models

    assert all(version != "999.9.9" for version in _models().values())
    monkeypatch.setattr("celosia.texts.detection.engines.version", lambda name: "999.9.9")
    assert all("no real model" in text for text in _models().values())


def facts_of(made: Notes) -> Facts:
    kinds = {name: kind_of_label(name) for name in made.facts.columns if name != "person"}
    assert all(kinds.values())
    return Facts(
        {
            row["person"]: tuple((str(kinds[name]), str(row[name])) for name in kinds)
            for row in made.facts.rows(named=True)
        }
    )


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize("kind", ["clinical", "administrative"])
def test_recall_and_leaks_on_generated_notes(language: str, kind: str) -> None:
    # Check 35.
    made = notes(120, language=language, kind=kind, seed=35)  # type: ignore[arg-type]
    texts = [each.text for each in made.collection]

    def measured(**more: object) -> measures.DetectionMeasures:
        result = find(made.collection, **more)  # type: ignore[arg-type]
        return measures.compare(result.findings, made.truth, len(texts), texts=texts)

    with_facts = measured(facts=facts_of(made))
    assert with_facts.entity_recall >= 0.995
    assert with_facts.leaking_documents <= 0.01
    plain = measured()
    assert plain.entity_recall >= 0.93
    assert plain.leaking_documents <= 0.15
    assert plain.precision >= 0.90
    alone = measured(propagate=False)
    assert plain.leaking_documents <= alone.leaking_documents / 2


def test_the_grammar_is_large_and_the_truth_lies_in_the_texts() -> None:
    for language in ("en", "es"):
        for kind in ("clinical", "administrative"):
            assert len(templates(language, kind)) >= 40
    made = notes(30, seed=3, valid=True)
    assert notes(30, seed=3, valid=True).collection == made.collection
    assert notes(30, seed=4).collection != made.collection
    for each in made.truth:
        text = made.collection.documents[each.span.document].text
        assert text[each.span.start : each.span.end].strip()
    with pytest.raises(InputError):
        notes(0)


def test_facts_that_match_no_document_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "facts.csv"
    path.write_text("person,name\n1,Xavier Quux\n", "utf-8")
    with pytest.raises(InputError, match="none of 1"):
        find(Collection.of(["nothing here"], persons=["1"]), facts=path)
    path.write_text("a,b\n1,2\n", "utf-8")
    with pytest.raises(InputError, match="no column"):
        find(Collection.of(["nothing here"]), facts=path)


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("2026-01-31", "en", (2026, 1, 31)),
        ("31/01/2026", "es", (2026, 1, 31)),
        ("1/31/26", "en", (2026, 1, 31)),
        ("1/2/26", "en", (2026, 1, 2)),
        ("1/2/26", "es", (2026, 2, 1)),
        ("3 de mayo de 2024", "es", (2024, 5, 3)),
        ("May 3rd, 2024", "en", (2024, 5, 3)),
    ],
)
def test_dates_are_read(text: str, language: str, expected: tuple[int, int, int]) -> None:
    parsed = dates.parse(text, language)  # type: ignore[arg-type]
    assert parsed is not None
    assert (parsed.day.year, parsed.day.month, parsed.day.day) == expected
    assert dates.parse(dates.write(parsed.day, parsed, text, language), language) is not None  # type: ignore[arg-type]


def test_days_that_do_not_exist_are_no_dates() -> None:
    assert dates.parse("31/04/2026", "es") is None
    assert dates.parse("yesterday", "en") is None


def test_groups_join_short_forms_within_a_person() -> None:
    mentions = [("p", ("ana", "gil")), ("p", ("gil",)), ("p", ("a", "gil")), ("q", ("gil",))]
    assert groups(mentions) == [0, 0, 0, 1]


def test_a_batch_finds_what_each_text_has_by_itself() -> None:
    pieces = ["DNI", "12345678A", "Dr.", "Ana", "Gil", "Patient:", "New", "York", "Calle",
              "Mayor 3", "tel. 600", "123 456", "3 de", "mayo", "born", "12/03/1954", "12 Baker",
              "Street", "price", "€", "20", "CP", "28001", "X1", "1 April", "", "\n"]  # fmt: skip
    texts = [*pieces, *(each.text for each in notes(6, language="es", seed=9).collection)]
    words = [words_of(each) for each in texts]
    apart = [detect([each], TermList([]))[0] for each in words]
    assert detect(words, TermList([])) == apart
    assert [len(each) for each in batches([words_of("a" * 5000)] * 3)] == [1, 1, 1]
    assert [len(each) for each in batches(words)] == [len(words)]


@given(st.text("abZ09' _.\n\0é\u2019", max_size=30))
def test_words_are_those_of_the_pattern(text: str) -> None:
    found, matches = words_of(text), list(WORD.finditer(text))
    assert [(each.start(), each.end()) for each in matches] == list(
        zip(found.starts, found.ends, strict=True)
    )
    assert found.words == [each.group().lower().replace("é", "e") for each in matches]
