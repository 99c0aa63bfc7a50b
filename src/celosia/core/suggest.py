"""Near names, for errors about misspelt ones."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """The nearest known name, to put after a name in a sentence; or nothing.

    >>> did_you_mean("agee", ["age", "zip"])
    " (did you mean 'age'?)"
    >>> did_you_mean("disease", ["age", "zip"])
    ''
    """
    near = get_close_matches(str(name), list(known), n=1)
    return f" (did you mean '{near[0]}'?)" if near else ""
