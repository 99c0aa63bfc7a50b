"""The SELECT list: keys, aggregates, and what is computed from them, each under its own name.

What is computed from aggregates is computed from their noisy answers, and so costs nothing:
`SUM(a) / COUNT(*)` asks for a sum and a count, and divides what comes back. It has no interval of
its own, so a number that follows from one aggregate alone is refused: whoever has that aggregate,
with its interval, computes it from both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from celosia.queries.algebra import Aggregate, Key
from celosia.queries.sql.aggregates import UnnamedAggregate, is_aggregate, read_aggregate
from celosia.queries.sql.conditions import read_expression
from celosia.queries.sql.forbidden_parts import refuse_forbidden, star_refusal
from celosia.queries.sql.group_by import computed_positions, has_aggregate, read_group_keys
from celosia.queries.sql.kinds import NUMBERS, TEXTS, TIMES, TRUTHS, TypedExpression
from celosia.queries.sql.names import Kind, Scope, answer_or_column
from celosia.queries.sql.refusals import refusal

SELECT = "SELECT"


@dataclass(slots=True)
class Outputs:
    """The names of an answer, and what each of them is."""

    scope: Scope
    keys: dict[str, TypedExpression] = field(default_factory=dict)
    aggregates: dict[str, UnnamedAggregate] = field(default_factory=dict)
    computed: dict[str, TypedExpression] = field(default_factory=dict)
    """From the answers before it, by their names."""
    shown: list[str] = field(default_factory=list)
    taken: frozenset[str] = frozenset()
    """Aliases of the SELECT list, in lower case."""

    def parts(self) -> tuple[tuple[Aggregate, ...], tuple[Key, ...]]:
        """The aggregates and keys of the question."""
        return (
            tuple(call.named(name) for name, call in self.aggregates.items()),
            tuple(Key(name, typed.tree) for name, typed in self.keys.items()),
        )

    def find(self, word: str) -> TypedExpression | None:
        """The answer of a name, whatever its case."""
        kinds: dict[str, Kind] = {name: key.kind for name, key in self.keys.items()}
        kinds |= {name: call.gives for name, call in self.aggregates.items()}
        kinds |= {name: typed.kind for name, typed in self.computed.items()}
        for name, kind in kinds.items():
            if name.lower() == word.lower():
                return TypedExpression(exp.column(name, quoted=True), kind)
        return None

    def free(self, word: str) -> str:
        """The word, or the word with a number that makes it new."""
        number, name = 1, word
        while name.lower() in self.taken or self.find(name) is not None:
            number += 1
            name = f"{word}_{number}"
        return name

    def answer(self, node: exp.Expr, clause: str) -> TypedExpression | None:
        """The key or aggregate that HAVING or ORDER BY refers to; None for a compound expression.

        Raises:
            QueryRefused: CEL-Q027 for a name with two meanings, CEL-Q057 for a column that is
                neither.
        """
        node = node.unnest()
        if is_aggregate(node):
            call = read_aggregate(node, self.scope)
            name = next((name for name, each in self.aggregates.items() if each == call), None)
            if name is None:
                name = self.free(call.word)
                self.aggregates[name] = call
            return self.find(name)
        if isinstance(node, exp.Column) and not node.table and not node.is_star:
            known = self.find(node.name)
            if known is not None:
                self._check_meaning(node)
                return known
        if any(True for _ in node.find_all(exp.Column)) and not has_aggregate(node):
            return self._key(node, clause)
        return None

    def read_computed(self, node: exp.Expr, clause: str) -> TypedExpression:
        """An expression of answers.

        Raises:
            QueryRefused: as `answer`, and all that an expression may be refused for.
        """

        def known(part: exp.Expr) -> TypedExpression | None:
            found = self.answer(part, clause)
            if found is None or found.kind not in TIMES:
                return found
            # Moments are released as texts.
            return TypedExpression(
                exp.Cast(this=found.tree, to=exp.DataType.build(found.kind)), found.kind
            )

        return read_expression(node, self.scope, special=known)

    def answers_behind(self, tree: exp.Expression) -> set[str]:
        """The keys and aggregates that an expression of answers follows from."""
        found: set[str] = set()
        rest = [tree]
        while rest:
            words = {each.name for each in rest.pop().find_all(exp.Column)} - found
            found |= words
            rest += [self.computed[word].tree for word in words if word in self.computed]
        return found - set(self.computed)

    def _check_meaning(self, node: exp.Column) -> None:
        """Refuse a name that is also that of another column of FROM."""
        if not self.scope.has(node.name):
            return
        same = [
            typed.tree for name, typed in self.keys.items() if name.lower() == node.name.lower()
        ]
        if not same or same[0] != self.scope.find(node).tree:
            raise answer_or_column(node)

    def _key(self, node: exp.Expr, clause: str) -> TypedExpression | None:
        if not isinstance(node, exp.Column) and any(
            self.find(column.name) for column in node.find_all(exp.Column) if not column.table
        ):
            return None  # an expression of answers
        typed = read_expression(node, self.scope)
        for name, key in self.keys.items():
            if key.tree == typed.tree:
                return self.find(name)
        if not isinstance(node, exp.Column):
            return None
        if clause == SELECT:
            raise refusal("CEL-Q051.not_grouped", name=node.name, at=node)
        raise refusal("CEL-Q057.not_grouped", clause=clause, name=node.name, at=node)


def read_outputs(select: exp.Select, scope: Scope) -> Outputs:
    """The keys and aggregates that a query asks for.

    Raises:
        QueryRefused: CEL-Q051 to CEL-Q056 and CEL-Q058.
    """
    for each in select.expressions:
        if each.is_star and not has_aggregate(each.unalias()):
            raise star_refusal(each)
        _stop_windows(each)
    grouped = read_group_keys(select, scope)
    aliases = frozenset(each.alias.lower() for each in select.expressions if each.alias)
    made = Outputs(scope, taken=aliases)
    names: dict[int, str] = {}
    computed = computed_positions(select, scope)
    for place, each in enumerate(select.expressions):
        inner = each.unalias().unnest()
        if is_aggregate(inner):
            call = read_aggregate(inner, scope)
            names[place] = _name(each, call.word, made)
            made.aggregates[names[place]] = call
        elif place not in computed:
            typed = _shown_key(inner, grouped, scope)
            word = typed.tree.name if isinstance(typed.tree, exp.Column) else "key"
            names[place] = _name(each, word, made)
            made.keys[names[place]] = typed
    _complete(made, grouped)
    # Last, so that the aggregates which only they need get names that nothing else has.
    for place, each in enumerate(select.expressions):
        if place not in names:
            names[place] = _name(each, "value", made)
            made.computed[names[place]] = _computed(each.unalias().unnest(), made)
            _check_combines(made.computed[names[place]], made, each)
    made.shown = [names[place] for place in range(len(names))]
    return made


def _computed(node: exp.Expr, made: Outputs) -> TypedExpression:
    typed = made.read_computed(node, SELECT)
    if typed.kind not in NUMBERS | TEXTS | TRUTHS:
        raise refusal("CEL-Q052.kind", kind=typed.kind, at=node)
    return typed


def _check_combines(typed: TypedExpression, made: Outputs, node: exp.Expr) -> None:
    """Refuse a number that follows from one aggregate and written values alone.

    Raises:
        QueryRefused: CEL-Q052.
    """
    answers = made.answers_behind(typed.tree)
    if typed.kind in NUMBERS and len(answers) == 1 and answers <= set(made.aggregates):
        raise refusal("CEL-Q052.one_aggregate", at=node)


def _stop_windows(node: exp.Expr) -> None:
    """Refuse a window function wherever it stands in an output."""
    for window in node.find_all(exp.Window):
        refuse_forbidden(window)


def _complete(made: Outputs, grouped: Sequence[TypedExpression]) -> None:
    """Put the keys in the order of GROUP BY, with those that are not shown."""
    named: dict[str, TypedExpression] = {}
    for typed in grouped:
        names = [name for name, key in made.keys.items() if key.tree == typed.tree]
        if not names:
            word = typed.tree.name if isinstance(typed.tree, exp.Column) else "key"
            names = [made.free(word)]
        named |= dict.fromkeys(names, typed)
    made.keys = named


def _name(node: exp.Expr, word: str, made: Outputs) -> str:
    if not node.alias:
        return made.free(word)
    if made.find(node.alias) is not None:
        raise refusal("CEL-Q058.same_name", alias=node.alias, at=node)
    return str(node.alias)


def _shown_key(node: exp.Expr, grouped: Sequence[TypedExpression], scope: Scope) -> TypedExpression:
    if isinstance(node, exp.Query):
        refuse_forbidden(node)
    typed = read_expression(node, scope)
    for key in grouped:
        if key.tree == typed.tree:
            return typed
    raise refusal("CEL-Q051.not_a_key", at=node)


def check_answerable(made: Outputs, select: exp.Select) -> None:
    """Refuse a query that aggregates nothing."""
    if made.aggregates:
        return
    raise refusal("CEL-Q051.no_aggregate", at=select)
