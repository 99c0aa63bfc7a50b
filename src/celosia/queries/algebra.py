"""The small relational algebra that every private query is compiled to.

SQL and SPARQL become the same few values, and everything that judges or runs a question knows only
these. What has no value here cannot be asked. Row-wise expressions are kept as SQLGlot trees whose
columns are qualified by the alias of their relation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from sqlglot import exp

from celosia.core.messages import Message


@dataclass(frozen=True, slots=True)
class Column:
    """A column under the alias of its relation.

    >>> print(Column("o", "custkey"))
    o.custkey
    """

    relation: str
    name: str

    def __str__(self) -> str:
        return f"{self.relation}.{self.name}"


@dataclass(frozen=True, slots=True)
class Scan:
    """All rows of a table, under an alias that no other scan of the question has."""

    table: str
    alias: str


@dataclass(frozen=True, slots=True)
class Filter:
    """The rows of which a row-wise condition is true."""

    source: Relation
    condition: exp.Expression


Keys = tuple[tuple[Column, Column], ...]
"""Pairs of columns that must be equal: one of the left relation, one of the right."""


@dataclass(frozen=True, slots=True)
class Join:
    """An inner equijoin: every pair of rows that agree in all keys and meet the condition.

    The condition may refer to both sides; it only takes pairs away.
    """

    left: Relation
    right: Relation
    keys: Keys
    condition: exp.Expression | None = None


@dataclass(frozen=True, slots=True)
class LeftJoin:
    """A left outer equijoin: the rows of a join, and left rows without a partner beside NULLs.

    The condition decides, with the keys, who is a partner; it takes no left row away.
    """

    left: Relation
    right: Relation
    keys: Keys
    condition: exp.Expression | None = None


@dataclass(frozen=True, slots=True)
class SemiJoin:
    """The rows of the left relation that have a partner in the right one, or have none.

    A semi-join (IN, EXISTS), or an anti-join (NOT IN, NOT EXISTS) when `negated`. Only columns of
    the left relation go on.
    """

    left: Relation
    right: Relation
    keys: Keys
    condition: exp.Expression | None = None
    negated: bool = False


@dataclass(frozen=True, slots=True)
class NamedExpression:
    """A row-wise expression under a name."""

    name: str
    expression: exp.Expression


@dataclass(frozen=True, slots=True)
class DerivedTable:
    """A sub-query: the rows of a relation under an alias, with these columns only."""

    source: Relation
    alias: str
    columns: tuple[NamedExpression, ...]
    """Window functions among them work on the rows of one owner each, see `ownership.per_owner`."""
    numbered: frozenset[str] = frozenset()
    """Names of columns that number the rows of each owner from 1, once owners are known."""
    owner_columns: frozenset[str] = frozenset()
    """With `numbered`: names of columns of which one value never goes with two owners."""


@dataclass(frozen=True, slots=True)
class GroupedTable:
    """GROUP BY in a sub-query: a row for each group, with its keys and aggregates as columns."""

    source: Relation
    alias: str
    keys: tuple[NamedExpression, ...]
    """The keys of the question first, then those of the owners, once they are known."""
    aggregates: tuple[Aggregate, ...] = ()
    key_count: int = 0
    """How many of the keys are the question's own."""
    owner_columns: frozenset[str] = frozenset()
    """Where an owner has one row at most: the names of keys that tell the owner."""
    most: int | None = None
    """The most rows of a group that are counted, where that has been planned."""


@dataclass(frozen=True, slots=True)
class UnionAll:
    """UNION ALL: the rows of several relations, one after the other.

    Every part has the same column names, in the same order, and is known outside by `alias`.
    """

    parts: tuple[DerivedTable, ...]
    alias: str


Relation = Scan | Filter | Join | LeftJoin | SemiJoin | DerivedTable | GroupedTable | UnionAll
"""Rows of private or public tables, put together."""

AggregateKind = Literal[
    "rows",  # COUNT(*)
    "count",  # COUNT(x)
    "distinct",  # COUNT(DISTINCT x)
    "sum",
    "mean",
    "variance",
    "deviation",
    "minimum",
    "maximum",
    "quantile",  # also MEDIAN
    "first",  # ARG_MIN(x, y), in sub-queries
    "last",  # ARG_MAX(x, y), likewise
    "covariance",  # of two values, as all that follow
    "correlation",
    "slope",
    "intercept",
    "determination",  # REGR_R2
]


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One number about the rows of a group."""

    kind: AggregateKind
    name: str
    argument: exp.Expression | None = None
    """The expression that is counted, summed or ranked; None for COUNT(*)."""
    share: float | None = None
    """Of a quantile: 0.5 for the median."""
    sample: bool = False
    """Of a variance or deviation: whether the squares are shared out over n - 1, not n."""
    label: str | None = None
    """Its text in the question, where it was rewritten."""
    order: exp.Expression | None = None
    """Of the first or last: what rows are ordered by."""
    second: exp.Expression | None = None
    """Of two values the other one."""
    steps: tuple[Fraction, Fraction, Fraction] | None = None
    """Of a sum or mean in a sub-query: the bounds that values are clipped to, and the grid."""

    @property
    def kind_in_words(self) -> Message:  # noqa: PLR0911, PLR0912 - one for each kind
        """What it is, for people."""
        match self.kind:
            case "rows":
                return Message("queries.aggregate.rows")
            case "count":
                return Message("queries.aggregate.count")
            case "distinct":
                return Message("queries.aggregate.distinct")
            case "sum":
                return Message("queries.aggregate.sum")
            case "mean":
                return Message("queries.aggregate.mean")
            case "variance" if self.sample:
                return Message("queries.aggregate.sample_variance")
            case "variance":
                return Message("queries.aggregate.variance")
            case "deviation" if self.sample:
                return Message("queries.aggregate.sample_deviation")
            case "deviation":
                return Message("queries.aggregate.deviation")
            case "minimum":
                return Message("queries.aggregate.minimum")
            case "maximum":
                return Message("queries.aggregate.maximum")
            case "quantile":
                return Message("queries.aggregate.quantile")
            case "first":
                return Message("queries.aggregate.first")
            case "last":
                return Message("queries.aggregate.last")
            case "covariance" if self.sample:
                return Message("queries.aggregate.sample_covariance")
            case "covariance":
                return Message("queries.aggregate.covariance")
            case "correlation":
                return Message("queries.aggregate.correlation")
            case "slope":
                return Message("queries.aggregate.slope")
            case "intercept":
                return Message("queries.aggregate.intercept")
            case "determination":
                return Message("queries.aggregate.determination")


@dataclass(frozen=True, slots=True)
class Key:
    """A key of GROUP BY: a row-wise expression under a name."""

    name: str
    expression: exp.Expression


@dataclass(frozen=True, slots=True)
class PostProcessing:
    """Post-processing of the noisy answers, which costs nothing."""

    having: exp.Expression | None = None
    """A condition on names of keys, aggregates and what is computed."""
    order: tuple[tuple[str, bool], ...] = ()
    """Names of answers, each with whether the largest come first."""
    limit: int | None = None
    offset: int = 0
    """The number of ordered answers that are skipped."""
    computed: tuple[NamedExpression, ...] = ()
    """Expressions of keys, aggregates and the expressions before them."""
    columns: tuple[str, ...] = ()
    """The names that are shown, in order."""
    present: str | None = None
    """The count that tells, beyond its noise, which groups have rows: only these are shown."""


@dataclass(frozen=True, slots=True)
class Wording:
    """What the question itself calls its parts, where the algebra has other names for them."""

    columns: dict[Column, str] = field(default_factory=dict)
    """Of SPARQL the variable or term that a column holds."""
    scans: dict[str, str] = field(default_factory=dict)
    """By alias, of SPARQL the triple pattern that a scan is of."""

    def renamed(self, names: Mapping[Column, Column]) -> Wording:
        """The same words for columns under other names."""
        more = {names[each]: text for each, text in self.columns.items() if each in names}
        return Wording(self.columns | more, dict(self.scans))


@dataclass(frozen=True, slots=True)
class Question:
    """Aggregates over the rows of a relation, group by group."""

    source: Relation
    aggregates: tuple[Aggregate, ...]
    keys: tuple[Key, ...] = ()
    post_processing: PostProcessing = PostProcessing()
    branches: tuple[Question, ...] = ()
    """Questions that are answered apart, each for a part of the price: grouping sets, UNION ALL.

    Their answers stand below each other, with the column names of the first; `post_processing` is
    that of all of them together.
    """
    wording: Wording | None = field(default=None, compare=False, repr=False)
    """How it is shown; None for the names of the algebra."""

    @property
    def each(self) -> tuple[Question, ...]:
        """The questions that it is made of, or itself."""
        return self.branches or (self,)


def children(relation: Relation) -> tuple[Relation, ...]:
    """The relations that a relation is made of."""
    match relation:
        case Scan():
            return ()
        case Filter(source=source) | DerivedTable(source=source) | GroupedTable(source=source):
            return (source,)
        case (
            Join(left=left, right=right)
            | LeftJoin(left=left, right=right)
            | SemiJoin(left=left, right=right)
        ):
            return (left, right)
        case UnionAll(parts=parts):
            return parts


def walk(relation: Relation) -> Iterator[Relation]:
    """A relation and all it is made of, the outermost first."""
    yield relation
    for child in children(relation):
        yield from walk(child)


def scans(relation: Relation) -> tuple[Scan, ...]:
    """Every scan of a table, from left to right."""
    return tuple(part for part in walk(relation) if isinstance(part, Scan))


def aliases(relation: Relation) -> frozenset[str]:
    """The aliases whose columns can be referred to outside a relation."""
    match relation:
        case (
            Scan(alias=alias)
            | DerivedTable(alias=alias)
            | GroupedTable(alias=alias)
            | UnionAll(alias=alias)
        ):
            return frozenset({alias})
        case Filter(source=source):
            return aliases(source)
        case SemiJoin(left=left):
            return aliases(left)
        case Join(left=left, right=right) | LeftJoin(left=left, right=right):
            return aliases(left) | aliases(right)
