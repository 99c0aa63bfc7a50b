"""Keyed fingerprints of what was removed, to search a release again without the originals.

A fingerprint is the HMAC of the words of a removed text under a key that is derived from the key of
the release. Without that key it tells nothing; with it, guesses can be tried, so the file is as
secret as the key file beside which it lies. The texts themselves are not kept.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from celosia.assess.recognisers import ROLES
from celosia.assess.recognisers.identifiers import folded
from celosia.core.errors import InputError
from celosia.core.files import replacing
from celosia.core.pseudonyms.keys import Key
from celosia.texts import word_lists
from celosia.texts.detection.tokens import words_of
from celosia.texts.folding import fold
from celosia.texts.verification import SHORTEST, Leak, Verification, layers

if TYPE_CHECKING:
    from celosia.texts.release import PublishedFile, TextRelease

_FORMAT = "removed texts 1"
_BYTES = 16


def is_telling(text: str, kind: str) -> bool:
    """Whether a removed text must be nowhere in a release.

    A name that is a common word, or one that a surrogate may have, stands rightly in other texts.
    """
    is_harmless = folded(text) in word_lists.common_words() | word_lists.known_names()
    return ROLES[kind] == "direct" and len(text) >= SHORTEST and not is_harmless


@dataclass(frozen=True, slots=True)
class RemovedTexts:
    """Fingerprints of removed texts, by how many words they have, each with its kind."""

    files: str
    """What tells the published files from others."""
    by_size: dict[int, dict[bytes, str]] = field(repr=False)

    @classmethod
    def of(cls, release: TextRelease, key: Key) -> RemovedTexts:
        """Those of a release that was just made."""
        secret = key.derive("removed texts").secret
        found: dict[int, dict[bytes, str]] = defaultdict(dict)
        kept = {kind for kind, action in release.actions.items() if action.startswith("keep")}
        for removed in release.removed.values():
            for text, kind in removed:
                words = _words(text)
                if words and kind not in kept and is_telling(text, kind):
                    found[len(words)][_digest(secret, words)] = kind
        return cls(_files_digest(release.files), dict(found))

    def save(self, key: Path) -> Path:
        """Write them beside a key file, readable by their owner only."""
        path = beside(key)
        values = {
            str(size): {digest.hex(): kind for digest, kind in sorted(found.items())}
            for size, found in sorted(self.by_size.items())
        }
        with replacing(path, overwrite=True, secret=True) as draft:
            text = json.dumps({"format": _FORMAT, "files": self.files, "values": values})
            draft.write_text(text + "\n", "utf-8")
        return path

    @classmethod
    def load(cls, key: Path) -> RemovedTexts:
        """Those beside a key file.

        Raises:
            InputError: CEL-N045 the file is missing or is another one.
        """
        path = beside(key)
        try:
            known = json.loads(path.read_text("utf-8"))
            if known["format"] != _FORMAT:
                raise ValueError
            by_size = {
                int(size): {bytes.fromhex(digest): str(kind) for digest, kind in found.items()}
                for size, found in known["values"].items()
            }
            return cls(str(known["files"]), by_size)
        except (OSError, ValueError, KeyError, AttributeError, TypeError):
            raise InputError("CEL-N045", path=path) from None

    def verify(self, release: TextRelease, key: Key) -> Verification:
        """Look for the removed texts in all layers of published files.

        Raises:
            InputError: CEL-N045 they are of another release.
        """
        if self.files != _files_digest(release.files):
            raise InputError("CEL-N045.release")
        secret = key.derive("removed texts").secret
        leaks: dict[Leak, None] = {}
        for file in release.files:
            for layer, data in layers(file.name, file.content):
                for text in _readings(data):
                    for kind in self._kinds(text, secret):
                        leaks[Leak(file.name, kind, layer)] = None
        texts = sum(map(len, self.by_size.values()))
        return Verification(len(release.files), texts, tuple(leaks))

    def _kinds(self, text: str, secret: bytes) -> Iterator[str]:
        words = _words(text)
        for size, known in self.by_size.items():
            for at in range(len(words) - size + 1):
                kind = known.get(_digest(secret, words[at : at + size]))
                if kind is not None:
                    yield kind


def beside(key: Path) -> Path:
    """The file of the fingerprints that belong to a key file."""
    return key.with_name(f"{key.name}.removed")


def _words(text: str) -> list[str]:
    return words_of(fold(text).text).words


def _digest(secret: bytes, words: Iterable[str]) -> bytes:
    return hmac.digest(secret, " ".join(words).encode("utf-8", "surrogatepass"), "sha256")[:_BYTES]


def _readings(data: bytes) -> Iterator[str]:
    """The bytes of a layer as text, in the encodings that they may have."""
    try:
        yield data.decode("utf-8")
    except UnicodeDecodeError:
        yield data.decode("latin-1")
    if b"\x00" in data:
        yield data.decode("utf-16-le", "replace")
        yield data.decode("utf-16-be", "replace")


def _files_digest(files: Iterable[PublishedFile]) -> str:
    found = sorted((each.name, hashlib.sha256(each.content).hexdigest()) for each in files)
    return hashlib.sha256(json.dumps(found).encode()).hexdigest()
