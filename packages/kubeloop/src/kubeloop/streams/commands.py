"""Starts programs in pods: `exec`, `attach`, and `debug` with an ephemeral container.

Guarantees: nothing is sent before the command is awaited or entered; a cancelled start leaves no
connection. An ephemeral container cannot be removed: a cancelled `debug` may leave one.
See also: `process` (the program), `pods` (targets).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import msgspec

from kubeloop.errors import InvalidArgument, KubeError
from kubeloop.rest import STRATEGIC_MERGE_PATCH

from .channels import V4, V5
from .pods import PodAccess, container_status, default_container, find_pod
from .process import MAX_OUTPUT, Process, RemoteCommand, open_socket

if TYPE_CHECKING:
    from kubeloop.wire.core.v1 import Pod

__all__ = ["DebugFailed", "attach_command", "debug_command", "exec_command"]

_PROTOCOLS = (V5, V4)


class DebugFailed(KubeError):
    """The ephemeral container was added, and did not start."""


def exec_command(
    access: PodAccess,
    target: str,
    command: Sequence[str],
    *,
    container: str = "",
    stdin: bool | bytes | str = False,
    stderr: bool = True,
    tty: bool = False,
    check: bool = False,
    max_output: int = MAX_OUTPUT,
) -> RemoteCommand:
    """See `PodClient.exec`."""
    if isinstance(command, str) or not command:
        raise InvalidArgument(
            f"exec in {target}: the command is {command!r:.80}, expected a list of its words"
            ' (a shell is `["sh", "-c", "..."]`)'
        )

    async def opener() -> Process:
        return await _open(
            access,
            target,
            "exec",
            command=list(command),
            container=container,
            stdin=stdin is not False,
            stderr=stderr,
            tty=tty,
        )

    return RemoteCommand(opener, stdin=stdin, check=check, max_output=max_output)


def attach_command(
    access: PodAccess,
    target: str,
    *,
    container: str = "",
    stdin: bool | bytes | str = False,
    stderr: bool = True,
    tty: bool = False,
    check: bool = False,
    max_output: int = MAX_OUTPUT,
) -> RemoteCommand:
    """See `PodClient.attach`."""

    async def opener() -> Process:
        return await _open(
            access,
            target,
            "attach",
            container=container,
            stdin=stdin is not False,
            stderr=stderr,
            tty=tty,
        )

    return RemoteCommand(opener, stdin=stdin, check=check, max_output=max_output)


async def _open(
    access: PodAccess,
    target: str,
    subresource: str,
    *,
    container: str,
    stdin: bool,
    stderr: bool,
    tty: bool,
    command: list[str] | None = None,
) -> Process:
    found = await find_pod(access, target)
    if found.pod is not None and not container:
        container = default_container(found.pod)
    # A terminal has one output.
    stderr = stderr and not tty
    params: list[tuple[str, str]] = [("command", each) for each in command or ()]
    if container:
        params.append(("container", container))
    flags = {"stdin": stdin, "stdout": True, "stderr": stderr, "tty": tty}
    params += [(name, "true") for name, value in flags.items() if value]
    request = await access.requests.request(
        "get", name=found.name, subresource=subresource, params=params
    )
    socket = await open_socket(access.requests.rest, request, _PROTOCOLS)
    # Words after the program may be secrets.
    program = f"{command[0]} " if command else ""
    action = f"{subresource} {program}in {found.name}"
    return Process(socket, action, stdin=stdin, stderr=stderr, tty=tty)


# --- debugging


def debug_command(
    access: PodAccess,
    target: str,
    *,
    image: str,
    command: Sequence[str] = (),
    name: str = "",
    target_container: str = "",
    stdin: bool | bytes | str = False,
    tty: bool = False,
    check: bool = False,
    max_output: int = MAX_OUTPUT,
    wait_for: float = 60.0,
) -> RemoteCommand:
    """See `PodClient.debug`."""
    if isinstance(command, str):
        raise InvalidArgument(
            f"debug {target}: the command is {command!r:.80}, expected a list of its words"
        )

    async def opener() -> Process:
        found = await find_pod(access, target)
        chosen = name or f"debugger-{random.randrange(36**5):05x}"
        container: dict[str, Any] = {
            "name": chosen,
            "image": image,
            "command": list(command) or None,
            "targetContainerName": target_container or None,
            # Its program may end before it is attached: then its log has the output.
            "stdin": stdin is not False or None,
            "tty": tty or None,
        }
        await _add_container(access, found.name, container)
        await _wait_until_started(access, found.name, chosen, wait_for=wait_for)
        return await _open(
            access,
            found.name,
            "attach",
            container=chosen,
            stdin=stdin is not False,
            stderr=True,
            tty=tty,
        )

    return RemoteCommand(opener, stdin=stdin, check=check, max_output=max_output)


async def _add_container(access: PodAccess, pod: str, container: dict[str, Any]) -> None:
    entry = {key: value for key, value in container.items() if value is not None}
    body = msgspec.json.encode({"spec": {"ephemeralContainers": [entry]}})
    request = await access.requests.request("patch", name=pod, subresource="ephemeralcontainers")
    await access.requests.rest.send(request.replace(body=body, content_type=STRATEGIC_MERGE_PATCH))


async def _wait_until_started(
    access: PodAccess, pod: str, container: str, *, wait_for: float
) -> None:
    """Wait until the container runs, or has ended."""
    last = "no status"
    clock = access.requests.rest.clock
    try:
        async with clock.timeout(wait_for) as bound:
            watch = access.pods.watch(field_selector={"metadata.name": pod})
            async with aclosing(watch) as events:
                async for event in events:
                    if event.type == "DELETED":
                        raise DebugFailed(f"debug {pod}: the pod was deleted")
                    started, last = _start_of(event.object, container)
                    if started:
                        return
    except TimeoutError:
        if not bound.expired():
            raise
    raise DebugFailed(
        f"debug {pod}: container {container} did not start within {wait_for:g} s, its state is"
        f" {last} (does its image exist? use a longer wait_for)"
    )


def _start_of(pod: Pod, container: str) -> tuple[bool, str]:
    """Whether the container has started, and its state for an error."""
    status = container_status(pod, container)
    if status is None:
        return False, "no status"
    if status.state.running is not None or status.state.terminated is not None:
        return True, "started"
    waiting = status.state.waiting
    return False, f"waiting: {waiting.reason or 'no reason'}" if waiting else "unknown"
