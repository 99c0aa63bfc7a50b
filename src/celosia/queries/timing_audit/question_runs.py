"""Ask both databases, many at once, in one process or in several."""

from __future__ import annotations

import multiprocessing
import random
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from queue import Empty
from typing import Any

from celosia.core.errors import EngineError, PrivacyWarning
from celosia.queries.timing_audit.attacks import Attack
from celosia.queries.timing_audit.databases import make_database
from celosia.queries.timing_audit.doors import Executor, Observation, door_of

PATIENCE = 5.0
"""Seconds without an answer after which it is looked whether the other processes are alive."""

OnObservation = Callable[[Attack, int, Observation], None]
"""Called with each look at an answer: of which attack, on which of the two databases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionRuns:
    """What one process asks: through which door, how often, and how many at once."""

    door: str
    attacks: tuple[Attack, ...]
    runs: int
    refused_runs: int
    at_once: int
    folder: Path
    seed: int

    def ask(self, report: OnObservation) -> None:
        """Ask everything, in random order. Refused questions are asked a few times only."""
        with ExitStack() as stack, warnings.catch_warnings():
            warnings.simplefilter("ignore", PrivacyWarning)  # of the large budget
            worlds = [make_database(self.folder / str(i), has_property=bool(i)) for i in (0, 1)]
            asks = [stack.enter_context(door_of(self.door)(world)) for world in worlds]
            _load(asks, self.attacks)
            first = [(attack, world) for attack in self.attacks for world in (0, 1)]
            answered = {
                each for each, _, seen in self._asked(asks, first, report) if seen.is_answer
            }
            rest = [
                (attack, world)
                for attack in self.attacks
                for world in (0, 1)
                for _ in range(1, self.runs if attack in answered else self.refused_runs)
            ]
            random.Random(self.seed).shuffle(rest)  # noqa: S311 - no secret
            self._asked(asks, rest, report)

    def _asked(
        self, asks: Sequence[Executor], order: list[tuple[Attack, int]], report: OnObservation
    ) -> list[tuple[Attack, int, Observation]]:
        found = []
        with ThreadPoolExecutor(self.at_once) as pool:
            answers = pool.map(lambda each: asks[each[1]](each[0]), order)
            for (attack, world), seen in zip(order, answers, strict=True):
                report(attack, world, seen)
                found.append((attack, world, seen))
        return found


def _load(asks: Sequence[Executor], attacks: Sequence[Attack]) -> None:
    """Ask once under each policy, and once by each method: what is loaded then is no secret."""
    firsts = {(each.policy, "join" in each.name): each for each in attacks}
    for ask in asks:
        for attack in firsts.values():
            ask(attack)


def ask_in_processes(parts: Sequence[QuestionRuns], report: OnObservation) -> None:
    """Let each part be asked by a process of its own.

    Python runs one thread at a time: in a single process, the planning of some questions would
    delay the answers of others, and the clock would see it.
    """
    context = multiprocessing.get_context("spawn")
    queue: Any = context.Queue()
    processes = [context.Process(target=_work, args=(part, queue)) for part in parts]
    for process in processes:
        process.start()
    try:
        left = len(parts)
        while left:
            try:
                found = queue.get(timeout=PATIENCE)
            except Empty:
                if any(process.exitcode for process in processes):
                    raise EngineError("CEL-A294") from None
                continue
            if found is None:
                left -= 1
            else:
                report(*found)
        for process in processes:
            process.join()
    finally:
        for process in processes:
            if process.is_alive():
                process.terminate()
                process.join()


def _work(part: QuestionRuns, queue: Any) -> None:
    part.ask(lambda *found: queue.put(found))
    queue.put(None)
