"""The Go types of the built-in kinds: the fields of each struct, and how Go writes them.

The table `go_types.json` is written by the program in `tools/go_types`, which reflects over the
packages of Kubernetes; it also describes the format. `make go-types` writes it again.
Guarantees: read on first use, once; fields of inlined structs belong to the outer struct.
See also: what follows from it for an object (`zero_values`).
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

__all__ = [
    "GoField",
    "alias_of",
    "fields_of",
    "go_type_of",
    "is_collection",
    "is_struct",
    "kubernetes_minor",
    "source_version",
    "zero_of",
    "zeros_of",
]


class GoField(NamedTuple):
    """One field of a Go struct."""

    name: str  # in JSON
    type: str  # `*core/v1.Affinity`, `[]string`, `map[string]quantity`, `time`
    omits_empty: bool
    omits_zero: bool
    inlined: str = ""  # the embedded structs that it is in, each with a dot


class _Table(msgspec.Struct, frozen=True):
    version: str
    kinds: dict[str, str]
    types: dict[str, str | list[str]]


@functools.cache
def _table() -> _Table:
    content = Path(__file__).with_name("go_types.json").read_bytes()
    return msgspec.json.decode(content, type=_Table)


def source_version() -> str:
    """The version of the Go modules that the table was made from: `v0.37.1`."""
    return _table().version


def kubernetes_minor() -> int:
    """The minor version of Kubernetes that the server imitates."""
    return int(source_version().split(".")[1])


@functools.cache
def go_type_of(api_version: str, kind: str) -> str:
    """The name of a kind's Go struct; empty if the kind is not built in."""
    return _table().kinds.get(f"{api_version} {kind}", "")


def alias_of(go_type: str) -> str:
    """What a named type that is no struct stands for; empty for a struct and a scalar."""
    found = _table().types.get(go_type)
    return found if isinstance(found, str) else ""


def is_struct(go_type: str) -> bool:
    """Whether a type is a struct without its own JSON."""
    return isinstance(_table().types.get(go_type), list)


@functools.cache
def fields_of(struct: str) -> tuple[GoField, ...]:
    """The fields of a struct and of the structs that are inlined into it; none for a scalar."""
    found: list[GoField] = []
    fields = _table().types.get(struct, ())
    for text in fields if isinstance(fields, list) else ():
        name, go_type, options, _ = text.split(" ")
        if "i" in options:
            outer = f"{go_type.rpartition('.')[2]}."
            found += [each._replace(inlined=outer + each.inlined) for each in fields_of(go_type)]
        else:
            found.append(GoField(name, go_type, "e" in options, "z" in options))
    return tuple(found)


def is_collection(go_type: str) -> bool:
    """Whether a type is a list, a map or bytes, which are nil if they are empty."""
    return go_type == "bytes" or (alias_of(go_type) or go_type).startswith(("[]", "map["))


# --- zero values


@functools.cache
def zeros_of(struct: str) -> dict[str, Any]:
    """The fields of a struct that Go always writes, with their zero values as JSON."""
    found: dict[str, Any] = {}
    for field in fields_of(struct):
        # `omitempty` never omits a struct; `omitzero` does.
        never_empty = field.type in _STRUCTS or is_struct(field.type)
        if not field.omits_zero and (never_empty or not field.omits_empty):
            found[field.name] = zero_of(field.type)
    return found


def zero_of(go_type: str) -> Any:
    """The JSON of a type's zero value."""
    return zeros_of(go_type) if is_struct(go_type) else _ZEROS.get(go_type)


# Structs that write JSON themselves.
_STRUCTS: Final = frozenset(
    {"duration", "fields", "intstr", "json", "microtime", "quantity", "raw", "time"}
)
# The zero values that are not null.
_ZEROS: Final[dict[str, Any]] = {
    "string": "",
    "bool": False,
    "int": 0,
    "int32": 0,
    "int64": 0,
    "float64": 0,
    "quantity": "0",
    "intstr": 0,
    "duration": "0s",
}
