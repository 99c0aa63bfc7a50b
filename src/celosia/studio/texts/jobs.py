"""Jobs of documents: bring some and search them, publish them."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.core.progress import Step
from celosia.studio.release_facts import guarantee_facts, write_report
from celosia.studio.samples import Sample
from celosia.studio.uploads import Brought, uploaded
from celosia.studio.visitors import Work
from celosia.studio.worker import JobProgress

if TYPE_CHECKING:
    from celosia.texts import FoundTexts, TextDeclaration, TextRelease

SUFFIXES = (".txt", ".md", ".html", ".htm", ".json", ".jsonl", ".csv", ".tsv", ".docx", ".pdf")
"""Kinds of files that hold documents."""
SHOWN = 5
"""Documents that a page shows."""
INDEX_K = 5
"""Persons that a term of the index has, unless a limit is chosen."""
LONGEST = 4000
"""Characters of a document that a page shows."""

PRESETS: dict[str, dict[str, str]] = {
    "label": {"default": "label", "date": "generalise", "birth": "generalise", "age": "generalise"},
    "redact": {"default": "redact"},
    "surrogate": {
        "default": "surrogate",
        "date": "shift",
        "birth": "generalise",
        "age": "generalise",
        "amount": "generalise",
    },
    "pseudonym": {"default": "pseudonym", "date": "generalise", "birth": "generalise"},
}
"""What is done with findings, by the name of a choice."""

SAMPLES = (
    Sample(
        name="notes_en",
        title="Clinical notes in English",
        about="12 invented notes of 4 patients, with names, numbers, dates and diagnoses.",
        python="datasets.notes(12)",
    ),
    Sample(
        name="notes_es",
        title="Clinical notes in Spanish",
        about="12 invented notes of 4 patients, with two surnames each.",
        python='datasets.notes(12, language="es")',
    ),
)


def prepare(progress: JobProgress, *, folder: str, brought: Brought) -> dict[str, Any]:
    """Put a sample or an uploaded file in place as `original`, and search it."""
    from celosia import texts
    from celosia.texts.run import check_languages

    work = Work.at(folder)
    place = work.path("original")
    shutil.rmtree(place, ignore_errors=True)
    if brought.sample is not None:
        from celosia.datasets import notes

        progress(Step("Making the sample", 0))
        notes(12, language="es" if brought.sample == "notes_es" else "en", seed=12).write(place)
    else:
        place.mkdir()
        path = work.path(brought.file)
        with uploaded(path, brought.shown):
            shutil.copyfile(path, place / f"document{Path(brought.shown).suffix.lower()}")
            progress(Step("Reading the documents", 0))
            declaration = _declaration(brought.state())
            reading = texts.read(place, declaration)
            check_languages(texts.find(reading).collection, declaration)
    work.save("texts", brought.state())
    progress(Step("Looking for what identifies people", 0))
    found = _found(work)
    about = {
        **brought.state(),
        "documents": len(found.collection),
        "findings": found.counts(),
        "to_review": len(found.to_review()),
        "action": "label",
        "k": None,
        "engine": "",
        "seed": None,
    }
    work.save("texts", about)
    return about


def declared(work: Work) -> TextDeclaration:
    """What the documents of a work mean: those of a sample say whose they are."""
    return _declaration(work.load("texts") or {})


def _declaration(state: Mapping[str, Any]) -> TextDeclaration:
    from celosia.texts import TextDeclaration

    return TextDeclaration(
        person="^(P[0-9]+)-" if state.get("sample") else None,
        other_languages="publish" if state.get("lenient") else "refuse",
    )


def _found(work: Work) -> FoundTexts:
    from celosia import texts
    from celosia.texts.detection.engines import engine_from_text

    engine = (work.load("texts") or {}).get("engine")
    return texts.find(
        texts.read(work.path("original"), declared(work)),
        engine=engine_from_text(engine) if engine else None,
    )


def review(folder: str) -> list[list[tuple[str, str]]]:
    """The first documents as stretches of text with the kind of each; no kind where none is."""
    work = Work.at(folder)
    found = _found(work)
    shown = []
    for document in found.collection.documents[:SHOWN]:
        pieces: list[tuple[str, str]] = []
        last = 0
        for each in found.of(document.number):
            if each.span.end > LONGEST:
                break
            pieces.append((document.text[last : each.span.start], ""))
            pieces.append((document.text[each.span.start : each.span.end], each.kind))
            last = each.span.end
        pieces.append((document.text[last:LONGEST], ""))
        shown.append(pieces)
    return shown


def run(
    progress: JobProgress, *, folder: str, action: str, k: int | None, seed: int | None = None
) -> dict[str, Any]:
    """Publish the documents of a work; files and `result.json` are written to its folder."""
    from celosia import texts
    from celosia.core.randomness import source

    work = Work.at(folder)
    progress(Step("Looking for what identifies people", 0))
    found = _found(work)
    models = [] if k is None else [texts.RareTerms(k=k)]
    progress(Step("Replacing and verifying", 0))
    actions = {**PRESETS[action], "health": "keep:reason=the subject of the documents"}
    release = texts.publish(found, actions=actions, models=models, rng=source(seed))
    _write(release, work.folder)
    index = texts.safe_index(release, k=k or INDEX_K, rng=source(seed))
    index.save(work.path("index.csv"))
    account = release.account
    result = {
        **guarantee_facts(release.guarantee),
        "action": action,
        "k": k,
        "warnings": list(release.warnings),
        "findings": dict(account.findings),
        "untouched": account.share_untouched,
        "verified": dict(release.verification),
        "left_out": dict(release.left_out),
        "singled_out": _singled_out(found, release),
        "terms": len(index.terms),
        "engine": (work.load("texts") or {}).get("engine", ""),
        "lenient": (work.load("texts") or {}).get("lenient", False),
        "texts": [text[:LONGEST] for text in release.texts[:SHOWN]],
    }
    work.save("result", result)
    return result


def _singled_out(found: FoundTexts, release: TextRelease) -> list[float]:
    """The share of persons whom three known terms of theirs single out, before and after."""
    from celosia.core.randomness import Seeded
    from celosia.texts.attacks import rare_terms

    persons = [each.unit for each in found.collection]
    before = [each.text for each in found.collection]
    return [rare_terms(each, persons, rng=Seeded(1)).share for each in (before, release.texts)]


def _write(release: TextRelease, place: Path) -> None:
    """The new files in one archive, the certificate and the report, under names of ours."""
    draft = place / "published"
    shutil.rmtree(draft, ignore_errors=True)
    for old in (place / "published.zip", place / "published.cert.json"):
        old.unlink(missing_ok=True)
    release.save(draft)
    (place / "published.cert.json").replace(place / "certificate.json")
    with zipfile.ZipFile(place / "published.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for each in release.files:
            # A fixed time: that of this machine tells nothing.
            archive.writestr(zipfile.ZipInfo(each.name, (1980, 1, 1, 0, 0, 0)), each.content)
    write_report(release.document(), place / "report.html")
    shutil.rmtree(draft)
