"""What an attacker sees of one question, through Python, over HTTP or on the command line."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection
from typing import Any

from celosia.core.errors import CelosiaError, InputError
from celosia.core.messages import did_you_mean
from celosia.queries.timing_audit.attacks import Attack
from celosia.queries.timing_audit.databases import NeighbourDatabase
from celosia.queries.vault import Vault

EPSILON = 0.01
ANALYST = "ada"
_NUMBER = re.compile(r"-?\d[\d,]*(\.\d+)?(e[-+]?\d+)?|inf(inity)?|null|None|nan", re.I)
_HASH = re.compile(r"[0-9a-f]{16,}")
_SIGN = re.compile(r"((, ?)?\"|Warning: )the released number is below 0[^\"\n]*\"?")
"""What is said of a number that the noise has taken below 0: it follows from that number alone."""
_SPACE = re.compile(r"[\s\u2500-\u257f]+")
"""Tables are as wide as their numbers."""


@dataclass(frozen=True, slots=True)
class Observation:
    """One look at one answer: everything but the released numbers themselves."""

    status: str
    text: str
    """With a mark in the place of each number, hash and time."""
    size: int
    seconds: float
    is_answer: bool = True
    """Whether the question was answered; a refusal is decided before any private row is read."""


Executor = Callable[[Attack], Observation]
Door = Callable[[NeighbourDatabase], AbstractContextManager[Executor]]


def seen_of(status: str, text: str, seconds: float, *, answered: str) -> Observation:
    """A look at an answer, or at a refusal where the status is not the one of answers."""
    plain = _SPACE.sub(" ", _SIGN.sub("", text))
    masked = _NUMBER.sub("#", _HASH.sub("#", plain))
    return Observation(status, masked, len(masked), seconds, status == answered)


@contextmanager
def _vaults(world: NeighbourDatabase) -> Iterator[Callable[[str], Vault]]:
    """The vaults of a world, each opened when it is first asked."""
    with ExitStack() as stack:
        opened: dict[str, Vault] = {}

        def of(policy: str) -> Vault:
            if policy not in opened:
                opened[policy] = stack.enter_context(Vault.open(world.policy(policy)))
            return opened[policy]

        yield of


@contextmanager
def in_process(world: NeighbourDatabase) -> Iterator[Executor]:
    """Calls of `Vault.ask`."""
    with _vaults(world) as vault:

        def ask(attack: Attack) -> Observation:
            asked = vault(attack.policy)
            begun = time.perf_counter()
            try:
                answer = asked.ask(attack.request(EPSILON))
                status, facts = "answer", answer.as_dict()
            except CelosiaError as error:
                status, facts = error.code, error.as_dict()
            seconds = time.perf_counter() - begun
            return seen_of(status, json.dumps(facts, default=str), seconds, answered="answer")

        yield ask


@contextmanager
def over_http(world: NeighbourDatabase) -> Iterator[Executor]:
    """Requests to the service, on a free port of this machine."""
    import httpx

    from celosia.queries.service import TokenStore

    with ExitStack() as stack:
        addresses: dict[str, tuple[str, dict[str, str]]] = {}

        def address(policy: str) -> tuple[str, dict[str, str]]:
            if policy not in addresses:
                store = TokenStore(world.policy(policy).with_suffix(".tokens.sqlite"))
                store.create(role="curator", name="carla")
                token = store.create(role="analyst", name=ANALYST).text
                url = stack.enter_context(_served(world, policy, store))
                addresses[policy] = url, {"Authorization": f"Bearer {token}"}
            return addresses[policy]

        def ask(attack: Attack) -> Observation:
            url, headers = address(attack.policy)
            body = attack.request(EPSILON).query_body()
            begun = time.perf_counter()
            reply = httpx.post(f"{url}/v1/query", json=body, headers=headers, timeout=600)
            seconds = time.perf_counter() - begun
            return seen_of(str(reply.status_code), reply.text, seconds, answered="200")

        yield ask


@contextmanager
def _served(world: NeighbourDatabase, policy: str, store: Any) -> Iterator[str]:
    """The service in a thread, until the end."""
    from threading import Thread

    import uvicorn

    from celosia.queries.service import Limits, create_app

    # As many places as the audit asks at once: who waits for a place learns of other questions.
    limits = Limits(requests_per_minute=1_000_000, concurrent=64, waiting=1_000)
    log = world.policy(policy).with_suffix(".audit.jsonl")
    app = create_app(
        lambda: Vault.open(world.policy(policy)), tokens=store, limits=limits, audit_log=log
    )
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", lifespan="on"))
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        if not thread.is_alive():
            raise AssertionError("the service of the audit has not started")
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(60)


def words_of(world: NeighbourDatabase, attack: Attack) -> list[str]:
    """The words of a question on the command line, after `celosia`."""
    words = ["query", str(world.policy(attack.policy)), attack.query]
    words += ["--epsilon", str(EPSILON), "--delta", str(attack.delta), "--fresh"]
    return words + (["--method", attack.method] if attack.method else [])


@contextmanager
def by_process(world: NeighbourDatabase) -> Iterator[Executor]:
    """The command `celosia query`, with an interpreter that starts for each question."""

    def ask(attack: Attack) -> Observation:
        words = [sys.executable, "-c", "from celosia.cli import main; main()"]
        words += words_of(world, attack)
        begun = time.perf_counter()
        done = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603 - ours
        seconds = time.perf_counter() - begun
        return seen_of(str(done.returncode), done.stdout + done.stderr, seconds, answered="0")

    yield ask


@contextmanager
def by_command(world: NeighbourDatabase) -> Iterator[Executor]:
    """The command `celosia query`, in a process for each question that has loaded Celosía already.

    A server without threads, which has loaded all modules, forks a process for each question. That
    opens the vault, asks, prints and ends, as the command does; only loading is left out, which no
    row has a part in.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["celosia.queries.timing_audit.loaded"])

    def ask(attack: Attack) -> Observation:
        pipes = [context.Pipe(duplex=False) for _ in ("output", "errors")]
        ends = [write for _, write in pipes]
        asking = context.Process(target=run_command, args=(words_of(world, attack), *ends))
        begun = time.perf_counter()
        asking.start()
        for end in ends:
            end.close()
        text = "".join(_printed(read) for read, _ in pipes)  # errors are few: no pipe fills up
        asking.join()
        seconds = time.perf_counter() - begun
        code = str(asking.exitcode)
        asking.close()
        return seen_of(code, text, seconds, answered="0")

    yield ask


def _printed(read: Connection) -> str:
    with read:
        return b"".join(iter(lambda: os.read(read.fileno(), 65_536), b"")).decode()


def run_command(words: list[str], output: Connection, errors: Connection) -> None:
    """Be the command: print to pipes, and exit with its code."""
    for number, pipe in ((1, output), (2, errors)):
        os.dup2(pipe.fileno(), number)
        pipe.close()
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - until its end
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - likewise
    sys.argv = ["celosia", *words]
    import_module("celosia.cli").main()


DOORS: dict[str, Door] = {
    "python": in_process,
    "http": over_http,
    "command": by_command,
    "process": by_process,
}
"""By the names that the command line has for them."""


def door_of(name: str) -> Door:
    """The door of a name."""
    if name not in DOORS:
        raise InputError(
            "CEL-A121.door_of", name=name, hint=did_you_mean(name, DOORS), doors=", ".join(DOORS)
        )
    return DOORS[name]
