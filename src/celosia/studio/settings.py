"""Settings of a studio: its address, its passwords, and the limits of each visitor."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

from celosia.core.errors import InputError

MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of a studio.

    Args:
        host: where to listen; anything but this machine itself needs `passwords`.
        port: the port.
        passwords: any of these lets a visitor in; empty for no password.
        certificate: for HTTPS (PEM).
        key: the private key of the certificate (PEM).
        most_upload: the largest file that a visitor may bring, in bytes.
        most_area: what all files of one visitor may take, in bytes.
        idle: seconds after which the work of a visitor who has gone is removed.
        keep: where work is kept across restarts until it expires; None removes it at the end.
        workers: how many jobs run at the same time.
        most_jobs: how many jobs one visitor may have waiting or running.
        job_seconds: how long a job may run.
        job_memory: what one job may take, in bytes.
        names: the names by which other machines call this one.
        signing_key: the Ed25519 key of the house, which signs certificates; None for none.

    Raises:
        InputError: CEL-W001 open to others without a password, CEL-W002 a limit below 1, CEL-W003 a
            certificate without its key.
    """

    host: str = "127.0.0.1"
    port: int = 8080
    passwords: tuple[str, ...] = field(default=(), repr=False)
    certificate: Path | None = None
    key: Path | None = None
    most_upload: int = 100 * MEGABYTE
    most_area: int = 1000 * MEGABYTE
    idle: float = 3600.0
    keep: Path | None = None
    workers: int = 2
    most_jobs: int = 4
    job_seconds: float = 600.0
    job_memory: int = 8000 * MEGABYTE
    names: tuple[str, ...] = ()
    signing_key: Path | None = None

    def __post_init__(self) -> None:
        if self.shared and not self.passwords:
            raise InputError("CEL-W001", host=self.host)
        limits = ("most_upload", "most_area", "idle", "workers", "most_jobs", "job_seconds")
        for name in (*limits, "job_memory"):
            if not getattr(self, name) >= 1:
                raise InputError("CEL-W002", name=name)
        if (self.certificate is None) != (self.key is None):
            raise InputError("CEL-W003")

    @property
    def shared(self) -> bool:
        """Whether other machines can reach the studio."""
        return not _is_here(self.host)

    @property
    def address(self) -> str:
        """What to open on this machine."""
        scheme = "http" if self.certificate is None else "https"
        host = self.host
        if self.shared and host in ("0.0.0.0", "::"):  # noqa: S104 - compared, not bound
            host = "127.0.0.1"
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{self.port}"


def _is_here(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
