"""Reads protobuf field numbers into a table of messages, by the names of the models.

Fields that Go holds by value (`plain_fields`) are written even if they are empty.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from .document import BadDocument, ClassFacts, plain_fields

__all__ = ["Messages", "messages_in"]

# Message name to field number to (wire name, how, type, plain).
Messages = dict[str, dict[int, tuple[str, str, str, bool]]]

_SPECIAL = {
    "k8s.io.apimachinery.pkg.api.resource.Quantity": "Quantity",
    "k8s.io.apimachinery.pkg.util.intstr.IntOrString": "IntOrString",
    "k8s.io.apimachinery.pkg.runtime.RawExtension": "Raw",
    "k8s.io.apimachinery.pkg.apis.meta.v1.FieldsV1": "Raw",
    "k8s.io.apimachinery.pkg.apis.meta.v1.Time": "Time",
    "k8s.io.apimachinery.pkg.apis.meta.v1.MicroTime": "MicroTime",
}
_EXTENSIONS = "k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1."
_SPECIAL |= {
    f"{_EXTENSIONS}JSON": "Raw",
    f"{_EXTENSIONS}JSONSchemaPropsOrArray": "SchemaOrArray",
    f"{_EXTENSIONS}JSONSchemaPropsOrBool": "SchemaOrBool",
    f"{_EXTENSIONS}JSONSchemaPropsOrStringArray": "SchemaOrStrings",
}
_SCALARS = frozenset({"string", "bytes", "bool", "int32", "int64", "double"})
_MAP = re.compile(r"map<string, (.+)>")
# Go lists that are messages in protobuf, but plain lists in JSON.
_LISTS = frozenset({"ExtraValue", "AttestationValue", "Verbs"})


def messages_in(document: Mapping[str, Any], classes: Iterable[ClassFacts]) -> Messages:
    """The messages of every class, and of the structs inlined into them."""
    known = {f"{facts.definition.module}.{facts.definition.name}": facts for facts in classes}
    plain = plain_fields()
    modules = {name.partition(".")[0] for name in known}
    found: Messages = {}
    for full, fields in sorted(document.items()):
        name = _short(full)
        if full in _SPECIAL or name is None or name.partition(".")[0] not in modules:
            continue
        wires = {field.wire for field in known[name].fields} if name in known else None
        found[name] = {
            number: _entry(full, (wire, rule, kind), wires, plain.get(name, ()))
            for wire, (number, rule, kind) in sorted(fields.items(), key=lambda item: item[1][0])
        }
    return found


def _entry(
    message: str, field: tuple[str, str, str], wires: set[str] | None, plain: Iterable[str]
) -> tuple[str, str, str, bool]:
    wire, rule, kind = field
    if not wire.replace("-", "").replace("$", "").isalnum():
        raise BadDocument(f"not a name: {wire!r}")
    inner = _MAP.fullmatch(kind)
    type_ = _type(message, inner[1] if inner else kind)
    how = {"optional": "", "repeated": "list", "map": "map"}[rule]
    wire = _json_name(wire, wires or ())
    nested = type_ not in _SCALARS and "." in type_ and not type_.startswith("list:")
    if not how and nested and wires is not None and wire not in wires and wire != "metadata":
        how = "inline"  # a struct that Go embeds: JSON has its fields one level up
    return wire, how, type_, wire in plain


def _json_name(name: str, wires: Iterable[str]) -> str:
    """The JSON name of a field; protobuf spells a few of them differently."""
    return next((wire for wire in wires if _letters(wire) == _letters(name)), name)


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _type(message: str, kind: str) -> str:
    if kind in _SCALARS:
        return kind
    full = kind[1:] if kind.startswith(".") else f"{message.rpartition('.')[0]}.{kind}"
    if full in _SPECIAL:
        return _SPECIAL[full]
    name = _short(full)
    if name is None:
        raise BadDocument(f"{message}: unknown type {kind!r}")
    return "strings" if name.rpartition(".")[2] in _LISTS else name


def _short(full: str) -> str | None:
    match = re.fullmatch(r"k8s\.io\.(?:\w+\.)*(\w+)\.(v\d+\w*)\.(\w+)", full)
    return f"{match[1]}_{match[2]}.{match[3]}" if match else None
