"""The problems of a policy, collected and reported together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.wording import did_you_mean

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
        """Raise what was noted, as one error; nothing if there was nothing.

        Raises:
            InputError: the code of a single problem, CEL-Q003 for several.
        """
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
