"""The choices as text that does the same elsewhere: a command, Python, and a schema file."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from celosia.core.notation import notation
from celosia.studio.parameters import value_of
from celosia.studio.publish.form import HISTORY, PublishForm, metric, models, schema_table
from celosia.studio.toml import inline, key_of
from celosia.tables.models import KAnonymity

SCHEMA_FILE = "schema.toml"
"""What the schema is called in the texts, and when it is downloaded."""


def command_text(form: PublishForm) -> str:
    """The command that publishes the table as chosen.

    A sample is written to a file first.
    """
    name = file_name(form)
    lines = []
    if form.sample is not None:
        lines.append(f"celosia datasets get {shlex.quote(form.sample)} -o {shlex.quote(name)}")
    parts = [
        f"celosia publish {_argument(name)}",
        f"--schema {SCHEMA_FILE}",
        *_model_options(form),
        f"--suppression {form.suppression * 100:.10g}%",
        *_wish_options(form),
        "-o release.csv --report report.html",
    ]
    return "\n".join([*lines, " \\\n  ".join(parts)])


def python_text(form: PublishForm) -> str:
    """The Python that publishes the table as chosen."""
    asked = [f"tables.{model!r}" for model in models(form)]
    settings = [f"suppression={form.suppression!r}"]
    chosen = metric(form)
    if form.metric != "loss" or value_of(chosen, "weights"):
        settings.append(f"metric=tables.metrics.{chosen!r}")
    if form.method != "lattice":
        settings.append(f"method={form.method!r}")
    if form.levels is not None:
        settings.append(f"levels={dict(form.levels)!r}")
    if form.time_limit is not None:
        settings.append(f"time_limit={form.time_limit!r}")
    if form.population is not None:
        settings.append("population=population")
    if form.history is not None:
        settings.append(f"history={HISTORY!r}")
        settings += [f"accept_joint={form.accept_joint!r}"] if form.accept_joint.strip() else []
    if form.sort:
        settings.append(f"sort={list(form.sort)!r}")
    settings += [
        f"{name}=True" for name in ("local", "keep_order", "drop_suppressed") if getattr(form, name)
    ]
    body = "".join(
        f"    {line},\n" for line in ["data", "schema", f"[{', '.join(asked)}]", *settings]
    )
    return (
        f"{_python_head(form)}\n"
        f'schema = tables.Schema.load("{SCHEMA_FILE}")\n'
        f"{_python_data(form)}"
        f"release = tables.publish(\n{body})\n"
        'release.save("release.csv")\n'
        'release.report("report.html")\n'
        "print(release)\n"
    )


def schema_text(form: PublishForm) -> str:
    """The schema file: roles and hierarchies; `celosia publish --schema` reads it."""
    return toml_text(schema_table(form))


def file_name(form: PublishForm) -> str:
    """What the texts call the table's file: what the visitor called it, without folders."""
    if form.sample is not None:
        return f"{form.sample}.csv"
    return PurePath(form.file.replace("\\", "/")).name or "table.csv"


def toml_text(table: Mapping[str, Any]) -> str:
    """Nested tables of plain values as TOML.

    >>> print(toml_text({"columns": {"age": {"role": "sensitive", "n": [1, 2]}}}), end="")
    [columns.age]
    role = "sensitive"
    n = [1, 2]
    """
    return "\n".join(_sections(table, ()))


def _sections(table: Mapping[str, Any], above: tuple[str, ...]) -> Iterator[str]:
    plain = {key: value for key, value in table.items() if not isinstance(value, Mapping)}
    inner = {key: value for key, value in table.items() if isinstance(value, Mapping)}
    if above and (plain or not inner):
        head = f"[{'.'.join(key_of(each) for each in above)}]\n"
        yield head + "".join(f"{key_of(key)} = {inline(value)}\n" for key, value in plain.items())
    for key, value in inner.items():
        yield from _sections(value, (*above, key))


def _argument(text: str) -> str:
    """A text that no shell expands; one that looks like an option is marked as a path."""
    return shlex.quote(f"./{text}" if text.startswith("-") else text)


def _model_options(form: PublishForm) -> Iterator[str]:
    for model in models(form):
        is_plain = isinstance(model, KAnonymity) and model.per is None
        yield f"--k {model.smallest}" if is_plain else f"--model {shlex.quote(notation(model))}"


def _plain(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def _wish_options(form: PublishForm) -> Iterator[str]:
    if form.metric != "loss":
        yield f"--metric {form.metric}"
    for name, weight in (value_of(metric(form), "weights") or {}).items():
        yield f"--weight {shlex.quote(f'{name}={_plain(weight)}')}"
    if form.method != "lattice":
        yield f"--method {form.method}"
    for name, level in (form.levels or {}).items():
        yield f"--level {shlex.quote(f'{name}={level}')}"
    if form.time_limit is not None:
        yield f"--time-limit {_plain(form.time_limit)}"
    if form.population is not None:
        yield f"--population {_argument(PurePath(form.population).name)}"
    if form.history is not None:
        yield f"--history {HISTORY}"
        if form.accept_joint.strip():
            yield f"--accept-joint {shlex.quote(form.accept_joint)}"
    yield from (f"--sort {shlex.quote(name)}" for name in form.sort)
    flags = ("local", "keep_order", "drop_suppressed")
    yield from (f"--{name.replace('_', '-')}" for name in flags if getattr(form, name))


def _python_head(form: PublishForm) -> str:
    used = ["datasets"] if form.sample is not None else ["frames"]
    if form.population is not None and "frames" not in used:
        used.append("frames")
    return f"from celosia import {', '.join([*used, 'tables'])}\n"


def _python_data(form: PublishForm) -> str:
    if form.sample is not None:
        data = f"data = datasets.load({form.sample!r})\n"
    else:
        data = f"data = frames.read({file_name(form)!r}, types=schema.types())\n"
    if form.population is not None:
        name = PurePath(form.population).name
        data += f"population = frames.read({name!r}, types=schema.types())\n"
    return data
