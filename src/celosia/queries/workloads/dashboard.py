"""Dashboard files: the questions of a workload in TOML.

epsilon = 1                         # of all questions together; an option overrides it

[questions.towns]
sql = "SELECT town, count(*) AS people FROM person GROUP BY town"
weight = 2                          # its squared error counts twice

[questions.total]
sql = "SELECT count(*) AS people FROM person"
error = 10                          # or the typical error to aim at
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.numbers import real
from celosia.queries.workloads.questions import WorkloadQuestion


@dataclass(frozen=True, slots=True)
class Dashboard:
    """The questions of a file, and its budget if it has one."""

    questions: tuple[WorkloadQuestion, ...]
    epsilon: float | None = None


def load_dashboard(path: str | Path) -> Dashboard:
    """Read a dashboard file.

    Raises:
        InputError: CEL-Q344 it is not one; CEL-I060 a weight or an error is not above 0.
    """
    try:
        facts = tomllib.loads(Path(path).read_text("utf-8"))
    except (OSError, ValueError):
        raise _wrong(path, Message("queries.workload.problem.toml")) from None
    listed = facts.get("questions", {})
    budget = facts.get("epsilon")
    is_known = set(facts) <= {"questions", "epsilon"} and isinstance(listed, dict)
    if not is_known or (budget is not None and real(budget) is None):
        raise _wrong(path, Message("queries.workload.problem.top"))
    questions = tuple(_question(path, name, each) for name, each in listed.items())
    return Dashboard(questions, budget)


def _question(path: str | Path, name: str, facts: Any) -> WorkloadQuestion:
    known = {"sql", "weight", "error"}
    is_fine = (
        isinstance(facts, dict)
        and set(facts) <= known
        and isinstance(facts.get("sql"), str)
        and not {"weight", "error"} <= set(facts)
        and all(real(facts[key]) is not None for key in set(facts) & {"weight", "error"})
    )
    if not is_fine:
        raise _wrong(path, Message("queries.workload.problem.keys"))
    return WorkloadQuestion(
        facts["sql"], name=name, weight=facts.get("weight", 1.0), error=facts.get("error")
    )


def _wrong(path: str | Path, problem: Message) -> InputError:
    return InputError("CEL-Q344.file", path=str(path), problem=problem)
