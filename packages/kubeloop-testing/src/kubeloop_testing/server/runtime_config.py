"""Which built-in versions and resources are served: kube-apiserver's `--runtime-config`.

By default the stable versions (`v1`, `v2`, …) are served, and no beta and no alpha version.
A configuration changes that; the narrower key wins over the wider one:

    api/all, api/ga, api/beta, api/alpha      all versions of a kind
    <group>/<version>                         one version (`/v1` is the core group's)
    <group>/<version>/<resource>              one resource

Guarantees: pure; the rules are those of `resourceconfig.MergeAPIResourceConfigs`; an unknown
group or version is an error, and a known version without any resource is not.
See also: `registry` (what is served), `kubeloop.wire.resources` (what exists).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeAlias

from kubeloop.wire import InvalidArgument, ResourceInfo, resources

__all__ = ["IsEnabled", "RuntimeConfig", "parse_runtime_config", "served_by_default"]

# Whether a resource is served: (group, version, plural).
IsEnabled: TypeAlias = Callable[[str, str, str], bool]
# As text in the syntax of the flag (`api/all=true,apps/v1=false`), or by key.
RuntimeConfig: TypeAlias = str | Mapping[str, bool]

_GA: Final = re.compile(r"v\d+")
# In the order in which they are applied.
_LEVELS: Final = {
    "api/all": re.compile(r".*"),
    "api/ga": _GA,
    "api/beta": re.compile(r"v\d+beta\d+"),
    "api/alpha": re.compile(r"v\d+alpha\d+"),
}
_BOOLEANS: Final = {  # strconv.ParseBool; a key without a value is enabled
    **dict.fromkeys(("", "1", "t", "T", "true", "TRUE", "True"), True),
    **dict.fromkeys(("0", "f", "F", "false", "FALSE", "False"), False),
}
# Versions that kube-apiserver knows, but that have no resource (any more).
_WITHOUT_RESOURCES: Final = {
    "admission.k8s.io": ("v1", "v1beta1"),
    "apiextensions.k8s.io": ("v1beta1",),
    "apiregistration.k8s.io": ("v1beta1",),
    "apps": ("v1beta1", "v1beta2"),
    "authentication.k8s.io": ("v1alpha1", "v1beta1"),
    "authorization.k8s.io": ("v1beta1",),
    "batch": ("v1beta1",),
    "certificates.k8s.io": ("v1alpha1",),
    "discovery.k8s.io": ("v1beta1",),
    "events.k8s.io": ("v1beta1",),
    "extensions": ("v1beta1",),
    "flowcontrol.apiserver.k8s.io": ("v1beta1", "v1beta2", "v1beta3"),
    "imagepolicy.k8s.io": ("v1alpha1",),
    "lifecycle.k8s.io": ("v1alpha1",),
    "networking.k8s.io": ("v1beta1",),
    "node.k8s.io": ("v1beta1",),
    "policy": ("v1beta1",),
    "rbac.authorization.k8s.io": ("v1alpha1", "v1beta1"),
    "scheduling.k8s.io": ("v1alpha3", "v1beta1"),
    "storage.k8s.io": ("v1alpha1", "v1beta1"),
}


def served_by_default(group: str, version: str, plural: str) -> bool:  # noqa: ARG001 # IsEnabled
    """Whether kube-apiserver serves a built-in resource without any configuration."""
    return _GA.fullmatch(version) is not None


def parse_runtime_config(config: RuntimeConfig) -> IsEnabled:
    """Which built-in resources are served with `config`.

    Raises:
        InvalidArgument: it has a key or a value that kube-apiserver does not accept.
    """
    pairs = _pairs(config)
    if not pairs:
        return served_by_default
    if pairs == {"api/all": "false"}:
        raise InvalidArgument("runtime_config: api/all=false alone leaves nothing to serve")
    known = _known_versions(resources())
    levels = [(_LEVELS[key], _level_value(key, pairs[key])) for key in _LEVELS if key in pairs]
    exact = {
        _parse_key(key, known): _value(key, value)
        for key, value in pairs.items()
        if key not in _LEVELS
    }

    def is_enabled(group: str, version: str, plural: str) -> bool:
        for key in ((group, version, plural), (group, version, "")):
            if key in exact:
                return exact[key]
        # The last level that matches wins.
        for pattern, value in reversed(levels):
            if pattern.fullmatch(version):
                return value
        return served_by_default(group, version, plural)

    return is_enabled


def _pairs(config: RuntimeConfig) -> dict[str, str]:
    """Keys and values as text; of equal keys the last one counts."""
    if not isinstance(config, str):
        return {key: "true" if value else "false" for key, value in config.items()}
    found = (each.partition("=") for each in config.split(",") if each)
    return {key.strip(): value.strip() for key, _, value in found}


def _known_versions(built_in: Iterable[ResourceInfo]) -> dict[str, set[str]]:
    known = {group: set(versions) for group, versions in _WITHOUT_RESOURCES.items()}
    for info in built_in:
        known.setdefault(info.group, set()).add(info.version)
    return known


def _parse_key(key: str, known: Mapping[str, set[str]]) -> tuple[str, str, str]:
    """Group, version and resource of a key; without a resource, of a whole version."""
    match key.split("/"):
        case [group, version]:
            plural = ""
        case [group, version, plural]:
            pass
        case _:
            raise InvalidArgument(
                f"runtime_config: invalid key {key!r} (expected api/all, api/ga, api/beta, "
                "api/alpha, <group>/<version> or <group>/<version>/<resource>; the core group "
                "is empty: /v1)"
            )
    if group not in known:
        raise InvalidArgument(f"runtime_config: unknown API group in {key!r}")
    if version not in known[group]:
        versions = ", ".join(sorted(known[group]))
        raise InvalidArgument(
            f"runtime_config: unknown version in {key!r} (versions of {group or 'core'}: "
            f"{versions})"
        )
    if plural != plural.lower():
        raise InvalidArgument(
            f"runtime_config: invalid key {key!r}: a resource is plural and in lower case"
        )
    return group, version, plural


def _level_value(key: str, value: str) -> bool:
    if value not in {"true", "false"}:
        raise InvalidArgument(f"runtime_config: {key}={value} (expected true or false)")
    return value == "true"


def _value(key: str, value: str) -> bool:
    if value not in _BOOLEANS:
        raise InvalidArgument(f"runtime_config: {key}={value} (expected true or false)")
    return _BOOLEANS[value]
