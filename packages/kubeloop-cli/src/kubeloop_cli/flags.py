"""The global flags, and the client that they configure.

Guarantees: a flag means the same before and after the command; the one after it wins. No file
is read and no connection opened before `connect`.
See also: `kubeloop.config` (what the configuration means).
"""

from __future__ import annotations

import contextlib
import functools
import logging
import sys
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import click
import msgspec

from .durations import DurationType

if TYPE_CHECKING:
    from kubeloop.config import ClusterConfig
    from kubeloop.runtime import Client

__all__ = [
    "Flags",
    "OptionalValueCommand",
    "cluster_flags",
    "connect",
    "flags_of",
    "pass_flags",
    "verbose_flag",
]

P = ParamSpec("P")
F = TypeVar("F", bound=Callable[..., Any])

_KEY = "kubeloop.flags"
_LEVELS = {0: logging.WARNING, 1: logging.INFO}


class Flags(msgspec.Struct, frozen=True, kw_only=True):
    """The global flags."""

    context: str = ""
    kubeconfig: str = ""
    namespace: str = ""
    server: str = ""
    certificate_authority: str = ""
    insecure_skip_tls_verify: bool = False
    token: str = ""
    impersonate: str = ""
    impersonate_groups: tuple[str, ...] = ()
    impersonate_uid: str = ""
    request_timeout: float = 0.0  # seconds; zero is none
    verbose: int = 0

    def __repr__(self) -> str:
        return "Flags(…)"  # without the token

    def config(self) -> ClusterConfig:
        """The configuration of the cluster. Raises: ConfigError."""
        from kubeloop.config import Cluster, ClusterConfig, Overrides, User

        overrides = Overrides(
            context=self.context,
            namespace=self.namespace,
            cluster_info=Cluster(
                server=self.server,
                certificate_authority=self.certificate_authority,
                insecure_skip_tls_verify=self.insecure_skip_tls_verify,
            ),
            user_info=User(token=self.token),
        )
        found = ClusterConfig.load(self.kubeconfig or None, overrides=overrides)
        # In a pod, `load` returns the namespace of the service account; the flag wins over it.
        found = found.replace(
            namespace=self.namespace or found.namespace, timeout=self.request_timeout
        )
        return self._impersonating(found)

    def _impersonating(self, config: ClusterConfig) -> ClusterConfig:
        """The configuration with the flags of impersonation, which hold in a pod as well."""
        if not (self.impersonate or self.impersonate_groups or self.impersonate_uid):
            return config
        from kubeloop.config import ConfigError, Impersonation

        user = self.impersonate or (config.impersonate.user if config.impersonate else "")
        if not user:
            raise ConfigError("--as-group and --as-uid need a user to impersonate (add --as)")
        return config.replace(
            impersonate=Impersonation(
                user=user, groups=self.impersonate_groups, uid=self.impersonate_uid
            )
        )


def flags_of(ctx: click.Context) -> Flags:
    """The flags parsed so far."""
    flags: Flags = ctx.meta.setdefault(_KEY, Flags())
    return flags


def pass_flags(command: Callable[Concatenate[Flags, P], None]) -> Callable[P, None]:
    """Pass the flags to a command as its first argument."""

    @functools.wraps(command)
    def with_flags(*arguments: P.args, **options: P.kwargs) -> None:
        command(flags_of(click.get_current_context()), *arguments, **options)

    return with_flags


def _store(ctx: click.Context, parameter: click.Parameter, value: Any) -> None:
    if value:
        ctx.meta[_KEY] = msgspec.structs.replace(flags_of(ctx), **{str(parameter.name): value})


def _store_verbose(ctx: click.Context, parameter: click.Parameter, value: int) -> None:
    _store(ctx, parameter, value)
    if value:
        logging.basicConfig(level=_LEVELS.get(value, logging.DEBUG))


def verbose_flag(command: F) -> F:
    """`-v`, which commands without a cluster have too."""
    return _flag(
        "-v", "--verbose", count=True, callback=_store_verbose,
        help="Show log lines and tracebacks; -vv shows each request.",
    )(command)  # fmt: skip


def cluster_flags(command: F) -> F:
    """The flags that select the cluster and the namespace."""
    for flag in reversed(_FLAGS):
        command = flag(command)
    return verbose_flag(command)


def _contexts(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Names of contexts for completion; empty if the kubeconfig cannot be read."""
    from kubeloop.config import ConfigError, load_kubeconfig

    with contextlib.suppress(ConfigError):
        names = load_kubeconfig(flags_of(ctx).kubeconfig).contexts
        return [name for name in names if name.startswith(incomplete)]
    return []


def _namespaces(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from .completion import complete_namespace

    return complete_namespace(ctx, parameter, incomplete)


def _flag(*names: str, **options: Any) -> Callable[[F], F]:
    return click.option(*names, expose_value=False, **{"callback": _store} | options)


_FLAGS = (
    _flag(
        "--context", metavar="NAME", help="The kubeconfig context to use.", shell_complete=_contexts
    ),
    _flag("--kubeconfig", metavar="FILE", type=click.Path(), help="The kubeconfig file to use."),
    _flag(
        "-n",
        "--namespace",
        metavar="NAME",
        help="The namespace of the request.",
        shell_complete=_namespaces,
    ),
    _flag("-s", "--server", metavar="URL", help="The address of the API server."),
    _flag(
        "--certificate-authority",
        metavar="FILE",
        type=click.Path(),
        help="The CA certificates of the API server.",
    ),
    _flag(
        "--insecure-skip-tls-verify",
        is_flag=True,
        help="Accept any certificate of the API server.",
    ),
    _flag("--token", metavar="TOKEN", help="The bearer token of the requests."),
    _flag("--as", "impersonate", metavar="USER", help="Impersonate this user."),
    _flag(
        "--as-group",
        "impersonate_groups",
        metavar="GROUP",
        multiple=True,
        help="Impersonate this group; can be repeated.",
    ),
    _flag("--as-uid", "impersonate_uid", metavar="UID", help="Impersonate this uid."),
    _flag(
        "--request-timeout",
        metavar="DURATION",
        type=DurationType(),
        help="The timeout of each request, such as 30s or 1m30s.",
    ),
)


class OptionalValueCommand(click.Command):
    """A command whose flags take an optional value after `=` only, as in kubectl.

    Otherwise click takes the next argument as the value: `rollout status -w deploy/web`.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        values = {
            name: f"{max(option.opts, key=len)}={option.flag_value}"
            for option in self.params
            if isinstance(option, click.Option)
            and not option.is_flag
            and isinstance(option.flag_value, str | bool)
            for name in option.opts
        }
        end = args.index("--") if "--" in args else len(args)
        args[:end] = [values.get(word, word) for word in args[:end]]
        return super().parse_args(ctx, args)


@contextlib.asynccontextmanager
async def connect(flags: Flags) -> AsyncIterator[Client]:
    """A client for the cluster that the flags select. Raises: ConfigError.

    Prints warnings of the server to stderr, each text once.
    """
    from kubeloop.rest import RESTClient, WarningWriter
    from kubeloop.runtime import Client

    warnings = WarningWriter(color=sys.stderr.isatty(), deduplicate=True)
    async with RESTClient(flags.config(), warnings=warnings) as rest:
        yield Client(rest=rest, field_manager="kubeloop")
