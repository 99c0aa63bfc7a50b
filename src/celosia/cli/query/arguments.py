"""Options and arguments of `celosia query`, checked before anything is opened or spent."""

from __future__ import annotations

import sys
from pathlib import Path

from celosia.cli import frame
from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.queries.paths import ledger_path

LONGEST = 1_000_000
"""Letters of a question that are read from a file; the vault refuses far shorter ones."""
STDIN = "-"
ENDINGS = (".sql", ".rq", ".sparql")
"""Of files that hold a question."""


def check_options(
    policy: str | None,
    question: str | None,
    *,
    epsilon: float | None,
    explain: bool,
    with_server: dict[str, object],
    without: dict[str, object],
    is_remote: bool,
) -> None:
    """Refuse a command that lacks an option, or has one that would be ignored.

    Args:
        policy: the policy file.
        question: what is asked.
        epsilon: at which price.
        explain: whether only the plan is wanted.
        with_server: options that go with a service only, as they were given.
        without: options that go with a policy only.
        is_remote: whether a service is asked.
    """
    if is_remote and policy is not None:
        raise InputError("CEL-Q213.policy")
    for name, value in (without if is_remote else with_server).items():
        if value is not None:
            key = "CEL-Q213.not_for_service" if is_remote else "CEL-Q213.only_for_service"
            raise InputError(key, option=name)
    if question is None or (policy is None and not is_remote):
        raise InputError("CEL-Q213.missing")
    if epsilon is None and not explain:
        raise InputError("CEL-Q213.no_price")


def question_file(written: str) -> Path | None:
    """The file that holds the question, if the argument names one.

    >>> question_file("prices.sql"), question_file("SELECT 1 FROM a.sql")
    (PosixPath('prices.sql'), None)
    """
    # A question has a space in it, so that it cannot be taken for the name of a file.
    is_file = written.lower().endswith(ENDINGS) and written.split() == [written]
    return Path(written) if is_file else None


def read_question(written: str) -> str:
    """Read the question: the argument itself, a file, or standard input.

    Raises:
        InputError: CEL-Q216 there is none.
    """
    source = question_file(written)
    if source is None and written != STDIN:
        return written
    try:
        if source is None:
            found = sys.stdin.read(LONGEST + 1)
        else:
            with source.open(encoding="utf-8-sig") as file:
                found = file.read(LONGEST + 1)
    except (OSError, ValueError):
        found = ""
    if not found.strip() or len(found) > LONGEST:
        raise InputError("CEL-Q216.question", source=source or Message("cli.standard_input"))
    return found


def check_outputs(
    policy: str | None,
    question: str,
    ledger: str | None,
    output: Path | None,
    report: Path | None,
    *,
    overwrite: bool,
) -> None:
    """Refuse files that could not be written, before anything is spent."""
    from celosia.core.release import certificate_path

    certificate = None if output is None else certificate_path(output)
    places = {"answer": output, "certificate": certificate, "report": report}
    read = [question_file(question), None if ledger is None else Path(ledger)]
    if policy is not None:
        read += [Path(policy), ledger_path(policy)]
    frame.check_outputs(places, inputs=read, overwrite=overwrite)
    if output is not None and output.suffix.lower() != ".json":
        from celosia.frames import format_of

        format_of(output)
