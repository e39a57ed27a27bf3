"""A kubeconfig as values: clusters, users, contexts; merge, minify, flatten, shorten.

Guarantees: values are frozen, and their repr has no secret; `merge` never mixes the fields of two
entries with the same name; the result of `shorten` has no secret; an invalid plugin policy is an
error, never "allow all".
See also: `parsing` (from text), `loading` (from files), `validation`, `writing` (to files).
"""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import ClassVar, TypeVar

import msgspec

from .errors import ConfigError, ContextNotFound, InvalidConfig
from .redaction import Redacted

__all__ = [
    "EXEC_CLUSTER_EXTENSION",
    "EXEC_TIME_LIMIT",
    "OMITTED",
    "REDACTED",
    "AuthProvider",
    "Cluster",
    "Context",
    "Entry",
    "ExecConfig",
    "ExecEnv",
    "ExecPolicy",
    "Kubeconfig",
    "User",
    "allows",
    "flatten",
    "has_path_separator",
    "merge",
    "minify",
    "overlay",
    "policy_problems",
    "shorten",
]

# The cluster extension whose object is passed to exec plugins.
EXEC_CLUSTER_EXTENSION = "client.authentication.k8s.io/exec"
EXEC_TIME_LIMIT = 120.0  # seconds that a plugin may take: enough to log in with a browser

T = TypeVar("T", bound=msgspec.Struct)
V = TypeVar("V")


class Entry(Redacted, frozen=True, kw_only=True, omit_defaults=True):
    """A part of a kubeconfig; `unwritten` has the fields that are not stored in files."""

    unwritten: ClassVar[frozenset[str]] = frozenset()
    paths: ClassVar[tuple[str, ...]] = ()  # the fields that are file names


class Cluster(Entry, frozen=True, kw_only=True, omit_defaults=True):
    """The address of an API server, and its TLS settings."""

    unwritten: ClassVar[frozenset[str]] = frozenset({"origin"})
    paths: ClassVar[tuple[str, ...]] = ("certificate_authority",)

    server: str = ""
    tls_server_name: str = msgspec.field(default="", name="tls-server-name")
    insecure_skip_tls_verify: bool = msgspec.field(default=False, name="insecure-skip-tls-verify")
    certificate_authority: str = msgspec.field(default="", name="certificate-authority")
    certificate_authority_data: bytes = msgspec.field(
        default=b"", name="certificate-authority-data"
    )
    proxy_url: str = msgspec.field(default="", name="proxy-url")
    disable_compression: bool = msgspec.field(default=False, name="disable-compression")
    extensions: dict[str, object] = msgspec.field(default_factory=dict)
    origin: str = ""  # the file of this entry


class ExecEnv(Entry, frozen=True, kw_only=True, omit_defaults=True):
    """An environment variable of an exec plugin; its value may be a secret."""

    redacted_fields: ClassVar[frozenset[str]] = frozenset({"value"})

    name: str = ""
    value: str = ""


class ExecPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """Which plugins may run: all, none, or an allowlist; an empty mode allows all."""

    mode: str = ""  # AllowAll, DenyAll or Allowlist
    allowlist: tuple[str, ...] | None = None


class ExecConfig(Entry, frozen=True, kw_only=True, omit_defaults=True):
    """A credential plugin: a program that prints credentials."""

    redacted_fields: ClassVar[frozenset[str]] = frozenset({"args", "cluster_config"})
    unwritten: ClassVar[frozenset[str]] = frozenset(
        {"cluster_config", "stdin_unavailable", "stdin_unavailable_message", "policy"}
    )

    command: str = ""
    args: tuple[str, ...] = ()
    env: tuple[ExecEnv, ...] = ()
    api_version: str = msgspec.field(default="", name="apiVersion")
    install_hint: str = msgspec.field(default="", name="installHint")
    provide_cluster_info: bool = msgspec.field(default=False, name="provideClusterInfo")
    interactive_mode: str = msgspec.field(default="", name="interactiveMode")
    cluster_config: object = None
    stdin_unavailable: bool = False
    stdin_unavailable_message: str = ""
    policy: ExecPolicy = ExecPolicy()


class AuthProvider(Entry, frozen=True, kw_only=True, omit_defaults=True):
    """A legacy auth provider and its settings."""

    redacted_fields: ClassVar[frozenset[str]] = frozenset({"config"})

    name: str = ""
    config: dict[str, str] = msgspec.field(default_factory=dict)


class User(Entry, frozen=True, kw_only=True, omit_defaults=True):
    """The credentials of a user, and whom to impersonate."""

    redacted_fields: ClassVar[frozenset[str]] = frozenset({"client_key_data", "token", "password"})
    unwritten: ClassVar[frozenset[str]] = frozenset({"origin"})
    paths: ClassVar[tuple[str, ...]] = ("client_certificate", "client_key", "token_file")

    client_certificate: str = msgspec.field(default="", name="client-certificate")
    client_certificate_data: bytes = msgspec.field(default=b"", name="client-certificate-data")
    client_key: str = msgspec.field(default="", name="client-key")
    client_key_data: bytes = msgspec.field(default=b"", name="client-key-data")
    token: str = ""
    token_file: str = msgspec.field(default="", name="tokenFile")  # camel case in the format
    impersonate: str = msgspec.field(default="", name="as")
    impersonate_uid: str = msgspec.field(default="", name="as-uid")
    impersonate_groups: tuple[str, ...] = msgspec.field(default=(), name="as-groups")
    impersonate_extra: dict[str, tuple[str, ...]] = msgspec.field(
        default_factory=dict, name="as-user-extra"
    )
    username: str = ""
    password: str = ""
    auth_provider: AuthProvider | None = msgspec.field(default=None, name="auth-provider")
    exec: ExecConfig | None = None
    extensions: dict[str, object] = msgspec.field(default_factory=dict)
    origin: str = ""


class Context(Entry, frozen=True, kw_only=True, omit_defaults=True):
    """A cluster, a user and a namespace."""

    unwritten: ClassVar[frozenset[str]] = frozenset({"origin"})

    cluster: str = ""
    user: str = ""
    namespace: str = ""
    extensions: dict[str, object] = msgspec.field(default_factory=dict)
    origin: str = ""


class Kubeconfig(Entry, frozen=True, kw_only=True, omit_defaults=True):
    """A kubeconfig, or several merged ones: entries by name."""

    clusters: dict[str, Cluster] = msgspec.field(default_factory=dict)
    users: dict[str, User] = msgspec.field(default_factory=dict)
    contexts: dict[str, Context] = msgspec.field(default_factory=dict)
    extensions: dict[str, object] = msgspec.field(default_factory=dict)
    current_context: str = msgspec.field(default="", name="current-context")
    preferences: dict[str, object] = msgspec.field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is set."""
        return self == Kubeconfig()


def merge(configs: Iterable[Kubeconfig]) -> Kubeconfig:
    """One config of several: the first one that has a name provides the whole entry."""
    listed = tuple(configs)
    return Kubeconfig(
        clusters=_first_wins(config.clusters for config in listed),
        users=_first_wins(config.users for config in listed),
        contexts=_first_wins(config.contexts for config in listed),
        extensions=_first_wins(config.extensions for config in listed),
        current_context=next((c.current_context for c in listed if c.current_context), ""),
        preferences=_first_wins(config.preferences for config in listed),
    )


def overlay(base: T, over: T) -> T:
    """`base` with the non-empty fields of `over`.

    Maps are merged key by key, lists and nested structs are replaced.
    """
    changes: dict[str, object] = {}
    for name in base.__struct_fields__:
        below, above = getattr(base, name), getattr(over, name)
        if isinstance(above, dict):
            changes[name] = {**below, **above}
        elif above not in (None, "", b"", (), False, 0):
            changes[name] = above
    return msgspec.structs.replace(base, **changes)


def has_path_separator(command: str) -> bool:
    """Whether `command` is a path, and not a name to find in PATH."""
    return os.sep in command or bool(os.altsep and os.altsep in command)


def _first_wins(maps: Iterable[Mapping[str, V]]) -> dict[str, V]:
    merged: dict[str, V] = {}
    for entries in maps:
        for name, entry in entries.items():
            merged.setdefault(name, entry)
    return merged


# --- which exec plugins may run


def policy_problems(policy: ExecPolicy) -> list[str]:
    """The problems of a policy; empty if it is valid."""
    match policy.mode:
        case "" | "AllowAll" | "DenyAll":
            if policy.allowlist is None:
                return []
            return [f"plugin policy {policy.mode or 'AllowAll'} takes no allowlist (remove it)"]
        case "Allowlist":
            return _list_problems(policy.allowlist or ())
        case unknown:
            return [f"unknown plugin policy {unknown!r} (use AllowAll, DenyAll or Allowlist)"]


def allows(
    policy: ExecPolicy, command: str, resolved: str, *, find: Callable[[str], str | None]
) -> bool:
    """Whether `policy` allows `command`, which was found at `resolved`.

    An entry matches by path, so that a program of the same name elsewhere is not allowed.
    `find` finds a name in PATH.
    """
    if policy.mode != "Allowlist":
        return policy.mode in ("", "AllowAll")
    entries = policy.allowlist or ()
    namesakes = [e for e in entries if Path(e).name == Path(resolved).name]
    return command in entries or resolved in entries or any(find(e) == resolved for e in namesakes)


def _list_problems(entries: tuple[str, ...]) -> list[str]:
    if not entries:
        return ["plugin policy Allowlist needs a list of programs"]
    return [
        f"allowlist entry {entry!r} is {'empty' if not entry else 'not in normal form'}"
        for entry in entries
        if not entry or os.path.normpath(entry) != entry
    ]


# --- smaller, self-contained or printable configs


REDACTED = "REDACTED"


# Data is written as base64, in which these bytes read "DATA+OMITTED".
OMITTED = base64.b64decode("DATA+OMITTED")


_SECRET_PROVIDER_KEYS = frozenset({"access-token", "client-secret", "id-token", "refresh-token"})


def minify(config: Kubeconfig) -> Kubeconfig:
    """The current context with its cluster and its user.

    Raises: `ContextNotFound`, or `InvalidConfig` when the cluster or the user is missing.
    """
    context = config.contexts.get(config.current_context)
    if context is None:
        raise ContextNotFound(config.current_context, tuple(config.contexts))
    users = {name: user for name, user in config.users.items() if name == context.user}
    clusters = {name: c for name, c in config.clusters.items() if name == context.cluster}
    if context.user and not users:
        raise InvalidConfig(f'minify: user "{context.user}" does not exist (add it)')
    if context.cluster and not clusters:
        raise InvalidConfig(f'minify: cluster "{context.cluster}" does not exist (add it)')
    contexts = {config.current_context: context}
    return msgspec.structs.replace(config, contexts=contexts, users=users, clusters=clusters)


def flatten(config: Kubeconfig) -> Kubeconfig:
    """The config with the content of all certificate and key files.

    Raises: `ConfigError` when a file cannot be read, or both file and data are set.
    """
    return msgspec.structs.replace(
        config,
        clusters={name: _flatten_cluster(entry) for name, entry in config.clusters.items()},
        users={name: _flatten_user(entry) for name, entry in config.users.items()},
    )


def shorten(config: Kubeconfig) -> Kubeconfig:
    """The config for display: without data, and with `REDACTED` for secrets."""
    return msgspec.structs.replace(
        config,
        clusters={name: _shorten_cluster(entry) for name, entry in config.clusters.items()},
        users={name: _shorten_user(entry) for name, entry in config.users.items()},
    )


def _flatten_cluster(cluster: Cluster) -> Cluster:
    data = _inline(cluster.certificate_authority, cluster.certificate_authority_data)
    return msgspec.structs.replace(
        cluster, certificate_authority="", certificate_authority_data=data
    )


def _flatten_user(user: User) -> User:
    return msgspec.structs.replace(
        user,
        client_certificate="",
        client_certificate_data=_inline(user.client_certificate, user.client_certificate_data),
        client_key="",
        client_key_data=_inline(user.client_key, user.client_key_data),
    )


def _inline(path: str, data: bytes) -> bytes:
    if not path:
        return data
    if data:
        raise InvalidConfig(f"flatten: {path} and its data are both set (remove one of them)")
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise ConfigError(f"flatten: reading {path}: {error.strerror} (check the path)") from error


def _shorten_cluster(cluster: Cluster) -> Cluster:
    shown = OMITTED if cluster.certificate_authority_data else b""
    return msgspec.structs.replace(cluster, certificate_authority_data=shown)


def _shorten_user(user: User) -> User:
    return msgspec.structs.replace(
        user,
        client_certificate_data=OMITTED if user.client_certificate_data else b"",
        client_key_data=OMITTED if user.client_key_data else b"",
        token=_redact(user.token),
        password=_redact(user.password),
        auth_provider=_shorten_provider(user.auth_provider),
        exec=_shorten_exec(user.exec),
    )


def _shorten_provider(provider: AuthProvider | None) -> AuthProvider | None:
    if provider is None:
        return None
    shown = {k: _redact(v) if k in _SECRET_PROVIDER_KEYS else v for k, v in provider.config.items()}
    return msgspec.structs.replace(provider, config=shown)


def _shorten_exec(plugin: ExecConfig | None) -> ExecConfig | None:
    if plugin is None:
        return None
    shown = tuple(ExecEnv(name=each.name, value=_redact(each.value)) for each in plugin.env)
    return msgspec.structs.replace(plugin, env=shown)


def _redact(value: str) -> str:
    return REDACTED if value else ""
