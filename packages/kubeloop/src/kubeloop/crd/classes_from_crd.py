"""Generates a Python module of classes from a CustomResourceDefinition.

Guarantees: no text of the definition can become code in the module; the module consists of
imports and classes, depends only on kubeloop and msgspec, and `crd_of` returns the same schema
for its classes. Settings of the whole kind (which versions are served or deprecated, how they
are converted) are not part of a class and are left out.
See also: the classes of a schema (`class_builder`), their text (`class_text`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from kubeloop.meta import check_dns_1035_label, check_dns_subdomain
from kubeloop.wire import DecodeError, InvalidArgument
from kubeloop.wire.apiextensions.v1 import CustomResourceDefinition

from .class_builder import ClassBuilder
from .class_text import ClassDefinition, call, docstring, literal, module_text

__all__ = ["module_from_crd", "modules_from_crd"]

_Raw = Mapping[str, Any]

_COMMON_FIELDS = ("apiVersion", "kind", "metadata")
# The names that a generated module may import, by module.
_IMPORTS = {
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
    timestamps_as_text: bool = False,
) -> str:
    """The text of a module with the classes of one version, by default the storage version.

    The classes decode and encode objects without loss, except that a timestamp
    (`format: date-time`) is encoded in UTC and whole seconds, as in built-in kinds; with
    `timestamps_as_text` it stays unchanged text. A missing field with a default is decoded
    and encoded as its default.

    Raises:
        InvalidArgument: not a CustomResourceDefinition, a name that the server rejects, or a
            schema that classes cannot express; the message contains the path.
    """
    data = _spec_of(crd)
    found = _version(data, version)
    return _module(data, found, timestamps_as_text=timestamps_as_text)


def modules_from_crd(
    crd: CustomResourceDefinition | Mapping[str, Any] | str | bytes,
    *,
    timestamps_as_text: bool = False,
) -> dict[str, str]:
    """The text of one module for each version, by its name; see `module_from_crd`."""
    data = _spec_of(crd)
    return {
        found["name"]: _module(data, found, timestamps_as_text=timestamps_as_text)
        for found in _versions(data)
    }


# --- reading the definition


def _spec_of(crd: CustomResourceDefinition | _Raw | str | bytes) -> _Raw:
    """The spec of a CustomResourceDefinition as plain JSON data."""
    match crd:
        case CustomResourceDefinition():
            data: Any = crd.to_dict()
        case str() | bytes():
            from kubeloop.wire.yaml import load_document  # PyYAML is needed for text only

            data = load_document(crd)
        case _:
            data = crd
    try:
        data = msgspec.json.decode(msgspec.json.encode(data))
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise DecodeError(f"the definition is not JSON data: {error}") from error
    found = (data.get("apiVersion"), data.get("kind")) if isinstance(data, dict) else (None, None)
    if found != ("apiextensions.k8s.io/v1", "CustomResourceDefinition"):
        raise InvalidArgument(
            "expected a CustomResourceDefinition of apiextensions.k8s.io/v1, found "
            f"{found[1]!r:.80} of {found[0]!r:.80}"
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


def _version(spec: _Raw, name: str) -> _Raw:
    found = _versions(spec)
    for each in found:
        if each["name"] == name if name else each.get("storage") is True:
            return each
    if not name:
        return found[-1]
    names = ", ".join(each["name"] for each in found)
    raise InvalidArgument(f"the definition has no version {name!r} (it has {names})")


def _module(spec: _Raw, version: _Raw, *, timestamps_as_text: bool) -> str:
    try:
        return _generate(spec, version, timestamps_as_text=timestamps_as_text)
    except RecursionError as error:
        raise InvalidArgument("the definition is nested too deeply") from error


def _generate(spec: _Raw, version: _Raw, *, timestamps_as_text: bool) -> str:
    names = _mapping(spec.get("names"), "spec.names")
    kind = _text(names.get("kind"), "spec.names.kind")
    group = _text(spec.get("group"), "spec.group")
    check_dns_subdomain(group)
    check_dns_1035_label(kind.lower())
    path = f"spec.versions[{version['name']}].schema.openAPIV3Schema"
    wrapper = _mapping(version.get("schema") or {}, path)
    schema = _mapping(wrapper.get("openAPIV3Schema") or {"type": "object"}, path)
    builder = ClassBuilder(timestamps_as_text=timestamps_as_text)
    own = builder.reserve(kind)
    fields = builder.fields(schema, own, path, skip=_COMMON_FIELDS)
    doc = docstring(_text(schema.get("description", ""), f"{path}.description"))
    options = dict(_options(spec, names, version, own)) | _extra(
        schema, has_docstring=doc is not None
    )
    root = ClassDefinition(own, "Resource", options, doc or "", fields)
    classes = [*builder.classes, root]
    title = f"{kind} of {group}/{version['name']}, written from its CustomResourceDefinition."
    return module_text(title, _imports(classes), classes)


# --- options of a kind


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
    if scope not in ("Namespaced", "Cluster"):  # not a set: the value may be unhashable
        raise InvalidArgument(f"spec.scope: expected Namespaced or Cluster, found {scope!r:.80}")
    if scope == "Cluster":
        yield "namespaced", literal(False)  # noqa: FBT003 - the value itself
    for key, option in (("shortNames", "short_names"), ("categories", "categories")):
        if names.get(key):
            words = _list(names[key], f"spec.names.{key}")
            yield option, literal(tuple(_text(each, f"spec.names.{key}") for each in words))
    yield from _columns_and_selectable_fields(version)
    yield from _subresources(version)


def _columns_and_selectable_fields(version: _Raw) -> Iterator[tuple[str, ast.expr]]:
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
    given = _mapping(column, where)
    default: dict[str, str | int] = {
        "type": "string",
        "priority": 0,
        "description": "",
        "format": "",
    }
    options = {key: given[key] for key, value in default.items() if given.get(key, value) != value}
    for key, value in options.items():
        if type(value) is not type(default[key]):
            raise InvalidArgument(
                f"{where}.{key}: expected a value such as {default[key]!r}, found {value!r:.80}"
            )
    return call(
        "Column",
        literal(_text(given.get("name"), f"{where}.name")),
        literal(_text(given.get("jsonPath"), f"{where}.jsonPath")),
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
            for key, (option, default) in _SCALE.items()
            if paths.get(key, default) != default
        }
        yield "scale", call("ScalePaths", **options)
    schema = (version.get("schema") or {}).get("openAPIV3Schema") or {}
    if (parts.get("status") is not None) != ("status" in schema.get("properties", {})):
        yield "status_subresource", literal(parts.get("status") is not None)


def _extra(schema: _Raw, *, has_docstring: bool) -> dict[str, ast.expr]:
    """The keywords at the root of a schema that the class does not cover."""
    covered = {"type", "properties", "required"} | ({"description"} if has_docstring else set())
    extra = {key: value for key, value in schema.items() if key not in covered}
    properties = schema.get("properties", {})
    if not set(schema.get("required", [])) <= properties.keys() - set(_COMMON_FIELDS):
        extra["required"] = schema["required"]
    metadata = properties.get("metadata", {})
    if isinstance(metadata, Mapping) and metadata.keys() - {"type", "description"}:
        extra["properties"] = {"metadata": metadata}
    return {"extra_json_schema": literal(extra)} if extra else {}


# --- the imports of a module


def _imports(classes: Sequence[ClassDefinition]) -> dict[str, tuple[str, ...]]:
    """The names that the classes use, by the module they are imported from."""
    used = {"Model", "Resource"} & {each.base for each in classes}
    for expression in _expressions(classes):
        used |= {node.id for node in ast.walk(expression) if isinstance(node, ast.Name)}
    found = {
        module: tuple(each for each in names if each in used) for module, names in _IMPORTS.items()
    }
    ordered: dict[str, tuple[str, ...]] = {}
    for module in ("typing", "msgspec", "kubeloop.wire"):
        if found.get(module) or (module == "msgspec" and module in used):
            ordered[module] = found.get(module, ())
    return ordered


def _expressions(classes: Sequence[ClassDefinition]) -> Iterator[ast.expr]:
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
