"""The jobs of Query: a database, its policy, plans, answers, comparisons, and the ledger."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from celosia import frames
from celosia.core.progress import Step
from celosia.queries import QueryRequest
from celosia.queries.policy.database import NO_KEYS
from celosia.studio.query import batch, databases, model
from celosia.studio.uploads import check_names, uploaded
from celosia.studio.visitors import Work
from celosia.studio.worker import JobProgress


def make_sample(progress: JobProgress, *, folder: str, sample: str) -> None:
    """Write a sample database with its policy."""
    model.make_sample(Path(folder), sample, progress)


def bring(progress: JobProgress, *, folder: str, file: str, shown: str, table: str) -> str:
    """Make an uploaded file a table, or all tables, of the database; draft the policy anew.

    The upload goes.
    """
    place = Path(folder)
    progress(Step("Reading the file", 0))
    keys = NO_KEYS
    with uploaded(place / file, shown) as path:
        if path.suffix in databases.SUFFIXES:
            found, keys = databases.read_sqlite(path), databases.read_sqlite_keys(path)
        else:
            found = {table: frames.read(path)}
            check_names(found[table].columns)
    for name, frame in found.items():
        frames.write(frame, place / f"{name}.parquet")
    progress(Step("Drafting the policy", 0))
    return model.draft(place, sorted(each.name for each in place.glob("*.parquet")), keys)


def check(progress: JobProgress, *, folder: str, text: str) -> dict[str, Any]:
    """Keep a policy if it is sound and fits the database; what anybody may know of it."""
    place = Path(folder)
    progress(Step("Checking the policy", 0))
    model.keep_policy(place, text)
    return schema(progress, folder=folder)


def schema(progress: JobProgress, *, folder: str) -> dict[str, Any]:
    """Tables, columns, unit and budget, as the policy tells them."""
    progress(Step("Opening the database", 0))
    with model.open_vault(Path(folder)) as vault:
        return vault.public_schema() | {
            "language": model.language(vault),
            "warnings": model.weak_budgets(vault.policy),
            "who": model.who_asks(vault.policy),
        }


def explain(progress: JobProgress, *, folder: str, request: QueryRequest) -> dict[str, Any]:
    """How a query would be answered, and how exactly; costs nothing."""
    progress(Step("Planning the answer", 0))
    with model.open_vault(Path(folder)) as vault:
        return model.explained(vault, request)


def find_epsilon(
    progress: JobProgress, *, folder: str, request: QueryRequest, within: float
) -> float:
    """The least epsilon whose answer is within so much of the exact one, 19 times in 20; free."""
    progress(Step("Planning the answer", 0))
    with model.open_vault(Path(folder)) as vault:
        return model.epsilon_within(vault, request, within=within)


def ask(progress: JobProgress, *, folder: str, request: QueryRequest) -> dict[str, Any]:
    """The noisy answer, charged to the ledger of this piece of work."""
    progress(Step("Asking the database", 0))
    with model.open_vault(Path(folder)) as vault:
        found = model.asked(vault, request)
    model.keep_words(Work.at(folder), found["entry"], request.query)
    return found


def compare(progress: JobProgress, *, folder: str, request: QueryRequest) -> dict[str, Any]:
    """The true answer beside private ones, for the owner alone; costs nothing, releases nothing."""
    progress(Step("Comparing with the true answer", 0))
    with model.open_vault(Path(folder)) as vault:
        return model.compared(vault, request, progress=progress)


def simulate(progress: JobProgress, *, folder: str, form: batch.BatchForm) -> dict[str, Any]:
    """The errors of many questions over many private answers, for the owner alone."""
    progress(Step("Comparing with the true answer", 0))
    with model.open_vault(Path(folder)) as vault:
        return batch.simulate(Path(folder), vault, form, progress)


def account(progress: JobProgress, *, folder: str) -> dict[str, Any]:
    """What was spent and what is left."""
    progress(Step("Reading the ledger", 0))
    work = Work.at(folder)
    return model.account(work) | {"market": model.market(work)}


def invoice(
    progress: JobProgress, *, folder: str, analyst: str, month: str | None
) -> dict[str, Any]:
    """What an analyst owes, as files of the work."""
    progress(Step("Reading the ledger", 0))
    return model.write_invoice(Work.at(folder), analyst, month)
