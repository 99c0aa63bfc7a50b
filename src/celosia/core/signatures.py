"""Signatures of certificates: a house signs what it publishes, and anybody can check it.

A certificate holds the SHA-256 of its data. The signature (Ed25519, RFC 8032) is over the bytes of
the certificate, so it covers the data, the promise and the parameters. It lies beside the
certificate: `safe.csv`, `safe.csv.cert.json`, `safe.csv.cert.json.sig`. Whoever checks it needs the
house's public key from the house itself: the key that a signature brings along proves nothing.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.core.errors import EngineError, InputError, PrivacyError
from celosia.core.files import replacing
from celosia.core.methods import PlainValues
from celosia.core.release import certificate_path, read_certificate, sha256_of

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )

SIGNATURE_SUFFIX = ".sig"
"""Added to the name of the certificate."""
PUBLIC_SUFFIX = ".pub"
"""Added to the name of the key of a house: the public half, which may be given to anybody."""
ALGORITHM = "Ed25519"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification(PlainValues):
    """What was found of a release: its data is that of its certificate, and who signed it."""

    promise: str
    created: str
    sha256: str
    """Of the data."""
    signed_by: str | None
    """The fingerprint of the key that signed it; None without a signature."""
    is_known_key: bool
    """Whether that is the key that was asked for; False where none was given."""


def make_key(path: str | Path) -> str:
    """Write a new key of a house, which only this user may read, and its public half beside it.

    Returns the fingerprint.

    Raises:
        InputError: CEL-I080 one of the files is there already.
        EngineError: CEL-I070 cryptography is not installed.
    """
    library = _cryptography()
    place = Path(path)
    public = place.with_name(place.name + PUBLIC_SUFFIX)
    if place.exists() or public.exists():
        raise InputError("CEL-I080.exists", path=place if place.exists() else public)
    key = library.ed25519.Ed25519PrivateKey.generate()
    forms = library.serialization
    secret = key.private_bytes(forms.Encoding.PEM, forms.PrivateFormat.PKCS8, forms.NoEncryption())
    with os.fdopen(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(secret)
    public.write_bytes(
        key.public_key().public_bytes(forms.Encoding.PEM, forms.PublicFormat.SubjectPublicKeyInfo)
    )
    return _fingerprint(_raw(key.public_key()))


def signature_path(data: Path) -> Path:
    """Where the signature of a data file lies.

    >>> signature_path(Path("safe.csv")).name
    'safe.csv.cert.json.sig'
    """
    beside = certificate_path(data)
    return beside.with_name(beside.name + SIGNATURE_SUFFIX)


def sign(data: str | Path, key: str | Path, *, overwrite: bool = True) -> Path:
    """Sign the certificate of a data file, which must be that of the data.

    Raises:
        InputError: CEL-I020 no certificate, CEL-I022 other data, CEL-I080 no key that can be used.
        EngineError: CEL-I070 cryptography is not installed.
    """
    target = Path(data)
    secret = private_key(Path(key))
    _check_data(target)
    content = certificate_path(target).read_bytes()
    facts = {
        "algorithm": ALGORITHM,
        "certificate": certificate_path(target).name,
        "public_key": base64.b64encode(_raw(secret.public_key())).decode("ascii"),
        "signature": base64.b64encode(secret.sign(content)).decode("ascii"),
    }
    with replacing(signature_path(target), overwrite=overwrite) as draft:
        draft.write_text(json.dumps(facts, indent=2) + "\n", "utf-8")
    return signature_path(target)


def verify(data: str | Path, key: str | Path | None = None) -> Verification:
    """Check a data file against its certificate, and the certificate against its signature.

    Args:
        data: the data file; certificate and signature lie beside it.
        key: the public key of the house. With one, a release without its signature is refused.

    Raises:
        InputError: CEL-I020 no certificate, CEL-I022 other data, CEL-I080 no key that can be used.
        PrivacyError: CEL-I081 there is no signature, it does not fit, or another key made it.
        EngineError: CEL-I070 cryptography is not installed.
    """
    target = Path(data)
    facts = _check_data(target)
    wanted = None if key is None else _raw(_public_key(Path(key)))
    signer = _signer(target)
    if wanted is not None and signer is None:
        raise PrivacyError("CEL-I081.unsigned", path=target)
    if wanted is not None and signer != wanted:
        raise PrivacyError("CEL-I081.other_key", path=target)
    return Verification(
        promise=str(facts["guarantee"]["promise"]),
        created=str(facts["provenance"]["created"]),
        sha256=str(facts["data"]["sha256"]),
        signed_by=None if signer is None else _fingerprint(signer),
        is_known_key=wanted is not None,
    )


def signed_by(data: Path) -> str | None:
    """The fingerprint of the key that signed the certificate; None where there is no signature.

    Raises:
        PrivacyError: CEL-I081 the signature is not that of this certificate.
        EngineError: CEL-I070 cryptography is not installed.
    """
    signer = _signer(data)
    return None if signer is None else _fingerprint(signer)


def _check_data(target: Path) -> dict[str, Any]:
    facts = read_certificate(target)
    try:
        if facts["data"]["sha256"] != sha256_of(target):
            raise InputError("CEL-I022", path=target)
        facts["guarantee"]["promise"], facts["provenance"]["created"]
    except (KeyError, TypeError):
        certificate = certificate_path(target).name
        raise InputError("CEL-I020", path=target, certificate=certificate) from None
    return facts


def _signer(target: Path) -> bytes | None:
    """The public key whose signature fits the certificate; None where there is no signature."""
    path = signature_path(target)
    if not path.is_file():
        return None
    library = _cryptography()
    try:
        facts = json.loads(path.read_text("utf-8"))
        public = base64.b64decode(facts["public_key"], validate=True)
        signature = base64.b64decode(facts["signature"], validate=True)
        if facts["algorithm"] != ALGORITHM:
            raise ValueError
        key = library.ed25519.Ed25519PublicKey.from_public_bytes(public)
        key.verify(signature, certificate_path(target).read_bytes())
    except (KeyError, TypeError, ValueError, library.InvalidSignature):
        raise PrivacyError("CEL-I081", path=target) from None
    return public


def private_key(path: Path) -> Ed25519PrivateKey:
    """The key of a house in a file.

    Raises:
        InputError: CEL-I080 there is none, or others may read it.
    """
    library = _cryptography()
    content = _read_key(path)
    if os.name == "posix" and path.stat().st_mode & 0o077:
        raise InputError("CEL-I080.readable", path=path)
    load = partial(library.serialization.load_pem_private_key, content, password=None)
    key: Ed25519PrivateKey = _loaded(load, library.ed25519.Ed25519PrivateKey, path)
    return key


def _public_key(path: Path) -> Ed25519PublicKey:
    library = _cryptography()
    load = partial(library.serialization.load_pem_public_key, _read_key(path))
    key: Ed25519PublicKey = _loaded(load, library.ed25519.Ed25519PublicKey, path)
    return key


def _loaded(load: Callable[[], object], kind: Any, path: Path) -> Any:
    """A key of this kind; a file of another one is refused."""
    try:
        found = load()
    except (ValueError, TypeError):
        found = None
    if not isinstance(found, kind):
        raise InputError("CEL-I080", path=path)
    return found


def _read_key(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        raise InputError("CEL-I080", path=path) from None


def _raw(key: Ed25519PublicKey) -> bytes:
    forms = _cryptography().serialization
    return key.public_bytes(forms.Encoding.Raw, forms.PublicFormat.Raw)


def _fingerprint(public: bytes) -> str:
    """Of a public key, to be compared by eye: the first 16 bytes of its SHA-256."""
    text = hashlib.sha256(public).hexdigest()[:32]
    return ":".join(text[at : at + 4] for at in range(0, 32, 4))


class _Library:
    """What is needed of cryptography, which is optional."""

    def __init__(self) -> None:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519

        self.InvalidSignature = InvalidSignature
        self.serialization = serialization
        self.ed25519 = ed25519


def _cryptography() -> _Library:
    try:
        return _Library()
    except ImportError:
        raise EngineError("CEL-I070.signatures") from None
