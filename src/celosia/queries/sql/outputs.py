"""The SELECT list and GROUP BY: keys and aggregates, each under a name of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from celosia.core.errors import CelosiaError
from celosia.queries.algebra import Aggregate, Key
from celosia.queries.sql.aggregates import Asked, aggregate, is_aggregate
from celosia.queries.sql.conditions import read
from celosia.queries.sql.kinds import Typed
from celosia.queries.sql.names import Kind, Scope, ambiguous
from celosia.queries.sql.refusals import refusal
from celosia.queries.sql.stops import AGGREGATES, star, stop

_NESTED = (*AGGREGATES, exp.Window)


@dataclass(slots=True)
class Outputs:
    """The names of an answer, and what each of them is."""

    scope: Scope
    keys: dict[str, Typed] = field(default_factory=dict)
    aggregates: dict[str, Asked] = field(default_factory=dict)
    shown: list[str] = field(default_factory=list)

    def made(self) -> tuple[tuple[Aggregate, ...], tuple[Key, ...]]:
        """The aggregates and keys of the question."""
        return (
            tuple(asked.named(name) for name, asked in self.aggregates.items()),
            tuple(Key(name, typed.tree) for name, typed in self.keys.items()),
        )

    def named(self, word: str) -> Typed | None:
        """The answer of a name, whatever its case."""
        for name in (*self.keys, *self.aggregates):
            if name.lower() == word.lower():
                kind: Kind = (
                    self.keys[name].kind if name in self.keys else self.aggregates[name].gives
                )
                return Typed(exp.column(name, quoted=True), kind)
        return None

    def free(self, word: str) -> str:
        """The word, or the word with a number that makes it new."""
        number, name = 1, word
        while self.named(name) is not None:
            number += 1
            name = f"{word}_{number}"
        return name

    def answer(self, node: exp.Expr, clause: str) -> Typed | None:
        """The key or aggregate that HAVING or ORDER BY speaks of; None for what is put together.

        Raises:
            QueryRefused: CEL-Q027 for a name with two meanings, CEL-Q057 for a column that is
                neither.
        """
        node = node.unnest()
        if is_aggregate(node):
            asked = aggregate(node, self.scope)
            name = next((name for name, each in self.aggregates.items() if each == asked), None)
            if name is None:
                name = self.free(asked.word)
                self.aggregates[name] = asked
            return self.named(name)
        if isinstance(node, exp.Column) and not node.table and not node.is_star:
            known = self.named(node.name)
            if known is not None:
                self._check_meaning(node)
                return known
        if any(True for _ in node.find_all(exp.Column)) and not _has_aggregate(node):
            return self._key(node, clause)
        return None

    def _check_meaning(self, node: exp.Column) -> None:
        """Refuse a name that is also that of another column of FROM."""
        if not self.scope.has(node.name):
            return
        same = [
            typed.tree for name, typed in self.keys.items() if name.lower() == node.name.lower()
        ]
        if not same or same[0] != self.scope.find(node).tree:
            raise ambiguous(node, ["the answer of that name", "the column of that name"])

    def _key(self, node: exp.Expr, clause: str) -> Typed | None:
        if not isinstance(node, exp.Column) and any(
            self.named(column.name) for column in node.find_all(exp.Column) if not column.table
        ):
            return None  # an expression of answers
        typed = read(node, self.scope)
        for name, key in self.keys.items():
            if key.tree == typed.tree:
                return self.named(name)
        if not isinstance(node, exp.Column):
            return None
        raise refusal(
            "CEL-Q057",
            f"{clause} speaks of '{node.name}', which is neither a key nor an aggregate",
            at=node,
            why="It works on the answers, after the noise; rows are not there any more.",
            fix="Put conditions on rows into WHERE, or group by the column.",
        )


def outputs(select: exp.Select, scope: Scope) -> Outputs:
    """The keys and aggregates that a query asks for.

    Raises:
        QueryRefused: CEL-Q051 to CEL-Q056 and CEL-Q058.
    """
    for each in select.expressions:
        if each.is_star and not is_aggregate(each.unalias()):
            raise star(each)
    grouped = _grouped(select, scope)
    made = Outputs(scope)
    taken = [each.alias.lower() for each in select.expressions if each.alias]
    for each in select.expressions:
        inner = each.unalias().unnest()
        _stop_windows(inner)
        if is_aggregate(inner):
            asked = aggregate(inner, scope)
            name = _name(each, asked.word, made, taken)
            made.aggregates[name] = asked
        else:
            typed = _shown_key(inner, grouped, scope)
            word = typed.tree.name if isinstance(typed.tree, exp.Column) else "key"
            name = _name(each, word, made, taken)
            made.keys[name] = typed
        made.shown.append(name)
    _complete(made, grouped)
    return made


def _stop_windows(node: exp.Expr) -> None:
    """Refuse a window function wherever it stands in an output."""
    for window in node.find_all(exp.Window):
        stop(window)


def _complete(made: Outputs, grouped: Sequence[Typed]) -> None:
    """Put the keys in the order of GROUP BY, with those that are not shown."""
    named: dict[str, Typed] = {}
    for typed in grouped:
        names = [name for name, key in made.keys.items() if key.tree == typed.tree]
        if not names:
            word = typed.tree.name if isinstance(typed.tree, exp.Column) else "key"
            names = [made.free(word)]
        named |= dict.fromkeys(names, typed)
    made.keys = named


def _name(node: exp.Expr, word: str, made: Outputs, taken: Sequence[str]) -> str:
    if not node.alias:
        name, number = word, 1
        while name.lower() in taken or made.named(name) is not None:
            number += 1
            name = f"{word}_{number}"
        return name
    if made.named(node.alias) is not None:
        raise refusal(
            "CEL-Q058",
            f"two columns of the answer are called '{node.alias}'",
            at=node,
            why="HAVING, ORDER BY and whoever reads the answer could not tell them apart.",
            fix="Give each an alias of its own.",
        )
    return str(node.alias)


def _shown_key(node: exp.Expr, grouped: Sequence[Typed], scope: Scope) -> Typed:
    if _has_aggregate(node):
        raise refusal(
            "CEL-Q052",
            "something is computed from an aggregate",
            at=node,
            why="Noise is added to aggregates as they are; what is done with the answer is free.",
            fix="Ask for the aggregate alone, and compute with the answer.",
        )
    if isinstance(node, exp.Query):
        stop(node)
    typed = read(node, scope)
    for key in grouped:
        if key.tree == typed.tree:
            return typed
    raise refusal(
        "CEL-Q051",
        "the SELECT list holds something that is neither an aggregate nor a key of GROUP BY",
        at=node,
        why="Rows are never shown, only numbers about many of them.",
        fix="Use COUNT, SUM, AVG, ...; to have them by group, put it into GROUP BY as well.",
    )


def _has_aggregate(node: exp.Expr) -> bool:
    inside = node.walk(prune=lambda part: isinstance(part, exp.Query))
    return any(isinstance(part, _NESTED) for part in inside)


def _grouped(select: exp.Select, scope: Scope) -> list[Typed]:
    group = select.args.get("group")
    if group is None:
        return []
    sets = [name for name, value in group.args.items() if name != "expressions" and value]
    kinds = exp.GroupingSets | exp.Rollup | exp.Cube
    odd = next((each for each in group.expressions if isinstance(each, kinds)), None)
    if sets or odd is not None:
        raise refusal(
            "CEL-Q055",
            "GROUP BY takes columns and expressions only, no GROUPING SETS, ROLLUP, CUBE or ALL",
            at=odd if odd is not None else group,
            why="Each set of groups is a question of its own, with its own cost.",
            fix="Name the keys, and ask once for each set.",
        )
    keys: dict[exp.Expression, Typed] = {}
    for each in group.expressions:
        typed = _group_key(each.unnest(), select, scope)
        if not any(True for _ in typed.tree.find_all(exp.Column)) or typed.kind == "interval":
            raise refusal(
                "CEL-Q056",
                "GROUP BY speaks of no column",
                at=each,
                why="It would make one group of all rows.",
                fix="Leave GROUP BY out, or group by a column.",
            )
        keys[typed.tree] = typed
    return list(keys.values())


def _group_key(node: exp.Expr, select: exp.Select, scope: Scope) -> Typed:
    """A key: a place in the SELECT list, an alias of it, or an expression of columns."""
    if isinstance(node, exp.Literal) and not node.is_string and node.name.isdecimal():
        place = int(node.name) if len(node.name) < 6 else 0
        if not 1 <= place <= len(select.expressions):
            raise _no_such_place(node)
        return read(select.expressions[place - 1].unalias(), scope)
    if isinstance(node, exp.Column) and not node.table:
        aliased = [
            each.this
            for each in select.expressions
            if isinstance(each, exp.Alias) and each.alias.lower() == node.name.lower()
        ]
        if aliased and not scope.has(node.name):
            return read(aliased[0], scope)
        if aliased and (
            is_aggregate(aliased[0]) or read(aliased[0], scope).tree != scope.find(node).tree
        ):
            raise ambiguous(node, ["the answer of that name", "the column of that name"])
    return read(node, scope)


def _no_such_place(node: exp.Expr) -> CelosiaError:
    return refusal(
        "CEL-Q056",
        f"GROUP BY {node.name} is no column of the SELECT list",
        at=node,
        why="Places are counted from 1.",
        fix="Name the key instead.",
    )


def check_answerable(made: Outputs, select: exp.Select) -> None:
    """Refuse a query that aggregates nothing."""
    if made.aggregates:
        return
    raise refusal(
        "CEL-Q051",
        "the query has no aggregate",
        at=select,
        why="Rows are never shown, and which groups there are is private by itself.",
        fix="Add one: SELECT key, COUNT(*) FROM t GROUP BY key.",
    )
