"""Surrogates: invented names and numbers of the same kind and shape, consistent per entity.

What detection missed hides among them. No surrogate is the name of anyone in the collection; none
is shared by two entities of a scope; and none can be a real person's number: check digits fail, and
telephones, domains and addresses are of ranges that are reserved for examples.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import ClassVar

from celosia.assess.recognisers import check_digits
from celosia.assess.recognisers.identifiers import folded
from celosia.core.errors import InputError
from celosia.core.pseudonyms.keys import Key
from celosia.texts import word_lists
from celosia.texts.actions.action import Action, ActionContext, Mention, entity_form
from celosia.texts.actions.coined import coined
from celosia.texts.actions.plain import Label, Redact
from celosia.texts.detection.people import NameForms, is_same_word, name_words
from celosia.texts.documents import Language, word_set

_CHECKS = (
    check_digits.luhn, check_digits.iban, check_digits.dni, check_digits.nie, check_digits.cif,
    check_digits.social_security_es, check_digits.cuit, check_digits.rut, check_digits.cpf,
    check_digits.curp, check_digits.nhs, check_digits.vin, check_digits.isbn, check_digits.ean,
)  # fmt: skip
_ATTEMPTS = 10_000
_TRIES = 50
"""Draws from a small reserved range before a wider one is used."""
_NAME_TOKEN = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_KEPT_TITLES = word_set(
    "mr mrs ms miss dr dra doctor doctora prof sir lady rev sr sra srta don dona señor señora"
)
_PARTICLES = word_set("de del la las los y i da do dos di van von der den el")


@dataclass(frozen=True)
class Surrogate(Action):
    """An invented value of the same kind, language, gender and shape."""

    method_name: ClassVar[str] = "surrogate"
    needs_key: ClassVar[bool] = True
    is_linkable: ClassVar[bool] = True

    def replacement(self, mention: Mention, context: ActionContext) -> str:
        """The surrogate of the mention's entity, in the form of the mention."""
        kind = mention.finding.kind
        if kind == "person":
            return self._name(mention, context)
        maker = _MAKERS.get(kind)
        if maker is None:
            action: Action = Redact() if kind in ("date", "birth", "age") else Label()
            return action.replacement(mention, context)
        scope = context.scope_of(mention)
        entity = (self.method_name, scope, kind, entity_form(mention))
        if entity not in context.memory:
            context.memory[entity] = _unused(
                maker(mention, context.secret(), scope), context, f"{scope}\x1f{kind}", mention
            )
        return context.memory[entity]

    def _name(self, mention: Mention, context: ActionContext) -> str:
        words = name_words(mention.canonical) or name_words(mention.text)
        form = NameForms(words)
        scope = context.scope_of(mention)
        entity = (self.method_name, scope, "person", " ".join(words))
        if entity not in context.memory:
            context.memory[entity] = " ".join(
                self._new_name(form, mention.document.language, context, scope)
            )
        new = context.memory[entity].split(" ")
        return _in_the_form_of(mention.text, words, new)

    def _new_name(
        self, form: NameForms, language: Language, context: ActionContext, scope: str
    ) -> list[str]:
        """One new word for each word of a name: from the lists while they last, then coined."""
        taken = context.used.setdefault(f"{scope}\x1fperson", set())
        alone = context.used.setdefault(f"{scope}\x1fperson alone", set())
        words = context.used.setdefault(f"{scope}\x1fwords of persons", set())
        for made in chain(
            _listed_names(form, language, context, scope, len(taken)),
            _coined_names(form, language, context, scope),
        ):
            shown = " ".join(made)
            # A name of one word must not be a word of another surrogate.
            clash = shown in words if len(made) == 1 else not alone.isdisjoint(made)
            if shown not in taken and not clash:
                taken.add(shown)
                words.update(made)
                if len(made) == 1:
                    alone.add(shown)
                return made
        raise AssertionError("coined names do not end")


_ROUNDS = 64
"""Names of the lists that are tried for one person before one is coined."""


def _gender(form: NameForms) -> str:
    return next((found for word in form.given if (found := word_lists.gender_of(word))), "")


def _listed_names(
    form: NameForms, language: Language, context: ActionContext, scope: str, place: int
) -> Iterator[list[str]]:
    """Given names and surnames of the lists, in the order of the key, from a place on."""
    key, gender = context.secret(), _gender(form)
    names = (
        word_lists.given_names(language, gender) if gender else word_lists.neutral_names(language)
    )
    given = context.order(key, _allowed(names, context), "given", scope, language, gender)
    own = _allowed(word_lists.surnames(language), context)
    family = context.order(key, own, "family", scope, language)
    if not given or not family:
        return
    for attempt in range(place, place + min(_ROUNDS, len(given) * len(family))):
        made = [given[(attempt // len(family) + attempt) % len(given)]]
        made += [given[(attempt + 1 + at) % len(given)] for at in range(len(form.given) - 1)]
        made += [family[(attempt + at * 7) % len(family)] for at in range(len(form.family))]
        yield (made if form.family else made[-len(form.words) :])[: len(form.words)]


def _coined_names(
    form: NameForms, language: Language, context: ActionContext, scope: str
) -> Iterator[list[str]]:
    """Names that nobody of the collection has, put together of syllables; they do not end."""
    gender = _gender(form) or "neutral"
    key, own = context.secret(), " ".join(form.words)
    for drawn in _draws(key, 10**30, "coined", scope, language, own):
        rest, made = drawn, []
        for at in range(len(form.words)):
            rest, name = coined(rest, language, gender if at < len(form.given) else "family")
            made.append(name)
        if all(folded(name) not in context.forbidden for name in made):
            yield made


def _allowed(names: tuple[str, ...], context: ActionContext) -> list[str]:
    return [name for name in names if folded(name) not in context.forbidden]


def _in_the_form_of(text: str, words: tuple[str, ...], new: list[str]) -> str:
    """A new name with the titles, the initials and the case of a mention."""
    made: list[str] = []
    last = 0
    place = 0
    skipped = False
    for match in _NAME_TOKEN.finditer(text):
        word = folded(match.group()).removesuffix("'s").removesuffix("\u2019s")
        if word in _KEPT_TITLES:
            continue
        if word in _PARTICLES and word not in words:
            made.append(text[last : match.start()] if not skipped else "")
            last, skipped = match.end(), True
            continue
        found = next(
            (at for at in range(place, len(words)) if is_same_word(word, words[at])),
            next((at for at in range(len(words)) if is_same_word(word, words[at])), None),
        )
        if found is None:
            found = min(place, len(new) - 1)
        gap = text[last : match.start()]
        if skipped:
            gap = ""
        made += [gap, _cased(match.group(), new[found])]
        place = min(found + 1, len(new) - 1)
        last, skipped = match.end(), False
        if match.group().lower().endswith(("'s", "\u2019s")):
            made.append(match.group()[-2:])
    return "".join([*made, text[last:]])


def _cased(original: str, new: str) -> str:
    if len(original) == 1:
        return new[0].upper() if original.isupper() else new[0].lower()
    if original.isupper() and len(original) > 1:
        return new.upper()
    return new.lower() if original.islower() else new


def _unused(candidates: Iterator[str], context: ActionContext, place: str, mention: Mention) -> str:
    taken = context.used.setdefault(place, set())
    for attempt, candidate in enumerate(candidates):
        is_name = mention.finding.kind == "place" and any(
            folded(word) in context.forbidden for word in candidate.split()
        )
        if candidate not in taken and candidate != mention.text and not is_name:
            taken.add(candidate)
            return candidate
        if attempt > _ATTEMPTS:
            break
    raise InputError("CEL-N021", kind=mention.finding.kind, taken=len(taken))


def _draws(key: Key, bound: int, *parts: str) -> Iterator[int]:
    attempt = 0
    while True:
        yield key.number(bound, "surrogate", *parts, str(attempt))
        attempt += 1


def _number(mention: Mention, key: Key, scope: str) -> Iterator[str]:
    """Digits and letters of the same shape, of which no check adds up."""
    text = mention.text
    bare = re.sub(r"[\W_]", "", text).upper()
    is_account = re.match(r"[A-Z]{2}\d\d", bare) is not None
    for drawn in _draws(key, 36 ** max(6, len(bare)), mention.finding.kind, scope, bare):
        rest, made, place = drawn, [], 0
        for mark in text:
            if mark.isdigit():
                rest, digit = divmod(rest, 10)
                # The check digits 00 fit no account number.
                made.append("0" if is_account and place in (2, 3) else str(digit))
            elif mark.isalpha() and not (is_account and place < 2):
                rest, letter = divmod(rest, 26)
                made.append("ABCDEFGHIJKLMNOPQRSTUVWXYZ"[letter])
            else:
                made.append(mark)
            place += mark.isalnum()
        found = "".join(made)
        tight = re.sub(r"[\W_]", "", found).upper()
        if not any(check(tight) for check in _CHECKS):
            yield found


def _contact(mention: Mention, key: Key, scope: str) -> Iterator[str]:
    text = mention.text
    if "@" in text:
        form = entity_form(mention)
        for drawn in _draws(key, 10**6, "contact", scope, form):
            if text.startswith("@"):
                yield f"@user{drawn:06d}"
            else:
                yield f"user{drawn:06d}@example.org"
        return
    digits = [mark for mark in text if mark.isdigit()]
    reserved = _draws(key, 10**3, "contact", scope, "".join(digits))
    for drawn in islice(reserved, _TRIES):
        yield _fictitious(text, len(digits), drawn)
    # The reserved range is used up: numbers of zeros and a few digits, which no telephone has.
    for drawn in _draws(key, 10**6, "contact", scope, "".join(digits), "unassigned"):
        shown = iter(f"{drawn:06d}".rjust(len(digits), "0")[-len(digits) :])
        yield "".join(next(shown) if mark.isdigit() else mark for mark in text)


def _fictitious(text: str, count: int, drawn: int) -> str:
    """A telephone of a range that nobody has, in the punctuation of the original."""
    if text.startswith("0") and not text.startswith("00"):  # a range of the British regulator
        new = "01614960".ljust(count, "0")[: count - 3] + f"{drawn:03d}"
    elif count == 10:  # 555-0100 to 555-0199 belong to nobody
        new = f"{200 + drawn // 100 * 50}55501{drawn % 100:02d}"
    elif text.startswith(("+", "00")):
        country = 2 if text.startswith("+") else 4
        kept = "".join(mark for mark in text if mark.isdigit())[:country]
        new = (
            kept + "600000".ljust(count - country - 3, "0")[: count - country - 3] + f"{drawn:03d}"
        )
    else:
        new = "600000".ljust(count, "0")[: max(0, count - 3)] + f"{drawn:03d}"
    shown = iter(new[-count:].rjust(count, "0"))
    return "".join(next(shown) if mark.isdigit() else mark for mark in text)


def _device(mention: Mention, key: Key, scope: str) -> Iterator[str]:
    text = mention.text
    if re.fullmatch(r"\d{1,3}(?:\.\d{1,3}){3}", text):
        for drawn in islice(_draws(key, 3 * 254, "device", scope, text), _TRIES):
            yield f"{('192.0.2', '198.51.100', '203.0.113')[drawn // 254]}.{drawn % 254 + 1}"
        # The ranges for documentation are used up: the block 240.0.0.0/4 belongs to nobody.
        for drawn in _draws(key, 1 << 28, "device", scope, text, "reserved"):
            yield ".".join(map(str, ((0xF << 28) + drawn).to_bytes(4, "big")))
    elif "::" in text or text.count(":") == 7:
        for drawn in _draws(key, 16**8, "device", scope, text):
            yield f"2001:db8::{drawn >> 16:x}:{drawn & 0xFFFF:x}"
    elif re.fullmatch(r"[0-9A-Fa-f]{2}([:-])(?:[0-9A-Fa-f]{2}[:-]?){5}", text):
        for drawn in _draws(key, 16**6, "device", scope, text):
            mark = text[2]
            pairs = ("02", "00", "00", *(f"{drawn >> shift & 255:02x}" for shift in (16, 8, 0)))
            yield mark.join(pairs)
    else:
        yield from _number(mention, key, scope)


def _url(mention: Mention, key: Key, scope: str) -> Iterator[str]:
    for drawn in _draws(key, 10**6, "url", scope, mention.text):
        yield f"https://example.org/{drawn:06d}"


def _place(mention: Mention, key: Key, scope: str) -> Iterator[str]:
    language = mention.document.language
    own = folded(mention.text)
    names = [each for each in word_lists.terms("place", language) if folded(each) != own]
    yield from key.order(names, "place", scope, own)
    for drawn in _draws(key, 10**12, "place", scope, own):
        name = coined(drawn, language, "family")[1]
        yield f"Villa{name.lower()}" if language == "es" else f"{name}ville"


def _address(mention: Mention, key: Key, scope: str) -> Iterator[str]:
    is_spanish = mention.document.language == "es"
    for drawn in _draws(key, 9999, "address", scope, mention.text):
        yield f"Calle Inventada {drawn + 1}" if is_spanish else f"{drawn + 1} Example Street"


_MAKERS = {
    "id": _number,
    "account": _number,
    "record": _number,
    "plate": _number,
    "contact": _contact,
    "device": _device,
    "url": _url,
    "place": _place,
    "address": _address,
}
