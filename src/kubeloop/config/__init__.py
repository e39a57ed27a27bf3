"""From kubeconfig, pod or plain values to one frozen `ClusterConfig`.

Promises: configuration is a value, there is no global one; secrets are in no error,
log or repr; no HTTP is spoken here.
Elsewhere: connections and requests (`kubeloop.rest`), which know no files.
"""

from __future__ import annotations

from .cluster import ClusterConfig, UserLocation
from .credentials import (
    Credentials,
    Identity,
    Impersonation,
    StaticCredentials,
    TokenFileCredentials,
    impersonation_headers,
)
from .errors import (
    ConfigError,
    ContextNotFound,
    CredentialError,
    EmptyConfig,
    InvalidConfig,
    KubeconfigLocked,
    NoCredentials,
    NotInCluster,
    PluginDenied,
    PluginError,
    PluginNotFound,
)
from .exec_credentials import ExecCredentials, ExecStats
from .in_cluster import in_cluster_possible
from .kubeconfig import (
    AuthProvider,
    Cluster,
    Context,
    ExecConfig,
    ExecEnv,
    ExecPolicy,
    Kubeconfig,
    User,
    flatten,
    merge,
    minify,
    shorten,
)
from .loading import KubeconfigFiles, load_kubeconfig
from .oidc import Fetch, Fetched, OidcCredentials
from .open_credentials import Provider, open_credentials
from .overrides import Overrides, default_server
from .parsing import parse_kubeconfig
from .prompt import Prompt, TerminalPrompt
from .proxy import ProxyRules, proxy_for
from .redaction import mask_authorization, redacted_url
from .tls import ClientCertificate, TlsSource, TlsStats, hint_for, tls_context
from .validation import check_kubeconfig
from .writing import (
    delete_entry,
    modify_kubeconfig,
    set_cluster,
    set_context,
    set_credentials,
    update_kubeconfig,
    use_context,
    write_kubeconfig,
)

__all__ = [
    "AuthProvider",
    "ClientCertificate",
    "Cluster",
    "ClusterConfig",
    "ConfigError",
    "Context",
    "ContextNotFound",
    "CredentialError",
    "Credentials",
    "EmptyConfig",
    "ExecConfig",
    "ExecCredentials",
    "ExecEnv",
    "ExecPolicy",
    "ExecStats",
    "Fetch",
    "Fetched",
    "Identity",
    "Impersonation",
    "InvalidConfig",
    "Kubeconfig",
    "KubeconfigFiles",
    "KubeconfigLocked",
    "NoCredentials",
    "NotInCluster",
    "OidcCredentials",
    "Overrides",
    "PluginDenied",
    "PluginError",
    "PluginNotFound",
    "Prompt",
    "Provider",
    "ProxyRules",
    "StaticCredentials",
    "TerminalPrompt",
    "TlsSource",
    "TlsStats",
    "TokenFileCredentials",
    "User",
    "UserLocation",
    "check_kubeconfig",
    "default_server",
    "delete_entry",
    "flatten",
    "hint_for",
    "impersonation_headers",
    "in_cluster_possible",
    "load_kubeconfig",
    "mask_authorization",
    "merge",
    "minify",
    "modify_kubeconfig",
    "open_credentials",
    "parse_kubeconfig",
    "proxy_for",
    "redacted_url",
    "set_cluster",
    "set_context",
    "set_credentials",
    "shorten",
    "tls_context",
    "update_kubeconfig",
    "use_context",
    "write_kubeconfig",
]
