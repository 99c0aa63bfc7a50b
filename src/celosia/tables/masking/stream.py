"""Mask a stream: records are masked as they arrive, and a restart goes on where it stopped.

Only methods that mask a row without the other rows of the stream can do this. What they must know
beforehand (types, categories, standard deviations) comes from a reference table. The state is a
file of SQLite: how many records were read, how long the output is, and, under a keyed hash, how
many records of each person were released. Output is written and synced first, then the state is
committed; at a restart, output beyond the state is cut off. So no record is half-written, none is
lost and none comes twice, if the input is read again from its beginning.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from secrets import token_bytes
from typing import Any

import numpy as np
import polars as pl

from celosia.core.errors import InputError
from celosia.core.files import check_writable
from celosia.core.messages import Message, say
from celosia.core.methods import PlainValues, derived
from celosia.core.progress import Progress, Step, silent
from celosia.core.release import Guarantee, Provenance
from celosia.core.resources import Closeable
from celosia.frames import as_frame
from celosia.tables.masking.method import check_columns
from celosia.tables.masking.recipe import Recipe
from celosia.tables.masking.run import at_step, guarantee
from celosia.tables.masking.run_on_engine import Masker, PreparedStep, check_row_by_row
from celosia.tables.masking.stream_privacy import StreamLoss, write_certificate
from celosia.tables.masking.value_counts import ValueCounts
from celosia.tables.schema import check_table, released_names

FORM = "celosia stream 1"
BATCH = 1000
_TABLES = (
    """CREATE TABLE IF NOT EXISTS stream (only_one INTEGER PRIMARY KEY CHECK (only_one = 1),
       form TEXT, terms TEXT, secret BLOB, records INTEGER, released INTEGER, written INTEGER)""",
    "CREATE TABLE IF NOT EXISTS people (tag BLOB PRIMARY KEY, records INTEGER) WITHOUT ROWID",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamOptions:
    """How a stream is masked.

    Args:
        person: the column that says whose record it is; it need not be released.
        most: how many records of one person are released in all; without it there is no limit.
        batch: records that are masked and written together; 1 writes each as it arrives.
        seed: makes it a simulation.

    Raises:
        InputError: CEL-V345 a limit without a column of persons, or numbers below 1.
    """

    person: str | None = None
    most: int | None = None
    batch: int = BATCH
    seed: int | None = None

    def __post_init__(self) -> None:
        if (self.person is None) != (self.most is None):
            raise InputError("CEL-V345.person")
        if self.batch < 1 or (self.most is not None and self.most < 1):
            raise InputError("CEL-V345.number")


@dataclass(frozen=True, slots=True)
class StreamSummary(PlainValues):
    """How far a stream has come."""

    records: int
    """That were read, those of earlier starts included."""
    released: int
    resumed: int
    """Records that an earlier start had read."""
    guarantee: Guarantee
    loss: StreamLoss

    @property
    @derived
    def withheld(self) -> int:
        """Records that were read and not released."""
        return self.records - self.released

    def __str__(self) -> str:
        return say("masking.stream.summary", records=self.records, released=self.released)


class StreamMasker:
    """A recipe made ready for records that come one after the other.

    >>> from celosia import tables
    >>> from celosia.tables import masking
    >>> schema = tables.Schema.of(quasi_identifiers=["age"])
    >>> recipe = masking.Recipe.of(schema, [(masking.Rounding(base=10), ["age"])])
    >>> masker = StreamMasker(recipe, pl.DataFrame({"age": [21, 34]}))
    >>> masker.mask([{"age": "47"}, {"age": "22"}], first=0).rows()
    [(50,), (20,)]
    """

    def __init__(self, recipe: Recipe, reference: Any, *, seed: int | None = None) -> None:
        """Make the steps ready.

        Args:
            recipe: only methods that mask a row by itself, or by facts of its columns.
            reference: a table with the same columns: their types, and the facts.
            seed: makes it a simulation.

        Raises:
            InputError: CEL-V207 a method needs all rows; or as for `mask`.
        """
        check_row_by_row(recipe)
        frame = as_frame(reference)
        check_table(frame, recipe.schema)
        self.names = tuple(released_names(frame, recipe.schema))
        self.types: Mapping[str, pl.DataType] = dict(frame.schema)
        self.recipe = recipe
        self._masker, self.epsilons = _prepared(recipe, frame, Masker(self.names, (), seed))

    def mask(self, records: list[dict[str, str]], *, first: int) -> pl.DataFrame:
        """The records as they are released.

        Args:
            records: cells as texts, by column.
            first: the number of the first of them in the stream, from 0.

        Raises:
            InputError: CEL-V345 a cell does not have the type of its column.
        """
        columns = [_typed(name, self.types[name], records, first) for name in self.names]
        seed = self._masker.seed
        ready = self._masker if seed is None else replace(self._masker, seed=_mixed(seed, first))
        return ready(pl.DataFrame(columns))

    def loss(self, most: int | None = None) -> StreamLoss:
        """What a record costs, and a person with at most so many of them."""
        return StreamLoss.of(self.epsilons, self.names, most=most)

    def promise(self, most: int | None = None) -> Guarantee:
        """What is promised: the order of a stream is that of its records."""
        plain = guarantee(
            self.recipe,
            self.names,
            k=0,
            simulation=self._masker.seed is not None,
            keep_order=True,
        )
        return self.loss(most).promise(plain)


def mask_stream(
    lines: Iterable[str],
    output: str | Path,
    recipe: Recipe,
    *,
    reference: Any,
    state: str | Path,
    options: StreamOptions | None = None,
    is_repeated: bool = True,
    progress: Progress = silent,
) -> StreamSummary:
    """Mask the records of a CSV as they arrive, and append them to an output file.

    Args:
        lines: the lines of the CSV, the names of the columns first.
        output: a CSV file; made at the first start, continued at the others.
        recipe: roles of the columns, and methods that mask a row by itself.
        reference: a table with the same columns, for types and facts.
        state: a file that survives a restart; only its owner can read it.
        options: persons, limits, batch and seed.
        is_repeated: whether the lines begin again at a restart, as a file does; records that were
            read before are then skipped. A pipe goes on with new ones.
        progress: called before each batch; may raise `Cancelled`.

    Raises:
        InputError: CEL-V345 a record, the state or the output does not fit; CEL-V207 a method needs
            all rows; CEL-I004 the output exists, and the state does not know it.
    """
    asked = StreamOptions() if options is None else options
    frame = as_frame(reference)
    masker = StreamMasker(recipe, frame, seed=asked.seed)
    if asked.person is not None and asked.person not in masker.types:
        raise InputError("CEL-V345.no_person", column=asked.person)
    records = _records(lines, masker)
    terms = _terms(masker, frame, asked)
    with _StreamState(Path(state), Path(output), terms, masker.names) as kept:
        begun = kept.records
        if is_repeated:
            records = islice(records, begun, None)
        try:
            while batch := list(islice(records, asked.batch)):
                progress(Step(Message("masking.stage.stream"), kept.records))
                allowed = kept.within_limit(batch, asked)
                kept.write(masker.mask(allowed, first=kept.records), len(batch))
        finally:  # what was written before a stop has its certificate, too
            found = StreamSummary(
                kept.records,
                kept.released,
                begun,
                masker.promise(asked.most),
                masker.loss(asked.most),
            )
            _certify(Path(output), found, recipe, asked)
        return found


def _certify(output: Path, found: StreamSummary, recipe: Recipe, options: StreamOptions) -> None:
    told = recipe.as_dict() | {"person": options.person, "most": options.most}
    write_certificate(
        output,
        found.guarantee,
        {"released": found.released, "epsilon": found.loss.as_dict()},
        Provenance.now("celosia.tables.masking.mask_stream", told, seed=options.seed),
    )


class _StreamState(Closeable):
    """The state on disk, and the output that it vouches for."""

    def __init__(self, path: Path, output: Path, terms: str, names: tuple[str, ...]) -> None:
        is_new = not path.exists()
        if is_new:
            check_writable(output, overwrite=False)
            path.touch(mode=0o600)
        try:
            self._file = sqlite3.connect(path, timeout=1, isolation_level=None)
            self._file.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._file.execute("BEGIN IMMEDIATE")  # one process at a time
            for each in _TABLES:
                self._file.execute(each)
            if is_new:
                start = (FORM, terms, token_bytes(32))
                self._file.execute("INSERT INTO stream VALUES (1, ?, ?, ?, 0, 0, 0)", start)
            row = self._file.execute("SELECT * FROM stream").fetchone()
            self._file.execute("COMMIT")
        except sqlite3.Error:
            raise InputError("CEL-V345.state", path=str(path)) from None
        if row is None or row[1:3] != (FORM, terms):
            self._file.close()
            raise InputError("CEL-V345.other", path=str(path))
        _, _, _, self._secret, self.records, self.released, self._written = row
        self._people: dict[bytes, int] = {}
        self._open(output, names)

    def _open(self, output: Path, names: tuple[str, ...]) -> None:
        """Cut off what was written after the last commit; begin with the names of the columns."""
        size = output.stat().st_size if output.exists() else 0
        if size < self._written:
            self._file.close()
            raise InputError("CEL-V345.output", path=str(output))
        self._output = output.open("ab")
        self._output.truncate(self._written)
        if not self._written:
            head = pl.DataFrame(schema=dict.fromkeys(names, pl.String)).write_csv().encode()
            self._commit(head, 0, 0)

    def within_limit(
        self, batch: list[dict[str, str]], options: StreamOptions
    ) -> list[dict[str, str]]:
        """The records whose persons have not had as many released as they may."""
        if options.person is None or options.most is None:
            return batch
        allowed = []
        for record in batch:
            tag = hashlib.blake2b(
                record[options.person].encode(), key=self._secret, digest_size=16
            ).digest()
            had = self._people.get(tag)
            if had is None:
                row = self._file.execute(
                    "SELECT records FROM people WHERE tag = ?", (tag,)
                ).fetchone()
                had = 0 if row is None else int(row[0])
            if had < options.most:
                self._people[tag] = had + 1
                allowed.append(record)
        return allowed

    def write(self, masked: pl.DataFrame, read: int) -> None:
        """Append a batch, then vouch for it."""
        self._commit(masked.write_csv(include_header=False).encode(), read, masked.height)

    def _commit(self, data: bytes, read: int, released: int) -> None:
        self._output.write(data)
        self._output.flush()
        os.fsync(self._output.fileno())
        counts = (self.records + read, self.released + released, self._written + len(data))
        self._file.execute("BEGIN IMMEDIATE")
        self._file.executemany(
            "INSERT OR REPLACE INTO people VALUES (?, ?)", list(self._people.items())
        )
        self._file.execute("UPDATE stream SET records = ?, released = ?, written = ?", counts)
        self._file.execute("COMMIT")
        self.records, self.released, self._written = counts
        self._people.clear()

    def close(self) -> None:
        """Let go of what it holds."""
        self._output.close()
        self._file.close()


def _prepared(
    recipe: Recipe, frame: pl.DataFrame, masker: Masker
) -> tuple[Masker, dict[str, float]]:
    """All steps with what the reference table tells about their columns, and their epsilons."""
    empty = frame.clear()
    epsilons: dict[str, float] = {}
    for number, step in enumerate(recipe.steps, 1):
        with at_step(number):
            check_columns(empty, step.columns, step.method.method_name)
            before, shown = masker(frame), masker(empty)
            ready = {
                name: step.method.cell_function(
                    shown.get_column(name), partial(_counts, before.get_column(name))
                )
                for name in step.columns
            }
            for name, each in ready.items():
                if each.epsilon is not None:  # of several, each bounds what comes out of the last
                    epsilons[name] = min(each.epsilon, epsilons.get(name, each.epsilon))
            masks = {name: each.mask for name, each in ready.items()}
            masker = masker.with_step(PreparedStep(number, masks, draws=step.method.draws))
            masker(empty)  # refuses columns of the wrong type
    return masker, epsilons


def _counts(column: pl.Series) -> ValueCounts:
    return ValueCounts.of(column, np.ones(len(column), dtype=np.int64))


def _records(lines: Iterable[str], masker: StreamMasker) -> Iterator[dict[str, str]]:
    """The records of a CSV by column; their first line names the columns of the reference."""
    rows = csv.reader(lines, strict=True)
    try:
        header = next(rows, [])
        if sorted(header) != sorted(masker.types):
            raise InputError("CEL-V345.header")
        for number, row in enumerate(rows):
            if len(row) != len(header):
                raise InputError("CEL-V345.width", record=number + 1)
            yield dict(zip(header, row, strict=True))
    except (csv.Error, UnicodeDecodeError):
        raise InputError("CEL-V345.csv") from None


def _typed(name: str, kind: pl.DataType, records: list[dict[str, str]], first: int) -> pl.Series:
    texts = pl.Series(name, [each[name] or None for each in records], dtype=pl.String)
    if kind == pl.String:
        return texts
    found = texts.str.strip_chars().cast(kind, strict=False)
    lost = (found.is_null() & texts.is_not_null()).arg_true()
    if len(lost):
        raise InputError("CEL-V345.cell", column=name, record=first + int(lost[0]) + 1)
    return found


def _terms(masker: StreamMasker, frame: pl.DataFrame, options: StreamOptions) -> str:
    """A fingerprint of all that decides about records."""
    types = [[name, str(kind)] for name, kind in frame.schema.items()]
    told = [
        masker.recipe.as_dict(),
        masker.names,
        types,
        options.person,
        options.most,
        options.seed,
    ]
    rows = frame.write_csv().encode()
    return hashlib.blake2b(json.dumps(told).encode() + rows, digest_size=16).hexdigest()


def _mixed(seed: int, first: int) -> int:
    told = f"{seed} {first}".encode()
    return int.from_bytes(hashlib.blake2b(told, digest_size=7).digest(), "big")
