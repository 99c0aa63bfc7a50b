"""What a recogniser is: a pattern, where it may begin, a check and trigger words.

A number whose check is right is surer; one whose check is wrong is dropped unless a trigger word
stands beside it (a misprint is still the number of a person). Weak checks (a random number passes
one time in 23 or more) need a trigger word or the punctuation that is typical of the kind.

Patterns are linear in the text: a bounded length or a possessive run, and a look behind that lets
no second attempt start inside the same run.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from celosia.assess.recognisers.places import Begins

Check = Callable[[str], bool]

SURE = 0.85
"""The score of a form that hardly anything else has, or of a strong check digit."""
LIKELY = 0.6
POSSIBLE = 0.4
CONTEXT = 0.3
"""What a trigger word beside the number adds."""


@dataclass(frozen=True, slots=True)
class Protected:
    """A form of numbers that identify nobody."""

    pattern: re.Pattern[str]
    begins: tuple[Begins, ...] = (None,)


@dataclass(frozen=True, slots=True)
class Recogniser:
    """A pattern with its check and its trigger words."""

    name: str
    kind: str
    score: float
    """Without a check, or with a check that is right."""
    begins: tuple[Begins, ...]
    pattern: re.Pattern[str]
    check: Check | None = None
    context: frozenset[str] = frozenset()
    needs_context: bool = False
    typical: re.Pattern[str] | None = None
    """Punctuation that makes a weak check enough."""
    keeps_wrong: bool = True
    """Whether a trigger word keeps a number whose check is wrong."""

    def judge(self, written: str, *, has_context: bool) -> float:
        """How sure the recogniser is of a text; 0 where it is none."""
        if self.check is not None and not self.check(compact(written)):
            return POSSIBLE + CONTEXT / 2 if self.keeps_wrong and has_context else 0.0
        if has_context:
            return min(1.0, self.score + CONTEXT)
        is_typical = self.typical is not None and self.typical.fullmatch(written) is not None
        return 0.0 if self.needs_context and not is_typical else self.score


_MARKS = re.compile(r"[\s./·-]+")


def compact(text: str) -> str:
    """A number without separators, in upper case.

    >>> compact("12.345.678-z")
    '12345678Z'
    """
    return _MARKS.sub("", text).upper()
