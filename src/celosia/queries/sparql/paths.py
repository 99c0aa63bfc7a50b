"""Property paths as alternatives of triple patterns.

A sequence is a chain of patterns, an alternative a list of branches, and `?` is the step or none.
`+` is a closure, which only public predicates have; `*` is the closure or no step. `!` is a pattern
with a variable predicate that must not be one of some. A path of `?`, `*` or `+` is found once, so
that the way without a step and those that lead back to where they begin must not both be counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from celosia.queries.sparql.branches import Branch, join_all
from celosia.queries.sparql.constants import TermReader
from celosia.queries.sparql.patterns import Pattern, Term, Variable
from celosia.queries.sparql.refusals import refusal
from celosia.queries.sparql.trees import name_of, part_of


@dataclass(frozen=True, slots=True)
class PathReader:
    """Reads paths."""

    reader: TermReader
    fresh: Callable[[], Variable]
    """Makes a hidden variable, for the places between steps."""

    def branches(  # noqa: PLR0911 - one for each kind of path
        self, subject: Term, path: Any, target: Term
    ) -> list[Branch]:
        """The alternatives of a path between two terms.

        Raises:
            QueryRefused: CEL-Q247 a closure of more than a predicate, and other odd paths.
        """
        match name_of(path):
            case "PathAlternative":
                return [
                    one for part in path["part"] for one in self.branches(subject, part, target)
                ]
            case "PathSequence":
                return self._sequence(subject, list(path["part"]), target)
            case "PathElt" if not part_of(path, "mod"):
                return self.branches(subject, _only(path["part"]), target)
            case "PathElt":
                return self._repeated(subject, _only(path["part"]), str(path["mod"]), target)
            case "PathEltOrInverse":
                return self.branches(target, _only(path["part"]), subject)
            case "PathNegatedPropertySet":
                return self._negated(subject, path, target)
            case "" | "pname":
                return [Branch((Pattern(subject, self.reader.constant(path), target),))]
        raise refusal("CEL-Q247.path")

    def _sequence(self, subject: Term, parts: list[Any], target: Term) -> list[Branch]:
        found = [Branch()]
        for place, part in enumerate(parts, start=1):
            end = target if place == len(parts) else self.fresh()
            found = join_all(found, self.branches(subject, part, end))
            subject = end
        return found

    def _repeated(self, subject: Term, path: Any, mod: str, target: Term) -> list[Branch]:
        steps = self.branches(subject, path, target)
        if mod == "?":
            if any(len(each.patterns) != 1 for each in steps) or len(steps) != 1:
                raise refusal("CEL-Q247.path_once")
        elif not _is_step(steps):
            raise refusal("CEL-Q247.path")
        (pattern,) = steps[0].patterns
        is_closure = mod in ("*", "+")
        made = Pattern(
            pattern.subject,
            pattern.predicate,
            pattern.object,
            is_closure=is_closure,
            differs=mod != "+",
        )
        return (
            [Branch((made,))] if mod == "+" else [Branch((made,)), *_without_step(subject, target)]
        )

    def _negated(self, subject: Term, path: Any, target: Term) -> list[Branch]:
        parts = path["part"] if isinstance(path["part"], list) else [path["part"]]
        if any(name_of(each) not in ("", "pname") for each in parts):
            raise refusal("CEL-Q247.path_negated")
        excluded = tuple(self.reader.constant(each) for each in parts)
        return [Branch((Pattern(subject, self.fresh(), target, excluded=excluded),))]


def _is_step(steps: list[Branch]) -> bool:
    return (
        len(steps) == 1
        and len(steps[0].patterns) == 1
        and not isinstance(steps[0].patterns[0].predicate, Variable)
        and not steps[0].patterns[0].is_closure
    )


def _without_step(subject: Term, target: Term) -> list[Branch]:
    """The way without a step, which two different constants do not have."""
    if subject == target:
        return [Branch()]
    if isinstance(target, Variable):
        return [Branch(fixed={target: subject})]
    return [Branch(fixed={subject: target})] if isinstance(subject, Variable) else []


def _only(part: Any) -> Any:
    return part[0] if isinstance(part, list) and len(part) == 1 else part
