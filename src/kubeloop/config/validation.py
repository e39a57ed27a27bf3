"""Says everything that is wrong with a kubeconfig, at once.

Promises: every fault is found, not only the first; a fault names the entry and
what to do, and no secret.
Elsewhere: text that is no kubeconfig at all (`parsing`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from kubeloop.machinery import problems_of_dns_label

from .errors import ConfigError, ContextNotFound, EmptyConfig, InvalidConfig, as_one_error
from .kubeconfig import Cluster, Context, ExecConfig, Kubeconfig, User, policy_faults
from .overrides import Selection
from .redaction import redacted_url

__all__ = [
    "INTERACTIVE_MODES",
    "check_kubeconfig",
    "check_selection",
    "cluster_faults",
    "context_faults",
    "exec_problems",
    "header_problem",
    "proxy_fault",
    "text_problem",
    "user_faults",
]

INTERACTIVE_MODES = ("Never", "IfAvailable", "Always")
PROXY_SCHEMES = ("http", "https", "socks5")


def check_kubeconfig(config: Kubeconfig) -> None:
    """Look at every entry.

    Raises: `EmptyConfig` when there is nothing, `InvalidConfig` with all faults.
    """
    if config.is_empty:
        raise EmptyConfig
    faults: list[ConfigError] = []
    if config.current_context and config.current_context not in config.contexts:
        faults.append(ContextNotFound(config.current_context, tuple(config.contexts)))
    for name, context in config.contexts.items():
        faults += context_faults(name, context, config)
    for name, user in config.users.items():
        faults += user_faults(name, user)
    for name, cluster in config.clusters.items():
        faults += cluster_faults(name, cluster)
    if faults:
        raise as_one_error(faults)


def check_selection(selection: Selection) -> None:
    """Look at the one user and cluster that are about to be used.

    Raises: `EmptyConfig` when the only fault is that no cluster is configured,
    `InvalidConfig` with all faults otherwise.
    """
    faults = user_faults(selection.user_name, selection.user)
    if not faults and _is_empty(selection.cluster):
        raise EmptyConfig
    faults += cluster_faults(selection.cluster_name, selection.cluster)
    if faults:
        raise as_one_error(faults)


def cluster_faults(name: str, cluster: Cluster) -> list[ConfigError]:
    """What is wrong with a cluster entry."""
    if _is_empty(cluster):
        return [InvalidConfig(f'cluster "{name}": it says nothing (set server)')]
    return [InvalidConfig(f'cluster "{name}": {text}') for text in _cluster_problems(cluster)]


def user_faults(name: str, user: User) -> list[ConfigError]:
    """What is wrong with a user entry."""
    return [InvalidConfig(f'user "{name}": {text}') for text in _user_problems(user)]


def context_faults(name: str, context: Context, config: Kubeconfig) -> list[ConfigError]:
    """What is wrong with a context entry of `config`."""
    problems = _context_problems(name, context, config)
    return [InvalidConfig(f'context "{name}": {text}') for text in problems]


def proxy_fault(url: str) -> str:
    """What is wrong with a `proxy-url`; empty when nothing is."""
    try:
        parts = urlsplit(url)
        known = parts.scheme in PROXY_SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        known = False
    if known or not url:
        return ""
    schemes = ", ".join(f"{scheme}://" for scheme in PROXY_SCHEMES)
    return f"proxy-url {redacted_url(url)!r} is not a proxy's address (it begins with {schemes})"


def text_problem(text: str) -> str:
    """Why no path, name or address can be `text`; empty when it can."""
    if "\0" in text:
        return "it holds a null character (remove it)"
    return _surrogate_problem(text)


def _surrogate_problem(text: str) -> str:
    if not text.isascii() and any("\ud800" <= each <= "\udfff" for each in text):
        return "half a surrogate pair cannot be encoded (give valid Unicode)"
    return ""


def header_problem(text: object, *, controls: bool = False) -> str:
    """Why an HTTP header cannot carry `text`; empty when it can. With `controls` these may be."""
    if not isinstance(text, str):
        return f"expected text, found a {type(text).__name__}"
    if not controls and any(each < " " or each == "\x7f" for each in text if each != "\t"):
        return "a header cannot carry a line break or another control character (remove it)"
    return _surrogate_problem(text)


def _is_empty(cluster: Cluster) -> bool:
    return cluster == Cluster(origin=cluster.origin)


def _cluster_problems(cluster: Cluster) -> Iterator[str]:
    if not cluster.server:
        yield "no server (set server)"
    if problem := proxy_fault(cluster.proxy_url):
        yield problem
    if cluster.certificate_authority and cluster.certificate_authority_data:
        yield (
            "certificate-authority and certificate-authority-data are both set (remove one of them)"
        )
    if cluster.certificate_authority:
        yield from _unreadable("certificate-authority", cluster.certificate_authority)


def _user_problems(user: User) -> Iterator[str]:
    yield from _certificate_problems(user)
    methods = [
        *(["token"] if user.token else []),
        *(["username and password"] if user.username or user.password else []),
    ]
    if len(methods) > 1:
        yield f"more than one way to authenticate: {', '.join(methods)} (keep one of them)"
    if user.exec is not None:
        if user.auth_provider is not None:
            yield "exec and auth-provider are both set (remove one of them)"
        yield from exec_problems(user.exec)
    others = user.impersonate_uid or user.impersonate_groups or user.impersonate_extra
    if others and not user.impersonate:
        yield "as-uid, as-groups and as-user-extra need a user to ask as (set as)"


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
        yield from _unreadable("client-certificate", user.client_certificate)
    if user.client_key:
        yield from _unreadable("client-key", user.client_key)


def exec_problems(plugin: ExecConfig) -> Iterator[str]:
    """What is wrong with an exec plugin, in words."""
    if not plugin.command:
        yield "exec has no command (name the program to run)"
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
    yield from policy_faults(plugin.policy)


def _context_problems(name: str, context: Context, config: Kubeconfig) -> Iterator[str]:
    if not name:
        yield "a context without a name"
    if not context.user:
        yield "no user (set user)"
    elif context.user not in config.users:
        yield f'user "{context.user}" does not exist (add it, or name another)'
    if not context.cluster:
        yield "no cluster (set cluster)"
    elif context.cluster not in config.clusters:
        yield f'cluster "{context.cluster}" does not exist (add it, or name another)'
    if context.namespace:
        for problem in problems_of_dns_label(context.namespace):
            yield f"namespace {context.namespace!r}: {problem}"


def _unreadable(what: str, path: str) -> Iterator[str]:
    try:
        with Path(path).open("rb"):
            pass
    except (OSError, ValueError) as error:  # a path cannot hold a NUL
        reason = getattr(error, "strerror", None) or error
        yield f"{what} {path} cannot be read: {reason} (check the path)"
