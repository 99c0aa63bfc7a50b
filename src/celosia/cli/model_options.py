"""Options for privacy models, metrics and levels, and their translation to values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import TYPE_CHECKING, Annotated

import typer

from celosia.cli import console
from celosia.core.errors import InputError
from celosia.core.messages import Message, say

if TYPE_CHECKING:
    from celosia.tables import Model
    from celosia.tables.metrics import Metric

K = Annotated[
    int | None,
    typer.Option(
        "--k",
        help="k-anonymity: every record is one of at least K with equal quasi-identifiers.",
    ),
]
L = Annotated[
    list[str] | None,
    typer.Option(
        "--l",
        metavar="MODEL",
        help="l-diversity: 3, entropy:3 or recursive:4,3; 3,column=NAME for one column.",
    ),
]
T = Annotated[
    list[str] | None,
    typer.Option(
        "--t",
        metavar="MODEL",
        help="t-closeness: 0.2, 0.2,ordered or 0.2,hierarchical; 0.2,column=NAME for one column.",
    ),
]
OtherModels = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        metavar="NAME:PARAMETERS",
        help="Any other model: k-map:5,0.1, average-risk:0.05, beta-likeness:1; may be repeated.",
    ),
]
MetricName = Annotated[
    str | None,
    typer.Option(
        "--metric",
        metavar="NAME",
        help="Metric to minimise: loss (the default), precision, height, discernibility, "
        "average-class-size, entropy or ambiguity.",
    ),
]
Weights = Annotated[
    list[str] | None,
    typer.Option(
        "--weight",
        metavar="COLUMN=NUMBER",
        help="Weight of a column in the metric (1 by default); may be repeated.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """The privacy models that must hold."""

    k: K = None
    diversity: L = None
    closeness: T = None
    model: OtherModels = None

    def load(self) -> list[Model]:
        """The models behind the options.

        Raises:
            InputError: CEL-I050 none is given, or what the notation of a model says of a bad one.
        """
        from celosia.tables import KAnonymity, model_from_text
        from celosia.tables.models.notation import closeness_from_text, diversity_from_text

        models: list[Model] = [] if self.k is None else [KAnonymity(self.k)]
        models += [diversity_from_text(text) for text in self.diversity or ()]
        models += [closeness_from_text(text) for text in self.closeness or ()]
        models += [model_from_text(text) for text in self.model or ()]
        if not models:
            raise InputError("CEL-I050")
        return models


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricOptions:
    """The metric to minimise, and the weights of the columns in it."""

    metric: MetricName = None
    weights: Weights = None

    def load(self) -> Metric | None:
        """The metric behind the options; None for the default.

        Raises:
            InputError: CEL-I061 an unknown name, CEL-I062 weights for a metric that has none.
        """
        from celosia.core.methods import build
        from celosia.tables.metrics import METRICS

        if self.metric is None and not self.weights:
            return None
        weights = numbers_by_column(self.weights or (), option="--weight")
        given = {"weights": weights} if weights else {}
        return build(METRICS, self.metric or "loss", given, what="metric")


def note_open_identity(models: Sequence[Model]) -> None:
    """Warn where none of the models prevents re-identification."""
    from celosia.tables.models.model import IDENTITY

    if all(IDENTITY in model.leaves_open() for model in models):
        console.note(say("cli.explore.warning", identity_open=Message("cli.advice.identity_open")))


def levels_from(levels: list[str] | None, *, option: str = "--level") -> dict[str, int] | None:
    """The level of each column that the option names; None if it names none.

    Raises:
        InputError: CEL-I051 not of the form COLUMN=LEVEL with a whole number.
    """
    if not levels:
        return None
    given = numbers_by_column(levels, option=option)
    for name, number in given.items():
        if not number.is_integer():
            raise InputError("CEL-I051.level", name=name, option=option)
    return {name: int(number) for name, number in given.items()}


def numbers_by_column(given: Sequence[str], *, option: str) -> dict[str, float]:
    """Numbers written as COLUMN=NUMBER; the name of a column may itself hold the sign.

    >>> numbers_by_column(["age=2", "a=b=0.5"], option="--weight")
    {'age': 2.0, 'a=b': 0.5}

    Raises:
        InputError: CEL-I051 not of this form, or a column named twice.
    """
    found: dict[str, float] = {}
    for text in given:
        name, sign, number = text.rpartition("=")
        try:
            value = float(number) if sign and name and "_" not in number else nan
        except ValueError:
            value = nan
        if isnan(value) or name in found:
            raise InputError("CEL-I051.number", option=option, text=text)
        found[name] = value
    return found
