"""Validates a CustomResourceDefinition, as `ValidateCustomResourceDefinition` of kube-apiserver.

kube-apiserver validates the internal version, in which a schema, subresources or columns that
all versions share exist once at the top: so an error of a definition with one version refers to
`spec.validation`.
Guarantees: causes have its paths, reasons and messages; an empty list means accepted.
See also: the schema itself (`crd_schemas`), the served kind (`crds`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from kubeloop.meta import problems_of_dns_1035_label, problems_of_dns_subdomain

from ..statuses import Cause
from ..values import causes
from ..values.json_values import json_equal
from .crd_conversion import problems_of_conversion
from .crd_schemas import problems_of_schema, schema_of

__all__ = ["APPROVED", "is_established", "is_protected", "problems_of_crd"]

_COLUMN_TYPES: Final = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS: Final = (
    "byte",
    "date",
    "date-time",
    "double",
    "float",
    "int32",
    "int64",
    "password",
)
_SELECTABLE_LIMIT: Final = 8
_SELECTABLE_TYPES: Final = frozenset({"string", "boolean", "integer"})


_APPROVAL: Final = "https://github.com/kubernetes/enhancements/pull/1111"


def problems_of_crd(crd: Mapping[str, Any], old: Mapping[str, Any] | None = None) -> list[Cause]:
    """What is wrong with a definition after defaulting; with `old`, also with the update."""
    spec = crd.get("spec") or {}
    found = [] if old is not None else [*_name_problems(crd, spec)]
    found += [
        *_group_problems(spec),
        *_scope_problems(spec),
        *_version_problems(spec),
        *_missing_names(spec.get("names") or {}),
        *_names_problems(spec.get("names") or {}, "spec.names"),
        *_shared_problems(spec),
        *_conversion_problems(spec, old),
    ]
    if old is not None:
        found += _change_problems(crd, old)
    found += _stored_problems(crd, spec)
    found += _approval_problems(crd, spec, old)
    if spec.get("preserveUnknownFields"):
        rule = (
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
            "spec.versions[*].schema instead"
        )
        found.append(causes.invalid("spec.preserveUnknownFields", True, rule))  # noqa: FBT003
    return found


def _conversion_problems(spec: Mapping[str, Any], old: Mapping[str, Any] | None) -> list[Cause]:
    before = None if old is None else (old.get("spec") or {}).get("conversion") or {}
    established = old is not None and is_established(old)
    return problems_of_conversion(spec.get("conversion") or {}, before, established=established)


def _name_problems(crd: Mapping[str, Any], spec: Mapping[str, Any]) -> Iterator[Cause]:
    # Otherwise two definitions could define the same resource.
    name = (crd.get("metadata") or {}).get("name") or ""
    expected = f"{(spec.get('names') or {}).get('plural', '')}.{spec.get('group', '')}"
    rule = 'must be spec.names.plural+"."+spec.group'
    if name and name != expected:
        yield causes.invalid("metadata.name", name, rule)


def _group_problems(spec: Mapping[str, Any]) -> Iterator[Cause]:
    # Groups without a dot are reserved for Kubernetes.
    group = spec.get("group") or ""
    problems = problems_of_dns_subdomain(group)
    if not group:
        yield causes.required("spec.group")
    elif problems:
        yield causes.invalid("spec.group", group, ",".join(problems))
    elif "." not in group:
        yield causes.invalid("spec.group", group, "should be a domain with at least one dot")


def _scope_problems(spec: Mapping[str, Any]) -> Iterator[Cause]:
    scope = spec.get("scope") or ""
    if not scope:
        yield causes.required("spec.scope")
    elif scope not in {"Cluster", "Namespaced"}:
        yield causes.not_supported("spec.scope", scope, ("Cluster", "Namespaced"))


# --- versions


def _version_problems(spec: Mapping[str, Any]) -> Iterator[Cause]:
    versions = spec.get("versions") or []
    for index, version in enumerate(versions):
        if schema_of(version) is None:
            yield causes.required(f"spec.versions[{index}].schema.openAPIV3Schema")
    for index, version in enumerate(versions):
        yield from _one_version(version, f"spec.versions[{index}]", versions)
    names = [each.get("name") for each in versions]
    if len(set(names)) < len(names):
        yield _versions_problem(spec, "must contain unique version names")
    if sum(bool(each.get("storage")) for each in versions) != 1:
        rule = "must have exactly one version marked as storage version"
        yield _versions_problem(spec, rule)


# The fields of a version in apiextensions-apiserver's internal type, as its errors show them.
_INTERNAL: Final = {
    "Name": ("name", ""),
    "Served": ("served", False),
    "Storage": ("storage", False),
    "Deprecated": ("deprecated", False),
    "DeprecationWarning": ("deprecationWarning", None),
    "Schema": ("schema", None),
    "Subresources": ("subresources", None),
    "AdditionalPrinterColumns": ("additionalPrinterColumns", None),
    "SelectableFields": ("selectableFields", None),
}


def _versions_problem(spec: Mapping[str, Any], rule: str) -> Cause:
    """A problem of all versions, whose value has the names and the order of the internal type."""
    value = [
        {go: each.get(name, zero) for go, (name, zero) in _INTERNAL.items()}
        for each in spec.get("versions") or []
    ]
    # What all versions share is not a part of them there.
    for go in list(_INTERNAL)[5:]:
        if all(json_equal(each[go], value[0][go]) for each in value):
            value = [{**each, go: None} for each in value]
    text = msgspec.json.encode(None if spec.get("versions") is None else value).decode()
    return Cause("spec.versions", "FieldValueInvalid", f"Invalid value: {text}: {rule}")


def _one_version(
    version: Mapping[str, Any], path: str, versions: list[Mapping[str, Any]]
) -> Iterator[Cause]:
    name = version.get("name") or ""
    problems = problems_of_dns_1035_label(name)
    if problems:
        yield causes.invalid(f"{path}.name", name, ",".join(problems))
    if version.get("deprecationWarning") is not None:
        yield from _deprecation_problems(version, path)
    if not _is_shared(versions, "schema"):
        yield from _schema_problems(version, f"{path}.schema")
    if not _is_shared(versions, "subresources"):
        yield from _subresource_problems(version, f"{path}.subresources")
    if not _is_shared(versions, "additionalPrinterColumns"):
        yield from _columns_problems(version, f"{path}.additionalPrinterColumns")
    if not _is_shared(versions, "selectableFields"):
        # A schema that all versions share is none of the version's own to kube-apiserver.
        own = {**version, "schema": None} if _is_shared(versions, "schema") else version
        yield from _selectable_problems(own, f"{path}.selectableFields")


def _shared_problems(spec: Mapping[str, Any]) -> Iterator[Cause]:
    """What all versions share is validated once, at its path in the internal version."""
    versions = spec.get("versions") or []
    if not versions:
        return
    first = versions[0].get("name") or ""
    if problems := problems_of_dns_1035_label(first):
        yield causes.invalid("spec.version", first, ",".join(problems))
    if _is_shared(versions, "schema"):
        yield from _schema_problems(versions[0], "spec.validation")
    if _is_shared(versions, "subresources"):
        yield from _subresource_problems(versions[0], "spec.subresources")
    if _is_shared(versions, "additionalPrinterColumns"):
        yield from _columns_problems(versions[0], "spec.additionalPrinterColumns")
    if _is_shared(versions, "selectableFields"):
        yield from _selectable_problems(versions[0], "spec.selectableFields")


def _is_shared(versions: list[Mapping[str, Any]], name: str) -> bool:
    first = versions[0].get(name)
    return all(json_equal(each.get(name), first) for each in versions)


def _schema_problems(version: Mapping[str, Any], path: str) -> list[Cause]:
    schema = schema_of(version)
    if schema is None:
        return []
    has_status = (version.get("subresources") or {}).get("status") is not None
    return problems_of_schema(schema, f"{path}.openAPIV3Schema", has_status=has_status)


def _deprecation_problems(version: Mapping[str, Any], path: str) -> Iterator[Cause]:
    where, text = f"{path}.deprecationWarning", str(version["deprecationWarning"])
    if not version.get("deprecated"):
        yield causes.invalid(where, text, "can only be set for deprecated versions")
    elif not text:
        yield causes.invalid(where, text, "must not be an empty string")
    elif len(text) > 256:
        yield causes.invalid(where, text, "must be <= 256 characters long")
    elif not text.isprintable():
        at = next(index for index, letter in enumerate(text) if not letter.isprintable())
        rule = (
            "must only contain printable UTF-8 characters; non-printable character found at index "
            f"{len(text[:at].encode())}"
        )
        yield causes.invalid(where, text, rule)


# --- subresources, columns, selectable fields


def _subresource_problems(version: Mapping[str, Any], path: str) -> Iterator[Cause]:
    # `ValidateCustomResourceDefinitionSubresources`.
    scale = (version.get("subresources") or {}).get("scale")
    if scale is None:
        return
    prefixes = (("specReplicasPath", ".spec."), ("statusReplicasPath", ".status."))
    for name, prefix in prefixes:
        where, json_path = f"{path}.scale.{name}", scale.get(name) or ""
        if not json_path:
            yield causes.required(where)
        elif not json_path.startswith("."):
            yield causes.invalid(where, json_path, "must be a simple json path starting with .")
        elif not json_path.startswith(prefix):
            under = prefix.rstrip(".")
            yield causes.invalid(where, json_path, f"should be a json path under {under}")
    json_path = scale.get("labelSelectorPath") or ""
    if json_path and not json_path.startswith((".spec.", ".status.")):
        where = f"{path}.scale.labelSelectorPath"
        rule = "should be a json path under either .spec or .status"
        yield causes.invalid(where, json_path, rule)


def _columns_problems(version: Mapping[str, Any], path: str) -> Iterator[Cause]:
    # `ValidateCustomResourceColumnDefinition`.
    for index, column in enumerate(version.get("additionalPrinterColumns") or ()):
        where = f"{path}[{index}]"
        kind, column_format = column.get("type") or "", column.get("format") or ""
        if not column.get("name"):
            yield causes.required(f"{where}.name")
        types = f"must be one of {','.join(_COLUMN_TYPES)}"
        if not kind:
            yield causes.required(f"{where}.type", types)
        elif kind not in _COLUMN_TYPES:
            yield causes.invalid(f"{where}.type", kind, types)
        if column_format and column_format not in _COLUMN_FORMATS:
            rule = f"must be one of {','.join(_COLUMN_FORMATS)}"
            yield causes.invalid(f"{where}.format", column_format, rule)
        yield from _json_path_problems(column.get("jsonPath") or "", f"{where}.JSONPath")


def _json_path_problems(json_path: str, where: str) -> Iterator[Cause]:
    if not json_path:
        yield causes.required(where)
    elif not json_path.startswith("."):
        yield causes.invalid(where, json_path, "must be a simple json path starting with .")


def _selectable_problems(version: Mapping[str, Any], path: str) -> Iterator[Cause]:
    # `ValidateCustomResourceSelectableFields`.
    seen: set[str] = set()
    if version.get("selectableFields") and not schema_of(version):
        rule = "may only be set when `version.schema.openAPIV3Schema` is not included"
        yield causes.invalid(path, "", rule)
        return
    for index, each in enumerate(version.get("selectableFields") or ()):
        where, json_path = f"{path}[{index}].jsonPath", each.get("jsonPath") or ""
        if not json_path:
            yield causes.required(where)
            continue
        yield from _one_selectable(json_path, schema_of(version) or {}, where)
        if json_path in seen:
            yield causes.duplicate(where, json_path)
        seen.add(json_path)
    if len(seen) > _SELECTABLE_LIMIT:
        yield causes.too_many(path, len(seen), _SELECTABLE_LIMIT)


def _one_selectable(json_path: str, schema: Mapping[str, Any], where: str) -> Iterator[Cause]:
    steps = json_path.removeprefix(".").split(".")
    if not json_path.startswith(".") or "" in steps or "[" in json_path:
        problem = f"expected [ or . but got: {steps[0]}"
        if json_path.startswith("."):
            problem = "array notation is not allowed"
        yield causes.invalid(where, json_path, f"is an invalid path: {problem}")
        return
    if steps[0] == "metadata":
        rule = "is an invalid path: does not refer to a valid field"
        yield causes.invalid(where, json_path, rule)
        return
    found: Any = schema
    for step in steps:
        found = (found.get("properties") or {}).get(step)
        if not isinstance(found, Mapping):
            rule = "is an invalid path: does not refer to a valid field"
            yield causes.invalid(where, json_path, rule)
            return
    if found.get("type") not in _SELECTABLE_TYPES:
        rule = (
            "must point to a field of type string, boolean or integer. Enum string fields and "
            "strings with formats are allowed."
        )
        yield causes.invalid(where, json_path, rule)


# --- names, conversion, approval


def _missing_names(names: Mapping[str, Any]) -> Iterator[Cause]:
    for name in ("plural", "singular", "kind", "listKind"):
        if not names.get(name):
            yield causes.required(f"spec.names.{name}")


def _names_problems(names: Mapping[str, Any], path: str) -> Iterator[Cause]:
    # `ValidateCustomResourceDefinitionNames`.
    for name in ("plural", "singular"):
        value = names.get(name) or ""
        problems = problems_of_dns_1035_label(value)
        if value and problems:
            yield causes.invalid(f"{path}.{name}", value, ",".join(problems))
    for name in ("kind", "listKind"):
        value = names.get(name) or ""
        problems = problems_of_dns_1035_label(value.lower())
        if value and problems:
            rule = f"may have mixed case, but should otherwise match: {','.join(problems)}"
            yield causes.invalid(f"{path}.{name}", value, rule)
    for name in ("shortNames", "categories"):
        for index, value in enumerate(names.get(name) or ()):
            problems = problems_of_dns_1035_label(value)
            if problems:
                yield causes.invalid(f"{path}.{name}[{index}]", value, ",".join(problems))
    if names.get("kind") and names.get("kind") == names.get("listKind"):
        rule = "kind and listKind may not be the same"
        yield causes.invalid(f"{path}.listKind", names["listKind"], rule)


_PROTECTED: Final = (".k8s.io", ".kubernetes.io")
APPROVED: Final = "api-approved.kubernetes.io"  # the annotation of a protected group


def is_established(crd: Mapping[str, Any]) -> bool:
    """Whether the kind of a definition is served."""
    conditions = (crd.get("status") or {}).get("conditions") or ()
    return any(
        each.get("type") == "Established" and each.get("status") == "True" for each in conditions
    )


def is_protected(group: str) -> bool:
    """Whether a group belongs to the Kubernetes community."""
    return group in {"k8s.io", "kubernetes.io"} or group.endswith(_PROTECTED)


def _approval_problems(
    crd: Mapping[str, Any], spec: Mapping[str, Any], old: Mapping[str, Any] | None
) -> Iterator[Cause]:
    """Groups of the Kubernetes community need an approval annotation."""
    if not is_protected(spec.get("group") or ""):
        return
    where = f"metadata.annotations[{APPROVED}]"
    text = _annotation(crd)
    if old is not None and text == _annotation(old):
        return  # an old definition may be updated without one
    url = urlsplit(text)
    if not text:
        rule = f'protected groups must have approval annotation "{APPROVED}", see {_APPROVAL}'
        yield causes.required(where, rule)
    elif not text.startswith("unapproved") and not (url.scheme and url.netloc):
        rule = (
            f'protected groups must have approval annotation "{APPROVED}" with either a URL or a '
            f'reason starting with "unapproved", see {_APPROVAL}'
        )
        yield causes.invalid(where, text, rule)


def _annotation(crd: Mapping[str, Any]) -> str:
    return str(((crd.get("metadata") or {}).get("annotations") or {}).get(APPROVED) or "")


# --- updates


def _change_problems(crd: Mapping[str, Any], old: Mapping[str, Any]) -> Iterator[Cause]:
    # Scope and kind may change until the kind is established and served.
    immutable = ["group", "names.plural"]
    if is_established(old):
        immutable = ["scope", "names.kind", *immutable]
    for path in immutable:
        new, before = _at(crd.get("spec"), path), _at(old.get("spec"), path)
        if new != before:
            yield causes.invalid(f"spec.{path}", new, causes.IMMUTABLE)


def _at(value: Any, path: str) -> Any:
    for step in path.split("."):
        value = (value or {}).get(step)
    return value or ""


def _stored_problems(crd: Mapping[str, Any], spec: Mapping[str, Any]) -> Iterator[Cause]:
    """A version in which objects may still be stored must not be removed."""
    where, stored = "status.storedVersions", (crd.get("status") or {}).get("storedVersions")
    if not stored:
        yield causes.invalid(where, None, "must have at least one stored version")
        return
    missing = set(stored)
    for version in spec.get("versions") or ():
        if version.get("storage") and version.get("name") not in missing:
            rule = f"must have the storage version {version.get('name')}"
            yield causes.invalid(where, stored, rule)
        missing.discard(version.get("name"))
    for index, name in enumerate(stored):
        if name in missing:
            rule = (
                f"missing from spec.versions; {name} was previously a storage version, and must "
                "remain in spec.versions until a storage migration ensures no data remains "
                f"persisted in {name} and removes {name} from status.storedVersions"
            )
            yield causes.invalid(f"{where}[{index}]", name, rule)
