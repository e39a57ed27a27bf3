"""The tolerations that the admission plugin DefaultTolerationSeconds adds to pods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from kubeloop.wire import JsonObject

__all__ = ["with_default_tolerations"]

# The taints that the admission plugin DefaultTolerationSeconds tolerates for five minutes.
_TOLERATED: Final = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


def with_default_tolerations(spec: JsonObject) -> JsonObject:
    """The spec of a pod that tolerates lost nodes for five minutes."""
    tolerations = spec.get("tolerations") or []
    missing = [
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
        for key in _TOLERATED
        if not any(_tolerates(each, key) for each in tolerations)
    ]
    return {**spec, "tolerations": [*tolerations, *missing]} if missing else spec


def _tolerates(toleration: Mapping[str, Any], key: str) -> bool:
    matches_key = toleration.get("key") in (key, None, "")
    return matches_key and toleration.get("effect") in ("NoExecute", None, "")
