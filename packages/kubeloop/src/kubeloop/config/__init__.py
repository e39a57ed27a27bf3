"""Configuration of a cluster: from a kubeconfig, a pod or plain values to a `ClusterConfig`.

Guarantees: configuration is a value, there is no global one; no error, log line or repr has a
secret; no HTTP request is sent here.
See also: `kubeloop.rest` (connections and requests).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubeloop._lazy import lazy_names

from .cluster import ClusterConfig
from .credentials import Credentials, Identity, Impersonation
from .errors import (
    ConfigError,
    ContextNotFound,
    CredentialError,
    InvalidConfig,
    NoCredentials,
    NotInCluster,
    PluginError,
)

# isort: split
# For other packages of kubeloop; not public.
from .credentials import StaticCredentials as StaticCredentials
from .credentials import TokenFileCredentials as TokenFileCredentials
from .credentials import basic as basic
from .credentials import impersonation_headers as impersonation_headers
from .errors import EmptyConfig as EmptyConfig
from .errors import KubeconfigLocked as KubeconfigLocked
from .errors import PluginDenied as PluginDenied
from .errors import PluginNotFound as PluginNotFound
from .open_credentials import open_credentials as open_credentials

if TYPE_CHECKING:
    from .kubeconfig import (
        Cluster,
        Context,
        ExecConfig,
        ExecPolicy,
        Kubeconfig,
        User,
        flatten,
        minify,
        shorten,
    )
    from .loading import load_kubeconfig
    from .overrides import Overrides
    from .parsing import parse_kubeconfig
    from .writing import modify_kubeconfig, write_kubeconfig

    # isort: split
    # For other packages of kubeloop; not public.
    from .exec_credentials import ExecCredentials as ExecCredentials
    from .in_cluster import in_cluster_possible as in_cluster_possible
    from .kubeconfig import AuthProvider as AuthProvider
    from .kubeconfig import ExecEnv as ExecEnv
    from .kubeconfig import merge as merge
    from .loading import KubeconfigFiles as KubeconfigFiles
    from .oidc import Fetched as Fetched
    from .oidc import OidcCredentials as OidcCredentials
    from .overrides import default_server as default_server
    from .prompt import TerminalPrompt as TerminalPrompt
    from .proxy import ProxyRules as ProxyRules
    from .proxy import proxy_for as proxy_for
    from .redaction import mask_authorization as mask_authorization
    from .redaction import redacted_url as redacted_url
    from .tls import ClientCertificate as ClientCertificate
    from .tls import TlsSource as TlsSource
    from .tls import hint_for as hint_for
    from .tls import tls_context as tls_context
    from .validation import check_kubeconfig as check_kubeconfig
    from .writing import delete_entry as delete_entry
    from .writing import set_cluster as set_cluster
    from .writing import set_context as set_context
    from .writing import set_credentials as set_credentials
    from .writing import use_context as use_context
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            ".exec_credentials": "ExecCredentials",
            ".in_cluster": "in_cluster_possible",
            ".kubeconfig": (
                "AuthProvider Cluster Context ExecConfig ExecEnv ExecPolicy Kubeconfig "
                "User flatten merge minify shorten"
            ),
            ".loading": "KubeconfigFiles load_kubeconfig",
            ".oidc": "Fetched OidcCredentials",
            ".overrides": "Overrides default_server",
            ".parsing": "parse_kubeconfig",
            ".prompt": "TerminalPrompt",
            ".proxy": "ProxyRules proxy_for",
            ".redaction": "mask_authorization redacted_url",
            ".tls": "ClientCertificate TlsSource hint_for tls_context",
            ".validation": "check_kubeconfig",
            ".writing": (
                "delete_entry modify_kubeconfig set_cluster set_context set_credentials "
                "use_context write_kubeconfig"
            ),
        },
    )

__all__ = [
    "Cluster",
    "ClusterConfig",
    "ConfigError",
    "Context",
    "ContextNotFound",
    "CredentialError",
    "Credentials",
    "ExecConfig",
    "ExecPolicy",
    "Identity",
    "Impersonation",
    "InvalidConfig",
    "Kubeconfig",
    "NoCredentials",
    "NotInCluster",
    "Overrides",
    "PluginError",
    "User",
    "flatten",
    "load_kubeconfig",
    "minify",
    "modify_kubeconfig",
    "parse_kubeconfig",
    "shorten",
    "write_kubeconfig",
]
