"""The Pod Security Standards: which fields of a pod violate `baseline` and `restricted`.

Guarantees: pure; the checks of the version `latest` of pod-security-admission, with its
reasons and details. Older versions of the standards are evaluated like the latest one.
See also: the labels of namespaces (`admission.plugins.pod_security`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from ...values.json_values import value_at
from ..kind import Json

__all__ = ["Violation", "violations"]


class Violation(NamedTuple):
    """What is forbidden, and where in the pod it was found."""

    reason: str
    detail: str


_Check: TypeAlias = Callable[[Json, Json], Violation | None]
_CAPABILITIES: Final = frozenset(
    {
        "AUDIT_WRITE",
        "CHOWN",
        "DAC_OVERRIDE",
        "FOWNER",
        "FSETID",
        "KILL",
        "MKNOD",
        "NET_BIND_SERVICE",
        "SETFCAP",
        "SETGID",
        "SETPCAP",
        "SETUID",
        "SYS_CHROOT",
    }
)
_SYSCTLS: Final = frozenset(
    {
        "kernel.shm_rmid_forced",
        "net.ipv4.ip_local_port_range",
        "net.ipv4.ip_local_reserved_ports",
        "net.ipv4.ip_unprivileged_port_start",
        "net.ipv4.ping_group_range",
        "net.ipv4.tcp_fin_timeout",
        "net.ipv4.tcp_keepalive_intvl",
        "net.ipv4.tcp_keepalive_probes",
        "net.ipv4.tcp_keepalive_time",
        "net.ipv4.tcp_notsent_lowat",
        "net.ipv4.tcp_rmem",
        "net.ipv4.tcp_slow_start_after_idle",
        "net.ipv4.tcp_syncookies",
        "net.ipv4.tcp_wmem",
    }
)
_SELINUX_TYPES: Final = frozenset(
    {"", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"}
)
_RESTRICTED_VOLUMES: Final = frozenset(
    {
        "configMap",
        "csi",
        "downwardAPI",
        "emptyDir",
        "ephemeral",
        "image",
        "persistentVolumeClaim",
        "projected",
        "secret",
    }
)
_PROFILES: Final = ("RuntimeDefault", "Localhost")
_APP_ARMOR: Final = "container.apparmor.security.beta.kubernetes.io/"


def violations(level: str, metadata: Json, spec: Json) -> list[Violation]:
    """What violates a level in a pod or pod template, in kube-apiserver's order."""
    found = (check(metadata, spec) for check in _CHECKS[level])
    return [each for each in found if each is not None]


def _containers(spec: Json) -> Iterator[Json]:
    for key in ("initContainers", "containers", "ephemeralContainers"):
        yield from spec.get(key) or ()


def _setting(holder: Json, *path: str) -> Any:
    return value_at(holder, "securityContext", *path)


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f'"{each}"' for each in names)


def _some(word: str, items: list[str] | set[str]) -> str:
    return word if len(items) == 1 else f"{word}s"


def _named(containers: list[Json]) -> str:
    names = [each.get("name") or "" for each in containers]
    return f"{_some('container', names)} {_quoted(names)}"


def _setters(spec: Json, is_bad: Callable[[Json], bool]) -> str:
    """The pod and the containers whose security context is bad; empty if there are none."""
    containers = [each for each in _containers(spec) if is_bad(each)]
    found = ["pod"] if is_bad(spec) else []
    if containers:
        found.append(_named(containers))
    return " and ".join(found)


def _wrong_profiles(spec: Json, field: str) -> tuple[str, set[str]]:
    """Who sets a profile of a type that is not allowed, and the types."""
    values: set[str] = set()

    def is_bad(holder: Json) -> bool:
        profile = _setting(holder, field)
        if profile is None or profile.get("type") in _PROFILES:
            return False
        values.add(profile.get("type") or "")
        return True

    return _setters(spec, is_bad), values


def _app_armor(metadata: Json, spec: Json) -> Violation | None:
    setters, values = _wrong_profiles(spec, "appArmorProfile")
    annotations = sorted(
        f'{key}="{value}"'
        for key, value in (metadata.get("annotations") or {}).items()
        if key.startswith(_APP_ARMOR)
        and value not in ("", "runtime/default")
        and not value.startswith("localhost/")
    )
    if annotations:
        setters = " and ".join(filter(None, [setters, _some("annotation", annotations)]))
    if not setters:
        return None
    found = [*sorted(values), *annotations]
    detail = f"{setters} must not set AppArmor profile type to {_quoted(found)}"
    return Violation(_some("forbidden AppArmor profile", found), detail)


def _added_capabilities(spec: Json, allowed: frozenset[str]) -> str:
    """Which containers add capabilities beyond `allowed`; empty if none does."""
    bad, names = [], set()
    for each in _containers(spec):
        extra = set(_setting(each, "capabilities", "add") or ()) - allowed
        if extra:
            bad.append(each)
            names |= extra
    where = "in securityContext.capabilities.add"
    return f"{_named(bad)} must not include {_quoted(sorted(names))} {where}" if bad else ""


def _capabilities(_: Json, spec: Json) -> Violation | None:
    detail = _added_capabilities(spec, _CAPABILITIES)
    return Violation("non-default capabilities", detail) if detail else None


def _host_namespaces(_: Json, spec: Json) -> Violation | None:
    found = [f"{key}=true" for key in ("hostNetwork", "hostPID", "hostIPC") if spec.get(key)]
    return Violation("host namespaces", ", ".join(found)) if found else None


def _host_paths(_: Json, spec: Json) -> Violation | None:
    names = [each.get("name") or "" for each in spec.get("volumes") or () if each.get("hostPath")]
    detail = f"{_some('volume', names)} {_quoted(names)}"
    return Violation("hostPath volumes", detail) if names else None


def _uses(bad: list[Json]) -> str:
    return f"{_named(bad)} {'uses' if len(bad) == 1 else 'use'}"


def _host_ports(_: Json, spec: Json) -> Violation | None:
    bad, ports = [], set()
    for each in _containers(spec):
        found = {str(port["hostPort"]) for port in each.get("ports") or () if port.get("hostPort")}
        if found:
            bad.append(each)
            ports |= found
    detail = f"{_uses(bad)} {_some('hostPort', ports)} {', '.join(sorted(ports))}"
    return Violation("hostPort", detail) if bad else None


def _hosts(container: Json) -> set[str]:
    """The hosts of the probes and lifecycle handlers of a container."""
    handlers = [container.get(f"{kind}Probe") for kind in ("liveness", "readiness", "startup")]
    lifecycle = container.get("lifecycle") or {}
    handlers += [lifecycle.get("postStart"), lifecycle.get("preStop")]
    found = (value_at(each, way, "host") for each in handlers for way in ("httpGet", "tcpSocket"))
    return {host for host in found if host}


def _probe_hosts(_: Json, spec: Json) -> Violation | None:
    bad = [each for each in _containers(spec) if _hosts(each)]
    hosts = {host for each in bad for host in _hosts(each)}
    what = "probe or lifecycle host"
    detail = f"{_uses(bad)} {_some(what, hosts)} {_quoted(sorted(hosts))}"
    return Violation(what, detail) if bad else None


def _privileged(_: Json, spec: Json) -> Violation | None:
    bad = [each for each in _containers(spec) if _setting(each, "privileged")]
    detail = f"{_named(bad)} must not set securityContext.privileged=true"
    return Violation("privileged", detail) if bad else None


def _proc_mount(_: Json, spec: Json) -> Violation | None:
    bad = [e for e in _containers(spec) if _setting(e, "procMount") not in (None, "Default")]
    values = sorted({_setting(each, "procMount") for each in bad})
    detail = f"{_named(bad)} must not set securityContext.procMount to {_quoted(values)}"
    return Violation("procMount", detail) if bad else None


def _proc_mount_baseline(metadata: Json, spec: Json) -> Violation | None:
    return None if _has_own_users(spec) else _proc_mount(metadata, spec)


def _selinux(_: Json, spec: Json) -> Violation | None:
    types: set[str] = set()
    fields: set[str] = set()

    def is_bad(holder: Json) -> bool:
        options = _setting(holder, "seLinuxOptions") or {}
        kind, others = options.get("type") or "", {f for f in ("user", "role") if options.get(f)}
        if kind not in _SELINUX_TYPES:
            types.add(kind)
        fields.update(others)
        return bool(others) or kind not in _SELINUX_TYPES

    setters = _setters(spec, is_bad)
    data = [f"{_some('type', types)} {_quoted(sorted(types))}"] if types else []
    data += [f"{field} may not be set" for field in ("user", "role") if field in fields]
    detail = f"{setters} set forbidden securityContext.seLinuxOptions: {'; '.join(data)}"
    return Violation("seLinuxOptions", detail) if setters else None


def _seccomp(_: Json, spec: Json) -> Violation | None:
    setters, values = _wrong_profiles(spec, "seccompProfile")
    found = _quoted(sorted(values))
    detail = f"{setters} must not set securityContext.seccompProfile.type to {found}"
    return Violation("seccompProfile", detail) if setters else None


def _sysctls(_: Json, spec: Json) -> Violation | None:
    names = [each.get("name") or "" for each in _setting(spec, "sysctls") or ()]
    bad = [each for each in names if each not in _SYSCTLS]
    return Violation("forbidden sysctls", ", ".join(bad)) if bad else None


def _host_process(_: Json, spec: Json) -> Violation | None:
    setters = _setters(spec, lambda each: bool(_setting(each, "windowsOptions", "hostProcess")))
    detail = f"{setters} must not set securityContext.windowsOptions.hostProcess=true"
    return Violation("hostProcess", detail) if setters else None


def _has_own_users(spec: Json) -> bool:
    """Whether the pod runs in a user namespace, for which some rules are relaxed."""
    return bool(spec.get("hostUsers") is False)


def _is_windows(spec: Json) -> bool:
    return bool(value_at(spec, "os", "name") == "windows")


def _escalation(_: Json, spec: Json) -> Violation | None:
    bad = [e for e in _containers(spec) if _setting(e, "allowPrivilegeEscalation") is not False]
    if not bad or _is_windows(spec):
        return None
    detail = f"{_named(bad)} must set securityContext.allowPrivilegeEscalation=false"
    return Violation("allowPrivilegeEscalation != false", detail)


def _dropped_capabilities(_: Json, spec: Json) -> Violation | None:
    if _is_windows(spec):
        return None
    keeping = [
        each
        for each in _containers(spec)
        if "ALL" not in (_setting(each, "capabilities", "drop") or ())
    ]
    details = []
    if keeping:
        details.append(f'{_named(keeping)} must set securityContext.capabilities.drop=["ALL"]')
    details.append(_added_capabilities(spec, frozenset({"NET_BIND_SERVICE"})))
    detail = "; ".join(filter(None, details))
    return Violation("unrestricted capabilities", detail) if detail else None


def _volume_types(_: Json, spec: Json) -> Violation | None:
    bad, types = [], set()
    for volume in spec.get("volumes") or ():
        kinds = [key for key, value in volume.items() if key != "name" and value is not None]
        if not _RESTRICTED_VOLUMES & set(kinds):
            bad.append(volume.get("name") or "")
            types.add(kinds[0] if kinds else "unknown")
    verb = "uses" if len(bad) == 1 else "use"
    kind = _some("restricted volume type", types)
    detail = f"{_some('volume', bad)} {_quoted(bad)} {verb} {kind} {_quoted(sorted(types))}"
    return Violation("restricted volume types", detail) if bad else None


def _non_root(_: Json, spec: Json) -> Violation | None:
    if _has_own_users(spec):
        return None
    setters = _setters(spec, lambda each: _setting(each, "runAsNonRoot") is False)
    reason = "runAsNonRoot != true"
    if setters:
        return Violation(reason, f"{setters} must not set securityContext.runAsNonRoot=false")
    if _setting(spec, "runAsNonRoot"):
        return None
    silent = [each for each in _containers(spec) if _setting(each, "runAsNonRoot") is None]
    detail = f"pod or {_named(silent)} must set securityContext.runAsNonRoot=true"
    return Violation(reason, detail) if silent else None


def _run_as_user(_: Json, spec: Json) -> Violation | None:
    if _has_own_users(spec):
        return None
    setters = _setters(spec, lambda each: _setting(each, "runAsUser") == 0)
    return Violation("runAsUser=0", f"{setters} must not set runAsUser=0") if setters else None


def _required_seccomp(metadata: Json, spec: Json) -> Violation | None:
    if _is_windows(spec):
        return None
    found = _seccomp(metadata, spec)
    if found or _setting(spec, "seccompProfile") is not None:
        return found
    silent = [each for each in _containers(spec) if _setting(each, "seccompProfile") is None]
    detail = (
        f"pod or {_named(silent)} must set securityContext.seccompProfile.type to "
        '"RuntimeDefault" or "Localhost"'
    )
    return Violation("seccompProfile", detail) if silent else None


_BASELINE: Final[tuple[_Check, ...]] = (
    _app_armor,
    _capabilities,
    _host_namespaces,
    _host_paths,
    _host_ports,
    _probe_hosts,
    _privileged,
    _proc_mount_baseline,
    _selinux,
    _seccomp,
    _sysctls,
    _host_process,
)
# These replace checks of the lower level.
_OVERRIDDEN: Final = frozenset({_capabilities, _host_paths, _seccomp, _proc_mount_baseline})
_RESTRICTED: Final[tuple[_Check, ...]] = (
    _escalation,
    _dropped_capabilities,
    _proc_mount,
    _volume_types,
    _non_root,
    _run_as_user,
    _required_seccomp,
)
_CHECKS: Final[Mapping[str, tuple[_Check, ...]]] = {
    "privileged": (),
    "baseline": _BASELINE,
    "restricted": (*(each for each in _BASELINE if each not in _OVERRIDDEN), *_RESTRICTED),
}
