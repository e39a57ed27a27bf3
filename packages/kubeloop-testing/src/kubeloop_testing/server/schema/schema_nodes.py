"""A compiled structural schema: one node for each subschema.

Guarantees: nodes are built once for a CustomResourceDefinition and are immutable; they omit what
does not affect validation (titles, descriptions, CEL expressions).
See also: what uses nodes (`schemas`, `schema_validation`), which schemas are accepted
(`crd_schemas`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, final

__all__ = ["ABSENT", "META_FIELDS", "Node", "is_known_format"]

META_FIELDS: Final = frozenset({"apiVersion", "kind", "metadata"})


@final
class Absent:
    """No value; None is the value null."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent()


@final
class Node:
    """One subschema. The attributes have the names of the OpenAPI keywords."""

    __slots__ = (
        "additional",
        "all_of",
        "any_of",
        "closed",
        "default",
        "embedded",
        "enum",
        "exclusive_maximum",
        "exclusive_minimum",
        "format",
        "has_rules",
        "int_or_string",
        "items",
        "list_map_keys",
        "list_type",
        "map_type",
        "max_items",
        "max_length",
        "max_properties",
        "maximum",
        "min_items",
        "min_length",
        "min_properties",
        "minimum",
        "multiple_of",
        "not_",
        "nullable",
        "one_of",
        "pattern",
        "preserve",
        "properties",
        "required",
        "type",
        "unique_items",
    )

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self._read_structure(raw)
        self._read_extensions(raw)
        self._read_limits(raw)
        self.all_of = tuple(Node(each) for each in raw.get("allOf") or ())
        self.any_of = tuple(Node(each) for each in raw.get("anyOf") or ())
        self.one_of = tuple(Node(each) for each in raw.get("oneOf") or ())
        self.not_ = Node(raw["not"]) if isinstance(raw.get("not"), Mapping) else None

    @property
    def types(self) -> tuple[str, ...]:
        """The JSON types that a value may have; empty for any."""
        if self.int_or_string:
            return ("integer", "string")
        return (self.type,) if self.type else ()

    def child(self, name: str) -> Node | None:
        """The schema of one field: of the property, or of the additional properties."""
        return self.properties.get(name, self.additional)

    def _read_structure(self, raw: Mapping[str, Any]) -> None:
        self.type: str = raw.get("type") or ""
        self.format = _known_format(self.type, raw.get("format") or "")
        self.nullable = bool(raw.get("nullable"))
        # A default of null is the same as none, as in the API server.
        default = raw.get("default")
        self.default: Any = ABSENT if default is None else default
        self.items = _optional(raw.get("items"))
        self.properties: dict[str, Node] = {
            name: Node(each) for name, each in (raw.get("properties") or {}).items()
        }
        rest = raw.get("additionalProperties")
        self.closed = rest is False
        # A boolean has no schema for values: keys may be rejected, but every value is valid.
        self.additional: Node | None = _ANY if isinstance(rest, bool) else _optional(rest)
        self.required: tuple[str, ...] = tuple(raw.get("required") or ())

    def _read_extensions(self, raw: Mapping[str, Any]) -> None:
        self.preserve = bool(raw.get("x-kubernetes-preserve-unknown-fields"))
        self.embedded = bool(raw.get("x-kubernetes-embedded-resource"))
        self.int_or_string = bool(raw.get("x-kubernetes-int-or-string"))
        self.list_type: str = raw.get("x-kubernetes-list-type") or ""
        self.list_map_keys: tuple[str, ...] = tuple(raw.get("x-kubernetes-list-map-keys") or ())
        self.map_type: str = raw.get("x-kubernetes-map-type") or ""
        self.has_rules = bool(raw.get("x-kubernetes-validations"))

    def _read_limits(self, raw: Mapping[str, Any]) -> None:
        self.enum: tuple[Any, ...] = tuple(raw.get("enum") or ())
        self.minimum: float | None = raw.get("minimum")
        self.maximum: float | None = raw.get("maximum")
        self.exclusive_minimum = bool(raw.get("exclusiveMinimum"))
        self.exclusive_maximum = bool(raw.get("exclusiveMaximum"))
        self.multiple_of: float | None = raw.get("multipleOf")
        self.min_length: int | None = raw.get("minLength")
        self.max_length: int | None = raw.get("maxLength")
        self.pattern: str = raw.get("pattern") or ""
        self.min_items: int | None = raw.get("minItems")
        self.max_items: int | None = raw.get("maxItems")
        self.unique_items = bool(raw.get("uniqueItems"))
        self.min_properties: int | None = raw.get("minProperties")
        self.max_properties: int | None = raw.get("maxProperties")


_STRING_FORMATS: Final = frozenset(
    [
        "bsonobjectid",
        "uri",
        "email",
        "hostname",
        "ipv4",
        "ipv6",
        "cidr",
        "mac",
        "uuid",
        "uuid3",
        "uuid4",
        "uuid5",
        "isbn",
        "isbn10",
        "isbn13",
        "creditcard",
        "ssn",
        "hexcolor",
        "rgbcolor",
        "byte",
        "password",
        "date",
        "duration",
        "datetime",
        "k8sshortname",
        "k8slongname",
    ]
)


def is_known_format(kind: str, name: str) -> bool:
    """Whether the API server checks a format for values of this type."""
    return bool(_known_format(kind, name))


def _known_format(kind: str, name: str) -> str:
    """`name` without dashes if the API server checks it for this type, else ""."""
    # strfmt normalizes names: `date-time` and `datetime` are the same.
    plain = name.replace("-", "")
    match kind:
        case "" | "string":
            return plain if plain in _STRING_FORMATS else ""
        case "integer":
            return name if name in {"int32", "int64"} else ""
        case "number":
            return name if name in {"float", "double"} else ""
    return ""


def _optional(raw: Any) -> Node | None:
    return Node(raw) if isinstance(raw, Mapping) else None


_ANY: Final = Node({"nullable": True})  # accepts every value
