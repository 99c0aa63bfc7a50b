"""The memory of a device: kept answers, a budget for life, and what may happen to its file."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from celosia.collect.memory import KeptAnswers, Memory
from celosia.collect.numbers.dbitflip import DBitFlip
from celosia.collect.rappor.rappor import Rappor
from celosia.core.errors import BudgetExceeded, InputError, PrivacyError
from celosia.core.randomness import Seeded, Source

PROTOCOL = DBitFlip(epsilon=1, buckets=8, bits=2)
ONE = Fraction(1)


def eight(rng: Source) -> bytes:
    return rng.raw(8)


def number(at: int) -> bytes:
    return at.to_bytes(4, "little")


def test_an_answer_is_drawn_once_and_paid_once(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path / "device", budget=3)
    first = memory.recall(PROTOCOL, b"case", eight, price=ONE)
    again = Memory.open(tmp_path / "device").recall(PROTOCOL, b"case", eight, price=ONE)
    assert first == again
    assert memory.spent == 1
    assert memory.recall(PROTOCOL, b"other", eight, price=ONE) != first
    assert memory.spent == 2


def test_the_same_case_of_other_parameters_is_another_case(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path / "device", budget=3)
    other = DBitFlip(epsilon=1, buckets=8, bits=3)
    assert memory.recall(PROTOCOL, b"case", eight) != memory.recall(other, b"case", eight)


def test_a_used_up_budget_refuses_before_anything_is_drawn(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path / "device", budget=2.5)
    kept = memory.recall(PROTOCOL, b"0", eight, price=ONE)
    memory.recall(PROTOCOL, b"1", eight, price=ONE)

    def never(rng: Source) -> bytes:
        raise AssertionError

    with pytest.raises(BudgetExceeded) as refusal:
        memory.recall(PROTOCOL, b"2", never, price=ONE)
    assert refusal.value.code == "CEL-R039"
    with pytest.raises(BudgetExceeded):
        memory.charge(ONE)
    memory.charge(Fraction(1, 2))
    assert memory.spent == memory.budget == Fraction(5, 2)
    assert memory.recall(PROTOCOL, b"0", never, price=ONE) == kept
    assert memory.as_dict() == {"budget": 2.5, "spent": 2.5}
    assert str(memory) == "epsilon 2.5 of 2.5 spent for life"


def test_a_draw_that_fails_costs_nothing(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path / "device", budget=2)

    def broken(rng: Source) -> bytes:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        memory.recall(PROTOCOL, b"0", broken, price=ONE)
    assert memory.spent == 0


def test_a_copy_is_refused_and_answers_as_the_original_once_it_is_taken_over(
    tmp_path: Path,
) -> None:
    original = Memory.open(tmp_path / "device", budget=9)
    shutil.copy(tmp_path / "device", tmp_path / "copy")
    with pytest.raises(PrivacyError) as refusal:
        Memory.open(tmp_path / "copy")
    assert refusal.value.code == "CEL-R038"
    copy = Memory.open(tmp_path / "copy", moved=True)
    # Also a value that neither had seen when the copy was made.
    assert copy.recall(PROTOCOL, b"new", eight) == original.recall(PROTOCOL, b"new", eight)
    Memory.open(tmp_path / "copy")  # now it is at home there


def test_a_backup_written_back_answers_as_before(tmp_path: Path) -> None:
    path = tmp_path / "device"
    memory = Memory.open(path, budget=9)
    before = path.read_bytes()
    answer = memory.recall(PROTOCOL, b"later", eight, price=ONE)
    path.write_bytes(before)
    assert memory.spent == 0
    assert memory.recall(PROTOCOL, b"later", eight, price=ONE) == answer


def test_a_renamed_file_is_the_same_memory(tmp_path: Path) -> None:
    answer = Memory.open(tmp_path / "a", budget=9).recall(PROTOCOL, b"x", eight)
    (tmp_path / "a").rename(tmp_path / "b")
    assert Memory.open(tmp_path / "b").recall(PROTOCOL, b"x", eight) == answer


def test_a_file_replaced_under_an_open_memory_is_refused(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path / "a", budget=9)
    shutil.copy(tmp_path / "a", tmp_path / "b")
    (tmp_path / "b").replace(tmp_path / "a")
    with pytest.raises(PrivacyError):
        memory.recall(PROTOCOL, b"x", eight)


def test_a_lost_file_is_not_begun_anew_by_an_open_memory(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path / "a", budget=9)
    (tmp_path / "a").unlink()
    with pytest.raises(InputError) as refusal:
        memory.recall(PROTOCOL, b"x", eight)
    assert refusal.value.code == "CEL-R037"
    assert not (tmp_path / "a").exists()


def test_other_files_are_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("not a memory, but longer than the head of a database " * 9)
    with sqlite3.connect(tmp_path / "database") as database:
        database.execute("CREATE TABLE people (name TEXT)")
    database.close()
    for name in ("text", "database"):
        before = (tmp_path / name).read_bytes()
        with pytest.raises(InputError) as refusal:
            Memory.open(tmp_path / name, budget=1)
        assert refusal.value.code == "CEL-R037"
        assert (tmp_path / name).read_bytes() == before
    with pytest.raises(InputError) as refusal:
        Memory.open(tmp_path / "missing" / "device", budget=1)
    assert refusal.value.code == "CEL-R037"


def test_the_budget_is_set_once(tmp_path: Path) -> None:
    with pytest.raises(InputError) as refusal:
        Memory.open(tmp_path / "device")
    assert refusal.value.code == "CEL-R036"
    assert not (tmp_path / "device").exists()
    Memory.open(tmp_path / "device", budget=0.1)
    assert Memory.open(tmp_path / "device", budget=0.1).budget == Fraction(1, 10)
    with pytest.raises(InputError):
        Memory.open(tmp_path / "device", budget=0.2)


def test_a_secret_from_outside_is_not_in_the_file_and_is_needed(tmp_path: Path) -> None:
    secret = b"0123456789abcdef-secret"
    path = tmp_path / "device"
    memory = Memory.open(path, budget=9, secret=secret)
    memory.recall(PROTOCOL, b"x", eight)
    assert secret not in path.read_bytes()
    for wrong in (None, b"another secret of 32 bytes or so"):
        with pytest.raises(InputError) as refusal:
            Memory.open(path, secret=wrong)
        assert refusal.value.code == "CEL-R036"
    with pytest.raises(InputError):
        Memory.open(tmp_path / "short", budget=9, secret=b"short")
    assert Memory.open(path, secret=secret).recall(PROTOCOL, b"x", eight) == memory.recall(
        PROTOCOL, b"x", eight
    )


def test_the_file_is_private_and_holds_no_value(tmp_path: Path) -> None:
    path = tmp_path / "device"
    protocol = Rappor(bits=32, hashes=2, cohorts=2)
    memory = Memory.open(path, budget=99)
    protocol.client(rng=Seeded(1), memory=memory).privatise("a-most-private-word")
    data = path.read_bytes()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert b"private-word" not in data
    from celosia.sketches.hashing import digest

    assert digest("a-most-private-word").to_bytes(8, "little") not in data


def test_kept_draws_are_a_stream_of_uniform_bytes() -> None:
    one, other = KeptAnswers(b"s" * 32, b"case"), KeptAnswers(b"s" * 32, b"case")
    assert one.raw(5) + one.raw(100) + one.raw(0) + one.raw(64) == other.raw(169)
    drawn = np.frombuffer(KeptAnswers(b"s" * 32, b"bytes").raw(256_000), dtype=np.uint8)
    counts = np.bincount(drawn, minlength=256)
    # Chi-squared of 255 degrees of freedom: mean 255, standard deviation 22.6.
    assert abs(((counts - 1000) ** 2 / 1000).sum() - 255) < 4 * 22.6
    assert KeptAnswers(b"t" * 32, b"case").raw(8) != KeptAnswers(b"s" * 32, b"case").raw(8)


def test_whoever_comes_while_an_answer_is_drawn_waits_for_it(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path / "device", budget=9)
    begun = threading.Event()

    def slowly(rng: Source) -> bytes:
        begun.set()
        time.sleep(0.2)
        return b"slow"

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(memory.recall, PROTOCOL, b"case", slowly, price=ONE)
        assert begun.wait(timeout=600)
        assert memory.recall(PROTOCOL, b"case", eight, price=ONE) == b"slow"
        assert first.result(timeout=600) == b"slow"
    assert memory.spent == 1


WORKER = """
import sys
from fractions import Fraction
from celosia.collect.numbers.dbitflip import DBitFlip
from celosia.collect.memory import Memory
memory = Memory.open(sys.argv[1], budget=100)
protocol = DBitFlip(epsilon=1, buckets=8, bits=2)
for at in range(int(sys.argv[2])):
    answer = memory.recall(
        protocol, at.to_bytes(4, "little"), lambda rng: rng.raw(8), price=Fraction(1, 10))
    print(answer.hex(), flush=True)
"""


def worker(path: Path, rounds: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WORKER, str(path), str(rounds)], stdout=subprocess.PIPE, text=True
    )


def test_two_processes_that_begin_together_share_one_memory(tmp_path: Path) -> None:
    both = [worker(tmp_path / "device", 25) for _ in range(2)]
    said = [each.communicate(timeout=600)[0].split() for each in both]
    assert [each.returncode for each in both] == [0, 0]
    assert len(said[0]) == 25
    assert said[0] == said[1]
    assert Memory.open(tmp_path / "device").spent == Fraction(25, 10)


def test_a_process_killed_in_the_middle_leaves_a_whole_memory(tmp_path: Path) -> None:
    path = tmp_path / "device"
    process = worker(path, 900)
    assert process.stdout is not None
    said = [process.stdout.readline().strip() for _ in range(5)]
    time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    said += process.stdout.read().split()
    process.wait(timeout=600)
    process.stdout.close()
    memory = Memory.open(path)
    with sqlite3.connect(path) as database:
        answers = database.execute("SELECT count(*) FROM answers").fetchone()[0]
    database.close()
    assert memory.spent == Fraction(answers, 10)
    # What was told outside was on the disk before; at most one answer was kept and not yet told.
    whole = [each for each in said if len(each) == 16]
    assert len(whole) <= answers <= len(whole) + 1
    assert [memory.recall(PROTOCOL, number(at), eight).hex() for at in range(len(whole))] == whole
