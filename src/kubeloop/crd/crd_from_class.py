"""From the classes of a user's kind to the CustomResourceDefinition that installs it.

Guarantees: several classes are several versions of one kind and must agree on all that
versions share; names that the server would refuse are refused here. Text of the classes
is carried over as data, and nothing is sent anywhere.
See also: what the fields say (`structural_schema`), the way back (`classes_from_crd`).
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
# What every object has is the server's business, and it checks it by itself.
_EVERY_OBJECT: Schema = {
    "apiVersion": {"type": "string"},
    "kind": {"type": "string"},
    "metadata": {"type": "object"},
}


def crd_of(
    *classes: type[Resource], storage: type[Resource] | None = None
) -> CustomResourceDefinition:
    """The definition that makes a server know `classes`: the versions of one kind, all served.

        await client.apply(crd_of(Website))

    Objects are stored in the version of `storage`, which is the last class unless it is said.

    Raises:
        InvalidArgument: a name the server refuses, versions that do not belong together, or an
            annotation that no schema can say; the class and the field are named.
    """
    if not classes:
        raise InvalidArgument("a definition needs at least one class")
    infos = [resource_of(cls) for cls in classes]
    first = infos[0]
    _check_names(classes[0], first)
    _check_together(classes, infos)
    storage = classes[-1] if storage is None else storage
    if storage not in classes:
        raise InvalidArgument(f"{storage.__name__} is to be stored and is none of the versions")
    schemas = [_root_schema(cls) for cls in classes]
    crd = CustomResourceDefinition.from_dict(
        {
            "metadata": {"name": f"{first.plural}.{first.group}"},
            "spec": {
                "group": first.group,
                "names": _names(first),
                "scope": "Namespaced" if first.namespaced else "Cluster",
                "versions": [
                    _version(cls, schema, stored=cls is storage)
                    for cls, schema in zip(classes, schemas, strict=True)
                ],
            },
        }
    )
    for version, schema in zip(crd.spec.versions, schemas, strict=True):
        if version.schema is not None and version.schema.open_api_v3_schema is not None:
            _keep_numbers(version.schema.open_api_v3_schema, schema)
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
            f"{cls.__name__} cannot be defined: group {info.group!r} is no domain "
            "(take one that you own, as in group='shop.example.com')"
        )


def _check_together(classes: Sequence[type[Resource]], infos: Sequence[ResourceInfo]) -> None:
    shared = ("group", "kind", "plural", "singular", "namespaced", "short_names", "categories")
    for cls, info in zip(classes, infos, strict=True):
        check_dns_1035_label(info.version)
        for name in shared:
            found, expected = getattr(info, name), getattr(infos[0], name)
            if found != expected:
                raise InvalidArgument(
                    f"{classes[0].__name__} and {cls.__name__} are no versions of one kind: "
                    f"{name} is {expected!r} in one and {found!r} in the other"
                )
    versions = [info.version for info in infos]
    twice = {version for version in versions if versions.count(version) > 1}
    if twice:
        raise InvalidArgument(f"several classes are version {min(twice)} of {infos[0].kind}")


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
    schema["properties"] |= _EVERY_OBJECT | extra.pop("properties", {})
    return copy.deepcopy(schema | extra)  # the caller may change what it gets


def _without_required_status(schema: Schema, cls: type[Resource]) -> Schema:
    """The schema of what can be created: a server with the subresource takes a status away
    before it looks at what is missing, so nothing with a required one could ever be made."""
    if not any(part.name == "status" for part in resource_of(cls).subresources):
        return schema
    must = [name for name in schema.get("required", ()) if name != "status"]
    others = {key: value for key, value in schema.items() if key != "required"}
    return others | ({"required": must} if must else {})


def _version(cls: type[Resource], schema: Schema, *, stored: bool) -> dict[str, Any]:
    said = cls.__kind_options__
    version: dict[str, Any] = {
        "name": said["version"],
        "served": True,
        "storage": stored,
        "schema": {"openAPIV3Schema": schema},
    }
    parts = {sub.name for sub in resource_of(cls).subresources}
    if parts:
        version["subresources"] = {
            name: _scale(cls, said["scale"]) if name == "scale" else {} for name in sorted(parts)
        }
    if said.get("columns"):
        version["additionalPrinterColumns"] = [_column(cls, each) for each in said["columns"]]
    if said.get("selectable_fields"):
        paths = said["selectable_fields"]
        version["selectableFields"] = [
            {"jsonPath": _path(cls, "selectable_fields", each)} for each in paths
        ]
    return version


def _scale(cls: type[Resource], paths: ScalePaths) -> dict[str, str]:
    said = {
        "specReplicasPath": _path(cls, "scale", paths.spec_replicas),
        "statusReplicasPath": _path(cls, "scale", paths.status_replicas),
    }
    if paths.label_selector:
        said["labelSelectorPath"] = _path(cls, "scale", paths.label_selector)
    return said


def _column(cls: type[Resource], column: Column) -> dict[str, Any]:
    if column.type not in _COLUMN_TYPES:
        raise InvalidArgument(
            f"{cls.__name__}: column {column.name!r} is of type {column.type!r} "
            f"(take one of {', '.join(_COLUMN_TYPES)})"
        )
    said = {
        "name": column.name,
        "type": column.type,
        "jsonPath": _path(cls, "a column", column.path),
    }
    optional = {
        "priority": column.priority,
        "description": column.description,
        "format": column.format,
    }
    return said | {key: value for key, value in optional.items() if value}


def _path(cls: type[Resource], where: str, path: str) -> str:
    if not path.startswith("."):
        raise InvalidArgument(
            f"{cls.__name__}: {where} has the path {path!r} (start at the object with a dot, "
            "as in '.spec.replicas')"
        )
    return path


def _keep_numbers(props: JSONSchemaProps, schema: Schema) -> None:
    """Bounds as they were written: a manifest says `minimum: 1`, not 1.0."""
    for name, wire in (
        ("minimum", "minimum"),
        ("maximum", "maximum"),
        ("multiple_of", "multipleOf"),
    ):
        if wire in schema:
            setattr(props, name, schema[wire])
    for name, inner in schema.get("properties", {}).items():
        _keep_numbers(props.properties[name], inner)
