"""Questions of a workload, and which of them ask for cells of one contingency table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlglot import exp

from celosia.core.errors import InputError
from celosia.core.methods import Parameter, bad_parameter
from celosia.queries.dbapi.values import literal
from celosia.queries.planning.laplace import LaplaceStep
from celosia.queries.planning.planner import query_language
from celosia.queries.sql.parser import parse

if TYPE_CHECKING:
    from celosia.queries.planning import Plan
    from celosia.queries.policy import ColumnPolicy, Policy

Value = str | int | bool
MOST_VALUES = 200
"""Declared keys of a column that may be a key of a marginal."""
_CLAUSES = {"expressions", "from_", "joins", "where", "group", "having", "order", "limit", "offset"}
WEIGHT = Parameter(name="weight", kind="number", above=0)
ERROR = Parameter(name="error", kind="number", above=0)


@dataclass(frozen=True, slots=True)
class WorkloadQuestion:
    """One question of a workload.

    Args:
        query: one SELECT.
        name: for people; the text of the question if empty.
        weight: how much its accuracy matters beside the others: its squared error counts so often.
        error: the typical error to aim at, in the unit of the answer, instead of a weight: errors
            of several questions are lowered in proportion to these.

    Raises:
        InputError: CEL-I060 a weight or an error is not above 0.
    """

    query: str
    name: str = ""
    weight: float = 1.0
    error: float | None = None

    def __post_init__(self) -> None:
        if not self.weight > 0:
            raise bad_parameter("workload", WEIGHT, self.weight)
        if self.error is not None and not self.error > 0:
            raise bad_parameter("workload", ERROR, self.error)

    @property
    def label(self) -> str:
        """What people call it."""
        return self.name or " ".join(self.query.split())


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column with declared values, as a key of a contingency table.

    Rows with another value, or none, have a cell of their own (the last), so that cells of a larger
    table add up to those of a smaller one.
    """

    column: str
    """As SQL, with the alias of its table."""
    values: tuple[Value, ...]

    @property
    def size(self) -> int:
        """How many cells it has, the one of all other values included."""
        return len(self.values) + 1

    def as_case(self, name: str) -> str:
        """The expression that numbers its cells."""
        branches = " ".join(
            f"WHEN {self.column} = {literal(value)} THEN {place}"
            for place, value in enumerate(self.values)
        )
        return f"CASE {branches} ELSE {len(self.values)} END AS {name}"


@dataclass(frozen=True, slots=True)
class TableOfCells:
    """The rows of a contingency table, and what is counted or summed in each of its cells."""

    source: str
    """From FROM on, as SQL, with the conditions that are not about its keys."""
    aggregate: str

    def query(self, attributes: Sequence[Attribute]) -> str:
        """The question about a marginal of it: one row for each cell."""
        names = [f"key_{number}" for number in range(1, len(attributes) + 1)]
        cases = [each.as_case(name) for each, name in zip(attributes, names, strict=True)]
        grouped = f" GROUP BY {', '.join(map(str, range(1, len(names) + 1)))}" if names else ""
        selected = ", ".join([*cases, f"{self.aggregate} AS value"])
        return f"SELECT {selected} {self.source}{grouped}"


@dataclass(frozen=True, slots=True)
class CellQuestion:
    """A question about cells: which tables, which keys, and which values of them."""

    tables: Mapping[str, TableOfCells]
    """By the names of the answer's numbers."""
    keys: Mapping[str, Attribute]
    """By the names of the answer's keys, in order."""
    fixed: Mapping[Attribute, Value] = field(default_factory=dict)
    """Values that WHERE asks for."""

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """All keys that it is about."""
        return tuple(dict.fromkeys([*self.keys.values(), *self.fixed]))


def read_cells(query: str, plan: Plan, policy: Policy) -> CellQuestion | None:
    """The cells that a question asks for; None where it asks for something else.

    Such a question counts rows or sums a column of joined tables, by columns with declared keys,
    with declared noise; conditions `column = value` on such columns choose cells.

    Args:
        query: the text of the question.
        plan: how it would be answered by itself.
        policy: what is declared.
    """
    if policy.graph is not None or not all(isinstance(step, LaplaceStep) for step in plan.steps):
        return None
    if plan.branches or plan.question.post_processing.present is not None:
        return None
    try:
        tree = parse(query, dialect=query_language(policy))
        if not isinstance(tree, exp.Select) or tree.find(exp.Subquery, exp.With) is not None:
            return None
        return _Reader(tree, plan, policy).read()
    except (InputError, LookupError):
        return None


class _Reader:
    """Reads one statement; LookupError says that it is not about cells."""

    def __init__(self, tree: exp.Select, plan: Plan, policy: Policy) -> None:
        self.tree, self.plan, self.policy = tree, plan, policy
        self.dialect = query_language(policy)

    def read(self) -> CellQuestion:
        tree, question = self.tree, self.plan.question
        steps = question.post_processing
        named = {each.name for each in question.keys} | {each.name for each in question.aggregates}
        given = {name for name, value in tree.args.items() if value not in (None, False, [])}
        is_plain = given <= _CLAUSES and not steps.computed and named == set(self.plan.columns)
        if not is_plain or tree.find(exp.Subquery, exp.With) is not None:
            raise LookupError
        grouped = [self._grouped(each) for each in self._group_list()]
        fixed, rest = self._conditions()
        source = self._source(rest)
        keys, tables = {}, {}
        for name, each in zip(self.plan.columns, tree.expressions, strict=True):
            plain = each.unalias()
            if isinstance(plain, exp.Column):
                keys[name] = self._attribute(plain)
            elif isinstance(plain, exp.Count | exp.Sum):
                tables[name] = TableOfCells(source, self._aggregate(plain))
            else:
                raise LookupError
        ordered = {key.name: keys[key.name] for key in question.keys}
        if set(ordered.values()) != set(grouped) or not tables or set(fixed) & set(grouped):
            raise LookupError
        return CellQuestion(tables, ordered, fixed)

    def _group_list(self) -> list[exp.Expression]:
        group = self.tree.args.get("group")
        if group is None:
            return []
        if {name for name, value in group.args.items() if value} != {"expressions"}:
            raise LookupError  # ROLLUP and its like
        return list(group.expressions)

    def _grouped(self, each: exp.Expression) -> Attribute:
        if isinstance(each, exp.Literal) and each.is_int:
            each = self.tree.expressions[int(each.this) - 1].unalias()
        if not isinstance(each, exp.Column):
            raise LookupError
        if not each.table:
            aliased = {one.alias: one.unalias() for one in self.tree.expressions if one.alias}
            renamed = aliased.get(each.name)
            each = renamed if isinstance(renamed, exp.Column) else each
        return self._attribute(each)

    def _aggregate(self, plain: exp.Expression) -> str:
        counted = plain.this
        if isinstance(plain, exp.Count) and isinstance(counted, exp.Star):
            return "COUNT(*)"
        if not isinstance(counted, exp.Column):
            raise LookupError  # DISTINCT, expressions
        name, _ = self._column(counted)
        return f"{'SUM' if isinstance(plain, exp.Sum) else 'COUNT'}({name})"

    def _conditions(self) -> tuple[dict[Attribute, Value], list[str]]:
        where = self.tree.args.get("where")
        fixed: dict[Attribute, Value] = {}
        rest: list[str] = []
        for each in [] if where is None else _conjuncts(where.this):
            found = self._equality(each)
            if found is None or found[0] in fixed:
                rest.append(each.sql(dialect=self.dialect))
            else:
                fixed[found[0]] = found[1]
        return fixed, sorted(rest)

    def _equality(self, each: exp.Expr) -> tuple[Attribute, Value] | None:
        if not isinstance(each, exp.EQ):
            return None
        column, value = each.left, each.right
        if not isinstance(column, exp.Column) or not isinstance(value, exp.Literal):
            return None
        try:
            attribute = self._attribute(column)
        except LookupError:
            return None
        plain: Value = str(value.this) if value.is_string else int(value.this)
        return (attribute, plain) if plain in attribute.values else None

    def _source(self, rest: Sequence[str]) -> str:
        parts = [self.tree.args["from_"], *(self.tree.args.get("joins") or ())]
        text = " ".join(part.sql(dialect=self.dialect) for part in parts)
        condition = f" WHERE {' AND '.join(f'({each})' for each in rest)}" if rest else ""
        return f"{text.strip()}{condition}"

    def _attribute(self, column: exp.Column) -> Attribute:
        name, declared = self._column(column)
        if not declared.keys or len(declared.keys) > MOST_VALUES:
            raise LookupError
        return Attribute(name, tuple(declared.keys))

    def _column(self, column: exp.Column) -> tuple[str, ColumnPolicy]:
        """A column with the alias of its table, and what the policy declares of it."""
        found = list(self._homes(column))
        if len(found) != 1:
            raise LookupError
        alias, declared = found[0]
        quoted = exp.column(declared.name, table=alias, quoted=True)
        return quoted.sql(dialect=self.dialect), declared

    def _homes(self, column: exp.Column) -> Iterator[tuple[str, ColumnPolicy]]:
        for table in self.tree.find_all(exp.Table):
            if column.table and column.table.lower() != table.alias_or_name.lower():
                continue
            declared = self.policy.table(table.name)
            found = None if declared is None else declared.column(column.name)
            if found is not None:
                yield table.alias_or_name, found


def _conjuncts(condition: exp.Expr) -> list[exp.Expr]:
    if isinstance(condition, exp.Paren):
        return _conjuncts(condition.this)
    if isinstance(condition, exp.And):
        return [*_conjuncts(condition.left), *_conjuncts(condition.right)]
    return [condition]
