"""Makes a kubeconfig smaller, portable, or fit to be shown.

Promises: each function returns a new value; what `shorten` returns holds no secret.
"""

from __future__ import annotations

import base64
from pathlib import Path

import msgspec

from .errors import ConfigError, ContextNotFound, InvalidConfig
from .kubeconfig import AuthProvider, Cluster, ExecConfig, ExecEnv, Kubeconfig, User

__all__ = ["OMITTED", "REDACTED", "flatten", "minify", "shorten"]

REDACTED = "REDACTED"
# The bytes that the format, which writes data in base64, shows as these words.
OMITTED = base64.b64decode("DATA+OMITTED")

_SECRET_PROVIDER_KEYS = frozenset({"access-token", "client-secret", "id-token", "refresh-token"})


def minify(config: Kubeconfig) -> Kubeconfig:
    """Only the current context, with its cluster and its user.

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
    """Every certificate and key inside the config, none in files beside it.

    Raises: `ConfigError` when a file cannot be read or its data is there already.
    """
    return msgspec.structs.replace(
        config,
        clusters={name: _flat_cluster(entry) for name, entry in config.clusters.items()},
        users={name: _flat_user(entry) for name, entry in config.users.items()},
    )


def shorten(config: Kubeconfig) -> Kubeconfig:
    """Fit to be shown: data left out, tokens and passwords replaced by `REDACTED`."""
    return msgspec.structs.replace(
        config,
        clusters={name: _short_cluster(entry) for name, entry in config.clusters.items()},
        users={name: _short_user(entry) for name, entry in config.users.items()},
    )


def _flat_cluster(cluster: Cluster) -> Cluster:
    data = _inlined(cluster.certificate_authority, cluster.certificate_authority_data)
    return msgspec.structs.replace(
        cluster, certificate_authority="", certificate_authority_data=data
    )


def _flat_user(user: User) -> User:
    return msgspec.structs.replace(
        user,
        client_certificate="",
        client_certificate_data=_inlined(user.client_certificate, user.client_certificate_data),
        client_key="",
        client_key_data=_inlined(user.client_key, user.client_key_data),
    )


def _inlined(path: str, data: bytes) -> bytes:
    if not path:
        return data
    if data:
        raise InvalidConfig(f"flatten: {path} and its data are both set (remove one of them)")
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise ConfigError(f"flatten: reading {path}: {error.strerror} (check the path)") from error


def _short_cluster(cluster: Cluster) -> Cluster:
    shown = OMITTED if cluster.certificate_authority_data else b""
    return msgspec.structs.replace(cluster, certificate_authority_data=shown)


def _short_user(user: User) -> User:
    return msgspec.structs.replace(
        user,
        client_certificate_data=OMITTED if user.client_certificate_data else b"",
        client_key_data=OMITTED if user.client_key_data else b"",
        token=_hidden(user.token),
        password=_hidden(user.password),
        auth_provider=_short_provider(user.auth_provider),
        exec=_short_exec(user.exec),
    )


def _short_provider(provider: AuthProvider | None) -> AuthProvider | None:
    if provider is None:
        return None
    shown = {k: _hidden(v) if k in _SECRET_PROVIDER_KEYS else v for k, v in provider.config.items()}
    return msgspec.structs.replace(provider, config=shown)


def _short_exec(plugin: ExecConfig | None) -> ExecConfig | None:
    if plugin is None:
        return None
    shown = tuple(ExecEnv(name=each.name, value=_hidden(each.value)) for each in plugin.env)
    return msgspec.structs.replace(plugin, env=shown)


def _hidden(value: str) -> str:
    return REDACTED if value else ""
