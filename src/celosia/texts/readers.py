"""Read documents: a folder, one file, or a table or JSON lines with many documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent
from celosia.texts.documents import Collection, Document, Part
from celosia.texts.formats import FileContent, Piece, is_known, open_file
from celosia.texts.options import TextDeclaration
from celosia.texts.word_lists import guess_language

_CERTIFICATE = ".cert.json"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file that was read."""

    name: str = field(repr=False)
    suffix: str
    content: FileContent = field(repr=False)
    documents: tuple[int, ...]
    """The numbers of its documents, in the order of the file."""


@dataclass(frozen=True, slots=True)
class ReadResult:
    """The documents, the files they came from, and what was left out on the way."""

    collection: Collection
    files: tuple[SourceFile, ...] = field(repr=False)
    declaration: TextDeclaration
    left_out: dict[str, int] = field(default_factory=dict)
    """Counts of hidden or embedded content that is not in the texts and in no new file."""


def read(
    path: str | Path,
    declaration: TextDeclaration | str | Path | None = None,
    *,
    progress: Progress = silent,
) -> ReadResult:
    """The documents of a file or of all files of a folder, in the order of their names.

    Args:
        path: a file, or a folder whose files are read with those of its folders.
        declaration: what the documents mean, or the TOML file that says so.
        progress: called as the work proceeds.

    Raises:
        InputError: CEL-N001 there is no document; CEL-N002 a file of another format; CEL-N003 a
            file that cannot be read; CEL-N005 a document whose person is not known.
    """
    if declaration is None:
        declaration = TextDeclaration()
    elif not isinstance(declaration, TextDeclaration):
        declaration = TextDeclaration.load(declaration)
    root = Path(path)
    paths = list(_paths(root))
    if not paths:
        raise InputError("CEL-N001", path=root)
    files: list[SourceFile] = []
    documents: list[Document] = []
    left_out: Counter[str] = Counter()
    for number, file in enumerate(paths):
        progress(Step(Message("texts.step.read"), number, len(paths)))
        try:
            content = open_file(file)
        except InputError as error:
            # Names of files are text too: the place is its number in the order of the names.
            raise error.within(f"file {number + 1}") from None
        name = file.name if root.is_file() else file.relative_to(root).as_posix()
        first = len(documents)
        for pieces in content.documents:
            documents.append(_document(len(documents), name, number, pieces, declaration))
        files.append(
            SourceFile(name, file.suffix.lower(), content, tuple(range(first, len(documents))))
        )
        left_out.update(content.left_out)
    unknown = sum(each.person is None for each in documents)
    if declaration.person is not None and unknown:
        raise InputError("CEL-N005", documents=unknown, total=len(documents))
    collection = Collection(tuple(documents), has_persons=declaration.person is not None)
    return ReadResult(collection, tuple(files), declaration, dict(left_out))


def _paths(root: Path) -> Iterator[Path]:
    if root.is_file():
        yield root
        return
    if not root.is_dir():
        raise InputError("CEL-N001.missing", path=root)
    found = [each for each in sorted(root.rglob("*")) if not each.is_dir()]
    for each in found:
        hidden = any(part.startswith(".") for part in each.relative_to(root).parts)
        if not hidden and not each.name.endswith(_CERTIFICATE):
            yield each


def _document(
    number: int,
    name: str,
    file: int,
    pieces: tuple[Piece, ...],
    declaration: TextDeclaration,
) -> Document:
    text: list[str] = []
    parts: list[Part] = []
    size = 0
    for at, piece in enumerate(pieces):
        glue = piece.glue if at else ""
        text += [glue, piece.text]
        size += len(glue)
        parts.append(Part(size, size + len(piece.text), piece.label))
        size += len(piece.text)
    whole = "".join(text)
    person = declaration.person_of(name)
    if person is None and declaration.person is not None:
        own = (piece.text.strip() for piece in pieces if piece.label == declaration.person)
        person = next((each for each in own if each), None)
    language = guess_language(whole) if declaration.language == "auto" else declaration.language
    return Document(number, name, whole, language, person, tuple(parts), file)


__all__ = ["ReadResult", "SourceFile", "is_known", "read"]
