"""Ask both databases, many times and in random order, and guess."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import comb
from pathlib import Path
from typing import Any

from celosia.core.errors import CelosiaError, InputError, PrivacyWarning
from celosia.core.messages import Message
from celosia.core.methods import PlainValues, derived
from celosia.core.progress import Progress, Step, silent
from celosia.core.resources import WorkFolder
from celosia.queries.timing_audit.attacks import ATTACKS, Attack
from celosia.queries.timing_audit.databases import make_database
from celosia.queries.timing_audit.doors import EPSILON, Observation, door_of
from celosia.queries.timing_audit.question_runs import QuestionRuns, ask_in_processes
from celosia.queries.vault import Vault

Rule = Callable[[Observation], bool]
"""Guesses whether the person has the property."""


def guess(without: Sequence[Observation], having: Sequence[Observation]) -> int:
    """How many of the second halves of both a rule guesses right that was learnt on the first.

    Of the rules by status, text, size and time, the one is taken that did best on the first halves.
    """
    half = len(without) // 2
    learnt = [(each, False) for each in without[:half]] + [(each, True) for each in having[:half]]
    tried = [(each, False) for each in without[half:]] + [(each, True) for each in having[half:]]
    rules = [
        _by_kind(learnt, lambda seen: seen.status),
        _by_kind(learnt, lambda seen: seen.text),
        _by_threshold(learnt, lambda seen: float(seen.size)),
        _by_threshold(learnt, lambda seen: seen.seconds),
    ]
    best = max(rules, key=lambda rule: _right(rule, learnt))
    return _right(best, tried)


def chance_of(right: int, tried: int) -> float:
    """The chance to guess at least so many right by tossing a fair coin.

    >>> chance_of(2, 2), chance_of(0, 9)
    (0.25, 1.0)
    """
    ways: int = sum(comb(tried, each) for each in range(right, tried + 1))
    return float(Fraction(ways, 2**tried))


def _right(rule: Rule, labelled: Sequence[tuple[Observation, bool]]) -> int:
    return sum(rule(seen) == label for seen, label in labelled)


def _by_kind(
    labelled: Sequence[tuple[Observation, bool]], kind: Callable[[Observation], str]
) -> Rule:
    """By which of the two a status or text was seen more often."""
    having = Counter(kind(seen) for seen, label in labelled if label)
    without = Counter(kind(seen) for seen, label in labelled if not label)
    return lambda seen: having[kind(seen)] > without[kind(seen)]


def _by_threshold(
    labelled: Sequence[tuple[Observation, bool]], number: Callable[[Observation], float]
) -> Rule:
    """By whether a number is above the threshold that tells them apart best, or below it."""
    numbers = sorted({number(seen) for seen, _ in labelled})
    rules: list[Rule] = [lambda _: False]
    for below, above in pairwise(numbers):
        cut = (below + above) / 2
        rules += [partial(_is_above, number, cut), partial(_is_below, number, cut)]
    return max(rules, key=lambda rule: _right(rule, labelled))


def _is_above(number: Callable[[Observation], float], cut: float, seen: Observation) -> bool:
    return number(seen) > cut


def _is_below(number: Callable[[Observation], float], cut: float, seen: Observation) -> bool:
    return number(seen) <= cut


MOST_ACCURATE = 0.55
"""The share of right guesses over all questions up to which nothing is taken to be told."""
SUSPICIOUS = 0.001
"""The chance below which one question alone is a finding, shared among all questions."""
REFUSED_RUNS = 20
"""How often a refused question is asked of each database: its refusal reads no private row."""
AT_ONCE = {"python": 6, "http": 6, "command": 3, "process": 1}
"""Questions that a process has under way together: they mostly wait for their deadlines. On a busy
machine with two cores a question took 0.04 to 0.2 s of a core in Python, and 0.3 to 0.7 s by a
command. Whether these numbers fit a machine is seen in `TimingAudit.late`."""
TOLERANCE = {"python": 0.5, "http": 0.5, "command": 1.0, "process": 4.0}
"""Seconds after its deadline from which an answer counts as late. It is planned and charged before
its time begins; a command also opens the vault, and a new process loads Python before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(PlainValues):
    """One attack through one door."""

    door: str
    attack: str
    status: str
    """What the attacker got, most often: an answer, or the code of a refusal."""
    tried: int
    right: int
    seconds: tuple[float, float]
    """The median time without the property, and with it."""
    runs: int
    """How often each database was asked; refused questions are asked less often."""
    answered: int = 0
    """How many questions were answered, of both databases."""
    deadline: float | None = None
    """When an answer leaves, in seconds from its charge; None where none is given."""
    late: int = 0
    """How many answers came later than the deadline and the tolerance of the door."""

    @property
    @derived
    def accuracy(self) -> float:
        """The share of right guesses; a half is chance."""
        return self.right / self.tried


@dataclass(frozen=True, slots=True)
class TimingAudit:
    """All attacks, and whether any of them learnt something."""

    findings: tuple[Finding, ...]

    @property
    def accuracy(self) -> float:
        """The share of right guesses over all attacks."""
        tried = sum(each.tried for each in self.findings)
        return sum(each.right for each in self.findings) / tried

    @property
    def telling(self) -> tuple[Finding, ...]:
        """Attacks that were right too often for chance, all of them taken together."""
        limit = SUSPICIOUS / len(self.findings)
        return tuple(each for each in self.findings if chance_of(each.right, each.tried) < limit)

    @property
    def answers(self) -> int:
        """Questions that were answered, and not refused."""
        return sum(each.answered for each in self.findings)

    @property
    def late(self) -> int:
        """Answers that came later than their deadline and the tolerance of the door."""
        return sum(each.late for each in self.findings)

    @property
    def holds(self) -> bool:
        """Whether nothing was told, as far as these runs show."""
        return self.accuracy <= MOST_ACCURATE and not self.telling

    def as_dict(self) -> dict[str, Any]:
        return {
            "accuracy": self.accuracy,
            "holds": self.holds,
            "answers": self.answers,
            "late": self.late,
            "tolerance": {name: TOLERANCE[name] for name in {f.door: 0 for f in self.findings}},
            "refused_runs": REFUSED_RUNS,
            "telling": [each.attack for each in self.telling],
            "findings": [each.as_dict() for each in self.findings],
        }


def audit_timing(
    *,
    runs: int = 20,
    doors: Iterable[str] = ("python",),
    attacks: Sequence[Attack] = ATTACKS,
    processes: int = 1,
    at_once: int | None = None,
    seed: int = 1,
    progress: Progress = silent,
) -> TimingAudit:
    """Attack vaults that differ by one property of one person.

    The vaults are real: they draw the system's randomness and keep to their deadlines. So every
    question that is not refused takes its deadline, of a second or more; many are asked at once. A
    refusal is decided before any private row is read, so refused questions are asked less often.

    Args:
        runs: how often each question is asked of each database; at least 2.
        doors: of `DOORS`.
        attacks: the questions.
        processes: that ask, each its own pair of databases; as many as there are cores is best.
        at_once: questions that a process has under way together; by the door if None. With more
            than the machine can answer, answers are late: see `TimingAudit.late`.
        seed: of the order in which they are asked, which no secret depends on.
        progress: is told how many questions were asked.

    Raises:
        InputError: CEL-A121 too few runs, or no such door.
        EngineError: CEL-A294 a process has ended before its time.
    """
    for name, number, least in (("runs", runs, 2), ("processes", processes, 1)):
        if number < least:
            raise InputError("CEL-A121.audit_timing", least=least, name=name, number=number)
    doors = tuple(doors)
    for name in doors:
        door_of(name)
    found: list[Finding] = []
    with WorkFolder() as folder:
        deadlines = _deadlines(Path(folder, "plans"), attacks)
        for name in doors:
            seen: dict[tuple[str, int], list[Observation]] = {}
            total = 2 * sum(_runs(runs, deadlines[each.name]) for each in attacks)
            done, stage = 0, Message("queries.stage.asking", door=name)

            def report(attack: Attack, world: int, look: Observation) -> None:
                nonlocal done
                done += 1
                seen.setdefault((attack.name, world), []).append(look)  # noqa: B023 - used at once
                progress(Step(stage, done, total))  # noqa: B023 - likewise

            parts = [
                QuestionRuns(
                    door=name,
                    attacks=tuple(attacks),
                    runs=_share(runs, number, processes),
                    refused_runs=_share(min(runs, REFUSED_RUNS), number, processes),
                    at_once=AT_ONCE[name] if at_once is None else at_once,
                    folder=Path(folder, f"{name}-{number}"),
                    seed=seed + number,
                )
                for number in range(min(processes, runs))
            ]
            if len(parts) == 1:
                parts[0].ask(report)
            else:
                ask_in_processes(parts, report)
            found += [
                _finding(name, each, seen[each.name, 0], seen[each.name, 1], deadlines[each.name])
                for each in attacks
            ]
    return TimingAudit(tuple(found))


def _share(runs: int, number: int, processes: int) -> int:
    """How many of some runs a process takes."""
    return runs // processes + (number < runs % processes)


def _runs(runs: int, deadline: float | None) -> int:
    return runs if deadline is not None else min(runs, REFUSED_RUNS)


def _deadlines(folder: Path, attacks: Sequence[Attack]) -> dict[str, float | None]:
    """When each question is answered, as its plan says; None where it is refused."""
    found: dict[str, float | None] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)  # of the large budget
        world = make_database(folder, has_property=False)
        for policy in dict.fromkeys(each.policy for each in attacks):
            with Vault.open(world.policy(policy)) as vault:
                for each in attacks:
                    if each.policy == policy:
                        try:
                            plan = vault.plan(each.request(EPSILON))
                            found[each.name] = plan.deadline
                        except CelosiaError:
                            found[each.name] = None
    return found


def _finding(
    door: str,
    attack: Attack,
    without: list[Observation],
    having: list[Observation],
    deadline: float | None,
) -> Finding:
    both = [*without, *having]
    statuses = [each.status for each in both]
    limit = None if deadline is None else deadline + TOLERANCE[door]
    return Finding(
        door=door,
        attack=attack.name,
        status=max(set(statuses), key=statuses.count),
        tried=2 * (len(without) - len(without) // 2),
        right=guess(without, having),
        seconds=(_median(without), _median(having)),
        runs=len(without),
        answered=sum(each.is_answer for each in both),
        deadline=deadline,
        late=0 if limit is None else sum(each.seconds > limit for each in both),
    )


def _median(seen: list[Observation]) -> float:
    return sorted(each.seconds for each in seen)[len(seen) // 2]
