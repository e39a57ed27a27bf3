"""Validation of projected volumes: secrets, config maps, tokens and certificates as files.

Guarantees: the causes of `validateProjectedVolumeSource` and `validateKeyToPath`.
See also: the other volumes of pods (`volume_source_validation`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from ...values import causes
from ..kind import Causes, Json
from .value_rules import check_relative_path, check_selector, enumerate_objects

__all__ = ["check_file_mode", "check_key_paths", "problems_of_projected"]

_FileCheck: TypeAlias = Callable[[Json, str], Causes]
_MAX_MODE: Final = 0o777
_MIN_SECONDS: Final = 600
_KEY_TYPES: Final = ("RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519")
_CERTIFICATE_PATHS: Final = ("credentialBundlePath", "keyPath", "certificateChainPath")
_CONFLICT: Final = "conflicting duplicate paths"


def check_file_mode(path: str, value: Any) -> Causes:
    """The mode of a file: an octal number up to 0777."""
    if isinstance(value, int) and not 0 <= value <= _MAX_MODE:
        rule = "must be a number between 0 and 0777 (octal), both inclusive"
        yield causes.invalid(path, value, rule)


def check_key_paths(source: Json, path: str) -> Causes:
    """The keys of a secret or config map, and the files that they become."""
    for index, each in enumerate_objects(source.get("items")):
        where = f"{path}[{index}]"
        for field in ("key", "path"):
            if not each.get(field):
                yield causes.required(f"{where}.{field}")
        yield from check_relative_path(f"{where}.path", each.get("path") or "", reserved=True)
        yield from check_file_mode(f"{where}.mode", each.get("mode"))


def problems_of_projected(source: Json, path: str, check_downward: _FileCheck) -> Causes:
    """What is wrong with a projected volume; `check_downward` checks a downward API file."""
    yield from check_file_mode(f"{path}.defaultMode", source.get("defaultMode"))
    used: set[str] = set()

    def claim(target: Any, shown: Any) -> Causes:
        if target and target in used:
            yield causes.invalid(path, shown, _CONFLICT)
        used.add(target)

    for index, each in enumerate_objects(source.get("sources")):
        where = f"{path}.sources[{index}]"
        for kind in ("secret", "configMap"):
            if isinstance(each.get(kind), Mapping):
                yield from _keys(each[kind], f"{where}.{kind}", claim)
        below = each.get("downwardAPI")
        for _, item in enumerate_objects((below or {}).get("items")):
            yield from check_downward(item, f"{where}.downwardAPI")
            yield from claim(item.get("path"), item.get("path"))
        if isinstance(each.get("serviceAccountToken"), Mapping):
            yield from _token(each["serviceAccountToken"], f"{where}.serviceAccountToken", path)
        bundle = each.get("clusterTrustBundle")
        if isinstance(bundle, Mapping):
            yield from _trust_bundle(bundle, f"{where}.clusterTrustBundle")
            yield from claim(bundle.get("path"), bundle.get("path"))
        if isinstance(each.get("podCertificate"), Mapping):
            yield from _certificate(each["podCertificate"], f"{where}.podCertificate")
        if len(each) > 1:
            yield causes.forbidden(where, "may not specify more than 1 volume type per source")


def _keys(source: Json, path: str, claim: Callable[[Any, Any], Causes]) -> Causes:
    if not source.get("name"):
        yield causes.required(f"{path}.name")
    yield from check_key_paths(source, f"{path}.items")
    for _, item in enumerate_objects(source.get("items")):
        yield from claim(item.get("path"), source.get("name") or "")


def _token(source: Json, path: str, volume: str) -> Causes:
    # The path of the token is reported under the volume.
    seconds, target = source.get("expirationSeconds"), source.get("path") or ""
    if seconds is None:
        yield causes.required(f"{path}.expirationSeconds")
    elif seconds < _MIN_SECONDS:
        rule = "may not specify a duration less than 10 minutes"
        yield causes.invalid(f"{path}.expirationSeconds", seconds, rule)
    elif seconds > 2**32:
        rule = "may not specify a duration larger than 2^32 seconds"
        yield causes.invalid(f"{path}.expirationSeconds", seconds, rule)
    if not target:
        yield causes.required(f"{volume}.path")
    else:
        yield from check_relative_path(f"{volume}.path", target, reserved=True)


def _trust_bundle(source: Json, path: str) -> Causes:
    name, signer = source.get("name"), source.get("signerName")
    if name is not None and signer is not None:
        yield causes.invalid(path, dict(source), "only one of name and signerName may be used")
    elif name is not None:
        if not name:
            yield causes.required(f"{path}.name", "must be the name of an object")
        if source.get("labelSelector") is not None:
            where = f"{path}.labelSelector"
            yield causes.invalid(where, source["labelSelector"], "must not be set with a name")
    elif signer is not None:
        if not signer:
            yield causes.required(f"{path}.signerName", "must be the name of a signer")
        yield from check_selector(f"{path}.labelSelector", source.get("labelSelector"))
    else:
        yield causes.required(path, "either name or signerName must be specified")
    if not source.get("path"):
        yield causes.required(f"{path}.path")
    yield from check_relative_path(f"{path}.path", source.get("path") or "", reserved=True)


def _certificate(source: Json, path: str) -> Causes:
    if not source.get("signerName"):
        yield causes.required(f"{path}.signerName")
    kind = source.get("keyType") or ""
    if kind not in _KEY_TYPES:
        yield causes.not_supported(f"{path}.keyType", kind, _KEY_TYPES)
    seconds = source.get("maxExpirationSeconds")
    if isinstance(seconds, int) and seconds < 3600:
        yield causes.invalid(f"{path}.maxExpirationSeconds", seconds, "must be >= 3600")
    if not any(source.get(field) for field in _CERTIFICATE_PATHS):
        rule = f"specify at least one of {', '.join(_CERTIFICATE_PATHS)}"
        yield causes.required(path, rule)
    for field in _CERTIFICATE_PATHS:
        yield from check_relative_path(f"{path}.{field}", source.get(field) or "", reserved=True)
