"""Jobs in processes of their own: results, progress, limits, cancel, faults, fairness."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest

from celosia.core.errors import EngineError
from celosia.core.messages import speaking
from celosia.studio.jobs import Job, Jobs
from celosia.studio.worker import task
from tests.studio import jobs_for_tests as work

MEMORY = 4_000_000_000


@pytest.fixture(scope="module")
def jobs() -> Iterator[Jobs]:
    """Two workers that all tests share."""
    found = Jobs(workers=2, most=3, seconds=60, memory=MEMORY, warm=False)
    yield found
    found.close()


def until(happened: Callable[[], bool], seconds: float = 600.0) -> None:
    """Wait, but not for ever."""
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


def ended(job: Job) -> Job:
    until(lambda: job.over)
    return job


def test_a_job_gives_its_result_its_steps_and_its_parts(jobs: Jobs) -> None:
    job = ended(jobs.submit("ana", "adding", task(work.add, left=2, right=3)))
    assert (job.state, job.result, job.error, job.share) == ("done", 5, None, 1.0)
    assert job.parts == [2, 3]
    assert job.step is not None
    assert job.step.stage == "Counting"


def test_a_job_speaks_the_language_of_the_page_that_asked(jobs: Jobs) -> None:
    with speaking("es"):
        job = jobs.submit("ana", "saying", task(work.say_language))
    assert ended(job).result == "el archivo"
    assert ended(jobs.submit("ana", "saying", task(work.say_language))).result == "the file"


def test_an_error_of_ours_comes_with_its_code_and_words(jobs: Jobs) -> None:
    job = ended(jobs.submit("ana", "refusing", task(work.refuse)))
    assert job.state == "failed"
    assert job.error is not None
    assert job.error.as_dict() == {
        "code": "CEL-W022",
        "error": "you have 3 jobs waiting or running already.",
        "why": "All visitors share the same machine.",
        "hint": "Wait for one to end, or cancel one.",
        "details": {"most": 3},
    }


def test_a_foreign_error_says_nothing_of_the_cells(jobs: Jobs) -> None:
    job = ended(jobs.submit("ana", "breaking", task(work.break_down)))
    assert job.error is not None
    assert job.error.code == "CEL-W021"
    assert "4711" not in f"{job.error} {job!r}"


def test_a_process_that_goes_is_replaced(jobs: Jobs) -> None:
    job = ended(jobs.submit("ana", "vanishing", task(work.vanish)))
    assert job.error is not None
    assert job.error.code == "CEL-W024"
    again = [jobs.submit("ana", "adding", task(work.add, left=1, right=1)) for _ in range(2)]
    assert [ended(each).result for each in again] == [2, 2]


def test_a_running_job_is_cancelled_at_once(jobs: Jobs) -> None:
    job = jobs.submit("ana", "sleeping", task(work.sleep, seconds=600))
    until(lambda: job.step is not None)
    jobs.cancel(job)
    assert ended(job).state == "cancelled"
    assert ended(jobs.submit("ana", "adding", task(work.add, left=1, right=2))).result == 3


def test_a_job_that_waits_is_cancelled_without_a_process(jobs: Jobs) -> None:
    long = [jobs.submit("ana", "sleeping", task(work.sleep, seconds=600)) for _ in range(2)]
    until(lambda: all(each.state == "running" for each in long))
    waiting = jobs.submit("ana", "adding", task(work.add, left=1, right=1))
    assert jobs.place(waiting) == 1
    jobs.cancel(waiting)
    assert (waiting.state, waiting.result) == ("cancelled", None)
    for each in long:
        jobs.cancel(each)
        ended(each)


def test_one_visitor_may_have_only_so_many_jobs(jobs: Jobs) -> None:
    mine = [jobs.submit("eva", "sleeping", task(work.sleep, seconds=600)) for _ in range(3)]
    with pytest.raises(EngineError) as refusal:
        jobs.submit("eva", "adding", task(work.add, left=1, right=1))
    assert refusal.value.code == "CEL-W022"
    for each in mine:
        jobs.cancel(each)
        ended(each)


def test_whoever_asks_for_little_goes_before_who_asks_for_much(jobs: Jobs) -> None:
    much = [jobs.submit("greedy", "sleeping", task(work.sleep, seconds=600)) for _ in range(3)]
    until(lambda: sum(each.state == "running" for each in much) == 2)
    little = jobs.submit("modest", "adding", task(work.add, left=20, right=22))
    jobs.cancel(much[0])
    assert ended(little).result == 42
    assert much[2].state != "done"
    for each in much:
        jobs.cancel(each)
        ended(each)


def test_a_job_that_is_not_listed_is_forgotten_when_the_next_one_comes(jobs: Jobs) -> None:
    first = jobs.submit("eve", "estimate", task(work.add, left=1, right=1), listed=False)
    ended(first)
    second = jobs.submit("eve", "run", task(work.add, left=1, right=2))
    ended(second)
    assert jobs.of("eve") == [second]


def test_nobody_sees_the_jobs_of_another(jobs: Jobs) -> None:
    job = ended(jobs.submit("ana", "adding", task(work.add, left=1, right=1)))
    assert jobs.find("ana", job.id) is job
    assert jobs.find("eva", job.id) is None


def test_a_visitor_who_has_gone_leaves_no_job(jobs: Jobs) -> None:
    job = jobs.submit("gone", "sleeping", task(work.sleep, seconds=600))
    jobs.forget("gone")
    until(lambda: job.over)
    assert jobs.of("gone") == []


def test_a_job_may_take_only_so_much_memory(jobs: Jobs) -> None:
    job = ended(jobs.submit("ana", "growing", task(work.grow, size=2 * MEMORY)))
    assert job.error is not None
    assert job.error.code == "CEL-W020"


def test_a_job_may_take_only_so_much_time() -> None:
    short = Jobs(workers=1, most=3, seconds=1, memory=MEMORY, warm=False)
    try:
        late = ended(short.submit("ana", "sleeping", task(work.sleep, seconds=600)))
        assert late.error is not None
        assert late.error.code == "CEL-W023"
    finally:
        short.close()
