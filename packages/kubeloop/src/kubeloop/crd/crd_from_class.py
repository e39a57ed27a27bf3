"""Builds the CustomResourceDefinition of a kind from its classes.

Guarantees: several classes are versions of one kind and must have the same group, names and
scope; names that the server would reject are rejected here. No request is sent.
See also: the schema (`structural_schema`), the opposite direction (`classes_from_crd`).
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, get_args, get_type_hints

from kubeloop.meta import check_dns_1035_label, check_dns_subdomain
from kubeloop.wire import Column, InvalidArgument, Resource, ResourceInfo, ScalePaths, resource_of
from kubeloop.wire.apiextensions.v1 import CustomResourceDefinition, JSONSchemaProps

from .structural_schema import Schema, schema_of

__all__ = ["crd_of"]

_COLUMN_TYPES = get_args(get_type_hints(Column)["type"])
# The fields of every object; the server validates them itself.
_COMMON_PROPERTIES: Schema = {
    "apiVersion": {"type": "string"},
    "kind": {"type": "string"},
    "metadata": {"type": "object"},
}


def crd_of(
    *classes: type[Resource], storage: type[Resource] | None = None
) -> CustomResourceDefinition:
    """The CustomResourceDefinition of `classes`, the versions of one kind; all are served.

        await client.apply(crd_of(Website))

    Objects are stored in the version of `storage`, by default the last class.

    Raises:
        InvalidArgument: a name that the server rejects, classes that are not versions of one
            kind, or an annotation that a schema cannot express; the message names class and field.
    """
    if not classes:
        raise InvalidArgument("a definition needs at least one class")
    infos = [resource_of(cls) for cls in classes]
    first = infos[0]
    _check_names(classes[0], first)
    _check_same_kind(classes, infos)
    storage = classes[-1] if storage is None else storage
    if storage not in classes:
        raise InvalidArgument(f"storage={storage.__name__} is not one of the versions")
    schemas = [_root_schema(cls) for cls in classes]
    crd = CustomResourceDefinition.from_dict(
        {
            "metadata": {"name": f"{first.plural}.{first.group}"},
            "spec": {
                "group": first.group,
                "names": _names(first),
                "scope": "Namespaced" if first.namespaced else "Cluster",
                "versions": [
                    _version(cls, schema, is_storage=cls is storage)
                    for cls, schema in zip(classes, schemas, strict=True)
                ],
            },
        }
    )
    for version, schema in zip(crd.spec.versions, schemas, strict=True):
        if version.schema is not None and version.schema.open_api_v3_schema is not None:
            _restore_numbers(version.schema.open_api_v3_schema, schema)
    return crd


def _check_names(cls: type[Resource], info: ResourceInfo) -> None:
    try:
        check_dns_subdomain(info.group)
        for name in (info.plural, info.singular, info.kind.lower(), *info.short_names):
            check_dns_1035_label(name)
        for name in info.categories:
            check_dns_1035_label(name)
    except InvalidArgument as error:
        raise InvalidArgument(f"{cls.__name__} cannot be defined: {error}") from error
    if "." not in info.group:
        raise InvalidArgument(
            f"{cls.__name__} cannot be defined: group {info.group!r} is not a domain "
            "(use one that you own, as in group='shop.example.com')"
        )


def _check_same_kind(classes: Sequence[type[Resource]], infos: Sequence[ResourceInfo]) -> None:
    shared = ("group", "kind", "plural", "singular", "namespaced", "short_names", "categories")
    for cls, info in zip(classes, infos, strict=True):
        check_dns_1035_label(info.version)
        for name in shared:
            found, expected = getattr(info, name), getattr(infos[0], name)
            if found != expected:
                raise InvalidArgument(
                    f"{classes[0].__name__} and {cls.__name__} are not versions of one kind: "
                    f"{name} is {expected!r} in one and {found!r} in the other"
                )
    versions = [info.version for info in infos]
    duplicates = {version for version in versions if versions.count(version) > 1}
    if duplicates:
        raise InvalidArgument(f"several classes are version {min(duplicates)} of {infos[0].kind}")


def _names(info: ResourceInfo) -> dict[str, Any]:
    names: dict[str, Any] = {
        "kind": info.kind,
        "listKind": f"{info.kind}List",
        "plural": info.plural,
        "singular": info.singular,
    }
    if info.short_names:
        names["shortNames"] = list(info.short_names)
    if info.categories:
        names["categories"] = list(info.categories)
    return names


def _root_schema(cls: type[Resource]) -> Schema:
    schema = _without_required_status(schema_of(cls), cls)
    extra = copy.deepcopy(dict(cls.__kind_options__.get("extra_json_schema", {})))
    schema["properties"] |= _COMMON_PROPERTIES | extra.pop("properties", {})
    return copy.deepcopy(schema | extra)  # the caller may change the result


def _without_required_status(schema: Schema, cls: type[Resource]) -> Schema:
    """The schema without `status` in `required` if status is a subresource: kube-apiserver
    drops the status of a new object before it validates, so no object could be created."""
    if not any(part.name == "status" for part in resource_of(cls).subresources):
        return schema
    required = [name for name in schema.get("required", ()) if name != "status"]
    others = {key: value for key, value in schema.items() if key != "required"}
    return others | ({"required": required} if required else {})


def _version(cls: type[Resource], schema: Schema, *, is_storage: bool) -> dict[str, Any]:
    options = cls.__kind_options__
    version: dict[str, Any] = {
        "name": options["version"],
        "served": True,
        "storage": is_storage,
        "schema": {"openAPIV3Schema": schema},
    }
    parts = {sub.name for sub in resource_of(cls).subresources}
    if parts:
        version["subresources"] = {
            name: _scale(cls, options["scale"]) if name == "scale" else {} for name in sorted(parts)
        }
    if options.get("columns"):
        version["additionalPrinterColumns"] = [_column(cls, each) for each in options["columns"]]
    if options.get("selectable_fields"):
        paths = options["selectable_fields"]
        version["selectableFields"] = [
            {"jsonPath": _path(cls, "selectable_fields", each)} for each in paths
        ]
    return version


def _scale(cls: type[Resource], paths: ScalePaths) -> dict[str, str]:
    scale = {
        "specReplicasPath": _path(cls, "scale", paths.spec_replicas),
        "statusReplicasPath": _path(cls, "scale", paths.status_replicas),
    }
    if paths.label_selector:
        scale["labelSelectorPath"] = _path(cls, "scale", paths.label_selector)
    return scale


def _column(cls: type[Resource], column: Column) -> dict[str, Any]:
    if column.type not in _COLUMN_TYPES:
        raise InvalidArgument(
            f"{cls.__name__}: column {column.name!r} has the type {column.type!r} "
            f"(use one of {', '.join(_COLUMN_TYPES)})"
        )
    required = {
        "name": column.name,
        "type": column.type,
        "jsonPath": _path(cls, "a column", column.path),
    }
    optional = {
        "priority": column.priority,
        "description": column.description,
        "format": column.format,
    }
    return required | {key: value for key, value in optional.items() if value}


def _path(cls: type[Resource], where: str, path: str) -> str:
    if not path.startswith("."):
        raise InvalidArgument(
            f"{cls.__name__}: {where} has the path {path!r} "
            "(begin with a dot, as in '.spec.replicas')"
        )
    return path


def _restore_numbers(props: JSONSchemaProps, schema: Schema) -> None:
    """Set bounds to the written numbers: `minimum: 1` in a manifest, not 1.0."""
    for name, wire in (
        ("minimum", "minimum"),
        ("maximum", "maximum"),
        ("multiple_of", "multipleOf"),
    ):
        if wire in schema:
            setattr(props, name, schema[wire])
    for name, inner in schema.get("properties", {}).items():
        _restore_numbers(props.properties[name], inner)
