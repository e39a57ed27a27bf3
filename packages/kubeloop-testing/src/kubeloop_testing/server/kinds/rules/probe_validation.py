"""Validation of probes and lifecycle hooks.

Guarantees: the causes of `validateProbe`, `validateLifecycle` and `validateHandler`.
See also: the containers that have them (`container_validation`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from ...values import causes
from ..kind import Causes, Json
from .value_rules import check_choice, check_minimum, check_port_or_name, enumerate_objects

__all__ = ["problems_of_lifecycle", "problems_of_probe"]

_is_header = re.compile("[-A-Za-z0-9]+").fullmatch
_COUNTS: Final = (
    "initialDelaySeconds",
    "timeoutSeconds",
    "periodSeconds",
    "successThreshold",
    "failureThreshold",
)


def problems_of_probe(probe: Json, path: str, kind: str) -> Causes:
    """What is wrong with a probe; `kind` is the field of the container."""
    yield from _handler(probe, path, None)
    for field in _COUNTS:
        yield from check_minimum(f"{path}.{field}", probe.get(field))
    grace, where = probe.get("terminationGracePeriodSeconds"), "terminationGracePeriodSeconds"
    if isinstance(grace, int) and grace <= 0:
        yield causes.invalid(f"{path}.{where}", grace, "must be greater than 0")
    if kind == "readinessProbe":
        if grace is not None:
            yield causes.invalid(f"{path}.{where}", grace, "must not be set for readinessProbes")
    elif probe.get("successThreshold") not in (None, 1):
        yield causes.invalid(f"{path}.successThreshold", probe["successThreshold"], "must be 1")


def problems_of_lifecycle(lifecycle: Json, path: str, grace: Any) -> Causes:
    """What is wrong with the hooks of a container; `grace` is the pod's grace period."""
    for field in ("postStart", "preStop"):
        if isinstance(lifecycle.get(field), Mapping):
            yield from _handler(lifecycle[field], f"{path}.{field}", grace)


def _handler(owner: Json, path: str, grace: Any) -> Causes:
    present = [each for each in _HANDLERS if isinstance(owner.get(each), Mapping)]
    if not present:
        yield causes.required(path, "must specify a handler type")
    for index, each in enumerate(present):
        if index:
            rule = "may not specify more than 1 handler type"
            yield causes.forbidden(f"{path}.{each}", rule)
        else:
            yield from _HANDLERS[each](owner[each], f"{path}.{each}", grace)


def _exec(action: Json, path: str, _: Any) -> Causes:
    if not action.get("command"):
        yield causes.required(f"{path}.command")


def _http_get(action: Json, path: str, _: Any) -> Causes:
    if not action.get("path"):
        yield causes.required(f"{path}.path")
    port = action.get("port")
    yield from check_port_or_name(f"{path}.port", 0 if port is None else port)
    scheme = action.get("scheme") or ""
    if scheme not in {"HTTP", "HTTPS"}:
        yield causes.not_supported(f"{path}.scheme", scheme, ("HTTP", "HTTPS"))
    for _index, header in enumerate_objects(action.get("httpHeaders")):
        name = header.get("name") or ""
        if not _is_header(name):
            rule = (
                "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. "
                "'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')"
            )
            yield causes.invalid(f"{path}.httpHeaders", name, rule)


def _tcp_socket(action: Json, path: str, _: Any) -> Causes:
    port = action.get("port")
    yield from check_port_or_name(f"{path}.port", 0 if port is None else port)


def _grpc(action: Json, path: str, _: Any) -> Causes:
    port = action.get("port")
    yield from check_port_or_name(f"{path}.port", 0 if port is None else port)
    yield from check_choice(f"{path}.mode", action.get("mode"), ("Plaintext", "TLS"))


def _sleep(action: Json, path: str, grace: Any) -> Causes:
    seconds = action.get("seconds") or 0
    if isinstance(grace, int) and not 0 <= seconds <= grace:
        rule = f"must be non-negative and less than terminationGracePeriodSeconds ({grace})"
        yield causes.invalid(path, seconds, rule)


_HANDLERS: Final[dict[str, Callable[[Json, str, Any], Causes]]] = {
    "exec": _exec,
    "httpGet": _http_get,
    "tcpSocket": _tcp_socket,
    "grpc": _grpc,
    "sleep": _sleep,
}
