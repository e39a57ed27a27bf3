"""The in-cluster configuration: the API server and the service account of a pod.

Guarantees: reads only the environment and the mounted files.
See also: `credentials` (reads the token again), `tls` (reads the CA again).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from kubeloop.wire import get_logger

from .errors import ConfigError, NotInCluster
from .redaction import Redacted
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


class ServiceAccount(Redacted, frozen=True, kw_only=True):
    """The service account of the pod, and its API server."""

    redacted_fields: ClassVar[frozenset[str]] = frozenset({"token"})

    server: str
    token: str  # the content of the file, which is read again later
    token_file: str
    ca_file: str  # empty if the file is not usable
    namespace: str


def read_service_account(
    environ: Mapping[str, str] | None = None, *, directory: str = SERVICE_ACCOUNT_DIRECTORY
) -> ServiceAccount:
    """The service account of this process.

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
    """Whether this process seems to run in a pod with a service account."""
    variables = os.environ if environ is None else environ
    address = variables.get("KUBERNETES_SERVICE_HOST") and variables.get("KUBERNETES_SERVICE_PORT")
    return bool(address) and Path(directory, "token").is_file()


def pod_namespace(
    environ: Mapping[str, str] | None = None, *, directory: str = SERVICE_ACCOUNT_DIRECTORY
) -> str:
    """The namespace in POD_NAMESPACE or in the service account; empty if there is none."""
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
    """The path; empty if it is not usable: then the system's CAs are used, as in client-go."""
    try:
        check_roots(path.read_bytes(), what=str(path))
    except (OSError, ConfigError) as error:
        log.error("%s: cannot use the CA, using those of the system: %s", path, error)
        return ""
    return str(path)
