"""Publish a log of any size from one file to another, block by block.

Memory holds one block, and what is counted: distinct items with at most k persons each, distinct
persons, distinct times. The file is read once; treated records wait in a folder beside the target
until the threshold is known, and are put in random order within each published time.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl

from celosia import frames
from celosia.core.errors import InputError, PrivacyError, PrivacyWarning
from celosia.core.files import check_writable
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source, System
from celosia.core.release import Provenance
from celosia.logs.account import LogAccount
from celosia.logs.damage import Damage, together
from celosia.logs.declaration import LogDeclaration
from celosia.logs.distinct_counts import ITEM, PERIOD, BlockCounts
from celosia.logs.fields import Fields
from celosia.logs.fields.agents import OTHER
from celosia.logs.fields.times import parse_times, periods
from celosia.logs.fields.treatment import order_within
from celosia.logs.formats.access_log import read_blocks
from celosia.logs.log import Log, person_names, sound_records
from celosia.logs.method import LogMethod
from celosia.logs.normalisation import normalise
from celosia.logs.readers import declaration_of, layout_of, text_columns
from celosia.logs.records.identifiers import holds_identifier
from celosia.logs.records.user_threshold import UserThreshold
from celosia.logs.release import LogFileRelease, MethodOutcome
from celosia.logs.run import KeptHashColumns, log_guarantee, log_notes, ordered

BLOCK = 1 << 24
"""Bytes of an access log that are read at a time."""

ROWS = 250_000
"""Records of a table that are read at a time."""

BUCKET = 500_000
"""Records that are put in random order at a time."""


def publish_file(
    source: str | Path,
    target: str | Path,
    methods: LogMethod | Iterable[LogMethod] = (),
    *,
    declare: LogDeclaration | str | Path | None = None,
    overwrite: bool = True,
    block: int = BLOCK,
    rng: Source | None = None,
    progress: Progress = silent,
) -> LogFileRelease:
    """Publish a log of any size to a file; fields and a threshold over persons, as `publish`.

    The release and its certificate appear together at the end. No attack is run on it.

    Args:
        source: an access log, a table or JSON lines.
        target: where the release goes, in any format that can be written in chunks.
        methods: `Fields`, `UserThreshold`, or both in this order.
        declare: what the columns are; an access log needs none.
        overwrite: whether an existing target may be replaced.
        block: bytes of an access log that are in memory at a time.
        rng: where keys and orders are drawn from; a seed makes it a simulation.
        progress: called as the work proceeds; may raise `Cancelled`.

    Raises:
        InputError: CEL-U024 a method needs the whole log; as `read` says.
        PrivacyError: CEL-U040 fewer than k persons, CEL-U041 no record is left.
    """
    goal, file = Path(target), Path(source)
    check_writable(goal, overwrite=overwrite)
    frames.open_writer(goal)  # refuses a format that cannot grow in chunks
    rng = System() if rng is None else rng
    declaration = declaration_of(declare, file)
    chosen = ordered(methods)
    _streamed(chosen, declaration)
    with tempfile.TemporaryDirectory(dir=goal.parent, prefix=f".{goal.stem}-") as folder:
        work = _Work(Path(folder), declaration, chosen, rng, progress)
        work.treat(_blocks(file, declaration, work.lines, work.records, block))
        work.check()
        draft = Path(folder) / f"release{''.join(goal.suffixes)}"
        facts = work.write(draft)
        release = LogFileRelease(
            path=draft,
            records=work.kept,
            texts=work.texts,
            columns=work.columns,
            guarantee=log_guarantee(chosen, declaration, simulation=rng.simulation),
            provenance=Provenance.now(
                "celosia.logs.publish_file",
                {"methods": [method.as_dict() for method in chosen]},
                seed=rng.seed,
            ),
            warnings=log_notes(declaration, work.counts.largest_share, work.hashes.columns()),
            methods=tuple(
                MethodOutcome(method.method_name, facts[method.method_name]) for method in chosen
            ),
            account=LogAccount(utility={"records_kept": work.kept / work.counts.records}),
            left_out=dict(together(work.lines, work.records)),
        )
        for note in release.warnings:
            warnings.warn(note, PrivacyWarning, stacklevel=2)
        release.save(goal, overwrite=overwrite)
    return replace(release, path=goal)


def _streamed(
    methods: tuple[LogMethod, ...], declaration: LogDeclaration
) -> tuple[Fields, UserThreshold | None]:
    """The methods, where each record can be treated without the others.

    Raises:
        InputError: CEL-U024 one of them needs the whole log.
    """
    for place, method in enumerate(methods):
        if not isinstance(method, (Fields, UserThreshold)[place : place + 1]):
            raise InputError("CEL-U024.method", method=method.method_name)
    fields = methods[0]
    assert isinstance(fields, Fields)
    threshold = methods[1] if len(methods) > 1 else None
    assert threshold is None or isinstance(threshold, UserThreshold)
    columns = declaration.columns
    others = [name for role, name in columns.items() if role != "person"]
    if columns.get("person") not in (None, *others) and fields.person != "drop":
        raise InputError("CEL-U024.linked", role="person")
    if "session" in columns and fields.session != "drop":
        raise InputError("CEL-U024.linked", role="session")
    return fields, threshold


def _blocks(
    file: Path, declaration: LogDeclaration, lines: Damage, records: Damage, block: int
) -> Iterator[pl.DataFrame]:
    """The records of a file with a person and a text, block by block."""
    layout = layout_of(file, declaration.layout)
    if layout == "baskets":
        raise InputError("CEL-U006", path=str(file))
    if layout in ("common", "combined"):
        parts = read_blocks(file, lines, block=block)
    elif layout == "jsonl":
        parts = frames.read_chunks(file, rows=ROWS, format="jsonl")
    else:
        parts = frames.read_chunks(file, rows=ROWS, types=text_columns(declaration))
    for part in parts:
        sound = sound_records(part, declaration, records)
        if sound.height:
            yield sound


class _Work:
    """The state of one run: what is counted, and the records that wait."""

    def __init__(
        self,
        folder: Path,
        declaration: LogDeclaration,
        methods: tuple[LogMethod, ...],
        rng: Source,
        progress: Progress,
    ) -> None:
        fields, threshold = _streamed(methods, declaration)
        self.folder, self.declaration, self.rng, self.progress = folder, declaration, rng, progress
        self.fields, self.threshold = fields, threshold
        self.has_people = declaration.unit == "person" and declaration.person is not None
        agent = declaration.columns.get("agent") if fields.agent != "drop" else None
        self.agent = agent if self.has_people and fields.agent_people > 1 else None
        self.time = declaration.columns.get("time") if fields.time != "drop" else None
        self.counts = BlockCounts(
            persons=threshold.k if threshold else 1, agent_persons=fields.agent_people
        )
        self.lines, self.records, self.values = Damage(), Damage(), Damage()
        self.hashes = KeptHashColumns(declaration)
        self.waiting: list[Path] = []
        self.kept = self.columns = 0
        self.texts: tuple[str, ...] = ()

    def treat(self, blocks: Iterator[pl.DataFrame]) -> None:
        """Treat the fields of every block, count, and let the records wait."""
        pan = self.fields.key(self.rng)
        alone = replace(self.fields, agent_people=1)  # agents are counted over all blocks
        for records in blocks:
            self.hashes.add(records)
            log = Log(records, self.declaration)
            made = alone.treat(log, None, pan, rng=self.rng, damage=self.values)
            shown = log.frame.with_columns(list(made.columns.values()))
            people = None
            if self.has_people:
                person = person_names(log.column("person"))
                people = person.hash(seed=0)  # two that fall together count as one: never too many
            shown = self._with_item(log, shown).drop(made.hidden)
            times = None if self.time is None else shown.get_column(self.time)
            agents = None if self.agent is None else shown.get_column(self.agent)
            items = shown.select(ITEM, PERIOD) if self.threshold else None
            self.counts.add(shown.height, people=people, items=items, times=times, agents=agents)
            path = self.folder / f"waiting-{len(self.waiting)}.arrow"
            shown.write_ipc(path, compression="lz4")
            self.waiting.append(path)
            self.progress(Step(Message("logs.stage.reading"), self.counts.records))

    def _with_item(self, log: Log, shown: pl.DataFrame) -> pl.DataFrame:
        """The records with what the threshold counts, in the normal form, and its period."""
        if self.threshold is None:
            return shown
        role = log.item_role
        log.column(role)  # refused where there is none
        if self.declaration.unit == "person":
            log.column("person")
        items = shown.get_column(self.declaration.columns[role]).cast(pl.String).fill_null("")
        if role == "text" and self.declaration.normalise != "none":
            old = items.unique()
            new = normalise(old, self.declaration.normalise)
            items = items.replace_strict(old, new, return_dtype=pl.String)
        moments = pl.Series([0], dtype=pl.Int64).new_from_index(0, shown.height)
        if self.threshold.period != "whole":
            parsed = parse_times(log.column("time"), self.declaration)
            moments = pl.Series(periods(parsed, self.threshold.period, self.declaration.zone))
        return shown.with_columns(items.alias(ITEM), moments.alias(PERIOD))

    def check(self) -> None:
        """Refuse a log that cannot be published.

        Raises:
            InputError: CEL-U012 there is no record; CEL-U013 all records have the same person;
                CEL-U014 something is damaged; CEL-U015 columns of plain hashes are kept.
            PrivacyError: CEL-U040 fewer than k persons.
        """
        if not self.counts.records:
            raise InputError("CEL-U012")
        for damage in (self.lines, self.records, self.values):
            damage.check(self.declaration.damaged)
        self.hashes.columns()
        persons = self.counts.persons_seen if self.has_people else self.counts.records
        if persons == 1 and self.has_people:
            raise InputError("CEL-U013", column=self.declaration.person)
        if self.threshold is not None and persons < self.threshold.k:
            raise PrivacyError("CEL-U040", k=self.threshold.k, count=persons)

    def write(self, draft: Path) -> dict[str, dict[str, int | float]]:
        """Write the records that stay, in random order within each time; the facts by method."""
        common = self._common_items()
        places = self.counts.places(BUCKET)
        pieces: dict[int, list[Path]] = {}
        kept_items: pl.DataFrame | None = None
        for number, path in enumerate(self.waiting):
            self.progress(Step(Message("logs.stage.ordering"), number, len(self.waiting)))
            records = pl.read_ipc(path)
            path.unlink()
            if common is not None:
                records = records.join(common, on=[ITEM, PERIOD], how="semi")
                seen = records.select(ITEM).unique()
                kept_items = seen if kept_items is None else pl.concat([kept_items, seen]).unique()
                records = records.drop(ITEM, PERIOD)
            self.kept += records.height
            records = self._with_common_agents(records)
            for place, part in places.split(records, self.time, self.rng):
                piece = self.folder / f"piece-{place}-{number}.arrow"
                part.write_ipc(piece, compression="lz4")
                pieces.setdefault(place, []).append(piece)
        if not self.kept:
            raise PrivacyError("CEL-U041", k=self.threshold.k if self.threshold else 1)
        with frames.open_writer(draft) as writer:
            for place in sorted(pieces):
                part = pl.concat([pl.read_ipc(each) for each in pieces[place]])
                times = None if self.time is None else part.get_column(self.time)
                writer.write(part[order_within(times, part.height, self.rng)])
                for each in pieces[place]:
                    each.unlink()
        self.columns = part.width
        self.texts = tuple(name for name, kind in part.schema.items() if kind == pl.String)
        return self._facts(0 if kept_items is None else kept_items.height)

    def _common_items(self) -> pl.DataFrame | None:
        """The items, by period, that enough persons have; none that holds an identifier."""
        if self.threshold is None:
            return None
        common = self.counts.items.common if self.has_people else self.counts.frequent_items
        if self.threshold.identifiers == "keep" or self.declaration.text is None:
            return common
        return common.filter(~pl.Series(self._named(common.get_column(ITEM))))

    def _named(self, texts: pl.Series) -> pl.Series:
        assert self.threshold is not None
        names = self.threshold.identifiers == "drop-names"
        return pl.Series(holds_identifier(texts, names=names))

    def _with_common_agents(self, records: pl.DataFrame) -> pl.DataFrame:
        if self.agent is None:
            return records
        agents = records.get_column(self.agent)
        is_common = agents.is_in(self.counts.agents.common.get_column(ITEM).implode())
        other = pl.Series([OTHER]).new_from_index(0, len(agents))
        kept = agents.zip_with(is_common | agents.is_null(), other)
        return records.with_columns(kept.alias(self.agent))

    def _kept_by_records_only(self) -> int:
        frequent = self.counts.frequent_items.height
        return frequent - self.counts.items.common.height if self.has_people else 0

    def _facts(self, kept_items: int) -> dict[str, dict[str, int | float]]:
        facts: dict[str, dict[str, int | float]] = {Fields.method_name: dict(self.values.counts)}
        if self.threshold is not None:
            texts = self.counts.distinct_items
            is_checked = self.threshold.identifiers != "keep" and self.declaration.text is not None
            facts[UserThreshold.method_name] = {
                "queries_before": len(texts),
                "queries_after": kept_items,
                "records_kept": self.kept,
                "share_of_records_kept": self.kept / self.counts.records,
                "queries_with_identifiers": int(self._named(texts).sum()) if is_checked else 0,
                "kept_by_a_record_threshold_only": self._kept_by_records_only(),
            }
        return facts
