"""The jobs of Query: make a database, draft its policy, explain, ask, and look at the ledger."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from celosia import frames
from celosia.core.progress import Step
from celosia.studio.query import model
from celosia.studio.uploads import check_names, uploaded
from celosia.studio.worker import JobProgress


def make_sample(progress: JobProgress, *, folder: str, sample: str) -> None:
    """Write a sample database with its policy."""
    model.make_sample(Path(folder), sample, progress)


def bring(progress: JobProgress, *, folder: str, file: str, shown: str, table: str) -> str:
    """Make an uploaded file a table of the database, and draft the policy anew; the upload goes."""
    place = Path(folder)
    progress(Step("Reading the file", 0))
    with uploaded(place / file, shown):
        frame = frames.read(place / file)
    check_names(frame.columns)
    frames.write(frame, place / f"{table}.parquet")
    progress(Step("Drafting the policy", 0))
    return model.draft(place, sorted(each.name for each in place.glob("*.parquet")))


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
        return vault.public_schema() | {"language": model.language(vault)}


def explain(progress: JobProgress, *, folder: str, query: str, epsilon: float) -> dict[str, Any]:
    """How a query would be answered, and how exactly; costs nothing."""
    progress(Step("Planning the answer", 0))
    with model.open_vault(Path(folder)) as vault:
        return model.explained(vault, query, epsilon=epsilon)


def ask(progress: JobProgress, *, folder: str, query: str, epsilon: float) -> dict[str, Any]:
    """The noisy answer, charged to the ledger of this piece of work."""
    progress(Step("Asking the database", 0))
    with model.open_vault(Path(folder)) as vault:
        return model.asked(vault, query, epsilon=epsilon)


def account(progress: JobProgress, *, folder: str) -> dict[str, Any]:
    """What was spent and what is left."""
    progress(Step("Reading the ledger", 0))
    return model.account(Path(folder))
