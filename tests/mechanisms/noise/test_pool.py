"""The pool hands out each draw once, and neither its time nor a forked child tells the noise."""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from itertools import count
from threading import Thread
from time import perf_counter_ns

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm, rankdata
from tests.mechanisms.noise import twin

from celosia.core.randomness import Seeded, System
from celosia.mechanisms.noise import DiscreteLaplace, pool
from celosia.mechanisms.noise.pool import BATCH, LARGEST, LAWS, Pool


def counting() -> Callable[[int], NDArray[np.int64]]:
    """A refill that numbers its draws from 1 on."""
    numbers = count(1)
    return lambda size: np.array([next(numbers) for _ in range(size)], dtype=np.int64)


def test_every_draw_is_handed_out_once_and_in_order() -> None:
    stock, refill = Pool(), counting()
    sizes = [1, LARGEST, 0, 100, LARGEST, LARGEST, 3, 255, LARGEST]
    taken = np.concatenate([stock.take("law", size, refill) for size in sizes])
    assert taken.tolist() == list(range(1, sum(sizes) + 1))


def test_a_call_returns_draws_that_were_made_before_it() -> None:
    stock, made = Pool(), 0

    def refill(size: int) -> NDArray[np.int64]:
        nonlocal made
        assert size == BATCH  # one fixed size, whatever is asked
        made += size
        return np.arange(made - size, made)

    stock.take("law", LARGEST, refill)
    for size in np.random.default_rng(3).integers(0, LARGEST + 1, 200):
        before = made
        taken = stock.take("law", int(size), refill)
        assert taken.size == 0 or taken.max() < before


def test_what_was_handed_out_is_erased() -> None:
    stock = Pool()
    kept: list[NDArray[np.int64]] = []

    def refill(size: int) -> NDArray[np.int64]:
        kept.append(np.arange(1, size + 1))
        return kept[-1]

    stock.take("law", 10, refill)
    assert not kept[0][:10].any()
    assert kept[0][10:].all()
    stock.take("law", LARGEST, refill)
    assert not kept[0].any()  # moved to the new stock


def test_the_number_of_laws_and_the_size_of_a_stock_are_bounded() -> None:
    stock, refill = Pool(), counting()
    for law in range(LAWS + 5):
        for _ in range(3):
            stock.take(law, LARGEST, refill)
    assert len(stock._stocks) == LAWS
    assert 0 not in stock._stocks
    assert LAWS + 4 in stock._stocks
    assert all(LARGEST <= left.size < LARGEST + BATCH for left in stock._stocks.values())


def test_threads_share_a_pool_without_sharing_a_draw() -> None:
    stock, refill = Pool(), counting()
    taken: list[int] = []

    def work() -> None:
        for _ in range(200):
            taken.extend(stock.take("law", 3, refill).tolist())

    threads = [Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == list(range(1, 4 * 200 * 3 + 1))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_has_an_empty_pool() -> None:
    law = DiscreteLaplace(Fraction(2**40))
    law.draw(1, System())
    assert law in pool.POOL._stocks
    assert pool.POOL._lock.acquire()  # as another thread might hold it when the process forks
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, b"%d" % (len(pool.POOL._stocks) + pool.POOL._lock.locked()))
        os._exit(0)
    pool.POOL._lock.release()
    os.waitpid(child, 0)
    assert os.read(reading, 10) == b"0"
    os.close(reading)
    os.close(writing)
    assert law in pool.POOL._stocks


def test_a_pool_that_finds_itself_in_another_process_forgets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stock = Pool()
    stock.take("law", 1, counting())
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert stock.take("law", 1, lambda size: np.full(size, -5)).tolist() == [-5]


def test_a_stock_that_is_in_use_is_never_filled_with_zeros() -> None:
    stock, numbers = Pool(), counting()
    stock.take("law", 1, numbers)
    in_use = stock._stocks["law"]
    stock.forget()  # as a second thread of a child may do while the first one takes
    assert in_use.all()
    assert not stock._stocks


def rank_correlation(times: list[int], noise: list[int]) -> float:
    return float(np.corrcoef(rankdata(times), rankdata(np.abs(noise)))[0, 1])


def alarm(size: int) -> float:
    """What independent noise exceeds with a chance of 1e-12: the variance is 1/(n-1)."""
    return float(norm.isf(0.5e-12) / np.sqrt(size - 1))


@pytest.mark.statistical
def test_the_time_of_a_call_does_not_tell_the_noise() -> None:
    law, rng, size = DiscreteLaplace(Fraction(2000)), System(), 13_000
    law.draw(1, rng)
    times, noise = [], []
    for _ in range(size):
        start = perf_counter_ns()
        drawn = law.draw(1, rng)
        times.append(perf_counter_ns() - start)
        noise.append(int(drawn[0]))
    assert abs(rank_correlation(times, noise)) < alarm(size)


@pytest.mark.statistical
def test_the_same_measure_finds_a_sampler_whose_time_tells() -> None:
    # The steps of the plain algorithm stand for its time: a clock would make the control uncertain.
    stream = twin.Stream(Seeded(9).words(60_000).view(np.uint32))
    size, steps, noise = 6000, [], []
    for _ in range(size):
        before = stream.read
        noise.append(twin.laplace(stream, Fraction(2000)))
        steps.append(stream.read - before)
    assert rank_correlation(steps, noise) > 2 * alarm(size)
