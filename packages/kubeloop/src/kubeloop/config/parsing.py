"""The kubeconfig format: from YAML or JSON to values, and back.

Guarantees: unknown keys are ignored, null is absent, two entries with the same name are an error;
an error has the file and the location, never a value.
See also: `loading` (which files), `writing` (edits that keep unknown keys).
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

# For these versions a missing interactiveMode means IfAvailable; v1 requires it.
DEFAULT_MODE_VERSIONS = frozenset(
    {"client.authentication.k8s.io/v1beta1", "client.authentication.k8s.io/v1alpha1"}
)

# Created at import, in one thread: msgspec crashes if two threads inspect a class at once.
for _kind in (Cluster, Context, User):
    msgspec.json.Decoder(_kind)


def parse_kubeconfig(text: str | bytes, *, origin: str = "") -> Kubeconfig:
    """The config in `text`; `origin` is stored in each entry.

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
    """The mapping in `text`, with unknown keys; empty text is an empty mapping.

    Raises: `InvalidConfig` for anything else.
    """
    from kubeloop.wire.yaml_block import read_block_map

    simple = read_block_map(text)
    if simple is not None:
        return simple
    # Slow to import, and needed only for other styles than that of kubectl.
    from kubeloop.wire.yaml import load_documents

    where = origin or "kubeconfig"
    try:
        documents = load_documents(text, source=where)
    except DecodeError as error:
        raise InvalidConfig(f"reading a kubeconfig: {error}") from None
    if len(documents) > 1:
        raise _parse_error(where, f"expected one document, found {len(documents)}")
    raw = documents[0] if documents else None
    if raw is not None and not isinstance(raw, dict):
        raise _parse_error(where, f"expected a mapping, found a {type(raw).__name__}")
    return raw or {}


def to_wire(entry: Entry) -> dict[str, object]:
    """`entry` with the keys of the format, without its `unwritten` fields."""
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
        raise _parse_error(where, f"expected kind Config of v1, found kind {kind} of {version}")


def _entries(
    document: Mapping[str, object], key: str, kind: type[E], *, where: str, origin: str
) -> dict[str, E]:
    entries: dict[str, E] = {}
    for name, body in _named_items(document, key, kind.__name__.lower(), where):
        entry = _entry(kind, body, f"{where}: {key}[{name}]")
        entries[name] = msgspec.structs.replace(entry, origin=origin)
    return entries


def _extensions(body: Mapping[str, object], where: str) -> dict[str, object]:
    return dict(_named_items(body, "extensions", "extension", where))


def _named_items(
    body: Mapping[str, object], key: str, inner: str, where: str
) -> Iterator[tuple[str, object]]:
    """The pairs of a `[{name, <inner>}]` list, with unique names."""
    listed = body.get(key)
    if listed is None:
        return
    if not isinstance(listed, list):
        raise _parse_error(where, f"expected a list at {key}, found a {type(listed).__name__}")
    seen: set[str] = set()
    for item in listed:
        if not isinstance(item, dict):
            raise _parse_error(where, f"expected mappings in {key}, found a {type(item).__name__}")
        name = _text_of(item, "name", f"{where}: {key}")
        if name in seen:
            raise _parse_error(where, f'duplicate name "{name}" in list {key}')
        seen.add(name)
        yield name, item.get(inner)


def _entry(kind: type[E], body: object, where: str) -> E:
    if body is not None and not isinstance(body, dict):
        raise _parse_error(where, f"expected a mapping, found a {type(body).__name__}")
    raw: dict[str, object] = dict(body or {})
    extensions = raw.pop("extensions", None)
    entry = _convert(kind, raw, where)
    if isinstance(entry, User) and entry.exec is not None:
        entry = msgspec.structs.replace(entry, exec=_with_default_mode(entry.exec))
    if extensions is None:
        return entry
    return msgspec.structs.replace(entry, extensions=_extensions({"extensions": extensions}, where))


def _convert(kind: type[E], raw: dict[str, object], where: str) -> E:
    try:
        return msgspec.convert(_normalize(kind, raw), kind)
    except msgspec.ValidationError as error:
        expects_string = str(error).startswith("Expected `str`")
        hint = (
            "; a string that looks like a number or a Boolean needs quotes"
            if expects_string
            else ""
        )
        raise _parse_error(where, f"{error}{hint}") from None


def _with_default_mode(plugin: ExecConfig) -> ExecConfig:
    if plugin.interactive_mode or plugin.api_version not in DEFAULT_MODE_VERSIONS:
        return plugin
    return msgspec.structs.replace(plugin, interactive_mode="IfAvailable")


def _normalize(kind: object, value: object) -> object:
    """`value` without nulls, and without white space in base64.

    Numbers are not converted to strings: YAML may have changed them (0123 is 83).
    """
    if get_origin(kind) is types.UnionType:
        kind = next(arm for arm in get_args(kind) if arm is not type(None))
    if isinstance(kind, type) and issubclass(kind, Entry) and isinstance(value, dict):
        return {
            field.encode_name: _normalize(field.type, value[field.encode_name])
            for field in msgspec.structs.fields(kind)
            if field.name not in kind.unwritten and value.get(field.encode_name) is not None
        }
    if get_origin(kind) is tuple and isinstance(value, list):
        return [_normalize(get_args(kind)[0], item) for item in value]
    if get_origin(kind) is dict and isinstance(value, dict):
        return {
            as_text(key): _normalize(get_args(kind)[1], item)
            for key, item in value.items()
            if item is not None
        }
    if kind is bytes and isinstance(value, str):
        return "".join(value.split())  # long base64 is often wrapped
    return value


def as_text(value: object) -> object:
    """A name or key that YAML parsed as a number or Boolean, as a string."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else value


def _text_of(body: Mapping[str, object], key: str, where: str) -> str:
    value = as_text(body.get(key))
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _parse_error(where, f"expected a string at {key}, found a {type(value).__name__}")
    return value


def _preferences(document: Mapping[str, object], where: str) -> dict[str, object]:
    value = document.get("preferences")
    if value is not None and not isinstance(value, dict):
        raise _parse_error(
            where, f"expected a mapping at preferences, found a {type(value).__name__}"
        )
    return dict(value or {})


def _parse_error(where: str, problem: str) -> ConfigError:
    return InvalidConfig(f"reading {where}: {problem} (correct the file)")
