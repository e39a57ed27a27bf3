"""One cluster and how to reach it, as one frozen value: what all configuration ends in.

Promises: a value is complete and consistent or is not made at all; nothing is read
from the environment or the disk by holding one; printing it shows no secret; and
without credentials there is no value, unless anonymous requests were asked for.
Elsewhere: the files (`loading`), the live side of credentials (`opening`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar
from urllib.parse import SplitResult, urlsplit, urlunsplit

import msgspec

from kubeloop.machinery import get_logger

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
from .prompt import Prompt, ask_for_user, has_identification
from .redaction import Veiled, redacted_url
from .validation import (
    check_selection,
    exec_problems,
    header_problem,
    proxy_fault,
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
    """The kubeconfig entry that a user came from, for providers that write tokens back."""

    file: str
    name: str


class ClusterConfig(Veiled, frozen=True, kw_only=True):
    """Where the API server is, why it is trusted, and who is asking.

    ```python
    config = ClusterConfig.load()                      # kubeconfig, or the pod's own account
    config = ClusterConfig.load(context="staging")
    config = ClusterConfig.in_cluster()
    config = ClusterConfig(server="https://10.0.0.1:6443", token=token, ca_file="ca.crt")
    ```

    Raises: `InvalidConfig` listing every contradiction, `NoCredentials` when nothing
    says who is asking and `anonymous` is not set.
    """

    veiled: ClassVar[frozenset[str]] = frozenset({"token", "password", "client_key", "credentials"})

    server: str = ""
    namespace: str = "default"
    # Trust
    ca: bytes = b""  # PEM; wins over the file
    ca_file: str = ""  # read again every five minutes
    tls_server_name: str = ""
    insecure_skip_tls_verify: bool = False
    relax_strict_x509: bool = False  # only the check that Python 3.13 added
    # Who is asking
    client_certificate: bytes = b""  # PEM; wins over the file
    client_certificate_file: str = ""  # read again when both are files
    client_key: bytes = b""
    client_key_file: str = ""
    token: str = ""
    token_file: str = ""  # read again every minute; its content wins over `token`
    username: str = ""
    password: str = ""
    exec: ExecConfig | None = None
    auth_provider: AuthProvider | None = None
    auth_provider_home: UserLocation | None = None
    credentials: Credentials | None = None  # the caller's own, instead of all of the above
    anonymous: bool = False
    impersonate: Impersonation | None = None
    # The way there
    proxy_url: str = ""  # empty: what the environment says
    disable_compression: bool = False
    timeout: float = 0.0  # of each request, in seconds; zero is none
    user_agent: str = ""

    def __post_init__(self) -> None:
        faults: list[ConfigError] = [InvalidConfig(text) for text in _contradictions(self)]
        if faults:
            raise as_one_error(faults)
        if self.uses_tls and not self.anonymous and not self.has_credentials:
            raise NoCredentials(
                f"{redacted_url(self.server)}: no credentials are configured"
            ).with_hint("give a token, a certificate or a plugin", python="say anonymous=True")

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
        """What kubectl would use here; in a pod without any kubeconfig, the pod's account.

        A result equal to `default` counts as none. `environ` stands in for the process's
        environment, `service_account` for the directory that a pod's account is mounted at.

        Raises: `EmptyConfig` when there is neither, `InvalidConfig` with every fault,
        `ConfigError` when nothing was named and a test would leave its own server.
        """
        files = KubeconfigFiles.from_environ(environ, explicit=kubeconfig or "")
        loaded = load_files(files)
        if loaded.faults:
            raise as_one_error(loaded.faults)
        possible = in_cluster_possible(environ, directory=service_account)
        selection = select(loaded.config, overrides, context=context)
        try:
            if selection.cluster.server and not (kubeconfig or context or _is_named(overrides)):
                stay_on_test_server(selection.cluster.server, environ)
            config = _built(cls, selection, anonymous=anonymous, prompt=prompt)
        except EmptyConfig as error:
            if possible:
                return cls.in_cluster(
                    overrides=overrides, environ=environ, directory=service_account
                )
            raise EmptyConfig(_tried(files, loaded.config, selection)) from error
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
        """What a kubeconfig in memory says, be it a value or its text.

        Raises: `InvalidConfig` with every fault.
        """
        parsed = kubeconfig if isinstance(kubeconfig, Kubeconfig) else parse_kubeconfig(kubeconfig)
        selection = select(parsed, overrides, context=context)
        return _built(cls, selection, anonymous=anonymous, prompt=prompt)

    @classmethod
    def from_flags(
        cls,
        server: str = "",
        kubeconfig: str | os.PathLike[str] = "",
        *,
        environ: Mapping[str, str] | None = None,
        service_account: str = SERVICE_ACCOUNT_DIRECTORY,
    ) -> ClusterConfig:
        """What two flags say; without either, the pod's account and nothing else.

        Unlike `load`, no kubeconfig is looked for that was not named.
        """
        if not server and not kubeconfig:
            try:
                return cls.in_cluster(environ=environ, directory=service_account)
            except NotInCluster as error:
                log.warning("no flags given, and %s", error)
                raise EmptyConfig("neither a server nor a kubeconfig was given") from error
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
        """The pod's own account; of `overrides` only server, token and CA file count.

        Raises: `NotInCluster` when this is not a pod, or it has no account, `ConfigError` when
        a test would leave its own server.
        """
        account = read_service_account(environ, directory=directory)
        over = overrides or Overrides()
        if not over.cluster_info.server:
            stay_on_test_server(account.server, environ)
        told = over.user_info
        own = not told.token and not told.token_file
        return cls(
            server=over.cluster_info.server or account.server,
            namespace=account.namespace,
            ca_file=over.cluster_info.certificate_authority or account.ca_file,
            token=account.token if own else told.token,
            token_file=account.token_file if own else told.token_file,
        )

    def replace(self, **changes: object) -> ClusterConfig:
        """The same configuration with some fields changed, checked again."""
        return msgspec.structs.replace(self, **changes)

    def without_credentials(self) -> ClusterConfig:
        """The same server for anonymous requests: no credential, no impersonation."""
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
        """Whether anything here says who is asking."""
        certificate = self.client_certificate or self.client_certificate_file
        fixed = self.token or self.token_file or self.username or self.password or certificate
        return bool(fixed or self.exec or self.auth_provider or self.credentials)

    @property
    def uses_tls(self) -> bool:
        """Whether the server is reached by https."""
        return self.base_url.startswith("https://")

    @property
    def base_url(self) -> str:
        """The server with its scheme and a final slash, without query and fragment.

        Raises: `InvalidConfig` when it is no address.
        """
        certificate = self.client_certificate or self.client_certificate_file
        secure = self.ca or self.ca_file or certificate or self.insecure_skip_tls_verify
        return base_url(self.server, secure=bool(secure))


# Handed to the operating system or to TLS, which take neither of what `text_problem` finds.
_PLAIN_TEXTS = (
    "ca_file",
    "client_certificate_file",
    "client_key_file",
    "token_file",
    "tls_server_name",
    "proxy_url",
)


def _contradictions(config: ClusterConfig) -> Iterator[str]:
    if (config.ca or config.ca_file) and config.insecure_skip_tls_verify:
        yield "a CA is given and verification is switched off (remove the CA or the insecure flag)"
    if config.username and (config.token or config.token_file):
        yield "a user name and a token are both given (keep one of them)"
    if config.exec is not None and config.auth_provider is not None:
        yield "exec and auth-provider are both given (keep one of them)"
    if bool(config.client_certificate or config.client_certificate_file) != bool(
        config.client_key or config.client_key_file
    ):
        yield "only one of client certificate and client key is given (give both)"
    if config.exec is not None:
        yield from exec_problems(config.exec)
    if problem := proxy_fault(config.proxy_url):
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


def _built(
    cls: type[ClusterConfig], selection: Selection, *, anonymous: bool, prompt: Prompt | None
) -> ClusterConfig:
    """The configuration that a selection means."""
    asked = msgspec.structs.replace(selection, user=ask_for_user(selection.user, prompt))
    check_selection(asked)
    cluster, user = asked.cluster, asked.user
    proof, trust = _usable(asked)
    has_certificate = bool(proof.client_certificate or proof.client_certificate_data)
    return cls(
        server=without_query(cluster.server),
        namespace=asked.namespace,
        ca=trust.certificate_authority_data,
        ca_file=trust.certificate_authority,
        tls_server_name=trust.tls_server_name,
        insecure_skip_tls_verify=trust.insecure_skip_tls_verify,
        client_certificate=proof.client_certificate_data,
        client_certificate_file=proof.client_certificate,
        client_key=proof.client_key_data if has_certificate else b"",
        client_key_file=proof.client_key if has_certificate else "",
        token=proof.token or _token_now(proof.token_file),
        token_file=proof.token_file,
        username=proof.username,
        password=proof.password,
        exec=_with_cluster_config(proof.exec, trust),
        auth_provider=proof.auth_provider,
        auth_provider_home=_home(proof, asked.user_name),
        anonymous=anonymous,
        impersonate=_impersonation(user),
        proxy_url=cluster.proxy_url,
        disable_compression=cluster.disable_compression,
        timeout=asked.timeout,
    )


def _is_named(overrides: Overrides | None) -> bool:
    over = overrides or Overrides()
    return bool(over.context or over.cluster or over.cluster_info.server)


def _usable(selection: Selection) -> tuple[User, Cluster]:
    """The user and the trust to be used: none where everybody could read them."""
    if is_https(selection.cluster.server):
        return selection.user, selection.cluster
    if has_identification(selection.user):
        log.warning(
            "%s is not https: the credentials of user %s are not used",
            redacted_url(selection.cluster.server),
            selection.user_name,
        )
    return User(), Cluster()


def _home(user: User, name: str) -> UserLocation | None:
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
    told = cluster.extensions.get(EXEC_CLUSTER_EXTENSION)
    return msgspec.structs.replace(plugin, cluster_config=told)


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
    said = selection.namespace_overridden or selection.context.namespace
    return selection.namespace if said else pod_namespace(environ, directory=directory) or "default"


def _tried(files: KubeconfigFiles, found: Kubeconfig, selection: Selection) -> str:
    names = ", ".join(files.names) or "no file"
    gave = "gave nothing"
    if found.contexts and not selection.context_name:
        known = ", ".join(sorted(found.contexts))
        gave = f"has no current-context (choose one of {known})"
    elif selection.cluster_name:
        gave = (
            f'has a context "{selection.context_name}" that names the cluster'
            f' "{selection.cluster_name}", and no server for that'
        )
    return f"{names} {gave}, and this is not a pod with a service account"


# --- the address of a server


def base_url(server: str, *, secure: bool) -> str:
    """`server` with a scheme and a final slash, without query and fragment.

    A bare host is reached by https when it is `secure`, otherwise by http; an empty one
    is this machine.

    Raises: `InvalidConfig` when it is no address.
    """
    host = server or "localhost"
    parts = _split(host)
    if parts is None or not parts.scheme or not parts.netloc:
        parts = _with_scheme(host, secure=secure)
    if parts.scheme not in {"http", "https"}:
        raise InvalidConfig(
            f"server {redacted_url(host)!r} is neither http nor https (write it as"
            " https://host:port)"
        )
    path = parts.path if parts.path.endswith("/") else f"{parts.path}/"
    return urlunsplit((parts.scheme, parts.netloc, path, "", ""))


def is_https(server: str) -> bool:
    """Whether `server` says itself that it speaks https; a bare host does not."""
    parts = _split(server)
    return parts is not None and parts.scheme == "https"


def without_query(server: str) -> str:
    """`server` without query and fragment, where it has a path that they could belong to."""
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
        _ = parts.port  # it is looked at only when asked for
    except ValueError:
        return None
    # Python lets white space stand in a host; no such host exists.
    return None if any(map(str.isspace, parts.netloc)) else parts
