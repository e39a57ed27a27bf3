"""What a kubeconfig says, as values: clusters, users, contexts, and how two are merged.

Promises: values are frozen and print no secret; merging never mixes the fields of
two entries with the same name.
Elsewhere: text to values (`parsing`), which files (`loading`), what is wrong with
them (`validation`), back to disk (`writing`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import ClassVar, TypeVar

import msgspec

from .exec_policy import ExecPolicy
from .redaction import Veiled

__all__ = [
    "EXEC_CLUSTER_EXTENSION",
    "AuthProvider",
    "Cluster",
    "Context",
    "Entry",
    "ExecConfig",
    "ExecEnv",
    "Kubeconfig",
    "User",
    "has_path_separator",
    "merge",
    "overlaid",
]

# The cluster extension whose object is handed to exec plugins.
EXEC_CLUSTER_EXTENSION = "client.authentication.k8s.io/exec"

T = TypeVar("T", bound=msgspec.Struct)
V = TypeVar("V")


class Entry(Veiled, frozen=True, kw_only=True, omit_defaults=True):
    """A part of a kubeconfig; `unwritten` names the fields that exist in memory only."""

    unwritten: ClassVar[frozenset[str]] = frozenset()
    paths: ClassVar[tuple[str, ...]] = ()  # the fields that name files


class Cluster(Entry, frozen=True, kw_only=True, omit_defaults=True):
    """Where an API server is and how to know that it is the right one."""

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
    origin: str = ""  # the file this came from


class ExecEnv(Entry, frozen=True, kw_only=True, omit_defaults=True):
    """One variable for an exec plugin; its value may be a secret."""

    veiled: ClassVar[frozenset[str]] = frozenset({"value"})

    name: str = ""
    value: str = ""


class ExecConfig(Entry, frozen=True, kw_only=True, omit_defaults=True):
    """A program that prints credentials."""

    veiled: ClassVar[frozenset[str]] = frozenset({"args", "cluster_config"})
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
    """A named way to get a token and what it needs to know."""

    veiled: ClassVar[frozenset[str]] = frozenset({"config"})

    name: str = ""
    config: dict[str, str] = msgspec.field(default_factory=dict)


class User(Entry, frozen=True, kw_only=True, omit_defaults=True):
    """Who is asking, and whom to ask as."""

    veiled: ClassVar[frozenset[str]] = frozenset({"client_key_data", "token", "password"})
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
    """A cluster, a user and a namespace under one name."""

    unwritten: ClassVar[frozenset[str]] = frozenset({"origin"})

    cluster: str = ""
    user: str = ""
    namespace: str = ""
    extensions: dict[str, object] = msgspec.field(default_factory=dict)
    origin: str = ""


class Kubeconfig(Entry, frozen=True, kw_only=True, omit_defaults=True):
    """One kubeconfig, or several merged into one: entries by name."""

    clusters: dict[str, Cluster] = msgspec.field(default_factory=dict)
    users: dict[str, User] = msgspec.field(default_factory=dict)
    contexts: dict[str, Context] = msgspec.field(default_factory=dict)
    extensions: dict[str, object] = msgspec.field(default_factory=dict)
    current_context: str = msgspec.field(default="", name="current-context")
    preferences: dict[str, object] = msgspec.field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing at all."""
        return self == Kubeconfig()


def merge(configs: Iterable[Kubeconfig]) -> Kubeconfig:
    """One config of many: who defines a name first supplies the whole entry."""
    listed = tuple(configs)
    return Kubeconfig(
        clusters=_first_wins(config.clusters for config in listed),
        users=_first_wins(config.users for config in listed),
        contexts=_first_wins(config.contexts for config in listed),
        extensions=_first_wins(config.extensions for config in listed),
        current_context=next((c.current_context for c in listed if c.current_context), ""),
        preferences=_first_wins(config.preferences for config in listed),
    )


def overlaid(base: T, over: T) -> T:
    """`base` with everything that `over` sets; what `over` leaves empty erases nothing.

    Maps are merged key by key, lists and nested structs are replaced whole.
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
    """Whether `command` names a file, and not something to look up in PATH."""
    return os.sep in command or bool(os.altsep and os.altsep in command)


def _first_wins(maps: Iterable[Mapping[str, V]]) -> dict[str, V]:
    merged: dict[str, V] = {}
    for entries in maps:
        for name, entry in entries.items():
            merged.setdefault(name, entry)
    return merged
