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
        raise InputError(
            "CEL-S012",
            f"a {type(schema).__name__} is not a schema.",
            fix='Read a file with Schema.load("people.toml"), or write Schema.of(...).',
        )
    if not schema.quasi_identifiers:
        raise InputError(
            "CEL-P013",
            "the schema names no quasi-identifier.",
            why="Without one there is nothing to generalise and nothing to promise.",
            fix='Give at least one column the role "quasi-identifier".',
        )


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
            raise InputError(
                "CEL-P064",
                f"{model.promise()} is about every sensitive column, and the schema does not name "
                "them all: other columns are sensitive, too.",
                why="Columns without a name in the schema would be left out of the promise.",
                fix="Name each sensitive column in the schema, or the one that the model is about.",
            )
        elif sensitive:
            result += [model.for_column(name) for name in sensitive]
        else:
            raise InputError(
                "CEL-P007",
                f"{model.promise()} is about a sensitive column, and the schema has none.",
                fix='Give the column the role "sensitive" in the schema, or --sensitive COLUMN.',
            )
    return tuple(result)


def _check_sensitive(model: Model, column: str, sensitive: tuple[str, ...]) -> None:
    if column not in sensitive:
        raise InputError(
            "CEL-P007",
            f"{model.promise()}: '{column}'{did_you_mean(column, sensitive)} is no sensitive "
            "column of the schema.",
            fix='Give the column the role "sensitive" in the schema, or --sensitive COLUMN.',
            column=column,
        )


def _as_models(models: Model | Iterable[Model]) -> tuple[Model, ...]:
    wanted = tuple(models) if isinstance(models, Iterable) else (models,)
    if not wanted:
        raise InputError("CEL-P014", "no privacy model was given.", fix="Add one: KAnonymity(5).")
    for model in wanted:
        if isinstance(model, type) or not isinstance(model, Model):
            raise InputError(
                "CEL-P016",
                f"a {type(model).__name__} is not a privacy model.",
                fix="Write KAnonymity(5), or a list of models.",
            )
    return wanted
