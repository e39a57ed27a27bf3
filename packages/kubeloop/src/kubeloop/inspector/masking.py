"""Hides the data of Secrets.

Guarantees: of a Secret only the type, the metadata without annotations, and the names of its
keys are shown. A value is replaced by a mark; equal marks at one path mean equal values, and a
mark reveals nothing else. The annotation of `kubectl apply`, a copy of the object, is hidden in
every kind.
See also: `rendering` (how an object is shown).
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import Any, TypeAlias, final

import msgspec

from kubeloop.cache import Scope

__all__ = ["LAST_APPLIED", "Mask", "holds_secrets"]

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"

_Path: TypeAlias = tuple[str, ...]
# The fields of a Secret that are shown. Any other field, also one of a later API, may be a value.
_HARMLESS = frozenset({"apiVersion", "kind", "type", "immutable"})


def holds_secrets(scope: Scope) -> bool:
    """Whether a cache holds Secrets, even if its objects have no kind."""
    return scope.kind == "Secret" or scope.resource.split(".")[0].lower() in {"secret", "secrets"}


@final
class Mask:
    """Hides values. Marks can be compared only with marks of the same `Mask`."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)

    def masked(self, obj: dict[str, Any], *, is_secret: bool = False) -> dict[str, Any]:
        """A copy without secret values; `is_secret` is for objects without a kind."""
        metadata = obj.get("metadata")
        uid = metadata.get("uid", "") if isinstance(metadata, dict) else ""
        path = (str(uid),)
        return self._secret(obj, path) if is_secret else self._object(obj, path)

    def _object(self, obj: dict[str, Any], path: _Path) -> dict[str, Any]:
        if obj.get("kind") == "Secret":
            return self._secret(obj, path)
        return {key: self._value(key, value, (*path, key)) for key, value in obj.items()}

    def _value(self, key: str, value: Any, path: _Path) -> Any:
        """A value in an object, which may contain a Secret, such as in a template."""
        if key == LAST_APPLIED:
            return self._mark(value, path)
        if isinstance(value, dict):
            return self._object(value, path)
        if isinstance(value, list):
            return [self._value("", each, (*path, str(at))) for at, each in enumerate(value)]
        return value

    def _secret(self, obj: dict[str, Any], path: _Path) -> dict[str, Any]:
        return {key: self._secret_field(key, value, (*path, key)) for key, value in obj.items()}

    def _secret_field(self, key: str, value: Any, path: _Path) -> Any:
        if key in _HARMLESS and isinstance(value, str | bool):
            return value
        if key == "metadata" and isinstance(value, dict):
            # Tools store copies of the object in annotations, under various names.
            return {
                name: self._hide(each, (*path, name)) if name == "annotations" else each
                for name, each in value.items()
            }
        return self._hide(value, path)

    def _hide(self, value: Any, path: _Path) -> Any:
        if isinstance(value, dict):
            return {key: self._hide(each, (*path, key)) for key, each in value.items()}
        return self._mark(value, path)

    def _mark(self, value: Any, path: _Path) -> str:
        text = msgspec.json.encode([path, value])
        return f"‹hidden {hmac.new(self._key, text, hashlib.sha256).hexdigest()[:6]}›"
