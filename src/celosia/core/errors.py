"""One family of errors that teach: what is wrong, why it matters, what to do.

An error is a code of the catalogue (`core/catalogue/`) and the fields of its templates. No field
may hold a cell value of private data: columns, row numbers and counts only.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import PurePath
from typing import ClassVar, Self

from celosia.core.messages import Language, Message, current, fill, part_template, render


class CelosiaError(Exception):
    """The root of every error that Celosía raises on purpose.

    Args:
        key: the code of the problem, expanded by `celosia explain CODE`, and after a point the
            variant of its message where the catalogue has several.
        fields: what the templates of the message name, and other facts for programs.

    >>> error = InputError("CEL-P024", distance="ordered", needed="an order", column="town")
    >>> print(error.what)
    the ordered distance needs an order, which 'town' lacks.
    >>> error.code, error.details["column"]
    ('CEL-P024', 'town')
    """

    exit_code: ClassVar[int] = 2
    """How the command line ends: 1 cannot be promised, 2 bad input, 3 no budget, 70 our fault."""

    def __init__(self, key: str, /, **fields: object) -> None:
        super().__init__(key)
        self.texts: Mapping[str, str] = {}
        """The parts of the message as another machine said them."""
        self.key = key
        self.details = fields
        self.places: tuple[object, ...] = ()

    @property
    def code(self) -> str:
        """The stable name of the problem."""
        return self.key.partition(".")[0]

    @property
    def what(self) -> str:
        """What is wrong, with names, the allowed range and what was received."""
        return self.part("what")

    @property
    def why(self) -> str:
        """Why it matters."""
        return self.part("why")

    @property
    def fix(self) -> str:
        """What to do next."""
        return self.part("fix")

    def part(self, name: str, into: Language | None = None) -> str:
        """One part of the message (`what`, `why`, `fix`) or its `title`, in a language."""
        wanted = into or current()
        if name in self.texts:
            text = self.texts[name]
        else:
            text = fill(part_template(self.key, name, wanted), self.details, wanted)
        places = self.places if name == "what" else ()
        return ": ".join([*(render(each, wanted) for each in places), text])

    def render(self, into: Language | None = None) -> str:
        """The whole message in a language."""
        parts = (self.part(name, into) for name in ("what", "why", "fix"))
        return " ".join(part for part in parts if part)

    def within(self, place: str | Message) -> Self:
        """The same error, which says first where it arose: a file, a column, a step.

        >>> print(InputError("CEL-I042").within("people.csv").what)
        people.csv: there is not enough memory.
        """
        self.places = (place, *self.places)
        return self

    def replace(self, old: str, new: str) -> Self:
        """The same error with another text in the place of one: the name of a file for its path.

        >>> error = InputError("CEL-I042").within("/tmp/1/people.csv").replace("/tmp/1/", "")
        >>> error.what
        'people.csv: there is not enough memory.'
        """
        self.details = {name: _replaced(each, old, new) for name, each in self.details.items()}
        self.places = tuple(_replaced(each, old, new) for each in self.places)
        return self

    def __str__(self) -> str:
        return self.render()

    def __reduce__(self) -> tuple[object, ...]:
        """Let an error pass from one process to another, with all that it knows."""
        return _rebuilt, (type(self), self.args, self.__dict__)

    def as_dict(self) -> dict[str, object]:
        """The same facts for `--json` and for the HTTP service, always in English."""
        return {
            "code": self.code,
            "error": self.part("what", "en"),
            "why": self.part("why", "en"),
            "hint": self.part("fix", "en"),
            "details": {name: _plain(value) for name, value in self.details.items()},
        }


class InputError(CelosiaError):
    """The data or a parameter is wrong."""


class PrivacyError(CelosiaError):
    """What is asked cannot be promised."""

    exit_code = 1


class QueryRefused(CelosiaError):  # noqa: N818 - a refusal is an answer, named as one
    """A query that cannot be answered under the policy."""

    exit_code = 1


class BudgetExceeded(CelosiaError):  # noqa: N818 - reads as the fact it states
    """The privacy budget does not allow the charge."""

    exit_code = 3


class EngineError(CelosiaError):
    """A database or an optional part failed or is missing."""


class Cancelled(CelosiaError):  # noqa: N818 - a request, not a fault
    """Work that was stopped on request; nothing was written."""

    exit_code = 130

    def __init__(self) -> None:
        super().__init__("CEL-C001")


class PrivacyWarning(UserWarning):
    """Something that weakens a promise without breaking it; recorded in the release as well."""


class DataWarning(UserWarning):
    """A table was not read as it is written; what was changed, without any cell."""


def _replaced(value: object, old: str, new: str) -> object:
    """A field with another text in the place of one, also inside lists and messages."""
    if isinstance(value, Message):
        return Message(value.key, **{k: _replaced(v, old, new) for k, v in value.fields.items()})
    if isinstance(value, str | PurePath):
        return new if str(value) == old else str(value).replace(old, new)
    if isinstance(value, list | tuple):
        return [_replaced(each, old, new) for each in value]
    return value


def _plain(value: object) -> object:
    """A field for JSON: numbers, texts, lists and tables as they are, anything else as text."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(each) for each in value]
    return render(value, "en")


def _rebuilt(
    kind: type[CelosiaError], words: tuple[object, ...], facts: dict[str, object]
) -> CelosiaError:
    """An error as it was in another process."""
    error = kind.__new__(kind, *words)
    error.args = words
    error.__dict__.update(facts)
    return error
