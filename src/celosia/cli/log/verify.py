"""`celosia log verify`: count again whether a published file keeps its promise."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from celosia.cli.frame import JsonOutputs
from celosia.cli.log.input_options import LogInput, read_items
from celosia.core.errors import InputError, PrivacyError
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.logs import UserThreshold


def verify(
    release: Annotated[Path, "argument", "The published file."],
    method: Annotated[str, "--method NAME[:KEY=VALUE,...]", "The method that made the promise."],
    given: LogInput,
    outputs: JsonOutputs,
    original: Annotated[
        Path | None, "The original log, for user-threshold: who asked what."
    ] = None,
    sensitive: Annotated[
        Path | None, "File with one sensitive item a line, where the method has."
    ] = None,
) -> None:
    """Count in the published file whether it keeps its promise.

    The check shares no code with the methods and believes no certificate. A broken promise ends
    the command with an error and with the number of sets or queries that break it.

    **Examples**

    `celosia log verify safe.txt --method km-anonymity:5,2`

    `celosia log verify safe.json --method disassociation:5,2`

    `celosia log verify safe.txt --method rho-uncertainty:0.5,2 --sensitive secret.txt`

    `celosia log verify safe.csv --method user-threshold:5 --original access.log`
    """
    from celosia.logs import SetContext, SetMethod, UserThreshold, method_from_text
    from celosia.logs.account import count_violations
    from celosia.logs.matching import read_set_release

    promised = method_from_text(method)
    with outputs.working():
        if isinstance(promised, SetMethod):
            made = read_set_release(release)
            context = SetContext(sensitive=frozenset(read_items(sensitive)))
            found = count_violations(made, promised, context, in_full=True)
        elif isinstance(promised, UserThreshold):
            found = _queries_of_few(release, original, given, promised)
        else:
            raise InputError("CEL-U048", method=promised.method_name)
    if found:
        raise PrivacyError("CEL-U047", path=str(release), method=method, count=found)
    outputs.show(
        lambda: {"method": promised.as_dict(), "violations": found},
        None,
        say("cli.log.verified", method=method),
    )


def _queries_of_few(
    release: Path, original: Path | None, given: LogInput, method: UserThreshold
) -> int:
    from celosia.logs.matching import open_release
    from celosia.logs.records.verification import queries_of_few

    if original is None:
        raise InputError("CEL-U048.original", method=method.method_name)
    log = given.read(original)
    codes, texts = log.queries
    shown, names = open_release(release, log.declaration).queries
    return sum(
        1
        for _ in queries_of_few(
            log.people.tolist(), texts.gather(codes), names.gather(shown), method.k
        )
    )
