"""Secret: defaults, preparation, validation, warnings and columns."""

from __future__ import annotations

import base64
import json
import ssl
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from kubeloop.wire import JsonObject

from ...values import causes
from ...values.go_json import struct_error, syntax_error
from ...values.json_values import Change, value_at, with_defaults, without
from ..kind import Causes, Json, Kind, Since, Warnings, own_paths
from ..rules.cell_text import age_of, name_of
from ..rules.value_rules import check_unchanged
from .config_map import DATA_LIMIT, check_immutable, check_keys, decoded_size

__all__ = ["KIND"]


def _defaults(**defaults: Any) -> Change:
    return lambda obj: with_defaults(obj, defaults)


def _secret(obj: JsonObject) -> JsonObject:
    # The strategy of secrets: `stringData` is write-only and overrides `data`.
    text = obj.get("stringData")
    if text is None:
        return obj
    data = {key: base64.b64encode(value.encode()).decode() for key, value in text.items()}
    merged = {**(obj.get("data") or {}), **data}
    rest = without(obj, "stringData")
    return {**rest, "data": merged} if merged else rest


def _keep_type(new: JsonObject, old: JsonObject) -> JsonObject:
    return with_defaults(new, {"type": old.get("type")})


_SECRET_KEYS: Final = {
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
}
_ACCOUNT_KEY: Final = "kubernetes.io/service-account.name"


def _validate(obj: Json, old: Json | None) -> Causes:
    # `ValidateSecret` and `ValidateSecretUpdate`.
    if old is not None:
        yield from check_unchanged("type", obj.get("type") or "", old.get("type") or "")
        yield from check_immutable(obj, old, "data")
    data = obj.get("data") or {}
    yield from check_keys("data", data)
    if decoded_size(data) > DATA_LIMIT:
        yield causes.too_long("data", DATA_LIMIT)
    yield from _secret_type(obj, data)


def _secret_type(obj: Json, data: Mapping[str, str]) -> Causes:
    # The types that Kubernetes itself defines require certain keys.
    kind = obj.get("type") or ""
    annotations = (obj.get("metadata") or {}).get("annotations") or {}
    for key in _SECRET_KEYS.get(kind, ()):
        if key not in data:
            yield causes.required(f"data[{key}]")
        elif key.startswith(".docker") and (problem := _json_problem(data[key])):
            yield causes.invalid(f"data[{key}]", "<secret contents redacted>", problem)
    if kind == "kubernetes.io/service-account-token" and not annotations.get(_ACCOUNT_KEY):
        yield causes.required(f"metadata.annotations[{_ACCOUNT_KEY}]")
    if kind == "kubernetes.io/basic-auth" and not {"username", "password"} & data.keys():
        yield causes.required("data[username]")
        yield causes.required("data[password]")


def _json_problem(text: str) -> str:
    # Docker credentials must be a JSON object.
    try:
        raw = base64.b64decode(text)
    except ValueError:
        return "invalid base64"
    return syntax_error(raw) or struct_error(json.loads(raw), "map[string]interface {}", {})


def _warn(obj: Json, _: Json | None) -> Warnings:
    # `warningsForSecret`: the certificate and the key must belong together.
    if obj.get("type") == "kubernetes.io/tls":
        data = obj.get("data") or {}
        problem = _problem_of_pair(data.get("tls.crt") or "", data.get("tls.key") or "")
        if problem:
            yield f"data: the certificate and the key are no pair: {problem}"


def _problem_of_pair(certificate: str, key: str) -> str:
    # The ssl module reads certificates from files only.
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("crt", "key")]
        try:
            for path, text in zip(paths, (certificate, key), strict=True):
                path.write_bytes(base64.b64decode(text))
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(paths[0], paths[1], password=lambda: "")
        except (ssl.SSLError, OSError, ValueError) as error:
            return str(error) or type(error).__name__
    return ""


def _cells(obj: Json, since: Since) -> list[Any]:
    return [
        name_of(obj),
        value_at(obj, "type") or "",
        len(value_at(obj, "data") or {}),
        age_of(obj, since),
    ]


KIND: Final = Kind(
    "",
    "Secret",
    selectable=own_paths("type"),
    defaults=(_secret, _defaults(type="Opaque")),
    prepare_update=_keep_type,
    validate=_validate,
    warn=_warn,
    columns="Name, Type, Data, Age",
    cells=_cells,
)
