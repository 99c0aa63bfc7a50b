"""Publishing a table in the studio: the form, its suggestions, its results, and the pages."""

from celosia.studio.publish.code import command_text, python_text, schema_text
from celosia.studio.publish.form import (
    ColumnForm,
    PublishForm,
    arguments,
    models,
    publish_options,
    schema,
)

__all__ = [
    "ColumnForm",
    "PublishForm",
    "arguments",
    "command_text",
    "models",
    "publish_options",
    "python_text",
    "schema",
    "schema_text",
]
