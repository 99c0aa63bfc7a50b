"""Studies by name."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from celosia import InputError
from celosia.core.messages import read_family
from celosia.core.progress import Progress
from celosia.lab import Row, Study, find, register, registry, studies


def nothing(path: Path | None, progress: Progress) -> Sequence[Row]:
    return ()


def study(name: str) -> Study:
    return Study(name=name, title="Nothing", source="nowhere", rules="exactly", work=nothing)


@pytest.fixture(autouse=True)
def own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers is forgotten after it."""
    monkeypatch.setattr(registry, "_KNOWN", dict(registry._KNOWN))


def test_the_studies_and_their_parts_are_known() -> None:
    assert [study.name for study in studies()] == [
        "tables",
        "tables/k-anonymity",
        "tables/l-diversity",
        "tables/t-closeness",
        "tables/reference",
        "tables/worked",
        "tables/strangers",
        "mechanisms",
        "mechanisms/belief",
        "mechanisms/composition",
        "mechanisms/selection",
        "mechanisms/sparse",
        "mechanisms/averages",
        "mechanisms/top-c",
        "mechanisms/attacks",
        "sql",
        "sql/sensitivities",
        "sql/columns",
        "sql/flex",
        "sql/by-hand",
        "sql/answers",
        "sparql",
        "sparql/sensitivities",
        "sparql/by-hand",
        "sparql/defects",
        "sparql/answers",
        "collect",
        "collect/cms",
        "collect/hcms",
        "collect/sfp",
        "collect/rappor",
        "collect/dbitflip",
        "masking",
        "masking/tables",
        "masking/telemetry",
        "masking/reference",
        "graphs",
        "graphs/shapes",
        "graphs/perturbation",
        "graphs/k-degree",
        "graphs/uncertain",
        "graphs/generalisation",
        "graphs/planted",
        "graphs/methods",
        "texts",
        "texts/word-noise",
        "texts/pseudonyms",
        "texts/detection",
        "texts/checks",
        "traces",
        "traces/noise",
        "traces/attacks",
        "traces/groups",
        "traces/audits",
        "logs",
        "logs/keys",
        "logs/sets",
        "logs/addresses",
        "logs/searches",
        "logs/audits",
    ]


def test_a_registered_study_is_found_and_listed() -> None:
    mine = register(study("mine"))
    assert find("mine") is mine
    assert studies()[-1] is mine


def test_a_name_can_be_taken_once() -> None:
    with pytest.raises(InputError) as caught:
        register(study("tables"))
    assert caught.value.code == "CEL-L002"


def test_a_misspelt_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean 'tables/k-anonymity'") as caught:
        find("tables/k-anonimity")
    assert caught.value.code == "CEL-L001"
    assert "tables/reference" in caught.value.fix


def test_a_study_hands_on_where_its_data_lies(tmp_path: Path) -> None:
    seen: list[Path | None] = []

    def work(path: Path | None, progress: Progress) -> Sequence[Row]:
        seen.append(path)
        return ()

    one = Study(name="one", title="One", source="here", rules="exactly", work=work)
    one.run()
    one.run(path=str(tmp_path))
    assert seen == [None, tmp_path]


def test_names_do_not_depend_on_the_language_in_which_the_studies_are_loaded() -> None:
    code = (
        "from celosia.core.messages import speaking\n"
        "with speaking('es'):\n"
        "    from celosia import lab\n"
        "    print(*(study.name for study in lab.studies()), sep='\\n')\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert said.split() == [study.name for study in studies()]


def test_the_catalogue_describes_every_study_and_no_other() -> None:
    ours = {study.name for study in studies()}
    described = {name for name, _part in _described(read_family("lab")["studies"])}
    assert described == ours
    assert all(
        (name, part) in _described(read_family("lab")["studies"])
        for name in ours
        for part in ("title", "source", "rules")
    )


def _described(entries: dict[str, Any], name: str = "") -> set[tuple[str, str]]:
    """The parts of texts by the name of their study."""
    found = set()
    for key, entry in entries.items():
        if "text" in entry:
            found.add((name, key))
        else:
            found |= _described(entry, f"{name}/{key}" if name else key)
    return found
