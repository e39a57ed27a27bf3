"""CustomResourceDefinitions: the custom kind of a definition, and its defaults.

Guarantees: a `CustomKind` is an immutable value of a valid definition; those of equal definitions
are equal. Definitions are never changed.
See also: validation (`crd_validation`), status (`crd_status`), schemas (`schemas`), how kinds are
served (`registry`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Self, final

import msgspec

from kubeloop.meta import api_version_rank
from kubeloop.wire import TypeFacts

from ..statuses import Cause, invalid
from ..values import causes
from .crd_validation import problems_of_crd
from .schemas import Schema

__all__ = [
    "AGE_COLUMN",
    "GROUP",
    "KIND",
    "Column",
    "CustomKind",
    "CustomVersion",
    "Scale",
    "default_crd",
    "problems_of_crd",
    "with_storage_version",
]

GROUP: Final = "apiextensions.k8s.io"
KIND: Final = "CustomResourceDefinition"


class Column(msgspec.Struct, frozen=True):
    """One printer column, in addition to the name."""

    name: str
    type: str
    json_path: str
    format: str = ""
    description: str = ""
    priority: int = 0


AGE_COLUMN: Final = Column("Age", "date", ".metadata.creationTimestamp")


class Scale(msgspec.Struct, frozen=True):
    """The JSON paths of the scale subresource, such as `.spec.replicas`."""

    spec_replicas_path: str
    status_replicas_path: str
    label_selector_path: str = ""

    def problems_of(self, obj: Mapping[str, Any]) -> list[Cause]:
        """The values of an object that its scale cannot be read from."""
        found = [
            *_number_problems(obj, self.spec_replicas_path),
            *_number_problems(obj, self.status_replicas_path),
        ]
        if self.label_selector_path:
            _, problem = _nested(obj, self.label_selector_path, str, "string")
            if problem:
                found.append(causes.invalid(self.label_selector_path, "", problem))
        return found


def _number_problems(obj: Mapping[str, Any], path: str) -> list[Cause]:
    # Replicas are int32 in the Scale object.
    value, problem = _nested(obj, path, int, "int64")
    if problem:
        return [causes.invalid(path, 0, problem)]
    if value is not None and value < 0:
        return [causes.invalid(path, value, "should be a non-negative integer")]
    if value is not None and value > _MAX_REPLICAS:
        return [causes.invalid(path, value, f"should be less than or equal to {_MAX_REPLICAS}")]
    return []


def _nested(obj: Any, path: str, expected: type, go_type: str) -> tuple[Any, str]:
    """The value at a path, or the error of apimachinery's `NestedFieldNoCopy`."""
    steps = path.strip(".").split(".")
    for index, step in enumerate(steps):
        if not isinstance(obj, Mapping):
            return None, f"{path} accessor error: {_type_error(obj, 'map[string]interface{}')}"
        if step not in obj:
            return None, ""
        obj = obj[step]
        if index == len(steps) - 1 and (not isinstance(obj, expected) or isinstance(obj, bool)):
            return None, f"{path} accessor error: {_type_error(obj, go_type)}"
    return obj, ""


def _type_error(value: Any, expected: str) -> str:
    types = {str: "string", bool: "bool", int: "int64", float: "float64", list: "[]interface {}"}
    go_type = types.get(type(value), "<nil>" if value is None else "map[string]interface {}")
    return f"{value} is of the type {go_type}, expected {expected}"


_MAX_REPLICAS: Final = 2**31 - 1


@final
class CustomVersion(msgspec.Struct, frozen=True):
    """One version of a custom kind."""

    name: str
    served: bool
    storage: bool
    schema: Schema
    columns: tuple[Column, ...]  # without the name; the age if the definition has no columns
    selectable_fields: tuple[str, ...]  # as in field selectors: `spec.color`
    has_status: bool
    scale: Scale | None
    deprecated: bool = False
    deprecation_warning: str = ""

    @property
    def facts(self) -> TypeFacts | None:
        """The merge rules of the schema's fields."""
        return self.schema.facts


@final
class CustomKind(msgspec.Struct, frozen=True):
    """A kind that a CustomResourceDefinition defines."""

    group: str
    plural: str
    kind: str
    singular: str
    list_kind: str
    namespaced: bool
    short_names: tuple[str, ...]
    categories: tuple[str, ...]
    versions: tuple[CustomVersion, ...]
    conversion: str = "None"

    @classmethod
    def from_crd(cls, crd: Mapping[str, Any]) -> Self:
        """The kind of a definition, after defaulting.

        Raises:
            StatusError: the definition is not valid (422, with every cause).
        """
        defaulted = default_crd(dict(crd))
        problems = problems_of_crd(defaulted)
        if problems:
            raise invalid(GROUP, KIND, (defaulted.get("metadata") or {}).get("name", ""), problems)
        return cls.from_valid(defaulted["spec"], defaulted["spec"]["names"])

    @classmethod
    def from_valid(cls, spec: Mapping[str, Any], names: Mapping[str, Any]) -> Self:
        """The kind of the spec of a stored definition, under the names that are accepted."""
        return cls(
            group=spec["group"],
            plural=names["plural"],
            kind=names["kind"],
            singular=names["singular"],
            list_kind=names["listKind"],
            namespaced=spec["scope"] == "Namespaced",
            short_names=tuple(names.get("shortNames") or ()),
            categories=tuple(names.get("categories") or ()),
            versions=tuple(_version(each, spec) for each in spec["versions"]),
            conversion=spec["conversion"]["strategy"],
        )

    def version(self, name: str) -> CustomVersion | None:
        """The version of this name."""
        return next((each for each in self.versions if each.name == name), None)

    @property
    def storage_version(self) -> str:
        """The name of the version in which objects are stored."""
        return next(each.name for each in self.versions if each.storage)

    def read(self, stored: dict[str, Any], version: str = "") -> dict[str, Any]:
        """A stored object as `version` shows it, by default the storage version.

        As apiextensions-apiserver reads it from etcd (`crdConversionRESTOptionsGetter`): it is
        pruned and defaulted by the schema of the version that it is stored in, then converted and
        pruned by the other schema, and not defaulted again. Returns the same object if that
        changes nothing.
        """
        found = self.version(_version_of(stored))
        if found is not None:
            stored = found.schema.read(stored)
        return self.convert(stored, version or self.storage_version)

    def convert(self, obj: dict[str, Any], version: str) -> dict[str, Any]:
        """`obj` in another version, as with the conversion strategy None: pruned by its schema."""
        found = self.version(version)
        if found is None or _version_of(obj) == version:
            return obj
        converted = {**obj, "apiVersion": f"{self.group}/{version}"}
        return found.schema.coerce(converted)

    def is_declared(self, obj: dict[str, Any], versions: Iterable[str]) -> bool:
        """Whether each of these versions has every field of `obj` in its schema."""
        found = [each for each in self.versions if each.name in versions]
        return not any(each.schema.prune(obj)[1] for each in found)


def _version_of(obj: Mapping[str, Any]) -> str:
    return str(obj.get("apiVersion", "")).rpartition("/")[2]


def _version(raw: Mapping[str, Any], spec: Mapping[str, Any]) -> CustomVersion:
    parts = raw.get("subresources") or {}
    return CustomVersion(
        name=raw["name"],
        served=bool(raw.get("served")),
        storage=bool(raw.get("storage")),
        schema=Schema((raw.get("schema") or {}).get("openAPIV3Schema")),
        columns=tuple(map(_column, raw.get("additionalPrinterColumns") or ())) or (AGE_COLUMN,),
        selectable_fields=tuple(
            each["jsonPath"].removeprefix(".") for each in raw.get("selectableFields") or ()
        ),
        has_status=parts.get("status") is not None,
        scale=_scale(parts["scale"]) if parts.get("scale") is not None else None,
        deprecated=bool(raw.get("deprecated")),
        deprecation_warning=raw.get("deprecationWarning") or _deprecation(raw["name"], spec),
    )


def _deprecation(name: str, spec: Mapping[str, Any]) -> str:
    """The default warning of a deprecated version; it suggests the best newer version."""
    group, kind = spec["group"], spec["names"]["kind"]
    better = [
        each["name"]
        for each in spec["versions"]
        if each.get("served")
        and not each.get("deprecated")
        and api_version_rank(each["name"]) < api_version_rank(name)
    ]
    warning = f"{group}/{name} {kind} is deprecated"
    if not better:
        return warning
    return f"{warning}; use {group}/{min(better, key=api_version_rank)} {kind}"


def _column(raw: Mapping[str, Any]) -> Column:
    path = raw["jsonPath"]
    default = f"Custom resource definition column (in JSONPath format): {path}"
    return Column(
        name=raw["name"],
        type=raw["type"],
        json_path=path,
        format=raw.get("format") or "",
        description=raw.get("description") or default,
        priority=raw.get("priority") or 0,
    )


def _scale(raw: Mapping[str, Any]) -> Scale:
    return Scale(
        raw["specReplicasPath"], raw["statusReplicasPath"], raw.get("labelSelectorPath") or ""
    )


# --- defaults


def default_crd(crd: dict[str, Any]) -> dict[str, Any]:
    """`crd` with the defaults of names, conversion and stored versions."""
    spec = dict(crd.get("spec") or {})
    names, kind = dict(spec.get("names") or {}), (spec.get("names") or {}).get("kind") or ""
    if kind:
        names["singular"] = names.get("singular") or kind.lower()
        names["listKind"] = names.get("listKind") or f"{kind}List"
    spec["names"] = names
    spec["conversion"] = _default_conversion(spec.get("conversion"))
    if spec.get("preserveUnknownFields") is False:
        del spec["preserveUnknownFields"]  # Go leaves it out
    # The fields that Go always writes.
    status: dict[str, Any] = {"conditions": None, "acceptedNames": {"plural": "", "kind": ""}}
    status |= crd.get("status") or {}
    if not status.get("storedVersions"):
        status["storedVersions"] = _storage_names(spec)[:1]
    return {**crd, "spec": spec, "status": status}


def with_storage_version(crd: dict[str, Any]) -> dict[str, Any]:
    """`crd` after an update: its storage version is one that objects may be stored in."""
    status = crd.get("status") or {}
    stored = list(status.get("storedVersions") or ())
    new = [name for name in _storage_names(crd.get("spec") or {})[:1] if name not in stored]
    return {**crd, "status": {**status, "storedVersions": stored + new}} if new else crd


def _storage_names(spec: Mapping[str, Any]) -> list[str]:
    versions = spec.get("versions") or ()
    return [each.get("name", "") for each in versions if each.get("storage")]


def _default_conversion(raw: Mapping[str, Any] | None) -> dict[str, Any]:
    conversion = dict({"strategy": "None"} if raw is None else raw)
    service = ((conversion.get("webhook") or {}).get("clientConfig") or {}).get("service")
    if service and "port" not in service:
        webhook = conversion["webhook"]
        client = {**webhook["clientConfig"], "service": {**service, "port": 443}}
        conversion["webhook"] = {**webhook, "clientConfig": client}
    return conversion
