"""Specs that many objects have in common, with their encoding.

Controllers and tests create hundreds of objects that differ only in their names. Their specs
become one object in memory: it is decoded and encoded once, and the results of pure functions of
it are found by its text without encoding it again.

Guarantees: a shared spec is never modified, as every stored object; number and size of the specs
are bounded; a value that is not shared has the same result, only later.
See also: `kinds.rules.spec_cache` (functions of specs), `storage.store` (the encoding of objects).
"""

from __future__ import annotations

import threading
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from .go_order import spec_text

__all__ = [
    "MAX_SIZE",
    "SharedBody",
    "decode_shared",
    "encode_fields",
    "share",
    "shared_text",
    "text_of",
    "with_shared_spec",
    "written_text",
]

MAX_SIZE: Final = 16 * 1024  # bytes of a shared spec
_MAX_SPECS: Final = 1024

Spec: TypeAlias = Any  # a JSON object that is never changed in place

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode
_decode_parts = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode

# By identity, which stays valid because the spec is kept here, too.
_texts: dict[int, tuple[Spec, bytes]] = {}
_written: dict[int, dict[tuple[str, str], bytes]] = {}  # as objects of these kinds have it
_specs: dict[bytes, Spec] = {}
_lock = threading.Lock()  # servers may run in several threads


def shared_text(spec: Spec) -> bytes | None:
    """The JSON of a shared spec; None for any other value."""
    found = _texts.get(id(spec))
    return None if found is None else found[1]


def text_of(spec: Spec) -> bytes:
    """The JSON of a value."""
    found = _texts.get(id(spec))
    return _encode(spec) if found is None else found[1]


def written_text(spec: Spec, api_version: str, kind: str) -> bytes:
    """The JSON of a shared spec with its keys in the order in which Go writes them."""
    written = _written.setdefault(id(spec), {})
    found = written.get((api_version, kind))
    if found is None:
        found = written[api_version, kind] = spec_text(spec, api_version, kind)
    return found


def share(spec: Spec) -> Spec:
    """A shared spec that equals `spec`, which becomes it if there is none."""
    if id(spec) in _texts:
        return spec
    text = _encode(spec)
    found = _specs.get(text)
    if found is None and len(text) <= MAX_SIZE:
        found = _keep(text, spec)
    return spec if found is None else found


def _keep(text: bytes, spec: Spec) -> Spec:
    with _lock:
        found = _specs.setdefault(text, spec)
        if found is spec:
            _texts[id(spec)] = (spec, text)
        while len(_specs) > _MAX_SPECS:  # the oldest goes first
            oldest = next(iter(_specs))
            former = id(_specs.pop(oldest))
            del _texts[former]
            _written.pop(former, None)
    return found


def with_shared_spec(obj: dict[str, Any]) -> dict[str, Any]:
    """`obj` with a shared spec, if it has one of a usual size."""
    spec = obj.get("spec")
    if not isinstance(spec, dict):
        return obj
    shared = share(spec)
    return obj if shared is spec else {**obj, "spec": shared}


class SharedBody(NamedTuple):
    """The object in a body, and whether the body is its canonical encoding."""

    obj: dict[str, Any]
    is_canonical: bool  # so no key occurs twice


def decode_shared(raw: bytes) -> SharedBody | None:
    """The object in a body with a spec that is shared already; None for any other body."""
    try:
        parts = _decode_parts(raw)
    except (ValueError, RecursionError):
        return None  # the usual decoder reports the error
    text = bytes(parts.get("spec", b""))
    spec = _specs.get(text)
    if spec is None:
        return None
    try:
        obj = {key: spec if key == "spec" else _decode(part) for key, part in parts.items()}
    except (ValueError, RecursionError):
        return None
    # Go's encoder ends a body with a newline.
    canonical = b"{" + encode_fields(obj, spec, text) + b"}"
    return SharedBody(obj, canonical == raw.rstrip())


def encode_fields(obj: dict[str, Any], spec: Spec, text: bytes) -> bytes:
    """The JSON of an object without its braces; `text` is that of its `spec`."""
    fields = [
        b"%b:%b" % (_encode(key), text if value is spec else _encode(value))
        for key, value in obj.items()
    ]
    return b",".join(fields)
