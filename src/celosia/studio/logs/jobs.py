"""Jobs of logs: bring one, draft what its columns are, publish it."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.core.progress import Step
from celosia.studio.budget import FIRST, budget_of, left_of
from celosia.studio.logs import model
from celosia.studio.release_facts import guarantee_facts, save_private, write_release
from celosia.studio.uploads import Brought, uploaded
from celosia.studio.visitors import Work
from celosia.studio.worker import JobProgress

if TYPE_CHECKING:
    from celosia.logs import Log, LogDeclaration, LogRelease, SetRelease
    from celosia.logs.damage import DamagedRecords
    from celosia.logs.private import Of

SEED = 1
"""Of the queries that an attacker happens to know: a page comes out the same again."""


def prepare(progress: JobProgress, *, folder: str, brought: Brought) -> dict[str, Any]:
    """Put a sample or an uploaded file in place as `log`, with a drafted declaration beside it.

    Raises:
        InputError: CEL-U010 no column is named like a person, or like a query or an address.
    """
    work = Work.at(folder)
    kept = work.path(f"log{Path(brought.file).suffix or _SUFFIXES[brought.sample or 'searches']}")
    if brought.sample is not None:
        progress(Step("Making the sample", 0))
        _write_sample(brought.sample, kept, work)
        about = _described(progress, kept, work, "refuse")
    else:
        progress(Step("Reading the file", 0))
        with uploaded(work.path(brought.file), brought.shown) as path:
            about = _described(progress, path, work, "drop" if brought.lenient else "refuse")
            path.replace(kept)
    about |= brought.state() | {"file": kept.name}
    work.save("logs", about)
    return about


_SUFFIXES = {"searches": ".csv", "baskets": ".txt"}


def _write_sample(name: str, path: Path, work: Work) -> None:
    from celosia import datasets
    from celosia.tables.hierarchies import write_hierarchy

    if name == "searches":
        datasets.searches(model.PEOPLE[name]).frame.write_csv(path)
        return
    made = datasets.baskets(model.PEOPLE[name], model.BASKET_ITEMS, model.BASKET_LENGTH)
    lines = ["\t".join(row) for row in made.transactions.sets() if row]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    write_hierarchy(made.hierarchy, work.path("items.csv"))


def _is_baskets(path: Path) -> bool:
    """Whether a file has baskets: by its name, or a text whose first line names no person."""
    from celosia.logs.draft import draft_of
    from celosia.logs.readers import layout_of

    suffix = path.suffix.lower()
    if suffix != ".txt" or layout_of(path, None) == "combined":
        return suffix in (".dat", ".baskets")
    with path.open(encoding="utf-8", errors="replace") as stream:
        names = re.split(r"[\t;,]", stream.readline().strip())
    return draft_of(names).person is None


def _described(
    progress: JobProgress, path: Path, work: Work, damaged: DamagedRecords
) -> dict[str, Any]:
    """What a page shows of a log or of baskets: counts and shapes, none of the values."""
    first = model.key_cards()["gaussian-keys"].first_choice()
    first["parameters"]["per_person"] = 10
    keys = {"key_choice": first, "of": "queries", "seed": None}
    if _is_baskets(path):
        return _described_sets(path, work, damaged) | keys
    return _described_log(progress, path, work, damaged) | keys


def _described_sets(path: Path, work: Work, damaged: DamagedRecords) -> dict[str, Any]:
    from celosia.core.randomness import Seeded
    from celosia.logs import LogDeclaration, attacks, read_sets

    declaration = LogDeclaration(layout="baskets", damaged=damaged)
    work.path("log.toml").write_text(declaration.toml(), "utf-8")
    sets = read_sets(path, declaration)
    found = [attacks.known_items(sets, items=each, rng=Seeded(SEED)) for each in (1, 2, 3, 4)]
    has_hierarchy = work.path("items.csv").exists()
    method = "km-anonymity" if has_hierarchy else "disassociation"
    return {
        "kind": "sets",
        "records": sets.count,
        "persons": sets.count,
        "items": len(sets.labels),
        "known": [{"name": each.name, "share": each.share_exposed} for each in found],
        "has_hierarchy": has_hierarchy,
        "left_out": dict(sets.unread),
        "sensitive": "",
        "choice": model.set_cards()[method].first_choice(),
    }


def _described_log(
    progress: JobProgress, path: Path, work: Work, damaged: DamagedRecords
) -> dict[str, Any]:
    from celosia.core.randomness import Seeded
    from celosia.logs import Fields, read
    from celosia.logs.draft import draft, draft_text
    from celosia.logs.run import apply_methods
    from celosia.logs.summary import threshold_rows

    declaration = replace(draft(path), damaged=damaged)
    work.path("log.toml").write_text(draft_text(declaration), "utf-8")
    log = read(path, declaration)
    for role in ("person", log.item_role):
        log.column(role)  # refused where there is none
    progress(Step("Counting persons", 0))
    treated = apply_methods(log, Fields.default(), rng=Seeded(SEED))
    return {
        "kind": "records",
        "records": log.records,
        "persons": log.persons,
        "columns": _columns(path, log, declaration),
        "thresholds": [asdict(row) for row in threshold_rows(treated, model.THRESHOLDS)],
        "left_out": dict(log.unread),
        "k": 5,
        "fields": {},
    }


def _columns(path: Path, log: Log, declaration: LogDeclaration) -> list[dict[str, Any]]:
    """Every column: what it is taken for, and the shape of its first cell."""
    from celosia import frames
    from celosia.logs.formats.access_log import COLUMNS

    if declaration.layout == "combined":
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
    result = guarantee_facts(release.guarantee) | {
        "k": k,
        "fields": dict(fields),
        "seed": seed,
        "warnings": list(release.warnings),
        "records": {"before": log.records, "after": release.data.height},
        **_measures(release),
    }
    work.save("result", result)
    return result


def _measures(release: LogRelease | SetRelease) -> dict[str, Any]:
    """What was done, and what risk and use is left."""
    account = release.account
    return {
        "facts": dict(release.methods[-1].facts),
        "left_out": dict(release.left_out),
        "attacks": [
            {"name": after.name, "before": before.share_exposed, "after": after.share_exposed}
            for before, after in zip(account.before, account.attacks, strict=True)
        ],
        "utility": dict(account.utility),
    }


def run_sets(
    progress: JobProgress, *, folder: str, choice: Mapping[str, Any], seed: int | None = None
) -> dict[str, Any]:
    """Publish the baskets of a work; files and `result.json` are written to its folder."""
    from celosia.core.randomness import source
    from celosia.logs import DisassociatedSets, method_from, publish_sets, read_sets

    work = Work.at(folder)
    progress(Step("Reading the file", 0))
    state = work.load("logs") or {}
    sets = read_sets(work.path(state["file"]), work.path("log.toml"))
    secrets = model.sensitive_items(state["sensitive"])
    release = publish_sets(
        sets,
        method_from(choice["method"], choice["parameters"]),  # type: ignore[arg-type]
        hierarchy=work.path("items.csv") if state["has_hierarchy"] else None,
        sensitive=secrets,
        rng=source(seed),
        progress=progress,
    )
    ending = "json" if isinstance(release.data, DisassociatedSets) else "txt"
    write_release(release, work.path(f"published.{ending}"))
    if secrets:
        work.path("sensitive.txt").write_text("\n".join(secrets) + "\n", "utf-8")
    result = guarantee_facts(release.guarantee) | {
        "choice": dict(choice),
        "seed": seed,
        "file": f"published.{ending}",
        "has_secrets": bool(secrets),
        "warnings": list(release.warnings),
        "violations": release.account.violations,
        **_measures(release),
    }
    work.save("result", result)
    return result


def release_keys(
    progress: JobProgress,
    *,
    folder: str,
    choice: Mapping[str, Any],
    of: Of,
    budget: Mapping[str, Any] = FIRST,
    seed: int | None = None,
) -> dict[str, Any]:
    """Name the frequent keys of a work privately; files and `keys.json` go to its folder.

    Raises:
        BudgetExceeded: CEL-Q110 the budget of the work does not allow it.
    """
    from celosia.core.randomness import source
    from celosia.logs import private, read, read_sets

    work = Work.at(folder)
    progress(Step("Reading the file", 0))
    state = work.load("logs") or {}
    path = work.path(state["file"])
    known = work.path("log.toml")
    data = read_sets(path, known) if state["kind"] == "sets" else read(path, known)
    given = dict(choice["parameters"])
    with budget_of(work, budget, dataset="log", unit="person") as paid:
        if choice["method"] == "itemsets":
            answer = private.itemsets(data, budget=paid, rng=source(seed), **given)
        else:
            method = choice["method"].removesuffix("-keys")
            answer = private.keys(
                data, of=of, method=method, budget=paid, rng=source(seed), **given
            )
        left = left_of(paid)
    return save_private(
        work,
        answer,
        "keys",
        choice=dict(choice),
        of=of,
        seed=seed,
        count=len(answer.value),
        has_numbers=choice["method"] not in model.KEY_FAMILIES["Names only"],
        keys=dict(list(answer.value.items())[: model.MOST_SHOWN]),
        is_large_delta=float(given["delta"]) * state["persons"] >= 1,
        left=left,
    )


def plan(progress: JobProgress, *, folder: str, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Compare the mechanisms on a simulated log; `plan.json` goes to the folder of the work."""
    from celosia import datasets
    from celosia.logs import private

    progress(Step("Making the sample", 0))
    log = datasets.searches(int(wanted["people"])).log()
    rows = private.plan(
        log,
        epsilon=float(wanted["epsilon"]),
        delta=float(wanted["delta"]),
        runs=model.PLAN_RUNS,
        progress=progress,
    )
    result = {"wanted": dict(wanted), "rows": [asdict(row) for row in rows]}
    Work.at(folder).save("plan", result)
    return result
