"""Reads and prints the kubeconfig format: YAML or JSON text to values and back.

Promises: unknown keys are ignored, null is the same as absent, two entries of one
name in one list are an error; an error names the file and the place, never a value.
Elsewhere: which files are read (`loading`), how edits keep unknown keys (`writing`).
"""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from typing import TypeVar, get_args, get_origin

import msgspec

from kubeloop.wire import DecodeError

from .errors import ConfigError, InvalidConfig
from .kubeconfig import Cluster, Context, Entry, ExecConfig, Kubeconfig, User

__all__ = ["DEFAULT_MODE_VERSIONS", "as_text", "parse_kubeconfig", "read_document", "to_wire"]

E = TypeVar("E", bound=Entry)

# For these versions a missing interactiveMode means IfAvailable; v1 wants it said.
DEFAULT_MODE_VERSIONS = frozenset(
    {"client.authentication.k8s.io/v1beta1", "client.authentication.k8s.io/v1alpha1"}
)

# Learnt at import, which one thread does: msgspec crashes when two learn a class at once.
for _kind in (Cluster, Context, User):
    msgspec.json.Decoder(_kind)


def parse_kubeconfig(text: str | bytes, *, origin: str = "") -> Kubeconfig:
    """The config that `text` spells; each entry remembers `origin`.

    Raises: `InvalidConfig` for text that is not a kubeconfig.
    """
    document = read_document(text, origin=origin)
    where = origin or "kubeconfig"
    _check_kind(document, where)
    return Kubeconfig(
        clusters=_entries(document, "clusters", Cluster, where=where, origin=origin),
        users=_entries(document, "users", User, where=where, origin=origin),
        contexts=_entries(document, "contexts", Context, where=where, origin=origin),
        extensions=_extensions(document, where),
        current_context=_text_of(document, "current-context", where),
        preferences=_preferences(document, where),
    )


def read_document(text: str | bytes, *, origin: str = "") -> dict[str, object]:
    """The raw mapping in `text`, unknown keys and all; empty text is an empty mapping.

    Raises: `InvalidConfig` when there is no mapping in it.
    """
    # In a pod no kubeconfig is read, and YAML takes its time to import.
    from kubeloop.wire.yaml import load_documents

    where = origin or "kubeconfig"
    try:
        documents = load_documents(text, source=where)
    except DecodeError as error:
        raise InvalidConfig(f"reading a kubeconfig: {error}") from None
    if len(documents) > 1:
        raise _broken(where, f"expected one document, found {len(documents)}")
    raw = documents[0] if documents else None
    if raw is not None and not isinstance(raw, dict):
        raise _broken(where, f"expected a mapping, found a {type(raw).__name__}")
    return raw or {}


def to_wire(entry: Entry) -> dict[str, object]:
    """`entry` under the format's names, without what exists in memory only."""
    wire: dict[str, object] = {}
    for field in msgspec.structs.fields(type(entry)):
        value = getattr(entry, field.name)
        if field.name not in entry.unwritten and value not in (None, "", b"", (), {}, False):
            wire[field.encode_name] = _plain(field.name, value)
    return wire


def _plain(name: str, value: object) -> object:
    if name == "extensions" and isinstance(value, dict):
        return [{"name": key, "extension": value[key]} for key in sorted(value)]
    if isinstance(value, Entry):
        return to_wire(value)
    if isinstance(value, tuple):
        return [_plain("", item) for item in value]
    if isinstance(value, dict):
        return {key: _plain("", item) for key, item in value.items()}
    return msgspec.to_builtins(value)


def _check_kind(document: Mapping[str, object], where: str) -> None:
    kind, version = document.get("kind") or "Config", document.get("apiVersion") or "v1"
    if (kind, version) != ("Config", "v1"):
        raise _broken(where, f"expected kind Config of v1, found kind {kind} of {version}")


def _entries(
    document: Mapping[str, object], key: str, kind: type[E], *, where: str, origin: str
) -> dict[str, E]:
    entries: dict[str, E] = {}
    for name, body in _named(document, key, kind.__name__.lower(), where):
        entry = _entry(kind, body, f"{where}: {key}[{name}]")
        entries[name] = msgspec.structs.replace(entry, origin=origin)
    return entries


def _extensions(body: Mapping[str, object], where: str) -> dict[str, object]:
    return dict(_named(body, "extensions", "extension", where))


def _named(
    body: Mapping[str, object], key: str, inner: str, where: str
) -> Iterator[tuple[str, object]]:
    """The pairs of a `[{name, <inner>}]` list, in which no name may come twice."""
    listed = body.get(key)
    if listed is None:
        return
    if not isinstance(listed, list):
        raise _broken(where, f"expected a list at {key}, found a {type(listed).__name__}")
    seen: set[str] = set()
    for item in listed:
        if not isinstance(item, dict):
            raise _broken(where, f"expected mappings in {key}, found a {type(item).__name__}")
        name = _text_of(item, "name", f"{where}: {key}")
        if name in seen:
            raise _broken(where, f'duplicate name "{name}" in list {key}')
        seen.add(name)
        yield name, item.get(inner)


def _entry(kind: type[E], body: object, where: str) -> E:
    if body is not None and not isinstance(body, dict):
        raise _broken(where, f"expected a mapping, found a {type(body).__name__}")
    raw: dict[str, object] = dict(body or {})
    extensions = raw.pop("extensions", None)
    entry = _converted(kind, raw, where)
    if isinstance(entry, User) and entry.exec is not None:
        entry = msgspec.structs.replace(entry, exec=_with_default_mode(entry.exec))
    if extensions is None:
        return entry
    return msgspec.structs.replace(entry, extensions=_extensions({"extensions": extensions}, where))


def _converted(kind: type[E], raw: dict[str, object], where: str) -> E:
    try:
        return msgspec.convert(_fitted(kind, raw), kind)
    except msgspec.ValidationError as error:
        wants_text = str(error).startswith("Expected `str`")
        hint = "; text that looks like a number or a truth value needs quotes" if wants_text else ""
        raise _broken(where, f"{error}{hint}") from None


def _with_default_mode(plugin: ExecConfig) -> ExecConfig:
    if plugin.interactive_mode or plugin.api_version not in DEFAULT_MODE_VERSIONS:
        return plugin
    return msgspec.structs.replace(plugin, interactive_mode="IfAvailable")


def _fitted(kind: object, value: object) -> object:
    """`value` as the format means it: nulls are gone, and so are the folds of base64.

    A number is no text: what YAML read as one need not look as it was written (0123 is 83).
    """
    if get_origin(kind) is types.UnionType:
        kind = next(arm for arm in get_args(kind) if arm is not type(None))
    if isinstance(kind, type) and issubclass(kind, Entry) and isinstance(value, dict):
        return {
            field.encode_name: _fitted(field.type, value[field.encode_name])
            for field in msgspec.structs.fields(kind)
            if field.name not in kind.unwritten and value.get(field.encode_name) is not None
        }
    if get_origin(kind) is tuple and isinstance(value, list):
        return [_fitted(get_args(kind)[0], item) for item in value]
    if get_origin(kind) is dict and isinstance(value, dict):
        return {
            as_text(key): _fitted(get_args(kind)[1], item)
            for key, item in value.items()
            if item is not None
        }
    if kind is bytes and isinstance(value, str):
        return "".join(value.split())  # long base64 is often folded
    return value


def as_text(value: object) -> object:
    """A name or a key that YAML took for a number or a truth value; anything else as it is."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else value


def _text_of(body: Mapping[str, object], key: str, where: str) -> str:
    value = as_text(body.get(key))
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _broken(where, f"expected text at {key}, found a {type(value).__name__}")
    return value


def _preferences(document: Mapping[str, object], where: str) -> dict[str, object]:
    value = document.get("preferences")
    if value is not None and not isinstance(value, dict):
        raise _broken(where, f"expected a mapping at preferences, found a {type(value).__name__}")
    return dict(value or {})


def _broken(where: str, problem: str) -> ConfigError:
    return InvalidConfig(f"reading {where}: {problem} (correct the file)")
