"""The fields of Go's structs, which `make go-types` has written for the embedded server."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["GO_TYPES", "GoField", "go_fields"]

GO_TYPES = (
    Path(__file__).parents[2]
    / "packages/kubeloop-testing/src/kubeloop_testing/server/values/go_types.json"
)


class GoField(NamedTuple):
    """One field of a Go struct; `options` are explained in tools/go_types."""

    type: str
    options: str

    @property
    def is_pointer(self) -> bool:
        """Whether Go holds the value by a pointer."""
        return self.type.startswith("*")


@functools.cache
def go_fields(name: str) -> Mapping[str, GoField]:
    """The fields of a struct by their JSON names, with those of embedded structs.

    `name` is that of a class: `apps_v1.Deployment`. Empty if Go has no such struct.
    """
    module, _, kind = name.partition(".")
    group, _, version = module.rpartition("_")
    return dict(_fields(f"{group}/{version}.{kind}"))


def _fields(go_type: str) -> Iterator[tuple[str, GoField]]:
    rows = _types().get(go_type, ())
    for row in rows if isinstance(rows, list) else ():
        name, field_type, options, _ = row.split(" ")
        if "i" in options:
            yield from _fields(field_type.removeprefix("*"))
        else:
            yield name, GoField(field_type, options)


@functools.cache
def _types() -> Mapping[str, Any]:
    types: Mapping[str, Any] = json.loads(GO_TYPES.read_text("utf-8"))["types"]
    return types
