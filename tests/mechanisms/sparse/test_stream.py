"""The contract of a stream: it halts, refuses, and keeps its secret."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, chi2_contingency
from tests.mechanisms.forbidden_source import ForbiddenSource

from celosia.accounting.budget import Budget
from celosia.accounting.losses import Loss
from celosia.core.errors import BudgetExceeded, CelosiaError, InputError, PrivacyError
from celosia.core.neighbours import Neighbours
from celosia.core.randomness import Seeded
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.mechanisms.sparse import (
    ABOVE,
    BELOW,
    AboveThreshold,
    NumericSparse,
    Reply,
    Sparse,
    SparseMechanism,
    SparseVector,
)

FAMILY: list[SparseMechanism] = [
    AboveThreshold(1.0, threshold=0),
    Sparse(1.0, threshold=0, positives=3),
    NumericSparse(1.0, threshold=0, positives=3),
    SparseVector(1.0, threshold=0, positives=3),
    SparseVector(1.0, threshold=0, positives=3, monotone=True, numeric=0.5),
]
HIGH, LOW = 10**7, -(10**7)


def code_of(call: Callable[[], object]) -> str:
    with pytest.raises(CelosiaError) as caught:
        call()
    return caught.value.code


@pytest.mark.parametrize("mechanism", FAMILY, ids=str)
def test_a_stream_refuses_after_its_last_positive(mechanism: SparseMechanism) -> None:
    with mechanism.stream(rng=Seeded(1)) as stream:
        for _ in range(mechanism.limit):
            assert stream.ask(LOW) is BELOW
            assert stream.ask(HIGH) is not BELOW
        assert stream.left == 0
        assert code_of(lambda: stream.ask(LOW)) == "CEL-M100"
        assert code_of(lambda: stream.ask(HIGH)) == "CEL-M100"
        assert stream.asked == 2 * mechanism.limit


@pytest.mark.parametrize("mechanism", FAMILY, ids=str)
def test_answers_below_cost_nothing(mechanism: SparseMechanism) -> None:
    with mechanism.stream(rng=Seeded(2)) as stream:
        assert all(stream.ask(LOW) is BELOW for _ in range(500))
        assert stream.left == mechanism.limit
        assert stream.loss == mechanism.privacy_loss()


def test_a_closed_stream_answers_nothing() -> None:
    with AboveThreshold(1.0, threshold=0).stream(rng=Seeded(3)) as stream:
        stream.ask(LOW)
    assert stream.closed
    assert "closed" in repr(stream)
    assert code_of(lambda: stream.ask(LOW)) == "CEL-M101"


def test_a_question_is_an_answer_or_a_function_of_the_data() -> None:
    people = [31, 45, 62]
    with SparseVector(50.0, threshold=0, positives=2).stream(rng=Seeded(4)) as stream:
        assert stream.ask(lambda rows: 1000 * len(rows), people) is ABOVE
        assert stream.ask(lambda: -1000) is BELOW  # type: ignore[misc, arg-type]
        assert code_of(lambda: stream.ask(3, people)) == "CEL-M110"
        assert stream.asked == 2


def test_a_question_may_bring_its_own_threshold() -> None:
    with SparseVector(50.0, threshold=[0], positives=2).stream(rng=Seeded(5)) as stream:
        assert stream.ask(500, threshold=1000) is BELOW
        assert stream.ask(1500, threshold=1000) is ABOVE
        assert code_of(lambda: stream.ask(0)) == "CEL-M105"
        assert code_of(lambda: stream.ask(0, threshold=float("inf"))) == "CEL-M104"


def test_a_refused_answer_is_not_told_and_not_counted() -> None:
    with AboveThreshold(1.0, threshold=0).stream(rng=Seeded(6)) as stream:
        with pytest.raises(InputError) as caught:
            stream.ask(7421.5)
        assert "7421" not in str(caught.value)
        assert stream.asked == 0


class Purse:
    """Takes what is charged."""

    def __init__(self) -> None:
        self.spent: list[Loss] = []

    def spend(self, loss: Loss, /, *, neighbours: Neighbours) -> None:
        self.spent.append(loss)


def test_the_whole_price_is_due_at_opening_and_only_then() -> None:
    mechanism = Sparse(0.5, threshold=0, positives=3)
    purse = Purse()
    stream = mechanism.stream(rng=Seeded(7), budget=purse)
    assert purse.spent == [mechanism.privacy_loss()]
    stream.ask(HIGH)
    stream.ask(LOW)
    assert len(purse.spent) == 1


def test_without_budget_no_noise_is_drawn() -> None:
    budget = Budget(epsilon=Fraction(1))
    mechanism = AboveThreshold(0.75, threshold=0)
    mechanism.stream(rng=Seeded(8), budget=budget)
    with pytest.raises(BudgetExceeded):
        mechanism.stream(rng=ForbiddenSource(), budget=budget)


def secret_of(mechanism: SparseMechanism, seed: int) -> int:
    """The secret of a stream with a known seed: the first draw that it makes."""
    return int(DiscreteLaplace(mechanism.scales.threshold).draw(1, Seeded(seed))[0])


def reachable(thing: object, depth: int, seen: dict[int, object]) -> None:
    """Everything that public and private attributes lead to, functions not opened."""
    if isinstance(thing, np.ndarray):
        thing = tuple(thing.tolist())
    if depth == 0 or id(thing) in seen or isinstance(thing, type):
        return
    seen[id(thing)] = thing
    for item in thing if isinstance(thing, tuple | list) else ():
        reachable(item, depth - 1, seen)
    for name in dir(thing):
        if not name.startswith("__"):
            try:
                value = getattr(thing, name)
            except (AttributeError, CelosiaError):
                continue
            reachable(value, depth - 1, seen)


def test_the_secret_is_no_attribute_and_is_not_printed() -> None:
    mechanism = SparseVector(1e-6, threshold=0, positives=2)  # a secret like no other number
    secret = secret_of(mechanism, 9)
    assert abs(secret) > 10**4
    stream = mechanism.stream(rng=Seeded(9))
    seen: dict[int, object] = {}
    reachable(stream, 4, seen)
    numbers = [thing for thing in seen.values() if isinstance(thing, int | float)]
    assert secret not in numbers
    assert not hasattr(stream, "__dict__")
    assert str(abs(secret)) not in repr(stream) + str(stream) + str(vars(type(stream)))


def test_the_twin_of_the_secret_is_the_secret() -> None:
    # The test above would pass for any number; this one shows that it looked for the right one.
    mechanism = SparseVector(1e-6, threshold=0, positives=2)
    stream = mechanism.stream(rng=Seeded(9))
    held = {
        cell.cell_contents
        for function in gc.get_referents(stream)
        for cell in getattr(function, "__closure__", None) or ()
        if isinstance(cell.cell_contents, int)
    }
    assert secret_of(mechanism, 9) in held


@pytest.mark.parametrize(
    "copying",
    [copy.copy, copy.deepcopy, *(lambda s, p=p: pickle.dumps(s, p) for p in range(6))],
)
def test_a_stream_is_not_copied_or_stored(copying: Callable[[Any], object]) -> None:
    stream = AboveThreshold(1.0, threshold=0).stream(rng=Seeded(10))
    with pytest.raises(PrivacyError) as caught:
        copying(stream)
    assert caught.value.code == "CEL-M102"


def test_no_traceback_has_the_secret_in_its_frames() -> None:
    mechanism = SparseVector(1e-6, threshold=0, positives=1)
    stream = mechanism.stream(rng=Seeded(9))
    secret = secret_of(mechanism, 9)
    calls: list[Callable[[], object]] = [
        lambda: stream.ask(0.5),
        lambda: stream.ask("x"),  # type: ignore[arg-type]
        lambda: stream.ask(0, threshold=float("nan")),
        lambda: pickle.dumps(stream),
        lambda: stream.ask(10**12) and stream.ask(0),
    ]
    for call in calls:
        with pytest.raises(CelosiaError) as caught:
            call()
        for frame, _ in traceback.walk_tb(caught.value.__traceback__):
            values = [value for value in frame.f_locals.values() if isinstance(value, int)]
            if frame.f_code.co_filename != __file__:
                assert secret not in values
        assert str(abs(secret)) not in str(caught.value)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.parametrize("mechanism", FAMILY, ids=str)
def test_a_forked_child_gets_no_answers_of_its_own(mechanism: SparseMechanism) -> None:
    stream = mechanism.stream(rng=Seeded(1))
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            stream.ask(HIGH)
            os.write(writing, b"answered")
        except PrivacyError as refusal:
            os.write(writing, refusal.code.encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reading, 20) == b"CEL-M102"
    os.close(reading)
    os.close(writing)
    assert stream.ask(HIGH) is not BELOW


def test_each_question_has_its_own_threshold_also_where_one_asks_another() -> None:
    stream = SparseVector(1.0, threshold=(LOW, HIGH), positives=2).stream(rng=Seeded(1))
    inner: list[Reply] = []

    def query(data: float) -> float:
        inner.append(stream.ask(data))
        return data

    assert stream.ask(query, 0) is BELOW
    assert inner == [ABOVE]


def test_threads_get_no_more_positives_than_were_paid_for() -> None:
    stream = SparseVector(1.0, threshold=0, positives=5).stream(rng=Seeded(11))

    def ask(_: int) -> Reply | None:
        try:
            return stream.ask(HIGH)
        except PrivacyError:
            return None

    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(ask, range(200)))
    assert replies.count(ABOVE) == 5


@pytest.mark.statistical
@pytest.mark.parametrize("mechanism", FAMILY, ids=str)
def test_a_batch_has_the_law_of_a_stream(mechanism: SparseMechanism) -> None:
    answers = [0, 3, -2, 5, 1]
    runs = 1000
    counts: dict[tuple[bool, ...], list[int]] = {}
    rng = Seeded(12)
    for _ in range(runs):
        batch = tuple(reply is not BELOW for reply in mechanism.release(answers, rng=rng))
        counts.setdefault(batch, [0, 0])[0] += 1
        stream = mechanism.stream(rng=rng)
        single: list[bool] = []
        while stream.left and len(single) < len(answers):
            single.append(stream.ask(answers[len(single)]) is not BELOW)
        counts.setdefault(tuple(single), [0, 0])[1] += 1
    pairs = np.array(list(counts.values()))
    rare = pairs.sum(axis=1) < 20
    table = np.vstack([pairs[~rare], pairs[rare].sum(axis=0)])
    table = table[table.sum(axis=1) > 0]
    # Two samples of one law fall short of this once in a hundred thousand times.
    assert chi2_contingency(table).pvalue > 1e-5


@pytest.mark.statistical
@pytest.mark.parametrize(
    "mechanism",
    [
        NumericSparse(1.0, threshold=30, positives=1),
        SparseVector(1.0, threshold=30, positives=1, numeric=0.5),
    ],
    ids=str,
)
def test_a_released_number_has_noise_of_its_own(mechanism: SparseMechanism) -> None:
    # Answers far below the threshold come out above only by their noise of comparison. Were that
    # the noise released, the numbers would lie about the threshold, 20 higher, instead of about 10.
    rng = Seeded(13)
    released = mechanism.scales.release
    assert released is not None
    law = DiscreteLaplace(released)
    numbers = np.array(
        [
            reply
            for _ in range(300)
            for reply in mechanism.release([10] * 200, rng=rng)
            if isinstance(reply, float)
        ]
    )
    assert numbers.size > 100
    deviation = np.sqrt(law.variance / numbers.size)
    assert abs(numbers.mean() - 10) < 4.5 * deviation
    above = int((numbers >= 10).sum())
    low, high = binom.interval(1 - 1e-5, numbers.size, law.tail(0))
    assert low <= above <= high
