"""Questions as text: a tree of lines to read, and one canonical text to compare."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from celosia.queries.algebra import (
    Aggregate,
    Column,
    DerivedTable,
    Filter,
    Join,
    Key,
    Keys,
    Question,
    Relation,
    Scan,
    SemiJoin,
    UnionAll,
    walk,
)

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class TextLine:
    """A part of a question in words, with the parts it is made of."""

    text: str
    of: Question | Relation | Aggregate | Key | None
    """The part itself, for whoever has more to say about it."""
    below: tuple[TextLine, ...] = ()

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self, depth: int = 0) -> list[str]:
        """All lines, each two spaces further in than the one it belongs to."""
        own = ["  " * depth + self.text]
        return own + [line for each in self.below for line in each.lines(depth + 1)]

    def as_dict(self) -> dict[str, object]:
        """The tree as plain values for JSON."""
        return {"text": self.text, "below": [each.as_dict() for each in self.below]}


def describe(question: Question) -> TextLine:
    """A question as a tree of lines, the outermost step first."""
    return _Writer({}).question(question)


def normalise(question: Question) -> str:
    """The canonical text of a question, the same for every way to write it.

    White space, comments, letter case, brackets and the aliases of relations make no difference.
    Names of the answer's columns do: they are part of what is answered.
    """
    names: dict[str, str] = {}
    for part in walk(question.source):
        if isinstance(part, Scan | DerivedTable | UnionAll):
            names[part.alias] = f"r{len(names) + 1}"
    return str(_Writer(names).question(question))


@dataclass(frozen=True, slots=True)
class _Writer:
    names: Mapping[str, str]
    """New names of aliases; others keep their names."""

    def question(self, question: Question) -> TextLine:
        steps = question.post_processing
        parts = [self._aggregate(each) for each in question.aggregates]
        parts += [
            TextLine(f"by {self._word(each.name)} = {self._sql(each.expression)}", each)
            for each in question.keys
        ]
        parts += [
            TextLine(f"then {self._word(each.name)} = {self._sql(each.expression)}", None)
            for each in steps.computed
        ]
        if steps.having is not None:
            parts.append(TextLine(f"having {self._sql(steps.having)}", None))
        if steps.order:
            order = [
                f"{self._word(name)}{' descending' if descending else ''}"
                for name, descending in steps.order
            ]
            parts.append(TextLine(f"order {', '.join(order)}", None))
        if steps.limit is not None:
            parts.append(TextLine(f"limit {steps.limit}", None))
        if steps.offset:
            parts.append(TextLine(f"offset {steps.offset}", None))
        shown = ", ".join(self._word(name) for name in steps.columns)
        return TextLine(f"answer {shown}", question, (*parts, self._relation(question.source)))

    def _aggregate(self, each: Aggregate) -> TextLine:
        inside = [self._sql(each.argument)] if each.argument is not None else []
        inside += [f"{each.share!r}"] if each.share is not None else []
        kind = f"sample {each.kind}" if each.sample else each.kind
        return TextLine(f"{self._word(each.name)} = {kind}({', '.join(inside)})", each)

    def _relation(self, relation: Relation) -> TextLine:
        match relation:
            case Scan(table=table, alias=alias):
                return TextLine(f"scan {self._word(table)} as {self._alias(alias)}", relation)
            case Filter(source=source, condition=condition):
                text = f"where {self._sql(condition)}"
                return TextLine(text, relation, (self._relation(source),))
            case Join(left=left, right=right, keys=keys, condition=condition):
                text = f"join {self._keys(keys, condition)}"
                return TextLine(text, relation, (self._relation(left), self._relation(right)))
            case SemiJoin(left=left, right=right, keys=keys, condition=condition, negated=negated):
                text = f"match {'none' if negated else 'some'} {self._keys(keys, condition)}"
                return TextLine(text, relation, (self._relation(left), self._relation(right)))
            case DerivedTable(source=source, alias=alias, columns=columns):
                named = [
                    f"{self._word(each.name)} = {self._sql(each.expression)}" for each in columns
                ]
                text = f"rows {self._alias(alias)}: {', '.join(named)}"
                return TextLine(text, relation, (self._relation(source),))
            case UnionAll(parts=parts, alias=alias):
                below = tuple(self._relation(part) for part in parts)
                return TextLine(f"stack {self._alias(alias)}", relation, below)

    def _keys(self, keys: Keys, condition: exp.Expression | None) -> str:
        text = " and ".join(f"{self._column(left)} = {self._column(right)}" for left, right in keys)
        return text if condition is None else f"{text} if {self._sql(condition)}"

    def _column(self, column: Column) -> str:
        return f"{self._alias(column.relation)}.{self._word(column.name)}"

    def _alias(self, alias: str) -> str:
        return self._word(self.names.get(alias, alias))

    def _word(self, name: str) -> str:
        return name if _WORD.fullmatch(name) else exp.to_identifier(name, quoted=True).sql()

    def _sql(self, tree: exp.Expression) -> str:
        """The expression as SQL, with quotes only around names that need them; or in its words."""
        if not self.names and "words" in tree.meta:
            return str(tree.meta["words"])  # those of SPARQL, where terms are numbers
        copy = tree.copy()
        for column in copy.find_all(exp.Column):
            if column.table:
                column.set("table", exp.to_identifier(self.names.get(column.table, column.table)))
            for name in column.find_all(exp.Identifier):
                name.set("quoted", not _WORD.fullmatch(name.name))
        return copy.sql(dialect="duckdb")
