"""Ask both databases, many times and in random order, and guess."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from celosia.core.errors import InputError, PrivacyWarning
from celosia.core.progress import Progress, Step, silent
from celosia.core.work_folders import WorkFolder
from celosia.queries.timing_audit.attacks import ATTACKS, Attack
from celosia.queries.timing_audit.doors import Ask, Seen, door_of
from celosia.queries.timing_audit.guessing import chance_of, guessed
from celosia.queries.timing_audit.worlds import make_world

MOST_ACCURATE = 0.55
"""The share of right guesses over all questions up to which nothing is taken to be told."""
SUSPICIOUS = 0.001
"""The chance below which one question alone is a finding, shared among all questions."""
AT_ONCE = {"python": 16, "http": 16, "command": 4}
"""Questions that are under way together: they mostly wait for their deadlines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One attack through one door."""

    door: str
    attack: str
    status: str
    """What the attacker got, most often: an answer, or the code of a refusal."""
    tried: int
    right: int
    seconds: tuple[float, float]
    """The median time without the property, and with it."""

    @property
    def accuracy(self) -> float:
        """The share of right guesses; a half is chance."""
        return self.right / self.tried

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "door": self.door,
            "attack": self.attack,
            "status": self.status,
            "tried": self.tried,
            "right": self.right,
            "accuracy": self.accuracy,
            "seconds": list(self.seconds),
        }


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
    def holds(self) -> bool:
        """Whether nothing was told, as far as these runs show."""
        return self.accuracy <= MOST_ACCURATE and not self.telling

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "accuracy": self.accuracy,
            "holds": self.holds,
            "telling": [each.attack for each in self.telling],
            "findings": [each.as_dict() for each in self.findings],
        }


def audit_timing(
    *,
    runs: int = 20,
    doors: Iterable[str] = ("python",),
    attacks: Sequence[Attack] = ATTACKS,
    seed: int = 1,
    progress: Progress = silent,
) -> TimingAudit:
    """Attack vaults that differ by one property of one person.

    The vaults are real: they draw the system's randomness and keep to their deadlines. So every
    question that is not refused takes its deadline, of a second or more; many are asked at once.

    Args:
        runs: how often each question is asked of each database; at least 2.
        doors: of `DOORS`.
        attacks: the questions.
        seed: of the order in which they are asked, which no secret depends on.
        progress: is told how many questions were asked.

    Raises:
        InputError: CEL-A121 too few runs, or no such door.
    """
    if runs < 2:
        raise InputError(
            "CEL-A121",
            f"a timing audit needs at least 2 runs, got {runs}.",
            why="One half is to learn from, and the other to guess.",
            fix="Leave --runs out for 20; 200 see finer differences.",
        )
    found: list[Finding] = []
    with WorkFolder() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)  # of the large budget
        for name in doors:
            door, at_once = door_of(name), AT_ONCE[name]
            with ExitStack() as stack:
                worlds = [
                    make_world(Path(folder, f"{name}-{each}"), has_property=each)
                    for each in (False, True)
                ]
                asks = [stack.enter_context(door(world)) for world in worlds]
                _warm(asks, attacks)
                seen = _asked(asks, _order(attacks, runs, seed), at_once, progress)
                found += [_finding(name, each, seen[each, 0], seen[each, 1]) for each in attacks]
    return TimingAudit(tuple(found))


def _warm(asks: Sequence[Ask], attacks: Sequence[Attack]) -> None:
    """Ask once in each language: what the first question loads is no secret."""
    for ask in asks:
        for attack in {each.language: each for each in attacks}.values():
            ask(attack)


def _order(attacks: Sequence[Attack], runs: int, seed: int) -> list[tuple[Attack, int]]:
    """Each attack on each of the two databases, so many times, in random order."""
    order = [(attack, world) for attack in attacks for world in (0, 1) for _ in range(runs)]
    random.Random(seed).shuffle(order)  # noqa: S311 - no secret
    return order


def _asked(
    asks: Sequence[Ask], order: list[tuple[Attack, int]], at_once: int, progress: Progress
) -> dict[tuple[Attack, int], list[Seen]]:
    """What was seen of each attack on each database."""
    seen: dict[tuple[Attack, int], list[Seen]] = {}
    with ThreadPoolExecutor(at_once) as pool:
        answers = pool.map(lambda each: asks[each[1]](each[0]), order)
        for done, (asked, answer) in enumerate(zip(order, answers, strict=True)):
            progress(Step("Asking", done, len(order)))
            seen.setdefault(asked, []).append(answer)
    return seen


def _finding(door: str, attack: Attack, without: list[Seen], having: list[Seen]) -> Finding:
    statuses = [each.status for each in (*without, *having)]
    return Finding(
        door=door,
        attack=attack.name,
        status=max(set(statuses), key=statuses.count),
        tried=2 * (len(without) - len(without) // 2),
        right=guessed(without, having),
        seconds=(_median(without), _median(having)),
    )


def _median(seen: list[Seen]) -> float:
    return sorted(each.seconds for each in seen)[len(seen) // 2]
