"""The protobuf messages of built-in kinds: the fields of each, and what JSON has for them.

Guarantees: the text of a message is parsed when its fields are first needed; the names of fields
are those of JSON.
See also: the table (`_generated.protobuf`), reading and writing in pure Python (`protobuf`),
reading by upb (`protobuf_codec`).
"""

from __future__ import annotations

import functools
from typing import Final, Literal, NamedTuple, TypeAlias

from .errors import DecodeError

__all__ = [
    "LIST_HEAD",
    "MAGIC",
    "PROTOBUF",
    "SCALARS",
    "SCHEMAS",
    "MessageField",
    "ReadFormat",
    "is_message",
    "message_fields",
    "message_of",
]

MAGIC: Final = b"k8s\x00"
PROTOBUF: Final = "application/vnd.kubernetes.protobuf"
ReadFormat: TypeAlias = Literal["json", "protobuf"]  # in which a client reads objects

SCALARS: Final = frozenset({"string", "bytes", "bool", "int32", "int64", "double"})


class MessageField(NamedTuple):
    """One field of a message."""

    number: int
    wire: str  # its name in JSON
    how: Literal["", "list", "map", "inline"]  # inline: JSON has its fields one level up
    # A scalar, a message such as `core_v1.PodSpec`, or a type with JSON of its own: Time,
    # MicroTime, Quantity, IntOrString, Raw, strings, and those of `SCHEMAS`.
    type: str
    # "p": JSON has it if the message has it; lists and maps unless they are empty
    # "v": held by value, JSON has it unless it is zero
    # "a": held by value, JSON always has it
    # "n": held by value, JSON has null if it is empty: times, and any JSON
    presence: Literal["p", "v", "a", "n"]


_SCHEMA = "apiextensions_v1.JSONSchemaProps"
# The fields of a CRD's schema that have one of two types, and a list that is a message.
SCHEMAS: Final = frozenset({"SchemaOrArray", "SchemaOrBool", "SchemaOrStrings"})
_OWN: Final = {
    "SchemaOrArray": f"1 schema - {_SCHEMA} p\n2 items list {_SCHEMA} p",
    "SchemaOrBool": f"1 allows - bool v\n2 schema - {_SCHEMA} p",
    "SchemaOrStrings": f"1 schema - {_SCHEMA} p\n2 items list string p",
    "strings": "1 items list string p",
}
LIST_HEAD: Final = "meta_v1.ListMeta"  # every list has it as field 1, and its items as field 2


@functools.cache
def message_fields(name: str) -> tuple[MessageField, ...]:
    """The fields of a message, by ascending number. Raises: KeyError for an unknown message."""
    from ._generated.protobuf import MESSAGES

    found = []
    for line in (_OWN.get(name) or MESSAGES[name]).splitlines():
        number, wire, how, type_, presence = line.split(" ")
        row = (int(number), wire, "" if how == "-" else how, type_, presence)
        found.append(MessageField(*row))  # type: ignore[arg-type] # the table has only these words
    return tuple(found)


def is_message(name: str) -> bool:
    """Whether a type is a message with fields of its own in JSON."""
    return "." in name


@functools.cache
def message_of(api_version: str, kind: str) -> str:
    """The message of a kind: `core_v1.Pod`.

    Raises:
        DecodeError: it is not a built-in kind.
    """
    from ._generated.protobuf import MESSAGES
    from ._generated.resources import GROUPS

    group, _, version = api_version.rpartition("/")
    module = GROUPS.get((group, version), "meta_v1")
    for name in (f"{module}.{kind}", f"meta_v1.{kind}"):
        if name in MESSAGES:
            return name
    raise DecodeError(f"{kind} of {api_version} is not a built-in kind, so its protobuf is unknown")
