"""Processes that charge a ledger and are killed: run as a program, its task as JSON on stdin.

One process loads everything once and forks the others, so that hundreds of them cost little. What a
process was told before it died is in a file, each line written in one call.
"""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from celosia.accounting.ledger import Ledger, Request, Reservation
from celosia.accounting.ledger.sqlite_file import SqliteConnection
from celosia.core.errors import BudgetExceeded, EngineError

LAST = 200
"""More steps than one question takes."""


def opened(task: dict[str, Any]) -> Ledger:
    total = (Fraction(task["total"]), 0)
    return Ledger.open(
        task["place"], dataset="shop", policy_hash="p1", total=total, patience=task["patience"]
    )


def asking(question: str, task: dict[str, Any]) -> Request:
    return Request(analyst="ada", question=question, epsilon=Fraction(task["epsilon"]))


def tell(task: dict[str, Any], *words: object) -> None:
    """Say in the file what has been acknowledged; the file is not what is killed here."""
    target = os.open(task["log"], os.O_APPEND | os.O_WRONLY | os.O_CREAT)
    os.write(target, (" ".join(map(str, words)) + "\n").encode())
    os.close(target)


def forked(work: Callable[[], None]) -> int:
    child = os.fork()
    if child:
        return child
    try:
        work()
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
        os._exit(1)
    os._exit(0)


def die_at(count: int) -> Callable[..., None]:
    """A step that kills its process the given time that it is taken."""
    left = [count]

    def step(*_: object, **__: object) -> None:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    return step


def take_at_statements(step: Callable[..., None]) -> None:
    """Take a step before and after whatever a database is told, the end of a transaction too."""
    for name in ("begin", "before_cursor_execute", "after_cursor_execute", "commit"):
        sa.event.listen(sa.Engine, name, step)
    usual = SqliteConnection.execute

    def execute(self: SqliteConnection, statement: str, **values: Any) -> Any:
        step()
        found = usual(self, statement, **values)
        step()
        return found

    SqliteConnection.execute = execute  # type: ignore[method-assign]


def steps(task: dict[str, Any]) -> dict[str, Any]:
    """Ask a question and die at the first step, another one and die at the second, and so on."""

    def ask(number: int) -> None:
        step = die_at(number)
        ledger = None if task["opening"] else opened(task)
        take_at_statements(step)
        ledger = ledger or opened(task)
        step()
        reservation = ledger.reserve(asking(f"q{number}", task))
        step()
        assert isinstance(reservation, Reservation)
        tell(task, "reserved", number)
        step()
        tell(task, "touched", number)
        ledger.seal(reservation, {"value": number})
        step()
        tell(task, "sealed", number)
        step()

    for number in range(1, LAST):
        _, status = os.waitpid(forked(partial(ask, number)), 0)
        if not os.WIFSIGNALED(status):
            return {"steps": number, "exit": os.waitstatus_to_exitcode(status)}
    raise AssertionError("it has more steps")


def race(task: dict[str, Any]) -> dict[str, Any]:
    """Many processes charge at once until nothing is left; some of them are killed."""
    chance = random.Random(task["seed"])

    def charge(name: str) -> None:
        ledger, number = opened(task), 0
        while True:
            try:
                reservation = ledger.reserve(asking(f"{name}-{number}", task))
            except BudgetExceeded:
                return
            assert isinstance(reservation, Reservation)
            tell(task, "reserved", reservation.sequence)
            if number % 3:
                ledger.seal(reservation, {"value": number})
                tell(task, "sealed", reservation.sequence)
            number += 1

    started = 0
    running: set[int] = set()
    killed = failed = 0
    while True:
        while len(running) < task["processes"] and failed == 0 and started < task["starts"]:
            name = f"p{started}"
            running.add(forked(partial(charge, name)))
            started += 1
        if not running:
            return {"killed": killed, "failed": failed, "started": started}
        time.sleep(chance.uniform(0.0, 0.01))
        # Spread over the whole race, which is as long as the budget lasts.
        done = Path(task["log"]).read_text("utf-8").count("reserved")
        if killed < task["kills"] and done > killed * task["every"]:
            os.kill(chance.choice(sorted(running)), signal.SIGKILL)
            killed += 1
        for child in tuple(running):
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                running.discard(child)
                failed += not os.WIFSIGNALED(status) and status != 0


def full(task: dict[str, Any]) -> dict[str, Any]:
    """Charge until the disk has no room: no file may grow beyond a limit."""

    def charge() -> None:
        ledger = opened(task)
        files = [Path(task["place"]), Path(task["place"] + "-wal")]
        limit = max(file.stat().st_size for file in files) + task["room"]
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
        for number in range(10_000):
            try:
                reservation = ledger.reserve(asking(f"full-{number}", task))
            except EngineError as error:
                resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
                tell(task, "refused", error.code)
                break
            assert isinstance(reservation, Reservation)
            tell(task, "reserved", reservation.sequence)
        reservation = ledger.reserve(asking("room again", task))  # by the same open ledger
        assert isinstance(reservation, Reservation)
        tell(task, "reserved", reservation.sequence)

    _, status = os.waitpid(forked(charge), 0)
    return {"exit": os.waitstatus_to_exitcode(status)}


if __name__ == "__main__":
    wanted = json.load(sys.stdin)
    print(json.dumps({"steps": steps, "race": race, "full": full}[wanted["do"]](wanted)))
