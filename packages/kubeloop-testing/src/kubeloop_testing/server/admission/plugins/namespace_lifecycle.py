"""The admission plugin NamespaceLifecycle: no content in namespaces that are missing or ending.

Guarantees: a terminating namespace accepts updates, so that finalizers can be removed; the
namespaces of the system cannot be deleted.
See also: the end of a namespace (`controllers.namespaces`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ...request.calls import Call
from ...statuses import Cause, StatusError, forbidden, not_found
from ..plugin import Cluster, Plugin

__all__ = ["NAMESPACE_LIFECYCLE", "check_namespace"]

_NAMESPACES: Final = ("", "namespaces")
_PROTECTED: Final = frozenset({"default", "kube-public", "kube-system"})


def _check_create(cluster: Cluster, call: Call, name: str) -> None:
    namespace = cluster.store.get(_NAMESPACES, call.namespace)
    check_namespace(
        operation="CREATE",
        group=call.served.group,
        plural=call.served.plural,
        name=call.name or name,
        namespace=call.namespace,
        found=None if namespace is None else namespace.obj,
    )


def _check_delete(_: Cluster, call: Call) -> None:
    check_namespace(
        operation="DELETE",
        group=call.served.group,
        plural=call.served.plural,
        name=call.name,
        namespace=call.namespace,
        found=None,
    )


def check_namespace(
    *,
    operation: str,
    group: str,
    plural: str,
    name: str,
    namespace: str,
    found: Mapping[str, Any] | None,
) -> None:
    """Decide about one operation; `found` is the Namespace called `namespace`.

    Raises:
        StatusError: a protected namespace is deleted (403), or an object is created in a
            namespace that is missing (404) or terminating (403).
    """
    if (group, plural) == ("", "namespaces"):
        if operation == "DELETE" and name in _PROTECTED:
            raise forbidden(group, plural, name, "this namespace may not be deleted")
        return
    # Access may be reviewed for a namespace that does not exist yet.
    exempt = (group, plural) == ("authorization.k8s.io", "localsubjectaccessreviews")
    if operation != "CREATE" or not namespace or exempt:
        return
    if found is None:
        raise not_found("", "namespaces", namespace)
    if (found.get("status") or {}).get("phase") == "Terminating":
        raise _terminating(group, plural, name, namespace)


def _terminating(group: str, plural: str, name: str, namespace: str) -> StatusError:
    causes: list[Cause] = [
        Cause(
            field="metadata.namespace",
            reason="NamespaceTerminating",
            message=f"namespace {namespace} is being terminated",
        )
    ]
    reason = f"unable to create new content in namespace {namespace} because it is being terminated"
    return forbidden(group, plural, name, reason, causes=causes)


NAMESPACE_LIFECYCLE: Final = Plugin(
    "NamespaceLifecycle", create=_check_create, delete={_NAMESPACES: _check_delete}
)
