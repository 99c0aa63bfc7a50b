"""One family of errors that teach: what is wrong, why it matters, what to do.

No message may hold a cell value of private data: columns, row numbers and counts only.
"""

from __future__ import annotations

from typing import ClassVar


class CelosiaError(Exception):
    """The root of every error that Celosía raises on purpose.

    Args:
        code: stable name of the problem, expanded by `celosia explain CODE`.
        what: what is wrong, with names, the allowed range and what was received.
        why: why it matters.
        fix: what to do next.
        details: the facts behind the message (column, row, ...) for programs.

    >>> error = InputError("CEL-P010", "k must be at least 2, got 1.",
    ...                    why="A class of one is a single person.", fix="Try k = 5.", k=1)
    >>> print(error)
    k must be at least 2, got 1. A class of one is a single person. Try k = 5.
    >>> error.code, error.details
    ('CEL-P010', {'k': 1})
    """

    exit_code: ClassVar[int] = 2
    """How the command line ends: 1 cannot be promised, 2 bad input, 3 no budget, 70 our fault."""

    def __init__(self, code: str, what: str, *, why: str = "", fix: str = "", **details: object):
        super().__init__(" ".join(part for part in (what, why, fix) if part))
        self.code = code
        self.what = what
        self.why = why
        self.fix = fix
        self.details = details

    def __reduce__(self) -> tuple[object, ...]:
        """Let an error pass from one process to another, with all that it knows."""
        return _rebuilt, (type(self), self.args, self.__dict__)

    def as_dict(self) -> dict[str, object]:
        """The same facts for `--json` and for the HTTP service."""
        return {
            "code": self.code,
            "error": self.what,
            "why": self.why,
            "hint": self.fix,
            "details": self.details,
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
        super().__init__("CEL-C001", "Cancelled.", why="Nothing was written.")


class PrivacyWarning(UserWarning):
    """Something that weakens a promise without breaking it; recorded in the release as well."""


def _rebuilt(
    kind: type[CelosiaError], words: tuple[object, ...], facts: dict[str, object]
) -> CelosiaError:
    """An error as it was in another process."""
    error = kind.__new__(kind, *words)
    error.args = words
    error.__dict__.update(facts)
    return error
