"""Validation of security contexts, and of fields that belong to one operating system.

Guarantees: the causes of `ValidateSecurityContext`, `validatePodSpecSecurityContext`,
`validateOS`, `validateLinux`, `validateWindows` and `validateWindowsHostProcessPod`.
See also: containers (`container_validation`), pods (`pod_validation`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from kubeloop.meta import problems_of_dns_subdomain

from ...values import causes
from ...values.go_values import printed
from ..kind import Causes, Json
from .value_rules import (
    check_choice,
    check_name,
    check_range,
    check_relative_path,
    enumerate_objects,
)

__all__ = [
    "containers_of",
    "problems_of_container_security",
    "problems_of_host_processes",
    "problems_of_os",
    "problems_of_pod_security",
    "problems_of_seccomp_annotation",
]

_MAX_ID: Final = 2**31 - 1
_MAX_SYSCTL: Final = 253
_SYSCTL_REGEX: Final = r"^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$"
_is_sysctl = re.compile(
    r"([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
).fullmatch
_PROFILES: Final = ("Localhost", "RuntimeDefault", "Unconfined")
_SYSTEMS: Final = ("linux", "windows")
# Fields of a pod's security context that Windows does not have, in the order of kube-apiserver.
_LINUX_OF_POD: Final = (
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "fsGroup",
    "fsGroupChangePolicy",
    "sysctls",
    "runAsUser",
    "runAsGroup",
    "supplementalGroups",
    "supplementalGroupsPolicy",
    "seLinuxChangePolicy",
)
_LINUX_OF_CONTAINER: Final = (
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "capabilities",
    "readOnlyRootFilesystem",
    "privileged",
    "allowPrivilegeEscalation",
    "procMount",
    "runAsUser",
    "runAsGroup",
)
_MAX_CREDENTIALS: Final = 64 * 1024
_has_control = re.compile(r"[\x00-\x1f\x7f]").search
_is_netbios = re.compile(r'[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}').fullmatch
_DNS_PART: Final = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_is_windows_domain = re.compile(rf"{_DNS_PART}(?:\.{_DNS_PART})*").fullmatch
_has_bad_character = re.compile(r'["/\\:;|=,+*?<>@\[\]]').search


def containers_of(spec: Json, path: str) -> Iterator[tuple[str, Json]]:
    """All containers of a pod with their field paths, in the order of kube-apiserver."""
    for group in ("initContainers", "containers", "ephemeralContainers"):
        for index, each in enumerate_objects(spec.get(group)):
            yield f"{path}.{group}[{index}]", each


def problems_of_pod_security(context: Json, path: str) -> Causes:
    """What is wrong with the security context of a pod."""
    for field in ("fsGroup", "runAsUser", "runAsGroup"):
        yield from check_range(f"{path}.{field}", context.get(field), 0, _MAX_ID)
    for index, group in enumerate(context.get("supplementalGroups") or ()):
        yield from check_range(f"{path}.supplementalGroups[{index}]", group, 0, _MAX_ID)
    yield from _sysctls(context, f"{path}.sysctls")
    for field, choices in (
        ("fsGroupChangePolicy", ("Always", "OnRootMismatch")),
        ("supplementalGroupsPolicy", ("Merge", "Strict")),
        ("seLinuxChangePolicy", ("MountOption", "Recursive")),
    ):
        yield from check_choice(f"{path}.{field}", context.get(field), choices)
    yield from _seccomp(context.get("seccompProfile"), f"{path}.seccompProfile")
    yield from _windows_options(context.get("windowsOptions"), f"{path}.windowsOptions")
    yield from _app_armor(context.get("appArmorProfile"), f"{path}.appArmorProfile")


def _sysctls(context: Json, path: str) -> Causes:
    seen: set[str] = set()
    for index, each in enumerate_objects(context.get("sysctls")):
        where, name = f"{path}[{index}].name", each.get("name") or ""
        if not name:
            yield causes.required(where)
        elif len(name) > _MAX_SYSCTL or not _is_sysctl(name):
            rule = f"must have at most {_MAX_SYSCTL} characters and match regex {_SYSCTL_REGEX}"
            yield causes.invalid(where, name, rule)
        elif name in seen:
            yield causes.duplicate(where, name)
        seen.add(name)


def _seccomp(profile: Any, path: str) -> Causes:
    # `validateSeccompProfileField`.
    if not isinstance(profile, Mapping):
        return
    kind, local = profile.get("type") or "", profile.get("localhostProfile")
    yield from check_choice(f"{path}.type", kind, _PROFILES, required=True)
    where = f"{path}.localhostProfile"
    if kind == "Localhost":
        if local is None:
            yield causes.required(where, "must be set when seccomp type is Localhost")
        else:
            yield from check_relative_path(where, local)
    elif local is not None:
        shown = printed("core/v1.SeccompProfile", profile)
        yield causes.invalid(where, shown, "can only be set when seccomp type is Localhost")


def problems_of_seccomp_annotation(path: str, value: str) -> Causes:
    """What is wrong with the profile in one of the former annotations."""
    # `ValidateSeccompProfile`.
    if value in {"runtime/default", "docker/default", "unconfined"}:
        return
    if value.startswith("localhost/"):
        yield from check_relative_path(path, value.removeprefix("localhost/"))
    else:
        yield causes.invalid(path, value, "must be a valid seccomp profile")


def _app_armor(profile: Any, path: str) -> Causes:
    # `ValidateAppArmorProfileField`.
    if not isinstance(profile, Mapping):
        return
    kind, local = profile.get("type") or "", profile.get("localhostProfile")
    where = f"{path}.localhostProfile"
    yield from check_choice(f"{path}.type", kind, _PROFILES, required=True)
    if kind == "Localhost":
        if not local:
            yield causes.required(where, "must be set when AppArmor type is Localhost")
        elif local != local.strip():
            yield causes.invalid(where, local, "must not be padded with whitespace")
    elif kind in _PROFILES and local is not None:
        yield causes.invalid(where, local, "can only be set when AppArmor type is Localhost")


def problems_of_container_security(context: Any, path: str, *, host_users: bool) -> Causes:
    """What is wrong with the security context of a container."""
    if not isinstance(context, Mapping):
        return
    for field in ("runAsUser", "runAsGroup"):
        yield from check_range(f"{path}.{field}", context.get(field), 0, _MAX_ID)
    mount = context.get("procMount")
    if mount is not None:
        if mount not in {"Default", "Unmasked"}:
            yield causes.not_supported(f"{path}.procMount", mount, ("Default", "Unmasked"))
        if host_users and mount == "Unmasked":
            rule = "`hostUsers` must be false to use `Unmasked`"
            yield causes.invalid(f"{path}.procMount", mount, rule)
    yield from _seccomp(context.get("seccompProfile"), f"{path}.seccompProfile")
    if context.get("allowPrivilegeEscalation") is False:
        if context.get("privileged"):
            rule = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
            yield causes.invalid(path, printed("core/v1.SecurityContext", context), rule)
        if "CAP_SYS_ADMIN" in ((context.get("capabilities") or {}).get("add") or ()):
            rule = "with CAP_SYS_ADMIN, `allowPrivilegeEscalation` cannot be false"
            yield causes.invalid(path, dict(context), rule)
    yield from _windows_options(context.get("windowsOptions"), f"{path}.windowsOptions")
    yield from _app_armor(context.get("appArmorProfile"), f"{path}.appArmorProfile")


def problems_of_os(spec: Json, path: str) -> Causes:
    """What is wrong with the operating system of a pod, and which fields it does not have."""
    system = spec.get("os")
    if not isinstance(system, Mapping):
        return
    name = system.get("name") or ""
    if not name:
        yield causes.required(f"{path}.os.name")
    elif name not in _SYSTEMS:
        yield causes.not_supported(f"{path}.os", name, _SYSTEMS)
    elif name == "windows":
        yield from _linux_fields(spec, path)
    else:
        yield from _windows_fields(spec, path)


def _linux_fields(spec: Json, path: str) -> Causes:
    rule = "cannot be set for a windows pod"
    context = spec.get("securityContext") or {}
    for field in _LINUX_OF_POD:
        if context.get(field) is not None:
            yield causes.forbidden(f"{path}.securityContext.{field}", rule)
    for field in ("hostUsers", "hostPID", "hostIPC", "shareProcessNamespace"):
        value = spec.get(field)
        if value or (value is not None and field in {"hostUsers", "shareProcessNamespace"}):
            yield causes.forbidden(f"{path}.{field}", rule)
    for where, container in containers_of(spec, path):
        context = container.get("securityContext") or {}
        for field in _LINUX_OF_CONTAINER:
            if context.get(field) is not None:
                yield causes.forbidden(f"{where}.securityContext.{field}", rule)


def _windows_fields(spec: Json, path: str) -> Causes:
    rule = "windows options cannot be set for a linux pod"
    for where, owner in ((path, spec), *containers_of(spec, path)):
        if (owner.get("securityContext") or {}).get("windowsOptions") is not None:
            yield causes.forbidden(f"{where}.securityContext.windowsOptions", rule)


def _windows_options(options: Any, path: str) -> Causes:
    # `validateWindowsSecurityContextOptions`.
    if not isinstance(options, Mapping):
        return
    name, spec = options.get("gmsaCredentialSpecName"), options.get("gmsaCredentialSpec")
    if name is not None:
        yield from check_name(f"{path}.gmsaCredentialSpecName", name, problems_of_dns_subdomain)
    if spec is not None and not 0 < len(spec) <= _MAX_CREDENTIALS:
        rule = "gmsaCredentialSpec cannot be an empty string"
        yield causes.invalid(f"{path}.gmsaCredentialSpec", spec, rule)
    user = options.get("runAsUserName")
    if user is not None:
        where = f"{path}.runAsUserName"
        yield from (causes.invalid(where, user, problem) for problem in _user_problems(user))


def _user_problems(text: str) -> Iterator[str]:
    domain, slash, user = text.partition("\\")
    if not text:
        yield "runAsUserName cannot be an empty string"
        return
    if _has_control(text):
        yield "must not contain control characters"
        return
    if "\\" in user:
        yield "runAsUserName cannot contain more than one backslash"
        return
    if not slash:
        domain, user = "", text
    if len(domain) >= 256:
        yield "the domain must be shorter than 256 characters"
    if slash and not (_is_netbios(domain) or _is_windows_domain(domain)):
        yield "the domain must be a NetBIOS name or a DNS name"
    if not user:
        yield "the user must not be empty"
    elif len(user) > 104:
        yield "the user must not be longer than 104 characters"
    if user and not user.strip(". "):
        yield "the user must not consist of periods and spaces"
    if _has_bad_character(user):
        yield 'the user must not contain any of "/\\:;|=,+*?<>@[]'


def problems_of_host_processes(spec: Json, path: str) -> Causes:
    """Either all containers of a pod are processes of the Windows host, or none."""
    own = _host_process(spec)
    total = hosted = 0
    for where, container in containers_of(spec, path):
        total += 1
        found = _host_process(container)
        if None not in (own, found) and own != found:
            rule = (
                "pod hostProcess value must be identical if both are specified, was "
                f"{str(own).lower()}"
            )
            yield causes.invalid(f"{where}.securityContext.windowsOptions.hostProcess", found, rule)
        hosted += bool(own if found is None else found)
    if not hosted:
        return
    if hosted != total:
        yield causes.invalid(path, "", "all containers must be host processes, or none")
    network = bool(spec.get("hostNetwork"))
    if not network:
        yield causes.invalid(
            f"{path}.hostNetwork",
            network,
            "hostNetwork must be true if pod contains any hostProcess containers",
        )


def _host_process(owner: Json) -> bool | None:
    options = (owner.get("securityContext") or {}).get("windowsOptions") or {}
    found: bool | None = options.get("hostProcess")
    return found
