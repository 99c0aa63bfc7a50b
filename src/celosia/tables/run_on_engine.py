"""Publish a table where it is: on DuckDB, PostgreSQL or Spark, whatever its size.

The engine groups the quasi-identifiers, the search runs here on their distinct combinations, and
the engine recodes the rows and writes them. Memory here holds the combinations, not the rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from celosia.core.errors import InputError
from celosia.core.files import check_writable, replacing
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.core.release import certificate_path
from celosia.engines.tables import Draft, Place, TableEngine, names_files
from celosia.tables.account import account
from celosia.tables.coded_table import code_table
from celosia.tables.metrics import Metric
from celosia.tables.model_resolution import check_schema, resolve_models
from celosia.tables.models import Model
from celosia.tables.options import PublishOptions
from celosia.tables.protection import protect
from celosia.tables.recoding_map import build_recoding_map
from celosia.tables.release import TEXT, PublishedTable
from celosia.tables.run import check_table, released_names
from celosia.tables.schema import Role, Schema


@dataclass(frozen=True, kw_only=True)
class EngineRelease(PublishedTable):
    """A published table that lies where an engine has written it.

    A Parquet file with its certificate loads as `FileRelease` or `TableRelease`, too.
    """

    engine: str
    target: Place
    rows_written: int
    text_columns: tuple[str, ...]
    certificate_file: Path

    def write_data(self, path: Path) -> None:
        """The engine has written the data already."""
        raise NotImplementedError

    @classmethod
    def holding(cls, path: Path, data_facts: dict[str, Any]) -> dict[str, Any]:
        """Load a file as `FileRelease`; a table stays in its engine."""
        raise NotImplementedError


class EngineOutput(Protocol):
    """A release whose data an engine has written."""

    @property
    def engine(self) -> str:
        """By which engine."""

    @property
    def target(self) -> Place:
        """Where the data is."""

    @property
    def text_columns(self) -> tuple[str, ...]:
        """Which columns are text."""

    @property
    def certificate_file(self) -> Path:
        """Where the certificate goes."""

    def certificate(self) -> dict[str, Any]:
        """All but the data, as plain values."""


def publish_on(
    engine: TableEngine,
    source: Place,
    target: Place,
    schema: Schema,
    models: Model | Iterable[Model],
    *,
    suppression: float = 0.05,
    metric: Metric | str | None = None,
    method: str = "lattice",
    local: bool = False,
    levels: Mapping[str, int] | None = None,
    time_limit: float | None = None,
    keep_order: bool = False,
    drop_suppressed: bool = False,
    rng: Source | None = None,
    progress: Progress = silent,
    overwrite: bool = True,
    certificate: str | Path | None = None,
) -> EngineRelease:
    """Publish a table of an engine to another place of it; as `publish` otherwise.

    The release and its certificate appear together at the end, or neither does.

    Args:
        engine: where the table is; it stays open.
        source: Parquet (a file, a folder or a pattern) or the name of a table.
        target: a Parquet file, or the name of a table.
        schema: as for `publish`.
        models: as for `publish`; none that needs a population.
        suppression: as for `publish`.
        metric: as for `publish`.
        method: `lattice` or `mondrian`; relaxed cuts need every row in memory.
        local: as for `publish`.
        levels: as for `publish`.
        time_limit: as for `publish`.
        keep_order: leave the rows in the order in which the engine reads them.
        drop_suppressed: as for `publish`.
        rng: where the shuffle draws from. A seeded source makes the release a simulation,
            but does not repeat its order: several cores read as they please.
        progress: called before each stage; may raise `Cancelled`.
        overwrite: whether an existing target may be replaced.
        certificate: where the certificate goes; beside a file of Parquet if not given.

    Raises:
        InputError: the table, the schema or a parameter is wrong; CEL-P111 a choice that needs all
            rows in memory, CEL-P112 a table as target and no place for the certificate.
        PrivacyError: no generalisation meets the models.
        EngineError: CEL-E002 and CEL-E020 to CEL-E022, see `TableEngine`.
    """
    check_schema(schema)
    _check_out_of_core(models, schema, method)
    options = PublishOptions.of(
        models,
        schema,
        suppression=suppression,
        metric=metric,
        method=method,
        local=local,
        levels=levels,
        time_limit=time_limit,
        keep_order=keep_order,
        drop_suppressed=drop_suppressed,
        rng=rng,
    )
    paper = certificate_place(target, certificate)
    check_writable(paper, overwrite=overwrite)
    types = pl.DataFrame(schema=engine.columns(source))
    schema.check_columns(types.columns)
    engine.check_target(source, target, overwrite=overwrite)
    progress(Step(Message("tables.stage.grouping_engine"), 0))
    names = [*schema.named(Role.QUASI_IDENTIFIER), *options.sensitive]
    groups = engine.count_groups(source, names)
    # A table without rows has no groups.
    check_table(groups.values, Schema(schema.quasi_identifiers, Role.SENSITIVE))
    table = code_table(groups.values, schema, options.sensitive, groups=groups, progress=progress)
    protection = protect(table, options, progress)
    recoding = build_recoding_map(schema, groups, protection)
    statements = account("celosia.tables.publish_on", options, schema, protection)
    progress(Step(Message("tables.stage.recoding_engine"), 0))
    with engine.recode(
        source,
        target,
        recoding,
        keep=released_names(types, schema),
        drop_suppressed=options.drop_suppressed,
        order="kept" if options.keep_order else "shuffled",
        rng=options.rng,
        overwrite=overwrite,
    ) as draft:
        release = EngineRelease(
            engine=engine.name,
            target=target,
            rows_written=draft.rows,
            text_columns=text_columns(draft),
            certificate_file=paper,
            **statements,
        )
        finish(release, draft, overwrite=overwrite)
    return release


def finish(release: EngineOutput, draft: Draft, *, overwrite: bool) -> None:
    """Give data and certificate their names; an older certificate stays if that fails."""
    place = release.target
    file = Path(place).name if names_files(place) else str(place)
    described = {
        "file": file,
        "sha256": draft.sha256(),
        "engine": release.engine,
        "rows": draft.rows,
        TEXT: list(release.text_columns),
    }
    with replacing(release.certificate_file, overwrite=overwrite) as paper:
        facts = release.certificate() | {"data": described}
        paper.write_text(json.dumps(facts, indent=2, ensure_ascii=False) + "\n", "utf-8")
        # Whole and on the disk before the data appears: only its name is left to be given.
        draft.commit()


def certificate_place(target: Place, certificate: str | Path | None) -> Path:
    """Where the certificate goes: where it was asked for, or beside the file."""
    if certificate is not None:
        return Path(certificate)
    if names_files(target) and "://" not in str(target):
        return certificate_path(Path(target))
    raise InputError("CEL-P112", target=target)


def _check_out_of_core(models: Model | Iterable[Model], schema: Schema, method: str) -> None:
    """Refuse, before any work, what cannot be done on distinct combinations."""
    if method == "mondrian-relaxed":
        raise InputError("CEL-P111.relaxed_mondrian")
    if any(model.needs_population for model in resolve_models(models, schema)):
        raise InputError("CEL-P111.population")


def text_columns(draft: Draft) -> tuple[str, ...]:
    """Which columns are text: in a file of text they could be read as numbers."""
    kinds = (pl.String, pl.Categorical, pl.Enum)
    return tuple(name for name, kind in draft.columns.items() if isinstance(kind, kinds))
