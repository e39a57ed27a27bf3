"""Reads protobuf field numbers into a table of messages, by the names of the models.

What Go's JSON has for a field that is empty is not in the field numbers; it follows from the Go
types. `make go-types` writes both: `protobuf_fields.json` here, and `go_types.json`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from .document import BadDocument, ClassFacts
from .go_structs import GoField, go_fields

__all__ = ["NUMBERS", "Messages", "messages_in"]

NUMBERS = Path(__file__).with_name("protobuf_fields.json")

# Message name to field number to (wire name, how, type, presence). Presence is one of
#   "p": a pointer, a list or a map: JSON has it if the message has it
#   "v": held by value, with `omitempty`: JSON has it unless it is zero
#   "a": held by value: JSON always has it
#   "n": held by value: JSON has null for its zero value, which is an empty message
Messages = dict[str, dict[int, tuple[str, str, str, str]]]

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
_NULL = frozenset({"Time", "MicroTime", "Raw", "strings"})  # their zero value in JSON
_UNKNOWN = GoField("*", "")
_MAP = re.compile(r"map<string, (.+)>")
# Go lists that are messages in protobuf, but plain lists in JSON.
_LISTS = frozenset({"ExtraValue", "AttestationValue", "Verbs"})


def messages_in(classes: Iterable[ClassFacts]) -> Messages:
    """The messages of every class, and of the structs inlined into them."""
    numbers: Mapping[str, Any] = json.loads(NUMBERS.read_text("utf-8"))["messages"]
    known = {f"{facts.definition.module}.{facts.definition.name}": facts for facts in classes}
    modules = {name.partition(".")[0] for name in known}
    found: Messages = {}
    for full, fields in sorted(numbers.items()):
        name = _short(full)
        if full in _SPECIAL or name is None or name.partition(".")[0] not in modules:
            continue
        wires = {field.wire for field in known[name].fields} if name in known else None
        found[name] = {
            number: _entry(full, (wire, rule, kind), wires, go_fields(name))
            for wire, (number, rule, kind) in sorted(fields.items(), key=lambda item: item[1][0])
        }
    return found


def _presence(field: GoField, how: str, type_: str) -> str:
    if how or field.is_pointer:
        return "p"
    if type_ in _NULL:
        return "n"
    if type_ == "bytes":
        return (
            "v" if "e" in field.options else "p"
        )  # Go has bytes that are nil, and such that are empty
    return "v" if "e" in field.options and type_ in _SCALARS else "a"


def _entry(
    message: str,
    field: tuple[str, str, str],
    wires: set[str] | None,
    struct: Mapping[str, GoField],
) -> tuple[str, str, str, str]:
    wire, rule, kind = field
    if not wire.replace("-", "").replace("$", "").isalnum():
        raise BadDocument(f"not a name: {wire!r}")
    inner = _MAP.fullmatch(kind)
    type_ = _type(message, inner[1] if inner else kind)
    how = {"optional": "", "repeated": "list", "map": "map"}[rule]
    wire = _json_name(wire, [*(wires or ()), *struct])
    nested = type_ not in _SCALARS and "." in type_ and not type_.startswith("list:")
    if not how and nested and wires is not None and wire not in wires and wire != "metadata":
        how = "inline"  # a struct that Go embeds: JSON has its fields one level up
    return wire, how, type_, _presence(struct.get(wire, _UNKNOWN), how, type_)


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
