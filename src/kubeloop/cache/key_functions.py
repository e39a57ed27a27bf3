"""Key functions: under which key an object is stored (client-go: `cache.KeyFunc`).

Guarantees: a key function that raises, or returns something that is not a key, is an
`UnkeyedObject` that names the object and never shows its content.
See also: the default key, namespace and name (`codec`); an index function as a key function
(`index.index_func_to_key_func`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from typing import Any, TypeAlias, TypeVar

from kubeloop.errors import InvalidArgument
from kubeloop.meta import ObjectKey

from .entry import Entry
from .errors import UnkeyedObject

__all__ = ["KeyFunc", "call_key_function", "key_from"]

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

# From an object to its key. Text is a key without a namespace: `ObjectKey("", text)`.
KeyFunc: TypeAlias = Callable[[T], ObjectKey | str]


def key_from(function: KeyFunc[T], obj: T) -> ObjectKey:
    """The key of an object. Raises `UnkeyedObject`."""
    found: object = call_key_function(function, obj)
    key = ObjectKey("", found) if isinstance(found, str) else found
    if isinstance(key, ObjectKey) and key.name:
        return key
    problem = (
        "empty" if found == "" or isinstance(found, ObjectKey) else f"of {type(found).__name__}"
    )
    raise UnkeyedObject(
        f"key of {_name_of(obj)}: the key function returned a key that is {problem} "
        "(return an ObjectKey with a name, or text that is not empty)"
    )


def call_key_function(function: Callable[[T], K], obj: T) -> K:
    """The result of a key function. Raises `UnkeyedObject` if it raises anything."""
    try:
        return function(obj)
    # Synchronous code cannot be cancelled: a CancelledError from it is an ordinary error.
    except (Exception, asyncio.CancelledError) as error:
        raise UnkeyedObject(
            f"key of {_name_of(obj)}: the key function raised {type(error).__name__}"
        ) from error


def _name_of(obj: Any) -> str:
    """Namespace and name, if the object has them, and its type; nothing of its content."""
    if isinstance(obj, Entry):
        return str(obj.key)
    kind = type(obj).__name__
    try:
        key = ObjectKey.of(obj)
    except (InvalidArgument, AttributeError, TypeError):
        return f"an object of type {kind}"
    return f"{kind} {key}"
