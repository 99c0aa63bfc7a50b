"""A class: seats, tasks, marks, who may do what; experiments and quizzes; without a browser."""

from __future__ import annotations

from dataclasses import replace

import pytest
from starlette.requests import Request

from celosia.core.errors import InputError, PrivacyError
from celosia.core.messages import speaking
from celosia.mechanisms import Count
from celosia.studio.classroom import forms
from celosia.studio.classroom.model import (
    IDLE,
    MOST_OF_ONE,
    MOST_SEATS,
    Classroom,
    Classrooms,
)
from celosia.studio.classroom.tasks import (
    Attempt,
    BreakRelease,
    ChooseEpsilon,
    LeastLoss,
    Quiz,
    release_to_break,
)
from celosia.studio.language import chosen
from celosia.studio.learn.experiment import ALGORITHMS, Experiment, run
from celosia.studio.learn.quizzes import quiz_of
from celosia.studio.learn.techniques import SLUGS


def room(*, named: bool = True) -> Classroom:
    """A class with a task of each kind that needs no worker."""
    made = Classroom("Privacy", named, "owner")
    for each in (LeastLoss(0.1), ChooseEpsilon(10), Quiz("k-anonymity")):
        made.set_task(each)
    return made


def attempt(loss: float, *, reached: bool = True) -> Attempt:
    """An attempt at the least loss."""
    return Attempt(reached=reached, value=loss, solution={"risk": 0.1})


def test_only_a_signed_cookie_opens_a_seat_or_the_class() -> None:
    found, other = room(), room()
    ana, ben = found.join("Ana"), found.join("Ben")
    assert found.seat_of(found.cookie(ana)) is ana
    assert not found.is_teacher(found.cookie(ana))
    assert found.is_teacher(found.cookie(None))
    assert found.seat_of(found.cookie(None)) is None
    name, proof = found.cookie(ana).split(".")
    for forged in (None, "", ".", "1.", f"{ben.number}.{proof}", f"teacher.{proof}", name):
        assert found.seat_of(forged) is None
        assert not found.is_teacher(forged)
    assert other.seat_of(found.cookie(ana)) is None
    found.remove(ana)
    assert found.seat_of(found.cookie(ana)) is None
    assert found.opens(found.key)
    assert not found.opens(found.code)


def test_names_are_bounded_and_unique_and_an_anonymous_class_keeps_none() -> None:
    found = room()
    assert [found.join(" Ana ").name, found.join("Ana").name] == ["Ana", "Ana (2)"]
    for wrong in ("", " ", "x" * 41, "a\u202eb"):
        with pytest.raises(InputError):
            found.join(wrong)
    seat = room(named=False).join("Ana")
    assert (seat.name, seat.shown()) == ("", "Seat 1")


def test_a_class_has_a_limited_number_of_seats() -> None:
    found = room(named=False)
    for _ in range(MOST_SEATS):
        found.join()
    with pytest.raises(InputError) as refusal:
        found.join()
    assert refusal.value.key == "CEL-W101.full"


def test_attempts_are_counted_by_seat_and_locking_one_locks_out_no_other() -> None:
    found = room()
    ana, ben = found.join("Ana"), found.join("Ben")
    quiz = found.tasks[2]
    assert isinstance(quiz, Quiz)
    found.add(ana, 2, quiz.judge([1, 0, 2]))
    with pytest.raises(PrivacyError) as refusal:
        found.add(ana, 2, quiz.judge([1, 0, 2]))
    assert refusal.value.code == "CEL-W102"
    found.add(ben, 2, quiz.judge([0, None]))
    assert [found.mark(each, 2) for each in (ana, ben)] == [10.0, 0.0]
    found.grant(ana, 2)
    found.lock(ana, locked=True)
    assert (found.left(ana, 2), found.left(ben, 0)) == (0, 40)
    found.lock(ana, locked=False)
    assert found.left(ana, 2) == 1


def test_marks_are_told_beside_the_best_of_the_class() -> None:
    found = room()
    ana, ben, eve = (found.join(name) for name in ("Ana", "Ben", "=Eve"))
    found.add(ana, 0, attempt(0.5))
    found.add(ana, 0, attempt(0.4))
    found.add(ana, 0, attempt(0.1, reached=False))
    found.add(ben, 0, attempt(0.2))
    assert [found.mark(each, 0) for each in (ana, ben, eve)] == [5.0, 10.0, 0.0]
    best = found.best(ana, 0)
    assert best is not None
    assert best.value == 0.4
    lines = found.marks_csv().splitlines()
    assert lines[0].startswith("seat,name,")
    assert lines[1:] == [
        "1,Ana,5.0,0.0,0.0,5.0",
        "2,Ben,10.0,0.0,0.0,10.0",
        "3,'=Eve,0.0,0.0,0.0,0.0",
    ]
    with speaking("es"):  # as a spreadsheet in Spain reads it
        assert found.marks_csv().splitlines()[2] == "2;Ben;10,0;0,0;0,0;10,0"


def test_the_smallest_epsilon_that_is_near_enough_earns_all() -> None:
    task = ChooseEpsilon(10)
    exact = task.judge(task.least)
    assert exact.reached
    assert Count(epsilon=task.least).accuracy(0.95) <= 10
    assert not task.judge(0.97 * task.least).reached
    assert task.mark([exact], []) == 10.0
    assert task.mark([task.judge(2 * task.least)], []) == pytest.approx(5)


def test_one_of_four_people_is_disclosed_by_the_release_and_the_others_are_not() -> None:
    facts = release_to_break(7)
    task = BreakRelease(facts)
    secrets: dict[int, set[str]] = {}
    for row, each in zip(facts["rows"], facts["classes"], strict=True):
        secrets.setdefault(each, set()).add(row[-1])
    sizes = [facts["classes"].count(each) for each in secrets]
    assert min(sizes) >= 3
    assert {facts["value"]} in secrets.values()
    right = task.judge(facts["person"], facts["value"])
    wrong = task.judge((facts["person"] + 1) % 4, facts["value"])
    assert (right.reached, wrong.reached) == (True, False)
    assert [task.mark([right], []), task.mark([wrong, right], []), task.mark([wrong], [])] == [
        10,
        5,
        0,
    ]


def test_classes_expire_are_limited_and_forget_everything_at_their_end() -> None:
    now = [1000.0]
    classes = Classrooms(clock=lambda: now[0])
    made = [classes.start("A", named=True, owner="one") for _ in range(MOST_OF_ONE)]
    with pytest.raises(InputError):
        classes.start("A", named=True, owner="one")
    assert classes.start("A", named=True, owner="two") is not None
    typed = f" {made[0].code[:4].lower()}-{made[0].code[4:]}"
    assert classes.find(typed) is made[0]
    made[0].join("Ana")
    classes.end(made[0])
    assert (made[0].seats, classes.find(made[0].code)) == ({}, None)
    now[0] += IDLE + 1
    with pytest.raises(InputError) as refusal:
        classes.of(made[1].code)
    assert refusal.value.code == "CEL-W100"


def test_whom_a_class_code_let_in_cannot_start_a_class() -> None:
    assert forms.may_start(Request({"type": "http"}))
    assert not forms.may_start(Request({"type": "http", "celosia.student": True}))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_keeps_what_is_asked(algorithm: str) -> None:
    asked = Experiment(table="patients", algorithm=algorithm, k=3, l=2, suppression=0.4)
    found = run(asked)
    assert found["possible"]
    assert found["smallest"] >= 3
    assert LeastLoss(1 / 3).judge(asked, found).reached


def test_an_experiment_says_the_same_in_python(capsys: pytest.CaptureFixture[str]) -> None:
    asked = Experiment(table="patients", k=3, t=0.5, suppression=1.0)
    found = run(asked)
    exec(asked.python)
    assert capsys.readouterr().out == f"{found['loss']} {found['maximum']}\n"
    assert run(replace(asked, k=9, t=0.0, l=9)) == {"possible": False, "code": "CEL-P001"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"table": "/etc/passwd"},
        {"algorithm": "__class__"},
        {"k": "1e9"},
        {"t": "nan"},
        {"k": "201"},
    ],
    ids=str,
)
def test_no_other_experiment_is_run(wrong: dict[str, str]) -> None:
    with pytest.raises(InputError) as refusal:
        Experiment.read(wrong)
    assert refusal.value.code == "CEL-W041"


@pytest.mark.parametrize("technique", SLUGS)
def test_a_quiz_has_the_same_right_answers_in_both_languages(technique: str) -> None:
    english = quiz_of(technique)
    token = chosen.set("es")
    try:
        spanish = quiz_of(technique)
    finally:
        chosen.reset(token)
    assert len(english) == 3
    assert [(each.right, len(each.answers)) for each in english] == [
        (each.right, len(each.answers)) for each in spanish
    ]
    assert all(one.text != other.text for one, other in zip(english, spanish, strict=True))
