"""Jobs of the door Publish: release a table, try all solutions, measure, write what is taken."""

from __future__ import annotations

import shutil
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import polars as pl

from celosia import tables
from celosia.core import signatures
from celosia.core.errors import CelosiaError
from celosia.core.files import replacing
from celosia.core.progress import Step, Stopwatch
from celosia.studio import stored_json
from celosia.studio.publish import code, results, results_solutions, results_table
from celosia.studio.publish import form as chosen
from celosia.studio.publish.form import PublishForm
from celosia.studio.publish.suggestions import MANY_ROWS
from celosia.studio.release_facts import REPORT_VALUE, write_pdf, write_report
from celosia.studio.worker import JobProgress
from celosia.tables.exploration import explore_table
from celosia.tables.hierarchies.memo import kept_hierarchies
from celosia.tables.run import publish_table

SECONDS = 15.0
"""How long solutions are tried; after that those found so far are shown."""
SECONDS_OF_MANY = 8.0
"""The same of a very long table, of which everything else takes long, too."""
KEPT = (
    "release.csv",
    "release.csv.cert.json",
    "release.parquet",
    "release.parquet.cert.json",
    "release.csv.cert.json.sig",
    "release.parquet.cert.json.sig",
    "report.html",
    "report.pdf",
    "schema.toml",
    "publish.py",
    "publish.sh",
)
"""What the archive holds; signatures where the house has a key."""
ARCHIVE = "release.zip"
SIGNATURE = "signature.json"
"""The signature of the certificate of the CSV file, to take away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """One table, what is wanted of it, and where all of it lies."""

    progress: JobProgress
    place: Path
    wanted: PublishForm
    frame: pl.DataFrame
    people: pl.DataFrame | None
    stopwatch: Stopwatch
    key: str | None
    """Of the house, which signs the certificates; None where they are not signed."""

    @classmethod
    def read(
        cls, progress: JobProgress, place: Path, wanted: PublishForm, key: str | None = None
    ) -> _Task:
        progress(Step("Reading the table", 0))
        stopwatch = Stopwatch()
        people = None
        with stopwatch.measure("reading"):
            frame = pl.read_parquet(place / chosen.DATA)
            if wanted.population is not None:
                people = pl.read_parquet(place / chosen.POPULATION)
        return cls(
            progress=progress,
            place=place,
            wanted=wanted,
            frame=frame,
            people=people,
            stopwatch=stopwatch,
            key=key,
        )

    def publish(self, *, record: bool = False) -> tables.TableRelease:
        history = chosen.history_path(self.wanted, self.place)
        accepted = self.wanted.accept_joint.strip() or None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the release carries them, and the page shows them
            options = replace(
                chosen.publish_options(self.wanted),
                history=history,
                accept_joint=None if history is None else accepted,
            )
            return publish_table(
                self.frame,
                options,
                population=self.people,
                record=record,
                progress=self.progress,
                stopwatch=self.stopwatch,
            )


@kept_hierarchies()
def run(
    progress: JobProgress,
    *,
    folder: str,
    form: dict[str, Any],
    seconds: float = SECONDS,
    key: str | None = None,
) -> dict[str, Any]:
    """Publish as chosen, try all other solutions, measure both sides, and write it all down."""
    place = Path(folder)
    for name in (results.FILE, results_solutions.FILE):
        (place / name).unlink(missing_ok=True)
    task = _Task.read(progress, place, PublishForm.from_dict(form), key)
    release = task.publish()
    if task.frame.height > MANY_ROWS:
        seconds = min(seconds, SECONDS_OF_MANY)
    _write_json(place / results_solutions.FILE, _explored(task, release, seconds))
    return _written(task, release)


@kept_hierarchies()
def apply(
    progress: JobProgress,
    *,
    folder: str,
    form: dict[str, Any],
    levels: dict[str, int],
    key: str | None = None,
) -> dict[str, Any]:
    """Publish at levels that the visitor took from the solutions; these stay as they are."""
    wanted = replace(
        PublishForm.from_dict(form), levels=levels, method="lattice", local=False, time_limit=None
    )
    task = _Task.read(progress, Path(folder), wanted, key)
    return _written(task, task.publish())


@kept_hierarchies()
def record(
    progress: JobProgress, *, folder: str, form: dict[str, Any], key: str | None = None
) -> dict[str, Any]:
    """Publish once more as in the results, into the history of releases, and write the files."""
    task = _Task.read(progress, Path(folder), PublishForm.from_dict(form), key)
    return _written(task, task.publish(record=True), recorded=True)


def _explored(task: _Task, release: tables.TableRelease, seconds: float) -> dict[str, Any]:
    """All solutions of the lattice; none where only finer recoding meets the models."""
    try:
        options = replace(chosen.publish_options(task.wanted), time_limit=seconds)
        found = explore_table(task.frame, options, population=task.people, progress=task.progress)
    except CelosiaError as error:
        if error.code not in ("CEL-P001", "CEL-P003"):
            raise
        found = None
    return results_solutions.facts(found, release.solution, metric=task.wanted.metric)


def _written(
    task: _Task, release: tables.TableRelease, *, recorded: bool = False
) -> dict[str, Any]:
    """Write the results; and the files, unless the release must be in a history before."""
    place, wanted, frame = task.place, task.wanted, task.frame
    task.progress(Step("Measuring risk and use", 0))
    facts = results.measured(frame, release, wanted, people=task.people, progress=task.progress)
    task.progress(Step("Writing the files", 0))
    (place / results.FILE).unlink(missing_ok=True)  # cancelled half-way, there are no results
    for name in (ARCHIVE, "certificate.json", SIGNATURE, f"report{REPORT_VALUE}", *KEPT):
        (place / name).unlink(missing_ok=True)
    facts["recorded"] = recorded
    assert release.source_rows is not None, "it was made here"
    results_table.write_sides(place, frame, release.data, release.source_rows, wanted)
    if wanted.history is None or recorded:
        release = _saved(task, release)
    facts["timings"] = release.timings.as_dict()
    _write_json(place / results.FILE, facts)  # last: it says that all the rest is there
    return {"rows": release.solution.rows, "suppressed": release.solution.suppressed}


def _saved(task: _Task, release: tables.TableRelease) -> tables.TableRelease:
    """Write all files to take away."""
    place, wanted = task.place, task.wanted
    with task.stopwatch.measure("writing"):
        release.save(place / "release.csv")
        release.save(place / "release.parquet")
    timed = replace(release, timings=task.stopwatch.timings())
    # The studio hands out names with up to two suffixes.
    shutil.copyfile(place / "release.csv.cert.json", place / "certificate.json")
    if task.key is not None:
        for name in ("release.csv", "release.parquet"):
            signature = signatures.sign(place / name, task.key)
        shutil.copyfile(signature.with_name("release.csv.cert.json.sig"), place / SIGNATURE)
    write_report(timed.document_of(place / "release.csv"), place / "report.html")
    (place / "schema.toml").write_text(code.schema_text(wanted), "utf-8")
    (place / "publish.py").write_text(code.python_text(wanted), "utf-8")
    (place / "publish.sh").write_text(code.command_text(wanted) + "\n", "utf-8")
    return timed


def pack(progress: JobProgress, *, folder: str) -> None:
    """Put all files of a release into one archive, the report as PDF too."""
    progress(Step("Writing the files", 0))
    place = Path(folder)
    if not (place / "report.pdf").is_file():
        write_pdf(progress, folder=folder, name="report.pdf")
    with (
        replacing(place / ARCHIVE) as draft,
        ZipFile(draft, "w", compression=ZIP_DEFLATED) as archive,
    ):
        for name in KEPT:
            if (place / name).exists():
                archive.write(place / name, name)


def _write_json(path: Path, value: Any) -> None:
    with replacing(path) as draft:
        draft.write_text(stored_json.dumps(value, allow_nan=False), "utf-8")
