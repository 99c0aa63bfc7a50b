"""What a SELECT shows: its list, GROUP BY, and HAVING, ORDER BY and LIMIT on noisy answers.

What is computed from aggregates is computed from their noisy answers, and so costs nothing:
`SUM(a) / COUNT(*)` asks for a sum and a count, and divides what comes back; its interval follows
from theirs. A number that follows from one count alone is refused: whoever has that count, with its
interval, computes it from both.

An aggregate that only they refer to is asked for as well, and not shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from celosia.queries.algebra import Aggregate, Key, NamedExpression, PostProcessing
from celosia.queries.sql.aggregates import UnnamedAggregate, is_aggregate, read_aggregate
from celosia.queries.sql.answer_windows import read_answer_window
from celosia.queries.sql.compound import GROUPING, list_sets
from celosia.queries.sql.conditions import read_expression
from celosia.queries.sql.names import (
    NUMBERS,
    TEXTS,
    TIMES,
    TRUTHS,
    Kind,
    Scope,
    TypedExpression,
    answer_or_column,
    require_kind,
)
from celosia.queries.sql.parser import Dialect, has_sets
from celosia.queries.sql.refusals import AGGREGATES, check_arguments, refusal, refuse_forbidden

_NESTED = (*AGGREGATES, exp.Window)
COUNTS = frozenset({"rows", "count", "distinct"})


def has_aggregate(node: exp.Expr) -> bool:
    """Whether a part of a query holds an aggregate, sub-queries aside."""
    inside = node.walk(prune=lambda part: isinstance(part, exp.Query))
    return any(isinstance(part, _NESTED) for part in inside)


def computed_positions(select: exp.Select, scope: Scope) -> frozenset[int]:
    """The places of outputs that follow from aggregates: they hold one, or the alias of one.

    DuckDB lets outputs refer to others by their aliases: SUM(a) AS s, COUNT(*) AS n, s / n.
    """
    outputs = list(enumerate(each.unalias() for each in select.expressions))
    found = {place for place, each in outputs if has_aggregate(each)}
    size = -1
    while size < len(found):
        size = len(found)
        words = {select.expressions[place].alias.lower() for place in found}
        known = {word for word in words if word and not scope.has(word)}
        found |= {place for place, each in outputs if known & _mentioned_names(each)}
    return frozenset(found)


def _mentioned_names(node: exp.Expr) -> set[str]:
    if isinstance(node, exp.Query):
        return set()
    return {each.name.lower() for each in node.find_all(exp.Column) if not each.table}


def read_group_keys(select: exp.Select, scope: Scope) -> list[TypedExpression]:
    """The keys of GROUP BY, each once.

    Raises:
        QueryRefused: CEL-Q027, CEL-Q054, CEL-Q042 and CEL-Q056.
    """
    group = select.args.get("group")
    if group is None:
        return []
    if [name for name, value in group.args.items() if name not in _TAKEN and value]:
        raise refusal("CEL-Q042.grouping_sets", at=group)
    keys: dict[exp.Expression, TypedExpression] = {}
    for each in _list_keys(group, select, scope):
        typed = _group_key(each.unnest(), select, scope)
        if not any(True for _ in typed.tree.find_all(exp.Column)) or typed.kind == "interval":
            raise refusal("CEL-Q056.no_column", at=each)
        keys[typed.tree] = typed
    return list(keys.values())


_TAKEN = frozenset({"expressions", "all"})


def _list_keys(group: exp.Expr, select: exp.Select, scope: Scope) -> Sequence[exp.Expr]:
    """The expressions of GROUP BY; for ALL, every output without an aggregate."""
    if has_sets(group):
        return [key for chosen in list_sets(group) for key in chosen]
    if not group.args.get("all"):
        return list(group.expressions)
    computed = computed_positions(select, scope)
    outputs = enumerate(each.unalias() for each in select.expressions)
    return [each for place, each in outputs if place not in computed]


def _group_key(node: exp.Expr, select: exp.Select, scope: Scope) -> TypedExpression:
    """A key: a place in the SELECT list, an alias of it, or an expression of columns."""
    if isinstance(node, exp.Literal) and not node.is_string and node.name.isdecimal():
        place = int(node.name) if len(node.name) < 6 else 0
        if not 1 <= place <= len(select.expressions):
            raise refusal("CEL-Q056.position", position=node.name, at=node)
        return read_expression(select.expressions[place - 1].unalias(), scope)
    if isinstance(node, exp.Column) and not node.table:
        aliased = [
            each.this
            for each in select.expressions
            if isinstance(each, exp.Alias) and each.alias.lower() == node.name.lower()
        ]
        if aliased and not scope.has(node.name):
            return read_expression(aliased[0], scope)
        if aliased and (
            is_aggregate(aliased[0])
            or read_expression(aliased[0], scope).tree != scope.find(node).tree
        ):
            raise answer_or_column(node)
    return read_expression(node, scope)


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
    read: Callable[[exp.Expr, Scope], UnnamedAggregate] = read_aggregate
    """Reads an aggregate."""
    is_inner: bool = False
    """Whether they are of a sub-query, and so go on to the query around it."""
    sets: tuple[frozenset[str], ...] = ()
    """The names of keys of each grouping set, where there are several."""

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
        if isinstance(node, exp.Grouping) and self.sets:
            return self._grouping(node, clause)
        if is_aggregate(node):
            call = self.read(node, self.scope)
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

    def _grouping(self, node: exp.Grouping, clause: str) -> TypedExpression:
        """GROUPING(x): 1 in rows of sets without x, else 0."""
        key = self.answer(node.expressions[0], clause) if len(node.expressions) == 1 else None
        if key is None or key.tree.name not in self.keys:
            raise refusal("CEL-Q042.grouping_sets", at=node)
        return TypedExpression(exp.column(GROUPING + key.tree.name, quoted=True), "integer")

    def read_computed(self, node: exp.Expr, clause: str) -> TypedExpression:
        """An expression of answers.

        Raises:
            QueryRefused: as `answer`, and all that an expression may be refused for.
        """

        def known(part: exp.Expr) -> TypedExpression | None:
            if isinstance(part, exp.Window) and not self.is_inner:
                return self._window(part, clause)
            found = self.answer(part, clause)
            if found is None or found.kind not in TIMES or self.is_inner:
                return found
            # Moments are released as texts.
            return TypedExpression(
                exp.Cast(this=found.tree, to=exp.DataType.build(found.kind)), found.kind
            )

        return read_expression(node, self.scope, special=known)

    def _window(self, node: exp.Window, clause: str) -> TypedExpression:
        """The column of a window function over the answers, which is computed before all else."""
        if clause == "HAVING":
            raise refusal("CEL-Q042.answer_window", at=node)
        typed = read_answer_window(node, lambda part: self.read_computed(part, clause))
        for name, each in self.computed.items():
            if each.tree == typed.tree:
                return TypedExpression(exp.column(name, quoted=True), typed.kind)
        name = self.free("window")
        self.computed[name] = typed
        return TypedExpression(exp.column(name, quoted=True), typed.kind)

    def has_window_behind(self, tree: exp.Expression) -> bool:
        """Whether an expression of answers follows from several rows of them."""
        if tree.find(exp.Window) is not None:
            return True
        names = {each.name for each in tree.find_all(exp.Column)}
        return any(
            self.has_window_behind(self.computed[each].tree) for each in names & set(self.computed)
        )

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


def read_outputs(
    select: exp.Select,
    scope: Scope,
    *,
    read: Callable[[exp.Expr, Scope], UnnamedAggregate] = read_aggregate,
    is_inner: bool = False,
) -> Outputs:
    """The keys and aggregates that a query asks for.

    Args:
        select: the query.
        scope: its relations.
        read: reads an aggregate.
        is_inner: whether it is a sub-query.

    Raises:
        QueryRefused: CEL-Q051 to CEL-Q056 and CEL-Q027.
    """
    for each in select.expressions:
        if each.is_star and not has_aggregate(each.unalias()):
            raise refusal("CEL-Q042.star", at=each)
        if is_inner and (window := each.find(exp.Window)) is not None:
            refuse_forbidden(window)
    grouped = read_group_keys(select, scope)
    aliases = frozenset(each.alias.lower() for each in select.expressions if each.alias)
    made = Outputs(scope, taken=aliases, read=read, is_inner=is_inner)
    names: dict[int, str] = {}
    computed = computed_positions(select, scope)
    for place, each in enumerate(select.expressions):
        inner = each.unalias().unnest()
        if is_aggregate(inner) and not isinstance(inner, exp.Grouping):
            call = read(inner, scope)
            names[place] = _name(each, call.word, made)
            made.aggregates[names[place]] = call
        elif place not in computed and (is_inner or not _follows(inner, grouped, scope)):
            typed = _shown_key(inner, grouped, scope)
            word = typed.tree.name if isinstance(typed.tree, exp.Column) else "key"
            names[place] = _name(each, word, made)
            made.keys[names[place]] = typed
    _complete(made, grouped)
    made.sets = _named_sets(select, scope, made)
    # Last, so that the aggregates which only they need get names that nothing else has.
    for place, each in enumerate(select.expressions):
        if place not in names:
            names[place] = _name(each, "value", made)
            made.computed[names[place]] = _computed(each.unalias().unnest(), made)
            if not is_inner:
                _check_combines(made.computed[names[place]], made, each)
    made.shown = [names[place] for place in range(len(names))]
    return made


def _follows(node: exp.Expr, grouped: Sequence[TypedExpression], scope: Scope) -> bool:
    """Whether an output is written out, or computed from keys, such as COALESCE(town, 'all')."""
    if isinstance(node, exp.Literal | exp.Null | exp.Boolean):
        return True
    trees, columns = [key.tree for key in grouped], list(node.find_all(exp.Column))
    if not columns or isinstance(node, exp.Column) or node.find(exp.Query) is not None:
        return False
    return read_expression(node, scope).tree not in trees and all(
        not each.is_star and scope.find(each).tree in trees for each in columns
    )


def _named_sets(select: exp.Select, scope: Scope, made: Outputs) -> tuple[frozenset[str], ...]:
    group = select.args.get("group")
    if group is None or not has_sets(group):
        return ()
    if made.is_inner:
        raise refusal("CEL-Q042.grouping_sets", at=group)
    found = []
    for chosen in list_sets(group):
        trees = [_group_key(each.unnest(), select, scope).tree for each in chosen]
        found.append(frozenset(name for name, key in made.keys.items() if key.tree in trees))
    return tuple(dict.fromkeys(found))


def _computed(node: exp.Expr, made: Outputs) -> TypedExpression:
    typed = made.read_computed(node, SELECT)
    if typed.kind not in NUMBERS | TEXTS | TRUTHS and not made.is_inner:
        raise refusal("CEL-Q051.computed_kind", kind=typed.kind, at=node)
    return typed


def _check_combines(typed: TypedExpression, made: Outputs, node: exp.Expr) -> None:
    """Refuse a number that follows from one count and written values alone."""
    answers = made.answers_behind(typed.tree)
    counts = {name for name, each in made.aggregates.items() if each.kind in COUNTS}
    is_single = typed.kind in NUMBERS and len(answers) == 1 and answers <= counts
    if is_single and not made.has_window_behind(typed.tree):
        raise refusal("CEL-Q051.computed_one_count", at=node)


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
        raise refusal("CEL-Q027.output_same_name", alias=node.alias, at=node)
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
    if (window := select.find(exp.Window)) is not None and window.parent_select is select:
        raise refusal("CEL-Q042.window", at=window)
    raise refusal("CEL-Q051.no_aggregate", at=select)


def read_post_processing(
    select: exp.Select, outputs: Outputs, *, dialect: Dialect
) -> PostProcessing:
    """Read the post-processing of a query.

    Raises:
        QueryRefused: CEL-Q027 and CEL-Q057, and all that an expression may be refused for.
    """
    having = select.args.get("having")
    order = select.args.get("order")
    kept = read_having(having.this, outputs) if having else None
    ordered = [_ordered(each, outputs, dialect) for each in order.expressions] if order else []
    return PostProcessing(
        having=kept,
        order=tuple(ordered),
        limit=read_limit(select.args.get("limit")),
        offset=_offset(select.args.get("offset")),
        computed=tuple(_in_order(outputs)),
        columns=tuple(outputs.shown),
    )


def _in_order(outputs: Outputs) -> list[NamedExpression]:
    """What is computed: all that follows from one row first, as HAVING comes before windows."""
    made = [NamedExpression(name, typed.tree) for name, typed in outputs.computed.items()]
    return sorted(made, key=lambda each: outputs.has_window_behind(each.expression))


def read_having(node: exp.Expr, outputs: Outputs) -> exp.Expression:
    """A condition on the answers, or on the groups of a sub-query."""
    typed = outputs.read_computed(node, "HAVING")
    return require_kind(typed, TRUTHS, at=node, use="condition").tree


def _ordered(node: exp.Expr, outputs: Outputs, dialect: Dialect) -> tuple[str, bool]:
    check_arguments(node, frozenset({"this", "desc", "nulls_first"}))
    descending = bool(node.args.get("desc"))
    # DuckDB puts NULLs last; PostgreSQL holds them for the largest. Other wishes have no place.
    usual = descending if dialect == "postgres" else False
    if bool(node.args.get("nulls_first")) != usual:
        raise refusal("CEL-Q057.nulls_order", at=node)
    inner = node.this.unnest()
    if isinstance(inner, exp.Literal) and not inner.is_string:
        place = int(inner.name) if inner.name.isdecimal() else 0
        if not 1 <= place <= len(outputs.shown):
            raise refusal("CEL-Q057.order_position", position=inner.name, at=node)
        return outputs.shown[place - 1], descending
    typed = outputs.answer(inner, "ORDER BY")
    if typed is not None:
        return typed.tree.name, descending
    if inner.find(exp.Column) is None and not has_aggregate(inner):
        raise refusal("CEL-Q057.order_without_answer", at=node)
    name = outputs.free("order")
    outputs.computed[name] = outputs.read_computed(inner, "ORDER BY")
    return name, descending


def _offset(node: exp.Expr | None) -> int:
    if node is None:
        return 0
    check_arguments(node, frozenset({"expression"}))
    return _written(node.expression, "OFFSET", node)


def read_limit(node: exp.Expr | None) -> int | None:
    """The number of LIMIT or FETCH."""
    if node is None:
        return None
    check_arguments(node, frozenset({"expression", "count", "direction", "limit_options"}))
    options = node.args.get("limit_options")
    number = node.args.get("count") if isinstance(node, exp.Fetch) else node.expression
    if options is not None:
        check_arguments(options, frozenset({"rows"}))
    return _written(number, "LIMIT", node)


def _written(number: exp.Expr | None, clause: str, node: exp.Expr) -> int:
    text = number.name if isinstance(number, exp.Literal) and not number.is_string else ""
    if not (text.isdecimal() and text.isascii() and len(text) <= 9):
        raise refusal("CEL-Q057.not_a_number", clause=clause, at=node)
    return int(text)
