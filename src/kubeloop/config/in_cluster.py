"""What a pod is told about its API server and its own account.

Promises: reads the environment and the mounted files, and nothing else.
Elsewhere: re-reading the token (`credentials`) and the CA (`tls`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from kubeloop.wire import get_logger

from .errors import ConfigError, NotInCluster
from .redaction import Veiled
from .tls import check_roots

__all__ = [
    "SERVICE_ACCOUNT_DIRECTORY",
    "ServiceAccount",
    "in_cluster_possible",
    "pod_namespace",
    "read_service_account",
]

log = get_logger(__name__)

SERVICE_ACCOUNT_DIRECTORY = "/var/run/secrets/kubernetes.io/serviceaccount"


class ServiceAccount(Veiled, frozen=True, kw_only=True):
    """The pod's own account, and the server that knows it."""

    veiled: ClassVar[frozenset[str]] = frozenset({"token"})

    server: str
    token: str  # as it was in the file, which is read again later
    token_file: str
    ca_file: str  # empty when the file was of no use
    namespace: str


def read_service_account(
    environ: Mapping[str, str] | None = None, *, directory: str = SERVICE_ACCOUNT_DIRECTORY
) -> ServiceAccount:
    """The account this process runs under.

    Raises: `NotInCluster` when the environment or the token is missing.
    """
    variables = os.environ if environ is None else environ
    token_file = Path(directory, "token")
    return ServiceAccount(
        server=_server(variables),
        token=_token(token_file),
        token_file=str(token_file),
        ca_file=_usable_ca(Path(directory, "ca.crt")),
        namespace=pod_namespace(variables, directory=directory) or "default",
    )


def in_cluster_possible(
    environ: Mapping[str, str] | None = None, *, directory: str = SERVICE_ACCOUNT_DIRECTORY
) -> bool:
    """Whether this process seems to run in a pod that has an account."""
    variables = os.environ if environ is None else environ
    told = variables.get("KUBERNETES_SERVICE_HOST") and variables.get("KUBERNETES_SERVICE_PORT")
    return bool(told) and Path(directory, "token").is_file()


def pod_namespace(
    environ: Mapping[str, str] | None = None, *, directory: str = SERVICE_ACCOUNT_DIRECTORY
) -> str:
    """The pod's namespace by POD_NAMESPACE or by its account; empty when neither says."""
    variables = os.environ if environ is None else environ
    if named := variables.get("POD_NAMESPACE"):
        return named
    try:
        return Path(directory, "namespace").read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _server(variables: Mapping[str, str]) -> str:
    host = variables.get("KUBERNETES_SERVICE_HOST", "")
    port = variables.get("KUBERNETES_SERVICE_PORT", "")
    if not host or not port:
        raise NotInCluster(
            "in-cluster configuration: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are"
            " not both set (run inside a pod, or use a kubeconfig)"
        )
    return f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"


def _token(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not text"
        raise NotInCluster(
            f"in-cluster configuration: reading {path}: {reason}"
            " (mount the service account token into the pod)"
        ) from error


def _usable_ca(path: Path) -> str:
    """The path, or nothing: then the system's roots have to do, as the API allows."""
    try:
        check_roots(path.read_bytes(), what=str(path))
    except (OSError, ConfigError) as error:
        log.error("%s: not usable, expecting a server that the system trusts: %s", path, error)
        return ""
    return str(path)
