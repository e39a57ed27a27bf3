"""The configuration of one cluster as a frozen value: server, TLS and credentials.

Guarantees: a value is complete and consistent, or an error is raised; a value reads nothing from
the environment or the disk; its repr has no secret; it has credentials, unless `anonymous`.
See also: `loading` (kubeconfig files), `open_credentials` (sources of credentials).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar, TypedDict, Unpack
from urllib.parse import SplitResult, urlsplit, urlunsplit

import msgspec

from kubeloop.wire import get_logger

from .credentials import Credentials, Impersonation
from .errors import (
    ConfigError,
    CredentialError,
    EmptyConfig,
    InvalidConfig,
    NoCredentials,
    NotInCluster,
    as_one_error,
)
from .in_cluster import (
    SERVICE_ACCOUNT_DIRECTORY,
    in_cluster_possible,
    pod_namespace,
    read_service_account,
)
from .isolation import stay_on_test_server
from .kubeconfig import EXEC_CLUSTER_EXTENSION, AuthProvider, Cluster, ExecConfig, Kubeconfig, User
from .loading import KubeconfigFiles, load_files
from .overrides import Overrides, Selection, select
from .parsing import parse_kubeconfig
from .prompt import Prompt, ask_for_user, has_credentials
from .redaction import Redacted, redacted_url
from .validation import (
    check_selection,
    exec_problems,
    header_problem,
    proxy_problem,
    text_problem,
)

__all__ = [
    "ClusterConfig",
    "UserLocation",
    "base_url",
    "is_https",
    "without_query",
]

log = get_logger(__name__)


class UserLocation(msgspec.Struct, frozen=True):
    """The kubeconfig entry of a user, for auth providers that store new tokens."""

    file: str
    name: str


class ClusterConfigChanges(TypedDict, total=False):
    """Keywords of `ClusterConfig.replace`: its fields."""

    server: str
    namespace: str
    ca: bytes
    ca_file: str
    tls_server_name: str
    insecure_skip_tls_verify: bool
    relax_strict_x509: bool
    client_certificate: bytes
    client_certificate_file: str
    client_key: bytes
    client_key_file: str
    token: str
    token_file: str
    username: str
    password: str
    exec: ExecConfig | None
    auth_provider: AuthProvider | None
    auth_provider_location: UserLocation | None
    credentials: Credentials | None
    anonymous: bool
    impersonate: Impersonation | None
    proxy_url: str
    disable_compression: bool
    timeout: float
    user_agent: str


class ClusterConfig(Redacted, frozen=True, kw_only=True):
    """Server, TLS and credentials of one cluster (client-go: `rest.Config`).

    ```python
    config = ClusterConfig.load()                      # kubeconfig, or in-cluster
    config = ClusterConfig.load(context="staging")
    config = ClusterConfig.in_cluster()
    config = ClusterConfig(server="https://10.0.0.1:6443", token=token, ca_file="ca.crt")
    ```

    Raises: `InvalidConfig` with every problem, `NoCredentials` when there are no credentials and
    `anonymous` is not set.
    """

    redacted_fields: ClassVar[frozenset[str]] = frozenset(
        {"token", "password", "client_key", "credentials"}
    )

    server: str
    namespace: str = "default"
    # TLS
    ca: bytes = b""  # PEM; takes precedence over the file
    ca_file: str = ""  # read again every five minutes
    tls_server_name: str = ""
    insecure_skip_tls_verify: bool = False
    relax_strict_x509: bool = False  # only the check that Python 3.13 added
    # Credentials
    client_certificate: bytes = b""  # PEM; takes precedence over the file
    client_certificate_file: str = ""  # read again if the key is a file as well
    client_key: bytes = b""
    client_key_file: str = ""
    token: str = ""
    token_file: str = ""  # read again every minute; takes precedence over `token`
    username: str = ""
    password: str = ""
    exec: ExecConfig | None = None
    auth_provider: AuthProvider | None = None
    auth_provider_location: UserLocation | None = None
    credentials: Credentials | None = None  # instead of all of the above
    anonymous: bool = False
    impersonate: Impersonation | None = None
    # Connection
    proxy_url: str = ""  # empty: HTTPS_PROXY and the like
    disable_compression: bool = False
    timeout: float = 0.0  # of each request, in seconds; zero is no timeout
    user_agent: str = ""

    def __post_init__(self) -> None:
        problems: list[ConfigError] = [InvalidConfig(text) for text in _problems(self)]
        if problems:
            raise as_one_error(problems)
        if self.uses_tls and not self.anonymous and not self.has_credentials:
            raise NoCredentials(
                f"{redacted_url(self.server)}: no credentials are configured"
            ).with_hint("configure a token, a certificate or a plugin", python="set anonymous=True")

    @classmethod
    def load(
        cls,
        kubeconfig: str | os.PathLike[str] | None = None,
        *,
        context: str = "",
        overrides: Overrides | None = None,
        anonymous: bool = False,
        default: ClusterConfig | None = None,
        prompt: Prompt | None = None,
        environ: Mapping[str, str] | None = None,
        service_account: str = SERVICE_ACCOUNT_DIRECTORY,
    ) -> ClusterConfig:
        """The configuration that kubectl uses; in a pod without kubeconfig, the in-cluster one.

        A configuration equal to `default` counts as none. `environ` replaces the environment of
        the process, `service_account` the directory of the service account.

        Raises: `EmptyConfig` when there is neither, `InvalidConfig` with every problem,
        `ConfigError` when nothing is selected and a test would use another server than its own.
        """
        files = KubeconfigFiles.from_environ(environ, explicit=kubeconfig or "")
        loaded = load_files(files)
        if loaded.problems:
            raise as_one_error(loaded.problems)
        possible = in_cluster_possible(environ, directory=service_account)
        selection = select(loaded.config, overrides, context=context)
        try:
            if selection.cluster.server and not (
                kubeconfig or context or _selects_cluster(overrides)
            ):
                stay_on_test_server(selection.cluster.server, environ)
            config = _build(cls, selection, anonymous=anonymous, prompt=prompt)
        except EmptyConfig as error:
            if possible:
                return cls.in_cluster(
                    overrides=overrides, environ=environ, directory=service_account
                )
            raise EmptyConfig(_sources_text(files, loaded.config, selection)) from error
        if possible and default is not None and config == default:
            return cls.in_cluster(overrides=overrides, environ=environ, directory=service_account)
        namespace = _deferred_namespace(selection, environ, service_account)
        return msgspec.structs.replace(config, namespace=namespace)

    @classmethod
    def from_kubeconfig(
        cls,
        kubeconfig: Kubeconfig | str | bytes,
        *,
        context: str = "",
        overrides: Overrides | None = None,
        anonymous: bool = False,
        prompt: Prompt | None = None,
    ) -> ClusterConfig:
        """The configuration of a kubeconfig in memory, as a value or as text.

        Raises: `InvalidConfig` with every problem.
        """
        parsed = kubeconfig if isinstance(kubeconfig, Kubeconfig) else parse_kubeconfig(kubeconfig)
        selection = select(parsed, overrides, context=context)
        return _build(cls, selection, anonymous=anonymous, prompt=prompt)

    @classmethod
    def from_flags(
        cls,
        server: str = "",
        kubeconfig: str | os.PathLike[str] = "",
        *,
        environ: Mapping[str, str] | None = None,
        service_account: str = SERVICE_ACCOUNT_DIRECTORY,
    ) -> ClusterConfig:
        """The configuration of two flags; without both, the in-cluster configuration.

        Unlike `load`, it reads no other kubeconfig (client-go: `BuildConfigFromFlags`).
        """
        if not server and not kubeconfig:
            try:
                return cls.in_cluster(environ=environ, directory=service_account)
            except NotInCluster as error:
                log.warning("neither server nor kubeconfig is set, and %s", error)
                raise EmptyConfig("neither server nor kubeconfig is set") from error
        overrides = Overrides(cluster_info=Cluster(server=server))
        if not kubeconfig:
            return cls.from_kubeconfig(Kubeconfig(), overrides=overrides)
        return cls.load(
            kubeconfig, overrides=overrides, environ=environ, service_account=service_account
        )

    @classmethod
    def in_cluster(
        cls,
        *,
        overrides: Overrides | None = None,
        environ: Mapping[str, str] | None = None,
        directory: str = SERVICE_ACCOUNT_DIRECTORY,
    ) -> ClusterConfig:
        """The in-cluster configuration; of `overrides` only server, token and CA file are used.

        Raises: `NotInCluster` outside of a pod or without a service account, `ConfigError` when
        a test would use another server than its own.
        """
        account = read_service_account(environ, directory=directory)
        over = overrides or Overrides()
        if not over.cluster_info.server:
            stay_on_test_server(account.server, environ)
        user = over.user_info
        is_account = not user.token and not user.token_file
        return cls(
            server=over.cluster_info.server or account.server,
            namespace=account.namespace,
            ca_file=over.cluster_info.certificate_authority or account.ca_file,
            token=account.token if is_account else user.token,
            token_file=account.token_file if is_account else user.token_file,
        )

    def replace(self, **changes: Unpack[ClusterConfigChanges]) -> ClusterConfig:
        """The same configuration with some fields changed, validated again."""
        return msgspec.structs.replace(self, **changes)

    def without_credentials(self) -> ClusterConfig:
        """The same server for anonymous requests: without credentials and impersonation."""
        return ClusterConfig(
            server=self.server,
            namespace=self.namespace,
            ca=self.ca,
            ca_file=self.ca_file,
            tls_server_name=self.tls_server_name,
            insecure_skip_tls_verify=self.insecure_skip_tls_verify,
            relax_strict_x509=self.relax_strict_x509,
            anonymous=True,
            proxy_url=self.proxy_url,
            disable_compression=self.disable_compression,
            timeout=self.timeout,
            user_agent=self.user_agent,
        )

    @property
    def has_credentials(self) -> bool:
        """Whether there are any credentials."""
        certificate = self.client_certificate or self.client_certificate_file
        fixed = self.token or self.token_file or self.username or self.password or certificate
        return bool(fixed or self.exec or self.auth_provider or self.credentials)

    @property
    def uses_tls(self) -> bool:
        """Whether the server uses https."""
        return self.base_url.startswith("https://")

    @property
    def base_url(self) -> str:
        """The server with its scheme and a final slash, without query and fragment.

        Raises: `InvalidConfig` for an invalid address.
        """
        certificate = self.client_certificate or self.client_certificate_file
        secure = self.ca or self.ca_file or certificate or self.insecure_skip_tls_verify
        return base_url(self.server, secure=bool(secure))


# Passed to the operating system or to TLS, which reject what `text_problem` finds.
_PLAIN_TEXTS = (
    "ca_file",
    "client_certificate_file",
    "client_key_file",
    "token_file",
    "tls_server_name",
    "proxy_url",
)


def _problems(config: ClusterConfig) -> Iterator[str]:
    if (config.ca or config.ca_file) and config.insecure_skip_tls_verify:
        yield "a CA is set and verification is switched off (remove the CA or the insecure flag)"
    if config.username and (config.token or config.token_file):
        yield "a user name and a token are both set (remove one of them)"
    if config.exec is not None and config.auth_provider is not None:
        yield "exec and auth-provider are both set (remove one of them)"
    if bool(config.client_certificate or config.client_certificate_file) != bool(
        config.client_key or config.client_key_file
    ):
        yield "only one of client certificate and client key is set (set both)"
    if config.exec is not None:
        yield from exec_problems(config.exec)
    if problem := proxy_problem(config.proxy_url):
        yield problem
    if problem := header_problem(config.user_agent):
        yield f"user_agent: {problem}"
    for name in _PLAIN_TEXTS:
        if problem := text_problem(str(getattr(config, name))):
            yield f"{name}: {problem}"
    try:
        _ = config.base_url
    except InvalidConfig as error:
        yield str(error)


def _build(
    cls: type[ClusterConfig], selection: Selection, *, anonymous: bool, prompt: Prompt | None
) -> ClusterConfig:
    """The configuration of a selection."""
    selection = msgspec.structs.replace(selection, user=ask_for_user(selection.user, prompt))
    check_selection(selection)
    cluster, user = selection.cluster, selection.user
    auth, tls = _usable_entries(selection)
    has_certificate = bool(auth.client_certificate or auth.client_certificate_data)
    return cls(
        server=without_query(cluster.server),
        namespace=selection.namespace,
        ca=tls.certificate_authority_data,
        ca_file=tls.certificate_authority,
        tls_server_name=tls.tls_server_name,
        insecure_skip_tls_verify=tls.insecure_skip_tls_verify,
        client_certificate=auth.client_certificate_data,
        client_certificate_file=auth.client_certificate,
        client_key=auth.client_key_data if has_certificate else b"",
        client_key_file=auth.client_key if has_certificate else "",
        token=auth.token or _token_now(auth.token_file),
        token_file=auth.token_file,
        username=auth.username,
        password=auth.password,
        exec=_with_cluster_config(auth.exec, tls),
        auth_provider=auth.auth_provider,
        auth_provider_location=_user_location(auth, selection.user_name),
        anonymous=anonymous,
        impersonate=_impersonation(user),
        proxy_url=cluster.proxy_url,
        disable_compression=cluster.disable_compression,
        timeout=selection.timeout,
    )


def _selects_cluster(overrides: Overrides | None) -> bool:
    over = overrides or Overrides()
    return bool(over.context or over.cluster or over.cluster_info.server)


def _usable_entries(selection: Selection) -> tuple[User, Cluster]:
    """The user and the cluster to use: without https both are empty, as in client-go."""
    if is_https(selection.cluster.server):
        return selection.user, selection.cluster
    if has_credentials(selection.user):
        log.warning(
            "%s is not https: not using the credentials of user %s",
            redacted_url(selection.cluster.server),
            selection.user_name,
        )
    return User(), Cluster()


def _user_location(user: User, name: str) -> UserLocation | None:
    return UserLocation(user.origin, name) if user.auth_provider and user.origin else None


def _token_now(path: str) -> str:
    if not path:
        return ""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not text"
        raise CredentialError(f"reading tokenFile {path}: {reason} (check the path)") from error
    if not text.strip():
        raise CredentialError(
            f"reading tokenFile {path}: the file is empty (write the token into it)"
        )
    return text


def _with_cluster_config(plugin: ExecConfig | None, cluster: Cluster) -> ExecConfig | None:
    if plugin is None:
        return None
    extension = cluster.extensions.get(EXEC_CLUSTER_EXTENSION)
    return msgspec.structs.replace(plugin, cluster_config=extension)


def _impersonation(user: User) -> Impersonation | None:
    if not user.impersonate:
        return None
    return Impersonation(
        user=user.impersonate,
        uid=user.impersonate_uid,
        groups=user.impersonate_groups,
        extra=user.impersonate_extra,
    )


def _deferred_namespace(
    selection: Selection, environ: Mapping[str, str] | None, directory: str
) -> str:
    is_set = selection.namespace_overridden or selection.context.namespace
    return (
        selection.namespace if is_set else pod_namespace(environ, directory=directory) or "default"
    )


def _sources_text(files: KubeconfigFiles, found: Kubeconfig, selection: Selection) -> str:
    names = ", ".join(files.names) or "no file"
    result = "has no configuration"
    if found.contexts and not selection.context_name:
        available = ", ".join(sorted(found.contexts))
        result = f"has no current-context (choose one of {available})"
    elif selection.cluster_name:
        result = (
            f'has context "{selection.context_name}" with cluster "{selection.cluster_name}",'
            " but no server for it"
        )
    return f"{names} {result}, and this is not a pod with a service account"


# --- the address of a server


def base_url(server: str, *, secure: bool) -> str:
    """`server` with a scheme and a final slash, without query and fragment.

    A bare host gets https if `secure`, otherwise http.

    Raises: `InvalidConfig` for an empty or an invalid address.
    """
    if not server:
        raise InvalidConfig("no server is set (write it as https://host:port)")
    parts = _split(server)
    if parts is None or not parts.scheme or not parts.netloc:
        parts = _with_scheme(server, secure=secure)
    if parts.scheme not in {"http", "https"}:
        raise InvalidConfig(
            f"server {redacted_url(server)!r} is neither http nor https (write it as"
            " https://host:port)"
        )
    path = parts.path if parts.path.endswith("/") else f"{parts.path}/"
    return urlunsplit((parts.scheme, parts.netloc, path, "", ""))


def is_https(server: str) -> bool:
    """Whether `server` has the scheme https; a bare host has none."""
    parts = _split(server)
    return parts is not None and parts.scheme == "https"


def without_query(server: str) -> str:
    """`server` without query and fragment, if it has a path."""
    parts = _split(server)
    if parts is None or len(parts.path) <= 1:
        return server
    return urlunsplit(parts._replace(query="", fragment=""))


def _with_scheme(host: str, *, secure: bool) -> SplitResult:
    parts = _split(f"{'https' if secure else 'http'}://{host}")
    if parts is None or not parts.hostname or parts.path not in ("", "/"):
        raise InvalidConfig(
            f"server {redacted_url(host)!r} is not an address (write it as https://host:port)"
        )
    return parts


def _split(server: str) -> SplitResult | None:
    try:
        parts = urlsplit(server)
        _ = parts.port  # raises ValueError for an invalid port
    except ValueError:
        return None
    # Python accepts white space in a host; no such host exists.
    return None if any(map(str.isspace, parts.netloc)) else parts
