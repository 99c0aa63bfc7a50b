"""Shares that are sealed to an aggregator: whoever ends its HTTPS, such as a proxy, reads nothing.

A sealed message is `CLS1` and the ciphertext of HPKE (RFC 9180, base mode: X25519, HKDF-SHA256,
AES-128-GCM), bound to the task and to the role of the aggregator. It is made by the package
`cryptography`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from celosia.collect.secure._keccak import SEED
from celosia.core.errors import EngineError, InputError

if TYPE_CHECKING:
    from celosia.collect.secure.records import Role
    from celosia.collect.secure.tasks import SecureTask

MARK = b"CLS1"


def public_key(key: bytes) -> bytes:
    """The public key of an aggregator, by its 32 secret random bytes.

    Raises:
        InputError: CEL-R096 not 32 bytes.
        EngineError: CEL-I070 cryptography is not installed, or too old.
    """
    found: bytes = _private(key).public_key().public_bytes_raw()
    return found


def seal(task: SecureTask, role: Role, shares: bytes, key: bytes) -> bytes:
    """Seal shares to the public key of the aggregator of a role.

    Raises:
        InputError: CEL-R096 not a public key.
        EngineError: CEL-I070 cryptography is not installed, or too old.
    """
    hpke, x25519 = _library()
    try:
        to = x25519.X25519PublicKey.from_public_bytes(key)
        sealed: bytes = _suite(hpke).encrypt(shares, to, _info(task, role))
    except ValueError:
        raise InputError("CEL-R096.key") from None
    return MARK + sealed


def unseal(task: SecureTask, role: Role, data: bytes, key: bytes) -> bytes:
    """The shares of a message that was sealed to this aggregator.

    Raises:
        InputError: CEL-R096 not sealed, or to another key, task or role, or damaged.
        EngineError: CEL-I070 cryptography is not installed, or too old.
    """
    hpke, _ = _library()
    if not data.startswith(MARK):
        raise InputError("CEL-R096.not_sealed")
    from cryptography.exceptions import InvalidTag

    try:
        found: bytes = _suite(hpke).decrypt(data[len(MARK) :], _private(key), _info(task, role))
    except (InvalidTag, ValueError):
        raise InputError("CEL-R096.not_sealed") from None
    return found


def _info(task: SecureTask, role: Role) -> bytes:
    return b"celosia shares " + task.fingerprint + role.encode()


def _suite(hpke: Any) -> Any:
    return hpke.Suite(hpke.KEM.X25519, hpke.KDF.HKDF_SHA256, hpke.AEAD.AES_128_GCM)


def _private(key: bytes) -> Any:
    _, x25519 = _library()
    if len(key) != SEED:
        raise InputError("CEL-R096.key")
    return x25519.X25519PrivateKey.from_private_bytes(key)


def _library() -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import hpke
        from cryptography.hazmat.primitives.asymmetric import x25519
    except ImportError:
        raise EngineError("CEL-I070.sealing") from None
    return hpke, x25519
