"""Publish documents: replace what was found, take what models refuse, write anew, verify."""

from __future__ import annotations

import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from celosia.assess.recognisers import ROLES
from celosia.assess.recognisers.identifiers import folded
from celosia.core.errors import InputError, PrivacyWarning
from celosia.core.messages import Message
from celosia.core.notation import notation
from celosia.core.progress import Progress, Step, silent
from celosia.core.pseudonyms.keys import Key
from celosia.core.randomness import Source, System
from celosia.core.release import Guarantee, Provenance
from celosia.texts import word_lists
from celosia.texts.account import TextAccount
from celosia.texts.actions import Action, ActionContext, Mention, actions_by_kind
from celosia.texts.actions.plain import Keep
from celosia.texts.detection.people import name_words
from celosia.texts.detection.run import FoundTexts
from celosia.texts.documents import Collection, Document, Finding, replaced, replaced_parts
from celosia.texts.formats import WRITTEN_AS
from celosia.texts.labels import SCOPE_LABELS
from celosia.texts.models import RemainingTexts, TextModel
from celosia.texts.options import TextDeclaration
from celosia.texts.readers import SourceFile
from celosia.texts.release import ModelOutcome, PublishedFile, TextRelease
from celosia.texts.verification import Leak, Verification, find_leaks, left_in_text

Replacement = tuple[int, int, str]


def publish(
    found: FoundTexts,
    *,
    actions: Mapping[str, str | Action] | TextDeclaration | str | Path | None = None,
    models: TextModel | Iterable[TextModel] = (),
    key: Key | None = None,
    keep_names: bool = False,
    rng: Source | None = None,
    progress: Progress = silent,
) -> TextRelease:
    """The documents with every finding replaced, in new files, with an account of what is left.

    Args:
        found: what `find` gave, with decisions of a review applied to it.
        actions: an action for each kind; those of the declaration without it.
        models: conditions on the terms that are left.
        key: what pseudonyms, surrogates and shifts come from; a new one without it, which is in
            `release.key`.
        keep_names: publish the names of the files; refused where a name holds a finding.
        rng: draws a new key and the order of the files; a seed makes it a simulation.
        progress: called as the work proceeds; may raise `Cancelled`.

    Raises:
        InputError: CEL-N022 a kind without an action; CEL-N021 no surrogate is left; CEL-N006
            documents in another language.
        PrivacyError: CEL-N030 a removed text is still in a new file; CEL-N031, CEL-N032 a model
            cannot hold.

    >>> from celosia.texts import Collection, find
    >>> note = Collection.of(["Dr. Ana Gil came on 3 May 2025."], persons=["P1"])
    >>> release = publish(find(note))
    >>> release.texts[0]
    'Dr. [PERSON 1] came on 2025.'
    """
    rng = System() if rng is None else rng
    declaration = found.declaration
    if isinstance(actions, str | Path):
        actions = TextDeclaration.load(actions)
    if isinstance(actions, TextDeclaration):
        actions = actions.actions
    by_kind = actions_by_kind(declaration.actions if actions is None else actions)
    chosen = (models,) if isinstance(models, TextModel) else tuple(models)
    check_languages(found.collection, declaration)
    used_kinds = {each.kind for each in found.findings}
    needs_key = any(by_kind[kind].needs_key for kind in used_kinds)
    if key is None and needs_key:
        key = Key.new(rng)
    work = _Work(found, by_kind, ActionContext(declaration.scope, key, _forbidden(found)))
    progress(Step(Message("texts.step.replace"), 0, len(found.collection)))
    work.replace_findings()
    outcomes = work.apply_models(chosen)
    texts = tuple(
        replaced(document.text, work.replacements[document.number]) for document in found.collection
    )
    files = _files(found, work, keep_names=keep_names, rng=rng)
    progress(Step(Message("texts.step.verify"), 0, len(files)))
    verification = _verified(found, work, files).require()
    account = TextAccount.of(found, work.replacements, work.kept)
    notes = _notes(found, by_kind)
    for note in notes:
        warnings.warn(note, PrivacyWarning, stacklevel=2)
    simulation = rng.simulation or (key is not None and key.simulation)
    shown = {kind: notation(by_kind[kind]) for kind in sorted(used_kinds)}
    return TextRelease(
        files=tuple(each.published for each in files),
        texts=texts,
        persons=_person_numbers(found, rng),
        names={each.source: each.published.name for each in files},
        key=key,
        actions=shown,
        models=outcomes,
        account=account,
        verification=verification.as_dict(),
        left_out=dict(found.left_out),
        removed=work.removed,
        guarantee=_guarantee(found, by_kind, used_kinds, chosen, simulation=simulation),
        provenance=Provenance.now(
            "celosia.texts.publish",
            {
                "actions": shown,
                "models": [each.as_dict() for each in chosen],
                "scope": declaration.scope,
                "keep_names": keep_names,
                "key": None if key is None else key.fingerprint(),
            },
            seed=rng.seed,
        ),
        warnings=notes,
    )


@dataclass
class _Work:
    """What is replaced by what, while a collection is published."""

    found: FoundTexts
    actions: Mapping[str, Action]
    context: ActionContext
    replacements: dict[int, list[Replacement]] = field(default_factory=lambda: defaultdict(list))
    removed: dict[int, list[tuple[str, str]]] = field(default_factory=lambda: defaultdict(list))
    """For each document the texts that went, with their kinds: for verification and attacks."""
    kept: Counter[str] = field(default_factory=Counter)

    @cached_property
    def canonical(self) -> dict[object, str]:
        """The longest form of each entity, by scope and group."""
        found: dict[object, str] = {}
        for finding in self.found.findings:
            text = self.text(finding)
            if len(text) > len(found.get((finding.kind, finding.group), "")):
                found[finding.kind, finding.group] = text
        return found

    def text(self, finding: Finding) -> str:
        """The text of a finding."""
        span = finding.span
        return self.found.collection.documents[span.document].text[span.start : span.end]

    def replace_findings(self) -> None:
        """Ask the action of each finding for what is published in its place."""
        for finding in self.found.findings:
            document = self.found.collection.documents[finding.span.document]
            action = self.actions[finding.kind]
            text = self.text(finding)
            if isinstance(action, Keep):
                self.kept[finding.kind] += 1
                continue
            canonical = self.canonical[finding.kind, finding.group]
            new = action.replacement(Mention(finding, document, text, canonical), self.context)
            self._take(document, finding.span.start, finding.span.end, new, finding.kind)

    def apply_models(self, models: Sequence[TextModel]) -> tuple[ModelOutcome, ...]:
        """Let each model take places from what is left, and check it afterwards."""
        outcomes = []
        taken = list(self.found.findings)
        for model in models:
            remaining = RemainingTexts(self.found.collection, tuple(self._left(taken)))
            result = model.apply(remaining)
            for each in result.selected:
                document = self.found.collection.documents[each.span.document]
                finding = Finding(each.span, "other")
                text = self.text(finding)
                mention = Mention(finding, document, text, text)
                new = each.text
                if new is None:
                    new = self.actions["other"].replacement(mention, self.context)
                self._take(document, each.span.start, each.span.end, new, "other")
                taken.append(finding)
            outcomes.append(ModelOutcome(notation(model), dict(result.facts)))
        return tuple(outcomes)

    def _left(self, taken: Sequence[Finding]) -> list[Finding]:
        """Without what is kept on purpose: models judge it as any other text."""
        return [each for each in taken if not isinstance(self.actions[each.kind], Keep)]

    def _take(self, document: Document, start: int, end: int, new: str, kind: str) -> None:
        text = document.text[start:end]
        if new == text:
            return
        self.replacements[document.number].append((start, end, new))
        if text not in new:
            self.removed[document.number].append((text, kind))


def check_languages(collection: Collection, declaration: TextDeclaration) -> None:
    """Refuse documents that are in none of our languages, unless the declaration takes them.

    Raises:
        InputError: CEL-N006 there are some.
    """
    if declaration.other_languages == "publish":
        return
    other = [each.number for each in collection if word_lists.writing_of(each.text) == "other"]
    if other:
        raise InputError("CEL-N006", count=len(other), total=len(collection), row=other[0] + 1)


def _forbidden(found: FoundTexts) -> frozenset[str]:
    """All words of names in the collection, and all words that begin with a capital letter."""
    words: set[str] = set()
    for document in found.collection:
        words.update(
            folded(word)
            for word in document.text.split()
            if word[:1].isupper() or word.strip(",.;:()").islower() is False
        )
    for finding in found.findings:
        if finding.kind == "person":
            span = finding.span
            text = found.collection.documents[span.document].text[span.start : span.end]
            words.update(name_words(text))
    return frozenset(word.strip(",.;:()[]\"'") for word in words)


@dataclass(frozen=True, slots=True)
class _NewFile:
    source: str = field(repr=False)
    published: PublishedFile
    documents: tuple[int, ...]


def _files(found: FoundTexts, work: _Work, *, keep_names: bool, rng: Source) -> list[_NewFile]:
    """Every file anew, under a number in random order unless names are kept."""
    sources = found.files or tuple(_plain_file(document) for document in found.collection)
    places = rng.permutation(len(sources)).tolist() if len(sources) > 1 else [0]
    width = max(4, len(str(len(sources))))
    made = []
    for at, source in enumerate(sources):
        texts = [
            replaced_parts(found.collection.documents[number], work.replacements[number])
            for number in source.documents
        ]
        suffix = WRITTEN_AS.get(source.suffix, source.suffix)
        name = f"document-{places[at] + 1:0{width}d}{suffix}"
        if keep_names:
            name = _kept_name(source.name, suffix, work)
        content = source.content.rebuild(texts)
        made.append(_NewFile(source.name, PublishedFile(name, content), source.documents))
    if len({each.published.name for each in made}) < len(made):
        raise InputError("CEL-N023.same")
    return sorted(made, key=lambda each: each.published.name)


def _kept_name(name: str, suffix: str, work: _Work) -> str:
    """The name of a file, where it holds nothing that was found anywhere."""
    from celosia.texts.detection.run import find
    from celosia.texts.documents import Collection

    said = name.rpartition(".")[0].replace("_", " ").replace("-", " ").replace("/", " ")
    words = {folded(word) for word in said.split()}
    known = {
        word
        for texts in work.removed.values()
        for text, kind in texts
        if ROLES[kind] == "direct"
        for word in name_words(text)
    }
    if words & known or find(Collection.of([said])).findings:
        raise InputError("CEL-N023.finding")
    return name.rpartition(".")[0] + suffix


def _plain_file(document: Document) -> SourceFile:
    from celosia.texts.formats import FileContent, Piece, Texts

    def rebuild(texts: Texts) -> bytes:
        return texts[0][0].encode("utf-8", "replace")

    content = FileContent(((Piece(document.text),),), rebuild)
    return SourceFile(document.name, ".txt", content, (document.number,))


def _verified(found: FoundTexts, work: _Work, files: Sequence[_NewFile]) -> Verification:
    leaks: list[Leak] = []
    common = word_lists.common_words()
    count = 0
    for file in files:
        removed: dict[str, str] = {}
        for number in file.documents:
            own = work.removed[number]
            count += len(own)
            document = found.collection.documents[number]
            kinds = left_in_text(document.text, work.replacements[number], own)
            leaks += [Leak(file.published.name, kind, "text") for kind in kinds]
            removed.update(dict(own))
        new = "\x00".join(
            text for number in file.documents for _, _, text in work.replacements[number]
        )
        is_alone = len(file.documents) == 1
        # Where many documents share a file, a word that one lost may rightly stand in another.
        looked_for = [
            (text, kind)
            for text, kind in removed.items()
            if text not in new
            and (is_alone or (ROLES[kind] == "direct" and folded(text) not in common))
        ]
        leaks += find_leaks(file.published.name, file.published.content, looked_for)
    return Verification(len(files), count, tuple(dict.fromkeys(leaks)))


def _person_numbers(found: FoundTexts, rng: Source) -> tuple[int, ...]:
    """A random number for the person of each document; its own for each without a person."""
    units = list(dict.fromkeys(document.unit for document in found.collection))
    order = rng.permutation(len(units)).tolist() if len(units) > 1 else [0]
    numbers = dict(zip(units, order, strict=True))
    return tuple(numbers[document.unit] for document in found.collection)


def _notes(found: FoundTexts, actions: Mapping[str, Action]) -> tuple[str, ...]:
    notes: list[str] = []
    if not found.collection.has_persons:
        notes.append(Message("texts.note.no_person"))
    written = Counter(word_lists.writing_of(each.text) for each in found.collection)
    if written["other"] + written["unknown"]:
        count = written["other"] + written["unknown"]
        notes.append(Message("texts.note.other_language", count=count))
    if written["mixed"]:
        notes.append(Message("texts.note.mixed_language", count=written["mixed"]))
    kept_direct = sorted(
        kind
        for kind, action in actions.items()
        if isinstance(action, Keep) and ROLES[kind] == "direct"
    )
    if kept_direct:
        notes.append(Message("texts.note.kept_direct", kinds=kept_direct))
    if found.names_with_findings:
        notes.append(Message("texts.note.keys", count=found.names_with_findings))
    return tuple(notes)


def _guarantee(
    found: FoundTexts,
    actions: Mapping[str, Action],
    used: set[str],
    models: Sequence[TextModel],
    *,
    simulation: bool,
) -> Guarantee:
    """What is promised: by models where there are some, else only what was found."""
    present = [actions[kind] for kind in sorted(used)]
    promises = [model.promise() for model in models]
    linkable = any(action.is_linkable for action in present)
    names = {action.method_name for action in present}
    leaves_open = [Message("texts.leaves_open.missed"), Message("texts.leaves_open.style")]
    if not models:
        leaves_open.append(Message("texts.leaves_open.together"))
    if linkable:
        leaves_open.append(Message("texts.leaves_open.linkable", scope=_scope(found)))
    if "shift" in names:
        leaves_open.append(Message("texts.leaves_open.shift"))
    if any(action.needs_key for action in present):
        leaves_open.append(Message("texts.leaves_open.key"))
    if any(isinstance(action, Keep) for action in present):
        leaves_open.append(Message("texts.leaves_open.kept"))
    assumes = [Message("texts.assumes.detected")]
    assumes += [each for model in models for each in model.assumes()]  # type: ignore[misc]
    first: str = Message("texts.promise.replaced")
    if "surrogate" in names:
        first = Message("texts.promise.invented")
    promise = (
        first if not promises else Message("texts.promise.several", promises=[first, *promises])
    )
    return Guarantee(
        promise=promise,
        unit=_unit(found),
        protects=(Message("texts.protects.models") if models else Message("texts.protects.found")),
        assumes=tuple(assumes),
        leaves_open=tuple(leaves_open),
        simulation=simulation,
    )


def _scope(found: FoundTexts) -> str:
    return SCOPE_LABELS[found.declaration.scope]


def _unit(found: FoundTexts) -> str:
    if found.collection.has_persons:
        return Message("texts.unit.person")
    return Message("texts.unit.document")
