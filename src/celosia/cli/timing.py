"""`celosia audit timing`: side channels of private queries (time, failures, sizes)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Annotated

import typer

from celosia.cli import console
from celosia.cli.frame import JsonOutputs
from celosia.core.errors import PrivacyError
from celosia.core.messages import say, say_of
from celosia.core.progress import Progress, Step

if TYPE_CHECKING:
    from celosia.queries.timing_audit import Finding

EVERY = 60.0
"""Seconds between two lines about the time left."""


class TimeLeft:
    """Progress that also tells, once a minute, how long it will still take.

    A bar is drawn on a terminal only; an audit of hours is watched in a file.
    """

    def __init__(
        self,
        progress: Progress,
        *,
        clock: Callable[[], float] = monotonic,
        tell: Callable[[str], object] = console.note,
    ) -> None:
        self._progress, self._clock, self._tell = progress, clock, tell
        self._stage, self._begun, self._told = "", 0.0, 0.0

    def __call__(self, step: Step) -> None:
        """Pass a step on."""
        self._progress(step)
        now = self._clock()
        if step.stage != self._stage:
            self._stage, self._begun, self._told = step.stage, now, now
        if step.total and step.done and now - self._told >= EVERY:
            self._told = now
            left = (now - self._begun) / step.done * (step.total - step.done) / 60
            self._tell(say_of("cli.timing.left", step, minutes=left))


def timing(
    outputs: JsonOutputs,
    runs: Annotated[int, "Number of runs of each query on each database."] = 20,
    door: Annotated[
        list[str] | None, "NAME", "python, http, command or process; may be repeated."
    ] = None,
    only: Annotated[list[str] | None, "NAME", "Run only this query; may be repeated."] = None,
    processes: Annotated[
        int | None, typer.Option(min=1, help="Processes that ask; one for each core without it.")
    ] = None,
    at_once: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Questions that each process has under way; chosen for each door without it.",
        ),
    ] = None,
) -> None:
    """Attack private queries by time, failure and size: exit code 1 if one person is disclosed.

    Two databases differ by one property of one patient. Queries that try to make the engine slow,
    or to make it fail, because of this patient run on both. A classifier then guesses from status,
    text, size and time which database has answered: right in half of all cases is chance. Refused
    questions read no private row, and are asked at most 20 times. Answers that came later than
    their deadline are counted: where there are many, ask fewer questions at once.

    **Examples**

    `celosia audit timing`  (Python only, some minutes)

    `celosia audit timing --runs 200 --door python --door http --door command`  (thorough, 2 hours)

    `celosia audit timing --runs 4 --door process --only "chain 5"`  (with a new process for each)

    `celosia audit timing --only "chain 5" --only division --json`
    """
    from celosia.core.kernels import cores
    from celosia.queries.timing_audit import REFUSED_RUNS, attacks_named, audit_timing

    wanted = attacks_named(only)
    with outputs.working(None) as progress:
        found = audit_timing(
            runs=runs,
            doors=door or ["python"],
            attacks=wanted,
            processes=processes or cores(),
            at_once=at_once,
            progress=TimeLeft(progress),
        )

    def lines() -> None:
        _show_findings(found.findings)
        console.show(
            say_of("cli.timing.answers_late_refused_questions", found, min=min(runs, REFUSED_RUNS))
        )

    if not found.holds:
        if not outputs.as_json:  # what was found is shown above the error
            lines()
        raise PrivacyError("CEL-A293", **(found.as_dict() | {"number_telling": len(found.telling)}))
    tried = sum(each.tried for each in found.findings)
    outputs.show(
        found.as_dict,
        lines,
        say("cli.timing.guesses_right_no_better", accuracy=found.accuracy, findings=tried),
    )


def _show_findings(findings: Sequence[Finding]) -> None:
    console.show_table(
        say("cli.timing.which_database_has_answered"),
        console.columns(
            *("door", "attack", "status", "runs", "right", "tried"),
            *("seconds_without:.3f", "seconds_with:.3f", "deadline:g", "late"),
        ),
        [
            [
                *(each.door, each.attack, each.status, each.runs, each.right, each.tried),
                *each.seconds,
                say("cli.word.refused") if each.deadline is None else each.deadline,
                each.late,
            ]
            for each in findings
        ],
    )
