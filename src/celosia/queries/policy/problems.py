"""The problems of a policy, collected and reported together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from celosia.core.errors import InputError
from celosia.core.wording import counted, did_you_mean

MOST_SHOWN = 20
"""Problems that one message lists: a file of another kind would fill the screen."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: its code, and what an error says of it."""

    code: str
    what: str
    why: str = ""
    fix: str = ""

    def __str__(self) -> str:
        return " ".join(part for part in (self.what, self.why, self.fix) if part)

    def as_dict(self) -> dict[str, str]:
        """Plain texts for JSON."""
        return {"code": self.code, "error": self.what, "why": self.why, "hint": self.fix}


@dataclass(slots=True)
class Problems:
    """Collects problems, so that the owner mends a policy in one go.

    >>> problems = Problems("the policy")
    >>> problems.add("CEL-Q013", "epsilon is 0.", fix="Try 1.")
    >>> problems.add("CEL-Q010", "there is no unit.")
    >>> problems.refuse()
    Traceback (most recent call last):
        ...
    celosia.core.errors.InputError: the policy has 2 problems:
    - epsilon is 0. Try 1.
    - there is no unit.
    """

    subject: str
    items: list[Problem] = field(default_factory=list)
    unread: int = 0
    """The number of problems beyond misspelt keys, which leave all other settings readable."""

    def add(self, code: str, what: str, *, why: str = "", fix: str = "") -> None:
        """Note one, unless it was noted already."""
        problem = Problem(code, what, why, fix)
        if problem not in self.items[-MOST_SHOWN:]:
            self.items.append(problem)
            self.unread += code != "CEL-Q004"

    def unknown(self, names: Iterable[str], allowed: Iterable[str], where: str) -> None:
        """Note names that nobody would read."""
        options = sorted(allowed)
        for name in sorted(set(names) - set(options)):
            self.add(
                "CEL-Q004",
                f"{where} has the unknown key {name!r}{did_you_mean(name, options)}.",
                why="A misspelt key would be ignored in silence.",
                fix=f"Use: {', '.join(options)}.",
            )

    def refuse(self) -> None:
        """Raise what was noted, as one error; nothing if there was nothing.

        Raises:
            InputError: the code of a single problem, CEL-Q003 for several.
        """
        if not self.items:
            return
        listed = [problem.as_dict() for problem in self.items]
        if len(self.items) == 1:
            (only,) = self.items
            raise InputError(only.code, only.what, why=only.why, fix=only.fix, problems=listed)
        lines = [f"- {problem}" for problem in self.items[:MOST_SHOWN]]
        if len(self.items) > MOST_SHOWN:
            lines.append(f"- and {len(self.items) - MOST_SHOWN:,} more")
        count = counted(len(self.items), "problem", "problems")
        raise InputError(
            "CEL-Q003",
            "\n".join([f"{self.subject} has {count}:", *lines]),
            problems=listed,
        )
