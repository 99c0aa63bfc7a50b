"""Advice: the rules of the decision procedure, and commands that work when typed."""

from __future__ import annotations

import shlex
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tests.cli.running import Run
from tests.cli.test_help import _parse

import celosia
from celosia.assess.advice import QUESTIONS, REASONS, AdviceOptions, answer_text, question_text
from celosia.core.messages import speaking

ALL = [
    celosia.advise(AdviceOptions(**dict(zip(QUESTIONS, answers, strict=True))))  # type: ignore[arg-type]
    for answers in product(*QUESTIONS.values())
]


def test_an_unknown_analysis_is_released_and_known_questions_are_answered() -> None:
    assert celosia.advise(data="table", reader="public").door == "publish"
    assert celosia.advise(data="table", reader="analysts", keep="counts").door == "query"
    assert celosia.advise(data="database").door == "query"


def test_a_stream_is_randomised() -> None:
    found = celosia.advise(data="stream", attacker="register")
    assert (found.door, found.model) == ("stream", "noise")


def test_switching_alone_is_never_advised_against_known_degrees() -> None:
    assert all(each.model != "random-switch" for each in ALL)
    found = celosia.advise(data="network", keep="structure", attacker="register")
    assert found.model == "k-degree"
    assert any("random-switch" in each for each in found.warnings)


def test_large_scale_properties_of_a_network_are_generalised() -> None:
    assert celosia.advise(data="network", keep="statistics").model == "partition-search"


def test_truth_is_generalised_statistics_are_aggregated_and_all_knowledge_needs_noise() -> None:
    for reader, k in (("public", 10), ("partner", 5)):
        found = celosia.advise(reader=reader, attacker="register")  # type: ignore[arg-type]
        assert (found.model, found.parameters) == ("k-anonymity", {"k": k})
        assert celosia.advise(reader=reader).parameters == {"k": k, "l": 3}  # type: ignore[arg-type]
        assert celosia.advise(reader=reader, keep="statistics").model == "mdav"  # type: ignore[arg-type]
    for data in ("table", "network", "traces", "log"):
        found = celosia.advise(data=data, attacker="anyone")
        assert found.model == "differential-privacy"


def test_every_advice_has_reasons_and_every_command_is_understood() -> None:
    for each in {found.commands: found for found in ALL}.values():
        assert each.reasons
        for command in each.commands:
            if command.startswith("celosia "):
                _parse(shlex.split(command)[1:])
    own = celosia.advise(keep="statistics", file="my people.csv", column="net pay")
    assert "'my people.csv'" in own.commands[-1]
    assert "'net pay'" in own.commands[-1]
    assert not any("datasets get" in each for each in own.commands)


@pytest.mark.parametrize(
    "answers",
    [
        {"data": "network", "attacker": "register"},
        {"data": "log", "attacker": "anyone"},
        {"data": "table", "keep": "statistics"},
    ],
    ids=str,
)
def test_the_commands_work_when_typed(answers: Any, run: Run, tmp_path: Path) -> None:
    words = [word for name, value in answers.items() for word in (f"--{name}", value)]
    told = run("advise", *words, "--json").data()
    for command in told["commands"]:
        assert run(*shlex.split(command)[1:]).code == 0
    shown = run("advise", *words)
    assert shown.out.splitlines()[-1].startswith(f"celosia {told['door']}: {told['model']}")
    run("advise", "--data", "tabel").complains("CEL-I060")


def test_questions_and_reasons_are_said_in_both_languages() -> None:
    with speaking("es"):
        assert "¿Quién ataca?" in question_text("attacker")
        assert answer_text("anyone") == "cualquiera, sepa lo que sepa"
    said = {each.key for found in ALL for each in (*found.reasons, *found.warnings)}
    own = [celosia.advise(data=data, keep="statistics", file="x") for data in ("table", "stream")]
    own += [celosia.advise(file="x"), celosia.advise(data="database", file="x")]
    said |= {each.key for found in own for each in found.warnings}
    assert said == set(REASONS.values())
