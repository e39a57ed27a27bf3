"""Checks requests to connect to a pod: exec, attach, portforward.

Guarantees: pod, node, container and options are checked in the order of kube-apiserver, with its
texts; whether the container runs is left to the kubelet, which reports it later.
See also: `serving.remote_commands` and `serving.port_forwards` (the connections).
"""

from __future__ import annotations

from typing import TypeAlias, final

import msgspec

from ..request.calls import Call
from ..request.options import Query
from ..request.requests import Request
from ..statuses import bad_request
from ..storage.store import Object
from .log_lines import container_status, run_of
from .writing import Verbs

__all__ = ["PodConnection", "PortForward", "RemoteCommand", "connect"]

_FIELDS = ("initContainers", "containers", "ephemeralContainers")


@final
class RemoteCommand(msgspec.Struct, frozen=True):
    """An exec or an attach that was accepted."""

    namespace: str
    pod: str
    uid: str
    container: str
    command: tuple[str, ...] | None  # None: attach
    spec: Object  # of the container
    stdin: bool = False
    stdout: bool = False
    stderr: bool = False
    tty: bool = False
    kubelet_error: str = ""  # why the kubelet cannot do it

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.pod}"


@final
class PortForward(msgspec.Struct, frozen=True):
    """A port-forward that was accepted; `ports` are only for the form with channels."""

    namespace: str
    pod: str
    uid: str
    ports: tuple[int, ...] = ()
    kubelet_error: str = ""


PodConnection: TypeAlias = RemoteCommand | PortForward


def connect(verbs: Verbs, request: Request, call: Call) -> PodConnection:
    """The connection that a request asks for. Raises `StatusError`."""
    ports = _ports(request.query) if call.part == "portforward" else ()
    pod = verbs.get(call).obj
    spec, meta = pod.get("spec") or {}, pod["metadata"]
    names = {"namespace": call.namespace, "pod": call.name, "uid": str(meta.get("uid", ""))}
    if call.part == "portforward":
        _check_host(spec, call.name)
        return PortForward(**names, ports=ports, kubelet_error=_pod_error(pod, call))
    container = _container(spec, call.name, request.query.text("container"))
    _check_host(spec, call.name)
    query = request.query
    tty = bool(query.flag("tty"))
    container_spec = _container_spec(spec, container)
    command = tuple(query.get("command", ())) if call.part == "exec" else None
    found = RemoteCommand(
        **names,
        container=container,
        command=command,
        spec=container_spec,
        stdin=bool(query.flag("stdin")),
        stdout=bool(query.flag("stdout")),
        stderr=bool(query.flag("stderr")) and not tty,
        # Whether a running process has a terminal was decided when it started.
        tty=tty if command is not None else bool(container_spec.get("tty")),
    )
    return msgspec.structs.replace(found, kubelet_error=_container_error(pod, found))


def _check_host(spec: Object, name: str) -> None:
    if not spec.get("nodeName"):
        raise bad_request(f"pod {name} does not have a host assigned")


def _container(spec: Object, pod: str, name: str) -> str:
    # `validateContainer`: the annotated default container is a matter of kubectl.
    names = [str(each["name"]) for field in _FIELDS for each in spec.get(field) or ()]
    if name:
        if name not in names:
            raise bad_request(f"container {name} is not valid for pod {pod}")
        return name
    main = [str(each["name"]) for each in spec.get("containers") or ()]
    if len(main) == 1:
        return main[0]
    raise bad_request(
        f"a container name must be specified for pod {pod}, choose one of: [{' '.join(names)}]"
    )


def _container_spec(spec: Object, name: str) -> Object:
    found = (each for field in _FIELDS for each in spec.get(field) or ())
    return next(each for each in found if each["name"] == name)


def _container_error(pod: Object, command: RemoteCommand) -> str:
    """Why a kubelet refuses: `NewOptions` of its streaming server, `GetExec`, `GetAttach`."""
    if not (command.stdin or command.stdout or command.stderr):
        return "you must specify at least 1 of stdin, stdout, stderr"
    if "running" in run_of(container_status(pod, command.container)):
        return ""
    if command.command is None:
        full = f"{command.pod}_{command.namespace}"
        return f"container {command.container} not found in pod {full}"
    return f'container not found ("{command.container}")'


def _pod_error(pod: Object, call: Call) -> str:
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    if any("running" in run_of(each) for each in statuses):
        return ""
    return f'pod not found ("{call.name}_{call.namespace}")'


def _ports(query: Query) -> tuple[int, ...]:
    """The ports of a request; a kubelet checks later whether they can be ports."""
    texts = [text for each in query.get("ports", ()) for text in each.split(",")]
    for text in texts:
        if not (text.isascii() and text.isdecimal()):
            raise bad_request(
                f'cannot convert to []int32: strconv.ParseUint: parsing "{text[:64]}": '
                "invalid syntax"
            )
    return tuple(map(int, texts))
