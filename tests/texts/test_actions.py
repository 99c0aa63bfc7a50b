"""Actions: what is published in the place of a finding."""

from __future__ import annotations

import re
from datetime import date
from ipaddress import ip_address
from itertools import pairwise

import pytest

from celosia.assess.recognisers import check_digits
from celosia.assess.recognisers import find as find_identifiers
from celosia.assess.recognisers.identifiers import folded
from celosia.core.errors import InputError
from celosia.core.pseudonyms.keys import Key
from celosia.core.randomness import Seeded
from celosia.datasets.notes import notes
from celosia.texts import Collection, Encrypt, Shift, TextDeclaration, find, publish, word_lists
from celosia.texts.actions import ActionContext, action_from_text, actions_by_kind
from celosia.texts.actions.surrogate import _coined_names
from celosia.texts.detection import dates
from celosia.texts.detection.people import NameForms, name_words

KEY = Key(bytes(range(32)))


def shown(text: str, *, scope: str = "collection", key: Key = KEY, **actions: str) -> str:
    declaration = TextDeclaration(scope=scope)  # type: ignore[arg-type]
    found = find(Collection.of([text]), declaration=declaration)
    return publish(found, actions={"default": "redact", **actions}, key=key).texts[0]


def test_a_bar_never_tells_the_length() -> None:
    assert shown("Mr. Ng met Mr. Wolstenholme.") == "Mr. █████ met Mr. █████."
    assert shown("Mr. Ng met.", person="redact:style=dots") == "Mr. […] met."


def test_labels_are_numbered_by_appearance() -> None:
    text = "Mr. Zimmer met Mr. Abel. Zimmer left."
    assert shown(text, person="label") == "Mr. [PERSON 1] met Mr. [PERSON 2]. [PERSON 1] left."
    assert shown(text, person="label:numbered=false").count("[PERSON]") == 3


def test_pseudonyms_link_within_their_scope_only() -> None:
    texts = ["Mr. Peter Zimmer came.", "Mr. Peter Zimmer came."]
    marks = {}
    for scope in ("document", "person", "collection"):
        declaration = TextDeclaration(scope=scope)
        collection = Collection.of(texts, language="en", persons=["a", "b"])
        release = publish(
            find(collection, declaration=declaration), actions={"default": "pseudonym"}, key=KEY
        )
        found = [re.findall(r"P-[A-Z2-7]{13}", text) for text in release.texts]
        marks[scope] = found[0] == found[1]
    assert marks == {"document": False, "person": False, "collection": True}
    other = shown(texts[0], person="pseudonym", key=Key(bytes(32)))
    assert other != shown(texts[0], person="pseudonym")


def test_encryption_is_undone_by_the_key_and_tells_no_check_letter() -> None:
    text = "DNI 12345678Z"
    hidden = shown(text, id="encrypt").removeprefix("DNI ")
    assert re.fullmatch(r"\d{8}[A-Z]", hidden)
    assert Encrypt().original(hidden, kind="id", scope="collection", key=KEY) == "12345678Z"
    letters = {
        shown(f"DNI {number}{'TRWAGMYFPDXBNJZSQVHLCKE'[number % 23]}", id="encrypt")[-1]
        for number in range(23 * 500_000, 23 * 500_000 + 23 * 12, 23)
    }
    assert len(letters) > 1  # all of these numbers have the same letter
    assert shown("aged 45", age="encrypt") == "█████"


def test_generalisation_keeps_what_is_true() -> None:
    assert shown("On 3 May 2025.", date="generalise") == "On 2025."
    assert shown("On 3 May 2025.", date="generalise:dates=month") == "On May 2025."
    assert shown("On 3 May 2025.", date="generalise:dates=quarter") == "On Q2 2025."
    assert shown("On 3 May 2025.", date="generalise:dates=decade") == "On 2020s."
    assert shown("aged 44 and aged 97", age="generalise") == ("40-44 years old and 90+ years old")
    assert shown("He earns 1,234 euros", amount="generalise") == "He earns 1000 euros"
    assert shown("He has leukaemia now", health="generalise") == "He has cancer now"
    assert shown("He lives in Getafe now", place="generalise:levels=2") == "He lives in Spain now"
    assert shown("Seen yesterday", date="generalise") == "Seen █████"


def test_shifts_keep_intervals_and_weekdays_and_move_every_date() -> None:
    # Check 37.
    texts = ["Seen on 2024-02-27, 2024-03-05 and 2024-12-31.", "Again on 2025-01-01."]
    original = [date(2024, 2, 27), date(2024, 3, 5), date(2024, 12, 31), date(2025, 1, 1)]
    for number in range(12):
        for weekday in (False, True):
            collection = Collection.of(texts, language="en", persons=["a", "a"])
            action = Shift(days=60, weekday=weekday)
            key = Key.new(Seeded(number))
            release = publish(find(collection), actions={"default": action}, key=key)
            moved = [
                date.fromisoformat(each)
                for text in release.texts
                for each in re.findall(r"\d{4}-\d\d-\d\d", text)
            ]
            steps = {(b - a).days for a, b in zip(original, moved, strict=True)}
            assert len(steps) == 1
            step = steps.pop()
            assert 0 < abs(step) <= 60
            assert not weekday or step % 7 == 0
            assert [b - a for a, b in pairwise(moved)] == [b - a for a, b in pairwise(original)]


def test_shifts_differ_between_persons_and_are_uniform() -> None:
    action = Shift(days=7)
    offsets = [action.offset(KEY, f"person {number}") for number in range(1400)]
    assert set(offsets) == set(range(-7, 8)) - {0}
    # Binomial with mean 100 and deviation 9.6: five deviations.
    assert all(abs(offsets.count(each) - 100) < 49 for each in set(offsets))


def test_births_and_relative_dates_are_not_shifted() -> None:
    text = "Born on 12/03/1954, seen yesterday and at Christmas."
    assert shown(text, date="shift", birth="shift") == "Born on 1954, seen █████ and at █████."


def test_surrogates_are_consistent_invented_and_never_shared() -> None:
    # Check 36.
    made = notes(60, language="es", kind="administrative", seed=36, valid=True)
    found = find(made.collection)
    release = publish(found, actions={"default": "surrogate", "date": "redact"}, key=KEY)
    real = {
        word
        for each in found.findings
        if each.kind == "person"
        for word in name_words(
            made.collection.documents[each.span.document].text[each.span.start : each.span.end]
        )
        if len(word) > 2
    }
    for text in release.texts:
        for match in find_identifiers(text):
            compact = re.sub(r"[\W_]", "", text[match.start : match.end])
            assert not check_digits.dni(compact)
            assert not check_digits.iban(compact)
            assert not check_digits.card(compact)
    again = find(Collection.of(list(release.texts), language="es"))
    invented = {
        word
        for each in again.findings
        if each.kind == "person"
        for word in name_words(release.texts[each.span.document][each.span.start : each.span.end])
        if len(word) > 2
    }
    assert not real & invented


def test_equal_names_get_equal_surrogates_and_different_names_different_ones() -> None:
    # Check 36.
    texts = [f"Dr. Paula Zimmer{'abcdefghij'[at % 10]} and Paula came." for at in range(20)]
    collection = Collection.of(texts, language="en", persons=[str(at) for at in range(20)])
    release = publish(find(collection), actions={"default": "surrogate"}, key=KEY)
    names = [re.match(r"Dr\. (\S+ \S+) and (\S+) came", text) for text in release.texts]
    assert all(names)
    full = [match.group(1) for match in names if match]
    assert len(set(full)) == 10
    assert full[:10] == full[10:]
    assert all(match.group(1).startswith(match.group(2)) for match in names if match)


def test_surrogates_have_the_form_of_the_mention() -> None:
    text = "Patient: Rebecca Entwistle. ENTWISTLE called; R. Entwistle and rebecca entwistle came."
    new = shown(text, person="surrogate")
    match = re.fullmatch(
        r"Patient: (\w+) (\w+)\. ([A-Z]+) called; (\w)\. (\w+) and ([a-z]+) ([a-z]+) came\.", new
    )
    assert match is not None
    given, family, upper, initial, same, low, lower = match.groups()
    assert upper == family.upper()
    assert (initial, same) == (given[0], family)
    assert (low, lower) == (given.lower(), family.lower())


def test_names_of_surrogates_do_not_end_with_the_lists() -> None:
    # Every name of the lists is in the collection, so that each surrogate must be coined.
    given = [*word_lists.given_names("es", "female"), *word_lists.given_names("es", "male")]
    surnames = word_lists.surnames("es")
    people = [
        f"{given[at % len(given)]} {surnames[at % len(surnames)]} {surnames[at * 3 % 180]}"
        for at in range(500)
    ]
    texts = [f"El paciente don {name} vino a la consulta." for name in people]
    collection = Collection.of(texts, language="es", persons=[str(at) for at in range(500)])
    release = publish(find(collection), actions={"default": "surrogate"}, key=KEY)
    found = [re.fullmatch(r"El paciente don (.+) vino a la consulta\.", t) for t in release.texts]
    new = [match.group(1) for match in found if match]
    assert len(set(new)) == len(set(people)) == 500
    real = {folded(word) for name in people for word in name.split()}
    assert not real & {folded(word) for name in new for word in name.split()}
    assert all(len(name.split()) == 3 for name in new)


def test_a_coined_name_is_no_name_of_the_collection() -> None:
    form = NameForms(("zorn", "quill"))
    first = next(_coined_names(form, "en", ActionContext("collection", KEY), "collection"))
    forbidden = frozenset({folded(first[1])})
    context = ActionContext("collection", KEY, forbidden)
    second = next(_coined_names(form, "en", context, "collection"))
    assert first[1] not in second


def test_a_surrogate_of_one_word_is_no_word_of_another_one() -> None:
    texts = [f"Dr. {word} and Dr. Paula {word}son came." for word in ("Zorn", "Quill", "Vost")]
    collection = Collection.of(texts, language="en", persons=list("abc"))
    release = publish(find(collection), actions={"default": "surrogate"}, key=KEY)
    pairs = [re.match(r"Dr\. (\S+) and Dr\. (\S+) (\S+) came", text) for text in release.texts]
    alone = {match.group(1) for match in pairs if match}
    others = {word for match in pairs if match for word in match.groups()[1:]}
    assert len(alone) == 3
    assert not alone & others


def test_small_reserved_ranges_are_followed_by_wider_ones() -> None:
    texts = [f"call 600 {at // 1000:03d} {at % 1000:03d} now" for at in range(1100)]
    texts += [f"from 10.0.{at // 250}.{at % 250} today" for at in range(800)]
    release = publish(
        find(Collection.of(texts, language="es")), actions={"default": "surrogate"}, key=KEY
    )
    assert len(set(release.texts)) == len(texts)
    for text in release.texts[1100:]:
        address = ip_address(text.split()[1])
        assert address.is_reserved or address.is_private  # documentation counts as private


def test_surrogates_run_out_with_an_error() -> None:
    # A tenth of the numbers of three digits add up by the rule of Luhn, and must not be used.
    texts = [f"case number {at:03d} closed" for at in range(950)]
    with pytest.raises(InputError, match="used up"):
        publish(
            find(Collection.of(texts, language="en")), actions={"default": "surrogate"}, key=KEY
        )


def test_actions_are_declared_for_every_kind() -> None:
    with pytest.raises(InputError, match="no action"):
        actions_by_kind({"person": "label"})
    with pytest.raises(InputError):
        action_from_text("vanish")
    with pytest.raises(InputError):
        action_from_text("keep")  # a reason is needed
    assert action_from_text("keep:reason=public").replacement is not None
    assert dates.MONTHS["es"][0] == "enero"
