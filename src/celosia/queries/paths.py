"""Default paths of the files that belong to a policy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from celosia.core.errors import InputError

if TYPE_CHECKING:
    from celosia.queries.policy import Policy


def ledger_path(policy: str | Path | Policy) -> Path:
    """The file of a policy's ledger: beside the policy file, with its name.

    Raises:
        InputError: CEL-Q116 a policy that is no file has no place.

    >>> ledger_path("shop.toml").name
    'shop.ledger.sqlite'
    """
    if not isinstance(policy, str | Path):
        raise InputError("CEL-Q116.no_policy_file")
    return _beside(policy, ".ledger.sqlite")


def tokens_path(policy: str | Path) -> Path:
    """Where the tokens of a policy are kept unless said otherwise.

    >>> tokens_path("shop.toml").name, audit_log_path("shop.toml").name
    ('shop.tokens.sqlite', 'shop.audit.jsonl')
    """
    return _beside(policy, ".tokens.sqlite")


def oidc_path(policy: str | Path) -> Path:
    """The file that names the identity provider of a policy, where it has one."""
    return _beside(policy, ".oidc.toml")


def audit_log_path(policy: str | Path) -> Path:
    """Where the audit log of a policy is kept unless said otherwise."""
    return _beside(policy, ".audit.jsonl")


def synopsis_path(ledger: str | Path) -> Path | None:
    """The file beside a ledger that lists what workloads have measured; none beside a server's.

    >>> synopsis_path("shop.ledger.sqlite").name, synopsis_path("postgresql://db/ledger")
    ('shop.synopsis.json', None)
    """
    if "://" in str(ledger):
        return None
    path = Path(ledger)
    return path.with_name(
        path.name.removesuffix(".sqlite").removesuffix(".ledger") + ".synopsis.json"
    )


def trace_paths(policy: str | Path | Policy) -> tuple[Path, ...]:
    """The files beside a policy file that record charges, also where its ledger is lost."""
    if not isinstance(policy, str | Path):
        return ()
    return audit_log_path(policy), tokens_path(policy)


def _beside(policy: str | Path, ending: str) -> Path:
    path = Path(policy)
    return path.with_name(path.stem + ending)
