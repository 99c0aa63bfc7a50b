"""Questions as text: a tree of lines to read, and one canonical text to compare."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from celosia.core.messages import Message, speaking
from celosia.queries import algebra
from celosia.queries.sql.refusals import both

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
WORDS = "words"
"""Under which name a tree keeps its words, those of SPARQL, where terms are numbers."""
IN_SCAN = "in scan"
"""Under which name a condition says that the words of its scan tell it already."""


@dataclass(frozen=True, slots=True)
class TextLine:
    """A part of a question in words, with the parts it is made of."""

    text: Message
    of: algebra.Question | algebra.Relation | algebra.Aggregate | algebra.Key | None
    """The part itself, for whoever has more to say about it."""
    below: tuple[TextLine, ...] = ()

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self, depth: int = 0) -> list[str]:
        """All lines, each two spaces further in than the one it belongs to."""
        own = [f"{'  ' * depth}{self.text}"]
        return own + [line for each in self.below for line in each.lines(depth + 1)]

    def as_dict(self) -> dict[str, object]:
        """The tree as plain values for JSON."""
        return {"text": self.text, "below": [each.as_dict() for each in self.below]}


def describe(question: algebra.Question, wording: algebra.Wording | None = None) -> TextLine:
    """A question as a tree of lines, the outermost step first.

    Args:
        question: what is asked.
        wording: how columns and scans are called; by the names of the algebra without it.
    """
    return _Writer({}, wording).question(question)


def in_words(tree: exp.Expression, wording: algebra.Wording | None) -> exp.Expression:
    """A copy of an expression with the words of the question where it has some."""

    def put(node: exp.Expr) -> exp.Expr:
        if WORDS in node.meta:
            return exp.Var(this=str(node.meta[WORDS]))
        if wording is not None and isinstance(node, exp.Column):
            text = wording.columns.get(algebra.Column(node.table, node.name))
            return node if text is None else exp.Var(this=text)
        return node

    made = tree.copy().transform(put)
    assert isinstance(made, exp.Expression)
    return made


def normalise(question: algebra.Question) -> str:
    """The canonical text of a question, the same for every way to write it.

    White space, comments, letter case, brackets and the aliases of relations make no difference.
    Names of the answer's columns do: they are part of what is answered.
    """
    names: dict[str, str] = {}
    for part in (part for each in question.each for part in algebra.walk(each.source)):
        if isinstance(
            part, algebra.Scan | algebra.DerivedTable | algebra.GroupedTable | algebra.UnionAll
        ):
            names[part.alias] = f"r{len(names) + 1}"
    with speaking("en"):
        return str(_Writer(names).question(question))


@dataclass(frozen=True, slots=True)
class _Writer:
    names: Mapping[str, str]
    """New names of aliases; others keep their names."""
    wording: algebra.Wording | None = None

    def question(self, question: algebra.Question) -> TextLine:
        steps = question.post_processing
        parts: list[TextLine] = []
        if not question.branches:
            parts += [self._aggregate(each) for each in question.aggregates]
            parts += [
                TextLine(Message("queries.question.by", **self._named(each)), each)
                for each in question.keys
            ]
        parts += [
            TextLine(Message("queries.question.then", **self._named(each)), None)
            for each in steps.computed
        ]
        if steps.having is not None:
            text = Message("queries.question.having", condition=self._sql(steps.having))
            parts.append(TextLine(text, None))
        if steps.order:
            order = [
                Message("queries.question.descending", name=self._word(name))
                if descending
                else self._word(name)
                for name, descending in steps.order
            ]
            parts.append(TextLine(Message("queries.question.order", names=order), None))
        if steps.limit is not None:
            parts.append(TextLine(Message("queries.question.limit", count=steps.limit), None))
        if steps.offset:
            parts.append(TextLine(Message("queries.question.offset", count=steps.offset), None))
        if steps.present is not None:
            parts.append(TextLine(Message("queries.question.present"), None))
        shown = [self._word(name) for name in steps.columns]
        if question.branches:
            text = Message("queries.question.answers", names=shown)
            return TextLine(text, None, (*parts, *map(self.question, question.branches)))
        text = Message("queries.question.answer", names=shown)
        return TextLine(text, question, (*parts, self._relation(question.source)))

    def _named(self, part: algebra.Key | algebra.NamedExpression) -> dict[str, str]:
        return {"name": self._word(part.name), "expression": self._sql(part.expression)}

    def _aggregate(self, each: algebra.Aggregate) -> TextLine:
        name = self._word(each.name)
        if self.wording is not None and each.label is not None:
            named = {"name": name, "expression": each.label}
            return TextLine(Message("queries.question.value", **named), each)
        if each.argument is None:
            return TextLine(Message("queries.question.rows", name=name), each)
        inside = [self._sql(each.argument)]
        inside += [f"{each.share!r}"] if each.share is not None else []
        inside += [self._sql(part) for part in (each.order, each.second) if part is not None]
        text = Message(
            "queries.question.aggregate",
            name=name,
            kind=each.kind_in_words,
            argument=", ".join(inside),
        )
        return TextLine(text, each)

    def _relation(  # noqa: PLR0911 - one for each kind of relation
        self, relation: algebra.Relation
    ) -> TextLine:
        match relation:
            case algebra.Scan(alias=alias) if self.wording and alias in self.wording.scans:
                text = Message("queries.question.pattern", pattern=self.wording.scans[alias])
                return TextLine(text, relation)
            case algebra.Scan(table=table, alias=alias):
                return TextLine(
                    Message(
                        "queries.question.scan", table=self._word(table), alias=self._alias(alias)
                    ),
                    relation,
                )
            case algebra.Filter(source=source, condition=condition):
                if self.wording is not None and IN_SCAN in condition.meta:
                    return self._relation(source)
                text = Message("queries.question.where", condition=self._sql(condition))
                return TextLine(text, relation, (self._relation(source),))
            case algebra.Join(left=left, right=right):
                below = (self._relation(left), self._relation(right))
                return TextLine(self._join(relation), relation, below)
            case algebra.LeftJoin(left=left, right=right):
                below = (self._relation(left), self._relation(right))
                return TextLine(self._join(relation), relation, below)
            case algebra.SemiJoin(left=left, right=right):
                below = (self._relation(left), self._relation(right))
                return TextLine(self._match(relation), relation, below)
            case algebra.GroupedTable() | algebra.DerivedTable() | algebra.UnionAll() if (
                self.wording is not None
            ):
                return self._in_words(relation, self.wording)
            case algebra.GroupedTable(source=source, alias=alias):
                text = Message("queries.question.grouped", alias=self._alias(alias))
                parts_of_group = [self._aggregate(each) for each in relation.aggregates]
                parts_of_group += [
                    TextLine(Message("queries.question.by", **self._named(each)), None)
                    for each in relation.keys
                ]
                return TextLine(text, relation, (*parts_of_group, self._relation(source)))
            case algebra.DerivedTable(source=source, alias=alias, columns=columns):
                named = [
                    f"{self._word(each.name)} = {self._sql(each.expression)}" for each in columns
                ]
                text = Message("queries.question.derived", alias=self._alias(alias), columns=named)
                return TextLine(text, relation, (self._relation(source),))
            case algebra.UnionAll(parts=parts, alias=alias):
                stacked = tuple(self._relation(part) for part in parts)
                text = Message("queries.question.stack", alias=self._alias(alias))
                return TextLine(text, relation, stacked)

    def _in_words(
        self,
        relation: algebra.GroupedTable | algebra.DerivedTable | algebra.UnionAll,
        wording: algebra.Wording,
    ) -> TextLine:
        """Sub-queries and alternatives as their variables, without the columns that hold these."""
        if isinstance(relation, algebra.UnionAll):
            parts = tuple(self._relation(part.source) for part in relation.parts)
            return TextLine(Message("queries.question.alternatives"), relation, parts)
        if isinstance(relation, algebra.DerivedTable):
            if isinstance(relation.source, algebra.GroupedTable):
                return self._relation(relation.source)
            columns: tuple[algebra.NamedExpression, ...] = relation.columns
            key = "queries.question.sub_select"
        else:
            columns, key = relation.keys, "queries.question.groups_by"
        called = [wording.columns.get(algebra.Column(relation.alias, one.name)) for one in columns]
        names = list(dict.fromkeys(each for each in called if each is not None))
        text = Message(key, names=names) if names else Message("queries.question.one_group")
        below = [self._relation(relation.source)]
        if isinstance(relation, algebra.GroupedTable):
            below = [*(self._inner(relation.alias, each) for each in relation.aggregates), *below]
        return TextLine(text, relation, tuple(below))

    def _inner(self, alias: str, each: algebra.Aggregate) -> TextLine:
        """An aggregate of a sub-query under the name of its variable."""
        assert self.wording is not None
        name = self.wording.columns.get(algebra.Column(alias, each.name), each.name)
        named = {"name": name, "expression": each.label or each.kind_in_words}
        return TextLine(Message("queries.question.value", **named), each)

    def _join(self, relation: algebra.Join | algebra.LeftJoin) -> Message:
        keys = self._keys(relation.keys)
        is_inner = isinstance(relation, algebra.Join)
        if relation.condition is None:
            plain = "queries.question.join" if is_inner else "queries.question.left_join"
            return Message(plain, keys=keys)
        key = "queries.question.join_if" if is_inner else "queries.question.left_join_if"
        return Message(key, keys=keys, condition=self._sql(relation.condition))

    def _match(self, relation: algebra.SemiJoin) -> Message:
        keys = self._keys(relation.keys)
        if relation.condition is None:
            if relation.negated:
                return Message("queries.question.match_none", keys=keys)
            return Message("queries.question.match_some", keys=keys)
        condition = self._sql(relation.condition)
        if relation.negated:
            return Message("queries.question.match_none_if", keys=keys, condition=condition)
        return Message("queries.question.match_some_if", keys=keys, condition=condition)

    def _keys(self, keys: algebra.Keys) -> str:
        if not keys:  # conditions alone tie both sides together
            return Message("queries.question.any_pair")
        pairs = [(self._column(left), self._column(right)) for left, right in keys]
        if all(left == right for left, right in pairs):  # variables of a pattern
            names = list(dict.fromkeys(left for left, _ in pairs))
            return Message("queries.question.on", names=names)
        return both(f"{left} = {right}" for left, right in pairs)

    def _column(self, column: algebra.Column) -> str:
        if self.wording is not None and column in self.wording.columns:
            return self.wording.columns[column]
        return f"{self._alias(column.relation)}.{self._word(column.name)}"

    def _alias(self, alias: str) -> str:
        return self._word(self.names.get(alias, alias))

    def _word(self, name: str) -> str:
        return name if _WORD.fullmatch(name) else exp.to_identifier(name, quoted=True).sql()

    def _sql(self, tree: exp.Expression) -> str:
        """The expression as SQL, with quotes only around names that need them; or in its words."""
        if not self.names and WORDS in tree.meta:
            return str(tree.meta[WORDS])
        copy = tree.copy() if self.wording is None else in_words(tree, self.wording)
        for column in copy.find_all(exp.Column):
            if column.table:
                column.set("table", exp.to_identifier(self.names.get(column.table, column.table)))
            for name in column.find_all(exp.Identifier):
                name.set("quoted", not _WORD.fullmatch(name.name))
        return copy.sql(dialect="duckdb")
