"""The options of a release, checked before any data is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal, get_args

from celosia.core.errors import InputError
from celosia.core.methods import build
from celosia.core.numbers import real, whole
from celosia.core.randomness import Source, System
from celosia.core.wording import did_you_mean
from celosia.tables.metrics import METRICS, Loss, Metric
from celosia.tables.model_resolution import resolve_models
from celosia.tables.models import Model
from celosia.tables.recoding import allowance
from celosia.tables.schema import Schema

Method = Literal["lattice", "mondrian", "mondrian-relaxed"]
"""How a table is recoded: exact over the lattice, or greedily in many dimensions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishOptions:
    """The models to meet and the options that go with them."""

    models: tuple[Model, ...]
    suppression: float
    keep_order: bool
    drop_suppressed: bool
    rng: Source
    metric: Metric
    method: Method
    local: bool
    levels: Mapping[str, int] | None
    time_limit: float | None

    @classmethod
    def of(
        cls,
        models: Model | Iterable[Model],
        schema: Schema,
        *,
        suppression: float,
        keep_order: bool,
        drop_suppressed: bool,
        rng: Source | None,
        metric: Metric | str | None = None,
        method: str = "lattice",
        local: bool = False,
        levels: Mapping[str, int] | None = None,
        time_limit: float | None = None,
        has_population: bool = False,
    ) -> PublishOptions:
        """The options given by the arguments of `publish`.

        Raises:
            InputError: CEL-P014 no model, CEL-P016 not a model, CEL-P011 a suppression limit out
                of range, CEL-I006 not a source of randomness, CEL-I061 not a metric, CEL-P061 not a
                method, CEL-P062 options that do not go together, CEL-P063 not a time limit,
                CEL-P008 levels that are not given by column name.
        """
        if not (rng is None or isinstance(rng, Source)):
            raise InputError("CEL-I006", name=type(rng).__name__)
        allowance(suppression, 0)
        # NumPy's numbers do not fit into the JSON of a certificate.
        options = cls(
            models=resolve_models(models, schema),
            suppression=float(suppression),
            keep_order=bool(keep_order),
            drop_suppressed=bool(drop_suppressed),
            rng=System() if rng is None else rng,
            metric=_metric(metric),
            method=_method(method),
            local=bool(local),
            levels=_levels(levels),
            time_limit=_seconds(time_limit),
        )
        options._check_together(has_population=has_population)
        return options

    @property
    def smallest(self) -> int:
        """The fewest records that a class needs under all models."""
        return max(model.smallest for model in self.models)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The sensitive columns that models ask about."""
        named = [getattr(model, "column", None) for model in self.models]
        return tuple(dict.fromkeys(name for name in named if name is not None))

    @property
    def simulation(self) -> bool:
        """Whether a seed had a part in the release: it has none where nothing is shuffled."""
        return self.rng.simulation and not self.keep_order

    def weights(self, names: Sequence[str]) -> list[float] | None:
        """The weight of each column, if the metric has any."""
        given: Mapping[str, float] = getattr(self.metric, "weights", {})
        return [given.get(name, 1.0) for name in names] if given else None

    def as_dict(self) -> dict[str, Any]:
        """The parameters as plain values."""
        return {
            "models": [model.as_dict() for model in self.models],
            "suppression": self.suppression,
            "metric": self.metric.as_dict(),
            "method": self.method,
            "local": self.local,
            "levels": self.levels,
            "time_limit": self.time_limit,
            "keep_order": self.keep_order,
            "drop_suppressed": self.drop_suppressed,
        }

    def _check_together(self, *, has_population: bool) -> None:
        greedy = self.method != "lattice"
        needs_population = any(model.needs_population for model in self.models)
        for_loss = isinstance(self.metric, Loss)
        clashes = [
            (greedy and self.levels is not None, "CEL-P062.levels_mondrian"),
            (greedy and self.local, "CEL-P062.local_mondrian"),
            (greedy and not for_loss, "CEL-P062.metric_mondrian"),
            (self.local and self.levels is not None, "CEL-P062.levels_local"),
            (self.local and not for_loss, "CEL-P062.metric_local"),
            (self.local and needs_population, "CEL-P062.population_local"),
            (needs_population and not has_population, "CEL-P062.no_population"),
            (has_population and not needs_population, "CEL-P062.spare_population"),
        ]
        for clash, key in clashes:
            if clash:
                raise InputError(key)


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


def _seconds(limit: float | None) -> float | None:
    if limit is None:
        return None
    seconds = real(limit)
    if seconds is None or not (isfinite(seconds) and seconds > 0):
        raise InputError("CEL-P063", limit=limit)
    return float(seconds)
