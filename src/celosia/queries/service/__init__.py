"""The vault behind HTTP: tokens, limits, an audit log; and a client."""

from celosia.queries.paths import audit_log_path, tokens_path
from celosia.queries.service.app import create_app, serve
from celosia.queries.service.async_client import AsyncClient
from celosia.queries.service.audit_log import AuditLine, AuditLog
from celosia.queries.service.client import Client
from celosia.queries.service.errors import AccessDenied, TooBusy
from celosia.queries.service.limits import Limits
from celosia.queries.service.remote import RemoteLedger, RemotePlan
from celosia.queries.service.tokens import NewToken, Token, TokenStore

__all__ = [
    "AccessDenied",
    "AsyncClient",
    "AuditLine",
    "AuditLog",
    "Client",
    "Limits",
    "NewToken",
    "RemoteLedger",
    "RemotePlan",
    "Token",
    "TokenStore",
    "TooBusy",
    "audit_log_path",
    "create_app",
    "serve",
    "tokens_path",
]
