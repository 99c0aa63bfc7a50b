"""Models as asked for, and as judged: each about one sensitive column."""

from __future__ import annotations

from collections.abc import Iterable

from celosia.core.errors import InputError
from celosia.core.wording import did_you_mean
from celosia.tables.models import Model, SensitiveModel
from celosia.tables.schema import Role, Schema


def resolved(models: Model | Iterable[Model], schema: Schema) -> tuple[Model, ...]:
    """The models with a column each: one that names none stands for every sensitive column.

    Raises:
        InputError: CEL-P007 a model about sensitive values, and no such column in the schema;
            CEL-P064 a model about every sensitive column, and the schema does not name them all.
    """
    given = tuple(models) if isinstance(models, Iterable) else (models,)
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
