"""Overrides of a kubeconfig by a program or its flags, and the selected cluster and user.

Guarantees: an override must name an existing entry; an override never leads to a mixture that is
not configured, such as the CA of one cluster with the server name of another.
See also: `validation` (checks the selection), `cluster` (uses it).
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

import msgspec

from kubeloop.wire import Duration, InvalidArgument

from .errors import ConfigError, ContextNotFound, InvalidConfig
from .kubeconfig import Cluster, Context, ExecPolicy, Kubeconfig, User, overlay
from .redaction import Redacted

__all__ = ["Overrides", "Selection", "default_server", "parse_timeout", "plain_namespace", "select"]

_NAMESPACE_FLAG = re.compile(r"(?:namespaces|namespace|ns)/", re.IGNORECASE)


class Overrides(Redacted, frozen=True, kw_only=True):
    """Takes precedence over the kubeconfig, except for `cluster_defaults`, which does not."""

    context: str = ""
    cluster: str = ""
    user: str = ""
    namespace: str = ""
    cluster_info: Cluster = Cluster()
    user_info: User = User()
    cluster_defaults: Cluster = Cluster()
    timeout: str = ""
    exec_policy: ExecPolicy | None = None


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """The cluster, user and namespace that a config and its overrides select."""

    context_name: str
    context: Context
    cluster_name: str
    cluster: Cluster
    user_name: str
    user: User
    namespace: str
    namespace_overridden: bool
    timeout: float


def select(
    config: Kubeconfig, overrides: Overrides | None = None, *, context: str = ""
) -> Selection:
    """Select by override, then by `context`, then by `current-context`.

    Raises: `ContextNotFound`, or `InvalidConfig` for an override without an entry.
    """
    over = overrides or Overrides()
    context_name = over.context or context or config.current_context
    chosen = _context(config, context_name)
    cluster_name, user_name = over.cluster or chosen.cluster, over.user or chosen.user
    _must_exist("cluster", over.cluster, config.clusters)
    _must_exist("user", over.user, config.users)
    namespace = plain_namespace(over.namespace)
    return Selection(
        context_name=context_name,
        context=chosen,
        cluster_name=cluster_name,
        cluster=_overlay_cluster(config.clusters.get(cluster_name, Cluster()), over),
        user_name=user_name,
        user=_overlay_user(config.users.get(user_name, User()), over),
        namespace=namespace or chosen.namespace or "default",
        namespace_overridden=bool(namespace),
        timeout=parse_timeout(over.timeout),
    )


def plain_namespace(value: str) -> str:
    """The namespace without a prefix such as `ns/`, which kubectl accepts."""
    return _NAMESPACE_FLAG.sub("", value, count=1) if _NAMESPACE_FLAG.match(value) else value


def parse_timeout(value: str) -> float:
    """Seconds of a number or of a duration such as `1m30s`; zero if empty.

    Raises: `ConfigError` for anything else.
    """
    if not value or re.fullmatch(r"\+?[0-9]+", value):
        return float(value or 0)
    try:
        return Duration.parse(value).total_seconds()
    except InvalidArgument:
        raise ConfigError(
            f"timeout {value!r} is neither a number of seconds nor a duration (write 30 or 1m30s)"
        ) from None


def default_server(environ: Mapping[str, str] | None = None) -> Cluster:
    """The default server of kubectl, for `Overrides(cluster_defaults=...)`."""
    variables = os.environ if environ is None else environ
    return Cluster(server=variables.get("KUBERNETES_MASTER") or "http://localhost:8080")


def _context(config: Kubeconfig, name: str) -> Context:
    if name and name not in config.contexts:
        raise ContextNotFound(name, tuple(config.contexts))
    return config.contexts.get(name, Context())


def _must_exist(what: str, name: str, known: Mapping[str, object]) -> None:
    if name and name not in known:
        available = ", ".join(sorted(known)) or "none"
        raise InvalidConfig(
            f'{what} "{name}" does not exist, available: {available} (choose one of them)'
        )


def _overlay_cluster(listed: Cluster, over: Overrides) -> Cluster:
    info = over.cluster_info
    cluster = overlay(overlay(over.cluster_defaults, listed), info)
    changes: dict[str, object] = {}
    trust = ("insecure_skip_tls_verify", "certificate_authority", "certificate_authority_data")
    if any(getattr(info, name) for name in trust):
        changes |= {name: getattr(info, name) for name in trust}
    if info.server or info.tls_server_name:
        # The name of the old server does not belong to the new one.
        changes["tls_server_name"] = info.tls_server_name
    return msgspec.structs.replace(cluster, **changes)


def _overlay_user(listed: User, over: Overrides) -> User:
    info = over.user_info
    user = overlay(listed, info)
    changes: dict[str, object] = {}
    for pair in (
        ("client_certificate", "client_certificate_data"),
        ("client_key", "client_key_data"),
    ):
        if any(getattr(info, name) for name in pair):
            changes |= {name: getattr(info, name) for name in pair}
    if over.exec_policy is not None and user.exec is not None:
        changes["exec"] = msgspec.structs.replace(user.exec, policy=over.exec_policy)
    return msgspec.structs.replace(user, **changes)
