"""Small objects for the tests of the cache: their JSON and their entries; and slow code."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from kubeloop.cache.codec import EntryCodec
from kubeloop.cache.entry import Entry
from kubeloop.kit import MAX_BLOCK
from kubeloop.meta import ObjectKey

__all__ = ["block_loop", "entry", "key", "pod"]

_codec = EntryCodec(dict)


def key(name: str, namespace: str = "shop") -> ObjectKey:
    return ObjectKey(namespace, name)


def pod(
    name: str,
    *,
    namespace: str = "shop",
    version: str = "1",
    uid: str = "",
    labels: Mapping[str, str] | None = None,
    node: str | None = None,
    **metadata: Any,
) -> bytes:
    """A pod's JSON text."""
    metadata_fields: dict[str, Any] = {
        "name": name,
        "namespace": namespace,
        "resourceVersion": version,
    }
    metadata_fields |= {"uid": uid or f"uid-of-{name}"} | metadata
    if labels is not None:
        metadata_fields["labels"] = dict(labels)
    spec = {} if node is None else {"nodeName": node}
    return json.dumps({"metadata": metadata_fields, "spec": spec}).encode()


def entry(name: str, **more: Any) -> Entry:
    """A pod's entry, made by a codec of dicts."""
    return _codec.parse(pod(name, **more))


def block_loop(seconds: float = 2 * MAX_BLOCK) -> None:
    """As plain code does that takes its time: for longer than a yielder allows by default."""
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        pass
