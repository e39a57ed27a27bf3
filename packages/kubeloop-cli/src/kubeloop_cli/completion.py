"""`kubeloop completion`, and the values that shells complete.

Guarantees: a completion prints no error: if the cluster does not respond within two seconds,
or not at all, there are no suggestions from it. Nothing is changed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any

import click

from .flags import flags_of, verbose_flag

if TYPE_CHECKING:
    from kubeloop.runtime import Client

__all__ = [
    "complete_container",
    "complete_kind",
    "complete_namespace",
    "complete_pod",
    "complete_type",
    "completion",
    "register_shells",
]


_PATIENCE = 2.0  # seconds
_MOST_NAMES = 500


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@verbose_flag
@click.pass_context
def completion(ctx: click.Context, *, shell: str) -> None:
    """Print the script that completes commands, flags, and names of the cluster.

    \b
    Examples:
      source <(kubeloop completion bash)
      kubeloop completion zsh > "${fpath[1]}/_kubeloop"
      kubeloop completion fish > ~/.config/fish/completions/kubeloop.fish
    """
    from click.shell_completion import get_completion_class

    script = get_completion_class(shell)
    assert script is not None, "click supports the shells in the list"
    program = ctx.find_root().command
    click.echo(script(program, {}, "kubeloop", "_KUBELOOP_COMPLETE").source())


def register_shells() -> None:
    """Let click use the completion for bash that follows."""
    from click.shell_completion import BashComplete, add_completion_class

    class Bash(BashComplete):
        """bash passes `--namespace=sh` as three words."""

        def get_completion_args(self) -> tuple[list[str], str]:
            arguments, incomplete = super().get_completion_args()
            return [each for each in arguments if each != "="], incomplete

    add_completion_class(Bash)


# --- values


def complete_kind(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Resource types, then names of objects; `TYPE/` is followed by a name."""
    words: Any = ctx.params.get(str(parameter.name)) or ()  # a tuple, or the value of a flag
    if isinstance(words, tuple) and words and "/" not in words[0]:
        names = _ask(ctx, lambda client: _names(client, words[0]))
        return _starting(set(names) - set(words[1:]), incomplete)
    kind, slash, _ = incomplete.partition("/")
    if slash:
        names = _ask(ctx, lambda client: _names(client, kind))
        return _starting((f"{kind}/{name}" for name in names), incomplete)
    return complete_type(ctx, parameter, incomplete)


def complete_type(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001 - click's signature
    """Resource types; several are separated by commas."""
    from kubeloop.wire import resources

    before, comma, part = incomplete.rpartition(",")
    found = _ask(ctx, _types, {info.plural for info in resources()})
    return [f"{before}{comma}{name}" for name in _starting(found, part)]


def complete_pod(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    """Names of pods; or a type of an object with pods, and its name."""
    kind, slash, _ = incomplete.partition("/")
    names = _ask(ctx, lambda client: _names(client, kind if slash else "pods"))
    return _starting((f"{kind}/{name}" if slash else name for name in names), incomplete)


def complete_container(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Containers of the pod that the command is for: `web-1`, or `web-1:/path`."""
    # After a flag without a value, click leaves the arguments before it in `args`.
    arguments = [*ctx.args, *(ctx.params.get(name) or "" for name in ("source", "destination"))]
    paths = [str(each).partition(":")[0] for each in arguments if ":" in str(each)]
    target = str(ctx.params.get("target") or next(iter([*paths, *ctx.args]), ""))
    found = _ask(ctx, lambda client: _containers(client, target)) if target else ()
    return _starting(found, incomplete)


def complete_namespace(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    return _starting(_ask(ctx, lambda client: _names(client, "namespaces")), incomplete)


def _starting(names: Iterable[str], incomplete: str) -> list[str]:
    return sorted(name for name in names if name.startswith(incomplete))


# --- requests


def _ask(
    ctx: click.Context,
    read: Callable[[Client], Awaitable[Iterable[str]]],
    default: Iterable[str] = (),
) -> Iterable[str]:
    """What the cluster responds; the default if it does not."""
    import contextlib
    import io

    from kubeloop.kit import run

    from .flags import connect

    async def ask() -> Iterable[str]:
        import asyncio

        async with asyncio.timeout(_PATIENCE), connect(flags_of(ctx)) as client:
            return await read(client)

    # Warnings of the server would be printed between the words of the user.
    with contextlib.redirect_stderr(io.StringIO()):
        try:
            return run(ask())
        except Exception:  # noqa: BLE001 - no error may reach the line that the user types
            return default


async def _types(client: Client) -> set[str]:
    from kubeloop.discovery import preferred_resources

    found = preferred_resources(await client.discovery.discover())
    return {row.name for rows in found.values() for row in rows if "get" in row.verbs}


async def _names(client: Client, word: str) -> list[str]:
    from kubeloop.meta import GroupVersionKind

    info = await client.mapper.find(word)
    kind = GroupVersionKind(info.group, info.version, info.kind)
    listed = await client.metadata(kind).list(limit=_MOST_NAMES)
    return [each.metadata.name for each in listed]


async def _containers(client: Client, target: str) -> list[str]:
    from .pods import choose_pod

    pod: Any = (await choose_pod(client, "containers of", target)).pod
    groups = (pod.spec.init_containers, pod.spec.containers, pod.spec.ephemeral_containers)
    return [each.name for group in groups for each in group or ()]
