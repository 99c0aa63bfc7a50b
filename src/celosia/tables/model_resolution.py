"""Requested models with their sensitive column: each model is about one."""

from __future__ import annotations

from collections.abc import Iterable

from celosia.core.errors import InputError
from celosia.core.wording import did_you_mean
from celosia.tables.models import Model, SensitiveModel
from celosia.tables.schema import Role, Schema


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
            and the schema does not name them all.
    """
    given = _as_models(models)
    sensitive = schema.named(Role.SENSITIVE)
    result: list[Model] = []
    for model in given:
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
