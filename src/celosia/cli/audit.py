"""`celosia audit`: try to disprove the privacy claims of mechanisms from their outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from celosia.cli import console
from celosia.cli.callables import guard_callable, load_callable, parse_json
from celosia.cli.frame import ReportOutputs
from celosia.cli.timing import timing
from celosia.core.errors import InputError, PrivacyError
from celosia.core.messages import Message, did_you_mean, say

if TYPE_CHECKING:
    from celosia.assess.audit import Audit, Case
    from celosia.core.progress import Progress
    from celosia.core.randomness import Source
    from celosia.lab.mechanisms.broken import BrokenMechanism

FEW, MANY = 1_500, 100_000
"""Samples of outputs that are drawn one by one, and many at once."""
MOST, TOGETHER = 20_000, 60_000
"""Samples one by one, of a single mechanism and of all together: half a minute is enough."""


@dataclass(frozen=True, slots=True)
class AuditTarget:
    """Something to audit: what it is called, how, and whether it must be caught."""

    name: str
    audit: Callable[..., Audit]
    samples: int
    broken: bool = False


def find_audit_targets(only: Sequence[str] | None, *, broken: bool) -> list[AuditTarget]:
    """What ships and, with `broken`, published mistakes; all of them, or those of some names.

    Raises:
        InputError: CEL-A120 a name is not known.
    """
    from celosia.assess.audit import SHIPPED

    known = [_case(case) for case in SHIPPED]
    if broken:
        from celosia.lab.mechanisms.broken import BROKEN

        known += [_mistake(mistake) for mistake in BROKEN]
    return _with_enough_samples(_select(known, only) if only else known)


def _select(known: Sequence[AuditTarget], only: Sequence[str]) -> list[AuditTarget]:
    names = sorted({target.name for target in known})
    plain = {_plain(name): name for name in names}
    for name in only:
        if _plain(name) not in plain:
            raise InputError(
                "CEL-A120", name=name, hint=did_you_mean(name, names), names=", ".join(names)
            )
    wanted = {plain[_plain(name)] for name in only}
    return [target for target in known if target.name in wanted]


def _with_enough_samples(targets: list[AuditTarget]) -> list[AuditTarget]:
    """More samples for outputs that are drawn one by one, where few are to be audited."""
    slow = sum(target.samples == FEW for target in targets)
    room = min(MOST, max(FEW, TOGETHER // max(1, slow)))
    return [
        replace(target, samples=room) if target.samples == FEW else target for target in targets
    ]


def _plain(name: str) -> str:
    return name.casefold().replace("-", "").replace("_", "")


def _case(case: Case) -> AuditTarget:
    return AuditTarget(type(case.mechanism).__name__, case.audit, MANY if case.at_once else FEW)


def _mistake(mistake: BrokenMechanism) -> AuditTarget:
    from celosia.assess.audit import audit as audit_pair
    from celosia.lab.mechanisms.broken import BrokenFloatLaplace

    name = type(mistake).__name__

    def draw(data: Any, rng: Source, size: int) -> Any:
        return mistake.run(data, rng=rng, size=size)

    def run(**options: Any) -> Audit:
        return audit_pair(
            draw,
            *mistake.neighbours,
            claim=mistake.claimed_epsilon,
            name=name,
            pair="the neighbours that show its flaw",
            # All of them draw floats; the others must be caught by what they are an example of.
            last_bits=isinstance(mistake, BrokenFloatLaplace),
            **options,
        )

    return AuditTarget(name, run, MANY, broken=True)


FUNCTION_SAMPLES = 50_000
"""Samples of a user's function without --samples."""


def audit(
    outputs: ReportOutputs,
    target: Annotated[
        str | None,
        "argument FILE.py:NAME",
        "Your own function of data and rng. Default: audit the mechanisms of Celosía.",
    ] = None,
    first: Annotated[str | None, "JSON", "With your function: an input."] = None,
    second: Annotated[str | None, "JSON", "With your function: its neighbour."] = None,
    claim: Annotated[float | None, "EPSILON", "The epsilon that your function claims."] = None,
    delta: Annotated[float, "With --claim: the delta of the claim."] = 0.0,
    only: Annotated[list[str] | None, "NAME", "Audit this mechanism only; may be repeated."] = None,
    broken: Annotated[
        bool, "--broken", "Also audit published mistakes, which the audit must detect."
    ] = False,
    samples: Annotated[
        int | None, "Number of outputs for each input; more outputs detect smaller violations."
    ] = None,
    confidence: Annotated[float, "Joint confidence of all lower bounds."] = 0.999,
    detect_epsilon: Annotated[
        float | None, "With your function: draw until a violation of this epsilon would be shown."
    ] = None,
    detect_delta: Annotated[
        float | None, "With your function: draw until a leak of this chance would be shown."
    ] = None,
    seed: Annotated[int | None, "Seed for the random draws."] = None,
) -> None:
    """Audit mechanisms by their outputs: exit code 1 if one loses more privacy than it claims.

    Each is run many times on two neighbouring inputs. A lower bound above the claim proves a
    violation; one below it proves nothing. A function of yours may also be `f(data, rng, size)`,
    which returns many outputs at once; `rng.integers(bound, size)` draws whole numbers.

    **Examples**

    `celosia audit`  (every mechanism that ships; half a minute)

    `celosia audit --only Laplace --only NoisyMax --samples 100000 --report audit.html`

    `celosia audit --broken --only BrokenNoisyMax`  (published mistakes, which must be caught)

    `celosia audit my_module.py:noisy_count --first '[1, 2, 3]' --second '[1, 2]' --claim 0.5`

    `celosia audit my_module.py:noisy_count --first 3 --second 2 --claim 1 --detect-delta 1e-3`
    """
    from celosia.assess.audit import document
    from celosia.core.randomness import source

    outputs.check()
    rng = source(seed)
    settings = {"samples": samples, "confidence": confidence, "rng": rng}
    found: list[Audit] = []
    shown: list[Audit] = []
    with outputs.working(None) as progress:
        if target is not None:
            _refuse(only=only, broken=broken or None)
            settings |= {"detect_epsilon": detect_epsilon, "detect_delta": detect_delta}
            found = [_audit_function(target, first, second, claim, delta, settings, progress)]
        else:
            _refuse(first=first, second=second, claim=claim, delta=delta or None)
            _refuse(**{"detect-epsilon": detect_epsilon, "detect-delta": detect_delta})
            found, shown = _audit_cases(find_audit_targets(only, broken=broken), settings, progress)
    everything = [*found, *shown]
    outputs.write_report(lambda: document(everything))
    wrong = [each for each in found if each.verdict == "violated"]
    missed = [each for each in shown if each.verdict != "violated"]
    if wrong or missed:
        if not outputs.as_json:
            _show(everything)
            console.show_files(outputs.files())
        raise _failure(wrong, missed, everything)
    outputs.show(
        lambda: _facts(found, shown),
        lambda: _show(everything),
        _summary(found, shown, own=target is not None),
    )


def audit_private_queries(
    outputs: ReportOutputs,
    only: Annotated[
        list[str] | None, "NAME", "Audit this kind of question only; may be repeated."
    ] = None,
    runs: Annotated[
        int, typer.Option(min=100, help="Answers to each question on each database.")
    ] = 2_500,
    confidence: Annotated[float, "Joint confidence of all lower bounds."] = 0.999,
    seed: Annotated[int | None, "Seed for the random draws."] = None,
) -> None:
    """Audit private SQL by its answers: exit code 1 if a question loses more than it is charged.

    Each kind of question is answered many times on two small databases that differ in one patient
    with all their rows. A lower bound above the charge proves a violation; its part of the charge
    is the power of the test.

    **Examples**

    `celosia audit queries`  (every kind of question; some minutes)

    `celosia audit queries --only "first row" --only "left join" --runs 10000`
    """
    from celosia.assess.audit import document
    from celosia.core.randomness import source
    from celosia.queries.neighbour_audit import audit_queries

    outputs.check()
    with outputs.working(None) as progress:
        found = audit_queries(
            only, runs=runs, confidence=confidence, rng=source(seed), progress=progress
        )
    outputs.write_report(lambda: document(found))
    wrong = [each for each in found if each.verdict == "violated"]
    if wrong:
        if not outputs.as_json:
            _show(found)
            console.show_files(outputs.files())
        raise _failure(wrong, [], found)
    outputs.show(lambda: _facts(found, []), lambda: _show(found), _summary(found, [], own=False))


class _WithDefault(TyperGroup):
    """`celosia audit ...` without the name of an audit means `celosia audit mechanisms ...`."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        if not args or args[0] not in {*self.commands, "-h", "--help"}:
            args = ["mechanisms", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_WithDefault,
    help="Test the privacy guarantees: mechanisms by their outputs (the default), and "
    "private queries by their answers, and by the time, failures and sizes of these.\n\n"
    "**Examples**\n\n`celosia audit --only Laplace`\n\n`celosia audit queries`\n\n"
    "`celosia audit timing --runs 20`",
    rich_markup_mode="markdown",
)
app.command("mechanisms")(audit)
app.command("queries")(audit_private_queries)
app.command("timing")(timing)


def _refuse(**given: object) -> None:
    """Refuse options of the other way to audit."""
    idle = [f"--{name}" for name, value in given.items() if value not in (None, [])]
    if idle:
        raise InputError("CEL-A121.idle", option=idle[0])


def _audit_function(
    target: str,
    first: str | None,
    second: str | None,
    claim: float | None,
    delta: float,
    settings: dict[str, Any],
    progress: Progress,
) -> Audit:
    from celosia.assess.audit import audit as audit_pair
    from celosia.assess.audit.result import Claim
    from celosia.mechanisms import Mechanism

    if first is None or second is None:
        raise InputError("CEL-A121.audit_function")
    inputs = parse_json(first, option="--first"), parse_json(second, option="--second")
    claimed = None if claim is None else Claim(claim, delta)
    with load_callable(target) as found:
        ours = isinstance(found, Mechanism)
        return audit_pair(
            found if ours else guard_callable(found, name=target),
            *inputs,
            claim=claimed,
            name=str(found) if ours else target,
            progress=progress,
            **{**settings, "samples": settings["samples"] or FUNCTION_SAMPLES},
        )


def _audit_cases(
    suspects: Sequence[AuditTarget], settings: dict[str, Any], progress: Progress
) -> tuple[list[Audit], list[Audit]]:
    """The audits of what must hold, and of what must be caught; all bounds hold together."""
    from celosia.core.progress import Step
    from celosia.mechanisms.parameters import check_confidence

    # An equal part of the error for each, as in `audit_all`, whose samples are the same for all.
    confidence = check_confidence(settings["confidence"])
    each = 1 - (1 - confidence) / len(suspects)
    found: tuple[list[Audit], list[Audit]] = ([], [])
    for done, suspect in enumerate(suspects):
        progress(Step(Message("cli.step.auditing", name=suspect.name), done, len(suspects)))
        samples = suspect.samples if settings["samples"] is None else settings["samples"]
        result = suspect.audit(samples=samples, confidence=each, rng=settings["rng"])
        found[suspect.broken].append(replace(result, confidence=confidence))
    return found


def _show(audits: Sequence[Audit]) -> None:
    console.show_table(
        say("cli.audit.privacy_loss_mechanisms_claimed"),
        console.columns(
            *("mechanism", "claim", "at_least:.4f", "verdict", "detectable", "samples:,")
        ),
        [
            [
                *(each.name, _claim_text(each), each.lower, each.verdict),
                *(_detectable(each), each.samples),
            ]
            for each in audits
        ],
    )
    for each in audits:
        if each.verdict == "violated" or len(audits) == 1:
            console.show(str(each))


def _detectable(each: Audit) -> str:
    """The smallest epsilon and leak that would have been shown; nothing where one was."""
    if each.detectable is None or each.verdict != "consistent":
        return ""
    return f"{each.detectable.epsilon:.2f}; {each.detectable.delta:.1g}"


def _claim_text(each: Audit) -> str:
    """The claim, shortly: an epsilon, or epsilon and delta in brackets."""
    if each.claim is None:
        return say("cli.word.none")
    epsilon, delta = f"{each.claim.epsilon:.3g}", each.claim.delta
    return f"({epsilon}, {delta:g})" if delta else epsilon


def _facts(found: Sequence[Audit], shown: Sequence[Audit]) -> dict[str, Any]:
    return {
        "audits": [each.as_dict() for each in found],
        "broken": [each.as_dict() for each in shown],
        "violated": sum(each.verdict == "violated" for each in found),
        "caught": sum(each.verdict == "violated" for each in shown),
    }


def _summary(found: Sequence[Audit], shown: Sequence[Audit], *, own: bool) -> str:
    if own:
        (only,) = found
        if only.claim is None:
            return say("cli.audit.no_claim", lower=only.lower)
        return say("cli.audit.holds", claim=only.claim, lower=only.lower)
    parts = []
    if found:
        parts.append(say("cli.audit.none_violated", audits=len(found)))
    if shown:
        parts.append(say("cli.audit.all_detected", mistakes=len(shown)))
    return "; ".join(parts)


def _failure(
    wrong: Sequence[Audit], missed: Sequence[Audit], audits: Sequence[Audit]
) -> PrivacyError:
    facts = [each.as_dict() for each in audits]
    if wrong:
        names = ", ".join(dict.fromkeys(each.name for each in wrong))
        return PrivacyError("CEL-A126", wrong=len(wrong), names=names, audits=facts)
    names = ", ".join(each.name for each in missed)
    return PrivacyError("CEL-A127", names=names, audits=facts)
