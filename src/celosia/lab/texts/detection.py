"""Detection on invented notes whose truth is known: recall by entity, and documents that leak."""

from __future__ import annotations

from collections.abc import Iterator

from celosia.core.messages import Message
from celosia.core.progress import Progress, silent
from celosia.datasets.notes import Notes, notes
from celosia.lab.findings import Row
from celosia.lab.mechanisms.cells import comparing
from celosia.texts.detection import Facts, find
from celosia.texts.detection.structure import kind_of_label
from celosia.texts.documents import Language
from celosia.texts.measures import DetectionMeasures, compare

compare_equal, _ = comparing("promise")

DOCUMENTS = 100
_LANGUAGES: tuple[Language, ...] = ("en", "es")


def rows(progress: Progress = silent) -> Iterator[Row]:
    """Targets of detection, each as yes or no: the figures are in the how-to."""
    for language in _LANGUAGES:
        made = notes(DOCUMENTS, language=language, seed=44)
        run = Message("lab.texts.notes", language=language)
        with_facts = _measured(made, facts=_facts(made))
        plain, alone = _measured(made), _measured(made, propagate=False)
        reached = {
            "lab.texts.entity_recall_with_facts": with_facts.entity_recall >= 0.995,
            "lab.texts.leaks_with_facts": with_facts.leaking_documents <= 0.01,
            "lab.texts.entity_recall": plain.entity_recall >= 0.93,
            "lab.texts.leaks": plain.leaking_documents <= 0.15,
            "lab.texts.precision": plain.precision >= 0.90,
            "lab.texts.propagation": plain.leaking_documents <= alone.leaking_documents / 2,
        }
        for cell, holds in reached.items():
            yield compare_equal(run, cell, "yes", "yes" if holds else "no")


def _measured(
    made: Notes, *, facts: Facts | None = None, propagate: bool = True
) -> DetectionMeasures:
    found = find(made.collection, facts=facts, propagate=propagate)
    texts = [each.text for each in made.collection]
    return compare(found.findings, made.truth, len(texts), texts=texts)


def _facts(made: Notes) -> Facts:
    kinds = {name: kind_of_label(name) for name in made.facts.columns if name != "person"}
    return Facts(
        {
            row["person"]: tuple((kind, str(row[name])) for name, kind in kinds.items() if kind)
            for row in made.facts.rows(named=True)
        }
    )
