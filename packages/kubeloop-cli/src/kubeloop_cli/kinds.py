"""The resources that arguments name: `po`, `deploy/web`, `svc,cm`, `all`.

Guarantees: arguments mean the same as in kubectl; one that matches nothing is an error.
See also: `kubeloop.discovery` (how a name is resolved).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click
import msgspec

from kubeloop.meta import GroupVersionKind
from kubeloop.wire import ResourceInfo

from .completion import complete_kind

if TYPE_CHECKING:
    from kubeloop.clients import ResourceClient
    from kubeloop.runtime import Client

__all__ = [
    "Target",
    "complete_kind",
    "find_kinds",
    "parse_targets",
    "qualified_name",
    "resource_client_of",
    "resource_name",
]


class Target(msgspec.Struct, frozen=True):
    """Resource types as the user typed them, and names of objects; no names means all."""

    kinds: str
    names: tuple[str, ...] = ()


def parse_targets(words: Sequence[str]) -> list[Target]:
    """`pods web-1 web-2`, `pods,svc`, or `pod/web-1 svc/web`.

    Raises: UsageError if both notations are mixed, or a part is empty.
    """
    with_slash = [word for word in words if "/" in word]
    kinds, *names = words
    if not with_slash and all(kinds.split(",")):
        return [Target(kinds, tuple(names))]
    pairs = [word.partition("/")[::2] for word in words]
    if len(with_slash) < len(words) or any(not kind or not name for kind, name in pairs):
        raise click.UsageError(
            f"{' '.join(words) or repr('')}: expected KIND NAME…, or KIND/NAME for each object",
            click.get_current_context(silent=True),
        )
    # Consecutive objects of one type share a table.
    groups = itertools.groupby(pairs, key=lambda pair: pair[0])
    return [Target(kind, tuple(name for _, name in group)) for kind, group in groups]


async def find_kinds(client: Client, words: str) -> list[ResourceInfo]:
    """The resources of a comma-separated list, each once, in that order.

    Raises: NoResourceMatch, AmbiguousMatch.
    """
    found = [info for word in words.split(",") for info in await _match(client, word)]
    return list(dict.fromkeys(found))


async def _match(client: Client, word: str) -> Iterable[ResourceInfo]:
    members = await client.mapper.category(word)
    if not members:
        return [await client.mapper.find(word)]
    infos = [await client.mapper.find(str(member)) for member in members]
    return (info for info in infos if "list" in info.verbs)


def resource_client_of(
    client: Client, info: ResourceInfo, *, namespace: str | None = None
) -> ResourceClient[dict[str, Any]]:
    """A client for the objects of a resource, as dicts; None is the namespace of the flags."""
    kind = GroupVersionKind(info.group, info.version, info.kind)
    return client.dynamic.resource(kind, namespace=namespace)


def resource_name(info: ResourceInfo) -> str:
    """`pods`, `deployments.apps`."""
    return f"{info.plural}.{info.group}" if info.group else info.plural


def qualified_name(info: ResourceInfo, name: str) -> str:
    """An object as kubectl names it: `pod/web-1`, `deployment.apps/web`."""
    return f"{info.singular}.{info.group}/{name}" if info.group else f"{info.singular}/{name}"
