"""Questions about public tables only: the exact answer, for nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from sqlglot import exp

from celosia.accounting.losses import Loss
from celosia.core.messages import Message
from celosia.core.randomness import Source
from celosia.queries.algebra import Aggregate, Question
from celosia.queries.emission import Target, syntax
from celosia.queries.emission.relations import select, write_expression
from celosia.queries.planning.plan import Bounds, Executor, GroupKeys, Part, ReleasedValues, Step


@dataclass(frozen=True, kw_only=True)
class PublicStep(Step):
    """The rows of an answer as the engine has them; no unit changes any of them."""

    question: Question
    target: Target

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.question.aggregates)

    @property
    def parts(self) -> tuple[Part, ...]:
        return tuple(
            Part(
                name=each.name,
                mechanism=Message("queries.mechanism.exact"),
                bound=Message("queries.bound.public"),
                epsilon=Fraction(0),
                error=0.0,
            )
            for each in self.question.aggregates
        )

    def losses(self, groups: int) -> tuple[Loss, ...]:
        return ()

    def queries(self, group_keys: GroupKeys | None) -> Iterator[exp.Expr]:
        question, target = self.question, self.target
        keys = [f"key_{number}" for number, _ in enumerate(question.keys, start=1)]
        columns: list[exp.Expr] = [
            syntax.as_alias(write_expression(each.expression, question.source, target=target), word)
            for word, each in zip(keys, question.keys, strict=True)
        ]
        words = [f"value_{number}" for number, _ in enumerate(question.aggregates, start=1)]
        columns += [
            syntax.as_alias(
                write_expression(
                    each.argument or exp.Literal.number(1), question.source, target=target
                ),
                word,
            )
            for word, each in zip(words, question.aggregates, strict=True)
        ]
        columns += [
            syntax.as_alias(
                write_expression(each.second, question.source, target=target), f"{word}_second"
            )
            for word, each in zip(words, question.aggregates, strict=True)
            if each.second is not None
        ]
        amounts = [
            syntax.as_alias(_amount(each, word), word)
            for word, each in zip(words, question.aggregates, strict=True)
        ]
        inner = select(question.source, columns, target=target)
        yield syntax.order_by(
            syntax.group_by(syntax.select_from(inner, [*map(syntax.column, keys), *amounts]), keys),
            keys,
        )

    def measure(
        self, execute: Executor, *, group_keys: GroupKeys | None, rng: Source
    ) -> tuple[ReleasedValues, ...]:
        raise AssertionError("public rows are read, not measured")

    def rows(self, execute: Executor) -> list[dict[str, Any]]:
        """The groups that there are, with their exact aggregates."""
        (query,) = self.queries(None)
        names = [*(each.name for each in self.question.keys), *self.names]
        return [dict(zip(names, map(_plain, row), strict=True)) for row in execute(query)]

    def bounds(
        self, number: int, measured: ReleasedValues, confidence: float
    ) -> tuple[Bounds | None, ...]:
        raise AssertionError("public rows are exact")


def _amount(aggregate: Aggregate, word: str) -> exp.Expr:
    value = syntax.column(word)
    match aggregate.kind:
        case "rows":
            return exp.Count(this=exp.Star())
        case "count":
            return exp.Count(this=value)
        case "distinct":
            return exp.Count(this=exp.Distinct(expressions=[value]))
        case "quantile":
            share = exp.Literal.number(repr(aggregate.share))
            order = exp.Order(expressions=[exp.Ordered(this=value, nulls_first=False)])
            return exp.WithinGroup(this=exp.PercentileCont(this=share), expression=order)
    if aggregate.second is not None:
        pair: type[exp.Expr] = {
            "covariance": exp.CovarSamp if aggregate.sample else exp.CovarPop,
            "correlation": exp.Corr,
            "slope": exp.RegrSlope,
            "intercept": exp.RegrIntercept,
            "determination": exp.RegrR2,
        }[aggregate.kind]
        return pair(this=value, expression=syntax.column(f"{word}_second"))
    functions: dict[str, type[exp.AggFunc]] = {
        "sum": exp.Sum,
        "mean": exp.Avg,
        "variance": exp.Variance if aggregate.sample else exp.VariancePop,
        "deviation": exp.StddevSamp if aggregate.sample else exp.StddevPop,
        "minimum": exp.Min,
        "maximum": exp.Max,
    }
    return functions[aggregate.kind](this=value)


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
