"""RoleBinding (rbac.authorization.k8s.io): defaults, validation and columns."""

from __future__ import annotations

from typing import Any, Final

from kubeloop.meta import problems_of_dns_subdomain, problems_of_path_segment
from kubeloop.wire import JsonObject

from ...values import causes
from ...values.json_values import map_field, map_items, value_at, with_defaults
from ..kind import Causes, Check, Json, Kind, Since
from ..rules.cell_text import age_of, items_at, name_of
from ..rules.names import path_name
from ..rules.value_rules import check_name, check_unchanged, enumerate_objects

__all__ = ["COLUMNS", "KIND", "binding_cells", "check_binding", "default_binding"]

_RBAC: Final = "rbac.authorization.k8s.io"


def default_binding(obj: JsonObject) -> JsonObject:
    obj = map_field(obj, "roleRef", lambda ref: with_defaults(ref, {"apiGroup": _RBAC}), make=True)
    return map_items(obj, "subjects", _default_subject)


def _default_subject(subject: JsonObject) -> JsonObject:
    return (
        with_defaults(subject, {"apiGroup": _RBAC})
        if subject.get("kind") in {"User", "Group"}
        else subject
    )


def check_binding(*, namespaced: bool) -> Check:
    # The role of a binding is immutable: subjects must not gain other rights unnoticed.
    kinds = ("Role", "ClusterRole") if namespaced else ("ClusterRole",)

    def check(obj: Json, old: Json | None) -> Causes:
        ref = obj.get("roleRef") or {}
        group, kind = ref.get("apiGroup") or "", ref.get("kind") or ""
        if group != _RBAC:
            yield causes.not_supported("roleRef.apiGroup", group, (_RBAC,))
        if kind not in kinds:
            yield causes.not_supported("roleRef.kind", kind, kinds)
        if not ref.get("name"):
            yield causes.required("roleRef.name")
        else:
            yield from check_name("roleRef.name", ref["name"], problems_of_path_segment)
        for index, subject in enumerate_objects(obj.get("subjects")):
            yield from _check_subject(subject, f"subjects[{index}]", namespaced=namespaced)
        if old is not None:
            before = old.get("roleRef")
            yield from check_unchanged("roleRef", ref, before, "rbac/v1.RoleRef")

    return check


def _check_subject(subject: Json, path: str, *, namespaced: bool) -> Causes:
    # `ValidateRoleBindingSubject`.
    kind, group = subject.get("kind") or "", subject.get("apiGroup") or ""
    name = subject.get("name") or ""
    if kind == "ServiceAccount":
        if name:
            yield from check_name(f"{path}.name", name, problems_of_dns_subdomain)
        if group:
            yield causes.not_supported(f"{path}.apiGroup", group, ("",))
        if not namespaced and not subject.get("namespace"):
            yield causes.required(f"{path}.namespace")
    elif kind not in {"User", "Group"}:
        kinds = ("ServiceAccount", "User", "Group")
        yield causes.not_supported(f"{path}.kind", kind, kinds)
    elif group != _RBAC:
        yield causes.not_supported(f"{path}.apiGroup", group, (_RBAC,))
    if not name:
        yield causes.required(f"{path}.name")


def binding_cells(obj: Json, since: Since) -> list[Any]:
    role = f"{value_at(obj, 'roleRef', 'kind') or ''}/{value_at(obj, 'roleRef', 'name') or ''}"
    subjects = items_at(obj, "subjects")

    def of(kind: str) -> list[Any]:
        return [each for each in subjects if value_at(each, "kind") == kind]

    accounts = [
        f"{value_at(e, 'namespace') or ''}/{value_at(e, 'name')}" for e in of("ServiceAccount")
    ]
    return [
        name_of(obj),
        role,
        age_of(obj, since),
        ", ".join(str(value_at(each, "name")) for each in of("User")),
        ", ".join(str(value_at(each, "name")) for each in of("Group")),
        ", ".join(accounts),
    ]


COLUMNS: Final = "Name, Role, Age, *Users, *Groups, *ServiceAccounts"


KIND: Final = Kind(
    "rbac.authorization.k8s.io",
    "RoleBinding",
    creates_on_update=True,
    name_rule=path_name,
    defaults=(default_binding,),
    validate=check_binding(namespaced=True),
    columns=COLUMNS,
    cells=binding_cells,
)
