"""Health checks: `/healthz`, `/livez`, `/readyz` and the single checks below them.

The names of the checks are kube-apiserver's, because deployments and scripts ask for single
ones; a server that answers at all is healthy, so all of them pass.

Guarantees: pure.
See also: `document_handler` (the other non-resource paths).
"""

from __future__ import annotations

from typing import Final

from ..request.negotiation import PLAIN_TEXT, Response
from ..request.options import Query

__all__ = ["health_paths", "health_response", "is_health_check"]

_HOOKS: Final = (
    "start-apiserver-admission-initializer",
    "generic-apiserver-start-informers",
    "priority-and-fairness-config-consumer",
    "priority-and-fairness-filter",
    "storage-object-count-tracker-hook",
    "start-apiextensions-informers",
    "start-apiextensions-controllers",
    "crd-informer-synced",
    "start-system-namespaces-controller",
    "peer-endpoint-reconciler-controller",
    "start-cluster-authentication-info-controller",
    "start-kube-apiserver-identity-lease-controller",
    "start-kube-apiserver-identity-lease-garbage-collector",
    "storage-readiness",
    "start-legacy-token-tracking-controller",
    "start-service-ip-repair-controllers",
    "rbac/bootstrap-roles",
    "scheduling/bootstrap-system-priority-classes",
    "priority-and-fairness-config-producer",
    "bootstrap-controller",
    "start-kubernetes-service-cidr-controller",
    "start-kube-aggregator-informers",
    "apiservice-status-local-available-controller",
    "apiservice-status-remote-available-controller",
    "apiservice-registration-controller",
    "apiservice-discovery-controller",
    "kube-apiserver-autoregistration",
    "autoregister-completion",  # the only one here that is no hook
    "apiservice-openapi-controller",
    "apiservice-openapiv3-controller",
)
_AFTER_START: Final = tuple(
    each if each == "autoregister-completion" else f"poststarthook/{each}" for each in _HOOKS
)
_ALIVE: Final = ("ping", "log", "loopback-serving-certificate", "etcd", *_AFTER_START)
_CHECKS: Final = {
    "healthz": _ALIVE,
    "livez": _ALIVE,
    "readyz": ("ping", "log", "etcd", "etcd-readiness", "informer-sync", *_AFTER_START, "shutdown"),
}
_PAGES: Final = tuple(f"/{page}" for page in _CHECKS)
_NO_SNIFFING: Final = {"X-Content-Type-Options": "nosniff"}


def is_health_check(path: str) -> bool:
    """Whether a path is a health check, such as `/livez` or `/readyz/ping`."""
    if not path.startswith(_PAGES):  # most requests
        return False
    page, _, check = path.removeprefix("/").partition("/")
    return page in _CHECKS and (path == f"/{page}" or check in _CHECKS[page])


def health_paths() -> list[str]:
    """The paths of all health checks."""
    return [
        path
        for page, checks in _CHECKS.items()
        for path in (f"/{page}", *(f"/{page}/{check}" for check in checks))
    ]


def health_response(path: str, query: Query) -> Response:
    """The response to a health check; `is_health_check` is true for its path."""
    page, _, check = path.removeprefix("/").partition("/")
    if check:
        return Response(200, b"ok", media=PLAIN_TEXT, is_final=True)
    body = _report(page, query.get("exclude", [])) if "verbose" in query else "ok"
    return Response(200, body.encode(), _NO_SNIFFING, media=PLAIN_TEXT, is_final=True)


def _report(page: str, excluded: list[str]) -> str:
    # healthz.handleRootHealth.
    lines = [
        f"[+]{each} excluded: ok" if each in excluded else f"[+]{each} ok" for each in _CHECKS[page]
    ]
    unknown = sorted({each for each in excluded if each and each not in _CHECKS[page]})
    if unknown:
        names = ",".join(f'"{each}"' for each in unknown)
        lines.append(f"warn: some health checks cannot be excluded: no matches for {names}")
    return "\n".join([*lines, f"{page} check passed", ""])
