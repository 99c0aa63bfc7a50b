"""Actions with a key: pseudonyms, format-preserving encryption, shifted dates."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import ClassVar

from celosia.core.methods import parameter
from celosia.core.pseudonyms.ff1 import FF1
from celosia.core.pseudonyms.keys import LENGTH, Key, check_length
from celosia.texts.actions.action import Action, ActionContext, Mention, entity_form
from celosia.texts.actions.plain import Redact
from celosia.texts.detection import dates


@dataclass(frozen=True)
class Pseudonym(Action):
    """A keyed pseudonym: equal values within the scope get equal ones, and only the key links them.

    The pseudonym is the first characters of HMAC-SHA-256(key, kind, scope, normal form) in base32.
    """

    method_name: ClassVar[str] = "pseudonym"
    needs_key: ClassVar[bool] = True
    is_linkable: ClassVar[bool] = True

    length: int = parameter(LENGTH, least=6, most=40)

    def replacement(self, mention: Mention, context: ActionContext) -> str:
        """`P-` and the pseudonym."""
        scope = context.scope_of(mention)
        kind = mention.finding.kind
        entity = (self.method_name, scope, kind, entity_form(mention))
        if entity not in context.memory:
            found = context.secret().pseudonym(kind, scope, entity[3], length=self.length)
            context.memory[entity] = f"P-{found}"
            check_length(self.length, len(context.memory))
        return context.memory[entity]


@dataclass(frozen=True)
class Encrypt(Action):
    """Format-preserving encryption (FF1): digits become other digits; the key decrypts them.

    Values with fewer than six digits cannot be encrypted safely and are redacted.
    """

    method_name: ClassVar[str] = "encrypt"
    needs_key: ClassVar[bool] = True
    is_reversible: ClassVar[bool] = True
    is_linkable: ClassVar[bool] = True

    def replacement(self, mention: Mention, context: ActionContext) -> str:
        """The same form with other digits and letters; separators stay."""
        if sum(map(_is_digit, mention.text)) < _FEWEST_DIGITS:
            return Redact().replacement(mention, context)
        place = (mention.finding.kind, context.scope_of(mention))
        return _permuted(mention.text, context.secret(), place, forward=True)

    def original(self, text: str, *, kind: str, scope: str, key: Key) -> str:
        """The text that was encrypted, in upper case: for the holder of the key."""
        return _permuted(text, key, (kind, scope), forward=False)


_FEWEST_DIGITS = 6
"""A million numbers: fewer could be listed."""

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _is_digit(mark: str) -> bool:
    return mark in "0123456789"


def _permuted(text: str, key: Key, place: tuple[str, str], *, forward: bool) -> str:
    """Digits by FF1; letters by a keyed shift that depends on the encrypted digits.

    A letter that stayed would tell: that of a Spanish identity number is the number modulo 23.
    """
    digits = "".join(filter(_is_digit, text))
    tweak = "\x1f".join(place).encode()
    cipher = _cipher(key)
    new = cipher.encrypt(digits, tweak) if forward else cipher.decrypt(digits, tweak)
    shown = iter(new)
    hidden = new if forward else digits
    made = []
    for at, mark in enumerate(text):
        letter = _LETTERS.find(mark.upper())
        if _is_digit(mark):
            made.append(next(shown))
        elif letter >= 0:
            step = key.number(26, "letter", *place, hidden, str(at))
            made.append(_LETTERS[(letter + (step if forward else -step)) % 26])
        else:
            made.append(mark)
    return "".join(made)


@cache
def _cipher(key: Key) -> FF1:
    return FF1(key.derive("FF1").secret)


@dataclass(frozen=True)
class Shift(Action):
    """All dates of a person moved by the same keyed number of days: intervals stay.

    One known date of the person undoes the shift. Birth dates become their year, since a birth date
    is known more often than any other; what cannot be shifted (a relative date, a holiday) goes.
    """

    method_name: ClassVar[str] = "shift"
    needs_key: ClassVar[bool] = True
    is_reversible: ClassVar[bool] = True

    days: int = parameter(364, least=7, most=36_500, unit="days")
    weekday: bool = parameter(False)

    def offset(self, key: Key, unit: str) -> int:
        """The number of days of a person: uniform over all but 0.

        >>> Shift(days=30).offset(Key(bytes(32)), "p") in range(-30, 31)
        True
        """
        step = 7 if self.weekday else 1
        most = self.days // step
        drawn = key.number(2 * most, "shift", unit) - most
        return step * (drawn if drawn < 0 else drawn + 1)

    def replacement(self, mention: Mention, context: ActionContext) -> str:
        """The shifted date in the form of the original."""
        document = mention.document
        parsed = dates.parse(mention.text, document.language)
        if parsed is not None and mention.finding.kind == "birth":
            return (
                str(parsed.day.year) if parsed.has_year else Redact().replacement(mention, context)
            )
        if parsed is None or not parsed.has_year:
            return Redact().replacement(mention, context)
        days = self.offset(context.secret(), document.unit)
        try:
            moved = parsed.day + timedelta(days=days)
        except OverflowError:
            return Redact().replacement(mention, context)
        return dates.write(moved, parsed, mention.text, document.language)
