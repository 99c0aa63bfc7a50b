"""`celosia workload`: the questions of a dashboard, answered together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

from celosia.cli import console, options
from celosia.cli.frame import FileOutputs
from celosia.cli.query import open_vault, show_rows
from celosia.core.errors import InputError
from celosia.core.messages import say
from celosia.queries.paths import ledger_path

if TYPE_CHECKING:
    from celosia.queries import Vault
    from celosia.queries.workloads import WorkloadPlan


def workload(
    policy: Annotated[str, "argument POLICY", "The policy file."],
    dashboard: Annotated[Path, "argument DASHBOARD", "The file of the questions."],
    outputs: FileOutputs,
    epsilon: Annotated[
        float | None,
        options.EPSILON,
        "The price of all questions together; that of the dashboard without it.",
    ] = None,
    analyst: options.Analyst = None,
    confidence: options.Confidence = 0.95,
    explain: Annotated[
        bool, "--explain", "Spend nothing: show what would be measured, and the errors."
    ] = False,
    output: Annotated[
        Path | None, "--output -o FILE", "Write all answers with their promises (.json)."
    ] = None,
    ledger: options.LedgerPlace = None,
    seed: options.NoiseSeed = None,
) -> None:
    """Answer the questions of a dashboard together, with less noise than one by one.

    Questions that count or sum over the same tables are answered from a few common tables, and the
    budget is split so that the weighted errors are least. What was measured stays in the ledger:
    `celosia query --synopsis` answers further questions about it for free.

    **Examples**

    `celosia workload policy.toml dashboard.toml --epsilon 1 --explain`  (errors, for nothing)

    `celosia workload policy.toml dashboard.toml --epsilon 1 -o answers.json`
    """
    from celosia.mechanisms.parameters import check_confidence
    from celosia.queries.workloads import load_dashboard

    check_confidence(confidence)
    outputs.check(inputs=(dashboard, policy, ledger_path(policy)), answer=output)
    listed = load_dashboard(dashboard)
    price = listed.epsilon if epsilon is None else epsilon
    if price is None:
        raise InputError("CEL-Q213.no_price")
    with open_vault(policy, None, ledger=ledger, token_file=None, seed=seed) as opened:
        vault = cast("Vault", opened)
        if explain:
            plan = vault.plan_workload(listed.questions, epsilon=price, analyst=analyst)
            note = say("cli.query.nothing_spent_leave_out")
            outputs.show(plan.as_dict, lambda: _show_plan(plan), plan, note=note)
            return
        with outputs.working("cli.step.asking_database"):
            found = vault.workload(
                listed.questions, epsilon=price, analyst=analyst, confidence=confidence
            )
    outputs.write_text(
        output, lambda: json.dumps(found.as_dict(), indent=1, ensure_ascii=False) + "\n"
    )

    def show() -> None:
        for planned, answer in zip(found.plan.questions, found, strict=True):
            console.show(planned.question.label, strong=True)
            show_rows(answer)

    outputs.show(found.as_dict, show, found.plan, answer=output)


def _show_plan(plan: WorkloadPlan) -> None:
    console.show_table(
        say("cli.workload.questions"),
        console.columns("question", "how", "error_together", "error_alone"),
        [
            [
                each.question.label,
                say("queries.workload.together" if each.cells else "queries.workload.alone"),
                _error(each.error),
                _error(each.error_alone),
            ]
            for each in plan.questions
        ],
        numbers=False,
    )
    console.show_table(
        say("cli.query.what_would_be_measured"),
        console.columns("question", "epsilon:.6g"),
        [[each.query, each.epsilon] for each in plan.measurements],
        numbers=False,
    )


def _error(error: float | None) -> str:
    return say("cli.word.not_public") if error is None else console.number(error, ",.4g")
