"""The merge rules of fields for patches and server-side apply, as data.

See also: the rules of built-in kinds (`_generated.facts`) and of user-defined classes
(`schema`), their use (`kubeloop.patches`).
"""

from __future__ import annotations

from typing import Literal, Protocol

import msgspec

__all__ = ["NO_FACTS", "FieldFacts", "TypeFacts"]


class FieldFacts(msgspec.Struct, frozen=True):
    """The merge rules of one field, named like the OpenAPI extensions.

    All empty: a scalar, a free-form map, or a list that is replaced.
    """

    list_type: Literal["", "atomic", "set", "map"] = ""
    list_map_keys: tuple[str, ...] = ()
    map_type: Literal["", "atomic", "granular"] = ""
    patch_strategies: tuple[str, ...] = ()  # of "merge", "replace", "retainKeys"
    patch_merge_key: str = ""


NO_FACTS = FieldFacts()


class TypeFacts(Protocol):
    """The merge rules of an object type by the wire names of its fields."""

    def field(self, name: str) -> FieldFacts:
        """The rules of field `name`; `NO_FACTS` for an unknown field."""
        ...

    def inside(self, name: str) -> TypeFacts | None:
        """The type of the field's value or of its elements; for a map, a type whose every
        field is of the values' type; None for scalars, free-form values and unknown fields."""
        ...
