"""The jobs of Query: make a database, draft its policy, explain, ask, and look at the ledger."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from celosia import frames
from celosia.core.progress import Step
from celosia.studio.model import querying
from celosia.studio.work.reading import check_names
from celosia.studio.worker import Voice


def make_sample(voice: Voice, *, folder: str, sample: str) -> None:
    """Write a sample database with its policy."""
    querying.make_sample(Path(folder), sample, voice)


def bring(voice: Voice, *, folder: str, file: str, table: str) -> str:
    """Make an uploaded file a table of the database, and draft the policy anew; the upload goes."""
    place = Path(folder)
    voice(Step("Reading the file", 0))
    try:
        frame = frames.read(place / file)
    finally:
        (place / file).unlink(missing_ok=True)
    check_names(frame.columns)
    frames.write(frame, place / f"{table}.parquet")
    voice(Step("Drafting the policy", 0))
    return querying.draft(place, sorted(each.name for each in place.glob("*.parquet")))


def check(voice: Voice, *, folder: str, text: str) -> dict[str, Any]:
    """Keep a policy if it is sound and fits the database; what anybody may know of it."""
    place = Path(folder)
    voice(Step("Checking the policy", 0))
    querying.keep_policy(place, text)
    return schema(voice, folder=folder)


def schema(voice: Voice, *, folder: str) -> dict[str, Any]:
    """Tables, columns, unit and budget, as the policy tells them."""
    voice(Step("Opening the database", 0))
    with querying.opened(Path(folder)) as vault:
        return vault.public_schema() | {"language": querying.language(vault)}


def explain(voice: Voice, *, folder: str, query: str, epsilon: float) -> dict[str, Any]:
    """How a query would be answered, and how exactly; costs nothing."""
    voice(Step("Planning the answer", 0))
    with querying.opened(Path(folder)) as vault:
        return querying.explained(vault, query, epsilon=epsilon)


def ask(voice: Voice, *, folder: str, query: str, epsilon: float) -> dict[str, Any]:
    """The noisy answer, charged to the ledger of this piece of work."""
    voice(Step("Asking the database", 0))
    with querying.opened(Path(folder)) as vault:
        return querying.asked(vault, query, epsilon=epsilon)


def account(voice: Voice, *, folder: str) -> dict[str, Any]:
    """What was spent and what is left."""
    voice(Step("Reading the ledger", 0))
    return querying.account(Path(folder))
