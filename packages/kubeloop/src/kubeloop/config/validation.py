"""Validates a kubeconfig.

Guarantees: every problem is found, not only the first; a problem has the entry and what to do,
and no secret.
See also: `parsing` (text that is not a kubeconfig).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from kubeloop.meta import problems_of_dns_label

from .errors import ConfigError, ContextNotFound, EmptyConfig, InvalidConfig, as_one_error
from .kubeconfig import Cluster, Context, ExecConfig, Kubeconfig, User, policy_problems
from .overrides import Selection
from .redaction import redacted_url

__all__ = [
    "INTERACTIVE_MODES",
    "check_kubeconfig",
    "check_selection",
    "cluster_problems",
    "context_problems",
    "exec_problems",
    "header_problem",
    "proxy_problem",
    "text_problem",
    "user_problems",
]

INTERACTIVE_MODES = ("Never", "IfAvailable", "Always")
PROXY_SCHEMES = ("http", "https", "socks5")


def check_kubeconfig(config: Kubeconfig) -> None:
    """Validate every entry.

    Raises: `EmptyConfig` for an empty config, `InvalidConfig` with all problems.
    """
    if config.is_empty:
        raise EmptyConfig
    problems: list[ConfigError] = []
    if config.current_context and config.current_context not in config.contexts:
        problems.append(ContextNotFound(config.current_context, tuple(config.contexts)))
    for name, context in config.contexts.items():
        problems += context_problems(name, context, config)
    for name, user in config.users.items():
        problems += user_problems(name, user)
    for name, cluster in config.clusters.items():
        problems += cluster_problems(name, cluster)
    if problems:
        raise as_one_error(problems)


def check_selection(selection: Selection) -> None:
    """Validate the selected user and cluster.

    Raises: `EmptyConfig` when the only problem is that no cluster is configured,
    `InvalidConfig` with all problems otherwise.
    """
    problems = user_problems(selection.user_name, selection.user)
    if not problems and _is_empty(selection.cluster):
        raise EmptyConfig
    problems += cluster_problems(selection.cluster_name, selection.cluster)
    if problems:
        raise as_one_error(problems)


def cluster_problems(name: str, cluster: Cluster) -> list[ConfigError]:
    """The problems of a cluster entry."""
    if _is_empty(cluster):
        return [InvalidConfig(f'cluster "{name}": it is empty (set server)')]
    return [InvalidConfig(f'cluster "{name}": {text}') for text in _cluster_problems(cluster)]


def user_problems(name: str, user: User) -> list[ConfigError]:
    """The problems of a user entry."""
    return [InvalidConfig(f'user "{name}": {text}') for text in _user_problems(user)]


def context_problems(name: str, context: Context, config: Kubeconfig) -> list[ConfigError]:
    """The problems of a context entry of `config`."""
    problems = _context_problems(name, context, config)
    return [InvalidConfig(f'context "{name}": {text}') for text in problems]


def proxy_problem(url: str) -> str:
    """The problem of a `proxy-url`; empty if it is valid."""
    try:
        parts = urlsplit(url)
        known = parts.scheme in PROXY_SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        known = False
    if known or not url:
        return ""
    schemes = ", ".join(f"{scheme}://" for scheme in PROXY_SCHEMES)
    return f"proxy-url {redacted_url(url)!r} is not a valid proxy (use {schemes})"


def text_problem(text: str) -> str:
    """Why `text` is not valid as a path, name or address; empty if it is."""
    if "\0" in text:
        return "it has a null character (remove it)"
    return _surrogate_problem(text)


def _surrogate_problem(text: str) -> str:
    if not text.isascii() and any("\ud800" <= each <= "\udfff" for each in text):
        return "it has half a surrogate pair (use valid Unicode)"
    return ""


def header_problem(text: object, *, controls: bool = False) -> str:
    """Why `text` is not valid in a header; empty if it is. `controls` allows control characters."""
    if not isinstance(text, str):
        return f"expected a string, got a {type(text).__name__}"
    if not controls and any(each < " " or each == "\x7f" for each in text if each != "\t"):
        return "it has a line break or another control character (remove it)"
    return _surrogate_problem(text)


def _is_empty(cluster: Cluster) -> bool:
    return cluster == Cluster(origin=cluster.origin)


def _cluster_problems(cluster: Cluster) -> Iterator[str]:
    if not cluster.server:
        yield "no server (set server)"
    if problem := proxy_problem(cluster.proxy_url):
        yield problem
    if cluster.certificate_authority and cluster.certificate_authority_data:
        yield (
            "certificate-authority and certificate-authority-data are both set (remove one of them)"
        )
    if cluster.certificate_authority:
        yield from _check_readable("certificate-authority", cluster.certificate_authority)


def _user_problems(user: User) -> Iterator[str]:
    yield from _certificate_problems(user)
    methods = [
        *(["token"] if user.token else []),
        *(["username and password"] if user.username or user.password else []),
    ]
    if len(methods) > 1:
        yield f"more than one kind of credentials: {', '.join(methods)} (keep one of them)"
    if user.exec is not None:
        if user.auth_provider is not None:
            yield "exec and auth-provider are both set (remove one of them)"
        yield from exec_problems(user.exec)
    others = user.impersonate_uid or user.impersonate_groups or user.impersonate_extra
    if others and not user.impersonate:
        yield "as-uid, as-groups and as-user-extra need a user (set as)"


def _certificate_problems(user: User) -> Iterator[str]:
    has_certificate = user.client_certificate or user.client_certificate_data
    if user.client_certificate and user.client_certificate_data:
        yield "client-certificate and client-certificate-data are both set (remove one of them)"
    if not has_certificate:
        return
    if user.client_key and user.client_key_data:
        yield "client-key and client-key-data are both set (remove one of them)"
    if not user.client_key and not user.client_key_data:
        yield "a client certificate without its key (set client-key or client-key-data)"
    if user.client_certificate:
        yield from _check_readable("client-certificate", user.client_certificate)
    if user.client_key:
        yield from _check_readable("client-key", user.client_key)


def exec_problems(plugin: ExecConfig) -> Iterator[str]:
    """The problems of an exec plugin."""
    if not plugin.command:
        yield "exec has no command (set it)"
    if not plugin.api_version:
        yield "exec has no apiVersion (set client.authentication.k8s.io/v1)"
    if any(not variable.name for variable in plugin.env):
        yield "exec has an env entry without a name"
    modes = ", ".join(INTERACTIVE_MODES)
    if not plugin.interactive_mode:
        yield f"exec has no interactiveMode (set one of {modes})"
    elif plugin.interactive_mode not in INTERACTIVE_MODES:
        mode = plugin.interactive_mode
        yield f"exec has the unknown interactiveMode {mode!r} (set one of {modes})"
    yield from policy_problems(plugin.policy)


def _context_problems(name: str, context: Context, config: Kubeconfig) -> Iterator[str]:
    if not name:
        yield "a context without a name"
    if not context.user:
        yield "no user (set user)"
    elif context.user not in config.users:
        yield f'user "{context.user}" does not exist (add it, or use another one)'
    if not context.cluster:
        yield "no cluster (set cluster)"
    elif context.cluster not in config.clusters:
        yield f'cluster "{context.cluster}" does not exist (add it, or use another one)'
    if context.namespace:
        for problem in problems_of_dns_label(context.namespace):
            yield f"namespace {context.namespace!r}: {problem}"


def _check_readable(what: str, path: str) -> Iterator[str]:
    try:
        with Path(path).open("rb"):
            pass
    except (OSError, ValueError) as error:  # a path cannot contain NUL
        reason = getattr(error, "strerror", None) or error
        yield f"cannot read {what} {path}: {reason} (check the path)"
