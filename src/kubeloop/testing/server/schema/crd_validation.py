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

from kubeloop.meta import problems_of_dns_1035_label, problems_of_dns_subdomain

from ..statuses import Cause
from ..values import causes
from ..values.json_values import json_equal
from .crd_schemas import problems_of_schema

__all__ = ["problems_of_crd"]

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


def problems_of_crd(crd: Mapping[str, Any], old: Mapping[str, Any] | None = None) -> list[Cause]:
    """What is wrong with a definition after defaulting; with `old`, also with the update."""
    spec = crd.get("spec") or {}
    found = [
        *_name_problems(crd, spec),
        *_group_problems(spec),
        *_scope_problems(spec),
        *_version_problems(spec),
        *_missing_names(spec.get("names") or {}),
        *_names_problems(spec.get("names") or {}, "spec.names"),
        *_shared_problems(spec),
        *_conversion_problems(spec.get("conversion") or {}),
        *_approval_problems(crd, spec),
    ]
    if spec.get("preserveUnknownFields"):
        rule = (
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
            "spec.versions[*].schema instead"
        )
        found.append(causes.invalid("spec.preserveUnknownFields", True, rule))  # noqa: FBT003
    if old is not None:
        found += _change_problems(crd, old)
        found += _stored_problems(crd, spec)
    return found


def _name_problems(crd: Mapping[str, Any], spec: Mapping[str, Any]) -> Iterator[Cause]:
    # Otherwise two definitions could define the same resource.
    name = (crd.get("metadata") or {}).get("name") or ""
    expected = f"{(spec.get('names') or {}).get('plural', '')}.{spec.get('group', '')}"
    if name and name != expected:
        yield causes.invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group')


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
    # `status.storedVersions` is reported too, because it was derived from the spec.
    versions = spec.get("versions") or []
    for index, version in enumerate(versions):
        yield from _one_version(version, f"spec.versions[{index}]", versions)
    names = [each.get("name") for each in versions]
    if len(set(names)) < len(names):
        yield causes.invalid("spec.versions", versions, "must contain unique version names")
    if sum(bool(each.get("storage")) for each in versions) != 1:
        rule = "must have exactly one version marked as storage version"
        yield causes.invalid("spec.versions", versions, rule)
        rule = "must have at least one stored version"
        yield causes.invalid("status.storedVersions", None, rule)


def _one_version(
    version: Mapping[str, Any], path: str, versions: list[Mapping[str, Any]]
) -> Iterator[Cause]:
    name = version.get("name") or ""
    problems = problems_of_dns_1035_label(name)
    if not _schema_of(version):
        yield causes.required(f"{path}.schema.openAPIV3Schema")
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
        yield from _selectable_problems(version, f"{path}.selectableFields")


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


def _schema_of(version: Mapping[str, Any]) -> Any:
    return (version.get("schema") or {}).get("openAPIV3Schema")


def _schema_problems(version: Mapping[str, Any], path: str) -> list[Cause]:
    schema = _schema_of(version)
    if not schema:
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
        yield causes.invalid(where, text, "must only contain printable UTF-8 characters")


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
    if version.get("selectableFields") and not _schema_of(version):
        rule = "may only be set when validations.schema is included"
        yield causes.invalid(path, "", rule)
        return
    for index, each in enumerate(version.get("selectableFields") or ()):
        where, json_path = f"{path}[{index}].jsonPath", each.get("jsonPath") or ""
        if not json_path:
            yield causes.required(where)
            continue
        yield from _one_selectable(json_path, _schema_of(version) or {}, where)
        if json_path in seen:
            yield causes.duplicate(where, json_path)
        seen.add(json_path)
    if len(seen) > _SELECTABLE_LIMIT:
        yield causes.too_many(path, len(seen), _SELECTABLE_LIMIT)


def _one_selectable(json_path: str, schema: Mapping[str, Any], where: str) -> Iterator[Cause]:
    steps = json_path.removeprefix(".").split(".")
    if not json_path.startswith(".") or "" in steps or "[" in json_path:
        rule = "is an invalid path: expected fields joined by dots"
        yield causes.invalid(where, json_path, rule)
        return
    if steps[0] == "metadata":
        yield causes.invalid(where, json_path, "must not point to fields in metadata")
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


def _conversion_problems(conversion: Mapping[str, Any]) -> Iterator[Cause]:
    # `validateCustomResourceConversion`; this server never calls the webhook.
    if not conversion:
        return
    path, strategy = "spec.conversion", conversion.get("strategy") or ""
    webhook = conversion.get("webhook")
    if not strategy:
        yield causes.required(f"{path}.strategy")
    elif strategy not in {"None", "Webhook"}:
        yield causes.not_supported(f"{path}.strategy", strategy, ("None", "Webhook"))
    elif strategy == "Webhook":
        if not (webhook or {}).get("clientConfig"):
            rule = "required when strategy is set to Webhook"
            yield causes.required(f"{path}.webhookClientConfig", rule)
        if not (webhook or {}).get("conversionReviewVersions"):
            yield causes.required(f"{path}.conversionReviewVersions")
    elif webhook:
        rule = "should not be set when strategy is not set to Webhook"
        yield causes.forbidden(f"{path}.webhookClientConfig", rule)


_PROTECTED: Final = (".k8s.io", ".kubernetes.io")
_APPROVED: Final = "api-approved.kubernetes.io"


def _approval_problems(crd: Mapping[str, Any], spec: Mapping[str, Any]) -> Iterator[Cause]:
    """Groups of the Kubernetes community need an approval annotation."""
    group = spec.get("group") or ""
    annotations = (crd.get("metadata") or {}).get("annotations") or {}
    is_protected = group in {"k8s.io", "kubernetes.io"} or group.endswith(_PROTECTED)
    if is_protected and not annotations.get(_APPROVED):
        yield causes.required(
            f"metadata.annotations[{_APPROVED}]",
            "protected groups must have approval annotation "
            f'"{_APPROVED}", see https://github.com/kubernetes/enhancements/pull/1111',
        )


# --- updates


def _change_problems(crd: Mapping[str, Any], old: Mapping[str, Any]) -> Iterator[Cause]:
    # Scope and kind may change until the kind is established and served.
    immutable = ["group", "names.plural"]
    conditions = (old.get("status") or {}).get("conditions") or ()
    if any(
        each.get("type") == "Established" and each.get("status") == "True" for each in conditions
    ):
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
    names = {each.get("name") for each in spec.get("versions") or ()}
    for index, stored in enumerate((crd.get("status") or {}).get("storedVersions") or ()):
        if stored not in names:
            yield causes.invalid(
                f"status.storedVersions[{index}]",
                stored,
                f"missing from spec.versions; {stored} was previously a storage version, and "
                "must remain in spec.versions until a storage migration ensures no data remains "
                f"persisted in {stored} and removes {stored} from status.storedVersions",
            )
