"""Questions about one star as SPARQL aggregates for a remote endpoint, with caps in the query.

All private patterns of such a question have one subject, the entity, so that the solutions of an
entity follow from its own facts and from public ones. The endpoint adds up what each entity
contributes, cuts that off at the cap, and returns one number for each group. So one entity moves
the numbers by the cap at most, whatever its facts are: the bound does not rest on declared caps.

Where there are groups, or different values are counted, an entity beyond the cap is left out whole:
its share of each number cannot be cut by SPARQL alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from celosia.core.errors import QueryRefused
from celosia.queries.algebra import scans
from celosia.queries.emission import FixedPoint
from celosia.queries.planning.aggregates import Total
from celosia.queries.planning.plan import GroupKeys, Plan
from celosia.queries.policy.values import Graph, Policy
from celosia.queries.rdf.notation import parse_term
from celosia.queries.rdf.terms import XSD
from celosia.queries.sparql.branches import Branch
from celosia.queries.sparql.compiler import parse
from celosia.queries.sparql.constants import Constant, TermReader
from celosia.queries.sparql.groups import GroupReader
from celosia.queries.sparql.patterns import Pattern, Term, Variable
from celosia.queries.sparql.trees import is_variable, name_of, part_of, strip_layers

MOST_STEPS = 2**33
"""Steps of a grid that one entity may move a sum by: sums of 2^30 entities stay within 64 bits."""
_ANY = frozenset(
    {
        *("STR", "LANG", "DATATYPE", "REGEX", "isIRI", "isURI", "isBLANK", "isLITERAL"),
        *("isNUMERIC", "sameTerm", "BOUND"),
    }
)
"""Functions of one solution alone, whose value is the same whenever they are asked."""
_OF_TEXTS = frozenset(
    {"CONTAINS", "STRSTARTS", "STRENDS", "STRLEN", "UCASE", "LCASE", "LANGMATCHES"}
)
_OF_NUMBERS = frozenset({"ABS", "CEIL", "FLOOR", "ROUND"})
_OF_MOMENTS = frozenset({"YEAR", "MONTH", "DAY", "HOURS", "MINUTES", "SECONDS"})
"""The same, of terms of one kind. Virtuoso gives up a whole query for a term of another kind, and
one fact would decide over the answer; so they are asked of such terms only."""
_ERROR = "?none"
"""A variable that is never bound: an error by the rules of SPARQL, which no server gives up for."""
_LARGEST = "1.7976931348623157e308"
"""The largest double."""
_ARGUMENTS = ("arg", "arg1", "arg2", "text", "pattern", "flags")


@dataclass(frozen=True, slots=True)
class RemoteQuestion:
    """What an endpoint is asked for one step: a query for each total, and the keys of groups."""

    texts: tuple[str, ...]
    columns: tuple[str, ...]
    """The variable of each key in the answers."""
    keys: tuple[tuple[str, ...], ...]
    """The canonical texts of the values of each key."""
    numbers: GroupKeys
    """The same as the plan has them."""


@dataclass(frozen=True, slots=True)
class Star:
    """The patterns and conditions of a question, written for an endpoint."""

    branch: Branch
    names: Mapping[Variable, str]
    """Variables under names of our own."""
    owner: tuple[str, ...]
    """The variables that tell entities (or facts, where these are protected) apart."""
    body: str
    labels: Mapping[int, str]
    """The canonical texts of declared keys, by their numbers."""

    @classmethod
    def read(cls, query: str, policy: Policy, plan: Plan) -> Star:
        """The star that a question is about.

        Raises:
            QueryRefused: CEL-Q346 it has another shape.
        """
        graph = policy.graph
        assert graph is not None
        tree, declared, base = parse(query)
        reader = TermReader(dict(graph.prefixes) | declared, base)
        branches = GroupReader(reader).read(tree["where"])
        if len(branches) != 1:
            raise QueryRefused("CEL-Q346.shape")
        (branch,) = branches
        others = (branch.values, branch.bindings, branch.sub_queries, branch.extensions)
        if any(others) or branch.fixed or not all(map(_is_plain, branch.patterns)):
            raise QueryRefused("CEL-Q346.shape")
        tables = [_table(each, graph) for each in branch.patterns]
        if tables != [each.table for each in sorted(scans(plan.original.source), key=_place)]:
            raise QueryRefused("CEL-Q346.shape")
        variables = dict.fromkeys(one for each in branch.patterns for one in each.variables)
        names = {each: f"?v{number}" for number, each in enumerate(variables, start=1)}
        writer = _Writer(names, reader)
        lines = [*map(writer.pattern, branch.patterns)]
        lines += [f"FILTER({writer.expression(each)})" for each in branch.conditions]
        owner = tuple(names[each] for each in _owner(branch, tables, policy))
        prefixes = dict(graph.prefixes)
        labels = {number: parse_term(word, prefixes) or "" for number, word in graph.labels}
        return cls(branch, names, owner, " ".join(lines), labels)

    def term(self, column: exp.Expression) -> str:
        """The variable that a column of a pattern's facts stands for."""
        if isinstance(column, exp.Column):
            pattern = self.branch.patterns[int(column.table[1:]) - 1]
            found = pattern.subject if column.name == "subject" else pattern.object
            if isinstance(found, Variable) and column.name in ("subject", "object", "number"):
                return self.names[found]
        raise QueryRefused("CEL-Q346.values")


def write_remote(
    star: Star, plan: Plan, totals: Sequence[Total], caps: Sequence[int], group_keys: GroupKeys
) -> RemoteQuestion:
    """The queries of a step.

    Args:
        star: what the question is about.
        plan: how it is answered.
        totals: what is measured.
        caps: what one entity may contribute to each, over all groups.
        group_keys: the values of each key.

    Raises:
        QueryRefused: CEL-Q346 an argument or a key that is not written here.
    """
    columns = [star.term(key.expression) for key in plan.question.keys]
    terms = []
    for values in group_keys:
        if not all(star.labels.get(each) for each in values):
            raise QueryRefused("CEL-Q346.values")
        terms.append(tuple(star.labels[each] for each in values))
    bound = " ".join(
        f"VALUES {column} {{ {' '.join(words)} }}"
        for column, words in zip(columns, terms, strict=True)
    )
    texts = tuple(
        _total_text(star, total, cap, columns, f"{bound} {star.body}".strip())
        for total, cap in zip(totals, caps, strict=True)
    )
    names = tuple(each[1:] for each in columns)
    return RemoteQuestion(texts, names, tuple(terms), group_keys)


def _total_text(star: Star, total: Total, cap: int, keys: Sequence[str], body: str) -> str:
    """The query of one total: `?total` for each combination of `keys` that has rows."""
    owner, columns = " ".join(star.owner), " ".join(keys)
    grouped = f" GROUP BY {columns}" if keys else ""
    if total.kind == "distinct":
        assert total.argument is not None
        counted = star.term(total.argument)
        if total.argument.name == "number":
            raise QueryRefused("CEL-Q346.values")
        different = " ".join(dict.fromkeys([*star.owner, *keys, counted]))
        rows, value = f"SELECT DISTINCT {different} WHERE {{ {body} }}", _bind("1", "?x")
        added = f"COUNT(DISTINCT {counted})"
    else:
        # A server that shows several graphs as one may find a fact twice.
        rows = f"SELECT DISTINCT {' '.join(star.names.values())} WHERE {{ {body} }}"
        value, added = _value(star, total), "SUM(?x)"
    rows = f"{{ {rows} }} {value}"
    if keys or total.kind == "distinct":
        most = f"HAVING (SUM(ABS(?x)) <= {cap})"
        kept = f"{{ SELECT {owner} WHERE {{ {rows} }} GROUP BY {owner} {most} }}"
        return f"SELECT {columns} ({added} AS ?total) WHERE {{ {rows} {kept} }}{grouped}"
    shares = f"{{ SELECT {owner} (SUM(?x) AS ?sum) WHERE {{ {rows} }} GROUP BY {owner} }}"
    low = f"IF(?sum < {-cap}, {-cap}, ?sum)" if total.is_signed else "?sum"
    return (
        f"SELECT (SUM(?share) AS ?total) WHERE {{ {shares} "
        f"BIND(IF(?sum > {cap}, {cap}, {low}) AS ?share) }}"
    )


def _value(star: Star, total: Total) -> str:
    """What one solution adds, as `?x`: a whole number that no fact can make an error of."""
    if total.argument is None:
        return _bind("1", "?x")
    if total.kind == "count":
        variable = star.term(total.argument)
        is_number = isinstance(total.argument, exp.Column) and total.argument.name == "number"
        counted = f"IF({_is_number(variable)}, 1, 0)"
        return _bind(counted if is_number else "1", "?x")
    assert total.fixed is not None
    return _steps(star, total.argument, total.fixed)


def _steps(star: Star, argument: exp.Expression, fixed: FixedPoint) -> str:
    """Steps of a grid: clamped, and rounded with halves away from zero, as the engines do.

    Decimals are rounded, because servers turn doubles into whole numbers in different ways; doubles
    are compared, because they reach farther.
    """
    if fixed.reach > MOST_STEPS:
        raise QueryRefused("CEL-Q346.grid")
    parts, whole = fixed.step.denominator, fixed.step.numerator
    scaled = f"?exact * {parts}" + (f" / {whole}" if whole != 1 else "")
    rounded = f"IF(?exact < 0, -ROUND(-({scaled})), ROUND({scaled}))"
    low, high = _double(fixed.lower), _double(fixed.upper)
    clamped = f"IF(?real < {low}, {fixed.low}, IF(?real > {high}, {fixed.high}, {rounded}))"
    columns = dict.fromkeys(map(star.term, argument.find_all(exp.Column)))
    numbers = " && ".join(map(_is_number, columns)) or "true"
    return " ".join(
        (
            _bind(_number(star, argument, "double"), "?real"),
            _bind(_number(star, argument, "decimal"), "?exact"),
            _bind(f"IF({numbers}, COALESCE(<{XSD}integer>({clamped}), 0), 0)", "?x"),
        )
    )


def _is_number(variable: str) -> str:
    """Whether a term is a number, and neither infinite nor NaN: stores hold no others."""
    return f"isNumeric({variable}) && {variable} >= -{_LARGEST} && {variable} <= {_LARGEST}"


def _bind(value: str, name: str) -> str:
    return f"BIND({value} AS {name})"


def _number(star: Star, tree: exp.Expression, kind: str) -> str:
    """A number of a solution, with 0 for a term that is none.

    Nothing here may be an error by the rules of SPARQL: some servers (Virtuoso) give up a whole
    query for it, and one fact would decide over the answer.
    """
    signs = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*"}
    match tree:
        case exp.Column():
            variable = star.term(tree)
            return f"IF({_is_number(variable)}, <{XSD}{kind}>({variable}), <{XSD}{kind}>(0))"
        case exp.Paren() | exp.Try() | exp.Cast():
            return _number(star, tree.this, kind)
        case exp.Neg():
            return f"(-{_number(star, tree.this, kind)})"
        case exp.Literal(is_string=False):
            return f'"{tree.name}"^^<{XSD}{kind}>'
        case exp.Add() | exp.Sub() | exp.Mul():
            sides = [_number(star, each, kind) for each in (tree.this, tree.expression)]
            return f"({sides[0]} {signs[type(tree)]} {sides[1]})"
    raise QueryRefused("CEL-Q346.values")


def _double(value: Any) -> str:
    written = repr(float(value))
    return written if "e" in written else f"{written}e0"


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes patterns and conditions with variables of our own."""

    names: Mapping[Variable, str]
    reader: TermReader

    def pattern(self, pattern: Pattern) -> str:
        """A triple pattern."""
        return " ".join(self._term(each) for _, each in pattern.terms) + " ."

    def _term(self, term: Term) -> str:
        return self.names[term] if isinstance(term, Variable) else term.written

    def expression(self, node: Any) -> str:  # noqa: PLR0911 - one for each kind of node
        """A condition, or a part of one.

        Raises:
            QueryRefused: CEL-Q346 what is not known to depend on one solution alone.
        """
        node = strip_layers(node)
        name = name_of(node)
        if is_variable(node):
            return self.names[Variable(str(node))]
        match name:
            case "" | "literal" | "pname":
                return self.reader.constant(node).written
            case "ConditionalAndExpression" | "ConditionalOrExpression":
                sign = " && " if "And" in name else " || "
                parts = [node["expr"], *node["other"]]
                return f"({sign.join(map(self.expression, parts))})"
            case "UnaryNot" | "UnaryMinus":
                return f"({'!' if name == 'UnaryNot' else '-'}{self.expression(node['expr'])})"
            case "RelationalExpression":
                return self._comparison(node)
            case "AdditiveExpression" | "MultiplicativeExpression":
                pairs = zip(node["op"], node["other"], strict=True)
                written = self.expression(node["expr"])
                for sign, each in pairs:
                    written = _operation(written, str(sign), self.expression(each))
                return written
        function = name.removeprefix("Builtin_")
        parts = [part for word in _ARGUMENTS if (part := part_of(node, word)) is not None]
        return _call(function, [self.expression(each) for each in parts])

    def _comparison(self, node: Any) -> str:
        sign, left = str(node["op"]), self.expression(node["expr"])
        if sign in ("IN", "NOT IN"):
            return f"({left} {sign} ({', '.join(map(self.expression, node['other']))}))"
        return f"({left} {sign} {self.expression(node['other'])})"


def _operation(left: str, sign: str, right: str) -> str:
    written = f"({left} {sign} {right})"
    if sign != "/":
        return written
    return f"IF(isNUMERIC({left}) && isNUMERIC({right}) && {right} != 0, {written}, {_ERROR})"


def _call(function: str, parts: Sequence[str]) -> str:
    """A call of a function, an error where terms are not of its kind.

    Raises:
        QueryRefused: CEL-Q346 what is not known to depend on one solution alone.
    """
    written = f"{function}({', '.join(parts)})"
    if function in _ANY:
        return written
    parts = [each for each in parts if each[0] != '"']  # constants are of some kind anyway
    if function in _OF_TEXTS:
        kinds = [
            f'isLITERAL({each}) && (LANG({each}) != "" || DATATYPE({each}) = <{XSD}string>)'
            for each in parts
        ]
    elif function in _OF_NUMBERS:
        kinds = [f"isNUMERIC({each})" for each in parts]
    elif function in _OF_MOMENTS:
        kinds = [f"DATATYPE({each}) IN (<{XSD}dateTime>, <{XSD}date>)" for each in parts]
    else:
        raise QueryRefused("CEL-Q346.shape")
    return f"IF({' && '.join(kinds) or 'true'}, {written}, {_ERROR})"


def _owner(branch: Branch, tables: Sequence[str], policy: Policy) -> Iterator[Variable]:
    """What tells apart the units that solutions belong to.

    Raises:
        QueryRefused: CEL-Q346 solutions may belong to two units, or the unit is written out.
    """
    private = [
        each
        for each, name in zip(branch.patterns, tables, strict=True)
        if (table := policy.table(name)) is not None and not table.public
    ]
    if policy.unit.is_row:
        found = list(private[0].variables) if len(private) == 1 else []
    else:
        subjects = dict.fromkeys(each.subject for each in private)
        found = [each for each in subjects if isinstance(each, Variable)]
        found = found if len(subjects) == 1 else []
    if not found:
        raise QueryRefused("CEL-Q346.star")
    yield from found


def _is_plain(pattern: Pattern) -> bool:
    plain = Pattern(pattern.subject, pattern.predicate, pattern.object)
    return isinstance(pattern.predicate, Constant) and pattern == plain


def _table(pattern: Pattern, graph: Graph) -> str:
    assert isinstance(pattern.predicate, Constant)
    return graph.table_of(pattern.predicate.text) or ""


def _place(scan: Any) -> int:
    return int(scan.alias[1:])
