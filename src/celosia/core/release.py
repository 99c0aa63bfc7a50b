"""Protected data together with what is promised about it and how it was made.

A certificate holds the English text of its messages, and beside it the messages themselves, so that
it can be told in any language. Fields are kept as far as the text shows them: a number with the
digits that are printed, a count that only chooses between one and many as such, and nothing that
the text does not say.
"""

from __future__ import annotations

import hashlib
import json
import platform
import string
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import distribution
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypedDict, Unpack, overload

from celosia.core.errors import InputError
from celosia.core.files import replacing
from celosia.core.messages import FAMILIES, LANGUAGES, Message, say, template
from celosia.core.methods import PlainValues

if TYPE_CHECKING:
    from celosia.core.report import Document


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarantee(PlainValues):
    """A promise in words that can be checked, printed and kept beside the data.

    >>> guarantee = Guarantee(promise="5-anonymity over age, zip", unit="record",
    ...     protects="no person can be tied to fewer than 5 records by age, zip",
    ...     assumes=("an attacker knows nothing but age and zip",),
    ...     leaves_open=("a class that shares its sensitive value tells it",))
    >>> print(guarantee)
    5-anonymity over age, zip (unit: record)
    """

    promise: str
    """The model and its parameters, as one would write them."""
    unit: str
    """The privacy unit: what one neighbour step changes, or who is hidden in the crowd."""
    protects: str
    """What an attacker cannot do."""
    neighbours: str | None = None
    """The neighbour relation of a differentially private promise; None for syntactic models."""
    assumes: tuple[str, ...] = ()
    """What must be true for the promise to hold."""
    leaves_open: tuple[str, ...] = ()
    """What the promise does not protect against."""
    simulation: bool = False
    """True when the randomness came from a seed: nothing is promised then."""

    def __str__(self) -> str:
        key = "reports.guarantee_simulation" if self.simulation else "reports.guarantee"
        return say(key, promise=self.promise, unit=self.unit)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON: the English, and as `messages` what it is made of."""
        texts = (self.promise, self.unit, self.protects, self.neighbours)
        messages = kept((*texts, *self.assumes, *self.leaves_open))
        return asdict(self) | ({"messages": messages} if messages else {})

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The inverse of `as_dict`; texts without a message stay English."""
        given = dict(values)
        known = KeptMessages(given.pop("messages", ()))
        for name in ("promise", "unit", "protects", "neighbours"):
            if name in given:
                given[name] = known.message(given[name])
        for name in ("assumes", "leaves_open"):
            given[name] = tuple(known.message(each) for each in given[name])
        return cls(**given)


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance(PlainValues):
    """The facts needed to explain a release, and to make it again from the same input."""

    made_by: str
    """The public function that made the release."""
    parameters: dict[str, Any]
    """What it was called with, as plain values."""
    seed: int | None
    created: str
    versions: dict[str, str]

    @classmethod
    def now(
        cls, made_by: str, parameters: dict[str, Any], *, seed: int | None = None
    ) -> Provenance:
        """Provenance of a release made at this moment with the installed versions."""
        return cls(
            made_by=made_by,
            parameters=parameters,
            seed=seed,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            versions=dict(_versions()),
        )


@cache  # a file that is searched for and read anew at every look
def installed_version(name: str) -> str:
    """The version of an installed package, as `importlib.metadata.version` tells it.

    That one parses a whole description as a mail to find one line of its head.

    Raises:
        PackageNotFoundError: it is not installed.
    """
    found = distribution(name)
    head, _, _ = (found.read_text("METADATA") or "").partition("\n\n")
    versions = [line[9:].strip() for line in head.splitlines() if line.startswith("Version: ")]
    return versions[0] if len(versions) == 1 else found.version


def _versions() -> tuple[tuple[str, str], ...]:
    return (
        ("celosia", installed_version("celosia")),
        ("python", platform.python_version()),
        ("numpy", installed_version("numpy")),
        ("polars", installed_version("polars")),
    )


_WRONG = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What a message that somebody else wrote can raise."""
_WHOLE = frozenset(["", ",", "_", "d", "n"])
"""Forms that show all of a whole number."""


def kept(texts: Iterable[str | None]) -> list[dict[str, Any]]:
    """The key, the fields and the English of each message among some texts, for JSON.

    >>> kept([Message("words.did_you_mean", name="age"), "a plain text"])
    [{'key': 'words.did_you_mean', 'fields': {'name': 'age'}, 'text': " (did you mean 'age'?)"}]
    """
    found = {text: _facts(text) for text in texts if isinstance(text, Message)}
    return [facts for facts in found.values() if facts is not None]


class KeptMessages:
    """The messages of a certificate by their English.

    >>> known = KeptMessages(kept([Message("words.did_you_mean", name="edad")]))
    >>> known.message(" (did you mean 'edad'?)").render("es"), known.message("other")
    (" (¿quiso decir 'edad'?)", 'other')
    """

    def __init__(self, kept: object) -> None:
        found = [_message(each) for each in kept] if isinstance(kept, list) else []
        self._known = {str.__str__(each): each for each in found if each is not None}

    @overload
    def message(self, text: str) -> str: ...
    @overload
    def message(self, text: None) -> None: ...
    def message(self, text: str | None) -> str | None:
        """The message that a text is the English of; the text itself where none is known."""
        return self._known.get(text, text) if isinstance(text, str) else text


def _facts(message: Message) -> dict[str, Any] | None:
    """A message as plain values; None where its text cannot be made from what it shows."""
    text = str.__str__(message)
    try:
        forms = _forms(template(message.key, "en"))
        fields = {name: _shown(message.fields[name], each) for name, each in forms.items()}
    except _WRONG:
        return None
    facts = {"key": message.key, "fields": fields, "text": text}
    return facts if _message(facts) is not None else None


def _message(facts: Any) -> Message | None:
    """The message that was kept; None where it does not say, in this version, what is written."""
    try:
        if facts["key"].partition(".")[0] not in FAMILIES:
            return None
        fields = {name: _field(each) for name, each in facts["fields"].items()}
        message = Message(facts["key"], **fields)
        for language in LANGUAGES:
            message.render(language)
    except _WRONG:
        return None
    return message if message == facts["text"] else None


def _field(value: Any) -> Any:
    if isinstance(value, dict):
        found = _message(value)
        if found is None:
            raise ValueError("no message")
        return found
    return [_field(each) for each in value] if isinstance(value, list) else value


def _forms(text: str) -> dict[str, list[str]]:
    """The fields of a template with the forms they are shown in; none if only counted by."""
    found: dict[str, list[str]] = {}
    for _literal, field, form, conversion in string.Formatter().parse(text):
        if field is None:
            continue
        name, *words = field.split("|")
        shown = found.setdefault(name, [])
        if not words:
            shown.append("" if conversion else form or "")
    return found


def _shown(value: object, forms: list[str]) -> Any:
    """As much of a field as its forms show."""
    if not forms:
        return 1 if value == 1 else 2
    if isinstance(value, Message):
        facts = _facts(value)
        if facts is None:
            raise ValueError("no message")
        return facts
    if isinstance(value, str):
        return str.__str__(value)
    if value is None or isinstance(value, bool):
        return value
    if {"list", "quoted", "lines"} & {*forms}:
        assert isinstance(value, Iterable)
        return [_shown(each, [""]) for each in value]
    return _shown_number(value, forms)


def _shown_number(value: Any, forms: list[str]) -> Any:
    """A number with the digits of the form that shows most of it."""
    item = getattr(value, "item", None)  # a number of NumPy
    value = item() if callable(item) else value
    if not isinstance(value, int | float):
        return str(value) if {*forms} == {""} else _printed(value, forms)
    exact = _WHOLE if isinstance(value, int) else {""}
    return value if exact & {*forms} else _printed(value, forms)


def _printed(value: Any, forms: list[str]) -> float:
    texts = [(format(value, form), form) for form in forms]
    text, form = max(texts, key=lambda each: len(each[0]))
    number = float(text.replace(",", "").rstrip("%"))
    return number / 100 if form.endswith("%") else number


CERTIFICATE_SUFFIX = ".cert.json"
"""Added to the name of the data file: `safe.csv` has its certificate in `safe.csv.cert.json`."""


class CommonParts(TypedDict):
    """What every certificate holds, of whatever release."""

    guarantee: Guarantee
    provenance: Provenance
    warnings: tuple[str, ...]


def common_parts(facts: dict[str, Any]) -> CommonParts:
    """What a certificate says of any release."""
    known = KeptMessages(facts.get("messages"))
    return {
        "guarantee": Guarantee.from_dict(facts["guarantee"]),
        "provenance": Provenance.from_dict(facts["provenance"]),
        "warnings": tuple(known.message(each) for each in facts["warnings"]),
    }


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
    def from_parts(cls, path: Path, facts: dict[str, Any], **common: Unpack[CommonParts]) -> Self:
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
            described = {"file": target.name, "sha256": sha256_of(draft)} | self.data_facts()
            facts = self.certificate() | {"data": described}
            paper.write_text(json.dumps(facts, indent=2, ensure_ascii=False) + "\n", "utf-8")
        return target

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read back what `save` wrote, refusing data that is not what the certificate describes."""
        target = Path(path)
        facts = read_certificate(target)
        try:
            return cls._from_certificate(target, facts)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise _no_certificate(target) from error

    @classmethod
    def _from_certificate(cls, target: Path, facts: dict[str, Any]) -> Self:
        if facts["kind"] != cls.kind:
            raise InputError("CEL-I021", path=target, found=facts["kind"], wanted=cls.kind)
        if facts["data"]["sha256"] != sha256_of(target):
            raise InputError("CEL-I022", path=target)
        return cls.from_parts(target, facts, **common_parts(facts))

    def report(
        self, path: str | Path, *, overwrite: bool = True, data: str | Path | None = None
    ) -> Path:
        """Write the report as one file that opens without a network: .pdf, or HTML otherwise.

        Args:
            path: where the report goes.
            overwrite: whether a file that is there may be replaced.
            data: the saved data, whose fingerprint and signature the report then tells.
        """
        document = self.document() if data is None else self.document_of(Path(data))
        return document.write(path, overwrite=overwrite)

    def document_of(self, data: Path) -> Document:
        """The report with the fingerprint of the saved data and the signature beside it."""
        from celosia.core.release_report import file_blocks  # it builds on this module

        document = self.document()
        return replace(document, blocks=(*document.blocks, *file_blocks(data)))


def certificate_path(path: Path) -> Path:
    """Where the certificate of a data file lies.

    >>> certificate_path(Path("safe.csv")).name
    'safe.csv.cert.json'
    """
    return path.with_name(path.name + CERTIFICATE_SUFFIX)


def read_certificate(path: Path) -> dict[str, Any]:
    """The certificate of a data file, as it was written.

    Raises:
        InputError: CEL-I020 there is none that can be read, CEL-I023 there is no data.
    """
    if not path.is_file():
        raise InputError("CEL-I023", path=path)
    try:
        facts = json.loads(certificate_path(path).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise _no_certificate(path) from error
    return facts if isinstance(facts, dict) else {}


def _no_certificate(path: Path) -> InputError:
    return InputError("CEL-I020", path=path, certificate=certificate_path(path).name)


def sha256_of(path: Path) -> str:
    """The fingerprint of a file, as certificates have it."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
