"""The options of a release, checked before any data is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack, get_args

from celosia.core.errors import InputError
from celosia.core.messages import did_you_mean, quoted_names
from celosia.core.methods import build
from celosia.core.numbers import real, whole
from celosia.core.randomness import Source, System
from celosia.tables.metrics import METRICS, Loss, Metric
from celosia.tables.models import Model, SensitiveModel
from celosia.tables.recoding import allowance
from celosia.tables.schema import Role, Schema, name_list

Method = Literal["lattice", "mondrian", "mondrian-relaxed"]
"""How a table is recoded: exact over the lattice, or greedily in many dimensions."""


class PublishKeywords(TypedDict, total=False):
    """The keywords of `publish` that say what is done; `publish_file` and `publish_on` share them.

    `publish` explains each of them.
    """

    suppression: float
    metric: Metric | str | None
    method: str
    local: bool
    levels: Mapping[str, int] | None
    time_limit: float | None
    keep_order: bool
    sort: str | Iterable[str]
    drop_suppressed: bool
    accept_raw: Iterable[str]
    reason: str | None
    history: str | Path | None
    accept_joint: str | None
    rng: Source | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishOptions:
    """What is asked of a release: the schema, the models to meet, and what goes with them."""

    schema: Schema
    models: tuple[Model, ...]
    suppression: float
    metric: Metric
    method: Method
    local: bool
    levels: Mapping[str, int] | None
    time_limit: float | None
    keep_order: bool
    sort: tuple[str, ...]
    """The released columns by which the shuffled rows are sorted."""
    drop_suppressed: bool
    accept_raw: Mapping[str, str]
    """By column, the reason for which it may be published as it is, see `raw_columns`."""
    history: Path | None
    accept_joint: str | None
    rng: Source

    @classmethod
    def of(
        cls, schema: Schema, models: Model | Iterable[Model], **keywords: Unpack[PublishKeywords]
    ) -> PublishOptions:
        """The options given by the arguments of `publish`.

        Raises:
            InputError: CEL-S012 not a schema, CEL-P013 no quasi-identifier, CEL-P014 no model,
                CEL-P016 not a model, CEL-P011 a suppression limit out of range, CEL-I006 not a
                source of randomness, CEL-I061 not a metric, CEL-P061 not a method, CEL-P062 options
                that do not go together, CEL-P063 not a time limit, CEL-P008 levels that are not
                given by column name, CEL-P081 columns accepted without a reason.
        """
        check_schema(schema)
        rng = keywords.get("rng")
        if not (rng is None or isinstance(rng, Source)):
            raise InputError("CEL-I006", name=type(rng).__name__)
        suppression = keywords.get("suppression", 0.05)
        allowance(suppression, 0)
        # NumPy's numbers do not fit into the JSON of a certificate.
        options = cls(
            schema=schema,
            models=resolve_models(models, schema),
            suppression=float(suppression),
            metric=_metric(keywords.get("metric")),
            method=_method(keywords.get("method", "lattice")),
            local=bool(keywords.get("local")),
            levels=_levels(keywords.get("levels")),
            time_limit=_seconds(keywords.get("time_limit")),
            keep_order=bool(keywords.get("keep_order")),
            sort=tuple(name_list(keywords.get("sort", ()))),
            drop_suppressed=bool(keywords.get("drop_suppressed")),
            accept_raw=_accepted(schema, keywords.get("accept_raw", ()), keywords.get("reason")),
            history=None if (path := keywords.get("history")) is None else Path(path),
            accept_joint=_reason(keywords.get("accept_joint")),
            rng=System() if rng is None else rng,
        )
        options._check_together()
        return options

    @property
    def smallest(self) -> int:
        """The fewest records that a class needs under all models."""
        return max(model.smallest for model in self.models)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The sensitive columns that models ask about."""
        return sensitive_columns(self.models)

    @property
    def simulation(self) -> bool:
        """Whether a seed had a part in the release: it has none where nothing is shuffled."""
        return self.rng.simulation and not self.keep_order

    def weights(self, names: Sequence[str]) -> list[float] | None:
        """The weight of each column, if the metric has any."""
        given = self.metric.weights if isinstance(self.metric, Loss) else {}
        return [given.get(name, 1.0) for name in names] if given else None

    def as_dict(self) -> dict[str, Any]:
        """The parameters as plain values."""
        told: dict[str, Any] = {} if self.schema.unit is None else {"unit": self.schema.unit}
        if self.accept_joint is not None:
            told["accept_joint"] = self.accept_joint
        return told | {
            "models": [model.as_dict() for model in self.models],
            "suppression": self.suppression,
            "metric": self.metric.as_dict(),
            "method": self.method,
            "local": self.local,
            "levels": self.levels,
            "time_limit": self.time_limit,
            "keep_order": self.keep_order,
            "sort": list(self.sort),
            "drop_suppressed": self.drop_suppressed,
            "accept_raw": dict(self.accept_raw),
        }

    @property
    def needs_population(self) -> bool:
        """Whether a model compares the table with the population that it is a sample of."""
        return any(model.needs_population for model in self.models)

    def check_population(self, *, given: bool) -> None:
        """Refuse models about a population without one, and a population without such models.

        Raises:
            InputError: CEL-P062.
        """
        if self.needs_population and not given:
            raise InputError("CEL-P062.no_population")
        if given and not self.needs_population:
            raise InputError("CEL-P062.spare_population")

    def _check_together(self) -> None:
        greedy = self.method != "lattice"
        for_loss = isinstance(self.metric, Loss)
        clashes = [
            (greedy and self.levels is not None, "CEL-P062.levels_mondrian"),
            (greedy and self.local, "CEL-P062.local_mondrian"),
            (greedy and not for_loss, "CEL-P062.metric_mondrian"),
            (self.local and self.levels is not None, "CEL-P062.levels_local"),
            (self.local and not for_loss, "CEL-P062.metric_local"),
            (self.local and self.needs_population, "CEL-P062.population_local"),
            (greedy and any(m.needs_information for m in self.models), "CEL-P062.profit_mondrian"),
            (self.keep_order and bool(self.sort), "CEL-P062.sort_kept"),
            (self.accept_joint is not None and self.history is None, "CEL-P062.spare_accept"),
        ]
        for clash, key in clashes:
            if clash:
                raise InputError(key)
        self._check_sort(self.schema.named(Role.IDENTIFIER))
        if self.schema.unit_column is not None:
            self._check_units()

    def check_columns(self, columns: Sequence[str]) -> None:
        """Refuse a table whose columns do not fit the schema, or lack one of the order.

        Raises:
            InputError: CEL-S004 and others of the schema, CEL-P082.
        """
        self.schema.check_columns(columns)
        self._check_sort(columns)
        for name in self.sort:
            if name not in columns:
                hint = did_you_mean(name, columns)
                raise InputError("CEL-P082.missing", column=name, hint=hint)

    def _check_sort(self, columns: Sequence[str]) -> None:
        """Refuse an order by what is not released: it would tell what the release hides."""
        for name in self.sort:
            if name in columns and self.schema.role_of(name) is Role.IDENTIFIER:
                raise InputError("CEL-P082.identifier", column=name)

    def _check_units(self) -> None:
        """Refuse what cannot be had where people or households are counted."""
        if self.method == "mondrian-relaxed":
            raise InputError("CEL-P062.relaxed_units", unit=self.schema.unit)
        for model in self.models:
            if not model.counts_units:
                raise InputError(
                    "CEL-P062.model_units", promise=model.promise(), unit=self.schema.unit
                )


def _metric(metric: Metric | str | None) -> Metric:
    if metric is None:
        return Loss()
    if isinstance(metric, Metric):
        return metric
    return build(METRICS, metric, {}, what="metric")


def _method(method: str) -> Method:
    for known in get_args(Method):
        if method == known:
            return known  # type: ignore[no-any-return]
    raise InputError(
        "CEL-P061",
        method=method,
        hint=did_you_mean(str(method), get_args(Method)),
        methods=", ".join(get_args(Method)),
    )


def _levels(levels: Mapping[str, int] | None) -> dict[str, int] | None:
    """Plain numbers for the certificate; whether they fit the columns is seen with the table."""
    if levels is None:
        return None
    if not isinstance(levels, Mapping):
        raise InputError("CEL-P008.not_by_name", kind=type(levels).__name__)
    return {name: level if (n := whole(level)) is None else n for name, level in levels.items()}


def _accepted(schema: Schema, names: Iterable[str], reason: str | None) -> dict[str, str]:
    """The reasons of the schema, and the one that is given for further columns."""
    accepted = {column.name: column.accept_raw for column in schema.columns if column.accept_raw}
    given = name_list(names)
    said = reason.strip() if isinstance(reason, str) else ""
    if given and not said:
        raise InputError("CEL-P081.no_reason", names=quoted_names(given, given))
    if said and not given:
        raise InputError("CEL-P081.no_column")
    return accepted | dict.fromkeys(given, said)


def _reason(reason: str | None) -> str | None:
    """A reason in words, or none; an empty one is none that anybody could read."""
    if reason is not None and not (isinstance(reason, str) and reason.strip()):
        raise InputError("CEL-P062.no_reason")
    return reason


def _seconds(limit: float | None) -> float | None:
    if limit is None:
        return None
    seconds = real(limit)
    if seconds is None or not (isfinite(seconds) and seconds > 0):
        raise InputError("CEL-P063", limit=limit)
    return float(seconds)


def check_schema(schema: Schema) -> None:
    """Refuse a schema under which nothing can be promised."""
    if not isinstance(schema, Schema):
        raise InputError("CEL-S012", name=type(schema).__name__)
    if not schema.quasi_identifiers:
        raise InputError("CEL-P013")


def resolve_models(models: Model | Iterable[Model], schema: Schema) -> tuple[Model, ...]:
    """The models with a column each: one that names none stands for every sensitive column.

    Raises:
        InputError: CEL-P014 no model, CEL-P016 not a model, CEL-P007 a model about sensitive
            values, and no such column in the schema; CEL-P064 a model about every sensitive column,
            and the schema does not name them all; CEL-P062 a model that counts people, and the
            schema does not say whose records they are.
    """
    given = _as_models(models)
    sensitive = schema.named(Role.SENSITIVE)
    result: list[Model] = []
    for model in given:
        if model.counts_people_only and schema.unit != "person":
            raise InputError("CEL-P062.needs_people", promise=model.promise())
        if not isinstance(model, SensitiveModel):
            result.append(model)
        elif model.column is not None:
            _check_sensitive(model, model.column, sensitive)
            result.append(model)
        elif schema.other_columns is Role.SENSITIVE:
            raise InputError("CEL-P064", promise=model.promise())
        elif sensitive:
            result += [model.for_column(name) for name in sensitive]
        else:
            raise InputError("CEL-P007.no_sensitive_column", promise=model.promise())
    return tuple(result)


def sensitive_columns(models: Iterable[Model]) -> tuple[str, ...]:
    """The sensitive columns that models ask about."""
    named = [model.column for model in models if isinstance(model, SensitiveModel)]
    return tuple(dict.fromkeys(name for name in named if name is not None))


def _check_sensitive(model: Model, column: str, sensitive: tuple[str, ...]) -> None:
    if column not in sensitive:
        raise InputError(
            "CEL-P007.not_sensitive",
            promise=model.promise(),
            hint=did_you_mean(column, sensitive),
            column=column,
        )


def _as_models(models: Model | Iterable[Model]) -> tuple[Model, ...]:
    wanted = tuple(models) if isinstance(models, Iterable) else (models,)
    if not wanted:
        raise InputError("CEL-P014")
    for model in wanted:
        if isinstance(model, type) or not isinstance(model, Model):
            raise InputError("CEL-P016", name=type(model).__name__)
    return wanted
