"""`celosia serve`, a vault behind HTTP, and `celosia token`, the tokens of its users."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from celosia.cli import console, options
from celosia.cli.addresses import resolve_address
from celosia.cli.frame import FileOutputs, JsonOutputs
from celosia.cli.policy import PolicyFile
from celosia.core.errors import InputError
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.queries.service import TokenStore

Policies = Annotated[
    list[str], "argument POLICY...", "The policy file; or several, each as FILE or NAME=FILE."
]
TokensFile = Annotated[Path | None, "FILE", "The file of tokens; by default beside the policy."]

token = typer.Typer(
    no_args_is_help=True,
    help="""Create, list and revoke the access tokens of a query service.

    **Examples**

    `celosia token create policy.toml --analyst ana --days 30`

    `celosia token list policy.toml`

    `celosia token revoke policy.toml 0123456789abcdef`
    """,
)


def serve(
    policies: Policies,
    host: options.Host = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65_535, help="Port to listen on.")] = 8440,
    flight: Annotated[
        int | None,
        typer.Option(min=1, max=65_535, help="A second port, for Arrow Flight SQL (ADBC, JDBC)."),
    ] = None,
    tokens: TokensFile = None,
    ledger: options.LedgerPlace = None,
    audit_log: Annotated[
        Path | None, "FILE", "The audit log of requests; by default beside the policy."
    ] = None,
    oidc: Annotated[
        Path | None,
        "FILE",
        "An identity provider whose signed tokens are accepted too (TOML); by default beside the "
        "policy, if it is there.",
    ] = None,
    certificate: options.HttpsCertificate = None,
    key: options.HttpsKey = None,
    plain: options.Plain = False,
) -> None:
    """Serve queries over HTTP, under a policy and with a budget for each analyst.

    It runs until Ctrl-C. Questions are answered to those who hold a token, at the deadlines of
    their plans, and noted in the audit log. The addresses are listed in /v1/openapi.json.

    Several policies are served at paths of their own, /NAME/v1/..., each with the ledger, tokens
    and audit log beside its file; NAME is that of the file. Nothing of one is seen through another.

    **Examples**

    `celosia token create policy.toml --curator carla`  (once, before the first start)

    `celosia serve policy.toml`

    `celosia serve shop.toml clinic=hospital/policy.toml`  (at /shop and /clinic)

    `celosia serve policy.toml --host 0.0.0.0 --certificate host.pem --key host.key`

    `celosia serve policy.toml --flight 8441`  (also for drivers of ADBC and JDBC)
    """
    from celosia.queries.policy import load_policy
    from celosia.queries.service import serve as run_service

    named = _named(policies)
    with console.noted_warnings(of_policy=True):
        declared = {name: load_policy(path) for name, path in named.items()}
    _check_files(certificate, key)
    is_single = list(named) == [""]
    if not is_single and tokens is not None:
        raise InputError("CEL-Q193.own_files")
    policy = next(iter(named.values()))
    kept = _store(_tokens_file(policy, tokens), made=oidc is not None) if is_single else None
    address = f"{'http' if certificate is None else 'https'}://{host}:{port}"
    serving = [
        say("cli.serve.serving", name=each.name, address=f"{address}/{name}".rstrip("/"))
        for name, each in declared.items()
    ]
    if flight is not None:
        scheme = "grpc" if certificate is None else "grpc+tls"
        serving.append(say("cli.serve.flight", address=f"{scheme}://{host}:{flight}"))
    try:
        run_service(
            policy if is_single else named,
            host=host,
            port=port,
            flight=flight,
            ledger=None if ledger is None else resolve_address(ledger),
            tokens=kept,
            audit_log=audit_log,
            oidc=oidc,
            certificate=certificate,
            key=key,
            plain=plain,
            ready=partial(_note_all, serving),
        )
    except InputError as error:
        raise _as_command_error(error, policy) from None
    finally:
        if kept is not None:
            kept.close()
    console.show(say("cli.serve.service_has_ended_what"))


def _note_all(lines: list[str]) -> None:
    for line in lines:
        console.note(line)


def _named(policies: list[str]) -> dict[str, Path]:
    """The policy files by the paths that they are served at; a single one has none."""
    from celosia.queries.service.policies import name_policies

    if len(policies) == 1 and "=" not in policies[0]:
        return {"": Path(policies[0])}
    return name_policies(policies)


@token.command()
def create(
    policy: PolicyFile,
    outputs: FileOutputs,
    analyst: options.Analyst = None,
    curator: Annotated[str | None, "NAME", "Instead: a curator, who sees all charges."] = None,
    days: Annotated[float, "Days until it expires, at most 366."] = 30,
    tokens: TokensFile = None,
    output: Annotated[
        Path | None, "--output -o", "Write it to a file that only you can read."
    ] = None,
) -> None:
    """Make a token. It is shown once, and only its hash is kept.

    **Examples**

    `celosia token create policy.toml --analyst ana --days 30 -o ana.token`

    `celosia token create policy.toml --curator carla`
    """
    from celosia.core.files import replacing

    outputs.check(inputs=(policy, tokens), token=output)
    role, name = _role_and_name(policy, analyst, curator)
    store = _store(_tokens_file(policy, tokens), made=True)
    try:
        made = store.create(role=role, name=name, days=days)
    finally:
        store.close()
    if output is not None:
        with replacing(output, overwrite=outputs.overwrite) as draft:
            draft.write_text(f"{made.text}\n", "ascii")
        output.chmod(0o600)
    facts = made.token.as_dict() if output is not None else made.as_dict()

    def lines() -> None:
        console.note(str(made.token))
        if output is None:
            console.note(say("cli.serve.hand_over_through_secure"))
        console.show(made.text if output is None else say("cli.serve.token_file", path=output))

    outputs.show(lambda: facts | {"output": None if output is None else str(output)}, lines)


@token.command("list")
def list_tokens(
    policy: PolicyFile,
    outputs: JsonOutputs,
    tokens: TokensFile = None,
) -> None:
    """List all tokens, without their secret texts.

    **Example**

    `celosia token list policy.toml`
    """
    store = _store(_tokens_file(policy, tokens), made=False)
    try:
        found = [each.as_dict() for each in store.tokens()]
    finally:
        store.close()
    keys = ("id", "role", "name", "created", "expires", "revoked")
    outputs.show(
        lambda: {"tokens": found},
        lambda: console.show_table(
            say("cli.serve.tokens"),
            console.columns("token", "role", "holder", "made", "expires", "revoked"),
            [[str(each[key] or "") for key in keys] for each in found],
            numbers=False,
        ),
    )


@token.command()
def revoke(
    policy: PolicyFile,
    name: Annotated[str, "argument TOKEN", "The name that `celosia token list` shows."],
    outputs: JsonOutputs,
    tokens: TokensFile = None,
) -> None:
    """Revoke a token at once, also for a running service.

    **Example**

    `celosia token revoke policy.toml 0123456789abcdef`
    """
    store = _store(_tokens_file(policy, tokens), made=False)
    try:
        ended = store.revoke(name)
    finally:
        store.close()
    outputs.show(ended.as_dict, last=ended)


def _tokens_file(policy: Path, tokens: Path | None) -> Path:
    from celosia.queries.service import tokens_path

    return tokens or tokens_path(policy)


def _store(place: Path, *, made: bool) -> TokenStore:
    """The file of tokens; only a command that makes a token may begin one."""
    from celosia.queries.service import TokenStore

    if not made and not place.is_file():
        raise InputError("CEL-Q209.none")
    return TokenStore(place)


def _role_and_name(policy: Path, analyst: str | None, curator: str | None) -> tuple[Any, str]:
    """The role and the name of the holder of a new token."""
    from celosia.core.messages import did_you_mean
    from celosia.queries.policy import load_policy

    with console.noted_warnings(of_policy=True):
        declared = load_policy(policy)
    if (analyst is None) == (curator is None):
        raise InputError("CEL-Q209.nobody")
    if analyst is None:
        return "curator", str(curator)
    known = [name for name, _ in declared.analysts]
    if known and analyst not in known:
        raise InputError(
            "CEL-Q209.unknown_analyst", analyst=analyst, hint=did_you_mean(analyst, known)
        )
    return "analyst", analyst


def _check_files(certificate: Path | None, key: Path | None) -> None:
    wanted = [path for path in (certificate, key) if path is not None]
    if (certificate is None) != (key is None) or not all(path.is_file() for path in wanted):
        raise InputError("CEL-Q212")


def _as_command_error(error: InputError, policy: Path) -> InputError:
    """The same error, with a fix that names options of the command instead of Python."""
    if error.code == "CEL-Q188":
        return InputError("CEL-Q188.command", **error.details)
    if error.code == "CEL-Q189":
        return InputError("CEL-Q189.command", policy=policy, **error.details)
    return error
