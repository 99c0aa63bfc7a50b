"""Publishing a table from the studio: what was chosen, how it was suggested, how it is edited."""

from celosia.studio.model.publish.form import (
    PublishForm,
    ColumnForm,
    arguments,
    models,
    schema,
    wish,
)
from celosia.studio.model.publish.writing import command_text, python_text, schema_text

__all__ = [
    "Choices",
    "ColumnChoice",
    "arguments",
    "command_text",
    "models",
    "python_text",
    "schema",
    "schema_text",
    "wish",
]
