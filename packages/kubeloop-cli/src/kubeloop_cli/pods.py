"""The pod and the container that a command is for, as the user names them.

Guarantees: if one of several is used, that is reported on stderr.
See also: `kubeloop.streams` (targets in programs).
"""

from __future__ import annotations

from typing import Any

import msgspec

from kubeloop.errors import InvalidArgument
from kubeloop.runtime import Client
from kubeloop.selectors import selector_from_wire
from kubeloop.streams import default_container, is_ready
from kubeloop.wire.core.v1 import Pod

from .failures import CommandFailed
from .kinds import find_kinds, parse_targets, resource_client_of
from .terminal import print_line

__all__ = ["ChosenPod", "choose_container", "choose_pod"]


class ChosenPod(msgspec.Struct, frozen=True):
    """A pod, and the object that was named, if that was another one."""

    pod: Pod
    owner: dict[str, Any] | None = None

    @property
    def name(self) -> str:
        return self.pod.metadata.name or ""


async def choose_pod(client: Client, what: str, target: str) -> ChosenPod:
    """The pod with that name, or one that the named object selects; a ready one if there is.

    Raises: CommandFailed when it selects no pod.
    """
    if "/" not in target:
        return ChosenPod(await client.core_v1.pods().get(target))
    (parsed,) = parse_targets([target])
    (info, *_) = await find_kinds(client, parsed.kinds)
    if (info.group, info.kind) == ("", "Pod"):
        return ChosenPod(await client.core_v1.pods().get(parsed.names[0]))
    owner = await resource_client_of(client, info).get(parsed.names[0])
    pods = await client.core_v1.pods().list(selector=_selector(what, target, owner))
    if not pods.items:
        raise CommandFailed(f"{what} {target}: it has no pods (is it scaled to zero?)")
    chosen = min(pods.items, key=lambda pod: not is_ready(pod))
    if len(pods) > 1:
        print_line(f"Found {len(pods)} pods, using pod/{chosen.metadata.name}", err=True)
    return ChosenPod(chosen, owner)


def choose_container(pod: Pod) -> str:
    """The default container of the pod, or its first."""
    names = [each.name for each in pod.spec.containers]
    chosen = default_container(pod)
    if len(names) > 1:
        print_line(f'Defaulted container "{chosen}" out of: {", ".join(names)}', err=True)
    return chosen


def _selector(what: str, target: str, owner: dict[str, Any]) -> str:
    """The label selector of an object's pods; Services and others have a plain map of labels."""
    selector = (owner.get("spec") or {}).get("selector")
    if not isinstance(selector, dict) or not selector:
        raise InvalidArgument(f"{what} {target}: it selects no pods (name a pod)")
    if not {"matchLabels", "matchExpressions"} & selector.keys():
        selector = {"matchLabels": selector}
    return str(selector_from_wire(selector))
