"""The WHERE clause as triple patterns, conditions and lists of values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from celosia.core.messages import Message, did_you_mean
from celosia.queries.sparql.constants import Constant, TermReader, constant_number
from celosia.queries.sparql.refusals import not_sparql, refusal
from celosia.queries.sparql.scanner import MOST_PATTERNS
from celosia.queries.sparql.trees import is_blank, is_variable, name_of, part_of, walk_tree


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


@dataclass(slots=True)
class WhereClause:
    """All that a WHERE clause says."""

    reader: TermReader
    patterns: list[Pattern] = field(default_factory=list)
    conditions: list[Any] = field(default_factory=list)
    """Expressions of FILTER, as the parser has them."""
    values: list[tuple[Variable, list[Constant]]] = field(default_factory=list)
    """Variables with the terms that they may be."""
    hidden: dict[Any, tuple[Variable, int]] = field(default_factory=dict)
    """Blank nodes, each with the group that it is in."""
    groups: int = 0

    @property
    def variables(self) -> tuple[Variable, ...]:
        """All variables of patterns, in the order in which they come."""
        return tuple(dict.fromkeys(each for one in self.patterns for each in one.variables))

    def read(self, group: Any) -> None:
        """Add what a group says.

        Raises:
            QueryRefused: CEL-Q247, CEL-Q253, CEL-Q260.
        """
        self._group(group)
        if not self.patterns:
            raise refusal("CEL-Q253.empty")
        known = {each.name for each in self.variables}
        for variable, _ in self.values:
            if variable.name not in known:
                raise refusal("CEL-Q260.not_in_patterns", variable=variable)

    def _group(self, group: Any) -> None:
        if name_of(group) != "GroupGraphPatternSub":
            raise _unknown(group)
        self.groups += 1
        number, first = self.groups, len(self.patterns)
        conditions: list[Any] = []
        for part in part_of(group, "part") or ():
            match name_of(part):
                case "TriplesBlock":
                    for block in part["triples"]:
                        self._triples(list(block), number)
                case "Filter":
                    conditions.append(part["expr"])
                case "InlineData":
                    self._values(part)
                case "GroupOrUnionGraphPattern" if len(part["graph"]) == 1:
                    self._group(part["graph"][0])
                case _:
                    raise _unknown(part)
        known = {each.name for one in self.patterns[first:] for each in one.variables}
        for condition in conditions:
            check_bound(condition, known)
        self.conditions += conditions

    def _triples(self, terms: list[Any], group: int) -> None:
        if not terms or len(terms) % 3:
            raise not_sparql("CEL-Q240.pattern")
        for place in range(0, len(terms), 3):
            subject, path, target = terms[place : place + 3]
            self._path(self._term(subject, group), path, self._term(target, group))

    def _term(self, node: Any, group: int) -> Term:
        if is_variable(node):
            return Variable(str(node))
        if is_blank(node):
            if node not in self.hidden:
                self.hidden[node] = (self._fresh(), group)
            variable, first = self.hidden[node]
            if first != group:
                raise not_sparql("CEL-Q240.blank_node")
            return variable
        if isinstance(node, list):
            raise not_sparql("CEL-Q240.pattern")
        return self.reader.constant(node)

    def _fresh(self) -> Variable:
        # A space keeps it apart from every name of a query.
        return Variable(f"hidden {len(self.hidden) + len(self.patterns) + 1}", is_hidden=True)

    def _path(self, subject: Term, path: Any, target: Term) -> None:
        """Add the patterns of a path: a step each, with hidden variables between them."""
        if is_variable(path):
            self._add(Pattern(subject, Variable(str(path)), target))
            return
        steps = list(_steps(path, is_inverse=False))
        for place, (step, is_inverse) in enumerate(steps):
            end = target if place + 1 == len(steps) else self._fresh()
            predicate = self.reader.constant(step)
            pair = (end, subject) if is_inverse else (subject, end)
            self._add(Pattern(pair[0], predicate, pair[1]))
            subject = end

    def _add(self, pattern: Pattern) -> None:
        if isinstance(pattern.subject, Constant) and pattern.subject.sort != "address":
            raise refusal("CEL-Q253.literal_subject")
        if len(self.patterns) >= MOST_PATTERNS:
            raise refusal("CEL-Q243.too_many_patterns", most_patterns=MOST_PATTERNS)
        self.patterns.append(pattern)

    def _values(self, part: Any) -> None:
        variables = list(part_of(part, "var") or ())
        if len(variables) != 1:
            raise refusal("CEL-Q260.variables")
        rows = [list(each) if _is_row(each) else [each] for each in part_of(part, "value") or ()]
        if any(len(row) != 1 for row in rows):
            raise not_sparql("CEL-Q240.values_row")
        terms = [self.reader.constant(row[0]) for row in rows]
        if not terms:
            raise refusal("CEL-Q260.empty")
        if len({constant_number(each) for each in terms}) != len(terms):
            raise refusal("CEL-Q260.twice")
        self.values.append((Variable(str(variables[0])), terms))


def _is_row(value: Any) -> bool:
    return not isinstance(value, (str, dict))


def _steps(path: Any, *, is_inverse: bool) -> Iterator[tuple[Any, bool]]:
    """The addresses of a path of sequences and inverses, each with its direction."""
    match name_of(path):
        case "PathAlternative" if len(path["part"]) == 1:
            yield from _steps(path["part"][0], is_inverse=is_inverse)
        case "PathSequence":
            parts = list(path["part"])
            for part in reversed(parts) if is_inverse else parts:
                yield from _steps(part, is_inverse=is_inverse)
        case "PathElt" if not part_of(path, "mod"):
            yield from _steps(_only(path["part"]), is_inverse=is_inverse)
        case "PathEltOrInverse":
            yield from _steps(_only(path["part"]), is_inverse=not is_inverse)
        case "" | "pname":
            yield path, is_inverse
        case _:
            raise refusal("CEL-Q247.path")


def _only(part: Any) -> Any:
    return part[0] if isinstance(part, list) and len(part) == 1 else part


def check_bound(node: Any, known: set[str]) -> None:
    """Refuse an expression that refers to a variable of no pattern of its group."""
    for name in (str(each) for each in walk_tree(node) if is_variable(each)):
        if name not in known:
            near = did_you_mean(name, known)
            raise refusal("CEL-Q253.unbound_in_filter", near=near, variable=name)


def _unknown(part: Any) -> Exception:
    return refusal(
        "CEL-Q247.other_part",
        part=getattr(part, "name", None) or Message("queries.sparql.this_part"),
    )
