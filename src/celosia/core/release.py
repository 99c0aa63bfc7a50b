"""Protected data together with what is promised about it and how it was made."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from celosia.core.errors import InputError
from celosia.core.files import replacing
from celosia.core.guarantee import Guarantee
from celosia.core.kept_messages import KeptMessages, kept
from celosia.core.provenance import Provenance

if TYPE_CHECKING:
    from celosia.core.report import Document

CERTIFICATE_SUFFIX = ".cert.json"
"""Added to the name of the data file: `safe.csv` has its certificate in `safe.csv.cert.json`."""


@dataclass(frozen=True, kw_only=True)
class Release(ABC):
    """What every door returns: the data, its guarantee and its provenance.

    A subclass says how its data is written and read, which figures describe it, and how it is told
    in a report; saving, loading and the certificate are the same for all.
    """

    kind: ClassVar[str]
    """The name of this sort of release in certificates."""

    guarantee: Guarantee
    provenance: Provenance
    warnings: tuple[str, ...] = ()

    @abstractmethod
    def write_data(self, path: Path) -> None:
        """Write the protected data alone."""

    @abstractmethod
    def measures(self) -> dict[str, Any]:
        """Risk left, use left and the like, as plain values that `from_parts` can take back."""

    def check_path(self, path: Path) -> None:  # noqa: B027 - nothing to refuse by default
        """Refuse a path that the data could not be written to, before anything is written."""

    def data_facts(self) -> dict[str, Any]:
        """What must be known to read the data file back as it was; nothing by default."""
        return {}

    @classmethod
    @abstractmethod
    def from_parts(cls, path: Path, facts: dict[str, Any], **common: Any) -> Self:
        """Rebuild a release from its data file and certificate."""

    @abstractmethod
    def document(self) -> Document:
        """The report."""

    def certificate(self) -> dict[str, Any]:
        """Everything about the release but its data, as plain values."""
        messages = kept(self.warnings)
        return {
            "kind": self.kind,
            "guarantee": self.guarantee.as_dict(),
            "provenance": self.provenance.as_dict(),
            "measures": self.measures(),
            "warnings": list(self.warnings),
        } | ({"messages": messages} if messages else {})

    def save(self, path: str | Path, *, overwrite: bool = True) -> Path:
        """Write the data to `path` and its certificate beside it; both appear, or neither."""
        target = Path(path)
        self.check_path(target)
        beside = certificate_path(target)
        # The certificate takes its name first: one without its data is refused by `load`.
        with (
            replacing(target, overwrite=overwrite) as draft,
            replacing(beside, overwrite=overwrite) as paper,
        ):
            self.write_data(draft)
            described = {"file": target.name, "sha256": _sha256(draft)} | self.data_facts()
            facts = self.certificate() | {"data": described}
            paper.write_text(json.dumps(facts, indent=2, ensure_ascii=False) + "\n", "utf-8")
        return target

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read back what `save` wrote, refusing data that is not what the certificate describes."""
        target = Path(path)
        facts = _read_certificate(target)
        try:
            return cls._from_certificate(target, facts)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise _no_certificate(target) from error

    @classmethod
    def _from_certificate(cls, target: Path, facts: dict[str, Any]) -> Self:
        if facts["kind"] != cls.kind:
            raise InputError("CEL-I021", path=target, found=facts["kind"], wanted=cls.kind)
        if facts["data"]["sha256"] != _sha256(target):
            raise InputError("CEL-I022", path=target)
        known = KeptMessages(facts.get("messages"))
        return cls.from_parts(
            target,
            facts,
            guarantee=Guarantee.from_dict(facts["guarantee"]),
            provenance=Provenance(**facts["provenance"]),
            warnings=tuple(known.message(each) for each in facts["warnings"]),
        )

    def report(self, path: str | Path, *, overwrite: bool = True) -> Path:
        """Write the report as one HTML file that opens without a network."""
        target = Path(path)
        with replacing(target, overwrite=overwrite) as draft:
            draft.write_text(self.document().html(), "utf-8")
        return target


def certificate_path(path: Path) -> Path:
    """Where the certificate of a data file lies.

    >>> certificate_path(Path("safe.csv")).name
    'safe.csv.cert.json'
    """
    return path.with_name(path.name + CERTIFICATE_SUFFIX)


def _read_certificate(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise InputError("CEL-I023", path=path)
    try:
        facts = json.loads(certificate_path(path).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise _no_certificate(path) from error
    return facts if isinstance(facts, dict) else {}


def _no_certificate(path: Path) -> InputError:
    return InputError("CEL-I020", path=path, certificate=certificate_path(path).name)


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
