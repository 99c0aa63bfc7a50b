"""What a visitor has chosen for a table: plain values, kept as JSON in the folder of the work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from celosia.core.errors import InputError
from celosia.studio.parameters import declares

if TYPE_CHECKING:
    from celosia.studio.visitors import Work
    from celosia.tables import Model, Schema
    from celosia.tables.metrics import Metric
    from celosia.tables.options import PublishKeywords, PublishOptions

DATA = "data.parquet"
"""Where the table lies in the work."""
POPULATION = "population.parquet"
"""Where the population lies that the table is a sample of, if there is one."""
HISTORY = "releases.history"
"""Where the history of releases lies in the work that began it; its key lies beside it."""
SAVED = "form"
"""The name under which a work keeps the form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnForm:
    """One column: what it holds, and what the visitor says it means."""

    name: str
    kind: str
    """`text`, `integer`, `decimal`, `date`, `time` or `boolean`."""
    role: str = "insensitive"
    """As `celosia.tables.Role` writes it."""
    hierarchy: Mapping[str, Any] | None = None
    """As a schema file writes it under `[columns.NAME.hierarchy]`; None is automatic."""
    missing: str = "refuse"
    """What an empty cell is: `refuse`, `value` or `suppress`."""
    accept_raw: str = ""
    """Why a column on which records are unique may be published as it is; empty if it may not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishForm:
    """All that a visitor has chosen; the data itself lies beside it as a file.

    >>> age = ColumnForm(name="age", kind="integer", role="quasi-identifier")
    >>> chosen = PublishForm(file="people.csv", rows=9, columns=(age,))
    >>> PublishForm.from_dict(chosen.as_dict()) == chosen
    True
    """

    file: str
    """What the visitor called the file: a text to show, never to open."""
    rows: int
    columns: tuple[ColumnForm, ...]
    sample: str | None = None
    """The name of the data set, where it is one of ours."""
    models: tuple[Mapping[str, Any], ...] = ({"method": "k-anonymity", "k": 5},)
    """As `Model.as_dict()` writes them."""
    suppression: float = 0.05
    metric: str = "loss"
    weights: Mapping[str, float] = field(default_factory=dict)
    """By column name; only for metrics that have weights."""
    method: str = "lattice"
    local: bool = False
    levels: Mapping[str, int] | None = None
    """By column name, where the visitor has taken a solution; None lets the search decide."""
    time_limit: float | None = None
    population: str | None = None
    """What the visitor called the population's file, if there is one."""
    keep_order: bool = False
    sort: tuple[str, ...] = ()
    """The columns by which the shuffled rows of the release are sorted."""
    drop_suppressed: bool = False
    person: str | None = None
    """The identifier by which people or households are counted; None where records are."""
    household: bool = False
    """Whether that identifier tells households apart, and not people."""
    history: str | None = None
    """The work whose history of releases this one goes on with; None where none is kept."""
    accept_joint: str = ""
    """Why joint classes that are too small are accepted; empty where they are not."""
    by_record: bool = False
    """Whether the visitor has said that an identifier in several records is no person."""

    @classmethod
    def load(cls, work: Work) -> PublishForm:
        """The choices of a work.

        Raises:
            InputError: CEL-W050, its file has not been read (yet).
        """
        found = work.load(SAVED)
        if found is None:
            raise InputError("CEL-W050")
        return cls.from_dict(found)

    def save(self, work: Work) -> None:
        """Keep the choices in the work."""
        work.save(SAVED, self.as_dict())

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> PublishForm:
        """The choices behind `as_dict()`."""
        columns = tuple(ColumnForm(**each) for each in values["columns"])
        known = {each.name for each in fields(cls)}
        rest = {key: value for key, value in values.items() if key in known}
        rest |= {"models": tuple(values["models"]), "sort": tuple(values.get("sort", ()))}
        return cls(**(rest | {"columns": columns}))

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {
            "columns": [asdict(each) for each in self.columns],
            "models": [dict(each) for each in self.models],
            "sort": list(self.sort),
        }

    def __str__(self) -> str:
        quasi = len(self.named("quasi-identifier"))
        return f"{self.file}: {self.rows:,} rows, {quasi} quasi-identifiers"

    def named(self, role: str) -> tuple[str, ...]:
        """The names of the columns with a role."""
        return tuple(each.name for each in self.columns if each.role == role)

    def column(self, name: str) -> ColumnForm:
        """A column by its name.

        Raises:
            InputError: CEL-W051, there is none.
        """
        found = next((each for each in self.columns if each.name == name), None)
        if found is None:
            raise InputError("CEL-W051")
        return found

    def with_column(self, name: str, **changes: Any) -> Self:
        """The same with something else about one column.

        Levels that were taken from a search say nothing about other columns, so they go.
        """
        changed = replace(self.column(name), **changes)
        columns = tuple(changed if each.name == name else each for each in self.columns)
        quasi = {each.name for each in columns if each.role == "quasi-identifier"}
        weights = {key: value for key, value in self.weights.items() if key in quasi}
        named = {each.name for each in columns if each.role == "identifier"}
        person = self.person if self.person in named else None
        return replace(self, columns=columns, levels=None, weights=weights, person=person)

    def with_options(self, **changes: Any) -> Self:
        """The same with other models or settings; levels go unless they are what is changed."""
        return replace(self, **({"levels": None} | changes))


def schema(form: PublishForm) -> Schema:
    """The roles and hierarchies as a schema.

    Raises:
        InputError: what the schema or a hierarchy says of a bad parameter.
    """
    from celosia.tables import Schema  # Polars comes with it

    return Schema.from_table(schema_table(form), folder=Path())


def schema_table(form: PublishForm) -> dict[str, Any]:
    """The schema as the parsed content of a schema file; refuses what names a file.

    Raises:
        InputError: CEL-W052, a hierarchy names a file of this machine.
    """
    columns: dict[str, Any] = {}
    for column in form.columns:
        entry: dict[str, Any] = {"role": column.role}
        if column.kind in TYPES:
            entry["type"] = TYPES[column.kind]
        if column.role in ("quasi-identifier", "sensitive") and column.hierarchy is not None:
            if "file" in column.hierarchy:
                raise InputError("CEL-W052", column=column.name)
            entry["hierarchy"] = dict(column.hierarchy)
        if column.missing != "refuse":
            entry["missing"] = column.missing
        if column.role in RAW and column.accept_raw.strip():
            entry["accept_raw"] = column.accept_raw.strip()
        columns[column.name] = entry
    table: dict[str, Any] = {}
    if form.person is not None:
        table = {"table": {"household" if form.household else "person": form.person}}
    elif form.by_record:
        table = {"table": {"unit": "record"}}
    return table | {"columns": columns}


RAW = ("sensitive", "insensitive")
"""The roles of columns that are published as they are."""

TYPES = {"text": "string", "integer": "integer", "decimal": "decimal", "date": "date"}
"""How a schema file calls the kinds that text can be read as."""


def models(form: PublishForm) -> list[Model]:
    """The privacy models.

    Raises:
        InputError: what a model says of a parameter out of range.
    """
    from celosia.tables.models.notation import model_from_dict

    return [model_from_dict(each) for each in form.models]


def metric(form: PublishForm) -> Metric:
    """What is to be kept least, with its weights.

    Raises:
        InputError: CEL-I061 there is no such metric.
    """
    from celosia.core.methods import build
    from celosia.tables.metrics import METRICS

    plain = build(METRICS, form.metric, {}, what="metric")
    if not form.weights or not declares(plain, "weights"):
        return plain
    return build(METRICS, form.metric, {"weights": dict(form.weights)}, what="metric")


def arguments(form: PublishForm) -> PublishKeywords:
    """The keywords of `celosia.tables.publish` besides data, schema, models and population."""
    return {
        "suppression": form.suppression,
        "metric": metric(form),
        "method": form.method,
        "local": form.local,
        "levels": None if form.levels is None else dict(form.levels),
        "time_limit": form.time_limit,
        "keep_order": form.keep_order,
        "sort": form.sort,
        "drop_suppressed": form.drop_suppressed,
    }


def publish_options(form: PublishForm) -> PublishOptions:
    """All choices checked together, as `publish` checks them before it looks at the data.

    Raises:
        InputError: what does not go together, and why.
    """
    from celosia.tables.options import PublishOptions

    options = PublishOptions.of(schema(form), models(form), **arguments(form))
    options.check_population(given=form.population is not None)
    return options


def history_path(form: PublishForm, folder: Path) -> Path | None:
    """The file of the history of releases, in this work or in another one of the same visitor."""
    if form.history is None:
        return None
    return folder.parent / Path(form.history).name / HISTORY
