"""Triple patterns: a subject, a predicate and an object, any of which may be a variable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from celosia.queries.sparql.constants import Constant


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable, a blank node of the query, or a step inside a path."""

    name: str
    is_hidden: bool = False
    """Whether the query cannot refer to it."""

    def __str__(self) -> str:
        return f"?{self.name}"


Term = Variable | Constant


@dataclass(frozen=True, slots=True)
class Pattern:
    """A triple pattern; its predicate is an address or a variable."""

    subject: Term
    predicate: Term
    object: Term
    is_closure: bool = False
    """Whether any number of such facts, one after the other, lead from subject to object."""
    differs: bool = False
    """Whether subject and object must not be the same."""
    excluded: tuple[Constant, ...] = ()
    """Predicates that a variable one must not be."""
    among: str | None = None
    """The table of all predicates that a variable one may be, where there are several such."""
    graph: str | None = None
    """The short name of the named graph that its facts are in; None for the default graph."""

    @property
    def terms(self) -> tuple[tuple[str, Term], ...]:
        """The terms by the columns that hold them."""
        return (
            ("subject", self.subject),
            ("predicate", self.predicate),
            ("object", self.object),
        )

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables, each once."""
        found = (term for _, term in self.terms if isinstance(term, Variable))
        return tuple(dict.fromkeys(found))

    def substitute(self, terms: Mapping[Variable, Term]) -> Pattern:
        """The pattern with other terms in the place of some variables."""
        made = [
            terms.get(each, each) if isinstance(each, Variable) else each for _, each in self.terms
        ]
        return replace(self, subject=made[0], predicate=made[1], object=made[2])
