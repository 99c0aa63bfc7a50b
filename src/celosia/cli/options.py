"""Options that several commands share, and their translation to values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import isnan, nan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from celosia.cli import console
from celosia.cli.addresses import resolve_address
from celosia.core.errors import InputError
from celosia.core.messages import Message, say
from celosia.core.progress import Progress, Step

if TYPE_CHECKING:
    import polars as pl

    from celosia.frames import ColumnType
    from celosia.tables import Model, Role, Schema
    from celosia.tables.metrics import Metric

Input = Annotated[
    str,
    "argument",
    "The table: CSV, Parquet, Arrow, JSON lines, Excel, SPSS, Stata, SAS or SQLite; or "
    "the address of a database.",
]
CuratorFigures = Annotated[
    bool,
    "--curator",
    "For the owner of the data only: show what a private table is measured to be beside the real "
    "one. These figures are exact, outside of the promise, and never to be published.",
]
PublishedFile = Annotated[
    Path | None,
    "argument",
    "The published file. Default: the original with numbers in place of names.",
]
SchemaFile = Annotated[Path | None, "--schema -s", "Roles and hierarchies of the columns (TOML)."]
QuasiIdentifiers = Annotated[
    list[str] | None,
    "--quasi-identifier -q COLUMN",
    "A quasi-identifier, instead of a schema; may be repeated.",
]
Sensitive = Annotated[
    list[str] | None, "COLUMN", "With -q: a sensitive column, released unchanged."
]
Identifiers = Annotated[
    list[str] | None, "--identifier COLUMN", "With -q: an identifier, never released."
]
OtherColumns = Annotated[
    str | None,
    "--other-columns ROLE",
    "With -q: the role of all other columns (insensitive or identifier).",
]
Population = Annotated[Path | None, "The population table, of which this table is a sample."]
SamplingFraction = Annotated[
    float | None, "Share of the population that is in the table, such as 0.1."
]
Output = Annotated[Path | None, "--output -o", "Output file; its suffix sets the format."]
Report = Annotated[Path | None, "Write a report (one file, .html or .pdf)."]
PrivateReport = Annotated[Path | None, "Write a report (.html or .pdf); do not publish it."]
Plot = Annotated[Path | None, "Write the plot (SVG)."]
EPSILON = "--epsilon -e"
"""The names of the option of every command that takes an epsilon."""
Epsilon = Annotated[float, EPSILON, "Privacy loss of the answer, usually 0.1 to 1."]
NoiseSeed = Annotated[int | None, "Seed of the noise; makes the answer a simulation."]
Confidence = Annotated[float, "The probability that the interval holds the exact answer."]
Seed = Annotated[int | None, "Seed of the random draws; makes the release a simulation."]
Suppression = Annotated[str, "Largest share of records to suppress; 100% for no limit."]
LedgerPlace = Annotated[
    str | None,
    "PLACE",
    "A file, or '$NAME', a variable with the address of a PostgreSQL database; beside the policy "
    "without it.",
]
Analyst = Annotated[str | None, "NAME", "The analyst, as named in the policy."]
Host = Annotated[str, "The address to listen on; the default is for this machine only."]
HttpsCertificate = Annotated[Path | None, "FILE", "Certificate for HTTPS (PEM)."]
HttpsKey = Annotated[Path | None, "FILE", "The private key of the certificate (PEM)."]
Plain = Annotated[
    bool, "--plain", "Serve other machines without HTTPS, behind a proxy that encrypts."
]
K = Annotated[
    int | None,
    "--k",
    "k-anonymity: every record is one of at least K with equal quasi-identifiers.",
]
L = Annotated[
    list[str] | None,
    "--l MODEL",
    "l-diversity: 3, entropy:3 or recursive:4,3; 3,column=NAME for one column.",
]
T = Annotated[
    list[str] | None,
    "--t MODEL",
    "t-closeness: 0.2, 0.2,ordered or 0.2,hierarchical; 0.2,column=NAME for one column.",
]
OtherModels = Annotated[
    list[str] | None,
    "--model NAME:PARAMETERS",
    "Any other model: k-map:5,0.1, average-risk:0.05, beta-likeness:1; may be repeated.",
]
MetricName = Annotated[
    str | None,
    "--metric NAME",
    "Metric to minimise: loss (the default), arithmetic-loss, precision, height, discernibility, "
    "average-class-size, entropy or ambiguity.",
]
Weights = Annotated[
    list[str] | None,
    "--weight COLUMN=NUMBER",
    "Weight of a column in the metric (1 by default); may be repeated.",
]
AsJson = Annotated[bool, "--json", "Print the result as JSON."]
Overwrite = Annotated[bool, "--overwrite", "Overwrite files that exist."]
EngineTable = Annotated[
    str,
    "argument",
    "The table: CSV, Parquet, Arrow, JSON lines, Excel, SPSS, Stata, SAS or SQLite, or "
    "the address of a database; with --engine Parquet (a file, a folder or a pattern) or a "
    "table of the engine.",
]
EngineOutput = Annotated[
    str | None,
    "--output -o PATH",
    "Output file; its suffix sets the format. With --engine a Parquet file or a table.",
]
Engine = Annotated[str | None, "Run on an engine: duckdb, postgres or spark."]
Url = Annotated[
    str | None,
    "Address of the engine: a DuckDB file, postgresql://..., local[4], spark://..., or "
    "$NAME, a variable that holds it.",
]
Certificate = Annotated[Path | None, "Output file of the certificate."]
Delimiter = Annotated[str | None, "Field separator of a CSV file; detected by default."]
Encoding = Annotated[str | None, "Encoding of a text file; detected by default."]
Header = Annotated[
    bool | None, "--header/--no-header", "Whether a CSV file has column names; detected by default."
]
Decimal = Annotated[
    str | None, "MARK", "Decimal mark of a CSV file, '.' or ','; detected by default."
]
Query = Annotated[str | None, "SQL", "A table of a database or SQLite file, or a SELECT."]
Codes = Annotated[
    list[str] | None,
    "--codes COLUMN",
    "Keep the codes of a column of SPSS, Stata or SAS, not its labels; * for all.",
]
READING_OPTIONS = "--delimiter, --encoding, --header, --decimal, --query or --codes"
"""What an engine does not take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How tables are read from files and databases."""

    delimiter: Delimiter = None
    encoding: Encoding = None
    header: Header = None
    decimal: Decimal = None
    query: Query = None
    codes: Codes = None

    def as_arguments(self) -> dict[str, Any]:
        """The options that were given, as keyword arguments of `frames.read`."""
        given = asdict(self)
        return {name: given[name] for name in given if given[name] is not None}

    def read(self, path: Path | str, types: Mapping[str, ColumnType] | None = None) -> pl.DataFrame:
        """The table in a file or database."""
        from celosia.frames import read

        with console.noted_warnings():
            return read(source_of(path), types=types, **self.as_arguments())

    def read_chunks(self, path: Path | str, progress: Progress) -> Iterator[pl.DataFrame]:
        """The table in a file or database as frames, with a step of progress after each."""
        from celosia.frames import read_chunks

        done = 0
        progress(Step(Message("cli.step.reading_file"), done))
        for chunk in read_chunks(source_of(path), **self.as_arguments()):
            yield chunk
            done += chunk.height
            progress(Step(Message("cli.step.reading_file"), done))


def source_of(written: Path | str) -> Path | str:
    """The file or database that an argument names; an address may be in a variable, `$NAME`.

    Raises:
        InputError: CEL-Q204 the variable is not set, CEL-Q200 an address with a password.
    """
    text = str(written)
    named = text.startswith("$") and not Path(text).exists()
    return resolve_address(text) if named or "://" in text else written


def share(text: str, *, option: str) -> float:
    """A share written as 0.05 or 5%.

    >>> share("5%", option="--suppression"), share("0.05", option="--suppression")
    (0.05, 0.05)
    """
    from decimal import Decimal

    try:
        number = Decimal(text.strip().removesuffix("%"))
        value = float(number / 100 if text.strip().endswith("%") else number)
    except (ArithmeticError, ValueError):  # no number, or a signalling NaN
        value = -1.0
    if not 0 <= value <= 1:  # also refuses NaN
        raise InputError("CEL-I030", option=option, text=text)
    return value


def value(text: str) -> Any:
    """A value as a TOML file would have it: numbers, truth and lists; anything else is a text.

    >>> value("5"), value("[1, 2]"), value("fixed")
    (5, [1, 2], 'fixed')
    """
    import tomllib

    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text.strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyOptions:
    """The quasi-identifiers of a table: of a schema file, or by name."""

    schema: SchemaFile = None
    quasi_identifiers: QuasiIdentifiers = None

    def load(self) -> Schema:
        """The schema file, or a schema made of the column names given as options."""
        return _schema(self.schema, self.quasi_identifiers)

    def names(self) -> tuple[str, ...]:
        """The names of the quasi-identifiers."""
        from celosia.tables import Role

        return self.load().named(Role.QUASI_IDENTIFIER)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedSchemaOptions:
    """The quasi-identifiers and the sensitive columns of a table that was released."""

    schema: SchemaFile = None
    quasi_identifiers: QuasiIdentifiers = None
    sensitive: Sensitive = None

    def load(self, *, other_columns: str | None = None) -> Schema:
        """The schema file, or a schema made of the column names given as options."""
        return _schema(
            self.schema,
            self.quasi_identifiers,
            sensitive=self.sensitive,
            other_columns=None if self.schema is not None else other_columns,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaOptions:
    """The roles of the columns of a table: a schema file, or names."""

    schema: SchemaFile = None
    quasi_identifiers: QuasiIdentifiers = None
    sensitive: Sensitive = None
    identifiers: Identifiers = None
    other_columns: OtherColumns = None

    def load(self) -> Schema:
        """The schema file, or a schema made of the column names given as options."""
        return _schema(
            self.schema,
            self.quasi_identifiers,
            identifiers=self.identifiers,
            sensitive=self.sensitive,
            other_columns=self.other_columns,
        )

    @property
    def are_given(self) -> bool:
        """Whether there is any."""
        return any((
            self.schema, self.quasi_identifiers, self.sensitive, self.identifiers,
            self.other_columns,
        ))  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitOptions:
    """What models count: records, or people or households with all their records."""

    person: Annotated[
        str | None, "COLUMN", "Whose record it is: count people, not records (never released)."
    ] = None
    household: Annotated[
        str | None, "COLUMN", "The household of each record: count households, not records."
    ] = None
    unit: Annotated[
        str | None, "UNIT", "What models count: record, person or household (the largest)."
    ] = None

    def of(self, schema: Schema) -> Schema:
        """The schema with these options, which go before what its file says."""
        if self.person is None and self.household is None and self.unit is None:
            return schema
        return replace(
            schema,
            person=self.person or schema.person,
            household=self.household or schema.household,
            unit=self.unit,  # type: ignore[arg-type]  # the schema checks the word
        )


def _schema(
    schema: Path | None,
    quasi_identifiers: list[str] | None,
    *,
    identifiers: list[str] | None = None,
    sensitive: list[str] | None = None,
    other_columns: str | None = None,
) -> Schema:
    from celosia.tables import Schema

    if schema is not None:
        if quasi_identifiers or identifiers or sensitive or other_columns is not None:
            raise InputError("CEL-I031")
        return _show_notes(Schema.load(schema))
    if not quasi_identifiers:
        raise InputError("CEL-I032")
    return Schema.of(
        quasi_identifiers=quasi_identifiers,
        identifiers=identifiers or (),
        sensitive=sensitive or (),
        other_columns=None if other_columns is None else _role(other_columns),
    )


def _show_notes(schema: Schema) -> Schema:
    """The same schema, after what there is to say of the files of its hierarchies."""
    from celosia.tables.hierarchies import Hierarchy

    for column in schema.columns:
        if isinstance(column.hierarchy, Hierarchy) and column.hierarchy.note is not None:
            console.note(
                say("cli.options.hierarchy_column", name=column.name, note=column.hierarchy.note)
            )
    return schema


def _role(name: str) -> Role:
    from celosia.core.messages import did_you_mean
    from celosia.tables import Role

    if name not in [*Role]:
        raise InputError(
            "CEL-S007.role", role=", ".join(Role), name=name, hint=did_you_mean(name, Role)
        )
    return Role(name)


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
        from celosia.core.notation import method_from_text
        from celosia.tables.metrics import METRICS

        if self.metric is None and not self.weights:
            return None
        weights = numbers_by_column(self.weights or (), option="--weight")
        found = method_from_text(METRICS, self.metric or "loss", what="metric")
        if not weights:
            return found
        return build(METRICS, found.method_name, {"weights": weights}, what="metric")


def note_open_identity(models: Sequence[Model]) -> None:
    """Warn where none of the models prevents re-identification."""
    from celosia.tables.models.model import IDENTITY

    if all(IDENTITY in model.leaves_open() for model in models):
        console.note(say("cli.explore.warning", identity_open=Message("cli.advice.identity_open")))


def levels_from(levels: list[str] | None, *, option: str = "--level") -> dict[str, int] | None:
    """The level of each column that the option names; None if it names none."""
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


def no_groups(columns: Sequence[str]) -> Message:
    """Say that the values of columns are kept or hidden, and what would keep more of them."""
    advice = Message("cli.advice.own_groups")
    return Message("cli.advice.no_groups", count=len(columns), columns=columns, own_groups=advice)
