"""Jobs of logs: bring one, draft what its columns are, publish it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.core.progress import Step
from celosia.studio.logs import model
from celosia.studio.release_facts import guarantee_facts, write_release
from celosia.studio.uploads import Brought, uploaded
from celosia.studio.visitors import Work
from celosia.studio.worker import JobProgress

if TYPE_CHECKING:
    from celosia.logs import Log, LogDeclaration

SEED = 1
"""Of the queries that an attacker happens to know: a page comes out the same again."""


def prepare(progress: JobProgress, *, folder: str, brought: Brought) -> dict[str, Any]:
    """Put a sample or an uploaded file in place as `log`, with a drafted declaration beside it.

    Raises:
        InputError: CEL-U010 no column is named like a person, or like a query or an address.
    """
    from celosia.datasets import searches

    work = Work.at(folder)
    kept = work.path(f"log{Path(brought.file).suffix or '.csv'}")
    if brought.sample is not None:
        progress(Step("Making the sample", 0))
        searches(model.PEOPLE[brought.sample]).frame.write_csv(kept)
        about = _described(progress, kept, work)
    else:
        progress(Step("Reading the file", 0))
        with uploaded(work.path(brought.file), brought.shown) as path:
            about = _described(progress, path, work)
            path.replace(kept)
    about |= brought.state() | {"file": kept.name}
    work.save("logs", about)
    return about


def _described(progress: JobProgress, path: Path, work: Work) -> dict[str, Any]:
    """What a page shows of a log: counts and shapes, none of its values."""
    from celosia.core.randomness import Seeded
    from celosia.logs import Fields, read
    from celosia.logs.draft import draft, draft_text
    from celosia.logs.run import apply_methods
    from celosia.logs.summary import threshold_rows

    declaration = draft(path)
    work.path("log.toml").write_text(draft_text(declaration), "utf-8")
    log = read(path, declaration)
    for role in ("person", log.item_role):
        log.column(role)  # refused where there is none
    progress(Step("Counting persons", 0))
    treated = apply_methods(log, Fields.default(), rng=Seeded(SEED))
    return {
        "records": log.records,
        "persons": log.persons,
        "columns": _columns(path, log, declaration),
        "thresholds": [asdict(row) for row in threshold_rows(treated, model.THRESHOLDS)],
        "left_out": dict(log.unread),
        "k": 5,
        "fields": {},
        "seed": None,
    }


def _columns(path: Path, log: Log, declaration: LogDeclaration) -> list[dict[str, Any]]:
    """Every column: what it is taken for, and the shape of its first cell."""
    from celosia import frames
    from celosia.logs.formats.access_log import COLUMNS
    from celosia.logs.readers import ACCESS_LOG

    if declaration == ACCESS_LOG:
        names, first = list(COLUMNS), log.frame
    else:
        first = next(frames.read_chunks(path, rows=1000))
        names = first.columns
    found = []
    for name in names:
        roles = [role for role, column in declaration.columns.items() if column == name]
        roles += ["keep"] if name in declaration.keep else []
        shape = ""
        if name in first.columns:
            shape = "".join(map(model.shape, first.get_column(name).drop_nulls().head(1)))
        found.append({"name": name, "roles": roles, "shape": shape})
    return found


def run(
    progress: JobProgress,
    *,
    folder: str,
    k: int,
    fields: Mapping[str, Any],
    seed: int | None = None,
) -> dict[str, Any]:
    """Publish the log of a work; files and `result.json` are written to its folder."""
    from celosia.core.randomness import source
    from celosia.logs import method_from, publish, read

    work = Work.at(folder)
    progress(Step("Reading the file", 0))
    state = work.load("logs") or {}
    log = read(work.path(state["file"]), work.path("log.toml"))
    methods = [method_from("fields", fields), method_from("user-threshold", {"k": k})]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the release carries them
        release = publish(log, methods, rng=source(seed), progress=progress)  # type: ignore[arg-type]
    write_release(release, work.path("published.csv"))
    account = release.account
    result = guarantee_facts(release.guarantee) | {
        "k": k,
        "fields": dict(fields),
        "seed": seed,
        "warnings": list(release.warnings),
        "records": {"before": log.records, "after": release.data.height},
        "facts": dict(release.methods[-1].facts),
        "left_out": dict(release.left_out),
        "attacks": [
            {"name": after.name, "before": before.share_exposed, "after": after.share_exposed}
            for before, after in zip(account.before, account.attacks, strict=True)
        ],
        "utility": dict(account.utility),
    }
    work.save("result", result)
    return result
