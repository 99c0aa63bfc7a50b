"""Settings of a policy file, each checked for its type; its problems are reported together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from fractions import Fraction
from typing import Any

from celosia.core.errors import InputError
from celosia.core.messages import Message, did_you_mean
from celosia.core.numbers import exact, whole

MOST_SHOWN = 20
"""Problems that one message lists: a file of another kind would fill the screen."""


@dataclass(slots=True)
class Problems:
    """Collects problems, so that the owner mends a policy in one go.

    >>> problems = Problems()
    >>> problems.unknown(["epsilom"], ["epsilon"], "the policy")
    >>> problems.unknown(["rows"], ["delta"], "[budget]")
    >>> problems.refuse()
    Traceback (most recent call last):
        ...
    celosia.core.errors.InputError: the policy has 2 problems:
    - the policy has the unknown key 'epsilom' (did you mean 'epsilon'?). A misspelt key would be \
ignored in silence. Use: epsilon.
    - [budget] has the unknown key 'rows'. A misspelt key would be ignored in silence. Use: delta.
    """

    items: list[InputError] = field(default_factory=list)
    unread: int = 0
    """The number of problems beyond misspelt keys, which leave all other settings readable."""

    def add(self, key: str, /, **fields: object) -> None:
        """Note one, unless it was noted already."""
        problem = InputError(key, **fields)
        seen = [(each.key, each.details) for each in self.items[-MOST_SHOWN:]]
        if (problem.key, problem.details) not in seen:
            self.items.append(problem)
            self.unread += problem.code != "CEL-Q004"

    def unknown(self, names: Iterable[str], allowed: Iterable[str], where: str) -> None:
        """Note names that nobody would read."""
        options = sorted(allowed)
        for name in sorted(set(names) - set(options)):
            hint = did_you_mean(name, options)
            self.add("CEL-Q004", where=where, name=name, hint=hint, options=", ".join(options))

    def refuse(self) -> None:
        """Raise what was noted, as one error; nothing if there was nothing."""
        if not self.items:
            return
        listed = [
            {name: text for name, text in problem.as_dict().items() if name != "details"}
            for problem in self.items
        ]
        if len(self.items) == 1:
            (only,) = self.items
            only.details["problems"] = listed
            raise only
        lines: list[object] = list(self.items[:MOST_SHOWN])
        if len(self.items) > MOST_SHOWN:
            lines.append(Message("queries.more_problems", count=len(self.items) - MOST_SHOWN))
        raise InputError("CEL-Q003", count=len(self.items), lines=lines, problems=listed)


Table = Mapping[str, Any]

_AMOUNT = re.compile(r"[+-]?[0-9]+(?:/[0-9]+|\.[0-9]+)?")
LONGEST_AMOUNT = 80
"""Letters of an amount in quotes: exact sums of longer ones would cost more than they say."""
LARGEST_PART = 10**400
"""The limit for other numbers: every decimal of practical use is below."""


_TYPES: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (bool, "queries.setting_type.flag"),
    (int, "queries.setting_type.whole"),
    ((float, Decimal), "queries.setting_type.number"),
    (str, "queries.setting_type.text"),
    (list, "queries.setting_type.list"),
    (Mapping, "queries.setting_type.section"),
    ((datetime, time), "queries.setting_type.time"),
    (date, "queries.setting_type.date"),
)
"""The first that fits holds: a flag is a whole number too, and a moment a day."""


def describe_type(value: object) -> Message:
    """Describe the type of a value of a TOML file.

    >>> describe_type(True), describe_type(3), describe_type([])
    ('true or false', 'a whole number', 'a list')
    """
    named = (key for kinds, key in _TYPES if isinstance(value, kinds))
    return Message(next(named, "queries.setting_type.other"))


def parse_amount(value: object) -> Fraction | None:
    """The exact number that a setting is written as: 0.1, 3, or a text such as "1/3".

    >>> [parse_amount(each) for each in ("1/3", "0.1", 0.1, "1/0", "one")]
    [Fraction(1, 3), Fraction(1, 10), Fraction(1, 10), None, None]
    """
    if not isinstance(value, str):
        number = exact(value)
        longest = 0 if number is None else max(abs(number.numerator), number.denominator)
        return number if longest < LARGEST_PART else None
    if len(value) > LONGEST_AMOUNT or not _AMOUNT.fullmatch(value):
        return None
    bottom = value.partition("/")[2]
    if bottom and int(bottom) == 0:
        return None
    return Fraction(value)


@dataclass(frozen=True, slots=True)
class Settings:
    """A table of a policy file, read key by key; what is wrong goes to `problems`.

    Args:
        table: the settings.
        where: what the table is called in messages.
        problems: where to note what is wrong.
        allowed: the keys that are read; any other is a problem. None where keys are names.
    """

    table: Table
    where: str
    problems: Problems
    allowed: frozenset[str] | None = None

    def __post_init__(self) -> None:
        if self.allowed is not None:
            self.problems.unknown(self.table, self.allowed, self.where)

    def has(self, key: str) -> bool:
        """Whether a key is there."""
        return key in self.table

    def section(self, key: str, where: str, allowed: Iterable[str] | None = None) -> Settings:
        """A table of settings in this one; empty if it is not there."""
        found = self.table.get(key, {})
        if not isinstance(found, Mapping):
            self.add_wrong_type("CEL-Q005.not_a_section", key, found, section=where)
            found = {}
        keys = None if allowed is None else frozenset(allowed)
        return Settings(found, where, self.problems, keys)

    def text(self, key: str) -> str | None:
        """A text; None if it is not there or is none."""
        value = self.table.get(key)
        if value is None or isinstance(value, str):
            return value
        self.add_wrong_type("CEL-Q005.not_a_text", key, value)
        return None

    def flag(self, key: str) -> bool:
        """True or false; false if it is not there."""
        value = self.table.get(key, False)
        if isinstance(value, bool):
            return value
        self.add_wrong_type("CEL-Q005.not_a_flag", key, value)
        return False

    def word(self, key: str, options: Iterable[str], default: str | None = None) -> str | None:
        """One of some words."""
        known = list(options)
        value = self.text(key)
        if value is None:
            return default
        if value not in known:
            self.problems.add(
                "CEL-Q005.unknown_word",
                key=key,
                where=self.where,
                known=", ".join(known),
                value=value,
                hint=did_you_mean(value, known),
            )
            return default
        return value

    def count(self, key: str) -> int | None:
        """A whole number; None if it is not there or is none."""
        value = self.table.get(key)
        number = whole(value)
        if value is not None and number is None:
            self.add_wrong_type("CEL-Q005.not_whole", key, value)
        return number

    def number(self, key: str) -> Fraction | None:
        """An exact number; None if it is not there or is none."""
        value = self.table.get(key)
        if value is None:
            return None
        number = parse_amount(value)
        if number is None:
            self.problems.add("CEL-Q005.no_number", key=key, where=self.where)
        return number

    def pairs(self, key: str) -> list[tuple[Fraction | None, Fraction | None]]:
        """A list of pairs of numbers; a pair that is none holds None."""
        found: list[tuple[Fraction | None, Fraction | None]] = []
        value = self.table.get(key)
        for each in value if isinstance(value, list) else []:
            if isinstance(each, list) and len(each) == 2:
                found.append((parse_amount(each[0]), parse_amount(each[1])))
            else:
                found.append((None, None))
        return found

    def add_wrong_type(self, problem: str, key: str, value: object, **fields: object) -> None:
        """Note a setting of another type. What was written is not shown but for its type."""
        self.problems.add(problem, key=key, where=self.where, got=describe_type(value), **fields)
