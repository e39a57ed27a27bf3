"""Hides what a Secret holds.

Promises: of a Secret only its name, type, labels and other metadata can be seen, and the
names of what it holds; a value is replaced by a mark that says whether two values of one
place are equal, and nothing else about them. The copy of an object that `kubectl apply`
leaves in it is hidden in every kind.
Elsewhere: what is shown of an object (`showing`).
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import Any, TypeAlias, final

import msgspec

from kubeloop.cache import Scope

__all__ = ["LAST_APPLIED", "Mask", "is_of_secrets"]

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"

_Place: TypeAlias = tuple[str, ...]
# What may be seen of a Secret. Everything else may be a value, in fields yet to be invented.
_HARMLESS = frozenset({"apiVersion", "kind", "type", "immutable"})


def is_of_secrets(scope: Scope) -> bool:
    """Whether a cache's objects are Secrets, also where the objects do not say so."""
    return scope.kind == "Secret" or scope.resource.split(".")[0].lower() in {"secret", "secrets"}


@final
class Mask:
    """Hides values. Marks of one mask can be compared with each other, and with no others."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)

    def masked(self, found: dict[str, Any], *, is_secret: bool = False) -> dict[str, Any]:
        """A copy to show; `is_secret` says what the object itself need not."""
        metadata = found.get("metadata")
        uid = metadata.get("uid", "") if isinstance(metadata, dict) else ""
        place = (str(uid),)
        return self._secret(found, place) if is_secret else self._object(found, place)

    def _object(self, found: dict[str, Any], place: _Place) -> dict[str, Any]:
        if found.get("kind") == "Secret":
            return self._secret(found, place)
        return {key: self._inside(key, value, (*place, key)) for key, value in found.items()}

    def _inside(self, key: str, value: Any, place: _Place) -> Any:
        """What stands in an object: there may be Secrets in it, as in a template."""
        if key == LAST_APPLIED:
            return self._mark(value, place)
        if isinstance(value, dict):
            return self._object(value, place)
        if isinstance(value, list):
            return [self._inside("", each, (*place, str(at))) for at, each in enumerate(value)]
        return value

    def _secret(self, found: dict[str, Any], place: _Place) -> dict[str, Any]:
        return {key: self._part(key, value, (*place, key)) for key, value in found.items()}

    def _part(self, key: str, value: Any, place: _Place) -> Any:
        if key in _HARMLESS and isinstance(value, str | bool):
            return value
        if key == "metadata" and isinstance(value, dict):
            # Tools keep copies of the object in annotations, under names of their own.
            return {
                name: self._hidden(each, (*place, name)) if name == "annotations" else each
                for name, each in value.items()
            }
        return self._hidden(value, place)

    def _hidden(self, value: Any, place: _Place) -> Any:
        if isinstance(value, dict):
            return {key: self._hidden(each, (*place, key)) for key, each in value.items()}
        return self._mark(value, place)

    def _mark(self, value: Any, place: _Place) -> str:
        text = msgspec.json.encode([place, value])
        return f"‹hidden {hmac.new(self._key, text, hashlib.sha256).hexdigest()[:6]}›"
