"""What patches and server-side apply need to know about a field, as data.

See also: the facts of the built-in kinds come from `_generated.facts`, those of
a user's class from its annotations (`schema`); what is done with them is
`kubeloop.patches`'s business.
"""

from __future__ import annotations

from typing import Literal, Protocol

import msgspec

__all__ = ["NO_FACTS", "FieldFacts", "TypeFacts"]


class FieldFacts(msgspec.Struct, frozen=True):
    """One field's merge rules, in the words of the OpenAPI extensions.

    Everything empty means: a scalar, a free map, or a list that is replaced whole.
    """

    list_type: Literal["", "atomic", "set", "map"] = ""
    list_map_keys: tuple[str, ...] = ()
    map_type: Literal["", "atomic", "granular"] = ""
    patch_strategies: tuple[str, ...] = ()  # of "merge", "replace", "retainKeys"
    patch_merge_key: str = ""


NO_FACTS = FieldFacts()


class TypeFacts(Protocol):
    """The merge rules of an object type, asked field by field under wire names."""

    def field(self, name: str) -> FieldFacts:
        """The rules of field `name`; `NO_FACTS` for a field nobody knows."""
        ...

    def inside(self, name: str) -> TypeFacts | None:
        """The type of the field's value or of its elements; for a map, a type whose every
        field is of the values' type; None for scalars, free-form values and unknown fields."""
        ...
