"""The exceptions of PEP 249, each made of an error of Celosía."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from contextlib import contextmanager

from celosia.core import errors


class Warning(builtins.Warning):
    """Never raised: warnings belong to an answer, see `QueryAnswer.warnings`."""


class Error(Exception):
    """The root of all errors of this module.

    Args:
        error: what Celosía refused or could not do; its `code` is that of `celosia explain`.
    """

    def __init__(self, error: errors.CelosiaError) -> None:
        super().__init__(f"{error.code}: {error}")
        self.error = error
        self.code = error.code


class InterfaceError(Error):
    """The interface was used wrongly: a closed connection, rows before a question."""


class DatabaseError(Error):
    """Something about the database."""


class DataError(DatabaseError):
    """Never raised: a wrong value in a row must not be told."""


class OperationalError(DatabaseError):
    """The budget, the service or the database does not allow it now."""


class IntegrityError(DatabaseError):
    """Never raised: nothing is written."""


class InternalError(DatabaseError):
    """Never raised on purpose."""


class ProgrammingError(DatabaseError):
    """The text or a parameter is wrong."""


class NotSupportedError(DatabaseError):
    """The answer cannot be promised under the policy, or nothing but a question was asked."""


_KINDS: tuple[tuple[type[errors.CelosiaError], type[Error]], ...] = (
    (errors.QueryRefused, NotSupportedError),
    (errors.BudgetExceeded, OperationalError),
    (errors.EngineError, OperationalError),
    (errors.InputError, ProgrammingError),
    (errors.CelosiaError, OperationalError),
)
"""The first that fits: a refused question, then what may go better later, then wrong input."""


def translate(error: errors.CelosiaError) -> Error:
    """The exception of PEP 249 for an error.

    >>> type(translate(errors.InputError("CEL-Q020.empty"))).__name__
    'ProgrammingError'
    """
    return next(kind for known, kind in _KINDS if isinstance(error, known))(error)


@contextmanager
def translating() -> Iterator[None]:
    """Raise the exceptions of PEP 249 in the place of ours."""
    try:
        yield
    except errors.CelosiaError as error:
        raise translate(error) from error
