"""From a CustomResourceDefinition to a Python module of the classes it describes.

Guarantees: no text of the definition can become code in the module; the module is nothing
but imports and classes, needs nothing but kubeloop and msgspec, and its classes give the
same schema back (`crd_of`). What a definition says of a kind as a whole (which versions are
served or deprecated, how they are converted) has no place in a class and is left out.
See also: a schema's classes (`class_sketches`), their text (`class_text`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from kubeloop.meta import check_dns_1035_label, check_dns_subdomain
from kubeloop.wire import DecodeError, InvalidArgument
from kubeloop.wire.apiextensions.v1 import CustomResourceDefinition

from .class_sketches import Sketcher
from .class_text import ClassSketch, call, docstring, literal, module_text

__all__ = ["module_from_crd", "modules_from_crd"]

_Raw = Mapping[str, Any]

_OF_EVERY_KIND = ("apiVersion", "kind", "metadata")
# Where the names come from that a module may use, in the order of its imports.
_HOMES = {
    "typing": ("Annotated", "Any", "Literal"),
    "kubeloop.wire": (
        "UNSET", "Column", "FieldFacts", "IntOrString", "Model", "Quantity", "Resource",
        "ScalePaths", "Time",
    ),
}  # fmt: skip


def module_from_crd(
    crd: CustomResourceDefinition | Mapping[str, Any] | str | bytes,
    *,
    version: str = "",
    moments_as_text: bool = False,
) -> str:
    """The text of a module with the classes of one version, the stored one unless it is said.

    Objects come back from these classes as they went in, except that a moment
    (`format: date-time`) is sent in UTC and whole seconds, as the API's own kinds do;
    with `moments_as_text` it stays the text it was. Fields with a default read, and are
    sent, as their default where an object lacks them.

    Raises:
        InvalidArgument: not a CustomResourceDefinition, a name that the server refuses, or a
            schema that no class can say; the place is named.
    """
    data = _plain(crd)
    found = _version(data, version)
    return _module(data, found, moments_as_text=moments_as_text)


def modules_from_crd(
    crd: CustomResourceDefinition | Mapping[str, Any] | str | bytes,
    *,
    moments_as_text: bool = False,
) -> dict[str, str]:
    """The text of a module a version, by the version's name; as `module_from_crd` otherwise."""
    data = _plain(crd)
    return {
        found["name"]: _module(data, found, moments_as_text=moments_as_text)
        for found in _versions(data)
    }


# --- reading the definition


def _plain(crd: CustomResourceDefinition | _Raw | str | bytes) -> _Raw:
    """The spec as plain JSON data, checked to be of a CustomResourceDefinition."""
    match crd:
        case CustomResourceDefinition():
            data: Any = crd.to_dict()
        case str() | bytes():
            from kubeloop.wire.yaml import load_document  # PyYAML, where there is text only

            data = load_document(crd)
        case _:
            data = crd
    try:
        data = msgspec.json.decode(msgspec.json.encode(data))
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise DecodeError(f"the definition is no JSON data: {error}") from error
    said = (data.get("apiVersion"), data.get("kind")) if isinstance(data, dict) else (None, None)
    if said != ("apiextensions.k8s.io/v1", "CustomResourceDefinition"):
        raise InvalidArgument(
            "expected a CustomResourceDefinition of apiextensions.k8s.io/v1, found "
            f"{said[1]!r:.80} of {said[0]!r:.80}"
        )
    return _mapping(data.get("spec"), "spec")


def _versions(spec: _Raw) -> Sequence[_Raw]:
    found = [
        _mapping(each, f"spec.versions[{index}]")
        for index, each in enumerate(_list(spec.get("versions"), "spec.versions"))
    ]
    if not found:
        raise InvalidArgument("spec.versions: the definition has no version")
    for each in found:
        check_dns_1035_label(_text(each.get("name"), "spec.versions[].name"))
    return found


def _version(spec: _Raw, wanted: str) -> _Raw:
    found = _versions(spec)
    for each in found:
        if each["name"] == wanted if wanted else each.get("storage") is True:
            return each
    if not wanted:
        return found[-1]
    names = ", ".join(each["name"] for each in found)
    raise InvalidArgument(f"the definition has no version {wanted!r} (it has {names})")


def _module(spec: _Raw, version: _Raw, *, moments_as_text: bool) -> str:
    try:
        return _written(spec, version, moments_as_text=moments_as_text)
    except RecursionError as error:
        raise InvalidArgument("the definition is nested too deeply") from error


def _written(spec: _Raw, version: _Raw, *, moments_as_text: bool) -> str:
    names = _mapping(spec.get("names"), "spec.names")
    kind = _text(names.get("kind"), "spec.names.kind")
    group = _text(spec.get("group"), "spec.group")
    check_dns_subdomain(group)
    check_dns_1035_label(kind.lower())
    path = f"spec.versions[{version['name']}].schema.openAPIV3Schema"
    around = _mapping(version.get("schema") or {}, path)
    schema = _mapping(around.get("openAPIV3Schema") or {"type": "object"}, path)
    sketcher = Sketcher(moments_as_text=moments_as_text)
    own = sketcher.reserve(kind)
    fields = sketcher.fields(schema, own, path, skip=_OF_EVERY_KIND)
    doc = docstring(_text(schema.get("description", ""), f"{path}.description"))
    options = dict(_options(spec, names, version, own)) | _extra(schema, described=doc is not None)
    root = ClassSketch(own, "Resource", options, doc or "", fields)
    classes = [*sketcher.classes, root]
    opening = f"{kind} of {group}/{version['name']}, written from its CustomResourceDefinition."
    return module_text(opening, _imports(classes), classes)


# --- what a kind says besides its fields


def _options(spec: _Raw, names: _Raw, version: _Raw, own: str) -> Iterator[tuple[str, ast.expr]]:
    kind, plural = names["kind"], _text(names.get("plural"), "spec.names.plural")
    check_dns_1035_label(plural)
    yield "group", literal(spec["group"])
    yield "version", literal(version["name"])
    if kind != own:
        yield "kind", literal(kind)
    yield "plural", literal(plural)
    if names.get("singular", kind.lower()) != kind.lower():
        yield "singular", literal(_text(names["singular"], "spec.names.singular"))
    scope = spec.get("scope")
    if scope not in ("Namespaced", "Cluster"):  # no set: what is looked for may be a list
        raise InvalidArgument(f"spec.scope: expected Namespaced or Cluster, found {scope!r:.80}")
    if scope == "Cluster":
        yield "namespaced", literal(False)  # noqa: FBT003 - the value itself
    for key, option in (("shortNames", "short_names"), ("categories", "categories")):
        if names.get(key):
            words = _list(names[key], f"spec.names.{key}")
            yield option, literal(tuple(_text(each, f"spec.names.{key}") for each in words))
    yield from _printed_and_selected(version)
    yield from _subresources(version)


def _printed_and_selected(version: _Raw) -> Iterator[tuple[str, ast.expr]]:
    columns = _list(version.get("additionalPrinterColumns") or [], "additionalPrinterColumns")
    if columns:
        yield "columns", ast.Tuple([_column(each) for each in columns], ast.Load())
    fields = _list(version.get("selectableFields") or [], "selectableFields")
    if fields:
        paths = [_mapping(each, "selectableFields").get("jsonPath") for each in fields]
        yield (
            "selectable_fields",
            literal(tuple(_text(each, "selectableFields.jsonPath") for each in paths)),
        )


def _column(column: Any) -> ast.expr:
    where = "additionalPrinterColumns"
    said = _mapping(column, where)
    usual: dict[str, str | int] = {"type": "string", "priority": 0, "description": "", "format": ""}
    options = {key: said[key] for key, value in usual.items() if said.get(key, value) != value}
    for key, value in options.items():
        if type(value) is not type(usual[key]):
            raise InvalidArgument(
                f"{where}.{key}: expected {usual[key]!r} or alike, found {value!r:.80}"
            )
    return call(
        "Column",
        literal(_text(said.get("name"), f"{where}.name")),
        literal(_text(said.get("jsonPath"), f"{where}.jsonPath")),
        **{key: literal(value) for key, value in options.items()},
    )


_SCALE = {
    "specReplicasPath": ("spec_replicas", ".spec.replicas"),
    "statusReplicasPath": ("status_replicas", ".status.replicas"),
    "labelSelectorPath": ("label_selector", ""),
}


def _subresources(version: _Raw) -> Iterator[tuple[str, ast.expr]]:
    parts = _mapping(version.get("subresources") or {}, "subresources")
    if parts.get("scale") is not None:
        paths = _mapping(parts["scale"], "subresources.scale")
        options = {
            option: literal(_text(paths[key], f"subresources.scale.{key}"))
            for key, (option, usual) in _SCALE.items()
            if paths.get(key, usual) != usual
        }
        yield "scale", call("ScalePaths", **options)
    schema = (version.get("schema") or {}).get("openAPIV3Schema") or {}
    if (parts.get("status") is not None) != ("status" in schema.get("properties", {})):
        yield "status_subresource", literal(parts.get("status") is not None)


def _extra(schema: _Raw, *, described: bool) -> dict[str, ast.expr]:
    """What the root of a schema says besides its fields."""
    said = {"type", "properties", "required"} | ({"description"} if described else set())
    extra = {key: value for key, value in schema.items() if key not in said}
    properties = schema.get("properties", {})
    if not set(schema.get("required", [])) <= properties.keys() - set(_OF_EVERY_KIND):
        extra["required"] = schema["required"]
    metadata = properties.get("metadata", {})
    if isinstance(metadata, Mapping) and metadata.keys() - {"type", "description"}:
        extra["properties"] = {"metadata": metadata}
    return {"extra_json_schema": literal(extra)} if extra else {}


# --- names from elsewhere


def _imports(classes: Sequence[ClassSketch]) -> dict[str, tuple[str, ...]]:
    """The names that the classes use, by the module they are imported from."""
    used = {"Model", "Resource"} & {each.base for each in classes}
    for expression in _expressions(classes):
        used |= {node.id for node in ast.walk(expression) if isinstance(node, ast.Name)}
    found = {home: tuple(each for each in names if each in used) for home, names in _HOMES.items()}
    ordered: dict[str, tuple[str, ...]] = {}
    for home in ("typing", "msgspec", "kubeloop.wire"):
        if found.get(home) or (home == "msgspec" and home in used):
            ordered[home] = found.get(home, ())
    return ordered


def _expressions(classes: Sequence[ClassSketch]) -> Iterator[ast.expr]:
    for each in classes:
        yield from each.options.values()
        for field in each.fields:
            yield field.hint
            if field.value is not None:
                yield field.value


# --- checks


def _mapping(value: Any, path: str) -> _Raw:
    if not isinstance(value, Mapping):
        raise InvalidArgument(f"{path}: expected an object, found {value!r:.80}")
    return value


def _list(value: Any, path: str) -> list[Any]:
    if not isinstance(value, list):
        raise InvalidArgument(f"{path}: expected a list, found {value!r:.80}")
    return value


def _text(value: Any, path: str) -> str:
    if not isinstance(value, str):
        raise InvalidArgument(f"{path}: expected text, found {value!r:.80}")
    return value
