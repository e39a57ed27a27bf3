"""What every command can be told about the cluster, and the way to it.

Promises: a flag means the same before the command and behind it, where it wins; nothing is
read or connected before `connected`.
Elsewhere: what the configuration means (`kubeloop.config`).
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

__all__ = ["Flags", "cluster_flags", "connected", "flags_of", "pass_flags", "verbose_flag"]

P = ParamSpec("P")
F = TypeVar("F", bound=Callable[..., Any])

_KEY = "kubeloop.flags"
_LEVELS = {0: logging.WARNING, 1: logging.INFO}


class Flags(msgspec.Struct, frozen=True, kw_only=True):
    """The global flags."""

    context: str = ""
    kubeconfig: str = ""
    namespace: str = ""
    request_timeout: float = 0.0  # seconds; zero is none
    verbose: int = 0

    def config(self) -> ClusterConfig:
        """What would be used. Raises: ConfigError."""
        from kubeloop.config import ClusterConfig, Overrides

        overrides = Overrides(context=self.context, namespace=self.namespace)
        found = ClusterConfig.load(self.kubeconfig or None, overrides=overrides)
        # Said once more: in a pod the account's own namespace comes out of that.
        return found.replace(
            namespace=self.namespace or found.namespace, timeout=self.request_timeout
        )


def flags_of(ctx: click.Context) -> Flags:
    """The flags that were given so far."""
    flags: Flags = ctx.meta.setdefault(_KEY, Flags())
    return flags


def pass_flags(command: Callable[Concatenate[Flags, P], None]) -> Callable[P, None]:
    """Give a command its flags as the first argument."""

    @functools.wraps(command)
    def with_flags(*arguments: P.args, **options: P.kwargs) -> None:
        command(flags_of(click.get_current_context()), *arguments, **options)

    return with_flags


def _keep(ctx: click.Context, parameter: click.Parameter, value: Any) -> None:
    if value:
        ctx.meta[_KEY] = msgspec.structs.replace(flags_of(ctx), **{str(parameter.name): value})


def _keep_verbose(ctx: click.Context, parameter: click.Parameter, value: int) -> None:
    _keep(ctx, parameter, value)
    if value:
        logging.basicConfig(level=_LEVELS.get(value, logging.DEBUG))


def verbose_flag(command: F) -> F:
    """`-v`, which also every command without a cluster has."""
    return _flag(
        "-v", "--verbose", count=True, callback=_keep_verbose, help="Say more; -vv each request."
    )(command)


def cluster_flags(command: F) -> F:
    """The flags that say which cluster and namespace are meant."""
    for flag in reversed(_FLAGS):
        command = flag(command)
    return verbose_flag(command)


def _contexts(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """The names of contexts, for completion; none where no kubeconfig can be read."""
    from kubeloop.config import ConfigError, load_kubeconfig

    with contextlib.suppress(ConfigError):
        names = load_kubeconfig(flags_of(ctx).kubeconfig).contexts
        return [name for name in names if name.startswith(incomplete)]
    return []


def _flag(*names: str, **options: Any) -> Callable[[F], F]:
    return click.option(*names, expose_value=False, **{"callback": _keep} | options)


_FLAGS = (
    _flag("--context", metavar="NAME", help="The kubeconfig context.", shell_complete=_contexts),
    _flag("--kubeconfig", metavar="FILE", type=click.Path(), help="The only kubeconfig to read."),
    _flag("-n", "--namespace", metavar="NAME", help="The namespace, where none is said."),
    _flag(
        "--request-timeout",
        metavar="TIME",
        type=DurationType(),
        help="For each request: 30, 1m30s.",
    ),
)


@contextlib.asynccontextmanager
async def connected(flags: Flags) -> AsyncIterator[Client]:
    """A client of the cluster that the flags mean. Raises: ConfigError.

    What the server warns of is said on the error output, each text once.
    """
    from kubeloop.rest import RESTClient, WarningWriter
    from kubeloop.runtime import Client

    warnings = WarningWriter(color=sys.stderr.isatty(), deduplicate=True)
    async with RESTClient(flags.config(), warnings=warnings) as rest:
        yield Client(rest=rest, field_manager="kubeloop")
